"""Decides the actor and the view of the holder of a token or key in a match."""

from collections.abc import Iterable

from api.access.caller import SPECTATOR, Caller, seat_of_key
from api.access.clubs import PRIVATE_MATCH_SCOPES, KeyHolder
from referee.actors import actor_at, place_of, seat_of
from referee.phases import Over
from referee.store.match import Match
from referee.visibility import Viewer


def caller_by_token(match: Match, secret_hash: str) -> Caller | None:
    """Return the caller with this token; ``None`` if the match does not have this token."""
    actor = match.holder(secret_hash)
    if actor is None:
        return None
    # A scribe may not act if the server deals, because refusals of acts would reveal cards to the scribe.
    if actor == "watcher" or (actor == "scribe" and match.opened.dealing == "house"):
        return Caller(viewer="spectator", token_hash=secret_hash)
    seat = seat_of(actor)
    viewer: Viewer = seat if seat is not None else "spectator" if actor == "scribe" else "official"
    place = place_of(actor) if viewer == "official" else None
    if place is not None and _plays(match, match.seating.given_by[place]):
        return Caller(viewer="spectator", actor=actor, token_hash=secret_hash, held_back=True)
    return Caller(viewer=viewer, actor=actor, token_hash=secret_hash)


def _plays(match: Match, members: Iterable[int]) -> bool:
    """Return whether the match is not over and one of these members plays in it."""
    return not set(match.opened.members).isdisjoint(members) and not isinstance(match.play, Over)


def caller_by_key(match: Match, key: KeyHolder) -> Caller | None:
    """Return the caller with this key; ``None`` if they may not see the match."""
    opened = match.opened
    of_club = opened.club == key.club.id
    seat = seat_of_key(key, match) if of_club else None
    plays = seat is not None and key.may("play")
    seen = opened.visibility == "public" or (
        of_club and (opened.visibility == "club" or plays or any(map(key.may, PRIVATE_MATCH_SCOPES)))
    )
    if not seen:
        return None
    if seat is not None and plays:
        return Caller(viewer=seat, actor=actor_at(seat), key=key)
    if not of_club or seat is not None:
        return Caller(viewer="spectator", key=key)
    held_back = (key.may("officiate") or key.may("audit")) and _plays(match, key.key.behind)
    if key.may("officiate"):
        viewer: Viewer = "spectator" if held_back else "official"
        return Caller(viewer=viewer, actor=key.actor, key=key, held_back=held_back)
    return Caller(viewer="spectator", key=key, audits=key.may("audit") and not held_back, held_back=held_back)


def caller_without_credential(match: Match) -> Caller | None:
    """Return :data:`SPECTATOR`; ``None`` if the match is not public."""
    return SPECTATOR if match.opened.visibility == "public" else None
