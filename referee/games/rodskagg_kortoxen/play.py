"""The play of the cards, the question whether the others go along, and the exit knock (B41-B57, B67-B68).

A number contract is any contract but rödskägg.
"""

from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from referee.acts import Ask, KnockOut
from referee.events import Breach, PenaltyImposed, PlayEnded, TrickTaken
from referee.games._rodskagg import asking, in_play, tally
from referee.games._rodskagg import play as shared_play
from referee.games._rodskagg.bids import RODSKAGG, Contract
from referee.games._rodskagg.facts import KnockedOut, QuestionAsked
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, seats_without_trick
from referee.games.rodskagg_kortoxen.deal import RITUAL, breach
from referee.games.rodskagg_kortoxen.states import CITES, Outcome, Played, Playing, Table, play_or_outcome
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def running_total(table: Table, deal: Playing | Outcome, seat: int) -> int:
    """Return the seat's points with penalties and tricks of this deal so far, in a number contract (B-O9)."""
    total = table.points[seat] - deal.tricks[seat]
    return total + table.ledger.penalty_points(seat) if table.ledger.penalties else total


def counts_tricks(table: Table, contract: Contract, seat: int) -> bool:
    """Return whether tricks count for this seat: in rödskägg only for opponents, if ``rodskagg_defenders_score`` is
    ``one_per_trick`` (B58, B65)."""
    if contract.bid != RODSKAGG:
        return True
    return table.options.rodskagg_defenders_score == "one_per_trick" and seat != contract.declarer


class AtZero(NamedTuple):
    """Event numbers of the trick that brought a seat to zero, and of its exit knock; 0: none."""

    trick: int
    exit_knock: int


def zero_events(table: Table, deal: Playing | Outcome, seat: int) -> AtZero:
    """Return the events of a seat at zero now, else zeros. Lifted penalties do not count (B71, B-O11, B-O12)."""
    came = knocked = 0
    if deal.contract is None or not counts_tricks(table, deal.contract, seat):
        return AtZero(came, knocked)
    changes = [(event, -1, True) for who, event in deal.won if who == seat]
    changes += [(one.events[-1], one.points, False) for one in table.ledger.lasting_penalties(seat)]
    changes += [(event, 0, False) for who, event in deal.exits.knocked if who == seat]
    total = table.points[seat]
    for event, points, trick in sorted(changes):
        if not points:
            knocked = event
            continue
        total += points
        came, knocked = event if trick and not total else 0, 0
    return AtZero(came, knocked)


