"""Lets the requests of busy callers wait, so that they do not delay other requests."""

from asyncio import AbstractEventLoop
from collections import OrderedDict
from collections.abc import Callable

TURN_SECONDS = 0.03
"""Seconds between two turns."""


class Turns:
    """Callers take turns, and each turn does one piece of work. Call the methods on the event loop."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, OrderedDict[object, Callable[[], None]]] = OrderedDict()
        """Work by caller and connection. The caller whose turn is next comes first."""
        self._callers: dict[object, str] = {}
        """Caller by connection with waiting work."""
        self._awaits_turn = self._ended = False

    def wait(self, loop: AbstractEventLoop, caller: str, connection: object, work: Callable[[], None]) -> None:
        """Do the work at the caller's next turn; after :meth:`end`, without waiting. A connection has at most one."""
        if self._ended:
            loop.call_soon(work)
            return
        self._waiting.setdefault(caller, OrderedDict())[connection] = work
        self._callers[connection] = caller
        if not self._awaits_turn:
            self._awaits_turn = True
            loop.call_later(TURN_SECONDS, self._do_turn, loop)

    def forget(self, connection: object) -> None:
        """Drop the connection's waiting work."""
        caller = self._callers.pop(connection, None)
        if caller is not None:
            del self._waiting[caller][connection]
            if not self._waiting[caller]:
                del self._waiting[caller]

    def end(self) -> None:
        """Do all waiting work now. Later work does not wait."""
        self._ended = True
        while self._waiting:
            self._take_next()()

    def _do_turn(self, loop: AbstractEventLoop) -> None:
        self._awaits_turn = bool(self._waiting)
        if self._waiting:
            loop.call_later(TURN_SECONDS, self._do_turn, loop)
            self._take_next()()

    def _take_next(self) -> Callable[[], None]:
        """Remove and return the next piece of work. Make its caller the last."""
        caller, by_connection = self._waiting.popitem(last=False)
        connection, work = by_connection.popitem(last=False)
        del self._callers[connection]
        if by_connection:
            self._waiting[caller] = by_connection
        return work
