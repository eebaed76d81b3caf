"""The play of the cards, and faults in the play (D48-D58, D68)."""

from msgspec.structs import replace

from referee.acts import Play
from referee.cards import BIT, SUIT_OF, Cards, texts_of
from referee.events import Breach, CardPlayed, PlayEnded, TrickTaken
from referee.games.rams_english.deal import OFFENCE_BY_RULE, check_in_pack, fault_breach
from referee.games.rams_english.states import HAND_SIZE, DeniedCards, Playing, Table, Taken
from referee.offences import noted
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import next_in
from referee.visibility import Event

CODE_BY_RULE = {"D50": "must_follow_suit", "D51": "must_trump", "D53": "must_head"}


def higher_cards(cards: Cards, best: Cards) -> Cards:
    """Return the cards above ``best``. All ``cards`` must be of its suit."""
    return cards & -(best << 1)


def playable_cards(hand: Cards, led: Cards, best: Cards, trumps: Cards) -> Cards:
    """Return the cards that may be played (D50-D54, D-O20)."""
    if not led:
        return hand
    duty = hand & led  # D50
    if duty:
        return higher_cards(duty, best) or duty if best & led else duty  # D53, unless trumped
    duty = hand & trumps  # D51
    if duty:
        return higher_cards(duty, best) or duty if best & trumps else duty  # D53
    return hand  # D54


def beats_best(bit: Cards, best: Cards, trumps: Cards) -> bool:
    """Return whether a card beats ``best``, the best card of the trick so far (D55-D56)."""
    if bit & SUIT_OF[best]:
        return bit > best
    return bool(bit & trumps)


def possible_cards(state: Playing, seat: int) -> Cards:
    """Return the cards that a closed hand may have.

    Only the turned-up card is left if the dealer still has it in the last trick (D46).
    """
    hand = state.hands[seat]
    if seat != state.table.dealer or not state.said.exchanged or len(state.won) + 1 < HAND_SIZE:
        return hand
    return hand & BIT[state.dealing.turn_up] or hand


