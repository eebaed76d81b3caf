"""Stops a process, so that it does nothing until it is sent SIGCONT. The kernel keeps its input and its signals."""

import os
import signal
import time
from pathlib import Path


def stop(pid: int) -> None:
    """Send SIGSTOP, and wait until all threads of the process are stopped: the signal takes effect a little later."""
    os.kill(pid, signal.SIGSTOP)
    threads = [*Path(f"/proc/{pid}/task").iterdir()]
    while any(") T " not in (thread / "stat").read_text() for thread in threads):
        time.sleep(0.01)
