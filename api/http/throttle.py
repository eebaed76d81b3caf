"""Lets the requests of busy callers wait, so that one caller cannot make all others wait.

A caller over a limit gets its refusal late, so that it sends less. A caller that sends many requests at once, below
its limit, has them started one by one. The callers take turns; other callers never wait here.
"""

from asyncio import AbstractEventLoop
from collections import OrderedDict
from collections.abc import Callable

TURN_SECONDS = 0.03
"""Seconds between two turns of this process."""


class Turns:
    """Waiting work of busy callers, one piece for each connection. Call it on the event loop."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, OrderedDict[object, Callable[[], None]]] = OrderedDict()
        """Work by caller and connection. The caller that had a turn last comes last."""
        self._awaits_turn = False

    def wait(self, loop: AbstractEventLoop, caller: str, connection: object, work: Callable[[], None]) -> None:
        """Do the work at the caller's turn."""
        self._waiting.setdefault(caller, OrderedDict())[connection] = work
        if not self._awaits_turn:
            self._awaits_turn = True
            loop.call_later(TURN_SECONDS, self._turn, loop)

    def forget(self, caller: str, connection: object) -> None:
        """Drop the work of a connection that is closed."""
        if (of_caller := self._waiting.get(caller)) is None:
            return
        of_caller.pop(connection, None)
        if not of_caller:
            del self._waiting[caller]

    def _turn(self, loop: AbstractEventLoop) -> None:
        self._awaits_turn = bool(self._waiting)
        if self._waiting:
            caller, of_caller = self._waiting.popitem(last=False)
            _, work = of_caller.popitem(last=False)
            if of_caller:
                self._waiting[caller] = of_caller
            loop.call_later(TURN_SECONDS, self._turn, loop)
            work()
