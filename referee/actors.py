"""Actors: a seat by its number, all others by name.

``official`` is the first of the officials, ``official:2`` the second. ``scribe`` writes for all seats of a real
table. ``watcher`` only reads. ``key:k3`` is the holder of that key of the club. ``operator`` runs the service.
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
            pattern=rf"^({_NAMED})$(?!\n)",
            extra_json_schema={"maxLength": len("key:") + 40},
            description="An actor without a seat: `official`, `official:2`, `scribe`, `key:k3`, `operator`; "
            "`watcher` when it redeems its invitation.",
        ),
    ],
    Meta(title="Actor", description="The actor: a seat by its number, others by name."),
]

WRITTEN = rf"P[1-8]|{_NAMED}"
"""Pattern of the texts that :func:`write` returns."""


@cache
def officials(count: int) -> tuple[Actor, ...]:
    """Return the actors of this number of officials."""
    return tuple("official" if place == 1 else f"official:{place}" for place in range(1, count + 1))


def place_of(official: str) -> int | None:
    """Return the place of a named official, from 0; ``None`` for an official who acts by a key of the club."""
    return None if official.startswith("key:") else int(official.partition(":")[2] or 1) - 1


def is_official(actor: Actor) -> bool:
    """Return whether the actor is a named official or acts as one by a key of the club."""
    return isinstance(actor, str) and actor.startswith(("official", "key:"))


def write(actor: Actor) -> str:
    """Return the actor as text; seats count from ``P1``."""
    return actor if isinstance(actor, str) else f"P{actor + 1}"


def parse(text: str) -> Actor:
    """Return the actor of a text. Raises ``ValueError`` if the text names none."""
    seat = re.fullmatch(r"P([1-8])", text)
    if seat is not None:
        return int(seat[1]) - 1
    actor: Actor = msgspec.convert(text, Actor)  # a ValidationError is a ValueError
    return actor
