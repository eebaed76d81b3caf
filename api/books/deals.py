"""The operation that returns a finished deal, as a record or as text."""

from functools import partial
from itertools import takewhile
from typing import Any, NotRequired, TypedDict

import msgspec
from litestar import get
from msgspec.structs import asdict

from api.access.caller import Caller
from api.books.deal_bounds import DealBounds, bounds_of_deal
from api.cases.case import Case, appealable_tag, case_of
from api.http.describe import LANGUAGE, Text, described, header_parameter
from api.http.headers import matching_etag, prefers, tag_in_language, tag_of
from api.http.long_answers import long_reply
from api.http.params import DealNumber, MatchId, MinVersion
from api.http.replies import JSON, PLAIN, PRIVATE, Reply, encode, not_modified
from api.http.threads import in_long_thread
from api.matches.schemas import EventSeen, event_seen
from api.runtime.aggregate_reader import match_of
from api.runtime.call import ApiCall
from api.runtime.service import Service
from projections.cases import Case as CaseKept
from referee import notation, wire_types
from referee.acts import Answer, Bid, Result
from referee.events import (
    Breach,
    CardPlayed,
    DealScored,
    Dealt,
    DealVoided,
    MatchWon,
    PenaltyImposed,
    Reported,
    TrickTaken,
)
from referee.notation.histories import steps_of
from referee.officials.events.corrections import CorrectedBy, LineHistory, corrections_of_line, line_history
from referee.officials.events.takeback import without_taken_back
from referee.officials.events.tally import ResultEntered
from referee.sentences import Language
from referee.store.clock import utc_now
from referee.store.match import Match
from referee.store.store import Referee
from referee.value import BidValue, CardText, EventNumber, OffenceText, RuleId, Seat, Value
from referee.visibility import Recorded, with_act_numbers


class TrickCard(Value):
    """A card played."""

    seat: Seat
    card: CardText
    event: EventNumber


class Trick(Value):
    """A trick."""

    trick: wire_types.TrickNumber
    lead: Seat | None
    cards: wire_types.BySeat[TrickCard]
    winner: Seat
    event: EventNumber
    uncontested: bool


class BidRecorded(Value):
    """A bid or a pass."""

    seat: Seat
    bid: BidValue
    event: EventNumber


class Said(Value):
    """An answer to the question whether a seat plays on."""

    seat: Seat
    answer: wire_types.Code
    event: EventNumber


class Penalty(Value):
    """A penalty in the deal."""

    seat: Seat
    points: wire_types.WholePoints
    rule: RuleId
    case: wire_types.CaseNumber | None
    event: EventNumber


class ReportMade(TypedDict):
    """A fault that the cards cannot show."""

    seat: Seat
    accused: Seat
    fault: OffenceText
    event: EventNumber
    breaches: NotRequired[wire_types.Many[Breach]]
    """Breaches that follow, only for officials."""


class ScoreWas(CorrectedBy):
    """An earlier version of a line, with the correction that replaced it."""

    score: DealScored
    """Line before the correction."""


class DealRecord(Value):
    """A finished deal, in one form for all games.

    If a deal was voided and dealt again, its cards, bids, answers and tricks are of the scored attempt, other lists
    of all attempts. If only the result was entered, ``first`` is the event with it. ``knocks`` include cases whose
    ruling changed the line.
    """

    deal: wire_types.DealNumber
    dealer: Seat
    first: EventNumber
    last: EventNumber
    hands: wire_types.Hands | None
    counts: wire_types.Counts
    stock: wire_types.Cards
    widow: wire_types.Cards
    turn_up: CardText | None
    seed: wire_types.Seed | None
    bids: wire_types.Many[BidRecorded]
    answers: wire_types.Many[Said]
    declarer: Seat | None
    contract: BidValue | None
    tricks: wire_types.Many[Trick]
    facts: wire_types.Many[EventSeen]
    reports: wire_types.Many[ReportMade]
    knocks: wire_types.Many[Case]
    penalties: wire_types.Many[Penalty]
    voided: wire_types.Events
    score: DealScored
    was: wire_types.Many[ScoreWas]
    """Earlier versions of the line, in order."""
    struck: CorrectedBy | None
    """Correction that struck the line; null: the line counts."""


