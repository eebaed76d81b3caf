"""Futures for requests to the desk."""

import threading
from collections.abc import Callable
from enum import Enum, auto

from referee.store.command import Outcome


class _Stage(Enum):
    WAITING = auto()
    BEGUN = auto()
    CANCELLED = auto()
    DONE = auto()


class Answer:
    """The future outcome of one request, set once by the desk.

    It is faster than :class:`concurrent.futures.Future`, because all answers share a lock and only :meth:`result`
    makes a :class:`threading.Event`.
    """

    __slots__ = ("_callback", "_outcome", "_stage", "aside")
    _changes = threading.Lock()

    def __init__(self) -> None:
        self._stage = _Stage.WAITING
        self._outcome: Outcome | Exception | None = None
        self._callback: Callable[[], None] | None = None
        self.aside = False
        """True after the request is first sent aside."""

    # For the caller

    @property
    def done(self) -> bool:
        return self._stage is _Stage.DONE

    def when_done(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` on the thread that sets the outcome, or now if the outcome is set.

        A later callback replaces an earlier one.
        """
        with self._changes:
            self._callback = callback
            done = self.done
        if done:
            callback()

    def cancel(self) -> bool:
        """Withdraw the request. Return false if it is begun, done or already withdrawn."""
        with self._changes:
            if self._stage is not _Stage.WAITING:
                return False
            self._stage = _Stage.CANCELLED
        return True

    def outcome(self) -> Outcome:
        """Return the outcome of a request that is done, or raise the desk's error."""
        assert self._outcome is not None
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def result(self, seconds: float | None = None) -> Outcome:
        """Block until the outcome is known, and return it. Replaces the callback of :meth:`when_done`.

        Raises ``TimeoutError`` after ``seconds``, or the error of the desk.
        """
        known = threading.Event()
        self.when_done(known.set)
        if not known.wait(seconds):
            raise TimeoutError(f"the desk did not answer within {seconds} seconds")
        return self.outcome()

    # For the desk

    def begin(self) -> bool:
        """Mark the request as begun. Return false if it is withdrawn or done."""
        with self._changes:
            if self._stage is _Stage.WAITING:
                self._stage = _Stage.BEGUN
        return self._stage is _Stage.BEGUN

    def set(self, outcome: Outcome | Exception) -> None:
        """Set the outcome or error, and call the callback, if any."""
        with self._changes:
            self._outcome = outcome
            self._stage = _Stage.DONE
            callback = self._callback
        if callback is not None:
            callback()


__all__ = ["Answer"]
