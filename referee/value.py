"""What everything here is made of: values that never change."""

from typing import Any, Protocol, TypeVar, cast, dataclass_transform

from msgspec import Struct, field
from msgspec.structs import replace


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """A value: its fields are given by name and never change. Those without a default come first."""


V = TypeVar("V")


class _Replace(Protocol):
    def __call__(self, value: V, /, **changes: Any) -> V: ...


changed = cast(_Replace, replace)
""":func:`msgspec.structs.replace` for a value that is known only by the fields that it has (a Protocol)."""
