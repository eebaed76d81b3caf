"""A store, and a desk over it."""

from collections.abc import Iterator

import pytest

from referee.store.desk import Desk
from referee.store.store import Referee, settings_for
from tests.store.counting_store import Counting


@pytest.fixture
def referee(store_url: str) -> Iterator[Counting]:
    with Counting(env=settings_for(store_url)) as referee:
        yield referee


@pytest.fixture
def desk(referee: Referee) -> Iterator[Desk]:
    desk = Desk(referee)
    yield desk
    desk.close()
