"""All five games have one form: a reader who knows none of them can draw the sheet, and its numbers add up."""

from collections.abc import Iterator
from functools import cache, reduce
from typing import get_args
from uuid import UUID

import msgspec
import pytest
from sqlalchemy import Engine

from projections.cases import Cases
from projections.follow.follow import prepare
from projections.matches import Listed, Matches
from projections.matches import after_event as in_list
from projections.pots import Pots
from projections.pots import after_event as in_pot
from projections.protocols import Protocol, Protocols, after_event, csv
from referee.acts import AnyAct
from referee.events import DealScored, DealVoided, KnockDismissed, KnockUpheld, MatchClosed, MatchWon
from referee.games import RULESETS
from referee.store.aggregate import fold
from referee.store.match import Match
from referee.visibility import Recorded
from tests.projections.every_game import KINDS, history_of
from tests.projections.filled_log import page_of


@cache
def played(place: int) -> list[Recorded]:
    """Return two matches of each kind."""
    return history_of(KINDS[place // 2], place % 2)


MANY = range(2 * len(KINDS))
HALVES, PARTNERS, SESSIONS = range(2, 4), range(4, 6), range(6, 10)
"""Return which of the games count halves, have partners, and are closed."""


@pytest.fixture(params=MANY, ids=lambda place: f"{KINDS[place // 2]['ruleset']}-{place}")
def history(request: pytest.FixtureRequest) -> list[Recorded]:
    """Return the events of one of those matches."""
    return played(request.param)


def steps(history: list[Recorded]) -> Iterator[tuple[Match, Protocol, Listed]]:
    match, sheet, entry = None, None, None
    for recorded in history:
        match, sheet, entry = fold(match, [recorded]), after_event(sheet, recorded), in_list(entry, recorded)
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
        shown = match.rules.view(match.play, "spectator")
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
            "event,pot_before,pot,detail,was"
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


def test_a_match_that_no_one_won_is_over_all_the_same() -> None:
    history = played(MANY[-1])[:1]
    won = MatchWon(seat=None, by="nobody", rule="A1", points=(1, 1, 1))
    history.append(msgspec.structs.replace(history[0], originator_version=2, event=won))
    sheet: Protocol | None = None
    entry: Listed | None = None
    for recorded in history:
        sheet, entry = after_event(sheet, recorded), in_list(entry, recorded)
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


def test_penalties_of_a_voided_deal_have_their_own_line() -> None:
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
    books = Protocols(), Cases(), Matches(), Pots()
    prepare(engine, books)
    with engine.begin() as connection:
        for projection in books:
            for first in range(0, len(history), 97):
                projection.apply(connection, page_of(history[first : first + 97]))
        protocols, cases, matches, pots = books
        match, sheet, entry = last(history)
        assert protocols.answer(connection, match.id) == sheet
        assert protocols.answer_json(connection, match.id) == (msgspec.json.encode(sheet), sheet.version)
        assert matches.page(connection) == ((entry,), None)
        pot = pots.answer(connection, match.id)
        assert pot == reduce(in_pot, history, None)
        assert pots.answer_json(connection, match.id) == (msgspec.json.encode(pot), match.version)
        assert pots.answer_json(connection, UUID(int=2)) is None
        knocks = [one for one in history if isinstance(one.event, KnockUpheld | KnockDismissed)]
        kept = cases.answer(connection, match.id, "spectator")
        assert [case.entries[0].event for case in kept] == [one.originator_version for one in knocks]
        assert cases.last(connection, match.id) == len(knocks)
        for number in range(len(knocks)):
            assert cases.answer(connection, match.id, "spectator", number, 2) == kept[number : number + 2]
        if entry.status == "over":
            assert [case.entries[0].fact for case in kept] == [one.event for one in knocks], (
                "nothing is hidden any more"
            )
