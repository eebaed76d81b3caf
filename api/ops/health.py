"""For operators: is it up, and is it ready."""

from typing import Literal

from litestar import Router, get

from api.http.describe import described
from api.http.headers import Req
from api.http.problems import Problem
from api.http.replies import Reply, reply
from api.service import service_of
from api.threads import in_thread
from referee.value import Value


class Health(Value):
    """That the service is up. ``follower_lag``, for readiness: how many events the books are behind."""

    status: Literal["up"]
    follower_lag: int | None = None


@get(
    "/health/live",
    operation_id="health_live",
    summary="Is the process up",
    description="200 as long as the process answers at all. Restart it if it does not.",
    operation_class=described(gives=Health),
)
async def health_live(request: Req) -> Reply:
    """Is the process up."""
    return reply(Health(status="up"))


@get(
    "/health/ready",
    operation_id="health_ready",
    summary="Can it take requests",
    description="200 if the store answers, the desk decides and the books are followed. Send no requests if not.",
    operation_class=described(gives=Health, errors=(503,)),
)
async def health_ready(request: Req) -> Reply:
    """Can it take requests."""
    service = service_of(request)
    if not service.deciding:
        raise Problem("not_ready", reason="The desk does not decide")
    try:
        lag = await in_thread(service.lag)
    except Exception:
        raise Problem("not_ready", reason="The store does not answer") from None
    return reply(Health(status="up", follower_lag=lag))


ROUTER = Router("/", route_handlers=[health_live, health_ready], tags=["Operators"])
