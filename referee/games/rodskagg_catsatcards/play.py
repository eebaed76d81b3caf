"""The play of the cards, the question, and the announcement near zero (C23-C37, C49, C55)."""

from datetime import timedelta
from typing import Protocol, TypeVar

from msgspec.structs import replace

from referee.acts import Announce, Ask, Remind
from referee.cards import Cards
from referee.events import Breach, PenaltyImposed, PlayEnded, TrickTaken
from referee.games._rodskagg import asking, in_play, tally
from referee.games._rodskagg import play as cards
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.facts import Announced, QuestionAsked, Reminded
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, trickless
from referee.games.rodskagg_catsatcards.deal import breach, price
from referee.games.rodskagg_catsatcards.states import CITES, Outcome, Played, Playing, Table
from referee.offences import imposed
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

LATE = 2
"""C34: what a late trick takes off."""

# Playing a card


def follows(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """C27, C41-C42, C55, C-O33, C-O34: a trick is taken, the play ends, or nobody is left to play against."""
    if state.trick:
        return (_taken(state, moment),) if len(state.trick) == len(state.order) else ()
    by_this_act = bool(state.won) and state.won[-1][1] > moment.version
    if by_this_act and (kind := _ended(state)) is not None:
        return (PlayEnded(kind=kind),)
    if len(state.order) > 1:
        return ()
    if state.table.options.uncontested_tricks == "void":
        return (PlayEnded(kind="redbeard_failed" if state.redbeards else "ordinary"),)
    return (TrickTaken(seat=asker(state), trick=len(state.won) + 1, uncontested=True),)


def _taken(state: Playing, moment: Moment) -> TrickTaken:
    """C27, C-O23: who took the trick; after the fourth the grace for the question begins."""
    done, grace, until = len(state.won) + 1, state.table.options.question_grace_seconds, None
    if done == ASKED_AFTER and grace and asks(state):
        until = moment.at + timedelta(seconds=grace)
    return TrickTaken(seat=state.winner, trick=done, grace_until=until)


def _ended(state: Playing) -> str | None:
    """How the play ends with the trick just taken, or ``None`` if it goes on."""
    done, winner, table = len(state.won), state.won[-1][0], state.table
    if state.contract is None:
        return "duel" if done == TRICKS else None
    winners = {seat for seat, _ in state.won}
    unbeaten = winner in state.redbeards and winners == {winner}
    if unbeaten and done == TRICKS:
        return "redbeard_made"
    if table.options.exact_tricks_for_all:  # C55, C-O18
        lost = winner in state.redbeards and not unbeaten  # C42, C-O21: he is out
        if trick_value(table, state, winner, done - 1) and not lost and not running_total(table, state, winner):
            return "zero_at_once"
    if state.redbeards and not unbeaten and table.options.rodskagg_stop_at_first_loss:
        return "redbeard_failed"
    if done < TRICKS:
        return None
    return "redbeard_failed" if state.redbeards else "ordinary"


def before_the_lead(state: Playing, seat: int, moment: Moment) -> tuple[Breach, ...]:
    """C30, C37, C49: what must be done before the next lead is refused, or passed over by it."""
    if not (state.owed or len(state.won) == ASKED_AFTER):
        return ()
    table, done = state.table, len(state.won)
    shown = (state.won[-1][1],) if state.won else ()
    breaches: tuple[Breach, ...] = ()
    if question_due(state):
        who = asker(state)
        if not table.penalise:
            raise AgainstTheRules("question_owed", "C30", asker=who)
        grace = state.question.grace_until
        if seat != who and grace is not None and moment.at < grace:
            raise AgainstTheRules("question_grace", "C-O23", asker=who, until=grace)
        if price(table, "fold_question"):
            breaches += (breach(table, "fold_question", who, done + 1, *shown),)
    if state.owed:
        if not table.penalise:
            raise AgainstTheRules("announcement_owed", "C49", pending=state.owed)
        if price(table, "near_zero"):
            breaches += tuple(breach(table, "near_zero", owing, done + 1, *shown) for owing in state.owed)
    return breaches


def revoked(state: Playing, seat: int, owed: Cards) -> tuple[Breach, ...]:
    """C26, C60: it stands where offences stand."""
    if not price(state.table, "revoke"):
        raise cards.must_follow(owed, CITES)
    return (breach(state.table, "revoke", seat, len(state.won) + 2, state.lead),)


def revoke_shown(state: Playing, seat: int, void: Denial) -> Breach:
    """With closed hands: where it cannot be punished it costs nothing and is only noted on the record."""
    return breach(state.table, "revoke", seat, len(state.won) + 2, void.lead, void.event)


play = cards.play(CITES, before_the_lead=before_the_lead, revoked=revoked, revoke_shown=revoke_shown)
trick = tally.trick(CITES, before_the_lead)


def passed_over(state: Playing, number: int) -> Playing:
    """After a lead by which something may have been passed over (C37, C-O24)."""
    if not (state.owed or len(state.won) == ASKED_AFTER):
        return state
    question = replace(state.question, forgotten=number) if question_due(state) else state.question
    table = state.table
    if state.owed:
        told = list(table.told)
        for seat in state.owed:
            told[seat] = running_total(table, state, seat)
        table = replace(table, told=tuple(told))
    return replace(state, table=table, owed=(), question=question)


card_played = cards.card_played(passed_over)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """The state after a trick; its winner leads (C29), and may have come near zero (C49)."""
    state = tally.led(state, event, number, passed_over)
    seat, question = event.seat, state.question
    if event.grace_until is not None:
        question = replace(question, grace_until=event.grace_until)
    credited = state.credited + event.uncontested
    state = cards.trick_taken(state, seat, number, turn=seat, credited=credited, question=question)
    return total_changed(state, state, seat) if state.contract else state


# Points while the play goes on


class Taken(in_play.Taken, Protocol):
    """What tricks are reckoned from: the play of a hand, or what came of it."""

    @property
    def redbeards(self) -> tuple[int, ...]: ...


def counts_as_asked(table: Table, hand: Taken) -> bool:
    """C34-C37, C-O14, C-O29: the question was put, or had its place and nobody had to be asked."""
    return has_question(table, hand) and not hand.question.forgotten


def had_early(hand: Taken, seat: int) -> bool:
    """C31: the seat has one of the first four tricks."""
    return any(seat == who for who, _ in hand.won[:ASKED_AFTER])


def late_value(table: Table, hand: Taken, seat: int) -> int:
    """C34, C-O1, C-O2, C-O29: what a late trick takes off."""
    options = table.options
    if hand.contract is None or not counts_as_asked(table, hand):
        return 1
    if seat == hand.contract.declarer and not options.play_on_applies_to_declarer:
        return 1
    return LATE if options.play_on_double_for_all or not had_early(hand, seat) else 1


def trick_value(table: Table, hand: Taken, seat: int, trick: int) -> int:
    """What a trick (counted from 0) takes off; in a Redbeard hand perhaps nothing (C-O7)."""
    if hand.redbeards and table.options.rodskagg_defenders_score == "none":
        return 0
    return 1 if trick < ASKED_AFTER else late_value(table, hand, seat)


def running_total(table: Table, hand: Taken, seat: int) -> int:
    """C-O11: points before the hand, plus penalties knocked in it, minus what the tricks so far take off."""
    total = table.points[seat] + table.ledger.points(seat)
    if hand.tricks[seat]:
        total -= sum(trick_value(table, hand, seat, trick) for trick, (who, _) in enumerate(hand.won) if who == seat)
    return total


def near_zero(table: Table, total: int) -> bool:
    """C49, C-O10: one or zero; minus one by option."""
    return total in (0, 1) or (total == -1 and table.options.near_zero_includes_minus_one)


def owing_at_start(table: Table) -> tuple[int, ...]:
    """C-O24: who stands near zero when the play begins, and has not said so; a score sheet does not tell (C-O36)."""
    if table.tally:
        return ()
    totals = ((seat, table.points[seat] + table.ledger.points(seat)) for seat in table.playing)
    return tuple(seat for seat, total in totals if near_zero(table, total) and table.told[seat] != total)


P = TypeVar("P", Playing, Played)


def total_changed(state: P, hand: Taken, seat: int) -> P:
    """C-O24: the duty arises once for each value; it ends when the seat stands there no more."""
    table = state.table
    far = table.points[seat] > LATE * hand.tricks[seat] + 1  # from zero, whatever the tricks count for
    if table.tally or (far and not state.owed and table.told[seat] is None):
        return state
    total = running_total(table, hand, seat)
    owes = near_zero(table, total)
    if not owes and seat not in state.owed and table.told[seat] is None:
        return state
    owed = tuple(other for other in state.owed if other != seat)
    if table.told[seat] != total:
        table = says(table, seat, None)
        owed += (seat,) * owes
    return replace(state, table=table, owed=owed)


def says(table: Table, seat: int, total: int | None) -> Table:
    """The table when a seat has announced this value near zero, or none."""
    return replace(table, told=(*table.told[:seat], total, *table.told[seat + 1 :]))


def announced(state: P, event: Announced, number: int) -> P:
    """The state after the announcement near zero."""
    owed = tuple(seat for seat in state.owed if seat != event.seat)
    return replace(state, table=says(state.table, event.seat, event.total), owed=owed)


def announce(state: Playing, act: Announce, moment: Moment) -> tuple[Event, ...]:
    """C49, C-O24: only who owes it; thanks are for after the last trick (C44)."""
    if act.what == "thanks":
        raise WrongPhase("no_thanks_now", "C44")
    total = running_total(state.table, state, act.seat)
    if act.seat not in state.owed:
        raise AgainstTheRules("nothing_to_announce", "C49", total=total)
    return (Announced(seat=act.seat, what="near_zero", total=total),)


def penalty_imposed(state: Playing, event: PenaltyImposed, number: int) -> Playing:
    """The state after a penalty: it may bring its payer near zero, or away from it (C-O24)."""
    state = imposed(state, event, number)
    return total_changed(state, state, event.seat) if state.contract else state


# The question


def asker(state: Playing) -> int:
    """C30: the Declarer asks."""
    assert state.contract is not None, "there is no question in a duel"
    return state.contract.declarer


def has_question(table: Table, hand: Taken) -> bool:
    """C30, C-O6, C-O9: the question has a place in this hand."""
    return hand.contract is not None and (not hand.redbeards or table.options.ask_fold_in_redbeard)


def asks(state: Playing) -> bool:
    """C30, C-O6, C-O9: the same, while the hand is played."""
    return has_question(state.table, state)


def to_answer(state: Playing) -> tuple[int, ...]:
    """C31, C36: who must answer, from the Declarer's left: all without a trick but the Declarer."""
    who = asker(state)
    return trickless(state.order, who, who, state.tricks)


def question_time(state: Playing) -> bool:
    """C30, C37: after the fourth trick, before the lead to the fifth, once."""
    return len(state.won) == ASKED_AFTER and asking.is_time(state) and asks(state)


def question_due(state: Playing) -> bool:
    """C30, C-O23: the question must be asked now, for somebody has to answer it."""
    return question_time(state) and bool(to_answer(state))


def ask(state: Playing, act: Ask, moment: Moment) -> tuple[Event, ...]:
    """C30: the Declarer asks who plays on."""
    _check_time(state, "C30")
    if act.seat != asker(state):
        raise OutOfTurn("not_the_asker", "C30", asker=asker(state))
    return (QuestionAsked(seat=act.seat, of=to_answer(state)),)


def remind(state: Playing, act: Remind, moment: Moment) -> tuple[Event, ...]:
    """C37, C-O13, C-O30: another player's reminder puts the question, while it is due."""
    _check_time(state, "C37")
    if act.seat == asker(state):
        raise OutOfTurn("reminds_himself", "C37", asker=act.seat)
    if not question_due(state):
        raise WrongPhase("question_not_due", "C37")
    return Reminded(seat=act.seat), QuestionAsked(seat=asker(state), of=to_answer(state))


def _check_time(state: Playing, rule: str) -> None:
    if state.contract is None:
        raise WrongPhase("no_question_in_duel", "C-O9")
    if not asks(state):
        raise WrongPhase("no_question_in_redbeard", "C-O6")
    if not question_time(state):
        raise asking.not_now(state, CITES, rule)


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    """The state when the hand waits to be scored; nothing is announced after a win (C-O24)."""
    outcome = Outcome(
        kind=event.kind,
        tricks=state.tricks,
        contract=state.contract,
        won=state.won,
        question=state.question,
        redbeards=state.redbeards,
    )
    return Played(
        table=state.table,
        cards=state.cards,
        outcome=outcome,
        gone=state.gone,
        tricks_played=state.played,
        owed=() if event.kind in ("redbeard_made", "zero_at_once") else state.owed,
    )
