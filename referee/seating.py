"""Admission to a match by tokens and invitations, and agreement to its stakes.

These requests do not depend on the game.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from referee import invitations
from referee.actors import seat_of, uses_key
from referee.acts import AgreeStakes
from referee.admission import Invite, IssueToken, RedeemInvitation, Role
from referee.events import MatchOpened, StakesNeed, TokenEnded, TokenMade
from referee.invitations import INVITATIONS_MAX
from referee.officials.events.seating import InvitationRedeemed, Invited, StakesAgreed, StakesDeclined
from referee.refusals import AgainstTheRules, NotInPlay, NotYours, WrongPhase
from referee.ruleset import Moment
from referee.value import Value, with_item
from referee.visibility import Event


class Invitation(invitations.Invitation, kw_only=True):
    role: Role
    seat: int | None = None
    official: int | None = None
    given_by: tuple[int, ...] = ()

    @property
    def admits_to(self) -> tuple[Role, int | None, int | None]:
        return self.role, self.seat, self.official


class Seating(Value):
    """The tokens of a match, its invitations, and the agreement to its stakes.

    A token is stored as its hash in this match (:mod:`referee.tokens`); an empty text: there is no token.
    """

    seats: tuple[str, ...]
    officials: tuple[str, ...]
    given_by: tuple[tuple[int, ...], ...] = ()
    """Members who may know each official's token."""
    scribe: str = ""
    watcher: str = ""
    invitations: tuple[Invitation, ...] = ()
    """All invitations ever made, from number 1."""
    of_club: bool = False
    need: StakesNeed | None = None
    """Way to agree to the stakes; ``None``: no agreement is needed."""
    agreed: tuple[int, ...] = ()
    declined: bool = False

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """Seats that must still agree to the stakes."""
        if self.need is None or self.declined:
            return ()
        return tuple([seat for seat, _ in enumerate(self.seats) if seat not in self.agreed])

    def token_of(self, role: str, seat: int | None, official: int | None) -> str:
        """Return the token of a seat or role. ``official``: number, by default 1."""
        if role == "seat":
            return self.seats[seat or 0]
        if role == "official":
            return self.officials[(official or 1) - 1]
        token: str = getattr(self, role)
        return token


def seating_of(opened: MatchOpened) -> Seating:
    of_club = opened.club is not None
    return Seating(
        seats=opened.tokens or ("",) * len(opened.players),
        officials=(opened.official, *opened.officials),
        given_by=(opened.given_by,) * (1 + len(opened.officials)),
        of_club=of_club,
        need=opened.stakes_need if of_club and opened.stakes is not None else None,
    )


# Decisions


def issue_token(state: Any, request: IssueToken, moment: Moment) -> tuple[Event, ...]:
    """Return the events that make a token and end the earlier one, if any.

    Raises ``WrongPhase`` for a seat of a club's match, and what :func:`check_place` raises.
    """
    seating: Seating = state.table.seating
    role, seat = request.role, request.seat
    check_place(seating, role, seat, None)
    if role == "seat" and seating.of_club:
        raise WrongPhase("seats_are_invited", None, seat=seat)
    return _token_events(seating, role, seat, None, request.hash)


