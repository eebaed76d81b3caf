"""Errors for stored rows that are missing or unusable."""

from collections.abc import Iterable
from typing import Any, Literal
from uuid import UUID

Fault = Literal["missing", "unreadable", "unfit"]
"""Row's fault: it is missing, cannot be read, or does not fit the history before it."""


class DamagedRow(ValueError):
    """A missing or unusable row of an aggregate. ``detail`` may repeat the row's content, so no answer shows it."""

    def __init__(self, aggregate_id: UUID, number: int, fault: Fault, detail: str = "") -> None:
        self.aggregate_id, self.number, self.fault, self.detail = aggregate_id, number, fault, detail
        super().__init__(f"event {number} of {aggregate_id} {self.what}")

    def __reduce__(self) -> Any:
        """Support pickling."""
        return type(self), (self.aggregate_id, self.number, self.fault, self.detail)

    @property
    def what(self) -> str:
        """Words about the fault, to follow the name of the event."""
        if self.fault == "missing":
            return "is missing"
        said = "cannot be read" if self.fault == "unreadable" else "does not follow on the event before it"
        return f"{said}: {self.detail}"


class DamagedAttempt(DamagedRow):
    """An unusable row of the refused attempts of a match."""


class NotInstalled(Exception):
    """The store has matches of games that are not installed here. Their rows are right, but cannot be read."""

    def __init__(self, games: Iterable[str]) -> None:
        super().__init__(
            f"the store has matches of a game that is not installed: {', '.join(sorted(games))}: install its "
            "distribution into the environment of the service"
        )
