"""Settings, read from environment variables that begin with ``KNACKA_``."""

import logging
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from api.access.addresses import networks_of
from api.http.cors import cors_of
from projections.follow.engine import books_file
from referee.log.notes import SigningKey, key_of
from referee.store.connection import SqliteFile, parse_store_url
from referee.value import Value

log = logging.getLogger(__name__)

PREFIX = "KNACKA_"


class SettingsError(ValueError):
    """A setting that cannot be used; the message names it."""


class Settings(Value, forbid_unknown_fields=True):
    """``deploy/env.example`` explains each."""

    database_url: str = "sqlite:///./knacka.db"
    host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8000
    metrics_host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    metrics_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    cache_megabytes: Annotated[int, Meta(ge=1)] = 32
    body_limit_bytes: Annotated[int, Meta(ge=1024, le=16_777_216)] = 65536
    cors_origins: str = ""
    operator_key_sha256: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")] = ""
    trusted_proxies: str = "127.0.0.0/8,::1/128"
    acts_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 600
    reads_per_minute: Annotated[int, Meta(ge=0, le=1_000_000)] = 1200
    address_times: Annotated[int, Meta(ge=1, le=1_000_000)] = 5
    address_connections: Annotated[int, Meta(ge=1, le=10_000)] = 256
    limit_loopback: bool = False
    anybody_opens: bool = True
    anybody_founds: bool = True
    matches_per_hour: Annotated[int, Meta(ge=1, le=1_000_000)] = 60
    clubs_per_day: Annotated[int, Meta(ge=1, le=1_000_000)] = 10
    club_matches: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000
    streams: Annotated[int, Meta(ge=1, le=10_000)] = 128
    log_key: str = ""
    log_key_old: str = ""
    log_origin: str = ""
    log_file: str = ""
    log_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 60
    start_wait_seconds: Annotated[float, Meta(ge=0, le=3600)] = 60
    log_level: Literal["debug", "info", "warning", "error"] = "info"


def _check_database(url: str) -> None:
    if isinstance(parse_store_url(url), SqliteFile):
        books_file(url)


CHECKS = {"database_url": _check_database, "cors_origins": cors_of, "trusted_proxies": networks_of}
"""Functions that raise ValueError if they cannot use a setting."""


def signing_keys(settings: Settings) -> tuple[SigningKey, ...]:
    """Return the keys that sign the log, the new one first. Raises SettingsError, never with a key in its message."""
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


def from_environment(environment: Mapping[str, str]) -> Settings:
    """Raises SettingsError for a value that cannot be used. Logs unknown names: Kubernetes sets some."""
    given = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
    known = {PREFIX + name.upper(): name for name in Settings.__struct_fields__}
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