def invite(state: Any, request: Invite, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an invitation.

    Raises ``NotYours`` for a seat or official of a club's match, unless the caller has a key or the seat;
    ``WrongPhase`` for too many invitations, or for an official if the match has no club; and what
    :func:`check_place` raises.
    """
    seating: Seating = state.table.seating
    check_place(seating, request.role, request.seat, request.official)
    own = request.role == "seat" and seat_of(moment.actor) == request.seat
    if request.role == "official" and not seating.of_club:
        raise WrongPhase("officials_have_tokens", None)
    if request.role in ("seat", "official") and seating.of_club and not (own or uses_key(moment.actor)):
        raise NotYours("invited_by_keys", None)
    number = len(seating.invitations) + 1
    if number > INVITATIONS_MAX:
        raise WrongPhase("invitations_full", None, most=INVITATIONS_MAX)
    return (
        Invited(
            invitation=number,
            role=request.role,
            hash=request.hash,
            by=moment.actor,
            expires_at=invitations.expiry(moment.at),
            seat=request.seat,
            official=request.official,
            given_by=request.given_by,
        ),
    )


def redeem(state: Any, request: RedeemInvitation, moment: Moment) -> tuple[Event, ...]:
    """Return the events that redeem an invitation, with a new token.

    An invited seat that must still agree to the stakes does so.
    Raises ``InvitationOver`` if the invitation has ended or expired.
    """
    seating: Seating = state.table.seating
    assert 1 <= request.invitation <= len(seating.invitations), "its code named it"
    invitation = seating.invitations[request.invitation - 1]
    invitations.check_open(invitation, moment.at)
    tokens = _token_events(seating, *invitation.admits_to, request.hash, invitation.given_by)
    redeemed = (InvitationRedeemed(invitation=request.invitation), *tokens)
    if invitation.role != "seat" or invitation.seat not in seating.waiting_for:
        return redeemed
    agreed = StakesAgreed(seats=(invitation.seat,), how="invitation", invitation=request.invitation)
    return (*redeemed, agreed)


def agree(state: Any, request: AgreeStakes, moment: Moment) -> tuple[Event, ...]:
    """Return the event by which a seat, or an official for all seats, agrees to the stakes or declines them.

    Raises ``WrongPhase`` if this agreement is not needed; ``NotYours`` for an official without a key, and
    for an official's agreement if the members must agree; and what :func:`check_place` raises.
    """
    seating: Seating = state.table.seating
    seat, waiting = request.seat, seating.waiting_for
    if seat is not None:
        check_place(seating, "seat", seat, None)
    if seating.need is None:
        raise WrongPhase("no_stakes_to_agree", None)
    if seating.declined:
        raise WrongPhase("stakes_declined", None)
    if not waiting or (seat is not None and seat not in waiting):
        raise WrongPhase("stakes_agreed", None)
    if seat is not None:
        return (StakesAgreed(seats=(seat,), how="seat") if request.agree else StakesDeclined(seat=seat),)
    if uses_key(moment.actor) and not request.agree:
        return (StakesDeclined(),)
    if seating.need != "secretary" or not uses_key(moment.actor):
        raise NotYours("members_agree", None, seats=waiting)
    return (StakesAgreed(seats=waiting, how="secretary"),)


def check_place(seating: Seating, role: str, seat: int | None, official: int | None) -> None:
    """Raise ``Refused`` unless role, seat and official fit together and exist in the match."""
    if role == "seat" and seat is None:
        raise AgainstTheRules("whose_token", None, role=role)
    if role != "seat" and seat is not None:
        raise AgainstTheRules("token_of_no_seat", None, role=role)
    if seat is not None and seat >= len(seating.seats):
        raise NotInPlay("no_such_seat", None, seat=seat)
    if role == "official" and not 1 <= (official or 1) <= len(seating.officials):
        raise AgainstTheRules("no_such_official", None, last=len(seating.officials))
    if role != "official" and official is not None:
        raise AgainstTheRules("no_such_official", None, last=0)


def _token_events(
    seating: Seating,
    role: str,
    seat: int | None,
    official: int | None,
    token_hash: str,
    given_by: tuple[int, ...] = (),
) -> tuple[TokenEnded | TokenMade, ...]:
    """Return the end of the earlier token, if any, and the new token."""
    made = TokenMade(seat=seat, hash=token_hash, role=role, official=official, given_by=given_by)
    if not seating.token_of(role, seat, official):
        return (made,)
    return TokenEnded(seat=seat, role=role, official=official), made


DECISIONS_IN_EVERY_PHASE: Mapping[type, Callable[[Any, Any, Moment], tuple[Event, ...]]] = {
    Invite: invite,
    RedeemInvitation: redeem,
    AgreeStakes: agree,
}
"""Decisions that are possible even after the match."""
REQUESTS: tuple[type, ...] = (IssueToken, *DECISIONS_IN_EVERY_PHASE)
"""Requests outside the play."""


# The functions below return the state after an event.


def _changed(state: Any, seating: Seating) -> Any:
    return replace(state, table=replace(state.table, seating=seating))


def token_made(state: Any, event: TokenMade, number: int) -> Any:
    seating: Seating = state.table.seating
    match event.role:
        case "seat":
            seating = replace(seating, seats=with_item(seating.seats, event.seat or 0, event.hash))
        case "official":
            place = (event.official or 1) - 1
            officials = with_item(seating.officials, place, event.hash)
            seating = replace(
                seating, officials=officials, given_by=with_item(seating.given_by, place, event.given_by)
            )
        case role:
            seating = replace(seating, **{role: event.hash})
    return _changed(state, seating)


def invited(state: Any, event: Invited, number: int) -> Any:
    """Add an invitation, and end earlier ones that admit to the same place."""
    seating: Seating = state.table.seating
    new = Invitation(
        hash=event.hash,
        by=event.by,
        expires_at=event.expires_at,
        role=event.role,
        seat=event.seat,
        official=event.official,
        given_by=event.given_by,
    )
    earlier = [replace(one, ended=True) if one.admits_to == new.admits_to else one for one in seating.invitations]
    return _changed(state, replace(seating, invitations=(*earlier, new)))


def redeemed(state: Any, event: InvitationRedeemed, number: int) -> Any:
    seating: Seating = state.table.seating
    used = replace(seating.invitations[event.invitation - 1], ended=True)
    return _changed(state, replace(seating, invitations=with_item(seating.invitations, event.invitation - 1, used)))


def agreed(state: Any, event: StakesAgreed, number: int) -> Any:
    seating: Seating = state.table.seating
    return _changed(state, replace(seating, agreed=tuple(sorted({*seating.agreed, *event.seats}))))


def declined(state: Any, event: StakesDeclined, number: int) -> Any:
    return _changed(state, replace(state.table.seating, declined=True))


EVOLVE: Mapping[type[Event], Callable[[Any, Any, int], Any]] = {
    TokenEnded: lambda state, event, number: state,  # because ``TokenMade`` with the new token follows
    TokenMade: token_made,
    Invited: invited,
    InvitationRedeemed: redeemed,
    StakesAgreed: agreed,
    StakesDeclined: declined,
}
SEATING_EVENTS: frozenset[type[Event]] = frozenset(EVOLVE)
"""Event types that do not change the play."""
