"""Tables that several tests begin with."""

import pytest

from tests.officials.hearing import Hearing


@pytest.fixture
def dealt() -> Hearing:
    """Kortoxen with closed hands, the cards dealt: nobody sees a revoke but the table."""
    return Hearing().deal()
