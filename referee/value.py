"""What everything here is made of: values that never change."""

from typing import dataclass_transform

from msgspec import Struct, field


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """A value: its fields are given by name and never change. Those without a default come first."""
