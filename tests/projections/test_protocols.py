"""The protocol has the referee's scores, exactly, with their reasons."""

import csv as files
from collections.abc import Iterator, Sequence
from io import StringIO
from uuid import UUID

import pytest
from eventsourcing.persistence import StoredEvent
from msgspec.structs import replace
from sqlalchemy import Engine

from projections.follow.follow import rebuild
from projections.protocols import Line, LineEntry, Protocol, Protocols, after_event, csv
from referee.events import DealScored, MatchWon, PlayerEliminated
from referee.store.aggregate import fold
from referee.store.match import Match
from referee.store.rows import from_row
from referee.store.store import Referee
from referee.visibility import Recorded
from tests.projections.filled_log import append, last_versions, reader


@pytest.fixture
def histories(rows: Sequence[StoredEvent]) -> dict[UUID, list[Recorded]]:
    """Return the events of each match of the log."""
    return {
        match_id: [from_row(row) for row in rows if row.originator_id == match_id] for match_id in last_versions(rows)
    }


def steps(history: list[Recorded]) -> Iterator[tuple[Match, Protocol]]:
    """Yield a match and its sheet after each of its events."""
    match: Match | None = None
    sheet: Protocol | None = None
    for recorded in history:
        match, sheet = fold(match, [recorded]), after_event(sheet, recorded)
        yield match, sheet


def test_every_line_adds_up_and_goes_on_from_the_line_before(histories: dict[UUID, list[Recorded]]) -> None:
    lines = 0
    for history in histories.values():
        *_, (_, sheet) = steps(history)
        points: tuple[float, ...] = sheet.opening
        for line in sheet.lines:
            assert line.before == points
            entered_by_seat = [
                sum(entry.points for entry in line.entries if entry.seat == seat) for seat in range(len(points))
            ]
            assert line.change == tuple(entered_by_seat)
            points = line.points
            assert list(points) == [before + change for before, change in zip(line.before, line.change, strict=True)]
            lines += 1
        assert sheet.points == points
    assert lines > 20, "the log is long enough to mean something"


def test_every_entry_rests_on_events_of_its_match_before_the_line(histories: dict[UUID, list[Recorded]]) -> None:
    for history in histories.values():
        *_, (_, sheet) = steps(history)
        for line in sheet.lines:
            assert isinstance(history[line.event - 1].event, DealScored)
            assert all(0 < event < line.event for entry in line.entries for event in entry.events)


def test_the_sheet_agrees_with_the_match_after_each_act(histories: dict[UUID, list[Recorded]]) -> None:
    knocked = 0
    for history in histories.values():
        acts = [recorded.act_id for recorded in history]
        for (match, sheet), act, following in zip(steps(history), acts, [*acts[1:], None], strict=True):
            assert sheet.version == match.version
            assert sheet.points == match.play.table.points
            if act == following:
                continue
            shown = match.rules.view(match.play, "spectator")
            assert sheet.winner == shown.winner
            if sheet.winner is None:
                seats = range(len(sheet.points))
                sums = [sum(one.points for one in sheet.pending if one.seat == seat) for seat in seats]
                assert tuple(sums) == shown.penalties
            knocked += len(sheet.pending)
    assert knocked > 0, "a seat was punished for a knock"


def test_the_end_of_a_match_is_on_its_sheet(histories: dict[UUID, list[Recorded]]) -> None:
    ends = 0
    for history in histories.values():
        *_, (_, sheet) = steps(history)
        out = {recorded.event.seat for recorded in history if isinstance(recorded.event, PlayerEliminated)}
        assert set(sheet.eliminated) == out
        for won in (recorded.event for recorded in history if isinstance(recorded.event, MatchWon)):
            assert (sheet.winner, sheet.won_by, sheet.won_rule) == (won.seat, won.by, won.rule)
            assert (sheet.points, sheet.settlement) == (won.points, won.settlement)
            ends += 1
    assert ends > 0


def test_a_reader_gets_the_sheet_as_it_stands(
    referee: Referee, engine: Engine, rows: Sequence[StoredEvent], histories: dict[UUID, list[Recorded]]
) -> None:
    append(referee, rows)
    projection = Protocols()
    rebuild(reader(referee), engine, projection)
    with engine.connect() as connection:
        for match_id, history in histories.items():
            *_, (_, sheet) = steps(history)
            assert projection.answer(connection, match_id) == sheet
            assert projection.version(connection, match_id) == len(history)
        assert projection.answer(connection, UUID(int=1)) is None
        assert projection.version(connection, UUID(int=1)) == 0


LINE = Line(
    deal=1,
    dealer=2,
    kind="number",
    declarer=0,
    contract="3",
    tricks=(4, 2, 0),
    answers=(None, "in", "fold"),
    penalties=(0, 0, 5),
    before=(12, 12, 12),
    change=(-4, -2, 5),
    points=(8, 10, 17),
    eliminated=(),
    entries=(LineEntry(seat=0, points=-4, rule="B58", events=(9,)),),
    event=60,
)
SHEET = Protocol(
    match="m",
    version=60,
    ruleset="rodskagg-kortoxen",
    players=("Anna", "Bo", "Cilla"),
    opening=(12, 12, 12),
    taken_over=False,
    points=(8, 10, 17),
    lines=(LINE, replace(LINE, deal=2, kind="passed", declarer=None, contract=None, change=(0, 0, 0))),
)


class TestCsv:
    """A row a deal, for a spreadsheet."""

    def table(self, sheet: Protocol) -> list[list[str]]:
        text = csv(sheet)
        assert text.endswith("\r\n")
        return list(files.reader(StringIO(text, newline="")))

    def test_a_row_says_who_and_what_and_then_each_player(self) -> None:
        head, first, second = self.table(SHEET)
        assert ",".join(head[:8]) == "deal,dealer,kind,declarer,contract,Anna tricks,Anna change,Anna points"
        assert " ".join(first) == "1 Cilla number Anna 3 4 -4 8 2 -2 10 0 5 17"
        assert second[:5] == ["2", "Cilla", "passed", "", ""]

    def test_a_name_is_a_name_whatever_is_in_it(self) -> None:
        head, first, _ = self.table(replace(SHEET, players=("=SUM(A1)", 'Bo "B", Jr\n', "Åke")))
        assert head[5] == "'=SUM(A1) tricks"
        assert head[8] == 'Bo "B", Jr\n tricks'
        assert first[1] == "Åke"
        assert first[3] == "'=SUM(A1)"

    def test_columns_of_players_with_one_name_show_their_seats(self) -> None:
        head, first, _ = self.table(replace(SHEET, players=("Anna", "Anna", "Bo")))
        assert head[5::3] == ["Anna (0) tricks", "Anna (1) tricks", "Bo tricks"]
        assert first[3] == "Anna (0)"

    def test_a_match_without_a_line_has_a_head(self) -> None:
        assert len(self.table(replace(SHEET, lines=()))) == 1
