"""Playing a card and taking a trick, the same in every sister (A29-A32, B41-B45, C23-C29)."""

from referee import phases
from referee.acts import Play
from referee.cards import BIT, SUIT_OF, texts_of
from referee.events import CardPlayed, TrickTaken
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.closed import claims
from referee.games._rodskagg.in_play import InPlay, P
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn
from referee.value import changed


def card_of(state: InPlay, act: Play, cites: Cites) -> int:
    """The card that a seat plays, as a mask; refused out of turn, while answers are due, or if it is not there."""
    if act.seat != state.turn:
        raise not_your_turn(state, act.seat, cites)
    if state.question.pending:
        raise AgainstTheRules("answers_pending", cites.answers, turn=state.question.pending[0])
    bit = BIT[act.card]
    if not bit & state.cards.hands[act.seat] & ~state.gone:
        if state.cards.known:
            raise NoSuchCard("not_held", None, card=act.card)
        raise NoSuchCard("card_seen", cites.pack, card=act.card)
    return bit


def not_your_turn(state: InPlay, seat: int, cites: Cites) -> OutOfTurn | NotInPlay:
    """What to say to a seat that may not play now."""
    if seat not in state.order:
        return NotInPlay("has_folded", cites.folded)
    if state.trick:
        return OutOfTurn("out_of_turn", cites.turn, turn=state.turn)
    return OutOfTurn("not_on_lead", cites.lead if state.won else cites.first_lead, turn=state.turn)


def of_led_suit(state: InPlay, seat: int) -> int:
    """The cards that a seat holds of the suit led; none are known where hands are closed."""
    return state.cards.hands[seat] & ~state.gone & state.led if state.cards.known else 0


def must_follow(owed: int, cites: Cites) -> AgainstTheRules:
    """What to say to who holds these cards of the suit led, and plays another."""
    return AgainstTheRules("must_follow_suit", cites.follow_suit, allowed=texts_of(owed))


def card_played(state: P, event: CardPlayed, number: int) -> P:
    """The state after a card."""
    seat, bit = event.seat, BIT[event.card]
    trick = (*state.trick, (seat, event.card))
    gone, turn = state.gone | bit, state.after[seat]
    if not state.cards.known:
        voids = claims(state.voids, seat, bit, state.led, len(state.won) + 1, state.lead, number)
        state = changed(state, voids=voids)
    if event.breaches:
        state = phases.noted(state, event.breaches, number)
    if not state.led:
        led = SUIT_OF[bit]
        return changed(state, gone=gone, turn=turn, trick=trick, led=led, best=bit, winner=seat, lead=number)
    if bit & state.led and bit > state.best:
        return changed(state, gone=gone, turn=turn, trick=trick, best=bit, winner=seat)
    return changed(state, gone=gone, turn=turn, trick=trick)


def trick_taken(state: P, event: TrickTaken, number: int) -> P:
    """The state after a trick: its winner leads."""
    seat = event.seat
    tricks = list(state.tricks)
    tricks[seat] += 1
    return changed(
        state,
        tricks=tuple(tricks),
        won=(*state.won, (seat, number)),
        trick=(),
        led=0,
        best=0,
        turn=seat,
    )
