"""Delays an answer until its match has new events."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from api.access.caller import Caller
from api.http.headers import Req
from api.runtime.aggregate_reader import is_over
from api.runtime.call import ApiCall
from api.runtime.wakeups import wait_until_set
from referee.store.clock import utc_now
from referee.store.match import Match


async def wait_for_news(
    request: ApiCall, match: Match, caller: Caller, seconds: float, known: Callable[[Match], bool]
) -> tuple[Match, Caller]:
    """Wait while ``known`` is true for the match, at most ``seconds``.

    The wait also ends if the match is over, the caller has disconnected, or the service stops. Return the newest
    match and caller. Raises Busy if too many requests wait, and Problem (401) if the credential has ended.
    """
    service = request.service
    if not (seconds and known(match)):
        return match, caller
    deadline = asyncio.get_running_loop().time() + seconds
    with service.hub.polling(match.id, *caller.revoking_club_ids) as changed:
        disconnected = asyncio.create_task(_set_on_disconnect(request, changed))
        try:
            while known(match := await service.reader.match(match.id)) and not (
                is_over(match) or disconnected.done()
            ):
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0 or service.hub.closed:
                    break
                await wait_until_set(changed, min(left, caller.seconds_left(utc_now())))
                caller = await service.access.current_caller(match, caller)
        finally:
            disconnected.cancel()
    caller = await service.access.current_caller(match, caller)
    match, texts = await service.member_names.with_names(match, caller.texts)
    return match, replace(caller, texts=texts)


async def _set_on_disconnect(request: Req, changed: asyncio.Event) -> None:
    """Set ``changed`` when the caller has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    changed.set()
