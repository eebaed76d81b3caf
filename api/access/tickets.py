"""Tickets: whoever cannot send a token with a request, as a browser's EventSource cannot, sends one of these in its
address. Addresses are written into logs and histories, so a ticket is good for one stream and not for long.

They are kept beside the books, as SHA-256: any process over the store takes what another gave, and only once. Signed
ones would need no table, but be good once at each process, and the processes share no secret to sign with.
"""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import (
    Column,
    ColumnElement,
    Engine,
    MetaData,
    Row,
    Select,
    Table,
    Text,
    Uuid,
    delete,
    insert,
    select,
)

from api.access.credentials import Credential
from api.access.tokens import TOKEN_LENGTH, hash_of, new_token
from projections.follow.engine import Utc, writer
from projections.follow.projection import exclude_others
from referee.store.clock import utc_now

TICKET_SECONDS = 30
"""From when it is given until the stream has to be asked for. Clocks of several machines may differ by less."""
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
    """Touches the database: call it in a thread."""

    def __init__(self, engine: Engine) -> None:
        self._reader, self._engine = engine, writer(engine)

    def prepare(self) -> None:
        """Creates the table if it is missing."""
        with self._engine.begin() as connection:
            exclude_others(connection)
            _metadata.create_all(connection)

    def give(self, match_id: UUID, shown: Credential) -> tuple[str, datetime]:
        """A ticket for this match in the place of what was shown; and when it expires."""
        ticket, now = new_token(), utc_now()
        expires = now + timedelta(seconds=TICKET_SECONDS)
        with self._engine.begin() as connection:
            connection.execute(delete(_tickets).where(_tickets.c.expires <= now))
            row = {"hash": hash_of(ticket), "match": match_id, "token": shown.written, "expires": expires}
            connection.execute(insert(_tickets).values(row))
        return ticket, expires

    def look(self, match_id: UUID, ticket: str) -> Credential | None:
        """What it stands for; ``None`` if it is no ticket for this match, or not any more. It
        stays as it is."""
        with self._reader.begin() as connection:
            return _good(connection.execute(_found(match_id, ticket)).one_or_none())

    def take(self, match_id: UUID, ticket: str) -> Credential | None:
        """The same, but it is none from now on."""
        with self._engine.begin() as connection:
            found = connection.execute(_found(match_id, ticket)).one_or_none()
            if connection.execute(delete(_tickets).where(_this(match_id, ticket))).rowcount == 0:
                return None  # or somebody else has just taken it
        return _good(found)


def _this(match_id: UUID, ticket: str) -> ColumnElement[bool]:
    return (_tickets.c.hash == hash_of(ticket)) & (_tickets.c.match == match_id)


def _found(match_id: UUID, ticket: str) -> Select[tuple[str, datetime]]:
    return select(_tickets.c.token, _tickets.c.expires).where(_this(match_id, ticket))


def _good(found: Row[tuple[str, datetime]] | None) -> Credential | None:
    return None if found is None or found.expires <= utc_now() else Credential.read(found.token)
