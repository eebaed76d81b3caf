"""The pot contains all units put in and not drawn; its gain is the seats' loss."""

import csv as files
import random
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from eventsourcing.persistence import StoredEvent
from sqlalchemy import Engine

from projections.follow.follow import prepare, rebuild
from projections.pots import Pot, PotClosed, PotLine, PotPending, Pots, after_event, csv
from projections.protocols import Protocol
from projections.protocols import after_event as on_sheet
from referee.actors import actor_of
from referee.acts import Close, Play, Void
from referee.events import DealVoided, MatchClosed, PotEntry, Stakes
from referee.refusals import Refused
from referee.store.aggregate import fold
from referee.store.command import Command
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.rows import from_row
from referee.store.store import Referee, construct
from referee.visibility import Recorded
from tests.projections.filled_log import append, last_versions, pages, reader
from tests.support.random_matches import legal_acts, opened

RAMS = "rams-english"
KINDS: tuple[dict[str, Any], ...] = (
    {"ruleset": RAMS, "players": 4, "enforcement": "refuse"},
    {"ruleset": RAMS, "stakes": Stakes(currency="SEK", unit=25), "points": (-50, 10, 0), "pot": 40},
    {"ruleset": RAMS, "players": 6, "pot": 7, "final_pot": "keep", "first_dealer": None},
    {"ruleset": RAMS, "players": 5, "misdeal_stake": "returned", "final_pot": "last_dealer"},
    {"ruleset": "rodskagg-alga", "enforcement": "refuse"},
)
"""Openings of the log's matches: four of a game with a pot, one of a game without."""


def _any_act(match: Match, chance: random.Random) -> Any:
    legal = legal_acts(match)
    if chance.random() < 0.01:
        return Void(reason="spilt coffee")
    plays = [act for act in legal if isinstance(act, Play)]
    if plays and chance.random() < 0.2:  # a revoke, perhaps
        return Play(seat=plays[0].seat, card=chance.choice(match.rules.view(match.play, plays[0].seat).hand or ()))
    return chance.choice(legal) if legal else None


def play_sessions(referee: Referee, acts: int, seed: int) -> None:
    chance = random.Random(seed)
    desk = Desk(referee, seed=lambda: str(chance.random()))
    try:
        matches = [opened(desk, **kind) for kind in KINDS]

        def send(match_id: UUID, act: Any) -> None:
            actor = actor_of(act)
            desk.submit(Command(id=match_id, actor=actor, request=act)).result(30)

        for _ in range(acts):
            match_id = chance.choice(matches)
            if act := _any_act(desk.get(match_id), chance):
                try:
                    send(match_id, act)
                except Refused:
                    continue
        for match_id in matches[:3]:  # the fourth continues
            for _ in range(200):
                match = desk.get(match_id)
                if Close() in match.rules.legal(match.play, "official"):
                    send(match_id, Close())
                    break
                send(match_id, chance.choice(legal_acts(match)))
    finally:
        desk.close()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredEvent, ...]:
    """Return the rows of those matches in order."""
    path: Path = tmp_path_factory.mktemp("sessions") / "knacka.db"
    with construct(f"sqlite:///{path}") as referee:
        play_sessions(referee, 1200, seed=3)
        rows = referee.recorder.select_notifications(None, 100_000)
    return tuple(StoredEvent(row.originator_id, row.originator_version, row.topic, row.state) for row in rows)


@pytest.fixture(scope="module")
def histories(played: tuple[StoredEvent, ...]) -> list[list[Recorded]]:
    """Return the events of each match, in the order of :data:`KINDS`."""
    return [[from_row(row) for row in played if row.originator_id == one] for one in last_versions(played)]


def steps(history: list[Recorded]) -> Iterator[tuple[Recorded, Match, Pot, Protocol]]:
    match, pot, sheet = None, None, None
    for recorded in history:
        match, pot, sheet = fold(match, [recorded]), after_event(pot, recorded), on_sheet(sheet, recorded)
        yield recorded, match, pot, sheet


def last(history: list[Recorded]) -> Pot:
    *_, (_, _, pot, _) = steps(history)
    return pot


def parts(pot: Pot) -> list[PotLine | PotClosed]:
    """Return the parts of a pot that have entries."""
    return [*pot.lines, *([pot.closed] if pot.closed else [])]


def test_the_contents_are_the_opening_and_all_entries(histories: list[list[Recorded]]) -> None:
    entries = 0
    for history in histories:
        pot = last(history)
        contents = pot.opening
        for part in parts(pot):
            assert part.before == contents
            contents += sum(entry.units for entry in part.entries)
            assert part.after == contents
            entries += len(part.entries)
        assert pot.contents == contents
    assert entries > 100, "the log is long enough to mean something"


