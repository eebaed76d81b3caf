"""The question after trick four whether the others go along or fold, and the answers (A33-A37, B46-B52, C30-C32)."""

from typing import Any

from msgspec.structs import replace

from referee.acts import Answer
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.facts import QuestionAnswered, QuestionAsked
from referee.games._rodskagg.in_play import DealSoFar, InPlay, P
from referee.games._rodskagg.question import ASKED_AFTER
from referee.phases import Table
from referee.refusals import OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import next_seats
from referee.value import AnswerSeen
from referee.visibility import Event


def is_time_to_ask(state: InPlay[Any]) -> bool:
    """Return whether trick four is complete, trick five not begun, and the question not put (A33, B46, B48, C30)."""
    return len(state.won) == ASKED_AFTER and not state.trick and not state.question.event


def question_refusal(state: InPlay[Any], cites: CitedRules, rule: str | None = None) -> WrongPhase:
    """Return the refusal of a question. Unless it is late, ``rule``, if given, replaces ``cites.question``."""
    done = len(state.won)
    if done > ASKED_AFTER or (done == ASKED_AFTER and not state.question.event):
        return WrongPhase("question_too_late", cites.question_late)
    return WrongPhase("already_asked" if done == ASKED_AFTER else "question_too_early", rule or cites.question)


def question_asked(state: P, event: QuestionAsked, number: int) -> P:
    return replace(state, question=replace(state.question, event=number, pending=event.of))


def question_forgotten(state: P, lead_event: int) -> P:
    return replace(state, question=replace(state.question, forgotten=lead_event))


def answer(state: InPlay[Any], act: Answer, moment: Moment, cites: CitedRules) -> tuple[Event, ...]:
    """Return the event of an answer (A34-A37, B47-B52, C30-C32, C36).

    Raises OutOfTurn if the seat need not answer, or not yet.
    """
    pending = state.question.pending
    if act.seat not in pending:
        raise _unasked_refusal(state, act.seat, cites)
    if act.seat != pending[0]:
        raise OutOfTurn("out_of_turn", cites.answer_turn, turn=pending[0])
    return (QuestionAnswered(seat=act.seat, answer=act.answer),)


def _unasked_refusal(state: InPlay[Any], seat: int, cites: CitedRules) -> OutOfTurn:
    pending = state.question.pending
    if cites.declarer_in and state.contract is not None and seat == state.contract.declarer:
        return OutOfTurn("declarer_not_asked", cites.declarer_in, pending=pending)
    if len(state.won) >= ASKED_AFTER and state.tricks[seat]:
        return OutOfTurn("in_already", cites.answered_by_trick, pending=pending)
    return OutOfTurn("not_asked", cites.answers, pending=pending)


def question_answered(state: P, event: QuestionAnswered, number: int) -> P:
    """Return the state after an answer. A seat that folds plays no more (A37, B52, C32)."""
    question = state.question
    answers = (*question.answers, (event.seat, event.answer, number))
    question = replace(question, pending=question.pending[1:], answers=answers)
    if event.answer == "play":
        return replace(state, question=question)
    order = tuple(seat for seat in state.order if seat != event.seat)
    return replace(state, question=question, order=order, after=next_seats(order, state.table.seats))


def answers_by_seat(table: Table, deal: DealSoFar) -> tuple[AnswerSeen | None, ...]:
    """Return, by seat, the answers. ``in``: the seat was not asked, because it has a trick.

    ``None``: the declarer, a seat outside the deal, or a missing answer. Without a question all are ``None``.
    """
    contract, question = deal.contract, deal.question
    if contract is None or not question.event:
        return (None,) * table.seats
    seats: list[AnswerSeen | None] = ["in" if seat in table.playing else None for seat in range(table.seats)]
    for seat in (contract.declarer, *question.pending):
        seats[seat] = None
    for seat, answer, _ in question.answers:
        seats[seat] = answer
    return tuple(seats)
