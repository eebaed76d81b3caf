"""Delays the answers to clients over their limits, so that they send less, and sends them one by one."""

from asyncio import AbstractEventLoop
from collections import OrderedDict
from collections.abc import Callable

SLOW_SECONDS = 0.01
"""Seconds between two delayed answers of this process."""


class Slowed:
    """Delayed answers, one for each connection. Call it on the event loop."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[object, Callable[[], None]] = OrderedDict()
        self._awaits_turn = False

    def later(self, loop: AbstractEventLoop, connection: object, answer: Callable[[], None]) -> None:
        self._waiting[connection] = answer
        if not self._awaits_turn:
            self._awaits_turn = True
            loop.call_later(SLOW_SECONDS, self._turn, loop)

    def forget(self, connection: object) -> None:
        self._waiting.pop(connection, None)

    def _turn(self, loop: AbstractEventLoop) -> None:
        self._awaits_turn = bool(self._waiting)
        if self._waiting:
            _, answer = self._waiting.popitem(last=False)
            loop.call_later(SLOW_SECONDS, self._turn, loop)
            answer()
