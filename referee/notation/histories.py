"""Converts the recorded events of a finished deal to the notation."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from referee.actors import actor_at
from referee.acts import AgreeStakes, Cut, Draw, Entropy, RequestCards
from referee.acts import Deal as DealAct
from referee.admission import Invite, IssueToken, RedeemInvitation
from referee.events import (
    CardDrawn,
    DealScored,
    Dealt,
    FirstDealerDrawn,
    KnockDismissed,
    KnockUpheld,
    MatchOpened,
    MatchWon,
    PenaltyImposed,
)
from referee.games import RULESETS, request_of
from referee.notation.deals import Correction, Deal, Done, Header, Result, ResultWas, Ruling
from referee.officials.events.cases import CaseOpened, CaseStated
from referee.officials.events.corrections import CorrectedBy, Corrections, Ended, ProtocolCorrected, line_history
from referee.officials.events.takeback import without_taken_back
from referee.requests import Proceeding
from referee.visibility import Event, Recorded

OMITTED_REQUESTS = Entropy | AgreeStakes | IssueToken | Invite | RedeemInvitation


class Step(NamedTuple):
    done: Done
    events: tuple[Recorded, ...]


def steps_of(events: Sequence[Recorded]) -> tuple[Step, ...]:
    """Return the acts and automatic draws of a finished deal. ``events``: all since the previous deal was scored."""
    return _steps(events)[0]


def deal_of_history(
    opened: MatchOpened, state: Any, history: Sequence[Recorded], corrections: Corrections = ()
) -> Deal:
    """Return a finished deal from its recorded events. Cards that the house dealt are written as if dealt at a table.

    ``history``: from the previous deal's score or the opening at least to this deal's score and any win by it.
    ``state``: the game's state after the first of them. ``corrections``: all of the match.
    """
    before = history[0].event
    last = next(place for place, one in enumerate(history) if place and isinstance(one.event, DealScored))
    score = history[last].event
    assert isinstance(score, DealScored)
    steps, without_act = _steps(history[1 : last + 1])
    corrected = next((event for event in reversed(without_act) if isinstance(event, ProtocolCorrected)), None)
    won = next((one.event for one in history[last + 1 :] if isinstance(one.event, MatchWon | DealScored)), None)
    header = _header_of(opened, before if isinstance(before, DealScored) else None, score, without_act, state)
    header = header if corrected is None else _corrected_header(header, opened, state, corrected)
    number, wins = history[last].originator_version, won if isinstance(won, MatchWon) else None
    line = line_history(score, number, wins, corrections)
    former = [(_result_of(one.line, one.won, header), _correction(one.by)) for one in line.was]
    return Deal(
        header=header,
        acts=_with_dealt_cards(steps) if opened.dealing == "house" else tuple(step.done for step in steps),
        result=_result_of(line.line, line.won, header),
        was=tuple(ResultWas(result=result, by=by) for result, by in former),
        struck=None if line.struck is None else _correction(line.struck),
    )


def _header_of(
    opened: MatchOpened,
    before: DealScored | None,
    score: DealScored,
    without_act: tuple[Event, ...],
    state: Any,
) -> Header:
    """Return the header without default options. ``before``: the previous deal's score, if any."""
    defaults = msgspec.to_builtins(msgspec.convert({}, RULESETS[opened.ruleset].options))
    duel = next((getattr(event, "seats", ()) for event in without_act if hasattr(event, "seats")), ())
    return Header(
        ruleset=opened.ruleset,
        number=score.deal,
        options={name: value for name, value in opened.options.items() if defaults.get(name) != value},
        enforcement=opened.enforcement,
        dealing="tally" if opened.dealing == "tally" else "table",
        stakes=opened.stakes,
        players=opened.players,
        dealer=score.dealer,
        points=_points_at_opening(opened, score) if before is None else before.points,
        halves=score.halves,
        pot=score.pot_before,
        out=before.eliminated if before is not None else (),
        among=duel,
        carried=RULESETS[opened.ruleset].carried(state),
    )


def _corrected_header(header: Header, opened: MatchOpened, state: Any, by: ProtocolCorrected) -> Header:
    """Return the header with the values of a correction of earlier deals."""
    rules = RULESETS[opened.ruleset]
    assert rules.resumed is not None, "its deals can be corrected"
    return msgspec.structs.replace(
        header, points=by.points, out=by.eliminated, among=by.duel, carried=rules.carried(rules.resumed(state, by))
    )


def _points_at_opening(opened: MatchOpened, score: DealScored) -> tuple[int, ...]:
    """Return the opening points, doubled if the line counts half points.

    ``score.before`` may include penalties of a voided deal.
    """
    return tuple(2 * points for points in opened.points) if score.halves else opened.points


