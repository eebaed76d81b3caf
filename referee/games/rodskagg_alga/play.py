"""The play of the cards, and the question after trick four whether the others go along (A29-A39, A45)."""

from referee.acts import Ask
from referee.cards import Cards
from referee.events import Breach, PlayEnded, TrickTaken
from referee.games._rodskagg import asking, in_play, tally
from referee.games._rodskagg import play as shared_play
from referee.games._rodskagg.bids import RODSKAGG
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.facts import QuestionAsked
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, seats_without_trick
from referee.games.rodskagg_alga.states import CITES, Outcome, Played, Playing
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def before_the_lead(state: Playing, seat: int, moment: Moment) -> tuple[Breach, ...]:
    """Return no breach. Raises AgainstTheRules if the question is due and errors are refused (A33, A-O27)."""
    if len(state.won) == ASKED_AFTER and not state.table.penalise and question_due(state):
        raise AgainstTheRules("question_owed", CITES.question, asker=seat)
    return ()


def refuse_revoke(state: Playing, seat: int, allowed: Cards) -> tuple[Breach, ...]:
    """Raise AgainstTheRules for a revoke, a failure to follow suit (A31, A-O26)."""
    raise shared_play.follow_suit_refusal(allowed, CITES)


def shown_revoke(state: Playing, seat: int, claim: Denial) -> Breach:
    """Return the breach of a revoke that a later card of a closed hand shows. It costs nothing (A-O26)."""
    shown = (claim.lead, claim.event)
    return Breach(offence="revoke", seat=seat, rule=CITES.follow_suit, payer=seat, points=0, shown_by=shown)


play = shared_play.play_decision(
    CITES, before_the_lead=before_the_lead, revoked=refuse_revoke, revoke_shown=shown_revoke
)
trick = tally.trick_decision(CITES, before_the_lead)


def automatic_events(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a complete or credited trick or of the end of play, if any (A32, A48-A51, A-O2, A-O12,
    A-O30)."""
    if state.trick:
        return shared_play.complete_trick(state, moment, question=False)
    done, contract = len(state.won), state.contract
    if contract.bid == RODSKAGG:
        return shared_play.end_rodskagg(state, contract)
    if len(state.order) == 1 and done < TRICKS and state.table.options.uncontested_tricks == "to_declarer":
        return (TrickTaken(seat=contract.declarer, trick=done + 1, uncontested=True),)
    return (PlayEnded(kind="number"),) if done == TRICKS or len(state.order) == 1 else ()


def after_lead(state: Playing, number: int) -> Playing:
    """Return the state after a lead. A question that was due is now forgotten (A-O7)."""
    return (
        asking.question_forgotten(state, number) if len(state.won) == ASKED_AFTER and question_due(state) else state
    )


card_played = shared_play.card_played_evolution(after_lead)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing:
    return shared_play.trick_taken(state, event, number, state.contract.declarer, after_lead)


def to_answer(state: Playing) -> tuple[int, ...]:
    """Return the seats that must answer, from the declarer's left (A34, A36, A-O13)."""
    declarer = state.contract.declarer
    return seats_without_trick(state.order, declarer, declarer, state.tricks)


def question_time(state: Playing) -> bool:
    """Return whether the question may be put now (A33, A38, A-O4, A-O7)."""
    return (
        len(state.won) == ASKED_AFTER
        and asking.is_time_to_ask(state)
        and state.contract.bid != RODSKAGG
        and (not state.table.duel or state.table.options.duel_fold_question)
    )


def question_due(state: Playing) -> bool:
    """Return whether the question must be put now (A33, A-O23, B-O30)."""
    return question_time(state) and bool(to_answer(state))


def ask(state: Playing, act: Ask, moment: Moment) -> tuple[Event, ...]:
    """Return the event of the question (A33, A38, A-O4). Raises WrongPhase, or OutOfTurn unless the declarer asks."""
    if state.contract.bid == RODSKAGG:
        raise WrongPhase("no_question_in_rodskagg", "A38")
    if state.table.duel and not state.table.options.duel_fold_question:
        raise WrongPhase("no_question_in_duel", "A-O4")
    if not question_time(state):
        raise asking.question_refusal(state, CITES)
    if act.seat != state.contract.declarer:
        raise OutOfTurn("not_the_asker", "A33", asker=state.contract.declarer)
    return (QuestionAsked(seat=act.seat, of=to_answer(state)),)


def play_ended(state: Playing, event: PlayEnded, number: int) -> Played:
    outcome = in_play.result_of_play(Outcome, state, kind=event.kind, calls=state.contract.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome, gone=state.gone)
