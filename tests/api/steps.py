"""Count what a thread does, in steps: a bound on work that no busy machine can break."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

CONSTANT = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "get", "items", "keys", "popleft", "put"}
    | {"put_nowait", "setdefault", "startswith", "endswith", "update", "values", "write"}
)
"""Methods that take no longer where there is more in what they are called on."""


class Steps:
    """The steps of the thread that calls :meth:`begin`.

    A line of Python that is run is a step, also where a loop comes back to it. A method of C is as many steps as
    there are items in the object that it is called on (``list.count``, ``str.split``). Any other function of C is
    one step. The steps of operators (``in``, ``+``) and of regular expressions are not counted. The counter works
    alike on all versions of Python.
    """

    def __init__(self) -> None:
        self.taken = 0
        self.calls: Counter[str] = Counter()
        """How often a function of Python was called, by its name."""

    def begin(self) -> None:
        """Count from now on."""
        sys.settrace(self._called)
        sys.setprofile(self._profiled)

    def end(self) -> None:
        """Count no more."""
        sys.setprofile(None)
        sys.settrace(None)

    @contextmanager
    def counted_in(self, thread: str) -> Iterator[None]:
        """Count what a thread of this name does that is started within this block, for as long as it runs."""

        def begun(frame: FrameType, event: str, arg: Any) -> None:
            if threading.current_thread().name == thread:
                self.begin()
            else:
                sys.setprofile(None)

        threading.setprofile(begun)
        try:
            yield
        finally:
            threading.setprofile(None)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count within this block."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.taken += 1
        self.calls[frame.f_code.co_name] += 1
        return self._traced

    def _traced(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.taken += event == "line"
        return self._traced

    def _profiled(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call":
            self.taken += 1
            if arg.__name__ not in CONSTANT:
                self.taken += _size(getattr(arg, "__self__", None))


def _size(walked: Any) -> int:
    """Return how many items there are in what a method of C is called on."""
    return len(walked) if isinstance(walked, list | tuple | str | bytes | bytearray | dict | set | frozenset) else 0
