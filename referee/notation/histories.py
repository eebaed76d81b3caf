"""From what was recorded back to what was done: a search for the act that makes the recorded events.

So it needs to know no game's facts, and what it finds is sure to make them again.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import msgspec

from referee.acts import Deal as DealAct
from referee.acts import Draw, Knock, Request, RequestCards
from referee.events import (
    CardDrawn,
    DealScored,
    Dealt,
    Event,
    FirstDealerDrawn,
    KnockDismissed,
    KnockUpheld,
    MatchOpened,
    MatchWon,
    PenaltyImposed,
    Recorded,
)
from referee.games import RULESETS
from referee.notation.deals import Deal, Done, Header, Result, Ruling
from referee.refusals import Refused
from referee.ruleset import Moment, Ruleset


class Step(NamedTuple):
    """Something that was done, and the events that it made."""

    done: Done
    events: tuple[Recorded, ...]


def steps_of(opened: MatchOpened, history: Sequence[Recorded], deal: int) -> tuple[Step, ...]:
    """What was done in a finished deal.

    ``history`` is the match from its first event. :class:`LookupError` if there is no such deal.
    """
    first, last = place_of(history, deal)
    rules = RULESETS[opened.ruleset]
    return _steps(rules, _state_before(rules, opened, history[:first]), history[first : last + 1])[0]


def _state_before(rules: Ruleset, opened: MatchOpened, before: Sequence[Recorded]) -> Any:
    """How the match stands after these events, its first ones."""
    state = rules.start(opened)
    for one in before:
        if not isinstance(one.event, MatchOpened):
            state = rules.evolve(state, one.event, one.originator_version)
    return state


def place_of(history: Sequence[Recorded], deal: int) -> tuple[int, int]:
    """Where a finished deal begins and ends in the history of its match; :class:`LookupError` if it is not there."""
    ends = [place for place, one in enumerate(history) if isinstance(one.event, DealScored)]
    if not 1 <= deal <= len(ends):
        raise LookupError(f"deal {deal} is not finished")
    return (ends[deal - 2] + 1 if deal > 1 else 0), ends[deal - 1]


def of_history(opened: MatchOpened, history: Sequence[Recorded], deal: int) -> Deal:
    """A finished deal as it was recorded; ``history`` is the match from its first event.

    What the house dealt is told as if it had been dealt at a table. :class:`LookupError` if there is no such deal.
    """
    first, last = place_of(history, deal)
    rules = RULESETS[opened.ruleset]
    state = _state_before(rules, opened, history[:first])
    steps, told = _steps(rules, state, history[first : last + 1])
    score = history[last].event
    before, carried = history[first - 1].event if deal > 1 else None, rules.carried(state)
    assert isinstance(score, DealScored)
    won = next((one.event for one in history[last + 1 :] if isinstance(one.event, MatchWon | DealScored)), None)
    return Deal(
        header=_header_of(opened, before if isinstance(before, DealScored) else None, score, told, carried),
        acts=_at_a_table(steps) if opened.dealing == "house" else tuple(step.done for step in steps),
        result=_result_of(score, won if isinstance(won, MatchWon) else None),
    )


def _header_of(
    opened: MatchOpened,
    before: DealScored | None,
    score: DealScored,
    told: tuple[Event, ...],
    carried: dict[str, Any],
) -> Header:
    usual = msgspec.to_builtins(msgspec.convert({}, RULESETS[opened.ruleset].options))
    duel = next((getattr(event, "seats", ()) for event in told if hasattr(event, "seats")), ())
    return Header(
        ruleset=opened.ruleset,
        number=score.deal,
        options={name: value for name, value in opened.options.items() if usual.get(name) != value},
        enforcement=opened.enforcement,
        stakes=opened.stakes,
        players=opened.players,
        dealer=score.dealer,
        points=score.before if before is None else before.points,
        halves=score.halves,
        pot=score.pot_before,
        out=before.eliminated if before is not None else (),
        among=duel,
        carried=carried,
    )


def _result_of(score: DealScored, won: MatchWon | None) -> Result:
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
    )


def _steps(rules: Ruleset, state: Any, events: Sequence[Recorded]) -> tuple[tuple[Step, ...], tuple[Event, ...]]:
    steps: list[Step] = []
    told: list[Event] = []
    place = 0
    while place < len(events):
        one = events[place]
        if isinstance(one.event, MatchOpened):
            place += 1
            continue
        found = _act_of(rules, state, events[place:])
        if found is None:
            told.append(one.event)
            if isinstance(one.event, CardDrawn):
                steps.append(Step(_drawn(one.event), (one,)))
            made = 1
        else:
            request, made = found
            group = tuple(events[place : place + made])
            steps.append(Step(Done(actor=one.actor, act=request, ruling=_ruling_of(group)), group))
        group = tuple(events[place : place + made])
        if any(isinstance(recorded.event, FirstDealerDrawn) for recorded in group):
            steps.clear()  # the header tells who deals
        for recorded in group:
            state = rules.evolve(state, recorded.event, recorded.originator_version)
        place += made
    return tuple(steps), tuple(told)


def _drawn(event: CardDrawn) -> Done:
    """What the house drew, drawn by the seat itself."""
    return Done(actor=event.seat, act=Draw(seat=event.seat, card=event.card))


def _ruling_of(events: tuple[Recorded, ...]) -> Ruling | None:
    ruling = events[0].event
    fine = next((one.event for one in events if isinstance(one.event, PenaltyImposed)), None)
    payer, points = (None, 0) if fine is None else (fine.seat, fine.points)
    if isinstance(ruling, KnockUpheld):
        return Ruling(verdict="upheld", rule=ruling.rule, payer=ruling.payer, points=ruling.penalty)
    if isinstance(ruling, KnockDismissed):
        return Ruling(verdict="dismissed", rule=fine.rule if fine else ruling.rule, payer=payer, points=points)
    return None


def _act_of(rules: Ruleset, state: Any, events: Sequence[Recorded]) -> tuple[Request, int] | None:
    """The act that makes these events now, and how many of them; ``None`` if they came by themselves."""
    first = events[0]
    seed = next((one.event.seed for one in events[:8] if getattr(one.event, "seed", None)), "")  # type: ignore[attr-defined]
    moment = Moment(first.originator_version - 1, first.at, seed)
    for request in chain(_deals(events), _candidates(rules, state, first)):
        try:
            made = rules.decide(state, request, moment)
        except Refused:
            continue
        if made and all(event == one.event for event, one in zip(made, events, strict=False)):
            return request, min(len(made), len(events))
    return None


def _candidates(rules: Ruleset, state: Any, first: Recorded) -> Iterator[Request]:
    """Acts that may have made an event: what was legal, then whatever its fields can be the fields of."""
    event, actor = first.event, first.actor
    if isinstance(event, KnockUpheld | KnockDismissed):
        named: Any = event.named
        yield Knock(seat=event.seat, accused=event.accused, offence=named, note=event.note)
        return
    seats = {seat for seat in (actor, getattr(event, "seat", None)) if isinstance(seat, int)}
    for viewer in (*seats, "official"):
        yield from rules.legal(state, viewer)  # type: ignore[arg-type, misc]
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    for seat in sorted(seats):
        fields["seat"] = seat
        for kind in rules.acts:
            yield from _built(kind, fields)


def _deals(events: Sequence[Recorded]) -> Iterator[DealAct]:
    """Deals that lay out the cards that these events tell of, in one of the first of them."""
    for one in events[:3]:
        cards: dict[str, Any] = {name: getattr(one.event, name, None) or None for name in DealAct.__struct_fields__}
        if cards["hands"] is not None or cards["counts"] is not None:
            cards["seat"] = getattr(one.event, "dealer", one.actor)
            if cards["hands"] is not None:
                cards["counts"] = None
            if isinstance(cards["seat"], int):
                yield DealAct(**cards)


def _built(kind: Any, fields: dict[str, Any]) -> Iterator[Any]:
    """Acts of a kind with the values of these fields: by name, else any that fits."""
    required, optional = [], []
    for field in msgspec.structs.fields(kind):
        if field.name == "seat":
            continue
        names = sorted(fields, key=lambda name: name != field.name)
        choices = [one for name in names for one in (fields[name], (fields[name],)) if _fits(one, field.type)]
        if field.required:
            required.append([(field.name, one) for one in choices])
        else:
            optional.append([(field.name, one) for one in choices])
    by_name = [choice[0] for choice in optional if choice and choice[0][0] in fields]
    spare = [[], by_name, *([one] for choice in optional for one in choice)]
    seat = {"seat": fields["seat"]} if "seat" in kind.__struct_fields__ else {}
    for given in product(*required):
        for more in spare:
            yield kind(**seat, **dict(given), **dict(more))


def _fits(value: Any, kind: Any) -> bool:
    if value is None:
        return False
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _at_a_table(steps: tuple[Step, ...]) -> tuple[Done, ...]:
    """What the house dealt, told as a table would tell it: with the cards."""
    told: list[Done] = []
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
            act = _received(act, steps[place:])
        told.append(msgspec.structs.replace(done, act=act))
    return tuple(told)


def _received(act: RequestCards, steps: tuple[Step, ...]) -> RequestCards:
    """With the cards that came, where they were not the next of the stock: that had run out and was shuffled anew."""
    for event in (one.event for step in steps for one in step.events):
        if getattr(event, "hands", None) is None or act.seat not in getattr(event, "seats", ()):
            continue
        if getattr(event, "seed", None) is not None:
            return RequestCards(seat=act.seat, cards=event.hands[act.seat])  # type: ignore[attr-defined]
        break
    return act
