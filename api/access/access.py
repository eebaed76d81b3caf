"""The one place that decides who may see a match, and who may do what in it."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import ParamSpec, Protocol, TypeVar
from uuid import UUID, uuid4

from msgspec.structs import replace

from api.access.caller import ROLES_OF_PROGRAMS, Caller
from api.access.clubs import Clubs, KeyHolder, again, holder_by
from api.access.credentials import Credential, credential_of
from api.access.limits import Limits
from api.access.principals import by_key, by_nothing, by_token
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
    """Finds matches and clubs. Each method raises ``UnknownAggregate`` if there is no such match or club."""

    async def match(self, match_id: UUID, min_version: int = 0) -> Match:
        """At this version or later."""

    async def opened(self, match_id: UUID) -> Match:
        """Perhaps as it was: for what its opening tells."""

    async def begun(self, match_id: UUID) -> Match:
        """Return the match as it was opened. Raises also ``DamagedRow``, if its opening cannot be read."""

    async def newest(self, match: Match) -> Match:
        """As it is stored."""


class Names(Protocol):
    """Shows the names of members, and the texts that they wrote."""

    def texts_in(self, match: Match) -> MemberTexts:
        """Return the texts of a match for a caller who may read them."""

    async def named(self, match: Match, texts: MemberTexts) -> tuple[Match, MemberTexts]:
        """Return the match with the names of its players, and the texts with the mark of these names."""


class InThread(Protocol):
    """Has what touches the database done in a thread."""

    def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """What the call gives."""


def anybody(request: Req) -> None:
    """Where nothing has to be shown. 401 for what cannot be good all the same: who sends it means to be somebody."""
    credential_of(request)


class Access:
    """Turns a request into a :class:`~api.access.caller.Caller`. Where a match is not his to see, it is
    ``UnknownAggregate`` all the same, before anything else is looked at."""

    def __init__(
        self,
        matches: Matches,
        names: Names,
        limits: Limits,
        tickets: Tickets,
        in_thread: InThread,
        held_back: Callable[[Match, Caller], None],
    ) -> None:
        """``held_back``: records that a member behind the key or token of a caller plays in the match."""
        self._matches, self._names, self._limits = matches, names, limits
        self._tickets, self._in_thread, self._held_back = tickets, in_thread, held_back

    async def key_if_shown(self, request: Req) -> KeyHolder | None:
        """Return the holder of the key that came with a request, ``None`` if none did. Raises 401 for a bad key."""
        shown = credential_of(request)
        return None if shown is None else await self._key(shown)

    async def sees(self, request: Req, match_id: UUID, min_version: int = 0) -> tuple[Match, Caller]:
        """The match, at this version or later, and who wants to see it. 404, 401."""
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
            caller = _must_be_somebody(match, _whose(match, shown, key))
        return await self._with_names(match, caller)

    async def acts(
        self, request: Req, match_id: UUID, shown: Credential, *asked: Request, noted: bool = True
    ) -> tuple[Match, Caller]:
        """The match, which may be as it was, and who asks this of it, or something else; what is tried is ``noted``.
        404, 401, and 403 where it is not his to ask."""
        match, caller = await self._holder(match_id, shown)
        texts = self._names.texts_in(match) if caller.knows_names(match) else NO_TEXTS
        if caller.actor is None:
            if asked and isinstance(asked[0], IssueToken | Invite):
                caller = caller.reissues(match, asked[0])
            caller.must_act(match, _needed(match, asked))
        if caller.held_back and not noted:
            self._held_back(match, caller)
        for one in asked:
            if noted:
                caller.tries(request, match, one)
            caller.must_be_theirs(match, one)
        return match, replace(caller, texts=texts)

    async def must_still(self, match: Match, caller: Caller) -> Caller:
        """The caller, now that the match or his club has gone on. 401 unless he may see it as before."""
        if caller.key is not None:
            key = await again(caller.key, self._matches)
            now = by_key(match, key)
            # The texts that the caller may read stay: names are shown to all who hold a key of the club.
            return replace(now, texts=caller.texts) if now is not None and now.held_back else replace(caller, key=key)
        if caller.held is not None:
            now = by_token(match, caller.held)
            if now is None or now.actor != caller.actor:
                raise Problem("token_unknown", headers=CHALLENGE)
            return replace(now, texts=caller.texts) if now.held_back else caller
        return caller

    async def still(self, match: Match, caller: Caller) -> Caller | None:
        """The same; ``None`` where he may not."""
        try:
            return await self.must_still(match, caller)
        except Problem:
            return None

    async def listing(self, request: Req) -> Sight:
        """What he is told of in lists. 401."""
        shown = credential_of(request)
        if shown is None:
            return Sight()
        key = await self._key(shown)
        return Sight(held=shown.held) if key is None else key.sight

    async def give_ticket(self, match_id: UUID, shown: Credential) -> tuple[str, datetime]:
        """What stands for a credential in the address of one stream, and when it expires. 404, 401."""
        await self._holder(match_id, shown)
        return await self._in_thread(self._tickets.give, match_id, shown)

    async def by_ticket(
        self, request: Req, match_id: UUID, ticket: str, min_version: int = 0, *, only_looks: bool = False
    ) -> tuple[Match, Caller]:
        """The match, and who got the ticket, which is of no use after that, unless one ``only_looks``. 404, 401."""
        tickets = self._tickets
        try:
            match = await self._matches.match(match_id)
        except DamagedRow:
            shown = await self._in_thread(tickets.look, match_id, ticket)
            await self._must_know(match_id, shown, None if shown is None else await self._key(shown))
            raise
        if by_nothing(match) is None and await self._in_thread(tickets.look, match_id, ticket) is None:
            raise UnknownAggregate(str(match_id))
        match = await self._matches.match(match_id, min_version)
        shown = await self._in_thread(tickets.look if only_looks else tickets.take, match_id, ticket)
        with suppress(Problem):  # of what has ended meanwhile
            if shown is not None and (caller := _whose(match, shown, await self._key(shown))) is not None:
                return await self._with_names(match, caller)
        raise Problem("ticket_unknown", headers=CHALLENGE)

    async def _with_names(self, match: Match, caller: Caller) -> tuple[Match, Caller]:
        """Return the match and the caller. If the caller knows the names, they are in the match, and the caller has
        the texts."""
        if caller.held_back:
            self._held_back(match, caller)
        if not caller.knows_names(match):
            return match, caller
        match, texts = await self._names.named(match, self._names.texts_in(match))
        return match, replace(caller, texts=texts)

    async def _holder(self, match_id: UUID, shown: Credential) -> tuple[Match, Caller]:
        """The match, which may be as it was, and who shows this. 404, 401."""
        key = await self._key(shown)
        try:
            match = await self._matches.opened(match_id)
        except DamagedRow:
            await self._must_know(match_id, shown, key)
            raise
        return await self._known(match, shown, key)

    async def _must_know(self, match_id: UUID, shown: Credential | None, key: KeyHolder | None) -> None:
        """Raise ``UnknownAggregate`` for a match with a damaged row, unless the caller could see it when it was
        opened. Raises ``DamagedRow`` if not even the opening can be read."""
        match = await self._matches.begun(match_id)
        if by_nothing(match) is None and _whose(match, shown, key) is None:
            raise UnknownAggregate(str(match_id))

    async def _key(self, shown: Credential) -> KeyHolder | None:
        """Whose key it is; ``None``: it is a token of a match. 401."""
        return None if shown.named is None else await holder_by(shown.named, shown.held, self._matches, self._limits)

    async def _known(self, match: Match, shown: Credential | None, key: KeyHolder | None) -> tuple[Match, Caller]:
        """Return the match and the caller who shows this. 404, 401.

        Another process may just have made an unknown token, so the match is read from the store then. The store is
        read as well for a caller who may not see a private match: the answer to a missing match takes no longer.
        """
        caller = _whose(match, shown, key)
        if caller is None and shown is not None and key is None:
            match = await self._matches.newest(match)
            caller = _whose(match, shown, key)
        elif caller is None and by_nothing(match) is None:
            await self._look_for_a_missing_one()
        caller = _must_be_somebody(match, caller)
        if caller.held is not None:
            self._limits.found_good(caller.held, match.opened.club)
        return match, caller

    async def _look_for_a_missing_one(self) -> None:
        """Read the store for a match that does not exist."""
        with suppress(UnknownAggregate):
            await self._matches.match(uuid4())


def _whose(match: Match, shown: Credential | None, key: KeyHolder | None) -> Caller | None:
    """Who shows this, as the match stands; ``None``: somebody who may not see it, or whose token is none of it."""
    if key is not None:
        return by_key(match, key)
    return by_nothing(match) if shown is None else by_token(match, shown.held)


def _must_be_somebody(match: Match, caller: Caller | None) -> Caller:
    """404 for a match that he may not see, 401 for a token that is none of one that everybody may."""
    if caller is not None:
        return caller
    if by_nothing(match) is None:
        raise UnknownAggregate(str(match.id))
    raise Problem("token_unknown", headers=CHALLENGE)


def _needed(match: Match, asked: tuple[Request, ...]) -> Scope:
    """The scope by which a key of the club could ask this of the match, where it is nothing that a seat asks."""
    if asked and isinstance(asked[0], IssueToken | Invite):
        return "open" if isinstance(asked[0], IssueToken) or asked[0].role in ROLES_OF_PROGRAMS else "officiate"
    return "officiate" if asked and match.sole_actor(asked[0]) == "official" else "play"