class _DealParts:
    """Collects the parts of a record."""

    def __init__(self) -> None:
        self.voided: list[int] = []
        self.penalties: list[Penalty] = []
        self.reports: list[dict[str, Any]] = []
        self.clear()

    def clear(self) -> None:
        """Drop what a new dealing replaces: cards, bids, answers, tricks."""
        self.dealt: Dealt | None = None
        self.first = 0
        self.bids: list[BidRecorded] = []
        self.answers: list[Said] = []
        self.cards: list[TrickCard] = []
        self.tricks: list[Trick] = []

    def add_act(self, act: Any, number: int) -> None:
        """Add what the bids and answers of an act say. ``number``: its first event."""
        if isinstance(act, Bid):
            self.bids.append(BidRecorded(seat=act.seat, bid=act.bid, event=number))
        elif isinstance(act, Answer):
            self.answers.append(Said(seat=act.seat, answer=act.answer, event=number))
        elif isinstance(act, Result):
            self.bids += (BidRecorded(seat=one.seat, bid=one.bid, event=number) for one in act.bids or ())
            self.answers += (Said(seat=one.seat, answer=one.answer, event=number) for one in act.answers or ())

    def add_event(self, recorded: Recorded) -> None:
        number, event = recorded.originator_version, recorded.event
        match event:
            case Dealt():
                self.clear()
                self.dealt, self.first = event, number
            case ResultEntered():
                self.first = number
            case DealVoided():
                self.voided.append(number)
                self.clear()
            case CardPlayed():
                self.cards.append(TrickCard(seat=event.seat, card=event.card, event=number))
            case TrickTaken():
                self._add_trick(event, number)
            case Reported():
                self.reports.append({**msgspec.to_builtins(event), "event": number})
            case PenaltyImposed():
                self.penalties.append(
                    Penalty(seat=event.seat, points=event.points, rule=event.rule, case=event.case, event=number)
                )

    def _add_trick(self, event: TrickTaken, number: int) -> None:
        cards, self.cards = tuple(self.cards), []
        self.tricks.append(
            Trick(
                trick=event.trick,
                lead=cards[0].seat if cards else None,
                cards=cards,
                winner=event.seat,
                event=number,
                uncontested=event.uncontested,
            )
        )


def record_of(
    match: Match,
    events: list[Recorded],
    first_of_act: int,
    cases: tuple[CaseKept, ...],
    caller: Caller,
    language: Language,
    line: LineHistory | None = None,
) -> dict[str, Any]:
    """Return the fields of :class:`DealRecord`. ``events``: from after the previous deal's score to this deal's
    score. ``first_of_act``: the first event's number of the act that made ``events[0]``."""
    parts = _DealParts()
    acts = {step.events[-1].originator_version: step for step in steps_of(events)}
    kept = without_taken_back(events)
    for recorded in kept:
        parts.add_event(match.event_seen_by(recorded, caller.deal_viewer(public=True)))
        if step := acts.get(recorded.originator_version):  # after its events, because a result also has a dealing
            parts.add_act(step.done.act, step.events[0].originator_version)
    score, dealt = events[-1].event, parts.dealt
    assert isinstance(score, DealScored), "a finished deal ends with its score"
    line = line or LineHistory(score, None, (), None)
    of_game = [one for one in kept if isinstance(one.event, match.rules.events)]
    act_numbers = {one.originator_version: number for one, number in with_act_numbers(events, first_of_act)}
    return {
        "deal": score.deal,
        "dealer": score.dealer,
        "first": parts.first,
        "last": events[-1].originator_version,
        "hands": dealt.hands if dealt else None,
        "counts": dealt.counts if dealt else (),
        "stock": dealt.stock if dealt else (),
        "widow": dealt.widow if dealt else (),
        "turn_up": dealt.turn_up if dealt else None,
        "seed": dealt.seed if dealt else None,
        "bids": parts.bids,
        "answers": parts.answers,
        "declarer": score.declarer,
        "contract": score.contract,
        "tricks": parts.tricks,
        "facts": [
            event_seen(one, caller, public=True, act_number=act_numbers[one.originator_version]) for one in of_game
        ],
        "reports": parts.reports,
        "knocks": [case_of(match, one.entries, match.version, language, utc_now()) for one in cases],
        "penalties": parts.penalties,
        "voided": parts.voided,
        "score": line.line,
        "was": [ScoreWas(score=one.line, **asdict(one.by)) for one in line.was],
        "struck": line.struck,
    }


