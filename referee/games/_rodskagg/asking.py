"""The question after trick four, put and answered, the same in every sister (A33-A37, B46-B52, C30-C32)."""

from referee.acts import Answer
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.facts import QuestionAnswered, QuestionAsked
from referee.games._rodskagg.in_play import InPlay, P, Taken
from referee.games._rodskagg.question import ASKED_AFTER, by_seat
from referee.phases import Table
from referee.refusals import OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following
from referee.value import AnswerSeen, changed
from referee.visibility import Event


def is_time(state: InPlay) -> bool:
    """After the fourth trick, before the lead to the fifth, once (A33, B46, B48, C30)."""
    return len(state.won) == ASKED_AFTER and not state.trick and not state.question.event


def not_now(state: InPlay, cites: Cites, rule: str | None = None) -> WrongPhase:
    """What to say to a question that comes too early, too late or again."""
    done = len(state.won)
    if done > ASKED_AFTER or (done == ASKED_AFTER and not state.question.event):
        return WrongPhase("question_too_late", cites.question_late)
    return WrongPhase("already_asked" if done == ASKED_AFTER else "question_too_early", rule or cites.question)


def question_asked(state: P, event: QuestionAsked, number: int) -> P:
    """The state while answers are awaited."""
    return changed(state, question=changed(state.question, event=number, pending=event.of))


def forgotten(state: P, number: int) -> P:
    """The state when a lead has made the question too late."""
    return changed(state, question=changed(state.question, forgotten=number))


def answer(state: InPlay, act: Answer, moment: Moment, cites: Cites) -> tuple[Event, ...]:
    """In turn; who has a trick is in already (A34-A37, B47-B52, C30-C32, C36)."""
    pending = state.question.pending
    if act.seat not in pending:
        raise _not_asked(state, act.seat, cites)
    if act.seat != pending[0]:
        raise OutOfTurn("out_of_turn", cites.answer_turn, turn=pending[0])
    return (QuestionAnswered(seat=act.seat, answer=act.answer),)


def _not_asked(state: InPlay, seat: int, cites: Cites) -> OutOfTurn:
    pending = state.question.pending
    if cites.declarer_in and state.contract is not None and seat == state.contract.declarer:
        return OutOfTurn("declarer_not_asked", cites.declarer_in, pending=pending)
    if len(state.won) >= ASKED_AFTER and state.tricks[seat]:
        return OutOfTurn("in_already", cites.in_already, pending=pending)
    return OutOfTurn("not_asked", cites.answers, pending=pending)


def question_answered(state: P, event: QuestionAnswered, number: int) -> P:
    """The state after an answer; who folds sits out (A37, B52, C32)."""
    question = state.question
    answers = (*question.answers, (event.seat, event.answer, number))
    question = changed(question, pending=question.pending[1:], answers=answers)
    if event.answer == "play":
        return changed(state, question=question)
    order = tuple(seat for seat in state.order if seat != event.seat)
    return changed(state, question=question, order=order, after=following(order, state.table.seats))


def answers(table: Table, deal: Taken) -> tuple[AnswerSeen | None, ...]:
    """By seat what was answered, if the question was put."""
    if deal.contract is None or not deal.question.event:
        return (None,) * table.seats
    return by_seat(deal.question.answers, table.seats, table.playing, deal.contract.declarer)
