"""A row that the ledger cannot apply makes its club wait: entries are numbered permanently in the log's order."""

from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
from eventsourcing.persistence import StoredEvent
from msgspec.structs import replace
from sqlalchemy import Engine

from projections.follow.projection import Waits
from projections.ledger import Ledger
from referee.clubs import commands
from referee.events import MatchWon, Stakes
from referee.officials.events.corrections import Ended, ProtocolCorrected, Why
from referee.store.clock import utc_now
from referee.store.desk import Desk
from referee.store.store import Referee
from referee.visibility import Event, Recorded
from tests.projections.damaged_rows import BROKEN, broken
from tests.projections.filled_log import content
from tests.projections.follower_driver import at_the_head, following, until
from tests.support.agreed_stakes import AGREED
from tests.support.random_matches import opening
from tests.support.salted_rows import row_of
from tests.support.stored_clubs import Club

AGAIN = {"again_seconds": 0.02, "poll_seconds": 0.01}


class Evening(NamedTuple):
    """Two clubs in one log, each with a match and money acts, interleaved; and a match without a club."""

    ours: Club
    theirs: Club
    match: UUID
    stray: UUID
    rows: tuple[StoredEvent, ...]

    def position(self, match_id: UUID, number: int) -> int:
        """Return the position of an event in the log."""
        found = [place for place, row in enumerate(self.rows, 1) if row.originator_id == match_id]
        return found[number - 1]


@pytest.fixture
def evening(referee: Referee) -> Evening:
    desk = Desk(referee)
    clubs = ours, theirs = Club(desk, members=4), Club(desk, members=4)
    matches = {club.id: uuid4() for club in clubs}
    stray = uuid4()

    def store(match_id: UUID, number: int, event: Event) -> None:
        recorded = Recorded(match_id, number, utc_now(), "official", f"~{uuid4().hex}", "", "", event)
        referee.recorder.insert_events([row_of(recorded)])

    def won(*amounts: int) -> MatchWon:
        return MatchWon(seat=0, by="duel", rule="B74", points=(0, 0, 0), settlement=amounts)

    ended = Ended(by="duel", rule="B74", event=3, seat=1, settlement=(-100, 300, -200))
    why: Any = {"case": None, "deal": 1, "why": Why(rule="J9"), "lines": (), "struck": (), "points": (0, 0, 0)}
    corrected = ProtocolCorrected(**why, eliminated=(), dealer=0, next_deal=1, won=ended)
    opened = opening(players=3, stakes=Stakes(currency="SEK", unit=100))
    for club in clubs:
        club.do(commands.Deposit(member=1, amount=500, via="cash"))
        store(matches[club.id], 1, replace(opened, club=club.id, evening=1, members=(1, 2, 3)))
        store(matches[club.id], 2, AGREED)
    store(stray, 1, opening(players=3))
    for club in clubs:
        club.do(commands.Deposit(member=2, amount=600, via="bank"))
        store(matches[club.id], 3, won(200, -100, -100))
    store(stray, 2, won(0, 0, 0))
    for club in clubs:
        club.do(commands.Deposit(member=3, amount=700, via="cash"))
        store(matches[club.id], 4, corrected)
        club.do(commands.Fee(member=4, amount=50))
    store(stray, 3, corrected)
    desk.close()
    found = referee.recorder.select_notifications(None, 1000)
    rows = tuple(StoredEvent(row.originator_id, row.originator_version, row.topic, row.state) for row in found)
    return Evening(ours, theirs, matches[ours.id], stray, rows)


def causes(engine: Engine, ledger: Ledger, club: Club) -> list[str]:
    with engine.connect() as connection:
        return [entry.cause for entry in ledger.read(connection, club.id)]


def kept(engine: Engine, referee: Referee, ledger: Ledger) -> dict[str, Any]:
    """Return the content of the ledger as built by a follower that met no bad row."""
    with following(referee, engine, [ledger]) as follower:
        at_the_head(follower, referee)
        assert follower.matches_set_aside() == ()
    return content(engine, [ledger])