def test_the_seats_lose_the_gain_of_the_pot(histories: list[list[Recorded]]) -> None:
    for history in histories[:4]:
        for _, match, pot, sheet in steps(history):
            assert pot.version == match.version
            assert sum(sheet.points) + pot.contents == sum(sheet.opening) + pot.opening
        by_seat = [-sum(entry.units for part in parts(pot) for entry in part.entries if entry.seat == seat)
                   for seat in range(len(pot.players))]  # fmt: skip
        between = [
            sum(entry.points for line in sheet.lines for entry in line.entries if entry.seat == seat) - by_seat[seat]
            for seat in range(len(pot.players))
        ]
        if pot.closed:
            between = [had + got for had, got in zip(between, sheet.closing.change, strict=True)]
        assert sum(between) == 0, "the rest went from seat to seat"


def test_the_match_shows_what_lies_there_with_the_stake(histories: list[list[Recorded]]) -> None:
    staked, voided = 0, 0
    for history in histories[:4]:
        acts = [recorded.act_id for recorded in history]
        for (recorded, match, pot, _), act, following in zip(steps(history), acts, [*acts[1:], ""], strict=True):
            if act != following:
                more = match.rules.view(match.play, "spectator").more
                assert more is not None
                assert more["pot"] == pot.contents + sum(one.units for one in pot.pending)
            for one in pot.pending:
                assert history[one.event - 1].event.TOPIC == "pot/staked"
            staked += bool(pot.pending)
            if isinstance(recorded.event, DealVoided):
                assert pot.pending == ()
                voided += 1
    assert staked > 100
    assert voided > 0


def test_every_entry_cites_a_rule_and_rests_on_events_of_its_match(histories: list[list[Recorded]]) -> None:
    rules = set()
    for history in histories[:4]:
        for part in parts(last(history)):
            for entry in part.entries:
                assert entry.units != 0
                assert entry.events
                assert all(0 < event <= part.event for event in entry.events)
                rules.add(entry.rule)
    assert {"D15", "D59", "D60", "D70", "D-O18"} <= rules


def test_a_session_that_is_closed_says_what_each_drew(histories: list[list[Recorded]]) -> None:
    closed = [history[-1].event for history in histories]
    assert [isinstance(event, MatchClosed) for event in closed] == [True, True, True, False, False]
    for history, event in zip(histories[:3], closed[:3], strict=True):
        assert isinstance(event, MatchClosed)
        pot = last(history)
        assert pot.closed is not None
        assert (pot.closed.before, pot.closed.after, pot.contents) == (event.pot_before, event.pot, event.pot)
        drawn = {entry.seat: -entry.units for entry in pot.closed.entries}
        assert tuple(drawn.get(seat, 0) for seat in range(len(event.shares))) == event.shares
        assert pot.closed.event == len(history)


def test_money_is_named_by_its_currency(histories: list[list[Recorded]]) -> None:
    assert [last(history).currency for history in histories[:4]] == [None, "SEK", None, None]
    assert [last(history).opening for history in histories] == [0, 40, 7, 0, 0]


def test_a_game_without_a_pot_has_an_empty_one(histories: list[list[Recorded]]) -> None:
    pot = last(histories[4])
    assert (pot.contents, pot.lines, pot.pending, pot.closed) == (0, (), (), None)


@pytest.mark.parametrize("page", [7, 500])
def test_the_book_answers_as_the_pot_stands(
    referee: Referee, engine: Engine, played: Sequence[StoredEvent], histories: list[list[Recorded]], page: int
) -> None:
    append(referee, played)
    projection = Pots()
    prepare(engine, [projection])
    for events in pages(referee, page):
        with engine.begin() as connection:
            projection.apply(connection, events)
            projection.apply(connection, events)  # nothing counts twice
    for _ in range(2):
        with engine.connect() as connection:
            for history in histories:
                match_id = history[0].originator_id
                assert projection.answer(connection, match_id) == last(history)
                assert projection.version(connection, match_id) == len(history)
            assert projection.answer(connection, UUID(int=1)) is None
            assert projection.version(connection, UUID(int=1)) == 0
        rebuild(reader(referee), engine, projection)


POT = Pot(
    match="m",
    version=60,
    ruleset=RAMS,
    players=("=Anna", "Bo", "Bo"),
    currency="SEK",
    opening=100,
    contents=50,
    pending=(PotPending(seat=1, units=500, event=60),),
    lines=(
        PotLine(
            deal=1,
            kind="played",
            before=100,
            after=150,
            entries=(
                PotEntry(seat=0, units=500, rule="D15", events=(2,)),
                PotEntry(seat=2, units=-450, rule="D59", events=(9, 12)),
            ),
            event=40,
        ),
    ),
    closed=PotClosed(
        before=150,
        after=50,
        entries=(PotEntry(seat=1, units=-100, rule="D-O18", events=(60,)),),
        rule="D-O18",
        event=60,
    ),
)


def test_as_a_table_each_entry_is_a_row() -> None:
    text = csv(POT)
    assert text.endswith("\r\n")
    assert list(files.reader(StringIO(text, newline=""))) == [
        ["deal", "player", "units", "rule", "contents"],
        ["", "", "100", "", "100"],
        ["1", "'=Anna", "500", "D15", "600"],
        ["1", "Bo (2)", "-450", "D59", "150"],
        ["", "Bo (1)", "-100", "D-O18", "50"],
    ]
