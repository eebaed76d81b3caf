"""Serves the metrics on a separate port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar, get
from litestar.datastructures import State
from litestar.types import Message, Scope
from uvicorn import Config

from api.http.headers import with_security_headers
from api.http.member_texts import NO_TEXTS
from api.http.notes import notes_in
from api.http.problems import HANDLERS
from api.http.protocol import Protocol, ServingState
from api.http.replies import Reply
from api.http.request_ids import REQUEST_ID
from api.http.threads import in_probe_thread
from api.runtime.call import ApiCall
from api.runtime.metrics import MEDIA_TYPE, exposition
from api.runtime.service import Service

BODY_MAX = 1024


@get("/metrics")
async def metrics(request: ApiCall) -> Reply:
    service = request.service
    text = exposition(service.metrics, await in_probe_thread(service.health.gauges))
    return Reply(text.encode(), NO_TEXTS, media_type=MEDIA_TYPE)


async def _add_common_headers(message: Message, scope: Scope) -> None:
    if message["type"] == "http.response.start":
        message["headers"] = [(REQUEST_ID, notes_in(scope).ids.request), *with_security_headers(message["headers"])]


@asynccontextmanager
async def metrics_served(service: Service, host: str, port: int) -> AsyncIterator[None]:
    """Serve the metrics while the context is open. Raises ``OSError`` if the address cannot be used."""
    app = Litestar(
        [metrics],
        exception_handlers=HANDLERS,
        before_send=[_add_common_headers],
        request_class=ApiCall,
        request_max_body_size=BODY_MAX,
        state=State({"service": service}),
        logging_config=None,
        openapi_config=None,
    )
    config = Config(app, ws="none", access_log=False, log_config=None, server_header=False)
    state = ServingState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Protocol(config, state, {}, loop), host, port)
    try:
        yield
    finally:
        server.close()
        state.stopping = True
        for connection in list(state.connections):
            connection.shutdown()
