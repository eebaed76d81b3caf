"""``knacka`` in processes of their own that do not import all of it each: one has, and the others are forked from it.

Nothing is started in that one, so a fork of it is what a new process is after its imports. What it is to begin before
them is shown in ``tests/api/test_starting.py`` and ``tests/test_package.py``.
"""

import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMPORTED = ("api.cli", "uvicorn.lifespan.on", "uvicorn.loops.uvloop")
"""Before anything is asked: all that a service has imported when it answers."""
ASKED_MAX = 1 << 17
"""Bytes of arguments and environment."""


class Forked:
    """What :class:`subprocess.Popen` would be of the same command."""

    def __init__(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdout: int, stderr: int, umask: int
    ) -> None:
        ours, theirs = socket.socketpair()
        asked = json.dumps([[*arguments], str(cwd), dict(env), umask]).encode()
        with theirs:
            socket.send_fds(_origin(), [asked], [stdout, stderr, theirs.fileno()])
        self._wire, self._arguments = ours, arguments
        self.pid, self.returncode = self._told(), None

    def _told(self) -> int:
        told = self._wire.recv(4, socket.MSG_WAITALL)
        assert len(told) == 4, "the process from which it is forked has ended"
        return int.from_bytes(told, "little", signed=True)

    def poll(self) -> int | None:
        """The exit code; ``None``: it runs. As in ``Popen``, negative where a signal ended it."""
        return self._code(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises ``TimeoutExpired`` where it runs after so many seconds."""
        if (code := self._code(timeout)) is None:
            raise subprocess.TimeoutExpired(self._arguments, timeout or 0)
        return code

    def _code(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._wire], [], [], timeout)[0]:
            self.returncode = self._told()
            self._wire.close()
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Sends it, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """At once."""
        self.send_signal(signal.SIGKILL)


@cache
def _origin() -> socket.socket:
    """The way to the process from which they are forked. It ends when nobody can ask it any more."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked", str(theirs.fileno())],
            cwd=ROOT,
            env=os.environ | {"PYTHONFAULTHANDLER": "1"},  # a crash says where it was
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _fork(wire: socket.socket) -> list[str]:
    """Forks whenever it is asked to; returns in what was forked, with its arguments."""
    while True:
        asked, files, _, _ = socket.recv_fds(wire, ASKED_MAX, 3)
        if not asked:
            os._exit(0)
        if os.fork() == 0:
            break
        for file in files:
            os.close(file)
        while _has_ended():
            pass
    wire.close()
    stdout, stderr, told = files
    if (pid := os.fork()) != 0:
        os.write(told, pid.to_bytes(4, "little"))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(told, code.to_bytes(4, "little", signed=True))
        os._exit(0)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    for file in files:
        os.close(file)
    arguments, folder, environment, umask = json.loads(asked)
    os.chdir(folder)
    os.umask(umask)
    os.environ.clear()
    os.environ.update(environment)
    return list(arguments)


def _has_ended() -> bool:
    """Whether one of those that wait for a process has."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # or each would look through all of it when it ends
    sys.exit(sys.modules["api.cli"].main(_fork(socket.socket(fileno=int(sys.argv[1])))))
