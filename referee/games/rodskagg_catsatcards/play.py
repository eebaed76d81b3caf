"""The play of the cards, the question, and the announcement near zero (C23-C37, C49, C55)."""

from datetime import timedelta

from msgspec.structs import replace

from referee.acts import Announce, Answer, Ask, Play, Remind
from referee.cards import BIT, SUIT_OF, texts_of
from referee.events import Breach, CardPlayed, Event, PenaltyImposed, PlayEnded, TrickTaken
from referee.games._rodskagg.closed import claims, disproved
from referee.games._rodskagg.facts import Announced, QuestionAnswered, QuestionAsked, Reminded
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, trickless
from referee.games.rodskagg_catsatcards.deal import breach, price
from referee.games.rodskagg_catsatcards.states import Played, Playing, Table
from referee.offences import Ledger
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following

LATE = 2
"""C34: what a late trick takes off."""

# Playing a card


def play(state: Playing, act: Play, moment: Moment) -> tuple[Event, ...]:
    """C23-C29: in turn, following suit if possible; in Fem Opp a revoke stands until somebody knocks (C60)."""
    seat = act.seat
    if seat != state.turn:
        raise _not_your_turn(state, seat)
    if state.question.pending:
        raise AgainstTheRules("answers_pending", "C30", turn=state.question.pending[0])
    bit = BIT[act.card]
    hand = state.cards.hands[seat] & ~state.gone
    if not bit & hand:
        if state.cards.known:
            raise NoSuchCard("not_held", None, card=act.card)
        raise NoSuchCard("card_seen", "C2", card=act.card)
    breaches: tuple[Breach, ...] = ()
    led = state.led
    if not led:
        if state.owed or len(state.won) == ASKED_AFTER:
            breaches = _before_the_lead(state, seat, moment)
        winner = seat
    else:
        winner = seat if bit & led and bit > state.best else state.winner
        if not bit & led and hand & led and state.cards.known:
            if not price(state.table, "revoke"):
                raise AgainstTheRules("must_follow_suit", "C26", allowed=texts_of(hand & led))
            breaches = (breach(state.table, "revoke", seat, len(state.won) + 2, state.lead),)
    if state.voids:
        breaches += _revokes_shown(state, seat, bit)
    played = CardPlayed(seat=seat, card=act.card, breaches=breaches)
    if len(state.trick) + 1 < len(state.order):
        return (played,)
    return played, *_trick_over(state, winner, moment)


def _not_your_turn(state: Playing, seat: int) -> OutOfTurn | NotInPlay:
    if seat not in state.order:
        return NotInPlay("has_folded", "C32")
    if state.trick:
        return OutOfTurn("out_of_turn", "C24", turn=state.turn)
    return OutOfTurn("not_on_lead", "C29" if state.won else "C48" if state.table.duel else "C23", turn=state.turn)


def _trick_over(state: Playing, winner: int, moment: Moment) -> tuple[Event, ...]:
    """C27, C41-C42, C55: who took the trick, and whether the play ends with it."""
    done = len(state.won) + 1
    grace = state.table.options.question_grace_seconds
    until = None
    if done == ASKED_AFTER and grace and asks(state):
        until = moment.at + timedelta(seconds=grace)
    taken = TrickTaken(seat=winner, trick=done, grace_until=until)
    kind = _ended(state, (*(seat for seat, _ in state.won), winner))
    return (taken,) if kind is None else (taken, PlayEnded(kind=kind))


