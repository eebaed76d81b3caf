"""The play of the cards, the question, and the exit knock (B41-B57, B67-B68)."""

from datetime import timedelta

from msgspec.structs import replace

from referee.acts import Answer, Ask, KnockOut, Play
from referee.cards import BIT, SUIT_OF, texts_of
from referee.events import Breach, CardPlayed, Event, PenaltyImposed, PlayEnded, TrickTaken
from referee.games._rodskagg.bids import RODSKAGG
from referee.games._rodskagg.closed import claims, disproved
from referee.games._rodskagg.facts import KnockedOut, QuestionAnswered, QuestionAsked
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, trickless
from referee.games.rodskagg_kortoxen.deal import breach
from referee.games.rodskagg_kortoxen.states import Played, Playing
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following


def running_total(state: Playing, seat: int) -> int:
    """B-O9: points before the deal, plus penalties knocked in it, minus tricks so far."""
    total = state.table.points[seat] - state.tricks[seat]
    return total + state.ledger.points(seat) if state.ledger.penalties else total


def defends_for_points(state: Playing, seat: int) -> bool:
    """B65: in rödskägg a trick counts for this seat."""
    return state.table.options.rodskagg_defenders_score == "one_per_trick" and seat != state.contract.declarer


# Playing a card


def play(state: Playing, act: Play, moment: Moment) -> tuple[Event, ...]:
    """B41-B45: in turn, following suit if possible; a revoke stands where offences stand (B-O26)."""
    seat = act.seat
    if seat != state.turn:
        raise _not_your_turn(state, seat)
    if state.question.pending:
        raise AgainstTheRules("answers_pending", "B47", turn=state.question.pending[0])
    bit = BIT[act.card]
    hand = state.cards.hands[seat] & ~state.gone
    if not bit & hand:
        if state.cards.known:
            raise NoSuchCard("not_held", None, card=act.card)
        raise NoSuchCard("card_seen", "B4", card=act.card)
    breaches: tuple[Breach, ...] = ()
    led = state.led
    if not led:
        if state.exits.owed or len(state.won) == ASKED_AFTER:
            breaches = _before_the_lead(state, seat, moment)
        winner = seat
    else:
        winner = seat if bit & led and bit > state.best else state.winner
        if not bit & led and hand & led and state.cards.known:
            if not state.table.penalise:
                raise AgainstTheRules("must_follow_suit", "B42", allowed=texts_of(hand & led))
            tricks = len(state.won) + 2
            breaches = (breach(state.table, "revoke", seat, "B42", tricks, state.lead, payer=seat),)
    if state.voids:
        breaches += _revokes_shown(state, seat, bit)
    played = CardPlayed(seat=seat, card=act.card, breaches=breaches)
    if len(state.trick) + 1 < len(state.order):
        return (played,)
    return played, *_trick_over(state, winner, moment)


def _not_your_turn(state: Playing, seat: int) -> OutOfTurn | NotInPlay:
    if seat not in state.order:
        return NotInPlay("has_folded", "B52")
    if state.trick:
        return OutOfTurn("out_of_turn", "B13", turn=state.turn)
    return OutOfTurn("not_on_lead", "B45" if state.won else "B41", turn=state.turn)


def _trick_over(state: Playing, winner: int, moment: Moment) -> tuple[Event, ...]:
    """B44-B45, B62-B64: who took the trick, and whether the play ends with it."""
    done = len(state.won) + 1
    contract, options = state.contract, state.table.options
    if contract.bid == RODSKAGG:
        taken = TrickTaken(seat=winner, trick=done)
        lost = winner != contract.declarer or any(seat != contract.declarer for seat, _ in state.won)
        if lost and (done == TRICKS or options.rodskagg_stop_at_first_loss):
            return taken, PlayEnded(kind="rodskagg_failed")
        return (taken, PlayEnded(kind="rodskagg_made")) if done == TRICKS else (taken,)
    if done == ASKED_AFTER and options.question_grace_seconds:
        until = moment.at + timedelta(seconds=options.question_grace_seconds)
        return (TrickTaken(seat=winner, trick=done, grace_until=until),)
    taken = TrickTaken(seat=winner, trick=done)
    return (taken, PlayEnded(kind="number")) if done == TRICKS else (taken,)


def _before_the_lead(state: Playing, seat: int, moment: Moment) -> tuple[Breach, ...]:
    """B48, B54, B67-B68: what must be done before the next lead is refused, or forgotten by it."""
    table, done = state.table, state.played
    breaches: tuple[Breach, ...] = ()
    if exit_owed(state):
        if not table.penalise:
            raise AgainstTheRules("exit_knock_owed", "B67")
        breaches = (breach(table, "exit_knock", seat, "B68", done + 1, state.won[-1][1], payer=seat),)
    if question_due(state):
        who = asker(state)
        if not table.penalise:
            raise AgainstTheRules("question_owed", "B48", asker=who)
        grace = state.question.grace_until
        if seat != who and grace is not None and moment.at < grace:
            raise AgainstTheRules("question_grace", "B-O29", asker=who, until=grace.isoformat())
        breaches += (breach(table, "fold_question", who, "B54", done + 1, state.won[-1][1], payer=who),)
    return breaches