def play(state: Playing, act: Play, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a card played, with the faults that it makes or shows (D48-D58, D-O24).

    Raises: WrongPhase in a tally, OutOfTurn or NotInPlay for a seat not on turn, NoSuchCard for a card that the seat
    cannot hold, AgainstTheRules for a fault with known cards if faults are refused.
    """
    seat = act.seat
    if state.table.tally:
        raise WrongPhase("tallied", "D-O29")
    if seat != state.turn:
        raise _not_your_turn(state, seat)
    bit = BIT[act.card]
    hand = state.hands[seat]
    if not bit & hand:
        raise _no_such_card(state, act.card)
    breaches: tuple[Breach, ...] = ()
    dealing = state.dealing
    if not dealing.known:
        if not bit & possible_cards(state, seat):
            raise NoSuchCard("turn_up_still_held", "D46")
    elif not bit & (allowed := playable_cards(hand, state.led, state.best, dealing.trumps)):
        rule = broken_rule(hand, bit, state.led, dealing.trumps)
        if not state.table.penalise:
            raise AgainstTheRules(CODE_BY_RULE[rule], rule, allowed=texts_of(allowed))
        breaches = (fault_breach(state.table, OFFENCE_BY_RULE[rule], seat, rule, state.lead),)
    if state.denials:
        breaches += _faults_shown(state, seat, bit)
    return (CardPlayed(seat=seat, card=act.card, breaches=breaches),)


def broken_rule(hand: Cards, bit: Cards, led: Cards, trumps: Cards) -> str:
    """Return the rule that an illegal card breaks."""
    if hand & led:
        return "D53" if bit & led else "D50"
    return "D53" if bit & trumps else "D51"


def _not_your_turn(state: Playing, seat: int) -> OutOfTurn | NotInPlay:
    if seat not in state.order:
        return NotInPlay("not_in_play", "D14", seat=seat)
    if state.trick:
        return OutOfTurn("out_of_turn", "D14", turn=state.turn)
    if state.won:
        return OutOfTurn("not_on_lead", "D57", turn=state.turn)
    return OutOfTurn("not_on_lead", "D48" if state.said.announcer is None else "D49", turn=state.turn)


def _no_such_card(state: Playing, card: str) -> NoSuchCard:
    if state.dealing.known:
        return NoSuchCard("not_held", None, card=card)
    check_in_pack((card,))
    return NoSuchCard("card_seen", "D6", card=card)


def automatic_events(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a complete trick, or of the end of the play; else no event (D57-D58, D-O15)."""
    done = len(state.won)
    if state.trick:
        return (TrickTaken(seat=state.winner, trick=done + 1),) if len(state.trick) == len(state.order) else ()
    announcer = state.said.announcer
    if announcer is None or not done:
        return (PlayEnded(kind="played"),) if done == HAND_SIZE else ()
    last = state.won[-1]
    if last.seat != announcer or has_punished_fault(state.table, announcer, last.event):
        return (PlayEnded(kind="generalrams_lost"),)
    return (PlayEnded(kind="generalrams_won"),) if done == HAND_SIZE else ()


def has_punished_fault(table: Table, seat: int, until: int) -> bool:
    """Return whether a punished fault of this seat was noted before event ``until`` (D68, D-O15)."""
    return any(
        noted_fault.breach.seat == seat and noted_fault.breach.points and noted_fault.event < until
        for noted_fault in table.ledger.breaches
    )


def denied_cards(state: Playing, bit: Cards) -> tuple[Cards, Cards, Cards]:
    """Return the cards that the player cannot have if this card breaks no rule (D50, D51, D53).

    The three masks are: cards of the suit led, trumps, and cards that would head the trick.
    """
    led, best, trumps = state.led, state.best, state.dealing.trumps
    if bit & led:
        return 0, 0, higher_cards(led, best) if best & led and bit < best else 0
    if not bit & trumps:
        return led, trumps, 0
    return led, 0, higher_cards(trumps, best) if best & trumps and bit < best else 0


def _faults_shown(state: Playing, seat: int, bit: Cards) -> tuple[Breach, ...]:
    """Return the faults in earlier plays of a closed hand that this card proves (D-O24).

    If the match refuses faults, they cost nothing.
    """
    shown = []
    for denial in state.denials:
        if denial.seat == seat and bit & (denial.follow | denial.trump | denial.head):
            rule = "D50" if bit & denial.follow else "D51" if bit & denial.trump else "D53"
            breach = fault_breach(state.table, OFFENCE_BY_RULE[rule], seat, rule, denial.lead, denial.event)
            shown.append(breach if state.table.penalise else replace(breach, points=0))
    return tuple(shown)


def _denials_after(state: Playing, seat: int, bit: Cards, number: int) -> tuple[DeniedCards, ...]:
    """Return the denials after a card: a new one, and earlier ones that the card does not disprove."""
    denials = tuple(
        denial
        for denial in state.denials
        if denial.seat != seat or not bit & (denial.follow | denial.trump | denial.head)
    )
    if not state.led:
        return denials
    follow, trump, head = denied_cards(state, bit)
    if follow or trump or head:
        denials += (DeniedCards(seat=seat, event=number, lead=state.lead, follow=follow, trump=trump, head=head),)
    return denials


def card_played(state: Playing, event: CardPlayed, number: int) -> Playing:
    seat, bit = event.seat, BIT[event.card]
    if state.dealing.known:
        cards = list(state.hands)
        cards[seat] ^= bit
        hands = tuple(cards)
    else:
        hands = tuple([hand & ~bit for hand in state.hands])
        state = replace(state, denials=_denials_after(state, seat, bit, number))
    if event.breaches:
        state = noted(state, event.breaches, number)
    trick = (*state.trick, (seat, event.card))
    turn = next_in(state.order, seat)
    if not state.led:
        return replace(
            state,
            hands=hands,
            turn=turn,
            trick=trick,
            led=SUIT_OF[bit],
            best=bit,
            winner=seat,
            lead=number,
        )
    if beats_best(bit, state.best, state.dealing.trumps):
        return replace(state, hands=hands, turn=turn, trick=trick, best=bit, winner=seat)
    return replace(state, hands=hands, turn=turn, trick=trick)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    taken = Taken(seat=event.seat, event=number, cards=state.trick, second=event.second)
    return replace(state, won=(*state.won, taken), trick=(), led=0, best=0, turn=event.seat)
