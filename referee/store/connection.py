"""The store that a URL names.

PostgreSQL's driver takes 8 MB of memory, so :mod:`referee.store.postgres_connection` is imported only if needed.
"""

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from referee.store.postgres_connection import Opener

CONNECT_SECONDS = 2
"""Default seconds to connect to each host of the URL. The driver allows no less."""
SILENCE_SECONDS = 3.0
"""Maximum seconds without data from the server during a statement."""
TCP_SETTINGS = {
    "tcp_user_timeout": int(SILENCE_SECONDS * 1000),
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
"""Default settings of libpq, with which the operating system notices a lost server."""


class SqliteFile(NamedTuple):
    path: str


class Postgres(NamedTuple):
    """A database: the parameters for libpq, and the schema of the tables."""

    parameters: dict[str, Any]
    schema: str

    def opener(self, **more: Any) -> "Opener":
        """Return a function that opens connections, without selecting ``schema``. ``more``: further parameters of the
        driver."""
        from referee.store.postgres_connection import Opener

        return Opener(self.parameters, **more)


def parse_store_url(url: str) -> SqliteFile | Postgres:
    """Return the store of a URL: ``sqlite:///path``, or a ``postgresql:`` URL of libpq, optionally with ``schema``.

    Raises ``ValueError`` for any other or an unreadable URL.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        path = unquote(parts.path).removeprefix("/")
        if not path:
            raise ValueError("a SQLite URL names a file: sqlite:///knacka.db")
        return SqliteFile(path)
    if parts.scheme not in ("postgresql", "postgres"):
        raise ValueError(f"unknown store {parts.scheme!r}: give sqlite:///file or postgresql://…")
    return _postgres_of(url)


def _postgres_of(url: str) -> Postgres:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    rest, _, query = url.partition("?")
    ours = [part for part in query.split("&") if part.startswith("schema=")]
    theirs = [part for part in query.split("&") if part and part not in ours]
    try:
        given = conninfo_to_dict(f"{rest}?{'&'.join(theirs)}")
    except ProgrammingError as error:
        hidden = "percent" in str(error)  # because a message about percent signs may repeat the password
        raise ValueError("% is written %25" if hidden else str(error).strip()) from None
    defaults = {"dbname": "knacka", "host": "127.0.0.1", "user": "postgres", "connect_timeout": CONNECT_SECONDS}
    schema = unquote(ours[-1].removeprefix("schema=")) if ours else "public"
    return Postgres({**TCP_SETTINGS, **defaults, **given}, schema)