def _revokes_shown(state: Playing, seat: int, bit: int) -> tuple[Breach, ...]:
    """With closed hands a card disproves what its holder claimed by not following suit earlier.

    Where the referee refuses, it costs nothing and is only noted on the record.
    """
    table, tricks = state.table, len(state.won) + 2
    shown = [
        breach(table, "revoke", seat, "B42", tricks, void.lead, void.event, payer=seat)
        for void in disproved(state.voids, seat, bit)
    ]
    return tuple(shown if table.penalise else (replace(noted, points=0) for noted in shown))


def card_played(state: Playing, event: CardPlayed, number: int) -> Playing:
    """The state after a card."""
    seat, bit = event.seat, BIT[event.card]
    trick = (*state.trick, (seat, event.card))
    gone, turn = state.gone | bit, state.after[seat]
    if not state.cards.known:
        voids = claims(state.voids, seat, bit, state.led, len(state.won) + 1, state.lead, number)
        state = replace(state, voids=voids)
    if not state.led:
        if event.breaches or len(state.won) == ASKED_AFTER:
            state = _led(state, event, number)
        led = SUIT_OF[bit]
        return replace(state, gone=gone, turn=turn, trick=trick, led=led, best=bit, winner=seat, lead=number)
    if event.breaches:
        state = replace(state, ledger=state.ledger.noted(event.breaches, number))
    if bit & state.led and bit > state.best:
        return replace(state, gone=gone, turn=turn, trick=trick, best=bit, winner=seat)
    return replace(state, gone=gone, turn=turn, trick=trick)


def _led(state: Playing, event: CardPlayed, number: int) -> Playing:
    """After a lead by which something may have been forgotten (B48, B68)."""
    state = replace(state, ledger=state.ledger.noted(event.breaches, number))
    if question_due(state):
        return replace(state, question=replace(state.question, forgotten=number))
    return state


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """The state after a trick; its winner leads (B45), and may have reached zero (B67)."""
    seat = event.seat
    tricks = list(state.tricks)
    tricks[seat] += 1
    question = state.question
    if event.grace_until is not None:
        question = replace(question, grace_until=event.grace_until)
    exits = state.exits
    rodskagg = state.contract.bid == RODSKAGG
    if not rodskagg or defends_for_points(state, seat):
        total = running_total(state, seat) - 1
        if total == 0 or exits.owed or exits.zero[seat] or exits.knocked[seat]:
            exits = replace(
                exits,
                zero=_with(exits.zero, seat, 0 if total else number),
                knocked=_with(exits.knocked, seat, 0),
                owed=total == 0 and not rodskagg,
            )
    return replace(
        state,
        tricks=tuple(tricks),
        won=(*state.won, (seat, number)),
        credited=state.credited + event.uncontested,
        trick=(),
        led=0,
        best=0,
        turn=seat,
        question=question,
        exits=exits,
    )


