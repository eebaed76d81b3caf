"""Signs the log on a thread, periodically and when requested, if rows other than its own were added.

A checkpoint is stored in a file, then as an event of the log, and only then shown. So after a crash no client has a
checkpoint that is not in the file. If two processes sign at once, the desk refuses one as outdated.
"""

import logging
import threading
import time
from collections.abc import Sequence
from datetime import timedelta

from api.http.problems import STORE_FAILURES, Reason
from api.runtime.checkpoint_file import CheckpointFile, extends_checkpoint
from api.runtime.projections import Projections
from referee.log.facts import LogOpened, Sign
from referee.log.notes import Checkpoint, SigningKey, checkpoint_in, signed_note
from referee.store.clock import ClockWrong, utc_now
from referee.store.command import Busy, Command, InDoubt, Stale
from referee.store.damaged import DamagedRow
from referee.store.desk import Desk
from referee.store.log import LOG_ID, Log
from referee.store.store import UnknownAggregate

CHECK_SECONDS = 5.0
"""Maximum seconds between two checks for rows to sign."""
ANSWER_SECONDS = 30.0
"""Maximum seconds to wait for the desk or the projection of the log."""

TEMPORARY_ERRORS: tuple[type[Exception], ...] = (Stale, Busy, ClockWrong, InDoubt, OSError, *STORE_FAILURES)
"""Errors that are perhaps gone at the next check."""

log = logging.getLogger(__name__)


def stored_log(desk: Desk) -> Log | None:
    """Return the log aggregate, or None if nothing was signed yet. Touches the database."""
    try:
        aggregate = desk.get(LOG_ID)
    except UnknownAggregate:
        return None
    assert isinstance(aggregate, Log), "nothing else is under this id"
    return aggregate


class Signer:
    def __init__(
        self,
        projections: Projections,
        desk: Desk,
        keys: Sequence[SigningKey],
        checkpoint_file: CheckpointFile,
        *,
        seconds: float = 60.0,
    ) -> None:
        """``keys``: all sign each checkpoint; their name is the log's origin. ``seconds``: minimum between two
        unrequested signatures."""
        self.keys, self.origin = tuple(keys), keys[0].name
        self._projections, self._desk, self._file = projections, desk, checkpoint_file
        self._every = timedelta(seconds=seconds)
        self._closed, self._requested, self._sign_lock = threading.Event(), threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, name="signer", daemon=True)
        self._check_seconds = min(CHECK_SECONDS, seconds)
        self.trouble: Reason | None = None
        """Contradiction or unreadable file that prevents signatures, or None."""

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._requested.set()
        if self._thread.ident is not None:
            self._thread.join()

    def request_signature(self) -> None:
        """Does not wait. May be called on any thread."""
        self._requested.set()

    def _run(self) -> None:
        last_damage = ""
        while True:
            requested = self._requested.wait(self._check_seconds)
            self._requested.clear()
            if self._closed.is_set():
                return
            try:
                self.sign(at_once=requested and self._wait_until_caught_up())
            except TEMPORARY_ERRORS as error:
                log.info("the log was not signed; the next try follows: %s: %s", type(error).__name__, error)
                if requested and not self._closed.wait(self._check_seconds):
                    self._requested.set()
            except DamagedRow as damaged:
                if str(damaged) != last_damage:
                    last_damage = str(damaged)
                    log.error("the log is no longer signed: %s: see `knacka doctor`", last_damage)
            except Exception:
                log.exception("the log could not be signed")

    def _wait_until_caught_up(self) -> bool:
        """Wait until the projection of the log has all rows stored by now, and return True.

        Raises ``TimeoutError`` after :data:`ANSWER_SECONDS` or on :meth:`close`.
        """
        head, until = self._projections.head(), time.monotonic() + ANSWER_SECONDS
        while self._projections.follower.lag(head, self._projections.tree):
            if time.monotonic() > until or self._closed.wait(0.01):
                raise TimeoutError("the projection of the log is behind")
        return True

    def sign(self, *, at_once: bool) -> bool:
        """Sign the new rows in the projection of the log, if any. Return whether it signed.

        ``at_once``: sign even if the last signature is recent. Touches the database.
        Raises :data:`TEMPORARY_ERRORS` or ``DamagedRow``.
        """
        with self._sign_lock:
            head = self._projections.head()
            at_head = self._projections.follower.positions()[self._projections.tree.name] >= head
            stored = stored_log(self._desk)
            last = stored.state.last if stored else None
            try:
                in_file = self._file.read()
            except (ValueError, OSError) as error:
                self._report_trouble({"code": "log_note_unreadable", "kind": type(error).__name__})
                return False
            on_record = None if last is None else checkpoint_in(last.note)
            found = self._checkpoint_to_sign([one for one in (in_file, on_record) if one is not None], at_head)
            if found is None:
                return False
            self.trouble = None
            if last is not None:
                self._file.write(last.note)
            if stored is not None and last is not None:
                early = utc_now() - stored.changed_at < self._every
                own_rows = self._count_new_signature_rows(stored.version, last.size)
                if (early and not at_once) or found.size - last.size <= own_rows:
                    return False
            if not found.size:
                return False
            self._sign_and_store(found, stored.version if stored else self._open_log())
            return True

    def _checkpoint_to_sign(self, known: Sequence[Checkpoint], at_head: bool) -> Checkpoint | None:
        """Return the checkpoint to sign, or None if the tree lacks rows of a ``known`` one or contradicts it.

        A contradiction becomes :attr:`trouble`. ``at_head``: missing rows are one, because the tree has all rows.
        """
        tree = self._projections.tree
        with self._projections.engine.connect() as connection:
            size = tree.size(connection)
            for known_checkpoint in known:
                if known_checkpoint.size > size and not at_head:
                    return None
                if not extends_checkpoint(connection, tree, size, known_checkpoint):
                    trouble: Reason = {"code": "log_forked", "size": known_checkpoint.size, "has": size}
                    self._report_trouble(trouble)
                    return None
            return Checkpoint(origin=self.origin, size=size, root=tree.tree(connection, size).root())

    def _count_new_signature_rows(self, version: int, size: int) -> int:
        """Return how many of the last two rows of :data:`LOG_ID` are in the tree, but not in its first ``size``."""
        tree, rows = self._projections.tree, self._projections.rows(LOG_ID, after=max(0, version - 2), limit=2).rows
        with self._projections.engine.connect() as connection:
            leaves = [tree.leaf_index(connection, row[0]) for row in rows]
        return sum(leaf is not None and leaf >= size for leaf in leaves)

    def _report_trouble(self, trouble: Reason) -> None:
        if self.trouble != trouble:
            log.error("the log is no longer signed: %s: see `knacka doctor`", trouble)
        self.trouble = trouble

    def _open_log(self) -> int:
        """Store the first event of the log, and return its version."""
        opened = LogOpened(origin=self.origin)
        command = Command(id=LOG_ID, actor="operator", request=opened)
        return self._desk.submit(command).result(ANSWER_SECONDS).aggregate.version

    def _sign_and_store(self, checkpoint: Checkpoint, version: int) -> None:
        note = signed_note(checkpoint, self.keys)
        self._file.write(note)
        command = Command(id=LOG_ID, actor="operator", request=Sign(note=note), expected=version)
        outcome = self._desk.submit(command).result(ANSWER_SECONDS)
        log.info("signed %d rows, event %d of the log", checkpoint.size, outcome.aggregate.version)
