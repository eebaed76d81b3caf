"""What is raised if a stored row cannot be read, or is missing."""

from typing import Any, Literal
from uuid import UUID

Fault = Literal["missing", "unreadable", "unfit"]
"""What is wrong with a row: it is missing; its bytes or its topic cannot be read; or no history can go on with it."""


class DamagedRow(ValueError):
    """A row of an aggregate that cannot be used. Nothing that needs it can be answered until it has been repaired.

    ``detail`` says why, in words of the reader of rows. It may repeat what the row holds, so no answer shows it.
    """

    def __init__(self, aggregate_id: UUID, number: int, fault: Fault, detail: str = "") -> None:
        self.aggregate_id, self.number, self.fault, self.detail = aggregate_id, number, fault, detail
        super().__init__(f"event {number} of {aggregate_id} {self.what}")

    def __reduce__(self) -> Any:
        """Return how a copy is made in a different process."""
        return type(self), (self.aggregate_id, self.number, self.fault, self.detail)

    @property
    def what(self) -> str:
        """A clause that says what is wrong: it follows on the name of the event."""
        if self.fault == "missing":
            return "is missing"
        said = "cannot be read" if self.fault == "unreadable" else "does not follow on the event before it"
        return f"{said}: {self.detail}"


class DamagedAttempt(DamagedRow):
    """A row of what was tried and refused in a match, likewise."""
