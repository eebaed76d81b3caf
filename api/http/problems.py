"""Makes every error answer: an RFC 9457 problem in the reader's language."""

import logging
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, Any, ClassVar
from urllib.parse import quote
from uuid import UUID

import msgspec
from eventsourcing.persistence import PersistenceError
from litestar import Response
from litestar.exceptions import HTTPException
from litestar.params import QueryParameter
from litestar.types import ASGIApp, ExceptionHandlersMap
from litestar.typing import FieldDefinition
from msgspec import Meta
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from api.http.cors import Cors
from api.http.faults import FAULTS_MAX, Fault, Wrong, first_fault_text, type_of, wrong_of
from api.http.headers import POLICY, SECURE, Headers, Req, header, language_of
from api.http.logged_paths import loggable_request
from api.http.notes import AnsweredProblem, notes_in
from api.http.replies import encode
from api.http.request_ids import ID_MAX, REQUEST_ID, TRACE_LENGTH, RequestIds
from api.http.shortage import is_shortage
from projections.follow.engine import DamagedCell
from referee import rulebook, sentences, wire_types
from referee.games import RULESETS
from referee.refusals import Refused
from referee.sentences import Language, RefusalText, Text, filled
from referee.store.clock import ClockWrong, utc_now
from referee.store.command import Busy, Full, InDoubt, KeyReused, OpenedByAnother, Overtaken, Stale, TokenNotValid
from referee.store.damaged import DamagedAttempt, DamagedRow
from referee.store.store import UnknownAggregate
from referee.value import RuleId, Value

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = {"Retry-After": "1"}
RETRY_LATER = {"Retry-After": "60"}
"""Header of problems whose cause an operator has to repair."""
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="match"'}
INSTANCE_MAX = 3 * 4096 + len("#request=&trace=") + ID_MAX + TRACE_LENGTH
"""Maximum characters of a problem's ``instance``: a percent-encoded path of 4096 bytes, and two ids."""
INSTANCE = f"^(/[^#]*)?(#request=[A-Za-z0-9_-]{{8,{ID_MAX}}}(&trace=[0-9a-f-]{{{TRACE_LENGTH}}})?)?$"
PLAIN = "!$&'()*+,/:;=@~"
"""Characters of a path that, like letters, digits and `-._`, are not percent-encoded."""
RETRY_AFTER_MOST_SECONDS = 600
REASON_MAX = 300
"""Maximum characters of a database's error message in the log."""
STORE_FAILURES: tuple[type[Exception], ...] = (
    PersistenceError,
    DBAPIError,
    PoolTimeout,
    sqlite3.Error,
)
"""Errors of the event store, the projections and SQLite. Libraries convert errors of PostgreSQL's driver to these."""

Sent = tuple[int, Headers, bytes]
"""Status, headers and body of an answer."""


class ProblemText(RefusalText, forbid_unknown_fields=True):
    """The texts of a problem in ``problems.toml``. They may contain names of facts in braces."""

    status: Annotated[int, Meta(ge=400, le=599)]


TEXTS = msgspec.toml.decode((files("api.http") / "problems.toml").read_bytes(), type=dict[str, ProblemText])

Reason = dict[str, str | int]
"""A ``code`` of :data:`REASONS`, and the facts for its text."""
REASONS = msgspec.toml.decode((files("api.http") / "reasons.toml").read_bytes(), type=dict[str, Text])
"""Clauses by code: which limit is reached, or why the service is not ready."""


@lru_cache(maxsize=512)
def problem_type(code: str) -> str:
    return f"/problems/{code.replace('_', '-')}"


ProblemType = Annotated[
    str,
    Meta(
        title="ProblemType",
        description="The type of the problem: stable, to branch on. More can be added.",
        extra_json_schema={"enum": sorted(map(problem_type, (*TEXTS, *sentences.TEXTS.refusals)))},
    ),
]


