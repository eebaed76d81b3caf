"""All five games in one form: whoever knows none of them can draw the sheet, and its numbers add up."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, get_args
from uuid import UUID

import msgspec
import pytest
from sqlalchemy import Engine

from projections.audit import Audit
from projections.follow.follow import Placed, prepare
from projections.matches import Listed, Matches, listed
from projections.protocols import Protocol, Protocols, csv, entered
from referee.acts import AnyAct, Close, Knock, Play, SeatAct, Void
from referee.events import DealScored, DealVoided, Event, MatchClosed, MatchWon, Recorded, Stakes
from referee.games import RULESETS
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.aggregate import fold
from referee.store.match import Match
from tests.played import legal_acts, opening

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
KINDS: tuple[dict[str, Any], ...] = (
    {"ruleset": "kalabrias", "players": 2, "target_score": 200, "enforcement": "refuse"},
    {"ruleset": "kalabrias", "players": 3, "bete_odd_point": "exact_half", "target_score": 300},
    {"ruleset": "kalabrias", "players": 4, "target_score": 300, "enforcement": "refuse"},
    {"ruleset": "rams-english", "players": 4, "first_dealer": None},
    {"ruleset": "rams-english", "stakes": Stakes(currency="SEK", unit=25), "points": (-50, 10, 0), "pot": 40},
    {"ruleset": "rodskagg-alga", "enforcement": "refuse", "points": (4, 4, 4)},
    {"ruleset": "rodskagg-catsatcards", "players": 4, "points": (8, 9, 9, 9)},
    {"ruleset": "rodskagg-catsatcards", "fem_opp": True, "points": (9, 9, 9)},
    {"ruleset": "rodskagg-kortoxen", "points": (6, 6, 6), "deal_ritual": False},
)


def _any_act(match: Match, chance: random.Random) -> tuple[Any, Any]:
    """Who acts, and how: mostly by the rules, now and then not."""
    what, seats = chance.random(), range(len(match.opened.players))
    if what < (0.05 if any(match.rules.view(match.state, "spectator").penalties) else 0.005):
        return "official", Void(reason="spilt coffee")
    if what < 0.1:
        ledger = getattr(match.state, "ledger", None)
        done = [(one.breach.seat, one.breach.offence) for one in getattr(ledger, "standings", ())]
        accused, offence = chance.choice([*done, (0, None)])
        seat = chance.choice([seat for seat in seats if seat != accused])
        return seat, Knock(seat=seat, accused=accused, offence=offence)
    legal = [act for act in legal_acts(match) if getattr(act, "bid", None) != "rodskagg" or chance.random() < 0.02]
    plays = [act for act in legal if isinstance(act, Play)]
    if plays and what < 0.2:
        seat = plays[0].seat
        return seat, Play(seat=seat, card=chance.choice(match.rules.view(match.state, seat).hand or ("SA",)))
    if not legal:
        return "official", Close()
    act = chance.choice(legal)
    assert isinstance(act, SeatAct)
    return act.seat, act


def history_of(kind: dict[str, Any], seed: int, acts: int = 1500) -> list[Recorded]:
    """The events of a match played at random, a session closed at the end."""
    chance = random.Random(seed)
    opened = opening(**kind)
    rules = RULESETS[opened.ruleset]
    rules.opening(opened)
    history: list[Recorded] = []
    match: Match | None = None

    def stand(actor: int | str, events: tuple[Event, ...]) -> Match:
        first = len(history) + 1
        new = [
            Recorded(UUID(int=1), number, NOON + timedelta(seconds=first), actor, f"act-{first}", "", "", event)
            for number, event in enumerate(events, first)
        ]
        history.extend(new)
        return fold(match, new)

    match = stand("official", (opened,))
    if begun := rules.begin(match.state, Moment(match.version, NOON, f"{seed}")):
        match = stand("official", begun)
    for turn in range(acts):
        if rules.view(match.state, "spectator").phase == "over":
            break
        actor, act = _any_act(match, chance)
        if turn > acts - 200 and Close() in rules.legal(match.state, "official"):
            actor, act = "official", Close()
        try:
            events = rules.decide(match.state, act, Moment(match.version, NOON + timedelta(hours=1), f"{seed}{turn}"))
        except Refused:
            continue
        match = stand(actor, events)
    return history


@cache
def played(place: int) -> list[Recorded]:
    """Two matches of each kind."""
    return history_of(KINDS[place // 2], place % 2)


MANY = range(2 * len(KINDS))
HALVES, PARTNERS, SESSIONS = range(2, 4), range(4, 6), range(6, 10)
"""Which of them count halves, have partners, and are closed."""


@pytest.fixture(params=MANY, ids=lambda place: f"{KINDS[place // 2]['ruleset']}-{place}")
def history(request: pytest.FixtureRequest) -> list[Recorded]:
    """Each of those matches."""
    return played(request.param)


def steps(history: list[Recorded]) -> Iterator[tuple[Match, Protocol, Listed]]:
    match, sheet, entry = None, None, None
    for recorded in history:
        match, sheet, entry = fold(match, [recorded]), entered(sheet, recorded), listed(entry, recorded)
        yield match, sheet, entry


def last(history: list[Recorded]) -> tuple[Match, Protocol, Listed]:
    *_, end = steps(history)
    return end


def test_every_line_adds_up_and_goes_on_from_the_line_before(history: list[Recorded]) -> None:
    _, sheet, _ = last(history)
    points: tuple[float, ...] = sheet.opening
    assert sheet.lines
    for line in [*sheet.lines, *([sheet.closing] if sheet.closing else [])]:
        assert line.before == points
        points = tuple(had + change for had, change in zip(line.before, line.change, strict=True))
        assert line.points == points
    for line in sheet.lines:
        for seat, change in enumerate(line.change):
            assert change == sum(entry.points for entry in line.entries if entry.seat == seat)
        for numbers in (line.tricks, line.answers, line.penalties):
            assert len(numbers) == len(sheet.players)
    assert sheet.points == points


def test_the_sheet_and_the_list_agree_with_the_match_after_each_act(history: list[Recorded]) -> None:
    acts = [recorded.act_id for recorded in history]
    for (match, sheet, entry), act, following in zip(steps(history), acts, [*acts[1:], ""], strict=True):
        if act == following:
            continue
        shown = match.rules.view(match.state, "spectator")
        assert sheet.points == shown.points
        over = shown.phase == "over"
        assert (sheet.over, entry.status == "over") == (over, over)
        assert sheet.winner == entry.winner == shown.winner
        assert sheet.version == entry.version == match.version
        if not over:
            sums = [sum(one.points for one in sheet.pending if one.seat == seat) for seat in range(len(shown.points))]
            assert tuple(sums) == shown.penalties
        elif sheet.winner is not None:
            assert sheet.winners[0] == sheet.winner


def test_all_lines_have_one_form(history: list[Recorded]) -> None:
    _, sheet, _ = last(history)
    written = msgspec.to_builtins(sheet)
    assert msgspec.json.decode(msgspec.json.encode(sheet), type=Protocol) == sheet
    for line in written["lines"]:
        assert ",".join(line) == (
            "deal,dealer,kind,declarer,contract,tricks,answers,penalties,before,change,points,eliminated,entries,"
            "event,pot_before,pot,detail"
        )
    assert len(csv(sheet).splitlines()) == len(sheet.lines) + 1


def test_the_log_has_what_it_is_to_show() -> None:
    assert sum(len(last(played(place))[1].lines) for place in MANY) > 100
    events = [recorded.event for place in MANY for recorded in played(place)]
    assert any(isinstance(event, DealVoided) and event.points for event in events), "voided with penalties"
    assert any(
        isinstance(event, DealScored) and event.halves and 1 in {n % 2 for n in event.points} for event in events
    )
    assert any(isinstance(event, MatchWon) and len(event.seats) == 2 for event in events), "partners"
    assert any(isinstance(event, MatchClosed) for event in events)


def test_half_points_are_numbers_and_whole_ones_stay_whole() -> None:
    sheets = [last(played(place))[1] for place in HALVES]
    points = [number for sheet in sheets for line in sheet.lines for number in line.points]
    assert any(number % 1 == 0.5 for number in points)
    assert all(isinstance(number, int) for number in points if number % 1 == 0)
    for place, sheet in zip(HALVES, sheets, strict=True):
        scored = [recorded.event for recorded in played(place) if isinstance(recorded.event, DealScored)]
        assert [event.points for event in scored] == [tuple(2 * n for n in line.points) for line in sheet.lines]


def test_partners_win_together() -> None:
    for place in PARTNERS:
        _, sheet, entry = last(played(place))
        assert sheet.winners in ((0, 2), (1, 3))
        assert entry.winner == sheet.winner == sheet.winners[0]


def test_a_match_that_nobody_won_is_over_all_the_same() -> None:
    history = played(MANY[-1])[:1]
    won = MatchWon(seat=None, by="nobody", rule="A1", points=(1, 1, 1))
    history.append(msgspec.structs.replace(history[0], originator_version=2, event=won))
    sheet: Protocol | None = None
    entry: Listed | None = None
    for recorded in history:
        sheet, entry = entered(sheet, recorded), listed(entry, recorded)
    assert sheet is not None
    assert entry is not None
    assert (sheet.over, sheet.winner, sheet.winners, sheet.won_by) == (True, None, (), "nobody")
    assert (entry.status, entry.winner) == ("over", None)


def test_a_session_that_is_closed_ends_with_what_each_drew() -> None:
    for place in SESSIONS:
        closed = played(place)[-1].event
        assert isinstance(closed, MatchClosed)
        _, sheet, _ = last(played(place))
        assert sheet.closing is not None
        assert (sheet.closing.change, sheet.closing.points) == (closed.shares, closed.points)
        assert sheet.settlement == closed.settlement
        assert [line.pot_before for line in sheet.lines][1:] == [line.pot for line in sheet.lines][:-1]


def test_what_was_knocked_up_in_a_voided_deal_has_a_line_of_its_own() -> None:
    found = 0
    for history in map(played, MANY):
        _, sheet, _ = last(history)
        for line in sheet.lines:
            event = history[line.event - 1].event
            assert (line.kind == "voided") == isinstance(event, DealVoided)
            if isinstance(event, DealVoided):
                assert (line.deal, line.declarer, line.contract) == (event.deal, None, None)
                assert line.penalties == line.change
                found += 1
    assert found


def test_every_act_there_is_can_be_read() -> None:
    tags = {act.__struct_config__.tag for act in get_args(AnyAct)}
    for rules in RULESETS.values():
        assert {act.__struct_config__.tag for act in rules.acts} <= tags


def test_the_books_take_it_all_in(engine: Engine, history: list[Recorded]) -> None:
    books = Protocols(), Audit(), Matches()
    prepare(engine, books)
    page = [Placed(number, recorded) for number, recorded in enumerate(history, 1)]
    with engine.begin() as connection:
        for book in books:
            for first in range(0, len(page), 97):
                book.apply(connection, page[first : first + 97])
        protocols, audit, _ = books
        match, sheet, _ = last(history)
        assert protocols.answer(connection, match.id) == sheet
        trail = audit.trail(connection, match.id, limit=100_000, viewer="spectator")
        assert [step.number for step in trail] == list(range(1, match.version + 1))
        for step, recorded in zip(trail, history, strict=True):
            event = recorded.event
            if isinstance(event, DealScored | DealVoided):
                assert step.deal == event.deal
                deal = step.deal
                assert {entry.rule for entry in event.entries} <= set(step.rules)
            if isinstance(event, MatchWon | MatchClosed):
                assert step.deal == deal, "the end belongs to the deal before it"
                assert step.rules == (event.rule,)
                assert all(one.prev is not None for one in trail), "nothing is hidden any more"
