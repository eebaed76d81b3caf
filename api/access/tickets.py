"""Tickets: whoever cannot send a token with a request, as a browser's EventSource cannot, sends one of these in its
address. Addresses are written into logs and histories, so a ticket is good for one stream and not for long.

They are kept beside the books, as SHA-256: any process over the store takes what another gave, and only once. Signed
ones would need no table, but be good once at each process, and the processes share no secret to sign with.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import Column, Engine, MetaData, Table, Text, Uuid, delete, insert, select

from api.access.tokens import hash_of, new_token
from projections.follow.engine import Utc, writer
from projections.follow.keeping import alone
from referee.events import Viewer

TICKET_SECONDS = 30
"""From when it is given until the stream has to be asked for. Clocks of several machines may differ by less."""
TICKET_LENGTH = len(new_token())

_metadata = MetaData()
_tickets = Table(
    "book_tickets",
    _metadata,
    Column("hash", Text, primary_key=True),
    Column("match", Uuid, nullable=False),
    Column("viewer", Text, nullable=False),
    Column("expires", Utc, nullable=False),
)


class Tickets:
    """Touches the database: call it in a thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = writer(engine)

    def prepare(self) -> None:
        """Creates the table if it is missing."""
        with self._engine.begin() as connection:
            alone(connection)
            _metadata.create_all(connection)

    def give(self, match_id: UUID, viewer: Viewer) -> tuple[str, datetime]:
        """A ticket for this match that shows what the viewer may see, and when it expires."""
        ticket, now = new_token(), datetime.now(UTC)
        expires = now + timedelta(seconds=TICKET_SECONDS)
        with self._engine.begin() as connection:
            connection.execute(delete(_tickets).where(_tickets.c.expires <= now))
            given = insert(_tickets).values(hash=hash_of(ticket), match=match_id, viewer=str(viewer), expires=expires)
            connection.execute(given)
        return ticket, expires

    def take(self, match_id: UUID, ticket: str) -> Viewer | None:
        """Whose ticket for this match it was; ``None`` if it is not one, or not any more. It is none from now on."""
        this = (_tickets.c.hash == hash_of(ticket)) & (_tickets.c.match == match_id)
        with self._engine.begin() as connection:
            found = connection.execute(select(_tickets.c.viewer, _tickets.c.expires).where(this)).one_or_none()
            if connection.execute(delete(_tickets).where(this)).rowcount == 0 or found is None:
                return None  # or somebody else has just taken it
        viewer, expires = found
        if expires <= datetime.now(UTC):
            return None
        return "official" if viewer == "official" else int(viewer)
