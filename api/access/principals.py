"""Whose a token or a key is, and as whom that lets him see and act."""

from api.access.caller import SPECTATOR, Caller, seat_of
from api.access.clubs import SEES_PRIVATE, KeyHolder
from referee.store.match import Match
from referee.visibility import Viewer


def by_token(match: Match, held: str) -> Caller | None:
    """Who holds a token, by its SHA-256, as the match stands; ``None``: nobody."""
    actor = match.holder(held)
    if actor is None:
        return None
    # What the server deals is in nobody's hands but the seats': what is refused to a scribe would tell of it.
    if actor == "watcher" or (actor == "scribe" and match.opened.dealing == "house"):
        return Caller(viewer="spectator", held=held)
    viewer: Viewer = actor if isinstance(actor, int) else "spectator" if actor == "scribe" else "official"
    return Caller(viewer=viewer, actor=actor, held=held)


def by_key(match: Match, key: KeyHolder) -> Caller | None:
    """Who holds a good key; ``None``: somebody who may not see the match."""
    opened = match.opened
    of_club = opened.club == key.club.id
    seat = seat_of(key, match) if of_club else None
    plays = seat is not None and key.may("play")
    seen = opened.visibility == "public" or (
        of_club and (opened.visibility == "club" or plays or any(map(key.may, SEES_PRIVATE)))
    )
    if not seen:
        return None
    if seat is not None and plays:
        return Caller(viewer=seat, actor=seat, key=key)
    if not of_club or seat is not None:
        return Caller(viewer="spectator", key=key)
    if key.may("officiate"):
        return Caller(viewer="official", actor=key.actor, key=key)
    return Caller(viewer="spectator", key=key, audits=key.may("audit"))


def by_nothing(match: Match) -> Caller | None:
    """Who shows nothing; ``None`` where that is not enough."""
    return SPECTATOR if match.opened.visibility == "public" else None
