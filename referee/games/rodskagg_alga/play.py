"""The play of the cards, and the question (A29-A39, A45)."""

from msgspec.structs import replace

from referee.acts import Answer, Ask, Play
from referee.cards import BIT, SUIT_OF, texts_of
from referee.events import Breach, CardPlayed, Event, PlayEnded, TrickTaken
from referee.games._rodskagg.bids import RODSKAGG
from referee.games._rodskagg.closed import claims, disproved
from referee.games._rodskagg.facts import QuestionAnswered, QuestionAsked
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, trickless
from referee.games.rodskagg_alga.states import Outcome, Played, Playing
from referee.phases import with_ledger
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following

# Playing a card


def play(state: Playing, act: Play, moment: Moment) -> tuple[Event, ...]:
    """A29-A32: in turn, following suit if possible; a revoke is refused in both enforcements (A-O26)."""
    seat = act.seat
    if seat != state.turn:
        raise _not_your_turn(state, seat)
    if state.question.pending:
        raise AgainstTheRules("answers_pending", "A34", turn=state.question.pending[0])
    bit = BIT[act.card]
    hand = state.cards.hands[seat] & ~state.gone
    if not bit & hand:
        if state.cards.known:
            raise NoSuchCard("not_held", None, card=act.card)
        raise NoSuchCard("card_seen", "A4", card=act.card)
    led = state.led
    if not led:
        if not state.table.penalise and question_due(state):
            raise AgainstTheRules("question_owed", "A33", asker=seat)
    elif not bit & led and hand & led and state.cards.known:
        raise AgainstTheRules("must_follow_suit", "A31", allowed=texts_of(hand & led))
    return (CardPlayed(seat=seat, card=act.card, breaches=_revokes_shown(state, seat, bit) if state.voids else ()),)


def _not_your_turn(state: Playing, seat: int) -> OutOfTurn | NotInPlay:
    if seat not in state.order:
        return NotInPlay("has_folded", "A37")
    if state.trick:
        return OutOfTurn("out_of_turn", "A30", turn=state.turn)
    return OutOfTurn("not_on_lead", "A29", turn=state.turn)


