"""The scope that a club command needs, and the scopes that a caller may grant."""

from msgspec import UNSET

from referee.actors import Actor
from referee.clubs import commands
from referee.clubs.facts import SCOPES, Scope
from referee.clubs.lookup import key_of_actor, member_of_actor
from referee.clubs.state import Club
from referee.refusals import NotGranted

MEMBER_SCOPES: tuple[Scope, ...] = ("play", "self")
APP_SCOPES: tuple[Scope, ...] = ("read",)


def needed_scope(club: Club, request: commands.ClubSent, actor: Actor) -> Scope | None:
    """Return the scope that an act needs; ``None`` for `confirm` and `decline`, which
    :mod:`~referee.clubs.proposals` checks."""
    match request:
        case commands.Rename(member=member) | commands.Leave(member=member) if member == member_of_actor(club, actor):
            return _scope_for_own(club, actor)
        case commands.SetPayeeSent(member=member) if (own := member_of_actor(club, actor)) and member in (own, UNSET):
            return _scope_for_own(club, actor)
        case commands.RotateKeySent(key=name) | commands.RevokeKey(key=name) if is_own(club, actor, name):
            return _scope_for_own(club, actor)
        case commands.PaySent():
            return "self"
        case commands.ConfirmSent() | commands.Decline():
            return None
        case commands.OpenEvening() | commands.CloseEvening():
            return "open"
        case commands.MoneyAct():
            return "treasury"
    return "keys"


def _scope_for_own(club: Club, actor: Actor) -> Scope:
    """Return the scope for an act about the caller: `keys` if the caller has it, otherwise `self`."""
    return "keys" if "keys" in scopes_of(club, actor) else "self"


def is_own(club: Club, actor: Actor, name: str) -> bool:
    """Return whether a key is the caller's own, or another key of the member who calls."""
    key, member = club.key(name), member_of_actor(club, actor)
    return actor == f"key:{name}" or (member is not None and key is not None and key.member == member)


def default_scopes(request: commands.IssueKeySent) -> tuple[Scope, ...]:
    """Return the scopes of a key to issue: those requested, else the default."""
    if request.scopes is not None:
        return tuple(scope for scope in SCOPES if scope in request.scopes)
    return MEMBER_SCOPES if request.app is None else APP_SCOPES


def scopes_of(club: Club, actor: Actor) -> tuple[Scope, ...]:
    """Return the scopes of a caller's key; all for the operator, none without a key."""
    key = key_of_actor(club, actor)
    return SCOPES if actor == "operator" else () if key is None else key.scopes


def check_has_scopes(club: Club, actor: Actor, scopes: tuple[Scope, ...]) -> None:
    """Raise ``NotGranted`` unless a caller has all these scopes."""
    mine = scopes_of(club, actor)
    if lacking := tuple(scope for scope in SCOPES if scope in scopes and scope not in mine):
        raise NotGranted("scopes_not_yours", None, scopes=lacking)
