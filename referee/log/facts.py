"""Events of the log itself. Their rows are in the tree too."""

from typing import Annotated, ClassVar

from msgspec import Meta

from referee.log.notes import ORIGIN
from referee.value import Value
from referee.visibility import Event
from referee.wire_types import EXACT_MAX, Hash

NOTE_MAX = 2048
"""Maximum characters of a note."""

Origin = Annotated[
    str,
    Meta(
        description="The name of the log, such as `cards.example/log`: the first line of its checkpoints.",
        examples=["cards.example/log"],
        extra_json_schema={"pattern": ORIGIN, "maxLength": 128},
    ),
]
LogSize = Annotated[
    int,
    Meta(
        description="Number of rows that the log has, or had.",
        extra_json_schema={"minimum": 0, "maximum": EXACT_MAX},
    ),
]
Note = Annotated[
    str,
    Meta(
        description="A checkpoint and its signatures, as a signed note.",
        extra_json_schema={"pattern": r"^([^\n]+\n)+\n", "maxLength": NOTE_MAX},
    ),
]


class LogOpened(Event):
    """The log of this store was opened for signing."""

    TOPIC: ClassVar[str] = "log/opened"

    origin: Origin


class LogSigned(Event):
    """The ``root`` over the first ``size`` rows of the log was signed, in ``note``."""

    TOPIC: ClassVar[str] = "log/signed"

    size: LogSize
    root: Hash
    note: Note


class Sign(Value, frozen=True, tag_field="act", tag="sign", forbid_unknown_fields=True):
    note: Note
