"""The recorded events of a match, for the few decisions that need more than the state."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from referee.visibility import Recorded


class HistoryNeeded(Exception):
    """A decision needs the recorded events, but the caller has not supplied them."""


class History(Sequence[Recorded]):
    """The recorded events of a match in order, read when they are first used."""

    def __init__(self, read: Callable[[], Sequence[Recorded]]) -> None:
        self._read = read

    @cached_property
    def _events(self) -> Sequence[Recorded]:
        return self._read()

    def __getitem__(self, place: Any) -> Any:
        return self._events[place]

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Recorded]:
        return iter(self._events)

    def followed_by(self, news: Sequence[Recorded]) -> "History":
        """Return a history that continues with these events. Reads nothing yet."""
        return History(lambda: [*self, *news])


def _raise_history_needed() -> Sequence[Recorded]:
    raise HistoryNeeded


UNAVAILABLE = History(_raise_history_needed)
"""History that raises :class:`HistoryNeeded` when it is first used."""
