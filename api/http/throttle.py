"""Who asks too much is told so late: such answers go out one by one, with some time between them.

What comes from whoever hammers wakes the loop each time, just when others' requests are decided in another thread,
and that costs them more than it takes to refuse it. He waits for an answer before he asks again, so he is slowed, and
they are not.
"""

from asyncio import AbstractEventLoop
from collections import OrderedDict
from collections.abc import Callable

SLOW_SECONDS = 0.01
"""From one such answer of this process to the next: 100 in a second."""


class Slowed:
    """The answers that wait, one for each connection. On the loop."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[object, Callable[[], None]] = OrderedDict()
        self._awaits_turn = False

    def later(self, loop: AbstractEventLoop, connection: object, answer: Callable[[], None]) -> None:
        """Calls this when it is its turn."""
        self._waiting[connection] = answer
        if not self._awaits_turn:
            self._awaits_turn = True
            loop.call_later(SLOW_SECONDS, self._turn, loop)

    def forget(self, connection: object) -> None:
        """It has ended: nobody waits for its answer."""
        self._waiting.pop(connection, None)

    def _turn(self, loop: AbstractEventLoop) -> None:
        self._awaits_turn = bool(self._waiting)
        if self._waiting:
            _, answer = self._waiting.popitem(last=False)
            loop.call_later(SLOW_SECONDS, self._turn, loop)
            answer()