def _ended(state: Playing, winners: tuple[int, ...]) -> str | None:
    """How the play ends with the last of these tricks, or ``None`` if it goes on."""
    done, winner, table = len(winners), winners[-1], state.table
    if state.contract is None:
        return "duel" if done == TRICKS else None
    unbeaten = bool(state.redbeards) and any(set(winners) == {seat} for seat in state.redbeards)
    if unbeaten and done == TRICKS:
        return "redbeard_made"
    if table.options.exact_tricks_for_all:  # C55, C-O18
        before = len(state.won)
        new = sum(trick_value(state, winner, trick) for trick in range(before, done) if winners[trick] == winner)
        lost = winner in state.redbeards and any(seat != winner for seat in winners)  # C42, C-O21: he is out
        if new and not lost and running_total(state, winner) == new:
            return "zero_at_once"
    if state.redbeards and not unbeaten and table.options.rodskagg_stop_at_first_loss:
        return "redbeard_failed"
    if done < TRICKS:
        return None
    return "redbeard_failed" if state.redbeards else "ordinary"


def _before_the_lead(state: Playing, seat: int, moment: Moment) -> tuple[Breach, ...]:
    """C30, C37, C49: what must be done before the next lead is refused, or passed over by it."""
    table, done = state.table, len(state.won)
    shown = (state.won[-1][1],) if state.won else ()
    breaches: tuple[Breach, ...] = ()
    if question_due(state):
        who = asker(state)
        if not table.penalise:
            raise AgainstTheRules("question_owed", "C30", asker=who)
        grace = state.question.grace_until
        if seat != who and grace is not None and moment.at < grace:
            raise AgainstTheRules("question_grace", "C-O23", asker=who, until=grace.isoformat())
        if price(table, "fold_question"):
            breaches += (breach(table, "fold_question", who, done + 1, *shown),)
    if state.owed:
        if not table.penalise:
            raise AgainstTheRules("announcement_owed", "C49", pending=state.owed)
        if price(table, "near_zero"):
            breaches += tuple(breach(table, "near_zero", owing, done + 1, *shown) for owing in state.owed)
    return breaches


def _revokes_shown(state: Playing, seat: int, bit: int) -> tuple[Breach, ...]:
    """With closed hands a card disproves what its holder claimed by not following suit earlier.

    Where a revoke cannot be punished it costs nothing and is only noted on the record.
    """
    return tuple(
        breach(state.table, "revoke", seat, len(state.won) + 2, void.lead, void.event)
        for void in disproved(state.voids, seat, bit)
    )


def card_played(state: Playing, event: CardPlayed, number: int) -> Playing:
    """The state after a card; a lead passes over what was due before it."""
    seat, bit = event.seat, BIT[event.card]
    trick = (*state.trick, (seat, event.card))
    gone, turn = state.gone | bit, state.after[seat]
    if not state.cards.known:
        voids = claims(state.voids, seat, bit, state.led, len(state.won) + 1, state.lead, number)
        state = replace(state, voids=voids)
    if event.breaches:
        state = replace(state, ledger=state.ledger.noted(event.breaches, number))
    if not state.led:
        if state.owed or len(state.won) == ASKED_AFTER:
            state = _led(state, number)
        return replace(
            state,
            gone=gone,
            turn=turn,
            trick=trick,
            led=SUIT_OF[bit],
            best=bit,
            winner=seat,
            lead=number,
        )
    if bit & state.led and bit > state.best:
        return replace(state, gone=gone, turn=turn, trick=trick, best=bit, winner=seat)
    return replace(state, gone=gone, turn=turn, trick=trick)


def _led(state: Playing, number: int) -> Playing:
    """After a lead by which something may have been passed over (C37, C-O24)."""
    told = list(state.told)
    for seat in state.owed:
        told[seat] = running_total(state, seat)
    question = replace(state.question, forgotten=number) if question_due(state) else state.question
    return replace(state, told=tuple(told), owed=(), question=question)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """The state after a trick; its winner leads (C29), and may have come near zero (C49)."""
    seat = event.seat
    tricks = list(state.tricks)
    tricks[seat] += 1
    if event.grace_until is not None:
        state = replace(state, question=replace(state.question, grace_until=event.grace_until))
    state = replace(
        state,
        tricks=tuple(tricks),
        won=(*state.won, (seat, number)),
        credited=state.credited + event.uncontested,
        trick=(),
        led=0,
        best=0,
        turn=seat,
    )
    return total_changed(state, seat) if state.contract else state


