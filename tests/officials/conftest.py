"""Fixtures for several test modules."""

import pytest

from tests.officials.hearing import Hearing


@pytest.fixture
def dealt() -> Hearing:
    """Return a dealt match of Kortoxen with closed hands, in which only the table sees a revoke."""
    return Hearing().deal()
