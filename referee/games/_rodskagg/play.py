"""Playing a card and taking a trick, the same in every sister (A29-A32, B41-B45, C23-C29).

Each sister makes its own decision and change of these once, so that nothing is looked up while cards are played.
"""

from collections.abc import Callable
from typing import Any

from referee import offences, phases
from referee.acts import Play
from referee.cards import BIT, SUIT_OF, Cards, texts_of
from referee.events import Breach, CardPlayed
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.closed_hands import Denial, claims, disproved
from referee.games._rodskagg.in_play import InPlay, P
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.value import changed
from referee.visibility import Event

Breaches = tuple[Breach, ...]


def play(
    cites: Cites,
    *,
    before_the_lead: Callable[[Any, int, Moment], Breaches],
    revoked: Callable[[Any, int, Cards], Breaches],
    revoke_shown: Callable[[Any, int, Denial], Breach],
) -> phases.Decision:
    """Playing a card: in turn, once the question is answered, one that the seat holds, following suit if possible.

    ``before_the_lead``: what must be done first is refused, or passed over by it. ``revoked``: it is refused to hold
    back these cards of the suit led, or that is an offence. ``revoke_shown``: with closed hands a card disproves what
    its holder claimed by not following suit earlier.
    """

    def played(state: InPlay, act: Play, moment: Moment) -> tuple[Event, ...]:
        seat = act.seat
        if seat != state.turn and not state.table.tally:
            raise _not_your_turn(state, seat, cites)
        if state.question.pending:
            raise AgainstTheRules("answers_pending", cites.answers, turn=state.question.pending[0])
        bit, led = BIT[act.card], state.led
        hand = state.cards.hands[seat] & ~state.gone
        if not bit & hand:
            if state.cards.known:
                raise NoSuchCard("not_held", None, card=act.card)
            if state.table.tally:
                raise WrongPhase("tallied", None)
            raise NoSuchCard("card_seen", cites.pack, card=act.card)
        breaches: Breaches = ()
        if not led:
            breaches = before_the_lead(state, seat, moment)
        elif not bit & led and hand & led and state.cards.known:
            breaches = revoked(state, seat, hand & led)
        if state.voids:
            breaches += tuple([revoke_shown(state, seat, void) for void in disproved(state.voids, seat, bit)])
        return (CardPlayed(seat=seat, card=act.card, breaches=breaches),)

    return played


def _not_your_turn(state: InPlay, seat: int, cites: Cites) -> OutOfTurn | NotInPlay:
    """What to say to a seat that may not play now."""
    if seat not in state.order:
        return NotInPlay("has_folded", cites.folded)
    if state.trick:
        return OutOfTurn("out_of_turn", cites.turn, turn=state.turn)
    first = cites.first_lead if state.contract is not None else cites.lead_in_duel
    return OutOfTurn("not_on_lead", cites.lead if state.won else first, turn=state.turn)


def must_follow(owed: Cards, cites: Cites) -> AgainstTheRules:
    """What to say to who holds these cards of the suit led, and plays another."""
    return AgainstTheRules("must_follow_suit", cites.follow_suit, allowed=texts_of(owed))


def card_played(passed_over: Callable[[P, int], P]) -> Callable[[P, CardPlayed, int], P]:
    """The state after a card; ``passed_over``: what a lead makes too late."""

    def evolved(state: P, event: CardPlayed, number: int) -> P:
        seat, bit = event.seat, BIT[event.card]
        trick = (*state.trick, (seat, event.card))
        gone, turn = state.gone | bit, state.after[seat]
        if not state.cards.known:
            voids = claims(state.voids, seat, bit, state.led, len(state.won) + 1, state.lead, number)
            state = changed(state, voids=voids)
        if event.breaches:
            state = offences.noted(state, event.breaches, number)
        if not state.led:
            state, led = passed_over(state, number), SUIT_OF[bit]
            return changed(state, gone=gone, turn=turn, trick=trick, led=led, best=bit, winner=seat, lead=number)
        if bit & state.led and bit > state.best:
            return changed(state, gone=gone, turn=turn, trick=trick, best=bit, winner=seat)
        return changed(state, gone=gone, turn=turn, trick=trick)

    return evolved


def trick_taken(state: P, seat: int, number: int, **then: Any) -> P:
    """The state after a trick that event ``number`` gave to this seat; ``then``: whose ``turn`` it is, and what only
    this sister has."""
    tricks = (*state.tricks[:seat], state.tricks[seat] + 1, *state.tricks[seat + 1 :])
    return changed(state, tricks=tricks, won=(*state.won, (seat, number)), trick=(), led=0, best=0, **then)
