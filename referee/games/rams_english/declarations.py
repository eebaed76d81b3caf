"""Declarations before the play, and the dealer's exchange of a card for the turned-up card (D22-D47)."""

from msgspec.structs import replace

from referee.acts import Bid, Exchange
from referee.cards import BIT, texts_of
from referee.events import PlayEnded
from referee.games.rams_english.deal import before_first_lead, check_in_pack
from referee.games.rams_english.states import (
    GENERALRAMS,
    JOIN,
    LIE_DOWN,
    PAY,
    WIDOW,
    DeclarationsClosed,
    Declared,
    Declaring,
    Kind,
    Outcome,
    Played,
    Playing,
    Table,
    TurnUpTaken,
    Word,
)
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn, Refused, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def is_single(table: Table) -> bool:
    """Return whether the pot was empty before the dealer's stake (D22, D41-D42, D-O23)."""
    return table.pot == 0


def must_join_or_pay(state: Declaring) -> bool:
    """Return whether the last seat but one is next to speak, and no seat has joined (D31, D-O8, D-O9)."""
    return state.to_speak[0] == state.dealing.order[-2] and not state.said.joined


def must_join(state: Declaring) -> bool:
    """Return whether the last seat is next to speak, and only one seat has joined (D33, D-O9)."""
    return state.to_speak[0] == state.dealing.order[-1] and len(state.said.joined) == 1


def allowed_words(state: Declaring) -> tuple[Word, ...]:
    """Return the words that the next seat may say (D24, D29-D31, D33-D34, D37-D38, D43-D45)."""
    said = state.said
    widow: tuple[Word, ...] = (WIDOW,) if said.widow is None else ()
    if said.announcer is not None:
        return (JOIN, *widow)
    if is_single(state.table) or must_join(state):
        return (JOIN, *widow, GENERALRAMS)
    if must_join_or_pay(state):
        return (JOIN, *widow, GENERALRAMS, PAY)
    return (JOIN, LIE_DOWN, *widow, GENERALRAMS)


def may_announce(state: Declaring | Playing, seat: int) -> bool:
    """Return whether a seat that joined may still announce generalrams; callers check the lead (D35, D39, D-O4)."""
    said = state.said
    if said.announcer is not None or seat not in said.joined:
        return False
    if state.table.options.late_generalrams:
        return True
    return said.calls[-1][0] == seat and not said.exchanged


