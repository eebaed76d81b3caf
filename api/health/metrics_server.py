"""The counters, on a port of their own: how often what is refused is nobody's business but the operators'."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar, get
from litestar.datastructures import State
from litestar.types import Message, Scope
from uvicorn import Config

from api.http.headers import Req, secured
from api.http.problems import HANDLERS
from api.http.protocol import Protocol, ServingState
from api.http.replies import Reply
from api.http.threads import in_probe_thread
from api.runtime.metrics import MEDIA_TYPE, exposition
from api.runtime.service import Service, service_of

BODY_MAX = 1024
"""Nothing here takes a body."""


@get("/metrics")
async def metrics(request: Req) -> Reply:
    """Counters."""
    service = service_of(request)
    return Reply(exposition(service.metrics, await in_probe_thread(service.gauges)).encode(), media_type=MEDIA_TYPE)


async def _begun(message: Message, _: Scope) -> None:
    if message["type"] == "http.response.start":
        message["headers"] = secured(message["headers"])


@asynccontextmanager
async def exposed(service: Service, host: str, port: int) -> AsyncIterator[None]:
    """While it lasts, the counters can be read at this address. Raises ``OSError`` where one cannot listen there."""
    app = Litestar(
        [metrics],
        exception_handlers=HANDLERS,
        before_send=[_begun],
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
