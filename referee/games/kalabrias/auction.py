"""The choice of trumps in one or two rounds of calls. A call can also propose a new deal (E5-E13)."""

from msgspec.structs import replace

from referee.acts import Bid, Reply
from referee.cards import SUIT, clockwise
from referee.events import PlayEnded
from referee.games.kalabrias.facts import Call, DeclarerBound, RedealAnswered, TrumpsCalled, TrumpsMade
from referee.games.kalabrias.states import Auction, LaterCards, Naming, Outcome, Played, Proposed, TrumpContract
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

_SUITS: tuple[Call, ...] = ("S", "H", "D", "C")
_OTHER_SUITS: dict[str, tuple[Call, ...]] = {
    suit: tuple([other for other in _SUITS if other != suit]) for suit in _SUITS
}
"""Suits for the second round, by the suit turned up (E9, E-O9)."""
_FIRST_ROUND_CALLS: dict[str, tuple[Call, ...]] = {suit: ("take", suit, "pass", "redeal") for suit in _SUITS}
"""Calls of the first round, by the suit turned up (E5)."""


def other_suits(turn_up: str) -> tuple[Call, ...]:
    return _OTHER_SUITS[turn_up[0]]


def allowed_calls(state: Auction) -> tuple[Call, ...]:
    """Return the calls that the next seat may make (E5-E11, E-O40)."""
    suit = state.cards.turn_up[0]
    if state.round == 1:
        return _FIRST_ROUND_CALLS[suit]
    last = len(state.to_speak) == 1
    if last and state.table.options.all_pass == "dealer_must_choose":
        return (*_OTHER_SUITS[suit], "redeal")
    return (*_OTHER_SUITS[suit], "pass", "redeal")


def bid(state: Auction, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a call (E5-E11).

    Raises: OutOfTurn, AgainstTheRules for a call that this round does not allow.
    """
    seat = act.seat
    if seat != (turn := state.to_speak[0]):
        raise OutOfTurn("out_of_turn", _turn_rule(state), turn=turn)
    allowed = allowed_calls(state)
    if act.bid not in allowed:
        raise _call_refusal(state, act, allowed)
    return (TrumpsCalled(seat=seat, call=act.bid),)


def automatic_events(state: Auction, moment: Moment) -> tuple[Event, ...]:
    """Return the event that makes trumps or, after the last pass, ends the deal; else no event (E5, E9, E-O5)."""
    if not state.calls:
        return ()
    seat, call = state.calls[-1]
    if call == "pass":
        return () if state.to_speak else (PlayEnded(kind="passed_out"),)
    suit = state.cards.turn_up[0] if call == "take" else call
    return (TrumpsMade(seat=seat, trumps=suit, rule="E5" if state.round == 1 else "E9"),)


def _turn_rule(state: Auction) -> str:
    first = len(state.to_speak) == state.table.seats
    if state.round == 1:
        return "E5" if first else "E7"
    return "E8" if first else "E10"


def _call_refusal(state: Auction, act: Bid, allowed: tuple[Call, ...]) -> AgainstTheRules:
    suit = state.cards.turn_up[0]
    if state.round == 1 and act.bid in _OTHER_SUITS:
        return AgainstTheRules("only_turned_up_suit", "E5", allowed=allowed)
    if act.bid in ("take", suit):
        return AgainstTheRules("not_turned_up_suit", "E9", allowed=allowed)
    if act.bid == "pass":
        return AgainstTheRules("dealer_must_choose", "E-O40", allowed=allowed)
    return AgainstTheRules("no_such_bid", "E5" if state.round == 1 else "E9", allowed=allowed)


def trumps_called(state: Auction | Naming, event: TrumpsCalled, number: int) -> Auction | Proposed | Naming:
    """Return the state after a call; the last pass of round one leads to round two (E8, E11)."""
    calls = (*state.calls, (event.seat, event.call))
    if isinstance(state, Naming):
        return replace(state, calls=calls)
    table = state.table
    if event.call == "redeal":
        return Proposed(
            table=table,
            cards=state.cards,
            round=state.round,
            proposer=event.seat,
            to_reply=clockwise(event.seat, table.seats)[1:],
            calls=calls,
        )
    left = state.to_speak[1:]
    if event.call == "pass" and not left and state.round == 1:
        return replace(state, calls=calls, round=2, to_speak=clockwise(table.forehand, table.seats))
    return replace(state, calls=calls, to_speak=left)


def trumps_made(state: Auction | Proposed | Naming, event: TrumpsMade, number: int) -> LaterCards:
    made = TrumpContract(
        event=number, declarer=event.seat, trumps=event.trumps, suit=SUIT[event.trumps], calls=state.calls
    )
    return LaterCards(table=state.table, cards=state.cards, contract=made)


def reply(state: Proposed, act: Reply, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an answer to a proposed new deal (E11-E13, E-O8, E-O37). Raises OutOfTurn."""
    if act.seat != (turn := state.to_reply[0]):
        raise OutOfTurn("out_of_turn", "E12", turn=turn)
    return (RedealAnswered(seat=act.seat, agree=act.agree),)


def redeal_answered(state: Proposed, event: RedealAnswered, number: int) -> Proposed:
    return replace(state, to_reply=state.to_reply[1:], refuser=None if event.agree else event.seat)


def events_after_replies(state: Proposed, moment: Moment) -> tuple[Event, ...]:
    """Return the end of the deal if all agreed; after a refusal, trumps or (round two) the bound declarer; else no
    event (E11-E13, E-O7)."""
    if state.refuser is None:
        return () if state.to_reply else (PlayEnded(kind="redeal"),)
    to_refuser = state.table.options.refused_redeal_declarer == "refuser"
    declarer = state.refuser if to_refuser else state.proposer
    if state.round == 1:
        return (TrumpsMade(seat=declarer, trumps=state.cards.turn_up[0], rule="E13"),)
    return (DeclarerBound(seat=declarer, rule="E-O7" if to_refuser else "E12"),)


def declarer_bound(state: Proposed, event: DeclarerBound, number: int) -> Naming:
    return Naming(table=state.table, cards=state.cards, declarer=event.seat, calls=state.calls)


def name_trumps(state: Naming, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """Return the event by which the declarer names trumps (E13).

    Raises: WrongPhase for a different seat, AgainstTheRules unless the call names a suit that was not turned up.
    """
    if act.seat != state.declarer:
        raise WrongPhase("trumps_to_be_named", "E10", turn=state.declarer)
    allowed = other_suits(state.cards.turn_up)
    if act.bid not in allowed:
        raise AgainstTheRules("name_another_suit", "E13", allowed=allowed)
    return (TrumpsCalled(seat=act.seat, call=act.bid),)


def events_after_naming(state: Naming, moment: Moment) -> tuple[Event, ...]:
    """Return the event that makes the named suit trumps; else no event (E13)."""
    seat, call = state.calls[-1]
    return () if call == "redeal" else (TrumpsMade(seat=seat, trumps=call, rule="E13"),)


def auction_ended(state: Auction | Proposed, event: PlayEnded, number: int) -> Played:
    outcome = Outcome(kind=event.kind, tricks=(0,) * state.table.seats)
    return Played(table=state.table, cards=state.cards, outcome=outcome, calls=state.calls)