def follows(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """A32, A48-A51, A-O2, A-O12, A-O30: a trick is taken, and the play ends with the last one."""
    if state.trick:
        return (
            (TrickTaken(seat=state.winner, trick=len(state.won) + 1),) if len(state.trick) == len(state.order) else ()
        )
    done, contract = len(state.won), state.contract
    if contract.bid == RODSKAGG:
        lost = any(seat != contract.declarer for seat, _ in state.won)
        if done < TRICKS and not (lost and state.table.options.rodskagg_stop_at_first_loss):
            return ()
        return (PlayEnded(kind="rodskagg_failed" if lost else "rodskagg_made"),)
    if len(state.order) == 1 and done < TRICKS and state.table.options.uncontested_tricks == "to_declarer":
        return (TrickTaken(seat=contract.declarer, trick=done + 1, uncontested=True),)
    return (PlayEnded(kind="number"),) if done == TRICKS or len(state.order) == 1 else ()


def _revokes_shown(state: Playing, seat: int, bit: int) -> tuple[Breach, ...]:
    """A-O26: with closed hands a card disproves what its holder claimed by not following suit; only noted."""
    return tuple(
        Breach(offence="revoke", seat=seat, rule="A31", payer=seat, points=0, shown_by=(void.lead, void.event))
        for void in disproved(state.voids, seat, bit)
    )


def card_played(state: Playing, event: CardPlayed, number: int) -> Playing:
    """The state after a card; the lead to trick five makes the question too late (A-O7)."""
    seat, bit = event.seat, BIT[event.card]
    trick = (*state.trick, (seat, event.card))
    gone, turn = state.gone | bit, state.after[seat]
    if not state.cards.known:
        voids = claims(state.voids, seat, bit, state.led, len(state.won) + 1, state.lead, number)
        state = replace(state, voids=voids)
    if event.breaches:
        state = with_ledger(state, state.table.ledger.noted(event.breaches, number))
    if not state.led:
        question = state.question
        if len(state.won) == ASKED_AFTER and question_due(state):
            question = replace(question, forgotten=number)
        return replace(
            state,
            gone=gone,
            turn=turn,
            trick=trick,
            led=SUIT_OF[bit],
            best=bit,
            winner=seat,
            lead=number,
            question=question,
        )
    if bit & state.led and bit > state.best:
        return replace(state, gone=gone, turn=turn, trick=trick, best=bit, winner=seat)
    return replace(state, gone=gone, turn=turn, trick=trick)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """The state after a trick; the declarer leads to the next (A29)."""
    seat = event.seat
    tricks = list(state.tricks)
    tricks[seat] += 1
    return replace(
        state,
        tricks=tuple(tricks),
        won=(*state.won, (seat, number)),
        trick=(),
        led=0,
        best=0,
        turn=state.contract.declarer,
    )


# The question


def to_answer(state: Playing) -> tuple[int, ...]:
    """A34, A36, A-O13: who must answer, from the declarer's left: all without a trick but the declarer."""
    declarer = state.contract.declarer
    return trickless(state.order, declarer, declarer, state.tricks)


def question_time(state: Playing) -> bool:
    """A33, A38, A-O4, A-O7: after the fourth trick of a number contract, before the lead to the fifth, once."""
    return (
        len(state.won) == ASKED_AFTER
        and not state.trick
        and state.contract.bid != RODSKAGG
        and not state.question.event
        and (not state.table.duel or state.table.options.duel_fold_question)
    )


def question_due(state: Playing) -> bool:
    """A33, A-O23 (B-O30): the question must be asked now, for somebody has to answer it."""
    return question_time(state) and bool(to_answer(state))


def ask(state: Playing, act: Ask, moment: Moment) -> tuple[Event, ...]:
    """A33, A38: the declarer asks the others whether they go along."""
    if state.contract.bid == RODSKAGG:
        raise WrongPhase("no_question_in_rodskagg", "A38")
    if state.table.duel and not state.table.options.duel_fold_question:
        raise WrongPhase("no_question_in_duel", "A-O4")
    if not question_time(state):
        done = len(state.won)
        late = done > ASKED_AFTER or (done == ASKED_AFTER and not state.question.event)
        code = "question_too_late" if late else "already_asked" if done == ASKED_AFTER else "question_too_early"
        raise WrongPhase(code, "A-O7" if late else "A33")
    if act.seat != state.contract.declarer:
        raise OutOfTurn("not_the_asker", "A33", asker=state.contract.declarer)
    return (QuestionAsked(seat=act.seat, of=to_answer(state)),)


def question_asked(state: Playing, event: QuestionAsked, number: int) -> Playing:
    """The state while answers are awaited."""
    return replace(state, question=replace(state.question, event=number, pending=event.of))


def answer(state: Playing, act: Answer, moment: Moment) -> tuple[Event, ...]:
    """A34-A37: in turn; who has a trick is in already."""
    pending = state.question.pending
    if act.seat not in pending:
        raise _not_asked(state, act.seat)
    if act.seat != pending[0]:
        raise OutOfTurn("out_of_turn", "A34", turn=pending[0])
    return (QuestionAnswered(seat=act.seat, answer=act.answer),)


def _not_asked(state: Playing, seat: int) -> OutOfTurn:
    pending = state.question.pending
    if seat == state.contract.declarer:
        return OutOfTurn("declarer_not_asked", "A-O13", pending=pending)
    if len(state.won) >= ASKED_AFTER and state.tricks[seat]:
        return OutOfTurn("in_already", "A36", pending=pending)
    return OutOfTurn("not_asked", "A34", pending=pending)


def question_answered(state: Playing, event: QuestionAnswered, number: int) -> Playing:
    """The state after an answer; who folds sits out (A37)."""
    question = state.question
    answers = (*question.answers, (event.seat, event.answer, number))
    question = replace(question, pending=question.pending[1:], answers=answers)
    if event.answer == "play":
        return replace(state, question=question)
    order = tuple(seat for seat in state.order if seat != event.seat)
    return replace(state, question=question, order=order, after=following(order, state.table.seats))


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    """The state when the deal waits to be scored."""
    outcome = Outcome(
        kind=event.kind,
        tricks=state.tricks,
        contract=state.contract,
        calls=state.contract.calls,
        won=state.won,
        question=state.question,
    )
    return Played(table=state.table, cards=state.cards, outcome=outcome, gone=state.gone)
