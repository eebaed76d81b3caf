"""The ledger: what a club's matches came to, and what its treasurer did, as entries in double entry.

An entry has a number in its club, 1 and up in the order of the log, and nothing of it ever changes: what was wrong is
reversed by another. Debit is above zero. What a match came to the referee has said in the event that ended it; here
it is only entered, and where it is said otherwise later, or nothing any more, the first entry is reversed.
"""

from typing import Self
from uuid import UUID

from sqlalchemy import Connection, select

from projections.follow.page import Page, topics
from projections.ledger.entering import Writing
from projections.ledger.tables import Tables
from referee.clubs.facts import BooksClosed, ClubFounded, ClubSet, MoneyPosted
from referee.events import MatchAbandoned, MatchClosed, MatchOpened, MatchWon, Recorded
from referee.proceedings.corrections import ProtocolCorrected
from referee.proceedings.takeback import ActTakenBack


class Ledger(Tables):
    """The book of all clubs' money."""

    name, key = "ledger", "ledger_2"
    takes = topics(
        *(MatchOpened, MatchWon, MatchClosed, MatchAbandoned, ProtocolCorrected, ActTakenBack),
        *(ClubFounded, ClubSet, MoneyPosted, BooksClosed),
    )

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
                places = {number: position for position, _, number, *_ in page.histories[aggregate_id]}
                happened += [(places[one.originator_version], one) for one in events]
        for _, recorded in sorted(happened, key=lambda one: one[0]):
            writing.take(recorded)
        writing.flush()
        writing.reach(reached, versions.keys())
