"""A ticket for a stream, for who cannot send a token with it."""

from litestar import post

from api.http.describe import TOKEN, described
from api.http.headers import Req
from api.http.params import MatchId
from api.http.replies import Reply, reply
from api.runtime.service import service_of
from referee import wire_types
from referee.value import Time, Value


class Ticket(Value):
    """What stands for a token in the address of one stream, asked for before ``expires``."""

    ticket: wire_types.Token
    """For `…/events/stream?ticket=`: good once."""
    expires: Time
    """When it is of no more use."""


@post(
    "/matches/{match:uuid}/tickets",
    operation_id="issue_ticket",
    summary="A ticket for a stream",
    description="A browser's EventSource cannot send a token. With one, ask for a ticket here and open "
    "`…/events/stream?ticket=` with it within 30 seconds: the stream shows what the token shows. The ticket is good "
    "for one stream: an EventSource that has lost its connection asks again with the same address, is told 401, and "
    "gives up; then ask for another ticket, and name the last event that came in `after`. A spectator needs none.",
    tags=["Events"],
    security=TOKEN,
    operation_class=described(
        gives=Ticket, status=201, says="The ticket.", errors=(400, 401, 404, 503), tagged=False
    ),
)
async def issue_ticket(request: Req, match: MatchId) -> Reply:
    """A ticket for a stream."""
    service = service_of(request)
    shown = service.access.credential(request)
    ticket, expires = await service.access.give_ticket(match, shown)
    return reply(Ticket(ticket=ticket, expires=expires), status=201, headers={"Cache-Control": "no-store"})
