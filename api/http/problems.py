"""Everything that goes wrong, as RFC 9457 problems in the reader's language. No other file makes an error answer."""

import logging
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from uuid import UUID

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ExceptionHandlersMap

from api.http.headers import header, language_of
from referee import sentences
from referee.refusals import Refused
from referee.sentences import Language
from referee.store.desk import Busy, KeyReused, Stale
from referee.store.store import UnknownMatch
from referee.value import Value

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 1


class Document(Value, omit_defaults=True):
    """A problem (RFC 9457). ``rule`` and ``facts`` say what would have been right, as far as the caller may know."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    rule: str | msgspec.UnsetType | None = msgspec.UNSET
    facts: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class Text(msgspec.Struct, frozen=True):
    """A problem of the interface itself. ``detail`` may name facts in braces."""

    status: int
    title: tuple[str, str]
    """English, Swedish."""
    detail: tuple[str, str]


TEXTS: dict[str, Text] = {
    "unreadable": Text(
        400,
        ("The request cannot be read", "Begäran går inte att läsa"),
        ("The body is not what this call takes: {reason}.", "Innehållet är inte vad anropet tar emot: {reason}."),
    ),
    "bad_parameter": Text(
        400,
        ("A parameter is wrong", "En parameter är fel"),
        ("{reason}.", "{reason}."),
    ),
    "bad_idempotency_key": Text(
        400,
        ("The Idempotency-Key is wrong", "Idempotency-Key är fel"),
        (
            "An Idempotency-Key is 1 to 128 visible ASCII characters and does not begin with a tilde.",
            "En Idempotency-Key är 1 till 128 synliga ASCII-tecken och börjar inte med ett tilde.",
        ),
    ),
    "bad_if_match": Text(
        400,
        ("The If-Match is wrong", "If-Match är fel"),
        (
            'If-Match is the ETag of the match, its version in quotes: "12".',
            'If-Match är partiets ETag, dess version inom citattecken: "12".',
        ),
    ),
    "bad_last_event_id": Text(
        400,
        ("The Last-Event-ID is wrong", "Last-Event-ID är fel"),
        ("Last-Event-ID is the number of an event.", "Last-Event-ID är numret på en händelse."),
    ),
    "bad_cursor": Text(
        400,
        ("The cursor is wrong", "Markören är fel"),
        (
            "A cursor is the next of the page before, unchanged, with the same filters.",
            "En markör är föregående sidas next, oförändrad, med samma filter.",
        ),
    ),
    "token_missing": Text(
        401,
        ("Who are you?", "Vem är du?"),
        (
            "This call needs Authorization: Bearer with a token of the match.",
            "Anropet kräver Authorization: Bearer med en av partiets nycklar.",
        ),
    ),
    "token_unknown": Text(
        401,
        ("The token is not known", "Nyckeln är okänd"),
        (
            "The token is not one of this match; give a seat's or the official's, or none to look on.",
            "Nyckeln hör inte till partiet; ge en plats eller funktionärens, eller ingen för att titta på.",
        ),
    ),
    "not_your_seat": Text(
        403,
        ("That is not your seat", "Det är inte din plats"),
        ("The token is that of seat {yours}, not of seat {seat}.", "Nyckeln hör till plats {yours}, inte {seat}."),
    ),
    "for_officials": Text(
        403,
        ("That is for the official", "Det är funktionärens sak"),
        ("Only the official may do this.", "Bara funktionären får göra detta."),
    ),
    "for_seats": Text(
        403,
        ("That is for the players", "Det är spelarnas sak"),
        (
            "The official cannot do this for a seat; send it with the token of the seat.",
            "Funktionären kan inte göra detta åt en plats; skicka det med platsens nyckel.",
        ),
    ),
    "no_such_page": Text(
        404,
        ("There is no such page", "Sidan finns inte"),
        ("There is nothing at {path}.", "Det finns inget på {path}."),
    ),
    "no_such_match": Text(
        404,
        ("There is no such match", "Partiet finns inte"),
        ("There is no match of this id.", "Det finns inget parti med detta id."),
    ),
    "no_such_ruleset": Text(
        404,
        ("There is no such ruleset", "Spelet finns inte"),
        (
            "There is no ruleset {ruleset}; there are {allowed}.",
            "Spelet {ruleset} finns inte; de som finns är {allowed}.",
        ),
    ),
    "no_such_rule": Text(
        404,
        ("There is no such rule", "Regeln finns inte"),
        ("{ruleset} has no rule {rule_id}.", "{ruleset} har ingen regel {rule_id}."),
    ),
    "no_such_deal": Text(
        404,
        ("There is no such deal", "Given finns inte"),
        ("The match has deals 1 to {last}.", "Partiet har givarna 1 till {last}."),
    ),
    "no_such_case": Text(
        404,
        ("There is no such case", "Ärendet finns inte"),
        ("The match has cases 1 to {last}.", "Partiet har ärendena 1 till {last}."),
    ),
    "no_such_event": Text(
        404,
        ("There is no such event", "Händelsen finns inte"),
        ("The match has events {first} to {last}.", "Partiet har händelserna {first} till {last}."),
    ),
    "method_not_allowed": Text(
        405,
        ("The method is not allowed here", "Metoden är inte tillåten här"),
        ("This page takes {allowed}.", "Sidan tar emot {allowed}."),
    ),
    "no_such_pot": Text(
        404,
        ("The game has no pot", "Spelet har ingen pott"),
        ("{ruleset} is played without a pot.", "{ruleset} spelas utan pott."),
    ),
    "deal_not_finished": Text(
        409,
        ("The deal is not finished", "Given är inte färdig"),
        (
            "Deal {deal} is under way; its record comes when it has been scored.",
            "Given {deal} pågår; den redovisas när den är införd.",
        ),
    ),
    "version_not_reached": Text(
        409,
        ("The match has not come so far", "Partiet har inte kommit så långt"),
        (
            "The match stands at version {version}, not yet at {min_version}.",
            "Partiet är vid version {version}, ännu inte {min_version}.",
        ),
    ),
    "stale": Text(
        412,
        ("The match has moved on", "Partiet har gått vidare"),
        (
            "If-Match names an old version; the match stands at version {version}.",
            "If-Match anger en gammal version; partiet är vid version {version}.",
        ),
    ),
    "too_large": Text(
        413,
        ("The body is too large", "Innehållet är för stort"),
        ("A body may have {limit_bytes} bytes.", "Ett innehåll får ha {limit_bytes} byte."),
    ),
    "wrong_media_type": Text(
        415,
        ("The body is not JSON", "Innehållet är inte JSON"),
        ("Send the body as application/json.", "Skicka innehållet som application/json."),
    ),
    "key_reused": Text(
        422,
        ("The Idempotency-Key was used before", "Idempotency-Key har använts förut"),
        (
            "The Idempotency-Key stands for another request; take a new key for a new request.",
            "Nyckeln står för en annan begäran; ta en ny nyckel till en ny begäran.",
        ),
    ),
    "unknown_ruleset": Text(
        422,
        ("There is no such ruleset", "Spelet finns inte"),
        (
            "There is no ruleset {ruleset}; there are {allowed}.",
            "Spelet {ruleset} finns inte; de som finns är {allowed}.",
        ),
    ),
    "unknown_option": Text(
        422,
        ("The ruleset has no such option", "Spelet har inget sådant val"),
        (
            "There is no option {option}; there are {allowed}.",
            "Valet {option} finns inte; de som finns är {allowed}.",
        ),
    ),
    "bad_option": Text(
        422,
        ("An option has a wrong value", "Ett val har fel värde"),
        ("{option}: {reason}.", "{option}: {reason}."),
    ),
    "players_count": Text(
        422,
        ("Too few or too many players", "För få eller för många deltagare"),
        (
            "The game is for {players_min} to {players_max} players.",
            "Spelet är för {players_min} till {players_max} deltagare.",
        ),
    ),
    "no_such_first_dealer": Text(
        422,
        ("There is no such seat", "Platsen finns inte"),
        (
            "The first dealer is a seat from 0 to {last}, or null to draw.",
            "Förste givaren är en plats från 0 till {last}, eller null för dragning.",
        ),
    ),
    "opening_points_count": Text(
        422,
        ("The opening does not fit the players", "Ställningen passar inte deltagarna"),
        (
            "The opening gives one number of points a player: {players}.",
            "Ställningen anger poäng för var och en: {players} tal.",
        ),
    ),
    "no_pot": Text(
        422,
        ("The game has no pot", "Spelet har ingen pott"),
        (
            "{ruleset} is played without a pot; leave opening.pot out.",
            "{ruleset} spelas utan pott; utelämna opening.pot.",
        ),
    ),
    "internal": Text(
        500,
        ("Something went wrong here", "Något gick fel hos oss"),
        ("The fault is ours and has been logged.", "Felet är vårt och har loggats."),
    ),
    "busy": Text(
        503,
        ("Try again", "Försök igen"),
        (
            "The service cannot answer now; try again in a moment.",
            "Tjänsten kan inte svara nu; försök igen om ett ögonblick.",
        ),
    ),
    "books_behind": Text(
        503,
        ("The books are behind", "Böckerna släpar efter"),
        (
            "The match is further than its books; try again in a moment.",
            "Partiet är längre fram än sina böcker; försök igen om ett ögonblick.",
        ),
    ),
    "not_ready": Text(
        503,
        ("Not ready", "Inte redo"),
        ("{reason}.", "{reason}."),
    ),
}


class Problem(Exception):
    """An error of the interface itself, with a ``code`` of :data:`TEXTS`."""

    def __init__(self, code: str, *, headers: Mapping[str, str] | None = None, **facts: Any) -> None:
        super().__init__(code)
        self.code, self.facts, self.headers = code, facts, dict(headers or {})


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


_encode = msgspec.json.Encoder().encode


@lru_cache(maxsize=512)
def _type(code: str) -> str:
    return f"/problems/{code.replace('_', '-')}"


def _answer(
    request: Request[Any, Any, Any], document: Document, language: Language, headers: dict[str, str]
) -> Response[bytes]:
    headers |= {"Content-Language": language, "Vary": "Accept-Language, Authorization"}
    return Response(_encode(document), status_code=document.status, headers=headers, media_type=MEDIA_TYPE)


def _problem(request: Request[Any, Any, Any], problem: Problem) -> Response[bytes]:
    text, language = TEXTS[problem.code], language_of(header(request, b"accept-language"))
    place = 1 if language == "sv" else 0
    document = Document(
        type=_type(problem.code),
        title=text.title[place],
        status=text.status,
        detail=text.detail[place].format_map({name: _said(value) for name, value in problem.facts.items()}),
        instance=request.scope["path"],
        facts=problem.facts or msgspec.UNSET,
    )
    request.scope["problem"] = problem.code  # type: ignore[typeddict-unknown-key]
    return _answer(request, document, language, problem.headers)


def _refused(request: Request[Any, Any, Any], refused: Refused) -> Response[bytes]:
    language = language_of(header(request, b"accept-language"))
    status = 409 if refused.status == "state" else 422
    document = Document(
        type=_type(refused.code),
        title=sentences.title(refused.code, language),
        status=status,
        detail=sentences.refusal(refused.code, refused.facts, language),
        instance=request.scope["path"],
        rule=refused.rule,
        facts=refused.facts,
    )
    request.scope["problem"] = refused.code  # type: ignore[typeddict-unknown-key]
    return _answer(request, document, language, {})


def _http(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
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
    """Whether what stands where a match id belongs is none."""
    try:
        UUID(path.split("/")[3])
    except ValueError:
        return True
    return False


def _unforeseen(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    log.error("%s %s failed", request.scope["method"], request.scope["path"], exc_info=error)
    return _problem(request, Problem("internal"))


HANDLERS: ExceptionHandlersMap = {
    Problem: _problem,
    Refused: _refused,
    Stale: lambda request, stale: _problem(request, Problem("stale", version=stale.version)),
    KeyReused: lambda request, _: _problem(request, Problem("key_reused")),
    UnknownMatch: lambda request, _: _problem(request, Problem("no_such_match")),
    Busy: lambda request, _: _problem(request, Problem("busy", headers={"Retry-After": str(RETRY_AFTER_SECONDS)})),
    HTTPException: _http,
    Exception: _unforeseen,
}
