"""Signs the log: at most once in so many seconds, if rows came that are no signatures; and when somebody asks for it.

What is signed is kept in a file before it goes on record, and on record before anybody is told. So whatever ends the
process, nobody holds a checkpoint that the file has not, and one that only the file has is of rows that are stored.
Two processes sign the same rows; which of them puts it on record is decided by the version that both expect.
"""

import logging
import threading
import time
from collections.abc import Sequence
from datetime import timedelta

from api.http.problems import STORE_FAILURES, Reason
from api.runtime.checkpoint_file import Kept, extends
from api.runtime.projections import Books
from referee.log.facts import LogOpened, Sign
from referee.log.notes import Checkpoint, SigningKey, checkpoint_in, signed
from referee.store.clock import ClockWrong, utc_now
from referee.store.command import Busy, Command, InDoubt, Stale
from referee.store.damaged import DamagedRow
from referee.store.desk import Desk
from referee.store.log import LOG_ID, Log
from referee.store.store import UnknownAggregate

LOOK_SECONDS = 5.0
"""Between two looks at whether there is something to sign."""
ANSWER_SECONDS = 30.0
"""How long the desk may take."""

PASSING: tuple[type[Exception], ...] = (Stale, Busy, ClockWrong, InDoubt, OSError, *STORE_FAILURES)
"""What may be otherwise at the next look."""

log = logging.getLogger(__name__)


def log_at(desk: Desk) -> Log | None:
    """The log as it stands on record; ``None`` before it was first signed. Touches the database."""
    try:
        aggregate = desk.get(LOG_ID)
    except UnknownAggregate:
        return None
    assert isinstance(aggregate, Log), "nothing else is under this id"
    return aggregate


class Signer:
    """Looks now and then, on a thread of its own."""

    def __init__(
        self, books: Books, desk: Desk, keys: Sequence[SigningKey], kept: Kept, *, seconds: float = 60.0
    ) -> None:
        """``keys``: of one name, the origin of the log; all of them sign."""
        self.keys, self.origin = tuple(keys), keys[0].name
        self._books, self._desk, self._kept = books, desk, kept
        self._every = timedelta(seconds=seconds)
        self._closed, self._asked, self._turn = threading.Event(), threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, name="signer", daemon=True)
        self._look_seconds = min(LOOK_SECONDS, seconds)
        self.trouble: Reason | None = None
        """Why nothing is signed, though there is a key."""

    def start(self) -> None:
        """Begins to look."""
        self._thread.start()

    def close(self) -> None:
        """Ends when the look under way is over."""
        self._closed.set()
        self._asked.set()
        if self._thread.ident is not None:
            self._thread.join()

    def sign_soon(self) -> None:
        """Has what is on record now signed without waiting for its time, as soon as the book of the log has it. From
        any thread; does not wait."""
        self._asked.set()

    def sign_now(self) -> bool:
        """Signs what the book of the log has, without waiting for its time; whether there was something to sign that
        could be signed. Touches the database."""
        return self._look(at_once=True)

    def _run(self) -> None:
        said = ""
        while True:
            asked = self._asked.wait(self._look_seconds)
            self._asked.clear()
            if self._closed.is_set():
                return
            try:
                self._look(at_once=asked and self._caught_up())
            except PASSING as error:
                log.info("not signed this time: %s: %s", type(error).__name__, error)
                if asked and not self._closed.wait(self._look_seconds):
                    self._asked.set()
            except DamagedRow as damaged:
                if str(damaged) != said:
                    said = str(damaged)
                    log.error("the log is not signed any more: %s", said)
            except Exception:
                log.exception("the log could not be signed")

    def _caught_up(self) -> bool:
        """Waits until the book of the log has what is on record now. Raises ``TimeoutError`` where it does not come
        to that."""
        head, until = self._books.head(), time.monotonic() + ANSWER_SECONDS
        while self._books.follower.lag(head, self._books.tree):
            if time.monotonic() > until or self._closed.wait(0.01):
                raise TimeoutError("the book of the log is behind")
        return True

    def _look(self, *, at_once: bool = False) -> bool:
        with self._turn:
            head = self._books.head()
            whole = self._books.follower.positions()[self._books.tree.name] >= head
            standing = log_at(self._desk)
            last = standing.standing.last if standing else None
            try:
                kept = self._kept.read()
            except (ValueError, OSError) as error:
                self._tell({"code": "log_note_unreadable", "kind": type(error).__name__})
                return False
            on_record = None if last is None else checkpoint_in(last.note)
            found = self._tree([one for one in (kept, on_record) if one is not None], whole)
            if found is None:
                return False
            self.trouble = None
            if last is not None:
                self._kept.write(last.note)
            if standing is not None and last is not None:
                early = utc_now() - standing.changed_at < self._every
                if (early and not at_once) or found.size - last.size <= self._own(standing.version, last.size):
                    return False
            if not found.size:
                return False
            self._sign(found, standing.version if standing else self._open())
            return True

    def _tree(self, known: Sequence[Checkpoint], whole: bool) -> Checkpoint | None:
        """What there is to sign; ``None`` where it does not extend what was signed, or perhaps not yet. ``whole``:
        the book has come to the end of the log."""
        book = self._books.tree
        with self._books.engine.connect() as connection:
            size = book.size(connection)
            for one in known:
                if one.size > size and not whole:
                    return None
                if not extends(connection, book, size, one):
                    self._tell({"code": "log_forked", "size": one.size, "has": size})
                    return None
            return Checkpoint(origin=self.origin, size=size, root=book.tree(connection, size).root())

    def _own(self, version: int, size: int) -> int:
        """Return how many rows of the tree after the first ``size`` say that the log was signed. A row that the tree
        does not have yet is none of them."""
        tree, rows = self._books.tree, self._books.rows(LOG_ID, after=max(0, version - 2), limit=2).rows
        with self._books.engine.connect() as connection:
            places = [tree.index(connection, row[0]) for row in rows]
        return sum(place is not None and place >= size for place in places)

    def _tell(self, trouble: Reason) -> None:
        if self.trouble != trouble:
            log.error("the log is not signed any more: %s", trouble)
        self.trouble = trouble

    def _open(self) -> int:
        """Begins the record of what is signed; its version."""
        opened = LogOpened(origin=self.origin)
        command = Command(id=LOG_ID, actor="operator", request=opened)
        return self._desk.submit(command).result(ANSWER_SECONDS).aggregate.version

    def _sign(self, checkpoint: Checkpoint, version: int) -> None:
        note = signed(checkpoint, self.keys)
        self._kept.write(note)
        command = Command(id=LOG_ID, actor="operator", request=Sign(note=note), expected=version)
        outcome = self._desk.submit(command).result(ANSWER_SECONDS)
        log.info("signed %d rows, event %d of the log", checkpoint.size, outcome.aggregate.version)
