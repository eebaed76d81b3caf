"""Count the work of a thread in steps, which do not depend on the load of the machine."""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

CONSTANT = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "get", "items", "keys", "popleft", "put"}
    | {"put_nowait", "setdefault", "startswith", "endswith", "update", "values", "write"}
)
"""Methods whose time does not depend on the size of their object."""


class Steps:
    """The steps of the thread that calls :meth:`begin`.

    Each executed line of Python is a step, also when a loop repeats it. A method of C counts as many steps as its
    object has items (``list.count``, ``str.split``). Any other function of C is one step. Steps of operators (``in``,
    ``+``) and regular expressions are not counted. The count is the same on all versions of Python.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        """Number of calls of each Python function, by its name."""
        self._called, self._profiled, self._taken = _counting(self.calls)

    @property
    def taken(self) -> int:
        """The number of steps so far."""
        return self._taken()

    def begin(self) -> None:
        """Start to count."""
        sys.settrace(self._called)
        sys.setprofile(self._profiled)

    def end(self) -> None:
        """Stop counting."""
        sys.setprofile(None)
        sys.settrace(None)

    @contextmanager
    def counted_in(self, thread: str) -> Iterator[None]:
        """Count the whole work of a thread of this name that is started within this block."""

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


def _counting(calls: Counter[str]) -> tuple[Callable[..., Any], Callable[..., None], Callable[[], int]]:
    """Return the functions that count calls and lines, that count C functions, and that return the count.

    Python calls them at each line, so their count is a local variable: an attribute takes twice the time.
    """
    taken = 0

    def line(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal taken
        if event == "line":
            taken += 1
        return line

    def called(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal taken
        taken += 1
        calls[frame.f_code.co_name] += 1
        return line

    def profiled(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal taken
        if event == "c_call":
            taken += 1
            if arg.__name__ not in CONSTANT:
                taken += _size(getattr(arg, "__self__", None))

    return called, profiled, lambda: taken


def _size(walked: Any) -> int:
    """Return the number of items in the object of a C method."""
    return len(walked) if isinstance(walked, list | tuple | str | bytes | bytearray | dict | set | frozenset) else 0
