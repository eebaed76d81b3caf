"""Who did something: a seat by its number, else by name.

``official`` is the first of the officials and ``official:2`` another one, ``scribe`` writes for all seats of a real
table, ``watcher`` only looks (it acts once, when it redeems its invitation), ``key:k3`` is the holder of that key of
the club, and ``operator`` runs the service.
"""

import re
from functools import cache
from typing import Annotated

import msgspec
from msgspec import Meta

from referee.value import SeatSent

_NAMED = r"official(?::[1-9][0-9]{0,2})?|operator|scribe|watcher|key:[0-9A-Za-z_-]{1,40}"

Actor = Annotated[
    SeatSent
    | Annotated[
        str,
        Meta(
            title="ActorName",
            pattern=rf"^({_NAMED})$(?!\n)",
            extra_json_schema={"maxLength": len("key:") + 40},
            description="Who acts without a seat: `official`, `official:2`, `scribe`, `key:k3`, `operator`; "
            "`watcher` when it redeems its invitation.",
        ),
    ],
    Meta(title="Actor", description="Who did something: a seat by its number, else by name."),
]
"""In JSON a number or a text."""

WRITTEN = rf"P[1-8]|{_NAMED}"
"""Matches what :func:`write` gives."""


@cache
def officials(count: int) -> tuple[Actor, ...]:
    """Return the actors of this many officials."""
    return tuple("official" if place == 1 else f"official:{place}" for place in range(1, count + 1))


def place_of(official: str) -> int | None:
    """Which of the officials named it is, counted from 0; ``None`` for whoever officiates by a key of the club."""
    return None if official.startswith("key:") else int(official.partition(":")[2] or 1) - 1


def is_official(actor: Actor) -> bool:
    """Whether it is one of the officials, or acts as one by a key of the club."""
    return isinstance(actor, str) and actor.startswith(("official", "key:"))


def write(actor: Actor) -> str:
    """The actor as players read it: seats are counted from ``P1``."""
    return actor if isinstance(actor, str) else f"P{actor + 1}"


def parse(text: str) -> Actor:
    """The actor who is written so. Raises ``ValueError`` for anybody else."""
    seat = re.fullmatch(r"P([1-8])", text)
    if seat is not None:
        return int(seat[1]) - 1
    actor: Actor = msgspec.convert(text, Actor)  # its ValidationError is a ValueError
    return actor
