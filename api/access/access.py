"""Identifies the caller of a request about a match, and what they may see and do."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import ParamSpec, Protocol, TypeVar
from uuid import UUID, uuid4

from msgspec.structs import replace

from api.access.caller import ROLES_OF_PROGRAMS, Caller
from api.access.clubs import Clubs, KeyHolder, current_holder, holder_by
from api.access.credentials import Credential, credential_of
from api.access.limits import Limits
from api.access.principals import by_key, by_no_credential, by_token
from api.access.tickets import Tickets
from api.http.headers import Req
from api.http.member_texts import NO_TEXTS, MemberTexts
from api.http.problems import CHALLENGE, Problem
from projections.visibility import Sight
from referee.admission import Invite, IssueToken
from referee.clubs.facts import Scope
from referee.requests import Request
from referee.store.damaged import DamagedRow
from referee.store.match import Match
from referee.store.store import UnknownAggregate

P = ParamSpec("P")
T = TypeVar("T")


class Matches(Clubs, Protocol):
    """Finds matches and clubs. Each method raises ``UnknownAggregate`` (404) if the match or club does not exist."""

    async def match(self, match_id: UUID, min_version: int = 0) -> Match:
        """Return the match at ``min_version`` or later."""

    async def opened(self, match_id: UUID) -> Match:
        """Return the match, perhaps in an older version."""

    async def begun(self, match_id: UUID) -> Match:
        """Return the match in its state after the first event. Raises ``DamagedRow`` (503) if that event cannot be
        read."""

    async def newest(self, match: Match) -> Match:
        """Return the newest stored version of the match."""


class Names(Protocol):
    def texts_in(self, match: Match) -> MemberTexts:
        """Return the texts that members wrote in a match."""

    async def named(self, match: Match, texts: MemberTexts) -> tuple[Match, MemberTexts]:
        """Return the match with its players' names, and ``texts`` with the mark of these names for the ETag."""


