"""The play of the cards (E28-E33, E41)."""

from msgspec.structs import replace

from referee.acts import Play
from referee.cards import BIT, SUIT_OF, texts_of
from referee.events import CardPlayed, PlayEnded, TrickTaken
from referee.games.kalabrias.ranks import BEATERS, LAST_TRICK, POINTS
from referee.games.kalabrias.states import Outcome, Played, Playing
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn
from referee.ruleset import Moment
from referee.visibility import Event


def tricks_in_deal(seats: int) -> int:
    return 8 if seats == 4 else 9


def playable_cards(state: Playing, hand: int) -> int:
    """Return the cards of a hand that may be played (E29-E30, E-O17, E-O18)."""
    led = state.led
    if not led:
        return hand
    trumps = state.contract.suit
    duty = hand & led
    if not duty:
        duty = hand & trumps
        if not duty:
            return hand
        if not state.table.options.must_overtrump or not state.best & trumps:
            return duty
    elif led != trumps:
        return duty
    return duty & _cards_that_beat_best(state) or duty


def possible_cards(state: Playing, seat: int) -> int:
    """Return the cards that a closed hand may have: in the last trick only the turn-up, if still held."""
    hand, cards = state.hand(seat), state.cards
    last = len(state.won) + 1 == tricks_in_deal(state.table.seats)
    return cards.taken if last and seat == cards.taken_by and cards.taken & hand else hand


def _cards_that_beat_best(state: Playing) -> int:
    return BEATERS[state.table.options.trick_rank][state.contract.trumps][state.best]


def play(state: Playing, act: Play, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a card played (E28-E32).

    Raises: OutOfTurn, NoSuchCard for a card that the hand cannot have, AgainstTheRules for a card of a known hand
    that must not be played (E29-E30).
    """
    seat = act.seat
    if seat != state.turn:
        raise OutOfTurn("out_of_turn", "E29" if state.trick else "E31" if state.won else "E28", turn=state.turn)
    bit, hand = BIT[act.card], state.cards.hands[seat] & ~state.gone
    if not bit & hand:
        if state.cards.known:
            raise NoSuchCard("not_held", None, card=act.card)
        raise NoSuchCard("card_seen", "E2", card=act.card)
    if not state.cards.known:
        if not bit & possible_cards(state, seat):
            raise NoSuchCard("turn_up_still_held", "E51" if state.table.seats == 4 else "E-O16")
    elif not bit & (allowed := playable_cards(state, hand)):
        raise _duty_refusal(state, bit, allowed)
    return (CardPlayed(seat=seat, card=act.card),)


def automatic_events(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a complete trick, or of the end of play; else no event (E31-E32)."""
    seats, trick = state.table.seats, state.trick
    if trick:
        return (TrickTaken(seat=state.winner, trick=len(state.won) + 1),) if len(trick) == seats else ()
    return (PlayEnded(kind="scored"),) if len(state.won) == tricks_in_deal(seats) else ()


def _duty_refusal(state: Playing, bit: int, allowed: int) -> AgainstTheRules:
    """Return the refusal of a card. ``allowed``: the cards that may be played (E-O17)."""
    cards = texts_of(allowed)
    if allowed & state.led:
        if bit & state.led:
            return AgainstTheRules("must_beat_trump", "E30", allowed=cards)
        return AgainstTheRules("must_follow_suit", "E29", allowed=cards)
    if bit & state.contract.suit:
        return AgainstTheRules("must_overtrump", "E30", allowed=cards)
    return AgainstTheRules("must_trump", "E29", allowed=cards)


def card_played(state: Playing, event: CardPlayed, number: int) -> Playing:
    seat, bit = event.seat, BIT[event.card]
    trick = (*state.trick, (seat, event.card))
    gone = state.gone | bit
    turn = seat + 1 if seat + 1 < state.table.seats else 0
    if state.played:
        played = list(state.played)
        played[seat] |= bit
        state = replace(state, played=tuple(played))
    if not state.led:
        return replace(state, gone=gone, turn=turn, trick=trick, led=SUIT_OF[bit], best=bit, winner=seat)
    if bit & _cards_that_beat_best(state):
        return replace(state, gone=gone, turn=turn, trick=trick, best=bit, winner=seat)
    return replace(state, gone=gone, turn=turn, trick=trick)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """Return the state in which the winner of the trick has its points and leads (E31, E33, E41)."""
    seat = event.seat
    points = POINTS[state.contract.trumps]
    worth = LAST_TRICK if event.trick == tricks_in_deal(state.table.seats) else 0
    for _, card in state.trick:
        worth += points[card]
    tricks, card_points = list(state.tricks), list(state.card_points)
    tricks[seat] += 1
    card_points[seat] += worth
    return replace(
        state,
        tricks=tuple(tricks),
        card_points=tuple(card_points),
        won=(*state.won, (seat, number)),
        trick=(),
        led=0,
        best=0,
        turn=seat,
    )


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    outcome = Outcome(
        kind=event.kind,
        tricks=state.tricks,
        contract=state.contract,
        card_points=state.card_points,
        won=state.won,
        sequences=state.sequences,
        bella=state.bella,
        known=state.cards.known,
        hands=state.cards.hands if state.cards.known else state.played,
    )
    return Played(table=state.table, cards=state.cards, outcome=outcome, gone=state.gone)
