"""Settings, read from environment variables that begin with ``KNACKA_``."""

import logging
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from api.access.addresses import networks_of
from api.http.cors import cors_of
from api.http.schemas import field_docs
from projections.follow.engine import books_file
from referee.log.notes import SigningKey, key_of
from referee.store.connection import SqliteFile, parse_store_url
from referee.value import Value

log = logging.getLogger(__name__)

PREFIX = "KNACKA_"


class SettingsError(ValueError):
    """A setting is unusable. The message names it."""


class Settings(Value, forbid_unknown_fields=True):
    """`knacka serve --help` and the guide for operators show the fields' docstrings."""

    database_url: str = "sqlite:///./knacka.db"
    """URL of the event store: `sqlite:///relative.db`, `sqlite:////absolute/path.db` or
    `postgresql://user:password@host:5432/name`."""
    host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    """Address to listen on. The service has no TLS: use a proxy for addresses that other machines reach."""
    port: Annotated[int, Meta(ge=0, le=65535)] = 8000
    """Port to listen on; 0: a free port."""
    metrics_host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    """Address of the Prometheus metrics."""
    metrics_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    """Port of the Prometheus metrics (`/metrics`); 0: no metrics."""
    cache_megabytes: Annotated[int, Meta(ge=1)] = 32
    """Megabytes of the cache of matches and clubs."""
    body_limit_bytes: Annotated[int, Meta(ge=1024, le=16_777_216)] = 65536
    """Maximum size of a request body, in bytes."""
    cors_origins: str = ""
    """Origins whose pages may call the API, comma-separated, or `*` for all; empty: none."""
    operator_key_sha256: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")] = ""
    """SHA-256, in hex, of the operator's key that `knacka key operator` makes; empty: no such key."""
    trusted_proxies: str = "127.0.0.0/8,::1/128"
    """Addresses and networks of proxies whose `Forwarded` or `X-Forwarded-For` is trusted, comma-separated;
    empty: none."""
    acts_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 600
    """Writes per minute of one club, token or address, in each process; 0: no limit."""
    reads_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 1200
    """Other requests per minute of one club, token or address, in each process; 0: no limit."""
    address_times: Annotated[int, Meta(ge=1, le=1_000_000)] = 5
    """Factor: all keys and tokens of one address share each limit per minute times this number."""
    address_connections: Annotated[int, Meta(ge=1, le=10_000)] = 256
    """Maximum number of open connections of one address."""
    limit_loopback: bool = False
    """True: the limits also apply to clients on this machine that use no proxy."""
    anybody_opens: bool = True
    """True: clients without a key may open matches that belong to no club."""
    anybody_founds: bool = True
    """True: clients without a key may found clubs."""
    matches_per_hour: Annotated[int, Meta(ge=1, le=1_000_000)] = 60
    """Maximum number of matches that one address opens without a key per hour, in each process."""
    clubs_per_day: Annotated[int, Meta(ge=1, le=1_000_000)] = 10
    """Maximum number of clubs that one address founds without a key per day, in each process."""
    club_matches: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000
    """Maximum number of open matches of one club."""
    streams: Annotated[int, Meta(ge=1, le=10_000)] = 128
    """Maximum number of event streams that one key, token or address follows at a time, in each process."""
    log_key: str = ""
    """Private key that signs checkpoints of the log; empty: nothing is signed."""
    log_key_old: str = ""
    """Previous private key, which also signs while clients change to the new key."""
    log_origin: str = ""
    """Name of the log, for a key without a name (PEM)."""
    log_file: str = ""
    """File with the last signed checkpoint; empty: beside the SQLite file, or no file for PostgreSQL."""
    log_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 60
    """Minimum seconds between two checkpoints, except after a closing of the books."""
    start_wait_seconds: Annotated[float, Meta(ge=0, le=3600)] = 60
    """Seconds that a start waits for a database that does not answer yet; 0: one try."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Level of the log lines: `debug`, `info`, `warning` or `error`."""


def _check_database(url: str) -> None:
    """Raise ValueError for an invalid URL or a SQLite database in memory."""
    if isinstance(parse_store_url(url), SqliteFile):
        books_file(url)


CHECKS = {"database_url": _check_database, "cors_origins": cors_of, "trusted_proxies": networks_of}
"""Functions that raise ValueError for an unusable value, by setting."""


def signing_keys(settings: Settings) -> tuple[SigningKey, ...]:
    """Return the keys that sign the log, the new first.

    Raises SettingsError if a key is unusable, both are equal, or only the old one is set. No message has a key.
    """
    keys: list[SigningKey] = []
    for name in ("log_key", "log_key_old"):
        if text := getattr(settings, name):
            try:
                keys.append(key_of(text, settings.log_origin or (keys[0].name if keys else "")))
            except ValueError as error:
                raise SettingsError(f"{PREFIX}{name.upper()}: {error}") from None
    if settings.log_key_old and not settings.log_key:
        raise SettingsError(
            f"{PREFIX}LOG_KEY_OLD: the previous key needs the present one beside it: set {PREFIX}LOG_KEY"
        )
    if len({key.vkey for key in keys}) < len(keys):
        raise SettingsError(
            f"{PREFIX}LOG_KEY_OLD: this key is also {PREFIX}LOG_KEY: set the previous key, or nothing"
        )
    return tuple(keys)


class Setting(NamedTuple):
    variable: str
    default: str
    meaning: str


def all_settings() -> list[Setting]:
    docs, defaults = field_docs(Settings), Settings()
    return [
        Setting(_variable(name), _text_of(getattr(defaults, name)), docs[name]) for name in Settings.__struct_fields__
    ]


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _text_of(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def from_environment(environment: Mapping[str, str]) -> Settings:
    """Return the settings. Raises SettingsError for an unusable value. Unknown names are only logged."""
    given = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
    known = {_variable(name): name for name in Settings.__struct_fields__}
    if unknown := sorted(given.keys() - known.keys()):
        log.warning("%s: unknown setting; the settings are %s", ", ".join(unknown), ", ".join(known))
    values = {known[name]: value for name, value in given.items() if name in known}
    try:
        settings = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$.")
        raise SettingsError(f"{PREFIX}{path.rstrip('`').upper()}: {reason}") from None
    for name, check in CHECKS.items():
        try:
            check(getattr(settings, name))
        except ValueError as error:
            raise SettingsError(f"{PREFIX}{name.upper()}: {error}") from None
    signing_keys(settings)
    return settings
