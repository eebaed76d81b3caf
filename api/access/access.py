"""Identifies the caller of a request about a match, and checks their rights."""

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
from api.access.principals import caller_by_key, caller_by_token, caller_without_credential
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


class MatchesAndClubs(Clubs, Protocol):
    """Methods raise ``UnknownAggregate`` (404) for a missing match or club, and ``DamagedRow`` (503) for an
    unreadable row that they need."""

    async def match(self, match_id: UUID, min_version: int = 0) -> Match:
        """Return the match at ``min_version`` or later. Raises Problem (409 version_not_reached)."""

    async def match_perhaps_stale(self, match_id: UUID) -> Match:
        """Return the match; it may lack its newest events."""

    async def match_at_opening(self, match_id: UUID) -> Match:
        """Return the match after its first event. Read no other row."""

    async def newest_match(self, match: Match) -> Match: ...


class Names(Protocol):
    def texts_in(self, match: Match) -> MemberTexts:
        """Return the texts of members in answers about the match, for a caller who may read them."""

    async def with_names(self, match: Match, texts: MemberTexts) -> tuple[Match, MemberTexts]:
        """Return the match with its players' names, and ``texts`` with the names' mark for the ETag."""


class InThread(Protocol):
    def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Run ``call`` in a thread and return its result. Raises ``Busy`` (503) if too many calls wait."""


def check_authorization(request: Req) -> None:
    """Raise the Problems of :func:`credential_of` for a malformed Authorization header."""
    credential_of(request)


class Access:
    """Methods raise ``UnknownAggregate`` (404 no_such_match) if the caller may not see the match.

    They raise Problem (401 token_unknown, key_unknown, key_expired, key_revoked) for an invalid credential. Methods
    that read the credential from the request also raise the Problems of :func:`credential_of`. Methods without a
    match check keys, but no tokens.
    """

    def __init__(
        self,
        matches: MatchesAndClubs,
        names: Names,
        limits: Limits,
        tickets: Tickets,
        in_thread: InThread,
        note_held_back: Callable[[Match, Caller], None],
    ) -> None:
        """``note_held_back``: records for officials that a caller is :attr:`Caller.held_back`."""
        self._matches, self._names, self._limits = matches, names, limits
        self._tickets, self._in_thread, self._note_held_back = tickets, in_thread, note_held_back

    async def key_holder_or_none(self, request: Req) -> KeyHolder | None:
        """Return the holder of the key in a request; ``None`` without a key."""
        credential = credential_of(request)
        return None if credential is None else await self._key_holder(credential)

    async def identify_viewer(self, request: Req, match_id: UUID, min_version: int = 0) -> tuple[Match, Caller]:
        """Return the match at ``min_version`` or later, and the caller. Raises Problem (409 version_not_reached)."""
        credential = credential_of(request)
        key = None if credential is None else await self._key_holder(credential)
        try:
            match = await self._matches.match(match_id)
        except DamagedRow:
            await self._must_see_damaged(match_id, credential, key)
            raise
        match, caller = await self._identify(match, credential, key)
        if match.version < min_version:
            match = await self._matches.match(match_id, min_version)
            caller = _must_see(match, _caller_of(match, credential, key))
        return await self._with_visible_names(match, caller)

    async def identify_actor(
        self, request: Req, match_id: UUID, credential: Credential, *requests: Request, noted: bool = True
    ) -> tuple[Match, Caller]:
        """Return the match, perhaps not in its newest version, and a caller who may make these requests.

        ``noted``: note each request, so that its refusal is recorded (J12). False: record only a caller held back.
        Raises the Problems (403) of :meth:`Caller.must_act` and :meth:`Caller.must_be_allowed`.
        """
        match, caller = await self._match_and_caller(match_id, credential)
        texts = self._names.texts_in(match) if caller.knows_names(match) else NO_TEXTS
        if caller.actor is None:
            if requests and isinstance(requests[0], IssueToken | Invite):
                caller = caller.with_open_scope(match, requests[0])
            caller.must_act(match, _needed_scope(match, requests))
        if caller.held_back and not noted:
            self._note_held_back(match, caller)
        for one in requests:
            if noted:
                caller.note_attempt(request, match, one)
            caller.must_be_allowed(match, one)
        return match, replace(caller, texts=texts)

    async def current_caller(self, match: Match, caller: Caller) -> Caller:
        """Return the caller with the newest state of their key. Their rights change only if they are now held back.

        Raises Problem (401) if the credential is now invalid.
        """
        if caller.key is not None:
            key = await current_holder(caller.key, self._matches)
            now = caller_by_key(match, key)
            return replace(now, texts=caller.texts) if now is not None and now.held_back else replace(caller, key=key)
        if caller.token_hash is not None:
            now = caller_by_token(match, caller.token_hash)
            if now is None or now.actor != caller.actor:
                raise Problem("token_unknown", headers=CHALLENGE)
            return replace(now, texts=caller.texts) if now.held_back else caller
        return caller

    async def current_caller_or_none(self, match: Match, caller: Caller) -> Caller | None:
        """Return :meth:`current_caller`, or ``None`` if the credential is now invalid."""
        try:
            return await self.current_caller(match, caller)
        except Problem:
            return None

    async def sight_of(self, request: Req) -> Sight:
        credential = credential_of(request)
        if credential is None:
            return Sight()
        key = await self._key_holder(credential)
        return Sight(credential_sha256=credential.secret_hash) if key is None else key.sight

    async def give_ticket(self, match_id: UUID, credential: Credential) -> tuple[str, datetime]:
        """Return a new ticket for one stream, and the time when it expires."""
        await self._match_and_caller(match_id, credential)
        return await self._in_thread(self._tickets.give, match_id, credential)

    async def identify_by_ticket(
        self, request: Req, match_id: UUID, ticket: str, min_version: int = 0, *, keep_ticket: bool = False
    ) -> tuple[Match, Caller]:
        """Return the match and the caller to whom the ticket was given. Delete the ticket unless ``keep_ticket``.

        Raises Problem (401 ticket_unknown for an invalid ticket or credential; 409 version_not_reached). An invalid
        ticket raises ``UnknownAggregate`` if the match is not public.
        """
        tickets = self._tickets
        try:
            match = await self._matches.match(match_id)
        except DamagedRow:
            credential = await self._in_thread(tickets.peek, match_id, ticket)
            await self._must_see_damaged(
                match_id, credential, None if credential is None else await self._key_holder(credential)
            )
            raise
        if caller_without_credential(match) is None and await self._in_thread(tickets.peek, match_id, ticket) is None:
            raise UnknownAggregate(str(match_id))
        match = await self._matches.match(match_id, min_version)
        credential = await self._in_thread(tickets.peek if keep_ticket else tickets.take, match_id, ticket)
        with suppress(Problem):
            if (
                credential is not None
                and (caller := _caller_of(match, credential, await self._key_holder(credential))) is not None
            ):
                return await self._with_visible_names(match, caller)
        raise Problem("ticket_unknown", headers=CHALLENGE)

    async def _with_visible_names(self, match: Match, caller: Caller) -> tuple[Match, Caller]:
        """Add the names that the caller may read. Record a caller who is held back."""
        if caller.held_back:
            self._note_held_back(match, caller)
        if not caller.knows_names(match):
            return match, caller
        match, texts = await self._names.with_names(match, self._names.texts_in(match))
        return match, replace(caller, texts=texts)

    async def _match_and_caller(self, match_id: UUID, credential: Credential) -> tuple[Match, Caller]:
        key = await self._key_holder(credential)
        try:
            match = await self._matches.match_perhaps_stale(match_id)
        except DamagedRow:
            await self._must_see_damaged(match_id, credential, key)
            raise
        return await self._identify(match, credential, key)

    async def _must_see_damaged(self, match_id: UUID, credential: Credential | None, key: KeyHolder | None) -> None:
        """Raise ``UnknownAggregate`` (404) unless the match, as opened, is public or visible to the caller."""
        match = await self._matches.match_at_opening(match_id)
        if caller_without_credential(match) is None and _caller_of(match, credential, key) is None:
            raise UnknownAggregate(str(match_id))

    async def _key_holder(self, credential: Credential) -> KeyHolder | None:
        return (
            None
            if credential.named is None
            else await holder_by(credential.named, credential.secret_hash, self._matches, self._limits)
        )

    async def _identify(
        self, match: Match, credential: Credential | None, key: KeyHolder | None
    ) -> tuple[Match, Caller]:
        """Return the match, perhaps in a newer version, and the caller. Mark a token as valid in the limits."""
        caller = _caller_of(match, credential, key)
        if caller is None and credential is not None and key is None:
            # Read again, because a different process may just have issued the token.
            match = await self._matches.newest_match(match)
            caller = _caller_of(match, credential, key)
        elif caller is None and caller_without_credential(match) is None:
            # Read a missing match, so that the time does not show whether this one exists.
            with suppress(UnknownAggregate):
                await self._matches.match(uuid4())
        caller = _must_see(match, caller)
        if caller.token_hash is not None:
            self._limits.mark_valid(caller.token_hash, match.opened.club)
        return match, caller


def _caller_of(match: Match, credential: Credential | None, key: KeyHolder | None) -> Caller | None:
    """Return the caller with this credential; ``None`` if they may not see the match or the token is unknown."""
    if key is not None:
        return caller_by_key(match, key)
    return caller_without_credential(match) if credential is None else caller_by_token(match, credential.secret_hash)


def _must_see(match: Match, caller: Caller | None) -> Caller:
    """Return the caller. For ``None`` raise Problem (401 token_unknown) if the match is public, else
    ``UnknownAggregate`` (404)."""
    if caller is not None:
        return caller
    if caller_without_credential(match) is None:
        raise UnknownAggregate(str(match.id))
    raise Problem("token_unknown", headers=CHALLENGE)


def _needed_scope(match: Match, requests: tuple[Request, ...]) -> Scope:
    """Return the scope that a key needs for the first of these requests; `play` without requests."""
    if requests and isinstance(requests[0], IssueToken | Invite):
        return "open" if isinstance(requests[0], IssueToken) or requests[0].role in ROLES_OF_PROGRAMS else "officiate"
    return "officiate" if requests and match.sole_actor(requests[0]) == "official" else "play"
