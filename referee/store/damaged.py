"""Errors for stored rows that are missing or unusable."""

from collections.abc import Iterable
from typing import Any, Literal
from uuid import UUID

Fault = Literal["missing", "unreadable", "unfit"]
"""Fault of a row: it is missing, cannot be read, or does not fit the history before it."""


class DamagedRow(ValueError):
    """A row of an aggregate is missing or unusable. ``detail`` may quote the row, so clients never see it."""

    def __init__(self, aggregate_id: UUID, number: int, fault: Fault, detail: str = "") -> None:
        self.aggregate_id, self.number, self.fault, self.detail = aggregate_id, number, fault, detail
        super().__init__(f"event {number} of {aggregate_id} {self.what}")

    def __reduce__(self) -> Any:
        return type(self), (self.aggregate_id, self.number, self.fault, self.detail)

    @property
    def what(self) -> str:
        """Words about the fault, to follow the name of the event."""
        if self.fault == "missing":
            return "is missing"
        said = "cannot be read" if self.fault == "unreadable" else "does not follow on the event before it"
        return f"{said}: {self.detail}"


class DamagedAttempt(DamagedRow):
    """A row of a match's refused attempts is unusable."""


class NotInstalled(Exception):
    """The store has matches of games that are not installed, so their rows cannot be read."""

    def __init__(self, games: Iterable[str]) -> None:
        super().__init__(
            f"the store has matches of a game that is not installed: {', '.join(sorted(games))}: install its "
            "distribution into the environment of the service"
        )