def emptied(engine: Engine, ledger: Ledger, referee: Referee) -> None:
    """Reset the ledger to its state before the first start."""
    with engine.begin() as connection:
        ledger.metadata.drop_all(connection)


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize(("whose", "page"), [("match", 3), ("match", 2000), ("club", 2000)])
def test_entries_after_a_damaged_row_of_a_club_wait_and_keep_their_numbers(
    referee: Referee, engine: Engine, evening: Evening, how: str, whose: str, page: int
):
    ledger = Ledger()
    said = kept(engine, referee, ledger)
    ours, theirs = causes(engine, ledger, evening.ours), causes(engine, ledger, evening.theirs)
    assert (len(ours), ours[2]) == (7, f"{evening.match}/3")
    emptied(engine, ledger, referee)
    aggregate = evening.match if whose == "match" else evening.ours.id
    number = 3 if whose == "match" else int(ours[1].partition("/")[2])
    place = evening.position(aggregate, number)
    with broken(referee, how, evening.rows[place - 1], place):
        with following(referee, engine, [ledger], page=page, **AGAIN) as follower:
            at_the_head(follower, referee)
            aside = {one.match: one for one in follower.matches_set_aside()}
            assert aside.keys() == {aggregate, evening.ours.id}
            assert {one.event for one in aside.values()} == {number}
            assert [one.match for one in aside.values() if one.waits] == [evening.ours.id] * (whose == "match")
            assert follower.faults == {}
        before = causes(engine, ledger, evening.ours)
        if how == "gone":  # detected when the next one arrives
            ours.remove(f"{aggregate}/{number}")
        assert before == ours[: len(before)]
        assert len(before) == {"match": 2, "club": 1}[whose] + (how == "gone")
        assert causes(engine, ledger, evening.theirs) == theirs, "the others do not wait"
    with following(referee, engine, [ledger], **AGAIN) as follower:
        until(lambda: follower.matches_set_aside() == ())
    assert content(engine, [ledger]) == said


def test_if_the_club_of_a_match_is_unknown_all_clubs_wait(referee: Referee, engine: Engine, evening: Evening):
    """The unreadable row is the opening, which names the club."""
    ledger = Ledger()
    said = kept(engine, referee, ledger)
    emptied(engine, ledger, referee)
    place = evening.position(evening.match, 1)
    with (
        broken(referee, "undecodable", evening.rows[place - 1], place),
        following(referee, engine, [ledger], **AGAIN) as follower,
    ):
        at_the_head(follower, referee)
        waiting = {one.match for one in follower.matches_set_aside() if one.waits}
        assert waiting == {evening.ours.id, evening.theirs.id}
        assert {one.match for one in follower.matches_set_aside()} == {*waiting, evening.match}
        assert all(
            one.error == f"{Waits.__name__}: event 1 of {evening.match}"
            for one in follower.matches_set_aside()
            if one.waits
        )
        assert len(causes(engine, ledger, evening.ours)) == 1
    with following(referee, engine, [ledger], **AGAIN) as follower:
        until(lambda: follower.matches_set_aside() == ())
    assert content(engine, [ledger]) == said


def test_no_one_waits_for_a_match_that_is_no_clubs(referee: Referee, engine: Engine, evening: Evening):
    ledger = Ledger()
    said = kept(engine, referee, ledger)
    emptied(engine, ledger, referee)
    place = evening.position(evening.stray, 2)
    with (
        broken(referee, "undecodable", evening.rows[place - 1], place),
        following(referee, engine, [ledger], **AGAIN) as follower,
    ):
        at_the_head(follower, referee)
        assert {one.match for one in follower.matches_set_aside()} == {evening.stray}
        entries = f"book_{ledger.key}_entries"
        assert content(engine, [ledger])[entries] == said[entries]
    with following(referee, engine, [ledger], **AGAIN) as follower:
        until(lambda: follower.matches_set_aside() == ())
    assert content(engine, [ledger]) == said