# Points while the play goes on


def counts_as_asked(state: Playing) -> bool:
    """C34-C37, C-O14, C-O29: the question was put, or had its place and nobody had to be asked."""
    return asks(state) and not state.question.forgotten


def had_early(state: Playing, seat: int) -> bool:
    """C31: the seat has one of the first four tricks."""
    return any(seat == who for who, _ in state.won[:ASKED_AFTER])


def late_value(state: Playing, seat: int) -> int:
    """C34, C-O1, C-O2, C-O29: what a late trick takes off."""
    options = state.table.options
    if state.contract is None or not counts_as_asked(state):
        return 1
    if seat == state.contract.declarer:
        if not options.play_on_applies_to_declarer:
            return 1
        return LATE if options.play_on_double_for_all or not had_early(state, seat) else 1
    return LATE if options.play_on_double_for_all or not had_early(state, seat) else 1


def trick_value(state: Playing, seat: int, trick: int) -> int:
    """What a trick (counted from 0) takes off; in a Redbeard hand perhaps nothing (C-O7)."""
    if state.redbeards and state.table.options.rodskagg_defenders_score == "none":
        return 0
    return 1 if trick < ASKED_AFTER else late_value(state, seat)


def running_total(state: Playing, seat: int) -> int:
    """C-O11: points before the hand, plus penalties knocked in it, minus what the tricks so far take off."""
    total = state.table.points[seat] + state.ledger.points(seat)
    if state.tricks[seat]:
        total -= sum(trick_value(state, seat, trick) for trick, (who, _) in enumerate(state.won) if who == seat)
    return total


def near_zero(table: Table, total: int) -> bool:
    """C49, C-O10: one or zero; minus one by option."""
    return total in (0, 1) or (total == -1 and table.options.near_zero_includes_minus_one)


def owing_at_start(table: Table, ledger: Ledger) -> tuple[int, ...]:
    """C-O24: who stands near zero when the play begins, and has not said so."""
    totals = ((seat, table.points[seat] + ledger.points(seat)) for seat in table.playing)
    return tuple(seat for seat, total in totals if near_zero(table, total) and table.told[seat] != total)


def total_changed(state: Playing, seat: int) -> Playing:
    """C-O24: the duty arises once for each value; it ends when the seat stands there no more."""
    far = state.table.points[seat] > LATE * state.tricks[seat] + 1  # from zero, whatever the tricks count for
    if far and not state.owed and state.told[seat] is None:
        return state
    total = running_total(state, seat)
    owes = near_zero(state.table, total)
    if not owes and seat not in state.owed and state.told[seat] is None:
        return state
    owed = tuple(other for other in state.owed if other != seat)
    told = list(state.told)
    if told[seat] != total:
        told[seat] = None
        owed += (seat,) * owes
    return replace(state, owed=owed, told=tuple(told))


def announced(state: Playing, event: Announced, number: int) -> Playing:
    """The state after the announcement near zero."""
    told = list(state.told)
    told[event.seat] = event.total
    return replace(state, told=tuple(told), owed=tuple(seat for seat in state.owed if seat != event.seat))


def announce(state: Playing, act: Announce, moment: Moment) -> tuple[Event, ...]:
    """C49, C-O24: only who owes it; thanks are for after the last trick (C44)."""
    if act.what == "thanks":
        raise WrongPhase("no_thanks_now", "C44")
    if act.seat not in state.owed:
        raise AgainstTheRules("nothing_to_announce", "C49", total=running_total(state, act.seat))
    return (Announced(seat=act.seat, what="near_zero", total=running_total(state, act.seat)),)


def penalty_imposed(state: Playing, event: PenaltyImposed, number: int) -> Playing:
    """The state after a penalty: it may bring its payer near zero, or away from it (C-O24)."""
    state = replace(state, ledger=state.ledger.imposed(event, number))
    return total_changed(state, event.seat) if state.contract else state


