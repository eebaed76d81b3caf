"""Issues tickets for streams."""

from litestar import post

from api.http.describe import TOKEN, described
from api.http.member_texts import NO_TEXTS
from api.http.params import MatchId
from api.http.replies import Reply, reply
from api.runtime.call import ApiCall
from referee import wire_types
from referee.value import Time, Value


class Ticket(Value):
    """A one-time secret instead of a token in the address of a stream."""

    ticket: wire_types.Token
    """Ticket for `…/events/stream?ticket=`."""
    expires: Time
    """Time of expiry."""


@post(
    "/matches/{match:uuid}/tickets",
    operation_id="issue_ticket",
    summary="Issue a ticket for a stream",
    description="Returns a ticket for clients that cannot send a token with a stream, such as a browser's "
    "EventSource. Open `…/events/stream?ticket=` with it within 30 seconds: the stream shows what the token shows. "
    "The ticket opens one stream only. An EventSource that loses its connection repeats the same address, and gets "
    "the message `end` with the problem of the used ticket: then request a new ticket, and send the number of the "
    "last event received as `after`. A spectator needs no ticket.",
    tags=["Events"],
    security=TOKEN,
    operation_class=described(
        gives=Ticket, status=201, says="The ticket.", errors=(400, 401, 404, 503), tagged=False
    ),
)
async def issue_ticket(request: ApiCall, match_id: MatchId) -> Reply:
    service = request.service
    shown = request.require_credential()
    ticket, expires = await service.access.give_ticket(match_id, shown)
    return reply(Ticket(ticket=ticket, expires=expires), NO_TEXTS, status=201, headers={"Cache-Control": "no-store"})