def read_record(
    service: Service,
    match: Match,
    bounds: DealBounds,
    cases: tuple[CaseKept, ...],
    caller: Caller,
    language: Language,
) -> bytes:
    """Return the record of a deal as JSON."""
    events, score = service.referee.history(match.id, after=bounds.before, to=bounds.score), bounds.score
    line = None
    if bounds.corrections:
        written, won = events[-1].event, _won_by(service, match, bounds)
        assert isinstance(written, DealScored), "a finished deal ends with its score"
        line = line_history(written, score, won[1] if won else None, bounds.corrections)
    return encode(record_of(match, events, service.referee.first_of_act(events[0]), cases, caller, language, line))


def read_text(service: Service, match: Match, bounds: DealBounds) -> bytes:
    """Return the deal in its notation."""
    first, end = max(1, bounds.before), match.version if bounds.last else bounds.score
    if bounds.corrections and not bounds.last and (won := _won_by(service, match, bounds)) is not None:
        end = won[0]
    state = match_of(service.desk.run_on_history(first, Referee.replay, match.id, first)).play
    history = service.referee.history(match.id, after=first - 1, to=end)
    return notation.write(notation.deal_of_history(match.opened, state, history, bounds.corrections)).encode()


def _won_by(service: Service, match: Match, bounds: DealBounds) -> tuple[int, MatchWon] | None:
    """Return the number and event of the match's end if the deal's uncorrected score won it, otherwise ``None``."""
    events = service.referee.history(match.id, after=bounds.score, limit=wire_types.SEATS_MAX + 1)
    for recorded in takewhile(lambda one: one.request is None, events):
        if isinstance(recorded.event, MatchWon):
            return recorded.originator_version, recorded.event
    return None


@get(
    "/matches/{match:uuid}/deals/{deal:int}",
    operation_id="get_deal",
    summary="Get the record of a finished deal",
    description="Returns the cards, bids, answers, tricks, knocks and penalties of a deal, the events that only its "
    "game has, and its line in the protocol: the form that counts, and after corrections the earlier forms with the "
    "rulings that changed them. Every caller sees all cards, because the deal is over. 404 `no-such-deal`, or 409 "
    "`deal-not-finished` while it is under way.\n\n"
    "With `Accept: text/plain` the answer is a text for people that programs can read back: see its "
    "[notation](/docs/notation.md).",
    tags=["Books"],
    operation_class=described(
        gives=DealRecord,
        others={PLAIN: Text("The deal in its notation.", begins="game ")},
        takes=(header_parameter("Accept", "`application/json` or `text/plain`.", example=PLAIN), LANGUAGE),
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_deal(request: ApiCall, match_id: MatchId, deal: DealNumber, min_version: MinVersion = 0) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    plain, language = prefers(request.accepted, PLAIN), request.language
    tag = (
        tag_of(match.version, "text")
        if plain
        else tag_in_language(match.version, language, *appealable_tag(match, utc_now()))
    )
    headers = PRIVATE | {"Vary": "Authorization, Accept, Accept-Language"}
    bounds = await bounds_of_deal(service, match, deal)
    if has := matching_etag(request, tag, caller.texts):
        return not_modified(has, headers)
    if plain:
        body = await in_long_thread(read_text, service, match, bounds)
    else:
        cases = service.projections.cases
        changes = corrections_of_line(deal, bounds.score, bounds.corrections)
        others = {by.case for _, by in changes if by.case is not None}
        question = partial(
            cases.about, viewer=caller.viewer, deal=deal, after=bounds.before, to=bounds.score, others=others
        )
        found = await service.projections.ask_of(cases, match.id, match.version, question)
        body = await in_long_thread(read_record, service, match, bounds, found, caller, language)
    return await long_reply(request, body, tag, caller.texts, headers=headers, media_type=PLAIN if plain else JSON)
