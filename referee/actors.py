"""Actors: the texts that name the senders of requests.

``seat:2``: the player at seat 2, counted from 0. ``official``, ``official:2``: the first and the second official.
``scribe`` acts for all seats of a real table; ``watcher`` only reads. ``key:k3`` is the holder of the club's key
``k3``; ``operator`` runs the service.
"""

import re
from functools import cache
from typing import Annotated, Any

from msgspec import Meta

SEATS = tuple([f"seat:{seat}" for seat in range(8)])
_SEAT_OF = {actor: seat for seat, actor in enumerate(SEATS)}
_NAMED = r"official(?::[1-9][0-9]{0,2})?|operator|scribe|watcher|key:[0-9A-Za-z_-]{1,40}"

Actor = Annotated[
    str,
    Meta(
        title="Actor",
        pattern=rf"^(seat:[0-7]|{_NAMED})$(?!\n)",
        extra_json_schema={"maxLength": len("key:") + 40},
        description="The actor: `seat:2` is the player at seat 2; `official`, `official:2`, `scribe`, `key:k3`, "
        "`operator`; `watcher` when it redeems its invitation.",
    ),
]

WRITTEN = rf"P[1-8]|{_NAMED}"
"""Pattern of the texts that :func:`written` returns."""


def actor_at(seat: int) -> Actor:
    """Return the actor at a seat. Raises ``IndexError`` above seat 7."""
    return SEATS[seat]


def seat_of(actor: Actor) -> int | None:
    return _SEAT_OF.get(actor)


def actor_of(act: Any) -> Actor:
    """Return the usual actor of an act: its seat, or ``official`` if it names no seat."""
    seat = getattr(act, "seat", None)
    return "official" if seat is None else actor_at(seat)


@cache
def officials(count: int) -> tuple[Actor, ...]:
    """Return the actors of ``count`` officials."""
    return tuple("official" if place == 1 else f"official:{place}" for place in range(1, count + 1))


def place_of(official: str) -> int | None:
    """Return the index of an official, from 0; ``None`` for the holder of a club's key."""
    return None if uses_key(official) else int(official.partition(":")[2] or 1) - 1


def uses_key(actor: Actor) -> bool:
    return actor.startswith("key:")


def is_official(actor: Actor) -> bool:
    """Return whether the actor is an official of the match or uses a club's key."""
    return actor.startswith(("official", "key:"))


def written(actor: Actor) -> str:
    """Return the actor's name in the notation: ``P1`` for seat 0."""
    seat = seat_of(actor)
    return actor if seat is None else f"P{seat + 1}"


def parse(text: str) -> Actor:
    """Return the actor with this name in the notation. Raises ``ValueError`` for another text."""
    seat = re.fullmatch(r"P([1-8])", text)
    if seat is not None:
        return actor_at(int(seat[1]) - 1)
    if re.fullmatch(_NAMED, text) is None:
        raise ValueError(f"{text!r} names no actor")
    return text
