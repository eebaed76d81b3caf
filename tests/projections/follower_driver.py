"""A follower for tests: start, stop, and waits."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine

from api.runtime.projections import log_of
from projections.follow.follow import Follower, Projection
from referee.store.store import Referee
from tests.projections.filled_log import head

SOON = 30.0
"""Seconds after which an expected event counts as missing."""


@contextmanager
def following(referee: Referee, engine: Engine, books: Sequence[Projection], **kwargs: Any) -> Iterator[Follower]:
    follower = Follower(log_of(referee), engine, books, **{"poll_seconds": 60, **kwargs})
    follower.start()
    try:
        yield follower
    finally:
        follower.close()
    assert not follower.alive


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def at_the_head(follower: Follower, referee: Referee) -> None:
    until(lambda: follower.lag(head(referee)) == 0)
