"""``knacka`` in processes of their own, forked from one process that has imported the modules once.

That process starts nothing, so its fork equals a new process after its imports.
``tests/api/runtime/test_starting.py`` and ``tests/test_package.py`` test the start before the imports, and the end of
a process.
"""

import atexit
import gc
import importlib
import json
import multiprocessing
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NoReturn

from tests.support.paths import ROOT

IMPORTED = ("api.cli", "uvicorn.lifespan.on", "uvicorn.loops.uvloop")
"""Modules that a service has imported when it answers; loaded before the first fork."""
ASKED_MAX = 1 << 17
"""Bytes of arguments and environment."""
FORK = multiprocessing.get_context("fork")


class Forked:
    """A forked process with the interface of :class:`subprocess.Popen`."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdout: int,
        stderr: int,
        umask: int,
        origin: socket.socket | None = None,
    ) -> None:
        """Start the process. ``origin``: the socket to the process from which it is forked, if not the shared one."""
        ours, theirs = socket.socketpair()
        asked = json.dumps([[*arguments], str(cwd), dict(env), umask]).encode()
        with theirs:
            socket.send_fds(origin or _origin(), [asked], [stdout, stderr, theirs.fileno()])
        self._wire, self._arguments = ours, arguments
        self.pid = self._told()
        self.returncode: int | None = None

    def _told(self) -> int:
        told = self._wire.recv(4, socket.MSG_WAITALL)
        assert len(told) == 4, "the process from which it is forked has ended"
        return int.from_bytes(told, "little", signed=True)

    def poll(self) -> int | None:
        """Return the exit code; ``None``: the process runs. As in ``Popen``, negative if a signal ended it."""
        return self._code(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises ``TimeoutExpired`` if the process still runs after ``timeout`` seconds."""
        if (code := self._code(timeout)) is None:
            raise subprocess.TimeoutExpired(self._arguments, timeout or 0)
        return code

    def _code(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._wire], [], [], timeout)[0]:
            self.returncode = self._told()
            self._wire.close()
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, if the process runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)


def program(file: Path) -> int:
    """Make ``file`` a program that is ``knacka``, for a caller that has the root of the source in ``PYTHONPATH`` and
    inherits this file descriptor."""
    wire = _origin().fileno()
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.support.forked_processes {wire} knacka "$@"\n')
    file.chmod(0o700)
    return wire


@cache
def _origin() -> socket.socket:
    """Return the socket to the process that forks. That process ends when the socket is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "tests.support.forked_processes", str(theirs.fileno())],
            cwd=ROOT,
            env=os.environ | {"PYTHONFAULTHANDLER": "1"},  # a crash prints its stack
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _fork(wire: socket.socket) -> NoReturn:
    """Fork on each request, and send the number of the process and, in the end, its exit code."""
    running: dict[int, tuple[BaseProcess, socket.socket]] = {}
    while True:
        for ready in wait([wire, *running]):
            if isinstance(ready, int):
                process, asker = running.pop(ready)
                process.join()
                _tell(asker, process.exitcode)
                asker.close()
                continue
            asked, files, _, _ = socket.recv_fds(wire, ASKED_MAX, 3)
            if not asked:
                os._exit(0)
            stdout, stderr, asker = *files[:2], socket.socket(fileno=files[2])
            ours = [wire, asker, *(other for _, other in running.values())]
            process = FORK.Process(target=_run, args=(asked, stdout, stderr, ours))
            process.start()
            _tell(asker, process.pid)
            running[process.sentinel] = process, asker
            os.close(stdout)
            os.close(stderr)


def _tell(asker: socket.socket, number: int | None) -> None:
    assert number is not None
    with suppress(BrokenPipeError):  # it may have been killed itself
        asker.sendall(number.to_bytes(4, "little", signed=True))


def _run(asked: bytes, stdout: int, stderr: int, ours: Sequence[socket.socket]) -> NoReturn:
    """Run the command in the forked process.

    It ends as :mod:`multiprocessing` does: it waits for threads, but skips the slow teardown of modules.
    """
    for one in ours:
        one.close()
    for file, number in ((stdout, 1), (stderr, 2)):
        os.dup2(file, number)
        os.close(file)
    arguments, folder, environment, umask = json.loads(asked)
    os.chdir(folder)
    os.umask(umask)
    os.environ.clear()
    os.environ.update(environment)
    sys.exit(sys.modules["api.cli"].main(arguments))


def _ask(wire: socket.socket, arguments: Sequence[str]) -> NoReturn:
    """Ask for a process as a program that a shell has started, and end as that process does."""
    umask = os.umask(0)
    asked = Forked(arguments, cwd=Path.cwd(), env=os.environ, stdout=1, stderr=2, umask=umask, origin=wire)
    if (code := asked.wait()) < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    given = socket.socket(fileno=int(sys.argv[1]))
    if len(sys.argv) > 2:
        _ask(given, sys.argv[3:])
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # otherwise each garbage collection would visit all of it
    _fork(given)
