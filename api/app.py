"""Builds the service from its calls and parts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from litestar import Litestar
from litestar.datastructures import State
from litestar.types import HTTPResponseStartEvent, LifeSpanReceive, LifeSpanScope, Message, Receive, Scope

from api.access.addresses import Addresses
from api.access.attempts import noted_attempt
from api.access.limits import INVALID_CREDENTIAL_CODES, Limits
from api.access.quotas import Quotas
from api.access.tokens import RefusedTokens
from api.books import deals, pot, protocol, settlement
from api.cases import attempts, docket, file, hearings, knocks
from api.clubs import acts as club_acts
from api.clubs import club, evenings, foundings, keys, members, standings
from api.direct_acts import DirectActs
from api.docs import guides, problem_pages, reference, rulesets
from api.health import health
from api.health.metrics_server import metrics_served
from api.http.connections import Connections
from api.http.cors import cors_of
from api.http.headers import Req, with_security_headers
from api.http.notes import has_notes, notes_in
from api.http.problems import HANDLERS, Sent, problem_answer
from api.http.query import must_fit_call
from api.http.request_ids import REQUEST_ID
from api.http.routes import controller_of
from api.http.threads import count_calls_for
from api.invitations import calls as invited
from api.log import bundle, club_bundle, log
from api.log import events as log_events
from api.matches import acts, events, invitations, listing, match, openings, replays, tickets, tokens
from api.money import accounts, audit, closings, exports, journal, plan, proposals, statement
from api.personal_data.names import Names, Rewriter
from api.preload import preload
from api.runtime.call import ApiCall
from api.runtime.checkpoint_file import CheckpointFile, file_for
from api.runtime.metrics import Metrics
from api.runtime.projections import Projections
from api.runtime.service import Service
from api.runtime.signer import Signer
from api.runtime.wakeups import Hub
from api.settings import Settings, signing_keys
from referee.log.notes import SigningKey
from referee.store.attempts import Attempts
from referee.store.cache import MEGABYTE
from referee.store.desk import Desk
from referee.store.store import construct

WAIT_SECONDS = 2.0
"""Maximum seconds that a read waits for the requested version."""

CALLS = controller_of(
    "/v1",
    [
        openings.open_match,
        listing.list_matches,
        match.get_match,
        acts.list_legal_acts,
        acts.send_act,
        acts.send_acts,
        tokens.issue_token,
        tokens.make_official_token,
        invitations.invite,
        invited.get_invitation,
        invited.redeem_invitation,
        knocks.send_knock,
        knocks.list_knocks,
        knocks.get_knock,
        docket.list_cases,
        file.get_case_file,
        hearings.state_in_case,
        hearings.withdraw_case,
        hearings.appeal_ruling,
        hearings.rule_on_case,
        attempts.list_attempts,
        events.list_events,
        events.stream_events,
        tickets.issue_ticket,
        replays.replay_match,
        deals.get_deal,
        protocol.get_protocol,
        pot.get_pot,
        settlement.get_settlement,
        foundings.found_club,
        club.get_club,
        club_acts.send_club_act,
        members.list_members,
        evenings.list_evenings,
        standings.get_standings,
        keys.list_keys,
        keys.get_key,
        log.get_log,
        log.get_checkpoint,
        log.get_consistency,
        log_events.get_event_proof,
        bundle.get_bundle,
        club_bundle.get_club_bundle,
        accounts.list_accounts,
        statement.get_statement,
        audit.get_audit,
        journal.list_entries,
        proposals.list_proposals,
        closings.list_closings,
        plan.get_plan,
        plan.get_payment_code,
        exports.export_books,
    ],
)


class App(Litestar):
    """Refuses requests above a limit. :class:`~api.http.protocol.Protocol` may have checked them already."""

    begin_answer: Callable[[Any, Any], None]
    direct_acts: DirectActs

    async def __call__(self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Any) -> None:
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
            return
        answer: Sent | None = None if has_notes(scope) else self.state["refused"](scope)
        if answer is None:

            def sent(message: Message) -> Awaitable[None]:
                if message["type"] == "http.response.start":
                    self.begin_answer(message, scope)
                sending: Awaitable[None] = send(message)
                return sending

            if not await self.direct_acts.answer(scope, receive, sent):
                await super().__call__(scope, receive, sent)
            return
        status, headers, body = answer
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


def limits_of(settings: Settings, addresses: Addresses) -> Limits:
    return Limits(
        addresses,
        acts_per_minute=settings.acts_per_minute,
        reads_per_minute=settings.reads_per_minute,
        address_times=settings.address_times,
        loopback=settings.limit_loopback,
    )


def quotas_of(settings: Settings, addresses: Addresses) -> Quotas:
    return Quotas(
        addresses,
        loopback=settings.limit_loopback,
        anybody_opens=settings.anybody_opens,
        matches_per_hour=settings.matches_per_hour,
        clubs_per_day=settings.clubs_per_day,
        club_matches=settings.club_matches,
        streams=settings.streams,
    )


class Boundary:
    """Checks each request before its handler runs, and completes each answer."""

    def __init__(self, settings: Settings) -> None:
        self.addresses, self.metrics = Addresses(settings.trusted_proxies), Metrics()
        self.limits = limits_of(settings, self.addresses)
        self.quotas = quotas_of(settings, self.addresses)
        self.cors = cors_of(settings.cors_origins)
        self._refused_tokens = RefusedTokens()

    async def before_request(self, request: Req) -> None:
        """Count calls in threads for the address. Raises the Problems (400, 404, 406) of :func:`must_fit_call`."""
        count_calls_for(self.addresses.client_address(request.scope).limit_key)
        must_fit_call(request)

    def count_or_refuse(self, scope: Any) -> Sent | None:
        """Count a request. Return the refusal if it is above a limit, otherwise ``None``."""
        scope.setdefault("state", {})
        problem = self.limits.count_request(scope)
        if problem is None:
            return None
        self.metrics.count_answer(scope["method"], "unknown", problem.status, problem.code)
        notes = notes_in(scope)
        status, headers, body = problem_answer(
            problem, scope["path"], notes.ids, scope["headers"], self.cors, closes=False
        )
        return status, [*headers, *self.limits.headers(notes.counted)], body

    def begin_answer(self, message: HTTPResponseStartEvent, scope: Any) -> None:
        """Add the common headers to an answer. Count it, log an invalid credential, and record a refused attempt."""
        notes = notes_in(scope)
        notes.is_answered = True
        problem = notes.problem
        code = None if problem is None else problem.code
        headers = [(REQUEST_ID, notes.ids.request), *with_security_headers(message["headers"])]
        if self.cors is not None:
            headers += self.cors.headers(scope["headers"], preflight=scope["method"] == "OPTIONS")
        message["headers"] = headers + self.limits.headers(notes.counted, code)
        route = scope.get("path_template") or "unknown"
        self.metrics.count_answer(scope["method"], route, message["status"], code)
        if problem is None:
            return
        if code in INVALID_CREDENTIAL_CODES:
            self._refused_tokens.log_refused(self.addresses.client_address(scope).text, notes.ids)
        if (tried := noted_attempt(scope)) is not None:
            scope["litestar_app"].state.service.refused_attempts.record(tried, problem)


@asynccontextmanager
async def running_service(
    app: Litestar, settings: Settings, boundary: Boundary, signing: Sequence[SigningKey], wait_seconds: float
) -> AsyncIterator[None]:
    """Open the store, and run the parts of the service while the context is open."""
    metrics = boundary.metrics
    async with AsyncExitStack() as open_parts:
        await asyncio.to_thread(preload)
        hub = Hub(asyncio.get_running_loop())
        referee = await asyncio.to_thread(construct, settings.database_url)
        open_parts.push_async_callback(asyncio.to_thread, referee.close)
        projections = Projections(referee, settings.database_url, lambda page: service.on_page(page))
        open_parts.push_async_callback(asyncio.to_thread, projections.close)
        names = Names(settings.database_url, projections.engine)
        open_parts.push_async_callback(asyncio.to_thread, names.close)
        cache_bytes = settings.cache_megabytes * MEGABYTE
        desk = Desk(referee, cache_bytes=cache_bytes, committed=lambda recorded: service.on_commit(recorded))
        open_parts.push_async_callback(asyncio.to_thread, desk.close)
        open_parts.callback(hub.close)
        refused = Attempts(referee.attempts_recorder, metrics.attempts)
        open_parts.push_async_callback(asyncio.to_thread, refused.close)
        signer: Signer | None = None
        if signing:
            checkpoint_file = CheckpointFile(file_for(settings.database_url, settings.log_file))
            signer = Signer(projections, desk, signing, checkpoint_file, seconds=settings.log_seconds)
        app.state.service = service = Service(
            referee,
            desk,
            hub,
            projections,
            names,
            refused,
            metrics,
            boundary.limits,
            boundary.quotas,
            signer,
            wait_seconds,
            settings.operator_key_sha256,
            settings.anybody_founds,
        )
        await asyncio.to_thread(projections.start)
        await asyncio.to_thread(service.tickets.prepare)
        await asyncio.to_thread(names.prepare)
        await asyncio.to_thread(service.erasures.carry_out_unfinished, referee)
        rewriter = Rewriter(names)
        open_parts.push_async_callback(asyncio.to_thread, rewriter.close)
        rewriter.start()
        if signer is not None:
            open_parts.push_async_callback(asyncio.to_thread, signer.close)
            signer.start()
        if settings.metrics_port:
            await open_parts.enter_async_context(
                metrics_served(service, settings.metrics_host, settings.metrics_port)
            )
        yield


def create_app(settings: Settings, *, wait_seconds: float = WAIT_SECONDS) -> Litestar:
    """Return the service, which opens the store when it starts. Raises SettingsError for unusable signing keys."""
    signing, boundary = signing_keys(settings), Boundary(settings)
    addresses, metrics = boundary.addresses, boundary.metrics
    lifespan = partial(
        running_service, settings=settings, boundary=boundary, signing=signing, wait_seconds=wait_seconds
    )
    app = App(
        [rulesets.CALLS, CALLS, health.CALLS, reference.CALLS, guides.CALLS, problem_pages.CALLS],
        lifespan=[lifespan],
        exception_handlers=HANDLERS,
        before_request=boundary.before_request,
        request_class=ApiCall,
        state=State(
            {
                "connections": Connections(
                    addresses.client_address, settings.address_connections, loopback=settings.limit_loopback
                ),
                "count": metrics.count_answer,
                "cors": boundary.cors,
                "damaged": metrics.note_damaged,
                "refused": boundary.count_or_refuse,
            }
        ),
        request_max_body_size=settings.body_limit_bytes,
        logging_config=None,
        openapi_config=reference.openapi_config(),
    )
    app.begin_answer = boundary.begin_answer
    app.direct_acts = DirectActs(app, acts.send_act, boundary.before_request)
    return app
