"""The one place that decides who may see a match, and who may do what in it."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import ParamSpec, Protocol, TypeVar
from uuid import UUID

from api.access.caller import SPECTATOR, Caller, Credential
from api.access.tickets import Tickets
from api.access.tokens import hash_of, must_be_theirs, token_of
from api.http.headers import Req
from api.http.problems import CHALLENGE, Problem
from referee.acts import Request
from referee.store.match import Match

P = ParamSpec("P")
T = TypeVar("T")


class Matches(Protocol):
    """Where matches are found. Each raises ``UnknownAggregate`` where there is none."""

    async def match(self, match_id: UUID, min_version: int = 0) -> Match:
        """At this version or later."""

    async def opened(self, match_id: UUID) -> Match:
        """Perhaps as it was: for what its opening tells."""

    async def newest(self, match: Match) -> Match:
        """As it is stored."""


class InThread(Protocol):
    """Has what touches the database done in a thread."""

    def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """What the call gives."""


def anybody(request: Req) -> None:
    """Where nothing has to be shown. 401 for what is no token all the same: who sends it means to be somebody."""
    token_of(request)


class Access:
    """Turns a request into a :class:`~api.access.caller.Caller`."""

    def __init__(self, matches: Matches, tickets: Tickets, in_thread: InThread) -> None:
        self._matches, self._tickets, self._in_thread = matches, tickets, in_thread

    def credential(self, request: Req) -> Credential:
        """What was shown, where something has to be. 401 without it."""
        shown = _shown(request)
        if shown is None:
            raise Problem("token_missing", headers=CHALLENGE)
        return shown

    async def sees(self, request: Req, match_id: UUID, min_version: int = 0) -> tuple[Match, Caller]:
        """The match, at this version or later, and who wants to see it. 404, 401."""
        shown, match = _shown(request), await self._matches.match(match_id)
        caller = SPECTATOR
        if shown is not None:
            match, caller = await self._known(match, shown)
        if match.version < min_version:
            match = await self._matches.match(match_id, min_version)
            caller = caller if shown is None else _known_holder(match, shown)
        return match, caller

    async def holder(self, match_id: UUID, shown: Credential) -> tuple[Match, Caller]:
        """The match, which may be as it was, and whose credential of it this is. 404, 401."""
        return await self._known(await self._matches.opened(match_id), shown)

    async def acts(self, request: Req, match_id: UUID, shown: Credential, *asked: Request) -> tuple[Match, Caller]:
        """The same, for who asks this of the match; what is tried is noted. 403 where it is not his to ask."""
        match, caller = await self.holder(match_id, shown)
        for one in asked:
            caller.tries(request, match, one)
            must_be_theirs(match, caller.acting, one)
        return match, caller

    def still(self, match: Match, caller: Caller) -> bool:
        """Whether he may see the match as before, now that it has gone on."""
        if caller.held is None:
            return True
        now = _holder(match, caller.held)
        return now is not None and now.viewer == caller.viewer

    def must_still(self, match: Match, caller: Caller) -> None:
        """401 unless he may."""
        if not self.still(match, caller):
            raise Problem("token_unknown", headers=CHALLENGE)

    async def give_ticket(self, match_id: UUID, shown: Credential) -> tuple[str, datetime]:
        """What stands for a credential in the address of one stream, and when it expires. 404, 401."""
        await self.holder(match_id, shown)
        return await self._in_thread(self._tickets.give, match_id, shown.held)

    async def by_ticket(
        self, match_id: UUID, ticket: str, min_version: int = 0, *, only_looks: bool = False
    ) -> tuple[Match, Caller]:
        """The match, and who got the ticket, which is of no use after that, unless one ``only_looks``. 404, 401."""
        match = await self._matches.match(match_id, min_version)
        held = await self._in_thread(self._tickets.look if only_looks else self._tickets.take, match_id, ticket)
        caller = None if held is None else _holder(match, held)
        if caller is None:
            raise Problem("ticket_unknown", headers=CHALLENGE)
        return match, caller

    async def _known(self, match: Match, shown: Credential) -> tuple[Match, Caller]:
        """The match and whose credential it is; 401. One that is unknown may just have been made by another process:
        then the match is as it is stored."""
        caller = _holder(match, shown.held)
        if caller is None:
            match = await self._matches.newest(match)
            caller = _known_holder(match, shown)
        return match, caller


def _shown(request: Req) -> Credential | None:
    token = token_of(request)
    return None if token is None else Credential(held=hash_of(token))


def _holder(match: Match, held: str) -> Caller | None:
    """Who holds a token, by its SHA-256, as the match stands; ``None``: nobody."""
    actor = match.holder(held)
    if actor is None:
        return None
    return Caller(viewer=actor if isinstance(actor, int) else "official", actor=actor, held=held)


def _known_holder(match: Match, shown: Credential) -> Caller:
    caller = _holder(match, shown.held)
    if caller is None:
        raise Problem("token_unknown", headers=CHALLENGE)
    return caller
