"""Playing a card and taking a trick (A29-A32, B41-B45, C23-C29)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from referee import offences, phases
from referee.acts import Play
from referee.cards import BIT, SUIT_OF, Cards, texts_of
from referee.events import Breach, CardPlayed, PlayEnded, TrickTaken
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.closed_hands import Denial, claims_after, disproved_claims
from referee.games._rodskagg.in_play import InPlay, P
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS
from referee.games._rodskagg.ritual import RitualRules
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

Breaches = tuple[Breach, ...]


def play_decision(
    cites: CitedRules,
    *,
    before_the_lead: Callable[[Any, int, Moment], Breaches],
    revoked: Callable[[Any, int, Cards], Breaches],
    revoke_shown: Callable[[Any, int, Denial], Breach],
) -> phases.Decision:
    """Return the function that decides on a card.

    It raises OutOfTurn, NotInPlay after folding, AgainstTheRules while an answer is due, WrongPhase in a tally, and
    NoSuchCard for a card not held or, with closed hands, already played. ``before_the_lead`` and ``revoked`` return
    the breaches of a lead or a revoke (a failure to follow suit), or refuse it. ``revoke_shown`` returns the breach
    of a disproved claim.
    """

    def played(state: InPlay[Any], act: Play, moment: Moment) -> tuple[Event, ...]:
        seat = act.seat
        if seat != state.turn and not state.table.tally:
            raise _folded_or_out_of_turn(state, seat, cites)
        if state.question.pending:
            raise AgainstTheRules("answers_pending", cites.answers, turn=state.question.pending[0])
        bit, led = BIT[act.card], state.led
        hand = state.cards.hands[seat] & ~state.gone
        if not bit & hand:
            if state.cards.known:
                raise NoSuchCard("not_held", None, card=act.card)
            if state.table.tally:
                raise WrongPhase("tallied", None)
            raise NoSuchCard("card_seen", cites.pack, card=act.card)
        breaches: Breaches = ()
        if not led:
            breaches = before_the_lead(state, seat, moment)
        elif not bit & led and hand & led and state.cards.known:
            breaches = revoked(state, seat, hand & led)
        if state.voids:
            breaches += tuple(
                [revoke_shown(state, seat, claim) for claim in disproved_claims(state.voids, seat, bit)]
            )
        return (CardPlayed(seat=seat, card=act.card, breaches=breaches),)

    return played


def _folded_or_out_of_turn(state: InPlay[Any], seat: int, cites: CitedRules) -> OutOfTurn | NotInPlay:
    if seat not in state.order:
        return NotInPlay("has_folded", cites.folded)
    if state.trick:
        return OutOfTurn("out_of_turn", cites.turn, turn=state.turn)
    first = cites.first_lead if state.contract is not None else cites.lead_in_duel
    return OutOfTurn("not_on_lead", cites.lead if state.won else first, turn=state.turn)


def follow_suit_refusal(allowed: Cards, cites: CitedRules) -> AgainstTheRules:
    return AgainstTheRules("must_follow_suit", cites.follow_suit, allowed=texts_of(allowed))


def revoke_breaches(state: InPlay[Any], seat: int, owed: Cards, rules: RitualRules) -> Breaches:
    """Return the breach of a revoke (B42, B-O26, C26, C60). Raises AgainstTheRules if revokes cost nothing."""
    if not rules.price(state.table, "revoke"):
        raise follow_suit_refusal(owed, rules.cites)
    return (rules.breach(state.table, "revoke", seat, len(state.won) + 2, state.lead),)


def shown_revoke(state: InPlay[Any], seat: int, claim: Denial, rules: RitualRules) -> Breach:
    """Return the breach of a disproved claim. It may cost 0 (B-O26, C26)."""
    return rules.breach(state.table, "revoke", seat, len(state.won) + 2, claim.lead, claim.event)


def card_played_evolution(after_lead: Callable[[P, int], P]) -> Callable[[P, CardPlayed, int], P]:
    """Return the evolution after a card. For a lead it first applies ``after_lead``."""

    def evolved(state: P, event: CardPlayed, number: int) -> P:
        seat, bit = event.seat, BIT[event.card]
        trick = (*state.trick, (seat, event.card))
        gone, turn = state.gone | bit, state.after[seat]
        if not state.cards.known:
            voids = claims_after(state.voids, seat, bit, state.led, len(state.won) + 1, state.lead, number)
            state = replace(state, voids=voids)
        if event.breaches:
            state = offences.noted(state, event.breaches, number)
        if not state.led:
            state, led = after_lead(state, number), SUIT_OF[bit]
            return replace(state, gone=gone, turn=turn, trick=trick, led=led, best=bit, winner=seat, lead=number)
        if bit & state.led and bit > state.best:
            return replace(state, gone=gone, turn=turn, trick=trick, best=bit, winner=seat)
        return replace(state, gone=gone, turn=turn, trick=trick)

    return evolved


def complete_trick(state: InPlay[Any], moment: Moment, *, question: bool) -> tuple[Event, ...]:
    """Return the event of a complete trick, if any. With a ``question``, trick four sets ``grace_until`` by
    ``question_grace_seconds`` (B-O29, C-O23)."""
    if len(state.trick) < len(state.order):
        return ()
    done, until = len(state.won) + 1, None
    if question and done == ASKED_AFTER and (grace := state.table.options.question_grace_seconds):
        until = moment.at + timedelta(seconds=grace)
    return (TrickTaken(seat=state.winner, trick=done, grace_until=until),)


def end_rodskagg(state: InPlay[Any], contract: Contract) -> tuple[Event, ...]:
    """Return the event that ends rödskägg after six tricks or, by an option, a lost one (A-O2, B62-B64)."""
    done = len(state.won)
    if done < TRICKS and not state.table.options.rodskagg_stop_at_first_loss:
        return ()
    lost = state.tricks[contract.declarer] < done
    if done < TRICKS and not lost:
        return ()
    return (PlayEnded(kind="rodskagg_failed" if lost else "rodskagg_made"),)


def trick_taken(state: P, event: TrickTaken, number: int, next_leader: int, after_lead: Callable[[P, int], P]) -> P:
    """Return the state after a trick. In a tally it applies ``after_lead`` and breaches, too."""
    if state.table.tally:
        state = after_lead(offences.noted(state, event.breaches, number), number)
    if event.grace_until is not None:
        state = replace(state, question=replace(state.question, grace_until=event.grace_until))
    seat, tricks = event.seat, list(state.tricks)
    tricks[seat] += 1
    return replace(
        state,
        tricks=tuple(tricks),
        won=(*state.won, (seat, number)),
        credited=state.credited + event.uncontested,
        trick=(),
        led=0,
        best=0,
        turn=next_leader,
    )
