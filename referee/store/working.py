"""The program of the process of :class:`~referee.store.worker.Worker`.

Usage: ``python -m referee.store.working DESCRIPTOR``, the file descriptor of a pipe to the service.
"""

import gc
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from pickle import dumps, loads
from queue import SimpleQueue
from resource import RLIM_INFINITY, RLIMIT_DATA, getrlimit, setrlimit
from traceback import format_exc
from typing import Any

from referee.store.store import Referee

NICENESS = 5
"""Number added to the niceness, which lowers the priority."""
MEMORY_MAX = 700_000_000
"""Maximum bytes of data (``RLIMIT_DATA``) of the process."""


class _LazyStore:
    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = {**settings, "CREATE_TABLE": "n"}
        self._referee: Referee | None = None

    def opened(self) -> Referee:
        """Open the store if necessary, without creating tables, and return it."""
        if self._referee is None:
            self._referee = Referee(self._settings)
        return self._referee


def _read_messages(pipe: Connection, received: "SimpleQueue[bytes]") -> None:
    """Queue messages until the service closes the pipe or is killed, then end the process."""
    with suppress(EOFError, OSError):
        while True:
            received.put(pipe.recv_bytes())
    os._exit(0)


def _limit_memory() -> None:
    """Limit the memory. Let the system end this process first if its memory runs out."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with suppress(OSError, ValueError):
        hard = getrlimit(RLIMIT_DATA)[1]
        setrlimit(RLIMIT_DATA, (MEMORY_MAX if hard == RLIM_INFINITY else min(MEMORY_MAX, hard), hard))


def _run_work(store: _LazyStore, message: bytes) -> tuple[Any, Exception | None]:
    """Return the result of work and ``None``, or ``None`` and its error."""
    try:
        work, args, kwargs = loads(message)
        return work(store.opened(), *args, **kwargs), None
    except Exception as error:
        error.add_note(f"In the process for long matches:\n{format_exc()}")
        return None, error


def main(descriptor: int) -> None:
    """Run the work that the service sends, one piece at a time. Never returns."""
    for number in (signal.SIGINT, signal.SIGTERM):  # because the service decides when this process ends
        signal.signal(number, signal.SIG_IGN)
    _limit_memory()
    gc.disable()  # because it would often scan the whole history during work
    pipe, received = Connection(descriptor), SimpleQueue[bytes]()
    threading.Thread(target=_read_messages, args=(pipe, received), daemon=True).start()
    store = _LazyStore(loads(received.get()))
    message = received.get()
    with suppress(OSError):
        os.nice(NICENESS)  # only now, because a client waits for the start
    while True:
        result, error = _run_work(store, message)
        try:
            answer = dumps((result, error))
        except Exception as unsent:
            answer = dumps((None, TypeError(f"{error or result!r:.200} cannot be sent: {unsent}")))
        pipe.send_bytes(answer)
        del result, error, answer
        gc.collect()
        message = received.get()


if __name__ == "__main__":
    main(int(sys.argv[1]))
