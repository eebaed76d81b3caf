"""Issues tickets for clients that cannot send headers. A ticket in the URL of a stream replaces the credential.

A ticket is valid once and for a short time, because URLs are logged. Tickets are stored with the projections, so
every process accepts them.
"""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Column, Connection, Engine, MetaData, Table, Text, Uuid, delete, insert, select

from api.access.credentials import Credential
from api.access.tokens import TOKEN_LENGTH, hash_of, new_token
from projections.follow.engine import Utc, engine_for_writes
from projections.follow.projection import exclude_others
from referee.store.clock import utc_now

TICKET_SECONDS = 30
"""Lifetime. The clocks of the service's machines must differ by less."""
TICKET_LENGTH = TOKEN_LENGTH

_metadata = MetaData()
_tickets = Table(
    "book_tickets",
    _metadata,
    Column("hash", Text, primary_key=True),
    Column("match", Uuid, nullable=False),
    Column("token", Text, nullable=False),
    Column("expires", Utc, nullable=False),
)


class Tickets:
    """Stores and redeems tickets. Call the methods in a thread, because they use the database."""

    def __init__(self, engine: Engine) -> None:
        self._reader, self._engine = engine, engine_for_writes(engine)

    def prepare(self) -> None:
        """Create the table if it is missing."""
        with self._engine.begin() as connection:
            exclude_others(connection)
            _metadata.create_all(connection)

    def give(self, match_id: UUID, credential: Credential) -> tuple[str, datetime]:
        """Store a new ticket, and return it and the time when it expires. Delete expired tickets."""
        ticket, now = new_token(), utc_now()
        expires = now + timedelta(seconds=TICKET_SECONDS)
        with self._engine.begin() as connection:
            connection.execute(delete(_tickets).where(_tickets.c.expires <= now))
            row = {"hash": hash_of(ticket), "match": match_id, "token": credential.to_text, "expires": expires}
            connection.execute(insert(_tickets).values(row))
        return ticket, expires

    def peek(self, match_id: UUID, ticket: str) -> Credential | None:
        """Return the credential of a ticket; ``None`` if the ticket is not valid for this match."""
        with self._reader.begin() as connection:
            return _credential(connection, match_id, ticket)

    def take(self, match_id: UUID, ticket: str) -> Credential | None:
        """Delete a ticket and return its credential; ``None`` if the ticket is not valid for this match."""
        this = (_tickets.c.hash == hash_of(ticket)) & (_tickets.c.match == match_id)
        with self._engine.begin() as connection:
            found = _credential(connection, match_id, ticket)
            was_deleted = connection.execute(delete(_tickets).where(this)).rowcount != 0
        # Otherwise a different request has used the ticket.
        return found if was_deleted else None


def _credential(connection: Connection, match_id: UUID, ticket: str) -> Credential | None:
    query = select(_tickets.c.token).where(_tickets.c.hash == hash_of(ticket), _tickets.c.match == match_id)
    token = connection.scalar(query.where(_tickets.c.expires > utc_now()))
    return None if token is None else Credential.from_text(token)
