"""The play of the cards, and the question (A29-A39, A45)."""

from msgspec.structs import replace

from referee.acts import Ask, Play
from referee.events import Breach, CardPlayed, Event, PlayEnded, TrickTaken
from referee.games._rodskagg import asking
from referee.games._rodskagg import play as cards
from referee.games._rodskagg.bids import RODSKAGG
from referee.games._rodskagg.closed import disproved
from referee.games._rodskagg.facts import QuestionAsked
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, trickless
from referee.games.rodskagg_alga.states import CITES, Outcome, Played, Playing
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment

# Playing a card


def play(state: Playing, act: Play, moment: Moment) -> tuple[Event, ...]:
    """A29-A32: in turn, following suit if possible; a revoke is refused in both enforcements (A-O26)."""
    bit = cards.card_of(state, act, CITES)
    if not state.led:
        if not state.table.penalise and question_due(state):
            raise AgainstTheRules("question_owed", CITES.question, asker=act.seat)
    elif not bit & state.led and (owed := cards.of_led_suit(state, act.seat)):
        raise cards.must_follow(owed, CITES)
    breaches = _revokes_shown(state, act.seat, bit) if state.voids else ()
    return (CardPlayed(seat=act.seat, card=act.card, breaches=breaches),)


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
    if not state.led and len(state.won) == ASKED_AFTER and question_due(state):
        state = asking.forgotten(state, number)
    return cards.card_played(state, event, number)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    """The state after a trick; the declarer leads to the next (A29)."""
    return replace(cards.trick_taken(state, event, number), turn=state.contract.declarer)


# The question


def to_answer(state: Playing) -> tuple[int, ...]:
    """A34, A36, A-O13: who must answer, from the declarer's left: all without a trick but the declarer."""
    declarer = state.contract.declarer
    return trickless(state.order, declarer, declarer, state.tricks)


def question_time(state: Playing) -> bool:
    """A33, A38, A-O4, A-O7: after the fourth trick of a number contract, before the lead to the fifth, once."""
    return (
        asking.is_time(state)
        and state.contract.bid != RODSKAGG
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
        raise asking.not_now(state, CITES)
    if act.seat != state.contract.declarer:
        raise OutOfTurn("not_the_asker", "A33", asker=state.contract.declarer)
    return (QuestionAsked(seat=act.seat, of=to_answer(state)),)


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