# The question


def asker(state: Playing) -> int:
    """C30: the Declarer asks."""
    assert state.contract is not None, "there is no question in a duel"
    return state.contract.declarer


def asks(state: Playing) -> bool:
    """C30, C-O6, C-O9: the question has a place in this hand."""
    if state.contract is None:
        return False
    return not state.redbeards or state.table.options.ask_fold_in_redbeard


def to_answer(state: Playing) -> tuple[int, ...]:
    """C31, C36: who must answer, from the Declarer's left: all without a trick but the Declarer."""
    who = asker(state)
    return trickless(state.order, who, who, state.tricks)


def question_time(state: Playing) -> bool:
    """C30, C37: after the fourth trick, before the lead to the fifth, once."""
    return len(state.won) == ASKED_AFTER and not state.trick and asks(state) and not state.question.event


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
        done = len(state.won)
        late = done > ASKED_AFTER or (done == ASKED_AFTER and not state.question.event)
        code = "question_too_late" if late else "already_asked" if done == ASKED_AFTER else "question_too_early"
        raise WrongPhase(code, "C37" if late else rule)


def question_asked(state: Playing, event: QuestionAsked, number: int) -> Playing:
    """The state while answers are awaited."""
    return replace(state, question=replace(state.question, event=number, pending=event.of))


def answer(state: Playing, act: Answer, moment: Moment) -> tuple[Event, ...]:
    """C30-C32, C36: in turn (C-O23); who has a trick plays on, and so does the Declarer."""
    pending = state.question.pending
    if act.seat not in pending:
        raise _not_asked(state, act.seat)
    if act.seat != pending[0]:
        raise OutOfTurn("out_of_turn", "C-O23", turn=pending[0])
    answered = QuestionAnswered(seat=act.seat, answer=act.answer)
    if act.answer == "play" or len(state.order) > 2:
        return (answered,)
    return answered, *_left_alone(question_answered(state, answered, 0))


def _left_alone(state: Playing) -> tuple[Event, ...]:
    """C-O33, C-O34: nobody is left to play against; the last tricks are the Declarer's, or nobody's."""
    if state.table.options.uncontested_tricks == "void":
        return (PlayEnded(kind="redbeard_failed" if state.redbeards else "ordinary"),)
    alone = asker(state)
    winners = tuple(seat for seat, _ in state.won)
    events: tuple[Event, ...] = ()
    while True:
        winners += (alone,)
        events += (TrickTaken(seat=alone, trick=len(winners), uncontested=True),)
        if (kind := _ended(state, winners)) is not None:
            return *events, PlayEnded(kind=kind)


def _not_asked(state: Playing, seat: int) -> OutOfTurn:
    pending = state.question.pending
    if state.contract is not None and seat == state.contract.declarer:
        return OutOfTurn("declarer_not_asked", "C36", pending=pending)
    if len(state.won) >= ASKED_AFTER and state.tricks[seat]:
        return OutOfTurn("in_already", "C31", pending=pending)
    return OutOfTurn("not_asked", "C30", pending=pending)


def question_answered(state: Playing, event: QuestionAnswered, number: int) -> Playing:
    """The state after an answer; who folds sits out (C32)."""
    question = state.question
    answers = (*question.answers, (event.seat, event.answer, number))
    question = replace(question, pending=question.pending[1:], answers=answers)
    if event.answer == "play":
        return replace(state, question=question)
    order = tuple(seat for seat in state.order if seat != event.seat)
    return replace(state, question=question, order=order, after=following(order, state.table.seats))


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    """The state when the hand waits to be scored; nothing is announced after a win (C-O24)."""
    if event.kind in ("redbeard_made", "zero_at_once"):
        state = replace(state, owed=())
    return Played(table=state.table, ledger=state.ledger, cards=state.cards, kind=event.kind, play=state)
