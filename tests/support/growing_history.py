"""The fold of a history to which tests add events."""

from collections.abc import Sequence

from referee.store.aggregate import fold
from referee.store.match import Match
from referee.visibility import Recorded


class Folded:
    """Folds each event once, although a test asks for the match after each request."""

    def __init__(self) -> None:
        self._match: Match | None = None
        self._last: Recorded | None = None

    def match_of(self, history: Sequence[Recorded]) -> Match:
        """Return the match that the history makes. Begins again if events were removed."""
        known = 0 if self._match is None else self._match.version
        if self._match is None or known > len(history) or history[known - 1] is not self._last:
            self._match, known = None, 0
        self._match, self._last = fold(self._match, history[known:]), history[-1]
        return self._match
