"""A separate process for work on the whole history of a long match.

A thread would compete with the event loop and the writer for the interpreter. The process has a lower priority, only
reads the store, does one piece of work at a time, and ends when idle.
"""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Concatenate, ParamSpec, TypeVar

from referee.store.command import Busy
from referee.store.store import Referee

WORK_SECONDS = 20.0
"""Maximum seconds that work may wait, and may then take."""
IDLE_SECONDS = 60.0
"""Seconds without work after which the process is ended."""
MAIN = "referee.store.working"

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)


class Worker:
    """Runs work in a process, for any thread."""

    def __init__(
        self, settings: Mapping[str, str], *, seconds: float = WORK_SECONDS, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        """``settings``: the library's settings of the store."""
        self._settings, self._seconds, self._idle_seconds = dict(settings), seconds, idle_seconds
        self._turn = threading.Lock()
        """Held by the thread that uses, starts or ends the process."""
        self._guard = threading.Lock()
        """Held to start or end the process, so that none is started after :meth:`stop`."""
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._idle: threading.Timer | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Id of the process; ``None`` if it does not run."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def __call__(self, work: Callable[Concatenate[Referee, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of ``work``, called with the store and the other arguments, or raise its error.

        ``work`` must be a function of a module, its arguments and result picklable. Raises :class:`Busy` if the
        process is busy too long, is stopped, cannot start, ends, or answers too late.
        """
        with self._taking_turn():
            try:
                result, error = self._answer_to((work, args, kwargs))
            except (EOFError, OSError) as lost:
                if not self._closed:
                    log.warning("the process for long matches ended at work: %s", type(lost).__name__)
                self._end()
                raise Busy from lost
            except BaseException:
                self._end()
                raise
            if isinstance(error, MemoryError):
                self._end()  # because unfinished work may hold memory
        if error is not None:
            raise error
        done: T = result
        return done

    def stop(self) -> None:
        """Abort the present work without waiting. Further calls raise :class:`Busy`."""
        with self._guard:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """Stop, and wait for the end of the process."""
        self.stop()
        with self._turn:
            self._end()

    @contextmanager
    def _taking_turn(self) -> Iterator[None]:
        """Reserve the process for this block. Raises :class:`Busy` if other work takes too long."""
        if not self._turn.acquire(timeout=self._seconds):
            raise Busy
        try:
            if self._idle is not None:
                self._idle.cancel()
                self._idle = None
            yield
            if self._process is not None:
                self._idle = threading.Timer(self._idle_seconds, self._end_idle)
                self._idle.daemon = True
                self._idle.start()
        finally:
            self._turn.release()

    def _answer_to(self, work: Any) -> Any:
        """Return result and error. Raises :class:`Busy`, or ``EOFError`` or ``OSError`` if the process ends."""
        pipe = self._running_pipe()
        pipe.send(work)
        if not pipe.poll(self._seconds):
            log.warning("the process for long matches gave no answer in %g seconds, and is ended", self._seconds)
            self._end()
            raise Busy
        return pipe.recv()

    def _running_pipe(self) -> Connection:
        """Return the pipe to the process, started if necessary. Raises :class:`Busy` after :meth:`stop`."""
        if self._pipe is not None and self.pid is not None:
            return self._pipe
        self._end()
        ours, theirs = Pipe()
        with theirs, self._guard:
            if self._closed:
                raise Busy
            self._pipe = ours
            self._process = subprocess.Popen(
                [sys.executable, "-m", MAIN, str(theirs.fileno())],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        ours.send(self._settings)
        return ours

    def _end_idle(self) -> None:
        if self._turn.acquire(blocking=False):
            try:
                if self._idle is threading.current_thread():
                    self._end()
            finally:
                self._turn.release()

    def _end(self) -> None:
        """End the process if it runs. The caller must hold ``_turn``."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()
        with self._guard:
            process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