class InThread(Protocol):
    def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Run a call in a thread. Raises ``Busy`` (503) if too many calls wait."""


def check_authorization(request: Req) -> None:
    """Raise the Problem of :func:`credential_of` for a malformed Authorization header (400, 401)."""
    credential_of(request)


class Access:
    """Finds the caller of a request.

    Its methods raise ``UnknownAggregate`` (404 no_such_match) first if the caller may not see the match. They raise
    Problem (401 token_unknown, key_unknown, key_expired, key_revoked) for an invalid credential. Those that read the
    request also raise what :func:`credential_of` raises.
    """

    def __init__(
        self,
        matches: Matches,
        names: Names,
        limits: Limits,
        tickets: Tickets,
        in_thread: InThread,
        note_held_back: Callable[[Match, Caller], None],
    ) -> None:
        """``note_held_back``: records that a caller sees less than their credential allows, because a member who may
        know it plays in the match."""
        self._matches, self._names, self._limits = matches, names, limits
        self._tickets, self._in_thread, self._note_held_back = tickets, in_thread, note_held_back

    async def key_if_shown(self, request: Req) -> KeyHolder | None:
        """Return the holder of the key in a request, ``None`` without a key."""
        shown = credential_of(request)
        return None if shown is None else await self._key(shown)

    async def sees(self, request: Req, match_id: UUID, min_version: int = 0) -> tuple[Match, Caller]:
        """Return the match at ``min_version`` or later, and the caller. Raises Problem (409 version_not_reached)."""
        shown = credential_of(request)
        key = None if shown is None else await self._key(shown)
        try:
            match = await self._matches.match(match_id)
        except DamagedRow:
            await self._must_know(match_id, shown, key)
            raise
        match, caller = await self._known(match, shown, key)
        if match.version < min_version:
            match = await self._matches.match(match_id, min_version)
            caller = _must_see(match, _caller_of(match, shown, key))
        return await self._with_names(match, caller)

    async def acts(
        self, request: Req, match_id: UUID, shown: Credential, *requests: Request, noted: bool = True
    ) -> tuple[Match, Caller]:
        """Return the match, perhaps in an older version, and the caller with the right to these requests.

        ``noted``: if the requests are refused, they are recorded for the officials (J12). Raises the Problems (403)
        of :meth:`Caller.must_act` and :meth:`Caller.must_be_theirs`.
        """
        match, caller = await self._holder(match_id, shown)
        texts = self._names.texts_in(match) if caller.knows_names(match) else NO_TEXTS
        if caller.actor is None:
            if requests and isinstance(requests[0], IssueToken | Invite):
                caller = caller.by_scope_open(match, requests[0])
            caller.must_act(match, _needed_scope(match, requests))
        if caller.held_back and not noted:
            self._note_held_back(match, caller)
        for one in requests:
            if noted:
                caller.tries(request, match, one)
            caller.must_be_theirs(match, one)
        return match, replace(caller, texts=texts)

    async def must_still(self, match: Match, caller: Caller) -> Caller:
        """Return the caller with their current rights. Raises Problem (401) if the credential is now invalid."""
        if caller.key is not None:
            key = await current_holder(caller.key, self._matches)
            now = by_key(match, key)
            return replace(now, texts=caller.texts) if now is not None and now.held_back else replace(caller, key=key)
        if caller.token_hash is not None:
            now = by_token(match, caller.token_hash)
            if now is None or now.actor != caller.actor:
                raise Problem("token_unknown", headers=CHALLENGE)
            return replace(now, texts=caller.texts) if now.held_back else caller
        return caller

    async def still(self, match: Match, caller: Caller) -> Caller | None:
        """Return the caller with their current rights; ``None`` if the credential is now invalid."""
        try:
            return await self.must_still(match, caller)
        except Problem:
            return None

    async def listing(self, request: Req) -> Sight:
        """Return the caller's visibility in lists of matches and cases."""
        shown = credential_of(request)
        if shown is None:
            return Sight()
        key = await self._key(shown)
        return Sight(held=shown.secret_hash) if key is None else key.sight

    async def give_ticket(self, match_id: UUID, shown: Credential) -> tuple[str, datetime]:
        """Return a ticket for one stream, and the time when it expires."""
        await self._holder(match_id, shown)
        return await self._in_thread(self._tickets.give, match_id, shown)

    async def by_ticket(
        self, request: Req, match_id: UUID, ticket: str, min_version: int = 0, *, only_looks: bool = False
    ) -> tuple[Match, Caller]:
        """Return the match and the caller who got the ticket. It is used up, unless ``only_looks``.

        Raises Problem (401 ticket_unknown; 409 version_not_reached).
        """
        tickets = self._tickets
        try:
            match = await self._matches.match(match_id)
        except DamagedRow:
            shown = await self._in_thread(tickets.look, match_id, ticket)
            await self._must_know(match_id, shown, None if shown is None else await self._key(shown))
            raise
        if by_no_credential(match) is None and await self._in_thread(tickets.look, match_id, ticket) is None:
            raise UnknownAggregate(str(match_id))
        match = await self._matches.match(match_id, min_version)
        shown = await self._in_thread(tickets.look if only_looks else tickets.take, match_id, ticket)
        with suppress(Problem):  # the credential is no longer valid
            if shown is not None and (caller := _caller_of(match, shown, await self._key(shown))) is not None:
                return await self._with_names(match, caller)
        raise Problem("ticket_unknown", headers=CHALLENGE)

    async def _with_names(self, match: Match, caller: Caller) -> tuple[Match, Caller]:
        """Return the match and the caller, with names and texts if the caller may see them."""
        if caller.held_back:
            self._note_held_back(match, caller)
        if not caller.knows_names(match):
            return match, caller
        match, texts = await self._names.named(match, self._names.texts_in(match))
        return match, replace(caller, texts=texts)

    async def _holder(self, match_id: UUID, shown: Credential) -> tuple[Match, Caller]:
        """Return the match, perhaps in an older version, and the holder of a credential."""
        key = await self._key(shown)
        try:
            match = await self._matches.opened(match_id)
        except DamagedRow:
            await self._must_know(match_id, shown, key)
            raise
        return await self._known(match, shown, key)

    async def _must_know(self, match_id: UUID, shown: Credential | None, key: KeyHolder | None) -> None:
        """Raise ``UnknownAggregate`` (404) unless the caller could see this damaged match at its opening."""
        match = await self._matches.begun(match_id)
        if by_no_credential(match) is None and _caller_of(match, shown, key) is None:
            raise UnknownAggregate(str(match_id))

    async def _key(self, shown: Credential) -> KeyHolder | None:
        return (
            None
            if shown.named is None
            else await holder_by(shown.named, shown.secret_hash, self._matches, self._limits)
        )

    async def _known(self, match: Match, shown: Credential | None, key: KeyHolder | None) -> tuple[Match, Caller]:
        """Return the match, perhaps in a newer version, and the caller. Note that their token is valid."""
        caller = _caller_of(match, shown, key)
        if caller is None and shown is not None and key is None:
            match = await self._matches.newest(match)  # a different process may just have made the token
            caller = _caller_of(match, shown, key)
        elif caller is None and by_no_credential(match) is None:
            with suppress(UnknownAggregate):  # take as long as for a match that does not exist
                await self._matches.match(uuid4())
        caller = _must_see(match, caller)
        if caller.token_hash is not None:
            self._limits.mark_valid(caller.token_hash, match.opened.club)
        return match, caller


def _caller_of(match: Match, shown: Credential | None, key: KeyHolder | None) -> Caller | None:
    """Return the caller with this credential; ``None`` if they may not see the match, or the match has no such
    token."""
    if key is not None:
        return by_key(match, key)
    return by_no_credential(match) if shown is None else by_token(match, shown.secret_hash)


def _must_see(match: Match, caller: Caller | None) -> Caller:
    """Return the caller. If it is ``None``, raise ``UnknownAggregate`` (404) for a match that is not public, else
    Problem (401)."""
    if caller is not None:
        return caller
    if by_no_credential(match) is None:
        raise UnknownAggregate(str(match.id))
    raise Problem("token_unknown", headers=CHALLENGE)


def _needed_scope(match: Match, requests: tuple[Request, ...]) -> Scope:
    """Return the scope that a key needs for these requests if its member has no seat in the match."""
    if requests and isinstance(requests[0], IssueToken | Invite):
        return "open" if isinstance(requests[0], IssueToken) or requests[0].role in ROLES_OF_PROGRAMS else "officiate"
    return "officiate" if requests and match.sole_actor(requests[0]) == "official" else "play"
