"""Shows the processor time of each test file: ``pytest -p tests.support.processor_time``.

Wall time depends on what else the machine runs, processor time hardly. The table counts the test process and all
processes that it started, also those that still run, so PostgreSQL's work counts for the file that caused it.
"""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

TICKS = os.sysconf("SC_CLK_TCK")
FILES = int(os.environ.get("TIMED_FILES", "40"))
"""Files that the table shows. Its last line shows the sum of all."""
COLLECTING = "(imports and collecting)"


def seconds_used(descendants: bool = True) -> float:
    """Return the processor seconds of this process and its descendants, with those that have ended."""
    if not descendants:
        return time.process_time()
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stat = path.read_text()
        except OSError:  # it has ended, so its parent has its time
            continue
        fields = stat.rpartition(")")[2].split()  # the name before them can have spaces
        pid = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(pid)
        ticks[pid] = sum(map(int, fields[11:15]))
    used, found = 0, [os.getpid()]
    for pid in found:
        used += ticks[pid]
        found += children.get(pid, ())
    return used / TICKS


class Timing:
    """Adds up the seconds of each file. A process of xdist sends its own when it ends."""

    def __init__(self, workers: bool) -> None:
        self.workers = workers
        self.files = defaultdict[str, float](float)
        self.tests: Counter[str] = Counter()
        self.file, self.last = COLLECTING, 0.0

    def begin(self, file: str) -> None:
        """Count what was used since the last call for the file of that call."""
        if file != self.file:
            now = seconds_used(descendants=not self.workers)  # which count themselves
            self.files[self.file] += now - self.last
            self.file, self.last = file, now

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        file = item.nodeid.partition("::")[0]
        self.begin(file)
        self.tests[file] += 1
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.begin("")
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["processor_seconds"] = (dict(self.files), dict(self.tests))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        files, tests = node.workeroutput["processor_seconds"]
        for file, seconds in files.items():
            self.files[file] += seconds
        self.tests.update(tests)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("processor seconds, tests, file")
        for file, seconds in sorted(self.files.items(), key=lambda one: -one[1])[:FILES]:
            terminalreporter.write_line(f"{seconds:8.1f}  {self.tests[file]:5}  {file}")
        terminalreporter.write_line(f"{sum(self.files.values()):8.1f}  {sum(self.tests.values()):5}  all files")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Timing(workers=bool(getattr(config.option, "tx", ()))))
