"""The first reads of a new process may run in many threads at once."""

import subprocess
import sys


def test_the_first_reads_may_happen_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.simultaneous_first_reads"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr
