"""The record of a finished deal, put together from its events."""

from typing import Any

import msgspec
from litestar import get

from api.describe import ANYBODY, described
from api.headers import Req, header, language_of
from api.knocks import case_of, ruling_seen
from api.params import DealNumber, MatchId, MinVersion
from api.problems import Problem
from api.replies import Reply, of_match
from api.service import Service, in_thread, service_of
from api.wire import Case
from referee.events import (
    CardPlayed,
    DealScored,
    Dealt,
    DealVoided,
    KnockDismissed,
    KnockUpheld,
    PenaltyImposed,
    Recorded,
    Reported,
    TrickTaken,
    Viewer,
)
from referee.games._rodskagg import (
    AuctionWon,
    BidMade,
    KnockedOut,
    MisdealFound,
    NewHands,
    QuestionAnswered,
    QuestionAsked,
)
from referee.match import Match
from referee.sentences import Language


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A card played, and the event that says so."""

    seat: int
    card: str
    event: int


class Trick(msgspec.Struct, frozen=True, kw_only=True):
    """A trick: who led, the cards in the order of play, who won. ``uncontested``: nobody was left to play."""

    trick: int
    lead: int | None
    cards: tuple[Card, ...]
    winner: int
    event: int
    uncontested: bool


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A bid or a pass."""

    seat: int
    bid: int | str
    event: int


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to the question."""

    seat: int
    answer: str
    event: int


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The question after trick four, who had to answer, and the answers."""

    seat: int
    of: tuple[int, ...]
    event: int
    answers: tuple[Said, ...]


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """A knock for one's exit; valid when the seat stood at zero."""

    seat: int
    valid: bool
    event: int


class Penalty(msgspec.Struct, frozen=True, kw_only=True):
    """Points knocked up in the deal."""

    seat: int
    points: int
    rule: str
    case: int | None
    event: int


class DealRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A finished deal from the cards to its line in the protocol.

    ``hands`` as dealt (by seat; ``null`` with closed hands) in the attempt that was played: ``voided`` and
    ``misdeals`` name the events that ended earlier ones. ``first`` and ``last`` are its event numbers.
    """

    deal: int
    dealer: int
    first: int
    last: int
    hands: tuple[tuple[str, ...], ...] | None
    counts: tuple[int, ...]
    new_hands: tuple[tuple[tuple[str, ...], ...] | None, ...]
    seed: str | None
    bids: tuple[Call, ...]
    declarer: int | None
    contract: int | str | None
    question: Asked | None
    tricks: tuple[Trick, ...]
    exits: tuple[Exit, ...]
    reports: tuple[dict[str, Any], ...]
    knocks: tuple[Case, ...]
    penalties: tuple[Penalty, ...]
    misdeals: tuple[int, ...]
    voided: tuple[int, ...]
    score: DealScored


def events_of(history: list[Recorded], deal: int) -> list[Recorded]:
    """The events of a finished deal, with those of it that were voided; empty if it is not finished."""
    ends = [place for place, one in enumerate(history) if isinstance(one.event, DealScored)]
    if deal > len(ends):
        return []
    first = ends[deal - 2] + 1 if deal > 1 else 0
    return history[first : ends[deal - 1] + 1]


class _Sheet:
    """What is written down while the events of a deal are read."""

    def __init__(self) -> None:
        self.misdeals: list[int] = []
        self.voided: list[int] = []
        self.penalties: list[Penalty] = []
        self.rulings: list[Recorded] = []
        self.reports: list[dict[str, Any]] = []
        self.again()

    def again(self) -> None:
        """The cards are dealt: what was on the table before is gone."""
        self.dealt: Dealt | None = None
        self.first = 0
        self.new_hands: list[tuple[tuple[str, ...], ...] | None] = []
        self.bids: list[Call] = []
        self.won: AuctionWon | None = None
        self.asked: tuple[int, QuestionAsked] | None = None
        self.answers: list[Said] = []
        self.cards: list[Card] = []
        self.tricks: list[Trick] = []
        self.exits: list[Exit] = []

    def read(self, recorded: Recorded) -> None:
        """Takes down one event."""
        number, event = recorded.originator_version, recorded.event
        match event:
            case Dealt():
                self.again()
                self.dealt, self.first = event, number
            case NewHands():
                self.new_hands.append(event.hands)
            case MisdealFound():
                self.misdeals.append(number)
            case DealVoided():
                self.voided.append(number)
                self.again()
            case BidMade():
                self.bids.append(Call(seat=event.seat, bid=event.bid, event=number))
            case AuctionWon():
                self.won = event
            case CardPlayed():
                self.cards.append(Card(seat=event.seat, card=event.card, event=number))
            case TrickTaken():
                self._trick(event, number)
            case QuestionAsked():
                self.asked = number, event
            case QuestionAnswered():
                self.answers.append(Said(seat=event.seat, answer=event.answer, event=number))
            case KnockedOut():
                self.exits.append(Exit(seat=event.seat, valid=event.valid, event=number))
            case Reported():
                self.reports.append({**msgspec.to_builtins(event), "event": number})
            case KnockUpheld() | KnockDismissed():
                self.rulings.append(recorded)
            case PenaltyImposed():
                self.penalties.append(
                    Penalty(seat=event.seat, points=event.points, rule=event.rule, case=event.case, event=number)
                )

    def _trick(self, event: TrickTaken, number: int) -> None:
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


def record_of(match: Match, events: list[Recorded], viewer: Viewer, language: Language) -> DealRecord:
    """The record of a deal from its events, the last of which scores it."""
    sheet = _Sheet()
    for recorded in events:
        sheet.read(match.seen(recorded, viewer))
    score, dealt = events[-1].event, sheet.dealt
    assert isinstance(score, DealScored), "a finished deal ends with its score"
    question = None
    if sheet.asked is not None:
        number, asked = sheet.asked
        question = Asked(seat=asked.seat, of=asked.of, event=number, answers=tuple(sheet.answers))
    fines = {p.case: p.points for p in sheet.penalties if p.case is not None}
    knocks = tuple(_case(match, one, fines, viewer, language) for one in sheet.rulings)
    return DealRecord(
        deal=score.deal,
        dealer=score.dealer,
        first=sheet.first,
        last=events[-1].originator_version,
        hands=dealt.hands if dealt else None,
        counts=dealt.counts if dealt else (),
        new_hands=tuple(sheet.new_hands),
        seed=dealt.seed if dealt else None,
        bids=tuple(sheet.bids),
        declarer=score.declarer,
        contract=score.contract,
        question=question,
        tricks=tuple(sheet.tricks),
        exits=tuple(sheet.exits),
        reports=tuple(sheet.reports),
        knocks=knocks,
        penalties=tuple(sheet.penalties),
        misdeals=tuple(sheet.misdeals),
        voided=tuple(sheet.voided),
        score=score,
    )


def _case(match: Match, recorded: Recorded, fines: dict[int, int], viewer: Viewer, language: Language) -> Case:
    ruling = ruling_seen(recorded, viewer, public=True)
    fine = fines.get(ruling.case, 0) if isinstance(ruling, KnockDismissed) else 0
    return case_of(match, ruling, recorded.originator_version, fine, match.version, language)


def read_record(service: Service, match: Match, deal: int, viewer: Viewer, language: Language) -> DealRecord:
    """The record of a deal. 404 if there is no such deal, 409 if it is not finished."""
    last = match.rules.view(match.state, "spectator").deal
    if not 1 <= deal <= last:
        raise Problem("no_such_deal", last=last)
    events = events_of(service.referee.history(match.id, to=match.version), deal)
    if not events:
        raise Problem("deal_not_finished", deal=deal)
    return record_of(match, events, viewer, language)


@get(
    "/matches/{match:uuid}/deals/{deal:int}",
    operation_id="get_deal",
    summary="The record of a finished deal",
    description="Hands, bids, the question and its answers, each trick with its cards, knocks, penalties, and the "
    "line in the protocol. All cards lie open, for the deal is over. 409 while it is under way.",
    tags=["Books"],
    security=ANYBODY,
    operation_class=described(gives=DealRecord, headers=("ETag",), errors=(400, 401, 404, 409, 503)),
)
async def get_deal(request: Req, match: MatchId, deal: DealNumber, min_version: MinVersion = 0) -> Reply:
    """The record of a finished deal."""
    service = service_of(request)
    seen, viewer = await service.seen(request, match, min_version)
    language = language_of(header(request, b"accept-language"))
    return of_match(await in_thread(read_record, service, seen, deal, viewer, language), seen.version)