class Document(Value, omit_defaults=True):
    """A problem (RFC 9457). ``rule`` and ``facts`` say what would have been right, if the caller may know that."""

    SCHEMA: ClassVar[str] = "Problem"
    type: ProblemType
    title: wire_types.Sentence
    status: Annotated[int, Meta(extra_json_schema={"minimum": 400, "maximum": 599})]
    detail: wire_types.Sentence
    instance: Annotated[str, Meta(extra_json_schema={"pattern": INSTANCE, "maxLength": INSTANCE_MAX})]
    rule: RuleId | msgspec.UnsetType | None = msgspec.UNSET
    facts: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    errors: Annotated[tuple[Wrong, ...], Meta(max_length=FAULTS_MAX)] | msgspec.UnsetType = msgspec.UNSET
    """First faults of a body or of parameters, each with its place; left out of other problems."""


class Problem(Exception):
    """An error that is not a refusal. ``code``: a key of :data:`TEXTS`. ``status`` overrides the status there.

    ``{reason}`` in the text becomes the text of the first of the ``faults``, else the clause of the fact ``what``.
    ``{reasons}`` becomes the clauses of the fact ``reasons``, a list of :data:`Reason`.
    """

    def __init__(
        self,
        code: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        faults: Sequence[Fault] = (),
        **facts: Any,
    ) -> None:
        super().__init__(code)
        self.status = TEXTS[code].status if status is None else status
        self.code, self.facts, self.faults, self.headers = code, facts, faults, dict(headers or {})


def _fact_as_text(value: Any) -> str:
    return ", ".join(map(str, value)) or "–" if isinstance(value, list | tuple) else str(value)


def _reason_clause(reason: Reason, language: Language) -> str:
    facts = {name: str(fact) for name, fact in reason.items()}
    return filled(REASONS[facts["code"]].in_(language), facts)


REFUSAL_STATUS = {"state": 409, "who": 403, "rule": 422}


@lru_cache(maxsize=512)
def rule_page(rule: str) -> str | None:
    """Return the path of a rule's page; ``None`` for an unknown rule."""
    for key in (*RULESETS, rulebook.PROCEDURE):
        with suppress(KeyError):
            return f"/v1/rulesets/{key}/rules/{rulebook.load(key).rule(rule).id}"
    return None


def _problem_response(
    request: Req, code: str, language: Language, document: Document, headers: Mapping[str, str] | None = None
) -> Response[bytes]:
    """Note the problem, and return the response with its document."""
    rule = document.rule if isinstance(document.rule, str) else None
    notes_in(request.scope).problem = AnsweredProblem(document.status, code, rule)
    headers = {**(headers or {}), **_language_headers(language), "Link": _link_header(document)}
    return Response(encode(document), status_code=document.status, headers=headers, media_type=MEDIA_TYPE)


def _language_headers(language: Language) -> dict[str, str]:
    return {"Content-Language": language, "Vary": "Accept-Language, Authorization"}


def _link_header(document: Document) -> str:
    links = [document.type]
    if isinstance(document.rule, str) and (page := rule_page(document.rule)):
        links.append(page)
    return ", ".join(f'<{target}>; rel="describedby"' for target in links)


def document_of(problem: Problem, instance: str, language: Language) -> Document:
    text, facts = TEXTS[problem.code], {name: _fact_as_text(value) for name, value in problem.facts.items()}
    errors = tuple(wrong_of(fault, language) for fault in problem.faults)
    if errors:
        facts["reason"] = first_fault_text(errors, language)
    elif "what" in facts:
        facts["reason"] = _reason_clause({**problem.facts, "code": facts["what"]}, language)
    if "reasons" in facts:
        facts["reasons"] = "; ".join(_reason_clause(reason, language) for reason in problem.facts["reasons"])
    return Document(
        type=problem_type(problem.code),
        title=text.title.in_(language),
        status=problem.status,
        detail=filled(text.in_(language), facts),
        instance=instance,
        facts=problem.facts or msgspec.UNSET,
        errors=errors or msgspec.UNSET,
    )


def _instance_of(request: Req) -> str:
    return notes_in(request.scope).ids.instance(quote(request.scope["path"], safe=PLAIN))


def _answer_problem(request: Req, problem: Problem) -> Response[bytes]:
    language = language_of(header(request, b"accept-language"))
    document = document_of(problem, _instance_of(request), language)
    return _problem_response(request, problem.code, language, document, problem.headers)


