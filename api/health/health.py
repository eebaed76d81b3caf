"""Serves the probes for operators: liveness and readiness."""

import asyncio
from typing import Literal

from litestar import get

from api.access.access import check_authorization
from api.http.describe import described
from api.http.member_texts import NO_TEXTS
from api.http.problems import Problem
from api.http.replies import Reply, reply
from api.http.routes import controller_of
from api.http.threads import in_probe_thread
from api.runtime.call import ApiCall
from referee import wire_types
from referee.value import Value

STORE_SECONDS = 1.5
"""Maximum seconds for the store's answer to a probe."""


class Health(Value):
    """The service is up."""

    status: Literal["up"]
    follower_lag: wire_types.Lag | None = None


@get(
    "/health/live",
    operation_id="health_live",
    summary="Report that the process is up",
    description="Returns 200 while the process answers. Restart it if it does not.",
    operation_class=described(gives=Health, tagged=False),
)
async def health_live(request: ApiCall) -> Reply:
    check_authorization(request)
    return reply(Health(status="up"), NO_TEXTS)


@get(
    "/health/ready",
    operation_id="health_ready",
    summary="Report whether the process can take requests",
    description="Returns 200 if the store can be read and written, acts are decided, and all projections make "
    "progress. Otherwise send no requests: the detail names the faults, and `facts` has their codes. The answer "
    "comes within two seconds in any case.",
    operation_class=described(gives=Health, errors=(503,), tagged=False),
)
async def health_ready(request: ApiCall) -> Reply:
    check_authorization(request)
    health = request.service.health
    lag, troubles = None, health.troubles
    try:
        async with asyncio.timeout(STORE_SECONDS):
            lag = await in_probe_thread(health.lag)
    except Exception:
        troubles.insert(0, {"code": "store_silent"})
    if troubles:
        raise Problem("not_ready", reasons=troubles)
    return reply(Health(status="up", follower_lag=lag), NO_TEXTS)


CALLS = controller_of("/", [health_live, health_ready], tags=["Operators"])
