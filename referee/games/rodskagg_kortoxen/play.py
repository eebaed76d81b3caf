"""The play of the cards, the question, and the exit knock (B41-B57, B67-B68)."""

from datetime import timedelta
from typing import NamedTuple

from msgspec.structs import replace

from referee.acts import Ask, KnockOut
from referee.cards import Cards
from referee.events import Breach, PenaltyImposed, PlayEnded, TrickTaken
from referee.games._rodskagg import asking, tally
from referee.games._rodskagg import play as cards
from referee.games._rodskagg.bids import RODSKAGG, Contract
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.facts import KnockedOut, QuestionAsked
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, trickless
from referee.games.rodskagg_kortoxen.deal import breach, price
from referee.games.rodskagg_kortoxen.states import CITES, Outcome, Played, Playing, Table, deal_of
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def running_total(table: Table, deal: Playing | Outcome, seat: int) -> int:
    """B-O9: points before the deal, plus penalties knocked in it, minus tricks so far."""
    total = table.points[seat] - deal.tricks[seat]
    return total + table.ledger.points(seat) if table.ledger.penalties else total


def counts_tricks(table: Table, contract: Contract, seat: int) -> bool:
    """B58, B65: whether a trick counts for this seat; in rödskägg at most for the opponents."""
    if contract.bid != RODSKAGG:
        return True
    return table.options.rodskagg_defenders_score == "one_per_trick" and seat != contract.declarer


class AtZero(NamedTuple):
    """How a seat came to stand at zero: the event of the trick, and of its exit knock; 0 if there is none."""

    came: int
    knocked: int


def at_zero(table: Table, deal: Playing | Outcome, seat: int) -> AtZero:
    """B71, B-O11, B-O12: return when a seat came to zero and knocked, if it stands there still.

    A penalty that was lifted again counts as never imposed.
    """
    came = knocked = 0
    if deal.contract is None or not counts_tricks(table, deal.contract, seat):
        return AtZero(came, knocked)
    changes = [(event, -1, True) for who, event in deal.won if who == seat]
    changes += [(one.events[-1], one.points, False) for one in table.ledger.lasting(seat)]
    changes += [(event, 0, False) for who, event in deal.exits.knocked if who == seat]
    total = table.points[seat]
    for event, points, trick in sorted(changes):
        if not points:
            knocked = event
            continue
        total += points
        came, knocked = event if trick and not total else 0, 0
    return AtZero(came, knocked)


# Playing a card


