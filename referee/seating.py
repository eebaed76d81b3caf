"""Who may act in a match, and who has agreed to its stakes: tokens, invitations and agreement.

None of this is part of a game: it is the same in all games, and also possible when the match is over.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from referee import invitations
from referee.acts import AgreeStakes
from referee.admission import Invite, IssueToken, RedeemInvitation, Role
from referee.events import MatchOpened, StakesNeed, TokenEnded, TokenMade
from referee.invitations import INVITATIONS_MAX
from referee.officials.events.seating import InvitationRedeemed, Invited, StakesAgreed, StakesDeclined
from referee.refusals import AgainstTheRules, NotInPlay, NotYours, WrongPhase
from referee.ruleset import Moment
from referee.value import Value
from referee.visibility import Event


class Invitation(invitations.Invitation, kw_only=True):
    """An invitation to a seat or a role of the match."""

    role: Role
    seat: int | None = None
    official: int | None = None

    @property
    def admits_to(self) -> tuple[Role, int | None, int | None]:
        """The role, with its seat or its place among the officials."""
        return self.role, self.seat, self.official


class Seating(Value):
    """Who may act in a match, and who has agreed to its stakes."""

    seats: tuple[str, ...]
    """By seat, the SHA-256 of its token; empty: it has none."""
    officials: tuple[str, ...]
    """By place, the SHA-256 of each official's token."""
    scribe: str = ""
    """SHA-256 of the token of the scribe, who writes for all seats; empty: there is none."""
    watcher: str = ""
    """SHA-256 of the token of a watcher, who only looks; empty: there is none."""
    invitations: tuple[Invitation, ...] = ()
    """All that were made, by number."""
    of_club: bool = False
    need: StakesNeed | None = None
    """Who has to agree to the stakes; ``None``: there are none, or no club keeps books of them."""
    agreed: tuple[int, ...] = ()
    """The seats that have agreed, in order."""
    declined: bool = False

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The seats that have not agreed to the stakes yet."""
        if self.need is None or self.declined:
            return ()
        return tuple([seat for seat, _ in enumerate(self.seats) if seat not in self.agreed])

    def token_of(self, role: str, seat: int | None, official: int | None) -> str:
        """Return the SHA-256 of the token that a seat or a role has now; empty: it has none."""
        if role == "seat":
            return self.seats[seat or 0]
        if role == "official":
            return self.officials[(official or 1) - 1]
        token: str = getattr(self, role)
        return token


def begun(opened: MatchOpened) -> Seating:
    """Return the seating of a match just opened."""
    of_club = opened.club is not None
    return Seating(
        seats=opened.tokens or ("",) * len(opened.players),
        officials=(opened.official, *opened.officials),
        of_club=of_club,
        need=opened.stakes_need if of_club and opened.stakes is not None else None,
    )


# Decisions


def issue_token(state: Any, request: IssueToken, moment: Moment) -> tuple[Event, ...]:
    """Return the events that replace a token. A lost token may have been found by a stranger, so it ends."""
    seating: Seating = state.table.seating
    role, seat = request.role, request.seat
    check_place(seating, role, seat, None)
    if role == "seat" and seating.of_club:
        raise WrongPhase("seats_are_invited", None, seat=seat)
    return _tokens(seating, role, seat, None, request.hash)


def invite(state: Any, request: Invite, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an invitation. In a club's match only keys of the club, and a seat for itself, invite to
    seats and to the places of officials."""
    seating: Seating = state.table.seating
    check_place(seating, request.role, request.seat, request.official)
    own = request.role == "seat" and moment.actor == request.seat
    by_key = isinstance(moment.actor, str) and moment.actor.startswith("key:")
    if request.role == "official" and not seating.of_club:
        raise WrongPhase("officials_have_tokens", None)
    if request.role in ("seat", "official") and seating.of_club and not (own or by_key):
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
        ),
    )


def redeem(state: Any, request: RedeemInvitation, moment: Moment) -> tuple[Event, ...]:
    """Return the events by which the holder of a code is admitted; at a seat for money it agrees to the stakes."""
    seating: Seating = state.table.seating
    invitation = invitation_of(seating, request.invitation)
    invitations.check_open(invitation, moment.at)
    tokens = _tokens(seating, *invitation.admits_to, request.hash)
    redeemed = (InvitationRedeemed(invitation=request.invitation), *tokens)
    if invitation.role != "seat" or invitation.seat not in seating.waiting_for:
        return redeemed
    agreed = StakesAgreed(seats=(invitation.seat,), how="invitation", invitation=request.invitation)
    return (*redeemed, agreed)