def problem_answer(
    problem: Problem,
    path: str,
    ids: RequestIds,
    request_headers: Iterable[tuple[bytes, bytes]],
    cors: Cors | None,
    *,
    closes: bool = True,
) -> Sent:
    """Return the answer to a problem that arises outside of handlers.

    ``path``: not percent-encoded. ``request_headers``: those received so far. ``closes``: announce the close of the
    connection.
    """
    language = language_of(
        next((value.decode("latin-1") for name, value in request_headers if name == b"accept-language"), None)
    )
    document = document_of(problem, ids.instance(quote(path, safe=PLAIN)), language)
    body = encode(document)
    headers = {
        **problem.headers,
        **_language_headers(language),
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(body)),
        **({"Connection": "close"} if closes else {}),
    }
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    allowed = [] if cors is None else cors.headers(request_headers)
    return document.status, [*raw, (REQUEST_ID, ids.request), *SECURE, POLICY, *allowed], body


def document_of_refusal(refused: Refused, instance: str, language: Language) -> Document:
    return Document(
        type=problem_type(refused.code),
        title=sentences.title(refused.code, language),
        status=REFUSAL_STATUS[refused.status],
        detail=sentences.refusal(refused.code, refused.facts, language),
        instance=instance,
        rule=refused.rule,
        facts=refused.facts,
    )


def _answer_refusal(request: Req, refused: Refused) -> Response[bytes]:
    language = language_of(header(request, b"accept-language"))
    return _problem_response(
        request, refused.code, language, document_of_refusal(refused, _instance_of(request), language)
    )


NOT_AN_ID = {"/v1/matches/": "no_such_match", "/v1/clubs/": "no_such_club"}
"""Problem codes by the start of a path without a valid id."""


def _answer_litestar_error(request: Req, error: HTTPException) -> Response[bytes]:
    """Keep the status of 404, 405 and 413. Answer other errors below 500 with 400 bad_parameter, errors from 500 with
    :func:`problem_of_unexpected`."""
    status = error.status_code
    if status == HTTPStatus.NOT_FOUND:
        if request.scope["method"] == "OPTIONS" and request.app.state["cors"] is not None:
            # A preflight gets 204, so that the browser sends the request itself.
            return Response(b"", status_code=204)
        path = request.scope["path"]
        code = next((code for top, code in NOT_AN_ID.items() if path.startswith(top)), None)
        return _answer_problem(
            request, Problem(code) if code and _has_no_id(path) else Problem("no_such_page", path=path)
        )
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = [name.strip() for name in (error.headers or {}).get("allow", "").split(",")]
        methods = sorted(name for name in allowed if name)
        return _answer_problem(
            request, Problem("method_not_allowed", headers={"Allow": ", ".join(methods)}, allowed=methods)
        )
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return _answer_problem(request, Problem("too_large", limit_bytes=request.app.request_max_body_size))
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return _answer_problem(request, Problem("bad_parameter", faults=_parameter_faults(request, error)))
    return _answer_unexpected(request, error)


def _parameter_faults(request: Req, error: HTTPException) -> list[Fault]:
    """Return a fault for each parameter that is missing or unreadable, or one general fault."""
    unread = {item.get("key") for item in error.extra} if isinstance(error.extra, list) else set()
    handler = request.route_handler
    faults = []
    for name, parameter in handler.parsed_fn_signature.parameters.items():
        definition, expected = parameter.kwarg_definition, type_of(handler.signature_model.__annotations__[name])
        sent = (isinstance(definition, QueryParameter) and definition.name) or name
        if name in unread:
            given = request.query_params.get(sent)
            faults.append(Fault("wrong", parameter=sent, expected=expected, given=given))
        elif sent not in request.query_params and _is_required(parameter):
            faults.append(Fault("missing", parameter=sent, expected=expected, facts={"name": sent}))
    return faults or [Fault("unlike")]


def _is_required(parameter: FieldDefinition) -> bool:
    return isinstance(parameter.kwarg_definition, QueryParameter) and parameter.is_required


def _has_no_id(path: str) -> bool:
    try:
        UUID(path.split("/")[3])
    except ValueError:
        return True
    return False


def problem_of_unexpected(scope: Any, error: Exception) -> Problem:
    """Log an unexpected error, and return its problem: internal, or clock_wrong if the clock is wrong.

    If memory or file descriptors are short, it is busy for GET and HEAD, else outcome_unknown.
    """
    if not is_shortage(error):
        log.error("%s failed", loggable_request(scope), exc_info=error)
        try:
            utc_now()  # A wrong clock makes libraries fail.
        except ClockWrong as wrong:
            return _clock_problem(wrong)
        return Problem("internal")
    log.error("%s: %s: %s", loggable_request(scope), type(error).__name__, error)
    return Problem("busy" if scope["method"] in ("GET", "HEAD") else "outcome_unknown", headers=RETRY_AFTER)


