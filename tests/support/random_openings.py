"""Matches of any ruleset, all of them drawn by lot: options from their types, players, points and stakes."""

import math
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

import msgspec
from msgspec import inspect

from referee.events import Dealing, Enforcement, MatchOpened, Stakes
from referee.games import RULESETS
from referee.refusals import Refused
from referee.ruleset import Ruleset

APART = "money"
"""An option that changes nothing of the play: it has a lot of its own, so that all else is drawn as without it."""
DEALINGS: tuple[Dealing, ...] = ("house", "table")
ENFORCEMENTS: tuple[Enforcement, ...] = ("refuse", "penalise")


def some_value(chance: Random, kind: Any) -> Any:
    """Return a random value of an option of this type; numbers are near their least value."""
    match kind:
        case inspect.Metadata():
            return some_value(chance, kind.type)
        case inspect.BoolType():
            return chance.random() < 0.5
        case inspect.LiteralType():
            return chance.choice(kind.values)
        case inspect.IntType():
            low, high = kind.ge or 0, kind.le or 100
            return low - 1 + round(math.exp(chance.uniform(0, math.log(high - low + 1))))
        case inspect.UnionType():
            return some_value(chance, chance.choice(kind.types))
        case inspect.StructType():
            return dict(some_fields(chance, kind))
        case inspect.NoneType():
            return None
    raise AssertionError(f"an option of {kind}")


def some_fields(chance: Random, struct: inspect.StructType) -> list[tuple[str, Any]]:
    """Return some of the fields with random values; the others keep their defaults."""
    often = chance.choice((0.0, 0.2, 0.5, 1.0))
    fields = [field for field in struct.fields if field.encode_name != APART]
    return [(field.encode_name, some_value(chance, field.type)) for field in fields if chance.random() < often]


def some_points(chance: Random, start: int, players: int) -> tuple[tuple[int, ...], int]:
    """Return random points at the start, and a pot, as any of the games may have them."""
    dice = chance.random()
    if dice < 0.25:
        return (start,) * players, 0
    if dice < 0.6:
        return tuple(chance.choice((1, 2, 3, 4, 6, 9, 12, -1, -5)) for _ in range(players)), 0
    if dice < 0.7:
        return tuple(chance.choice((1, 2, 3, 4)) for _ in range(players)), 0
    if dice < 0.85:
        sides = (chance.randrange(400), chance.randrange(400))
        return tuple(sides[seat % 2] for seat in range(players)), 0
    pot = chance.choice((0, 3, 5, 10, 35))
    points = [chance.randint(-20, 20) for _ in range(players - 1)]
    return (*points, -pot - sum(points)), pot


@cache
def options_of(rules: str) -> inspect.StructType:
    """Return the fields of a ruleset's options, with their types."""
    info = inspect.type_info(RULESETS[rules].options)
    assert isinstance(info, inspect.StructType)
    return info


def some_match(
    chance: Random,
    rules: Ruleset,
    *,
    dealing: Dealing | None = None,
    enforcement: Enforcement | None = None,
    tempting: Mapping[str, Any] | None = None,
) -> MatchOpened:
    """Return an opening that the game accepts, drawn until it does.

    Given values are not drawn. ``tempting`` options are set if the game has them.
    """
    known = {field.encode_name for field in options_of(rules.key).fields}
    fixed = {name: value for name, value in (tempting or {}).items() if name in known}
    while True:
        players = chance.randint(rules.players_min, rules.players_max)
        given = dict(some_fields(chance, options_of(rules.key))) | fixed
        points, pot = some_points(chance, rules.start_points, players)
        for field in options_of(rules.key).fields:
            if field.encode_name == APART:
                given.setdefault(APART, some_value(Random(f"{rules.key} {points}"), field.type))
        how = chance.choice(DEALINGS)
        opened = MatchOpened(
            ruleset=rules.key,
            edition=rules.edition,
            options=msgspec.to_builtins(msgspec.convert(given, rules.options)),
            players=tuple(f"P{seat + 1}" for seat in range(players)),
            dealing=dealing or how,
            enforcement=chance.choice(ENFORCEMENTS) if enforcement is None else enforcement,
            points=points,
            pot=pot,
            first_dealer=chance.choice((None, chance.randrange(players))),
            stakes=chance.choice((None, None, Stakes(currency="SEK", unit=14))),
            tokens=(),
            official="",
        )
        if pot and not rules.has_pot:
            continue
        try:
            rules.opening(opened)
        except Refused:
            continue
        return opened