def _with(values: tuple[int, ...], seat: int, value: int) -> tuple[int, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


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
    return (
        len(state.won) == ASKED_AFTER
        and not state.trick
        and state.contract.bid != RODSKAGG
        and not state.question.event
    )


def question_due(state: Playing) -> bool:
    """B46, B-O30: the question must be asked now, for somebody has to answer it."""
    return question_time(state) and bool(to_answer(state))


def ask(state: Playing, act: Ask, moment: Moment) -> tuple[Event, ...]:
    """B46-B48, B53, B56: ask the others whether they go along."""
    if state.contract.bid == RODSKAGG:
        raise WrongPhase("no_question_in_rodskagg", "B53")
    if not question_time(state):
        done = len(state.won)
        late = done > ASKED_AFTER or (done == ASKED_AFTER and not state.question.event)
        code = "question_too_late" if late else "already_asked" if done == ASKED_AFTER else "question_too_early"
        raise WrongPhase(code, "B48" if late else "B46")
    if act.seat != (who := asker(state)):
        by_declarer = state.table.options.fold_question_by == "declarer"
        raise OutOfTurn("not_the_asker", "B46" if by_declarer else "B56", asker=who)
    return (QuestionAsked(seat=act.seat, of=to_answer(state)),)


def question_asked(state: Playing, event: QuestionAsked, number: int) -> Playing:
    """The state while answers are awaited."""
    return replace(state, question=replace(state.question, event=number, pending=event.of))


def answer(state: Playing, act: Answer, moment: Moment) -> tuple[Event, ...]:
    """B47, B49-B52: in turn; who has a trick is in already."""
    pending = state.question.pending
    if act.seat not in pending:
        in_already = len(state.won) >= ASKED_AFTER and bool(state.tricks[act.seat])
        raise OutOfTurn("in_already" if in_already else "not_asked", "B50" if in_already else "B47", pending=pending)
    if act.seat != pending[0]:
        raise OutOfTurn("out_of_turn", "B47", turn=pending[0])
    answered = QuestionAnswered(seat=act.seat, answer=act.answer)
    if act.answer == "play" or len(state.order) > 2:
        return (answered,)
    if state.table.options.uncontested_tricks == "void":
        return answered, PlayEnded(kind="number")
    alone = state.contract.declarer
    if not state.table.options.exact_zero and exit_owed(state):
        return (answered,)  # the fourth trick brought him to zero: he may knock out now (B77), or lead on
    fifth = TrickTaken(seat=alone, trick=ASKED_AFTER + 1, uncontested=True)
    if not state.table.options.exact_zero and running_total(state, alone) == 1:
        return answered, fifth  # it brings him to zero: now he may knock out (B77), or lead to the last
    rest = (trick for trick in range(ASKED_AFTER + 1, TRICKS + 1))  # B-O25
    return (
        answered,
        *(TrickTaken(seat=alone, trick=trick, uncontested=True) for trick in rest),
        PlayEnded(kind="number"),
    )


def question_answered(state: Playing, event: QuestionAnswered, number: int) -> Playing:
    """The state after an answer; who folds sits out (B52)."""
    question = state.question
    answers = (*question.answers, (event.seat, event.answer, number))
    question = replace(question, pending=question.pending[1:], answers=answers)
    if event.answer == "play":
        return replace(state, question=question)
    order = tuple(seat for seat in state.order if seat != event.seat)
    return replace(state, question=question, order=order, after=following(order, state.table.seats))


# The exit knock


def exit_owed(state: Playing) -> bool:
    """B67, B-O9, B-O31: the last trick brought its winner to zero, he is there still, and has not knocked."""
    if not state.exits.owed:
        return False
    seat = state.won[-1][0]
    return running_total(state, seat) == 0 and not state.exits.knocked[seat]


def may_knock_out(state: Playing, seat: int) -> bool:
    """B67, B-O11: at zero in a number contract, not yet knocked."""
    return (
        running_total(state, seat) == 0
        and state.contract.bid != RODSKAGG
        and seat in state.table.active
        and not state.exits.knocked[seat]
    )


def knock_out(state: Playing | Played, act: KnockOut, moment: Moment) -> tuple[Event, ...]:
    """B67, B77-B78, B-O31: "knack för min utgång"."""
    playing = state.play if isinstance(state, Played) else state
    ended = isinstance(state, Played) and state.kind != "number"
    if playing is None or ended or playing.contract.bid == RODSKAGG:  # in rödskägg nobody subtracts (B-O9)
        raise WrongPhase("no_exit_now", "B67")
    seat, table = act.seat, state.table
    if playing.exits.knocked[seat]:
        raise AgainstTheRules("already_knocked_out", "B67")
    if not may_knock_out(playing, seat):
        if not table.penalise:
            raise AgainstTheRules("not_at_zero", "B67", total=running_total(playing, seat))
        knocked: tuple[Event, ...] = (KnockedOut(seat=seat, valid=False),)
        if fine := table.options.false_knock_penalty:
            knocked += (PenaltyImposed(seat=seat, points=fine, rule="B-O31"),)
        return knocked
    out = KnockedOut(seat=seat, valid=True)
    if not table.options.exact_zero and playing.exits.zero[seat]:
        return out, PlayEnded(kind="knocked_out")
    return (out,)


def knocked_out(state: Playing, event: KnockedOut, number: int) -> Playing:
    """The state after an exit knock; a wrong one changes nothing."""
    if not event.valid:
        return state
    exits = replace(state.exits, knocked=_with(state.exits.knocked, event.seat, number))
    return replace(state, exits=exits)


def penalty_imposed(state: Playing, event: PenaltyImposed, number: int) -> Playing:
    """The state after a penalty: whoever stood at zero stands there no more (B-O31)."""
    exits, seat = state.exits, event.seat
    if exits.zero[seat] or exits.knocked[seat]:
        exits = replace(exits, zero=_with(exits.zero, seat, 0), knocked=_with(exits.knocked, seat, 0))
    return replace(state, ledger=state.ledger.imposed(event, number), exits=exits)


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    """The state when the deal waits to be scored."""
    return Played(
        table=state.table,
        ledger=state.ledger,
        cards=state.cards,
        kind=event.kind,
        play=state,
        calls=state.contract.calls,
    )