def _result_of(score: DealScored, won: MatchWon | Ended | None, header: Header) -> Result:
    winners: tuple[int, ...] = ()
    if won is not None:
        winners = won.seats or (() if won.seat is None else (won.seat,))
    return Result(
        kind=score.kind,
        declarer=score.declarer,
        contract=score.contract,
        tricks=score.tricks,
        points=score.points,
        halves=score.halves,
        pot=score.pot,
        out=score.eliminated,
        won=winners,
        by="" if won is None else won.by,
        settlement=None if won is None else won.settlement,
        before=None if score.before == header.points else score.before,
        pot_before=None if score.pot_before == header.pot else score.pot_before,
    )


def _correction(by: CorrectedBy) -> Correction:
    return Correction(event=by.event, rule=by.rule, case=by.case, reason=by.reason)


def _steps(events: Sequence[Recorded]) -> tuple[tuple[Step, ...], tuple[Event, ...]]:
    """Return the acts and automatic draws with their events, and events of officials' requests or of no request.

    Omits :data:`OMITTED_REQUESTS`, draws for the first dealer, and draws and cuts that a correction made void.
    """
    steps: list[Step] = []
    without_act: list[Event] = []
    for stored, group in _requests_with_events(events):
        request = None if stored is None else request_of(stored)
        if request is None or isinstance(request, Proceeding):
            without_act += (one.event for one in group)
            if any(isinstance(one.event, ProtocolCorrected) and one.event.fresh for one in group):
                steps = [step for step in steps if not isinstance(step.done.act, Draw | Cut)]
            steps += (Step(_draw_act(one.event), (one,)) for one in group if isinstance(one.event, CardDrawn))
        elif not isinstance(request, OMITTED_REQUESTS):
            steps.append(Step(Done(actor=group[0].actor, act=request, ruling=_ruling_of(group)), group))
        if any(isinstance(one.event, FirstDealerDrawn) for one in group):
            # The header has the dealer.
            steps = [step for step in steps if not isinstance(step.done.act, Draw)]
    return tuple(steps), tuple(without_act)


def _requests_with_events(events: Sequence[Recorded]) -> Iterator[tuple[bytes | None, tuple[Recorded, ...]]]:
    """Yield each stored request with its events, except acts taken back. ``None``: events before any request."""
    events, first = without_taken_back(events), 0
    for place in range(1, len(events) + 1):
        if place == len(events) or events[place].request is not None:
            yield events[first].request, tuple(events[first:place])
            first = place


def _draw_act(event: CardDrawn) -> Done:
    return Done(actor=actor_at(event.seat), act=Draw(seat=event.seat, card=event.card))


def _ruling_of(events: tuple[Recorded, ...]) -> Ruling | None:
    """Return the ruling in the events of a request; ``None`` if the request was no knock."""
    ruling = events[0].event
    fine = next((one.event for one in events if isinstance(one.event, PenaltyImposed)), None)
    payer, points = (None, 0) if fine is None else (fine.seat, fine.points)
    if isinstance(ruling, CaseOpened) or (isinstance(ruling, CaseStated) and ruling.knocked):
        return Ruling(verdict="pending", rule="J1")
    if isinstance(ruling, KnockUpheld):
        return Ruling(verdict="upheld", rule=ruling.rule, payer=ruling.payer, points=ruling.penalty)
    if isinstance(ruling, KnockDismissed):
        return Ruling(verdict="dismissed", rule=fine.rule if fine else ruling.rule, payer=payer, points=points)
    return None


def _with_dealt_cards(steps: tuple[Step, ...]) -> tuple[Done, ...]:
    """Return the acts as a table would enter them."""
    written: list[Done] = []
    for place, (done, events) in enumerate(steps):
        act = done.act
        dealt = next((one.event for one in events if isinstance(one.event, Dealt)), None)
        if isinstance(act, DealAct) and dealt is not None:
            act = DealAct(
                seat=act.seat,
                hands=dealt.hands,
                stock=dealt.stock or None,
                widow=dealt.widow or None,
                turn_up=dealt.turn_up,
            )
        elif isinstance(act, RequestCards):
            act = _with_received_cards(act, steps[place:])
        written.append(msgspec.structs.replace(done, act=act))
    return tuple(written)


def _with_received_cards(act: RequestCards, steps: tuple[Step, ...]) -> RequestCards:
    """Return the request. It has the cards received if the stock was shuffled again."""
    for event in (one.event for step in steps for one in step.events):
        hands = getattr(event, "hands", None)
        if hands is None or act.seat not in getattr(event, "seats", ()):
            continue
        if getattr(event, "seed", None) is not None:
            return RequestCards(seat=act.seat, cards=hands[act.seat])
        break
    return act
