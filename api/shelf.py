"""The books that projections keep of this store, and the follower that keeps them."""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Connection

from api.http.problems import Problem
from projections.audit import Audit
from projections.follow.engine import engine_for
from projections.follow.follow import Follower, Placed
from projections.matches import Matches
from projections.pots import Pots
from projections.protocols import Protocols
from referee.store.rows import from_row
from referee.store.store import Referee

T = TypeVar("T")

WAIT_SECONDS = 5.0
"""How long a reader waits for a book to come to what has been answered; it takes milliseconds unless it is broken."""
LOOK_SECONDS = 0.01
"""Between two looks whether the books have come to the end of the log."""


def reader(referee: Referee) -> Callable[[int, int], Sequence[Placed]]:
    """How a follower reads the log of all matches."""

    def read(after: int, limit: int) -> Sequence[Placed]:
        rows = referee.recorder.select_notifications(after, limit, inclusive_of_start=False)
        return [Placed(row.id, from_row(row)) for row in rows]

    return read


class Shelf:
    """All methods may touch the database: call them in a thread."""

    def __init__(self, referee: Referee, url: str, seen: Callable[[Sequence[Placed]], None] | None = None) -> None:
        self._referee = referee
        self._engine = engine_for(url)
        self.protocols, self.audit, self.matches, self.pots = Protocols(), Audit(), Matches(), Pots()
        self.books = (self.protocols, self.audit, self.matches, self.pots)
        self.follower = Follower(reader(referee), self._engine, self.books, seen=seen, listen=url)

    def start(self) -> None:
        """Creates what tables are missing, and follows."""
        self.follower.start()

    @property
    def names(self) -> list[str]:
        """The books there are."""
        return [book.name for book in self.books]

    def rebuild(self, name: str) -> int:
        """Builds a book anew beside the one that is read; the position it came to."""
        return self.follower.rebuild(name)

    def wake(self) -> None:
        """Something was stored. From any thread."""
        self.follower.wake()

    def close(self) -> None:
        """Ends the follower."""
        self.follower.close()
        self._engine.dispose()

    def head(self) -> int:
        """The position of the last event of the log."""
        return self._referee.recorder.max_notification_id() or 0

    def lag(self) -> int:
        """How far the book that is last stands behind the log."""
        return self.follower.lag(self.head())

    def ask(self, question: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """What a book answers now."""
        with self._engine.connect() as connection:
            answer: T = question(connection, *args, **kwargs)
            return answer

    def ask_of(self, match_id: UUID, version: int, question: Callable[[Connection], T]) -> T:
        """What a book answers about a match when it has come to this version; 503 if it does not in time."""
        if not self.follower.wait_for(match_id, version, WAIT_SECONDS):
            raise Problem("books_behind", headers={"Retry-After": "1"})
        return self.ask(question)

    def ask_of_all(self, question: Callable[[Connection], T]) -> T:
        """What a book answers when it has come to where the log ends now, or has not in good time."""
        head, deadline = self.head(), time.monotonic() + WAIT_SECONDS
        while self.follower.lag(head) and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
        return self.ask(question)
