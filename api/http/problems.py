"""Everything that goes wrong, as RFC 9457 problems in the reader's language. No other file makes an error answer."""

import logging
import sqlite3
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, Any, ClassVar
from uuid import UUID

import msgspec
import psycopg
from eventsourcing.persistence import PersistenceError
from litestar import Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ExceptionHandlersMap
from msgspec import Meta
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.http.headers import POLICY, SECURE, Headers, Req, header, language_of
from api.http.replies import encode
from referee import sentences
from referee.refusals import Refused
from referee.sentences import Language, RefusalText
from referee.store.desk import Busy, Full, InDoubt, KeyReused, Stale
from referee.store.store import UnknownAggregate
from referee.value import RuleId, Value

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = {"Retry-After": "1"}
REASON_MAX = 300
"""Of what a database says in a failure, so many characters are logged."""
STORE_FAILURES: tuple[type[Exception], ...] = (
    PersistenceError,
    DBAPIError,
    PoolTimeout,
    psycopg.Error,
    sqlite3.Error,
)
"""What the event store, the books and their drivers raise when a database does not do what it is asked."""


class ProblemText(RefusalText, forbid_unknown_fields=True):
    """What is said of a problem of the interface itself. The sentence may name facts in braces."""

    status: Annotated[int, Meta(ge=400, le=599)]


TEXTS = msgspec.toml.decode((files("api.http") / "problems.toml").read_bytes(), type=dict[str, ProblemText])
"""By code. ``problems.toml`` is for a translator to read and change."""


@lru_cache(maxsize=512)
def problem_type(code: str) -> str:
    """The stable ``type`` of a problem."""
    return f"/problems/{code.replace('_', '-')}"


ProblemType = Annotated[
    str,
    Meta(
        title="ProblemType",
        description="What went wrong: stable, to branch on. More can be added.",
        extra_json_schema={"enum": sorted(map(problem_type, (*TEXTS, *sentences.TEXTS.refusals)))},
    ),
]


class Document(Value, omit_defaults=True):
    """A problem (RFC 9457). ``rule`` and ``facts`` say what would have been right, as far as the caller may know."""

    SCHEMA: ClassVar[str] = "Problem"
    type: ProblemType
    title: str
    status: int
    detail: str
    instance: str
    rule: RuleId | msgspec.UnsetType | None = msgspec.UNSET
    facts: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class Problem(Exception):
    """An error of the interface itself, with a ``code`` of :data:`TEXTS`."""

    def __init__(self, code: str, *, headers: Mapping[str, str] | None = None, **facts: Any) -> None:
        super().__init__(code)
        self.code, self.facts, self.headers = code, facts, dict(headers or {})


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


STATUS = {"state": 409, "rule": 422}
"""The status of a refusal, by ``Refused.status``."""


def _answer(
    request: Req, code: str, language: Language, told: Document, headers: Mapping[str, str] | None = None
) -> Response[bytes]:
    request.scope["problem"] = code  # type: ignore[typeddict-unknown-key]
    headers = {**(headers or {}), **_headers(language)}
    return Response(encode(told), status_code=told.status, headers=headers, media_type=MEDIA_TYPE)


def _headers(language: Language) -> dict[str, str]:
    return {"Content-Language": language, "Vary": "Accept-Language, Authorization"}


def _told(problem: Problem, instance: str, language: Language) -> Document:
    text = TEXTS[problem.code]
    return Document(
        type=problem_type(problem.code),
        title=text.title.in_(language),
        status=text.status,
        detail=text.in_(language).format_map({name: _said(value) for name, value in problem.facts.items()}),
        instance=instance,
        facts=problem.facts or msgspec.UNSET,
    )


def _problem(request: Req, problem: Problem) -> Response[bytes]:
    language = language_of(header(request, b"accept-language"))
    told = _told(problem, request.scope["path"], language)
    return _answer(request, problem.code, language, told, problem.headers)


def as_sent(problem: Problem, instance: str, accept_language: str | None) -> tuple[int, Headers, bytes]:
    """Status, headers and body of a problem that no handler answers: the protocol's own, or after one has failed."""
    language = language_of(accept_language)
    told = _told(problem, instance, language)
    body = encode(told)
    headers = {
        **problem.headers,
        **_headers(language),
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return told.status, [*raw, *SECURE, POLICY], body


def _refused(request: Req, refused: Refused) -> Response[bytes]:
    language = language_of(header(request, b"accept-language"))
    told = Document(
        type=problem_type(refused.code),
        title=sentences.title(refused.code, language),
        status=STATUS[refused.status],
        detail=sentences.refusal(refused.code, refused.facts, language),
        instance=request.scope["path"],
        rule=refused.rule,
        facts=refused.facts,
    )
    return _answer(request, refused.code, language, told)


def _http(request: Req, error: HTTPException) -> Response[bytes]:
    """What Litestar itself finds wrong."""
    status = error.status_code
    if status == HTTPStatus.NOT_FOUND:
        path = request.scope["path"]
        within = path.startswith("/v1/matches/")
        return _problem(
            request, Problem("no_such_match") if within and _no_match(path) else Problem("no_such_page", path=path)
        )
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = [name.strip() for name in (error.headers or {}).get("allow", "").split(",")]
        methods = sorted(name for name in allowed if name)
        return _problem(
            request, Problem("method_not_allowed", headers={"Allow": ", ".join(methods)}, allowed=methods)
        )
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return _problem(request, Problem("too_large", limit_bytes=request.app.request_max_body_size))
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        reasons = [f"{item.get('key', 'request')}: {_plain(item['message'])}" for item in error.extra]
        return _problem(request, Problem("bad_parameter", reason="; ".join(reasons)))
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return _problem(request, Problem("bad_parameter", reason=error.detail.rstrip(".") or "The request is wrong"))
    return _unforeseen(request, error)


def _plain(message: str) -> str:
    """A parameter is left out, never null."""
    return message.replace(" | null", "")


def _no_match(path: str) -> bool:
    """Whether the part of the path where a match id belongs is no id."""
    try:
        UUID(path.split("/")[3])
    except ValueError:
        return True
    return False


def _unforeseen(request: Req, error: Exception) -> Response[bytes]:
    log.error("%s %s failed", request.scope["method"], request.scope["path"], exc_info=error)
    return _problem(request, Problem("internal"))


def _store_away(request: Req, error: Exception) -> Response[bytes]:
    """One line a request and no traceback: while a store is away there are many, and the fault is not in the code."""
    reason = " ".join(str(error).split())[:REASON_MAX]
    log.error("%s %s: %s: %s", request.scope["method"], request.scope["path"], type(error).__name__, reason)
    return _problem(request, Problem("store_away", headers=RETRY_AFTER))


HANDLERS: ExceptionHandlersMap = {
    Problem: _problem,
    Refused: _refused,
    Stale: lambda request, stale: _problem(request, Problem("stale", version=stale.version)),
    Full: lambda request, full: _problem(request, Problem("match_full", most=full.most)),
    KeyReused: lambda request, _: _problem(request, Problem("key_reused")),
    UnknownAggregate: lambda request, _: _problem(request, Problem("no_such_match")),
    Busy: lambda request, _: _problem(request, Problem("busy", headers=RETRY_AFTER)),
    InDoubt: lambda request, _: _problem(request, Problem("outcome_unknown", headers=RETRY_AFTER)),
    **dict.fromkeys(STORE_FAILURES, _store_away),
    HTTPException: _http,
    Exception: _unforeseen,
}