def follows(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """B44-B45, B62-B64, B-O25: a trick is taken, and the play ends with the last one."""
    if state.trick:
        return (_taken(state, moment),) if len(state.trick) == len(state.order) else ()
    done, contract, options = len(state.won), state.contract, state.table.options
    if contract.bid == RODSKAGG:
        if done < TRICKS and not options.rodskagg_stop_at_first_loss:
            return ()
        lost = any(seat != contract.declarer for seat, _ in state.won)
        if done < TRICKS and not lost:
            return ()
        return (PlayEnded(kind="rodskagg_failed" if lost else "rodskagg_made"),)
    if done == TRICKS:
        return (PlayEnded(kind="number"),)
    return _uncontested(state) if len(state.order) == 1 else ()


def _taken(state: Playing, moment: Moment) -> TrickTaken:
    """B44, B-O29: who took the trick; after the fourth the grace for the question begins."""
    done, grace, until = len(state.won) + 1, state.table.options.question_grace_seconds, None
    if grace and done == ASKED_AFTER and state.contract.bid != RODSKAGG:
        until = moment.at + timedelta(seconds=grace)
    return TrickTaken(seat=state.winner, trick=done, grace_until=until)


def _uncontested(state: Playing) -> tuple[Event, ...]:
    """B-O25, B77: the declarer alone takes the rest, unless he may knock out now, or has led on instead."""
    options = state.table.options
    if options.uncontested_tricks == "void":
        return (PlayEnded(kind="number"),)
    if state.played > ASKED_AFTER or (not options.exact_zero and exit_owed(state.table, state)):
        return ()
    return (TrickTaken(seat=state.contract.declarer, trick=len(state.won) + 1, uncontested=True),)


def before_the_lead(state: Playing, seat: int, moment: Moment) -> tuple[Breach, ...]:
    """B48, B54, B67-B68: what must be done before the next lead is refused, or forgotten by it."""
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
    return forgotten + out  # B-O32: in the order of their rules


def revoked(state: Playing, seat: int, owed: Cards) -> tuple[Breach, ...]:
    """B42, B-O26: it stands where offences stand."""
    if not price(state.table, "revoke"):
        raise cards.must_follow(owed, CITES)
    return (breach(state.table, "revoke", seat, len(state.won) + 2, state.lead),)


def revoke_shown(state: Playing, seat: int, void: Denial) -> Breach:
    """With closed hands: where it cannot be punished it costs nothing and is only noted on the record."""
    return breach(state.table, "revoke", seat, len(state.won) + 2, void.lead, void.event)


play = cards.play(CITES, before_the_lead=before_the_lead, revoked=revoked, revoke_shown=revoke_shown)
trick = tally.trick(CITES, before_the_lead)


def passed_over(state: Playing, number: int) -> Playing:
    """B48: the lead to trick five makes the question too late."""
    return asking.forgotten(state, number) if len(state.won) == ASKED_AFTER and question_due(state) else state


card_played = cards.card_played(passed_over)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """The state after a trick; its winner leads (B45), and may have reached zero (B67)."""
    state = tally.led(state, event, number, passed_over)
    seat, exits, question = event.seat, state.exits, state.question
    if event.grace_until is not None:
        question = replace(question, grace_until=event.grace_until)
    rodskagg = state.contract.bid == RODSKAGG
    if counts_tricks(state.table, state.contract, seat):
        owed = running_total(state.table, state, seat) == 1 and not rodskagg
        if owed is not exits.owed:
            exits = replace(exits, owed=owed)
    credited = state.credited + event.uncontested
    return cards.trick_taken(state, seat, number, turn=seat, credited=credited, question=question, exits=exits)


# The question


def asker(state: Playing) -> int:
    """B46, B56: who must ask."""
    if state.table.options.fold_question_by == "fourth_trick_winner":
        return state.won[ASKED_AFTER - 1][0]
    return state.contract.declarer


def to_answer(state: Playing) -> tuple[int, ...]:
    """B47, B50, B57, B-O18: who must answer, from the asker's left: all without a trick but the declarer."""
    return trickless(state.order, asker(state), state.contract.declarer, state.tricks)


def question_time(state: Playing) -> bool:
    """B46, B48, B53: after the fourth trick of a number contract, before the lead to the fifth, once."""
    return len(state.won) == ASKED_AFTER and asking.is_time(state) and state.contract.bid != RODSKAGG


def question_due(state: Playing) -> bool:
    """B46, B-O30: the question must be asked now, for somebody has to answer it."""
    return question_time(state) and bool(to_answer(state))


def ask(state: Playing, act: Ask, moment: Moment) -> tuple[Event, ...]:
    """B46-B48, B53, B56: ask the others whether they go along."""
    if state.contract.bid == RODSKAGG:
        raise WrongPhase("no_question_in_rodskagg", "B53")
    if not question_time(state):
        raise asking.not_now(state, CITES)
    if act.seat != (who := asker(state)):
        by_declarer = state.table.options.fold_question_by == "declarer"
        raise OutOfTurn("not_the_asker", "B46" if by_declarer else "B56", asker=who)
    return (QuestionAsked(seat=act.seat, of=to_answer(state)),)


# The exit knock


def exit_owed(table: Table, deal: Playing | Outcome) -> bool:
    """B67, B-O9, B-O31: the last trick brought its winner to zero, he is there still, and has not knocked."""
    if not deal.exits.owed:
        return False
    seat = deal.won[-1][0]
    return running_total(table, deal, seat) == 0 and not at_zero(table, deal, seat).knocked


def may_knock_out(table: Table, deal: Playing | Outcome, seat: int) -> bool:
    """B67, B-O11: at zero in a number contract, not yet knocked."""
    return (
        running_total(table, deal, seat) == 0
        and deal.contract is not None
        and deal.contract.bid != RODSKAGG
        and not at_zero(table, deal, seat).knocked
    )


def knock_out(state: Playing | Played, act: KnockOut, moment: Moment) -> tuple[Event, ...]:
    """B67, B77-B78, B-O31: "knack för min utgång"; in rödskägg nobody subtracts (B-O9)."""
    seat, table, deal = act.seat, state.table, deal_of(state)
    ended = isinstance(state, Played) and state.outcome.kind != "number"
    if deal is None or deal.contract is None or ended or deal.contract.bid == RODSKAGG:
        raise WrongPhase("no_exit_now", "B67")
    if at_zero(table, deal, seat).knocked:
        raise AgainstTheRules("already_knocked_out", "B67")
    if not may_knock_out(table, deal, seat):
        if not table.penalise:
            raise AgainstTheRules("not_at_zero", "B67", total=running_total(table, deal, seat))
        knocked: tuple[Event, ...] = (KnockedOut(seat=seat, valid=False),)
        if fine := table.options.false_knock_penalty:
            knocked += (PenaltyImposed(seat=seat, points=fine, rule="B-O31"),)
        return knocked
    out = KnockedOut(seat=seat, valid=True)
    if not table.options.exact_zero and at_zero(table, deal, seat).came:
        return out, PlayEnded(kind="knocked_out")
    return (out,)


def knocked_out(state: Playing | Played, event: KnockedOut, number: int) -> Playing | Played:
    """The state after an exit knock; a wrong one changes nothing."""
    if not event.valid or (deal := deal_of(state)) is None:
        return state
    exits = replace(deal.exits, knocked=(*deal.exits.knocked, (event.seat, number)))
    if isinstance(state, Played):
        return replace(state, outcome=replace(state.outcome, exits=exits))
    return replace(state, exits=exits)


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    """The state when the deal waits to be scored."""
    outcome = Outcome(
        kind=event.kind,
        tricks=state.tricks,
        exits=state.exits,
        contract=state.contract,
        calls=state.contract.calls,
        order=state.order,
        won=state.won,
        credited=state.credited,
        question=state.question,
    )
    return Played(table=state.table, cards=state.cards, outcome=outcome, gone=state.gone)


def broken_off(state: Played, event: PlayEnded, number: int) -> Played:
    """The state when somebody has knocked out after the last trick (B78)."""
    return replace(state, outcome=replace(state.outcome, kind=event.kind))
