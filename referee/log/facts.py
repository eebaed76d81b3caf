"""What is on record of the log itself: that it was signed. These rows are in the tree like all others."""

from typing import Annotated, ClassVar

from msgspec import Meta

from referee.log.notes import ORIGIN
from referee.value import Value
from referee.visibility import Event
from referee.wire_types import EXACT_MAX, Hash

NOTE_MAX = 2048
"""A checkpoint with two signatures has some four hundred."""

Origin = Annotated[
    str,
    Meta(
        title="LogOrigin",
        description="The name of the log, such as `cards.example/log`: the first line of its checkpoints.",
        examples=["cards.example/log"],
        extra_json_schema={"pattern": ORIGIN, "maxLength": 128},
    ),
]
LogSize = Annotated[
    int,
    Meta(
        title="LogSize",
        description="Rows that the log has, or had.",
        extra_json_schema={"minimum": 0, "maximum": EXACT_MAX},
    ),
]
Note = Annotated[
    str,
    Meta(
        title="LogNote",
        description="A checkpoint and its signatures, as a signed note.",
        extra_json_schema={"pattern": r"\n\n", "maxLength": NOTE_MAX},
    ),
]


class LogOpened(Event):
    """The log of this store is going to be signed; ``origin`` names it."""

    TOPIC: ClassVar[str] = "log/opened"

    origin: Origin


class LogSigned(Event):
    """The first ``size`` rows of the log have this ``root``, and ``note`` says so, signed."""

    TOPIC: ClassVar[str] = "log/signed"

    size: LogSize
    root: Hash
    note: Note


class Sign(Value, frozen=True, tag_field="act", tag="sign", forbid_unknown_fields=True):
    """That a checkpoint, signed, be put on record."""

    note: Note
