"""The ledger: what a club's matches came to, and what its treasurer did, as entries in double entry.

An entry has a number in its club, 1 and up in the order of the log, and nothing of it ever changes: what was wrong is
reversed by another. Debit is above zero. What a match came to the referee has said in the event that ended it; here
it is only entered, and where it is said otherwise later, or nothing any more, the first entry is reversed. It is
entered when every seat has agreed to the stakes, which may be later than the end; then the agreement is its cause.

Where a row cannot be taken, the club waits whose it may be: an entry that came later than its place in the log would
have another number than in a book that was built anew. A row that is gone is missed when a later one of its match
comes; what was entered between the two has other numbers when it is there again.
"""

from collections.abc import Iterable, Sequence
from typing import Self
from uuid import UUID

from msgspec.structs import replace
from sqlalchemy import Connection, select, update

from projections.follow.page import Page, Row, topics
from projections.ledger.posting import Writing
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
    """The book of all clubs' money."""

    name, key = "ledger", "ledger_3"
    takes = OF_CLUBS | OF_MATCHES

    def under(self, prefix: str) -> Self:
        """The same book in other tables."""
        return type(self)(prefix)

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The last event of a match, or of a club, that the book has come to."""
        for table, whose in ((self.matches, self.matches.c.match), (self.clubs, self.clubs.c.club)):
            if version := connection.scalar(select(table.c.version).where(whose == match_id)):
                return int(version)
        return 0

    def apply(self, connection: Connection, page: Page) -> None:
        """Takes in the events of a page, those of all clubs and matches in the order of the log."""
        matches, clubs = self.matches.c, self.clubs.c
        writing = Writing(self, connection)
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
            writing.take(recorded)
        writing.flush()
        writing.reach(reached, versions.keys())

    def stop(self, connection: Connection, aggregate: UUID, row: Row) -> Sequence[UUID]:
        """Has those clubs wait whose entries may lack one: of a match that is not known it may be any."""
        clubs, matches = self.clubs.c, self.matches.c
        known = {row.club: row.keeping for row in connection.execute(select(clubs.club, clubs.keeping))}
        match = connection.execute(select(matches.money).where(matches.match == aggregate)).one_or_none()
        whose: Iterable[UUID] = known
        if aggregate in known or row[3] in OF_CLUBS:
            whose = [aggregate]
        elif match is not None:
            whose = [] if match.money is None else [match.money.club]
        for club in whose:
            if club in known:
                self._keep(connection, club, replace(known[club], waits=True))
        return [club for club in whose if club != aggregate]

    def go_on(self, connection: Connection) -> None:
        """No club waits."""
        for club, keeping in connection.execute(select(self.clubs.c.club, self.clubs.c.keeping)).all():
            if keeping.waits:
                self._keep(connection, club, replace(keeping, waits=False))

    def _keep(self, connection: Connection, club: UUID, keeping: Keeping) -> None:
        connection.execute(update(self.clubs).where(self.clubs.c.club == club).values(keeping=keeping))
