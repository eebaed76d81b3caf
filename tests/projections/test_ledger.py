"""The ledger beside other rows of the log."""

from uuid import UUID, uuid4

import pytest
from eventsourcing.persistence import StoredEvent
from msgspec.structs import replace
from sqlalchemy import Engine

from projections.follow.follow import rebuild
from projections.journal import JournalEntry
from projections.ledger import Ledger
from referee.clubs import commands
from referee.events import MatchAbandoned, Stakes
from referee.store.clock import utc_now
from referee.store.desk import Desk
from referee.store.store import Referee
from referee.visibility import Event, Recorded
from tests.projections.damaged_rows import BROKEN, broken
from tests.projections.filled_log import head, reader
from tests.support.agreed_stakes import AGREED
from tests.support.random_matches import opening
from tests.support.salted_rows import row_of
from tests.support.stored_clubs import Club

SETTLED = (300, -100, -200)


def store(referee: Referee, match_id: UUID, number: int, event: Event) -> StoredEvent:
    """Store an event of a match."""
    row = row_of(Recorded(match_id, number, utc_now(), "official", f"~{uuid4().hex}", "", "", event))
    referee.recorder.insert_events([row])
    return row


def entries(referee: Referee, engine: Engine, club: UUID) -> list[JournalEntry]:
    """Return the entries of a newly built ledger."""
    ledger = Ledger()
    rebuild(reader(referee), engine, ledger)
    with engine.connect() as connection:
        return list(ledger.read(connection, club))


@pytest.mark.parametrize("how", BROKEN)
def test_a_bad_row_of_another_match_changes_no_entry(referee: Referee, engine: Engine, how: str):
    """Entries are numbered in the order of the log, even if a page can be applied only in parts."""
    desk, other = Desk(referee), uuid4()
    club = Club(desk)
    store(referee, other, 1, opening(players=3))
    opened = opening(players=3, stakes=Stakes(currency="SEK", unit=100))
    opened = replace(opened, club=club.id, members=(1, 2, 3))
    matches = [uuid4() for _ in range(3)]
    for match_id in matches:
        store(referee, match_id, 1, opened)
        store(referee, match_id, 2, AGREED)
    for match_id in matches:
        club.do(commands.Deposit(member=1, amount=500, via="cash"))
        store(referee, match_id, 3, MatchAbandoned(deal=1, settlement=SETTLED))
        club.do(commands.Fee(member=2, amount=100))
    row = store(referee, other, 2, MatchAbandoned(deal=1))
    place = head(referee)
    store(referee, other, 3, MatchAbandoned(deal=1))
    desk.close()
    whole = entries(referee, engine, club.id)
    assert [one.kind for one in whole] == ["deposit", "match", "fee"] * 3
    with broken(referee, how, row, place):
        assert entries(referee, engine, club.id) == whole