def automatic_events(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a complete or credited trick or of the end of play, if any (B44-B45, B62-B64, B-O25)."""
    if state.trick:
        return shared_play.complete_trick(state, moment, question=state.contract.bid != RODSKAGG)
    if state.contract.bid == RODSKAGG:
        return shared_play.end_rodskagg(state, state.contract)
    if len(state.won) == TRICKS:
        return (PlayEnded(kind="number"),)
    return _uncontested_trick(state) if len(state.order) == 1 else ()


def _uncontested_trick(state: Playing) -> tuple[Event, ...]:
    """Return a trick credited to the declarer or, if ``uncontested_tricks`` is ``void``, the end of the play (B-O25,
    B77).

    Return no event if the declarer can end the deal by an exit knock, or has played on.
    """
    options = state.table.options
    if options.uncontested_tricks == "void":
        return (PlayEnded(kind="number"),)
    if state.played > ASKED_AFTER or (not options.exact_zero and exit_owed(state.table, state)):
        return ()
    return (TrickTaken(seat=state.contract.declarer, trick=len(state.won) + 1, uncontested=True),)


def before_the_lead(state: Playing, seat: int, moment: Moment) -> tuple[Breach, ...]:
    """Return the breaches of a lead before a due question or exit knock (B48, B54, B67-B68, B-O29).

    Raises: AgainstTheRules if errors are refused, or if another seat leads in the grace period.
    """
    if not (state.exits.owed or len(state.won) == ASKED_AFTER):
        return ()
    table, done = state.table, state.played
    forgotten: tuple[Breach, ...] = ()
    out: tuple[Breach, ...] = ()
    if exit_owed(table, state):
        if not table.penalise:
            raise AgainstTheRules("exit_knock_owed", "B67")
        out = (breach(table, "exit_knock", seat, done + 1, state.won[-1][1]),)
    if question_due(state):
        who = asker(state)
        if not table.penalise:
            raise AgainstTheRules("question_owed", "B48", asker=who)
        grace = state.question.grace_until
        if seat != who and grace is not None and moment.at < grace:
            raise AgainstTheRules("question_grace", "B-O29", asker=who, until=grace)
        forgotten = (breach(table, "fold_question", who, done + 1, state.won[-1][1]),)
    return forgotten + out  # in this order, because the first counts (B-O32)


play = shared_play.play_decision(
    CITES,
    before_the_lead=before_the_lead,
    revoked=partial(shared_play.revoke_breaches, rules=RITUAL),
    revoke_shown=partial(shared_play.shown_revoke, rules=RITUAL),
)
trick = tally.trick_decision(CITES, before_the_lead)


def after_lead(state: Playing, number: int) -> Playing:
    """Return the state after a lead, which may make the question too late (B48)."""
    return (
        asking.question_forgotten(state, number) if len(state.won) == ASKED_AFTER and question_due(state) else state
    )


card_played = shared_play.card_played_evolution(after_lead)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """Return the state after a trick. Its winner leads, and may owe an exit knock (B45, B67)."""
    state = shared_play.trick_taken(state, event, number, event.seat, after_lead)
    if not counts_tricks(state.table, state.contract, event.seat):
        return state
    owed = state.contract.bid != RODSKAGG and running_total(state.table, state, event.seat) == 0
    return state if owed is state.exits.owed else replace(state, exits=replace(state.exits, owed=owed))


def asker(state: Playing) -> int:
    """Return the seat that must ask, after trick four (B46, B56)."""
    if state.table.options.fold_question_by == "fourth_trick_winner":
        return state.won[ASKED_AFTER - 1][0]
    return state.contract.declarer


def to_answer(state: Playing) -> tuple[int, ...]:
    """Return the seats that must answer, from the asker's left (B47, B50, B57, B-O18)."""
    return seats_without_trick(state.order, asker(state), state.contract.declarer, state.tricks)


def question_time(state: Playing) -> bool:
    """Return whether the question may be put now (B46, B48, B53)."""
    return len(state.won) == ASKED_AFTER and asking.is_time_to_ask(state) and state.contract.bid != RODSKAGG


def question_due(state: Playing) -> bool:
    """Return whether the question must be put now (B46, B-O30)."""
    return question_time(state) and bool(to_answer(state))


def ask(state: Playing, act: Ask, moment: Moment) -> tuple[Event, ...]:
    """Return the event of the question (B46-B48, B53, B56). Raises WrongPhase, or OutOfTurn for a wrong asker."""
    if state.contract.bid == RODSKAGG:
        raise WrongPhase("no_question_in_rodskagg", "B53")
    if not question_time(state):
        raise asking.question_refusal(state, CITES)
    if act.seat != (who := asker(state)):
        by_declarer = state.table.options.fold_question_by == "declarer"
        raise OutOfTurn("not_the_asker", "B46" if by_declarer else "B56", asker=who)
    return (QuestionAsked(seat=act.seat, of=to_answer(state)),)


def exit_owed(table: Table, deal: Playing | Outcome) -> bool:
    """Return whether the last trick's winner came to zero by it, is still there, and has not knocked (B67, B-O9,
    B-O31)."""
    if not deal.exits.owed:
        return False
    seat = deal.won[-1][0]
    return running_total(table, deal, seat) == 0 and not zero_events(table, deal, seat).exit_knock


def may_knock_out(table: Table, deal: Playing | Outcome, seat: int) -> bool:
    """Return whether the seat is at zero in a number contract and has not knocked (B67, B-O11)."""
    return (
        running_total(table, deal, seat) == 0
        and deal.contract is not None
        and deal.contract.bid != RODSKAGG
        and not zero_events(table, deal, seat).exit_knock
    )


def knock_out(state: Playing | Played, act: KnockOut, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an exit knock, and its fine or the end of the deal, if any (B67, B77-B78, B-O31).

    Without ``exact_zero`` the deal ends if a trick led to zero.
    Raises: WrongPhase outside number contracts and broken-off deals, AgainstTheRules for a second knock or, if errors
    are refused, without a total of zero.
    """
    seat, table, deal = act.seat, state.table, play_or_outcome(state)
    ended = isinstance(state, Played) and state.outcome.kind != "number"
    if deal is None or deal.contract is None or ended or deal.contract.bid == RODSKAGG:
        raise WrongPhase("no_exit_now", "B67")
    if zero_events(table, deal, seat).exit_knock:
        raise AgainstTheRules("already_knocked_out", "B67")
    if not may_knock_out(table, deal, seat):
        if not table.penalise:
            raise AgainstTheRules("not_at_zero", "B67", total=running_total(table, deal, seat))
        knocked: tuple[Event, ...] = (KnockedOut(seat=seat, valid=False),)
        if fine := table.options.false_knock_penalty:
            knocked += (PenaltyImposed(seat=seat, points=fine, rule="B-O31"),)
        return knocked
    out = KnockedOut(seat=seat, valid=True)
    if not table.options.exact_zero and zero_events(table, deal, seat).trick:
        return out, PlayEnded(kind="knocked_out")
    return (out,)


def knocked_out(state: Playing | Played, event: KnockedOut, number: int) -> Playing | Played:
    if not event.valid or (deal := play_or_outcome(state)) is None:
        return state
    exits = replace(deal.exits, knocked=(*deal.exits.knocked, (event.seat, number)))
    if isinstance(state, Played):
        return replace(state, outcome=replace(state.outcome, exits=exits))
    return replace(state, exits=exits)


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    calls = state.contract.calls
    outcome = in_play.result_of_play(
        Outcome, state, kind=event.kind, exits=state.exits, calls=calls, order=state.order
    )
    return Played(table=state.table, cards=state.cards, outcome=outcome, gone=state.gone)


def broken_off(state: Played, event: PlayEnded, number: int) -> Played:
    """Return the state after an exit knock that follows the last trick (B78)."""
    return replace(state, outcome=replace(state.outcome, kind=event.kind))
