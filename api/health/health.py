"""For operators: is it up, and is it ready."""

import asyncio
from typing import Literal

from litestar import get

from api.access.access import anybody
from api.http.describe import described
from api.http.headers import Req
from api.http.problems import Problem
from api.http.replies import Reply, reply
from api.http.routes import routed
from api.http.threads import in_probe_thread
from api.runtime.service import service_of
from referee import wire_types
from referee.value import Value

STORE_SECONDS = 1.5
"""How long the store may take to answer a probe."""


class Health(Value):
    """That the service is up. ``follower_lag``, for readiness: how many events the books are behind."""

    status: Literal["up"]
    follower_lag: wire_types.Lag | None = None


@get(
    "/health/live",
    operation_id="health_live",
    summary="Is the process up",
    description="200 as long as the process answers at all. Restart it if it does not.",
    operation_class=described(gives=Health, tagged=False),
)
async def health_live(request: Req) -> Reply:
    """Is the process up."""
    anybody(request)
    return reply(Health(status="up"))


@get(
    "/health/ready",
    operation_id="health_ready",
    summary="Can it take requests",
    description="200 if the store answers and takes what it is given, the desk decides, and all books go on. Send no "
    "requests if not; what is wrong is in the detail, and by codes in `facts`. The answer comes within two seconds, "
    "whatever is the matter.",
    operation_class=described(gives=Health, errors=(503,), tagged=False),
)
async def health_ready(request: Req) -> Reply:
    """Can it take requests."""
    anybody(request)
    service = service_of(request)
    lag, troubles = None, service.troubles
    try:
        async with asyncio.timeout(STORE_SECONDS):
            lag = await in_probe_thread(service.lag)
    except Exception:
        troubles.insert(0, {"code": "store_silent"})
    if troubles:
        raise Problem("not_ready", reasons=troubles)
    return reply(Health(status="up", follower_lag=lag))


CALLS = routed("/", [health_live, health_ready], tags=["Operators"])
