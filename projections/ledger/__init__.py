"""The ledger: double entries for the results of a club's matches for money and the acts of its treasurer.

A club's entries are numbered from 1 in log order. They never change: a later entry reverses a wrong one.
A match is entered when it is over and all seats have agreed to the stakes.
A bad row stops the entries of clubs that it may concern, so that a rebuild gives entries equal numbers.
"""

from collections.abc import Iterable, Sequence
from typing import Self
from uuid import UUID

from msgspec.structs import replace
from sqlalchemy import Connection, select, update

from projections.follow.page import Page, Row, topics
from projections.ledger.posting import PageWriter
from projections.ledger.tables import Keeping, Tables
from referee.clubs.facts import BooksClosed, ClubFounded, ClubSet, MoneyPosted
from referee.events import MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.officials.events.takeback import ActTakenBack
from referee.visibility import Recorded

OF_CLUBS = topics(ClubFounded, ClubSet, MoneyPosted, BooksClosed)
OF_MATCHES = topics(
    *(MatchOpened, MatchWon, MatchClosed, MatchAbandoned, ProtocolCorrected, ActTakenBack),
    *(StakesAgreed, StakesDeclined),
)


class Ledger(Tables):
    """:class:`~projections.follow.projection.Numbering` explains the methods of this projection."""

    name, key = "ledger", "ledger_3"
    takes = OF_CLUBS | OF_MATCHES

    def with_prefix(self, prefix: str) -> Self:
        return type(self)(prefix)

    def version(self, connection: Connection, aggregate: UUID) -> int:
        for table, whose in ((self.matches, self.matches.c.match), (self.clubs, self.clubs.c.club)):
            if version := connection.scalar(select(table.c.version).where(whose == aggregate)):
                return int(version)
        return 0

    def apply(self, connection: Connection, page: Page) -> None:
        matches, clubs = self.matches.c, self.clubs.c
        writing = PageWriter(self, connection)
        versions: dict[UUID, int] = {}
        for row in connection.execute(select(self.matches).where(matches.match.in_(page.histories))):
            versions[row.match], writing.matches[row.match] = row.version, row.money
        for row in connection.execute(select(self.clubs).where(clubs.club.in_(page.histories))):
            versions[row.club], writing.clubs[row.club] = row.version, row.keeping
        happened: list[tuple[int, Recorded]] = []
        reached: dict[UUID, int] = {}
        for aggregate_id, version, _, events in page.news(versions, self.takes):
            reached[aggregate_id] = version
            if events:
                places = {row[2]: row[0] for row in page.histories[aggregate_id] if row[3] in self.takes}
                happened += [(places[one.originator_version], one) for one in events]
        for _, recorded in sorted(happened, key=lambda one: one[0]):
            writing.add_event(recorded)
        writing.flush()
        writing.write_versions(reached, versions.keys())

    def stop(self, connection: Connection, aggregate: UUID, row: Row) -> Sequence[UUID]:
        """Stop entries for the clubs that a row may concern: all clubs if the ledger does not know its match.
        Return them without ``aggregate``."""
        clubs, matches = self.clubs.c, self.matches.c
        known = {row.club: row.keeping for row in connection.execute(select(clubs.club, clubs.keeping))}
        match = connection.execute(select(matches.money).where(matches.match == aggregate)).one_or_none()
        owners: Iterable[UUID] = known
        if aggregate in known or row[3] in OF_CLUBS:
            owners = [aggregate]
        elif match is not None:
            owners = [] if match.money is None else [match.money.club]
        for club in owners:
            if club in known:
                self._store_keeping(connection, club, replace(known[club], waits=True))
        return [club for club in owners if club != aggregate]

    def resume(self, connection: Connection) -> None:
        for club, keeping in connection.execute(select(self.clubs.c.club, self.clubs.c.keeping)).all():
            if keeping.waits:
                self._store_keeping(connection, club, replace(keeping, waits=False))

    def _store_keeping(self, connection: Connection, club: UUID, keeping: Keeping) -> None:
        connection.execute(update(self.clubs).where(self.clubs.c.club == club).values(keeping=keeping))