def declare(state: Declaring, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a declaration (D22-D45).

    Raises: OutOfTurn for a seat that may not speak now, AgainstTheRules for a word that is not allowed.
    """
    seat, turn = act.seat, state.to_speak[0]
    allowed = allowed_words(state)
    if seat == turn:
        if act.bid not in allowed:
            raise _word_refusal(state, act, allowed)
    elif act.bid != GENERALRAMS or not may_announce(state, seat):
        raise _turn_refusal(state, act)
    return _word_event(state, seat, act.bid)


def announce_late(state: Playing, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a generalrams announced after all have spoken (D-O4).

    Raises: WrongPhase for any other word or after the first lead, AgainstTheRules for a second generalrams, else
    OutOfTurn if the seat may not announce.
    """
    if act.bid != GENERALRAMS or not before_first_lead(state):
        raise WrongPhase("declarations_over", "D28")
    if not may_announce(state, act.seat):
        raise _turn_refusal(state, act)
    return _word_event(state, act.seat, GENERALRAMS)


def _word_refusal(state: Declaring, act: Bid, allowed: tuple[Word, ...]) -> Refused:
    said = state.said
    if act.bid == WIDOW:
        return AgainstTheRules("widow_taken", "D30", allowed=allowed)
    if act.bid == GENERALRAMS:
        return AgainstTheRules("already_announced", "D38", allowed=allowed)
    if act.bid not in (LIE_DOWN, PAY):
        return AgainstTheRules("no_such_declaration", "D24", allowed=allowed)
    if said.announcer is not None:
        return AgainstTheRules("all_must_join", "D37", allowed=allowed)
    if is_single(state.table):
        return AgainstTheRules("single_pot", "D43", allowed=allowed)
    if act.bid == PAY:
        return AgainstTheRules("nothing_to_buy_off", "D31", allowed=allowed)
    if must_join(state):
        return AgainstTheRules("last_must_join", "D33", allowed=allowed)
    return AgainstTheRules("must_join_or_pay", "D31", allowed=allowed)


def _turn_refusal(state: Declaring | Playing, act: Bid) -> Refused:
    turn = state.to_speak[0] if isinstance(state, Declaring) else None  # in the play no seat speaks
    has_spoken = any(act.seat == seat for seat, _, _ in state.said.calls)
    if act.bid != GENERALRAMS:
        return OutOfTurn("already_spoken" if has_spoken else "out_of_turn", "D28", turn=turn)
    if state.said.announcer is not None:
        return AgainstTheRules("already_announced", "D38")
    if has_spoken:
        return OutOfTurn("too_late_to_announce", "D35", turn=turn)
    return OutOfTurn("out_of_turn", "D28", turn=turn)


def _word_event(state: Declaring | Playing, seat: int, word: Word) -> tuple[Event, ...]:
    """Return the event of a declaration, with the widow's cards if they are taken and known."""
    dealing = state.dealing
    hand = texts_of(dealing.widow) if word == WIDOW and dealing.known else None
    return (Declared(seat=seat, word=word, hand=hand),)


def automatic_events(state: Declaring, moment: Moment) -> tuple[Event, ...]:
    """Return the event that ends the deal or the declarations; else no event (D32, D37, D40, D48-D49, D-O19)."""
    said, order = state.said, state.dealing.order
    if said.calls and said.calls[-1][1] == PAY:
        return (PlayEnded(kind="paid"),)
    if state.to_speak:
        return ()
    if said.announcer is not None:
        return (DeclarationsClosed(order=order, leader=said.announcer, announcer=said.announcer, rule="D49"),)
    order = tuple(seat for seat in order if seat in said.joined)
    return (DeclarationsClosed(order=order, leader=order[0], rule="D48"),)


def declared(state: Declaring | Playing, event: Declared, number: int) -> Declaring:
    """Return the declarations, which a generalrams in the play opens again (D-O4)."""
    said, hands = state.said, state.hands
    seat, word = event.seat, event.word
    to_speak = state.to_speak if isinstance(state, Declaring) else ()
    if seat in to_speak:
        to_speak = to_speak[1:]
    calls = (*said.calls, (seat, word, number))
    if word == LIE_DOWN:
        said = replace(said, calls=calls, lain=(*said.lain, seat))
    elif word == PAY:
        said = replace(said, calls=calls)
    else:
        joined = said.joined if seat in said.joined else (*said.joined, seat)
        if word == WIDOW:
            said = replace(said, calls=calls, joined=joined, widow=seat)
            if state.dealing.known:  # because a closed hand has every unseen card
                hands = (*hands[:seat], state.dealing.widow, *hands[seat + 1 :])
        elif word == GENERALRAMS:
            said = replace(said, calls=calls, joined=joined, announcer=seat)
            if state.table.options.passers_may_take_widow:  # D-O5
                to_speak += tuple(other for other in state.dealing.order if other in said.lain)
        else:
            said = replace(said, calls=calls, joined=joined)
        if said.announcer is not None and said.widow is not None:  # because nothing is left to choose (D38)
            to_speak = ()
    return Declaring(table=state.table, dealing=state.dealing, hands=hands, to_speak=to_speak, said=said)


def declarations_closed(state: Declaring, event: DeclarationsClosed, number: int) -> Playing:
    return Playing(
        table=state.table,
        dealing=state.dealing,
        said=state.said,
        hands=state.hands,
        order=event.order,
        turn=event.leader,
    )


def play_ended(state: Declaring | Playing, event: PlayEnded, number: int) -> Played:
    """Return the state that waits for the score. A misdeal removes declarations and faults (D32, D67, D68)."""
    table, dealing = state.table, state.dealing
    kind: Kind = event.kind  # type: ignore[assignment]  # Rams ends the play only in these ways
    if kind == "misdeal":
        outcome = Outcome(kind=kind, staked=dealing.staked)
        table = replace(table, ledger=table.ledger.closed())
    elif isinstance(state, Playing):
        said, order, won = state.said, state.order, state.won
        outcome = Outcome(kind=kind, staked=dealing.staked, said=said, order=order, won=won, trumps=dealing.trumps)
    else:
        outcome = Outcome(kind=kind, staked=dealing.staked, said=state.said)
    return Played(table=table, dealing=dealing, hands=state.hands, outcome=outcome)


def may_exchange(state: Playing) -> bool:
    """Return whether the dealer may take the turned-up card (D46-D47, D-O9, D-O22)."""
    return state.table.dealer in state.order and not state.said.exchanged and before_first_lead(state)


def exchange(state: Playing, act: Exchange, moment: Moment) -> tuple[Event, ...]:
    """Return the event of the dealer's exchange of a card for the turned-up card (D46-D47).

    Raises: WrongPhase after the first lead, NoSuchCard for a card not held, AgainstTheRules for other seats, a second
    exchange, no card, or a card in a tally.
    """
    dealer = state.table.dealer
    if dealer not in state.order:
        raise AgainstTheRules("dealer_not_in_play", "D46")
    if act.seat != dealer:
        raise AgainstTheRules("only_dealer_exchanges", "D46", dealer=dealer)
    if not before_first_lead(state):
        raise WrongPhase("exchange_too_late", "D-O22")
    if state.said.exchanged:
        raise AgainstTheRules("already_exchanged", "D46")
    if state.table.tally:
        if act.card is not None:
            raise AgainstTheRules("cards_not_entered", "D-O29")
        return (TurnUpTaken(seat=dealer),)
    if act.card is None:
        raise AgainstTheRules("card_to_lay_away", "D46")
    if not BIT[act.card] & state.hands[dealer]:
        check_in_pack((act.card,))
        raise NoSuchCard("not_held", "D46", card=act.card)
    return (TurnUpTaken(seat=dealer, card=state.dealing.turn_up, laid=act.card),)


def turn_up_taken(state: Playing, event: TurnUpTaken, number: int) -> Playing:
    """Return the state after the exchange. Other closed hands keep the card laid away."""
    seat, hands = event.seat, state.hands
    if event.laid is not None and event.card is not None:
        hand = hands[seat] & ~BIT[event.laid] | BIT[event.card]
        hands = (*hands[:seat], hand, *hands[seat + 1 :])
    return replace(state, hands=hands, said=replace(state.said, exchanged=number))
