"""The program of the process of :class:`~referee.store.worker.Worker`.

``python -m referee.store.working DESCRIPTOR``; the file descriptor is a pipe to the service.
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
"""Number by which the priority is lower than the service's."""
MEMORY_MAX = 700_000_000
"""Maximum bytes of memory of the process."""


class Store:
    """The store, opened when it is first used."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = {**settings, "CREATE_TABLE": "n"}
        self._referee: Referee | None = None

    def opened(self) -> Referee:
        """Return the store. Creates no tables."""
        if self._referee is None:
            self._referee = Referee(self._settings)
        return self._referee


def _read_messages(pipe: Connection, heard: "SimpleQueue[bytes]") -> None:
    """Put messages into a queue. End the process if the service closes the pipe or is killed."""
    with suppress(EOFError, OSError):
        while True:
            heard.put(pipe.recv_bytes())
    os._exit(0)


def _limit_memory() -> None:
    """Limit the memory, and make this process the first that the system ends if memory runs out."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with suppress(OSError, ValueError):
        hard = getrlimit(RLIMIT_DATA)[1]
        setrlimit(RLIMIT_DATA, (MEMORY_MAX if hard == RLIM_INFINITY else min(MEMORY_MAX, hard), hard))


def _run_work(store: Store, sent: bytes) -> tuple[Any, Exception | None]:
    """Run a piece of work. Return its result and ``None``, or ``None`` and its error."""
    try:
        work, args, kwargs = loads(sent)
        return work(store.opened(), *args, **kwargs), None
    except Exception as error:
        error.add_note(f"In the process for long matches:\n{format_exc()}")
        return None, error


def main(descriptor: int) -> None:
    """Run the work that the service sends, one piece at a time. Never returns."""
    for sent_to_all in (signal.SIGINT, signal.SIGTERM):  # the service decides when this process ends
        signal.signal(sent_to_all, signal.SIG_IGN)
    _limit_memory()
    gc.disable()  # during work it would scan the whole history again and again
    pipe, heard = Connection(descriptor), SimpleQueue[bytes]()
    threading.Thread(target=_read_messages, args=(pipe, heard), daemon=True).start()
    store = Store(loads(heard.get()))
    sent = heard.get()
    with suppress(OSError):
        os.nice(NICENESS)  # not earlier: a client waits while the process starts
    while True:
        result, error = _run_work(store, sent)
        try:
            answer = dumps((result, error))
        except Exception as unsent:
            answer = dumps((None, TypeError(f"{error or result!r:.200} cannot be sent: {unsent}")))
        pipe.send_bytes(answer)
        del result, error, answer
        gc.collect()
        sent = heard.get()


if __name__ == "__main__":
    main(int(sys.argv[1]))