def _answer_unexpected(request: Req, error: Exception) -> Response[bytes]:
    return _answer_problem(request, problem_of_unexpected(request.scope, error))


def _clock_problem(wrong: ClockWrong) -> Problem:
    return Problem("clock_wrong", headers=RETRY_LATER, clock=wrong.shown)


def _answer_store_failure(request: Req, error: Exception) -> Response[bytes]:
    reason = " ".join(str(error).split())[:REASON_MAX]
    log.error("%s: %s: %s", loggable_request(request.scope), type(error).__name__, reason)
    return _answer_problem(request, Problem("store_away", headers=RETRY_AFTER))


def _answer_damaged_row(request: Req, damaged: DamagedRow) -> Response[bytes]:
    _log_damaged(request, damaged, new=request.app.state["damaged"](damaged))
    whose, number, fault = str(damaged.aggregate_id), damaged.number, damaged.fault
    return _answer_problem(request, Problem("row_damaged", headers=RETRY_LATER, id=whose, event=number, fault=fault))


def _answer_damaged_attempts(request: Req, damaged: DamagedAttempt) -> Response[bytes]:
    _log_damaged(request, damaged, new=False)
    whose, number = str(damaged.aggregate_id), damaged.number
    return _answer_problem(request, Problem("attempts_damaged", headers=RETRY_LATER, match=whose, attempt=number))


def _answer_damaged_projection(request: Req, damaged: DamagedCell) -> Response[bytes]:
    log.error("%s: a projection cannot be read: %s", loggable_request(request.scope), damaged)
    return _answer_problem(request, Problem("book_damaged", headers=RETRY_LATER))


def _log_damaged(request: Req, damaged: DamagedRow, *, new: bool) -> None:
    """Log a damaged row, with the traceback of its cause if it is ``new``."""
    cause = damaged.__cause__ if new else None
    log.error("%s: %s", loggable_request(request.scope), damaged, exc_info=cause)


def encoded_problem(request: Req, error: Exception) -> msgspec.Raw:
    """Note an error's problem, and return it as JSON for another answer."""
    return msgspec.Raw(_response_to(request, error).content)


def answer_error(request: Req, error: Exception) -> ASGIApp:
    return _response_to(request, error).to_asgi_response(app=None, request=request)


def _response_to(request: Req, error: Exception) -> Response[bytes]:
    handle: Any = next(HANDLERS[kind] for kind in type(error).__mro__ if kind in HANDLERS)
    response: Response[bytes] = handle(request, error)
    return response


HANDLERS: ExceptionHandlersMap = {
    Problem: _answer_problem,
    Refused: _answer_refusal,
    Stale: lambda request, stale: _answer_problem(request, Problem("stale", version=stale.version)),
    Full: lambda request, full: _answer_problem(request, Problem("match_full", most=full.most)),
    TokenNotValid: lambda request, _: _answer_problem(request, Problem("token_unknown", headers=CHALLENGE)),
    KeyReused: lambda request, _: _answer_problem(request, Problem("key_reused")),
    Overtaken: lambda request, _: _answer_problem(request, Problem("overtaken")),
    OpenedByAnother: lambda request, _: _answer_problem(request, Problem("key_of_another")),
    UnknownAggregate: lambda request, _: _answer_problem(request, Problem("no_such_match")),
    Busy: lambda request, _: _answer_problem(request, Problem("busy", headers=RETRY_AFTER)),
    InDoubt: lambda request, _: _answer_problem(request, Problem("outcome_unknown", headers=RETRY_AFTER)),
    DamagedRow: _answer_damaged_row,
    DamagedAttempt: _answer_damaged_attempts,
    DamagedCell: _answer_damaged_projection,
    ClockWrong: lambda request, wrong: _answer_problem(request, _clock_problem(wrong)),
    **dict.fromkeys(STORE_FAILURES, _answer_store_failure),
    HTTPException: _answer_litestar_error,
    Exception: _answer_unexpected,
}