def invitation_of(seating: Seating, number: int) -> Invitation:
    """Return the invitation of this number."""
    assert 1 <= number <= len(seating.invitations), "its code named it"
    return seating.invitations[number - 1]


def agree(state: Any, request: AgreeStakes, moment: Moment) -> tuple[Event, ...]:
    """Return the event by which a seat agrees to the stakes or declines them, or an official does for the table."""
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
    by_key = isinstance(moment.actor, str) and moment.actor.startswith("key:")
    if by_key and not request.agree:
        return (StakesDeclined(),)
    if seating.need != "secretary" or not by_key:
        raise NotYours("members_agree", None, seats=waiting)
    return (StakesAgreed(seats=waiting, how="secretary"),)


def check_place(seating: Seating, role: str, seat: int | None, official: int | None) -> None:
    """Raise ``Refused`` unless the match has this role, and the seat or official that goes with it."""
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


def _tokens(
    seating: Seating, role: str, seat: int | None, official: int | None, token: str
) -> tuple[TokenEnded | TokenMade, ...]:
    """Return the events that give a seat or a role another token. Who has which is on record."""
    made = TokenMade(seat=seat, hash=token, role=role, official=official)
    if not seating.token_of(role, seat, official):
        return (made,)
    return TokenEnded(seat=seat, role=role, official=official), made


WHENEVER: Mapping[type, Callable[[Any, Any, Moment], tuple[Event, ...]]] = {
    Invite: invite,
    RedeemInvitation: redeem,
    AgreeStakes: agree,
}
"""Decisions that can be made in every phase, also when the match is over."""
REQUESTS: tuple[type, ...] = (IssueToken, *WHENEVER)
"""Requests that are no part of the play."""


# What comes of an event


def _changed(state: Any, seating: Seating) -> Any:
    return replace(state, table=replace(state.table, seating=seating))


def token_made(state: Any, event: TokenMade, number: int) -> Any:
    """Return the state in which a seat or a role has this token and no other."""
    seating: Seating = state.table.seating
    match event.role:
        case "seat":
            seating = replace(seating, seats=_put(seating.seats, event.seat or 0, event.hash))
        case "official":
            seating = replace(seating, officials=_put(seating.officials, (event.official or 1) - 1, event.hash))
        case role:
            seating = replace(seating, **{role: event.hash})
    return _changed(state, seating)


def invited(state: Any, event: Invited, number: int) -> Any:
    """Return the state with one more invitation. An earlier one to the same place ends."""
    seating: Seating = state.table.seating
    new = Invitation(
        hash=event.hash,
        by=event.by,
        expires_at=event.expires_at,
        role=event.role,
        seat=event.seat,
        official=event.official,
    )
    earlier = [replace(one, ended=True) if one.admits_to == new.admits_to else one for one in seating.invitations]
    return _changed(state, replace(seating, invitations=(*earlier, new)))


def redeemed(state: Any, event: InvitationRedeemed, number: int) -> Any:
    """Return the state in which an invitation has been used."""
    seating: Seating = state.table.seating
    used = replace(seating.invitations[event.invitation - 1], ended=True)
    return _changed(state, replace(seating, invitations=_put(seating.invitations, event.invitation - 1, used)))


def agreed(state: Any, event: StakesAgreed, number: int) -> Any:
    """Return the state in which more seats have agreed to the stakes."""
    seating: Seating = state.table.seating
    return _changed(state, replace(seating, agreed=tuple(sorted({*seating.agreed, *event.seats}))))


def declined(state: Any, event: StakesDeclined, number: int) -> Any:
    """Return the state in which the stakes do not count."""
    return _changed(state, replace(state.table.seating, declined=True))


def _put(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


EVOLVE: Mapping[type[Event], Callable[[Any, Any, int], Any]] = {
    TokenEnded: lambda state, event, number: state,
    TokenMade: token_made,
    Invited: invited,
    InvitationRedeemed: redeemed,
    StakesAgreed: agreed,
    StakesDeclined: declined,
}
FACTS: frozenset[type[Event]] = frozenset(EVOLVE)
"""Facts that do not touch the play."""
