"""The base type of all values."""

import gc
from collections.abc import Iterator
from importlib import import_module

from referee.value import Value


def kinds(of: type[Value] = Value) -> Iterator[type[Value]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_the_garbage_collector_tracks_no_kind_of_value() -> None:
    import_module("api.app")  # defines all kinds
    found = [*kinds()]
    assert len(found) > 300
    assert [kind.__name__ for kind in found if kind.__struct_config__.gc] == []


def test_the_garbage_collector_does_not_track_a_value_that_holds_values() -> None:
    class Inner(Value):
        number: int

    class Outer(Value):
        parts: tuple[Inner, ...]

    outer = Outer(parts=tuple([Inner(number=number) for number in range(3)]))
    gc.collect()
    assert not gc.is_tracked(outer)
    assert not gc.is_tracked(outer.parts)
