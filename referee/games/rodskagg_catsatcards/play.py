"""The play of the cards, the question whether others go along, and announcements near zero (C23-C37, C49-C55)."""

from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from referee.acts import Announce, Ask, Remind
from referee.events import Breach, PenaltyImposed, PlayEnded, TrickTaken
from referee.games._rodskagg import asking, in_play, tally
from referee.games._rodskagg import play as shared_play
from referee.games._rodskagg.facts import Announced, QuestionAsked, Reminded
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, seats_without_trick
from referee.games.rodskagg_catsatcards.deal import RITUAL, breach, price
from referee.games.rodskagg_catsatcards.states import CITES, Outcome, Played, Playing, State, Table
from referee.offences import imposed
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

LATE = 2
"""Points that a late trick (five or six) can take off (C34)."""


def automatic_events(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a complete or credited trick or of the end of play, if any (C27, C41-C42, C55, C-O33,
    C-O34)."""
    if state.trick:
        return shared_play.complete_trick(state, moment, question=has_question(state.table, state))
    by_this_act = bool(state.won) and state.won[-1][1] > moment.version
    if by_this_act and (kind := _end_kind(state)) is not None:
        return (PlayEnded(kind=kind),)
    if len(state.order) > 1:
        return ()
    if state.table.options.uncontested_tricks == "void":
        return (PlayEnded(kind="redbeard_failed" if state.redbeards else "ordinary"),)
    return (TrickTaken(seat=asker(state), trick=len(state.won) + 1, uncontested=True),)


def _end_kind(state: Playing) -> str | None:
    """Return how the play ends with the latest trick; ``None`` if it continues."""
    done, winner, table = len(state.won), state.won[-1][0], state.table
    if state.contract is None:
        return "duel" if done == TRICKS else None
    unbeaten = winner in state.redbeards and {seat for seat, _ in state.won} == {winner}
    if unbeaten and done == TRICKS:
        return "redbeard_made"
    if table.options.exact_tricks_for_all:  # C55, C-O18
        is_out = winner in state.redbeards and not unbeaten  # C42
        if trick_value(table, state, winner, done - 1) and not is_out and not running_total(table, state, winner):
            return "zero_at_once"
    if state.redbeards and not unbeaten and table.options.rodskagg_stop_at_first_loss:
        return "redbeard_failed"
    if done < TRICKS:
        return None
    return "redbeard_failed" if state.redbeards else "ordinary"


def points_end_play(state: State) -> bool:
    """Return whether a trick that brings its winner to zero ends the play (C55)."""
    table: Table = state.table
    return table.options.exact_tricks_for_all


def before_the_lead(state: Playing, seat: int, moment: Moment) -> tuple[Breach, ...]:
    """Return the breaches, if they cost points, of a lead before a due question or announcement (C30, C37, C49).

    Raises: AgainstTheRules if errors are refused, or while only the Declarer may lead.
    """
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


play = shared_play.play_decision(
    CITES,
    before_the_lead=before_the_lead,
    revoked=partial(shared_play.revoke_breaches, rules=RITUAL),
    revoke_shown=partial(shared_play.shown_revoke, rules=RITUAL),
)
trick = tally.trick_decision(CITES, before_the_lead)


def after_lead(state: Playing, number: int) -> Playing:
    """Return the state after a lead. A question or announcement that was due is now too late (C37, C-O24)."""
    if not (state.owed or len(state.won) == ASKED_AFTER):
        return state
    question = replace(state.question, forgotten=number) if question_due(state) else state.question
    table = state.table
    if state.owed:
        totals = list(table.announced)
        for seat in state.owed:
            totals[seat] = running_total(table, state, seat)
        table = replace(table, announced=tuple(totals))
    return replace(state, table=table, owed=(), question=question)


card_played = shared_play.card_played_evolution(after_lead)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """Return the state after a trick. Its winner leads, and may be near zero (C29, C49)."""
    state = shared_play.trick_taken(state, event, number, event.seat, after_lead)
    return with_updated_duty(state, state, event.seat) if state.contract else state


PlayOrOutcome = Playing | Outcome


def counts_as_asked(table: Table, deal: PlayOrOutcome) -> bool:
    """Return whether the deal has a question that was not forgotten (C34-C37, C-O14, C-O29)."""
    return has_question(table, deal) and not deal.question.forgotten


def has_early_trick(deal: PlayOrOutcome, seat: int) -> bool:
    """Return whether the seat has one of the first four tricks (C31)."""
    return seat in [who for who, _ in deal.won[:ASKED_AFTER]]


def late_value(table: Table, deal: PlayOrOutcome, seat: int) -> int:
    """Return the points that a late trick takes off (C34, C-O1, C-O2, C-O29)."""
    options = table.options
    if deal.contract is None or not counts_as_asked(table, deal):
        return 1
    if seat == deal.contract.declarer and not options.play_on_applies_to_declarer:
        return 1
    return LATE if options.play_on_double_for_all or not has_early_trick(deal, seat) else 1


def trick_value(table: Table, deal: PlayOrOutcome, seat: int, trick: int) -> int:
    """Return the points that the trick with this index takes off (C-O7)."""
    if deal.redbeards and table.options.rodskagg_defenders_score == "none":
        return 0
    return 1 if trick < ASKED_AFTER else late_value(table, deal, seat)


def running_total(table: Table, deal: PlayOrOutcome, seat: int) -> int:
    """Return the seat's points with penalties and tricks of this deal so far (C-O11)."""
    total = table.points[seat] + table.ledger.penalty_points(seat)
    if deal.tricks[seat]:
        total -= sum(
            [trick_value(table, deal, seat, trick) for trick, (who, _) in enumerate(deal.won) if who == seat]
        )
    return total


def is_near_zero(table: Table, total: int) -> bool:
    """Return whether the total must be announced (C49, C-O10)."""
    return total in (0, 1) or (total == -1 and table.options.near_zero_includes_minus_one)


def owing_announcements(table: Table) -> tuple[int, ...]:
    """Return the seats that owe an announcement at the start of the play (C-O24, C-O36)."""
    if table.tally:
        return ()
    totals = [(seat, table.points[seat] + table.ledger.penalty_points(seat)) for seat in table.playing]
    return tuple([seat for seat, total in totals if is_near_zero(table, total) and table.announced[seat] != total])


P = TypeVar("P", Playing, Played)


def with_updated_duty(state: P, deal: PlayOrOutcome, seat: int) -> P:
    """Update whether ``seat`` owes an announcement (C-O24)."""
    table = state.table
    is_far_from_zero = table.points[seat] > LATE * deal.tricks[seat] + 1
    if table.tally or (is_far_from_zero and not state.owed and table.announced[seat] is None):
        return state
    total = running_total(table, deal, seat)
    owes = is_near_zero(table, total)
    if not owes and seat not in state.owed and table.announced[seat] is None:
        return state
    owed = tuple(other for other in state.owed if other != seat)
    if table.announced[seat] != total:
        table = with_announced_total(table, seat, None)
        owed += (seat,) * owes
    return replace(state, table=table, owed=owed)


def with_announced_total(table: Table, seat: int, total: int | None) -> Table:
    return replace(table, announced=(*table.announced[:seat], total, *table.announced[seat + 1 :]))


def announced(state: P, event: Announced, number: int) -> P:
    owed = tuple(seat for seat in state.owed if seat != event.seat)
    return replace(state, table=with_announced_total(state.table, event.seat, event.total), owed=owed)


def announce(state: Playing, act: Announce, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an announcement (C49, C-O24). Raises AgainstTheRules if none is due, WrongPhase for
    thanks."""
    if act.what == "thanks":
        raise WrongPhase("no_thanks_now", "C44")
    total = running_total(state.table, state, act.seat)
    if act.seat not in state.owed:
        raise AgainstTheRules("nothing_to_announce", "C49", total=total)
    return (Announced(seat=act.seat, what="near_zero", total=total),)


def penalty_imposed(state: Playing, event: PenaltyImposed, number: int) -> Playing:
    """Return the state after a penalty, which may change the payer's duty to announce (C-O24)."""
    state = imposed(state, event, number)
    return with_updated_duty(state, state, event.seat) if state.contract else state


def asker(state: Playing) -> int:
    """Return the Declarer, who must ask (C30)."""
    assert state.contract is not None, "there is no question in a duel"
    return state.contract.declarer


def has_question(table: Table, deal: PlayOrOutcome) -> bool:
    """Return whether this deal has a question (C30, C-O6, C-O9)."""
    return deal.contract is not None and (not deal.redbeards or table.options.ask_fold_in_redbeard)


def to_answer(state: Playing) -> tuple[int, ...]:
    """Return the seats that must answer, from the Declarer's left (C31, C36)."""
    who = asker(state)
    return seats_without_trick(state.order, who, who, state.tricks)


def question_time(state: Playing) -> bool:
    """Return whether the question may be put now (C30, C37)."""
    return len(state.won) == ASKED_AFTER and asking.is_time_to_ask(state) and has_question(state.table, state)


def question_due(state: Playing) -> bool:
    """Return whether the question must be put now (C30, C-O23)."""
    return question_time(state) and bool(to_answer(state))


def ask(state: Playing, act: Ask, moment: Moment) -> tuple[Event, ...]:
    """Return the event of the question (C30). Raises WrongPhase, or OutOfTurn unless the Declarer asks."""
    _check_time(state, "C30")
    if act.seat != asker(state):
        raise OutOfTurn("not_the_asker", "C30", asker=asker(state))
    return (QuestionAsked(seat=act.seat, of=to_answer(state)),)


def remind(state: Playing, act: Remind, moment: Moment) -> tuple[Event, ...]:
    """Return the events of a reminder and the question (C37, C-O13, C-O30).

    Raises: WrongPhase unless the question is due, OutOfTurn for the Declarer.
    """
    _check_time(state, "C37")
    if act.seat == asker(state):
        raise OutOfTurn("reminds_himself", "C37", asker=act.seat)
    if not question_due(state):
        raise WrongPhase("question_not_due", "C37")
    return Reminded(seat=act.seat), QuestionAsked(seat=asker(state), of=to_answer(state))


def _check_time(state: Playing, rule: str) -> None:
    """Raise WrongPhase if the question may not be put now."""
    if state.contract is None:
        raise WrongPhase("no_question_in_duel", "C-O9")
    if not has_question(state.table, state):
        raise WrongPhase("no_question_in_redbeard", "C-O6")
    if not question_time(state):
        raise asking.question_refusal(state, CITES, rule)


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    """Return the state that waits for the score. After a win no announcement is due (C-O24)."""
    return Played(
        table=state.table,
        cards=state.cards,
        outcome=in_play.result_of_play(Outcome, state, kind=event.kind, redbeards=state.redbeards),
        gone=state.gone,
        owed=() if event.kind in ("redbeard_made", "zero_at_once") else state.owed,
    )
