"""Sends commands to the desk. Stores names and texts in commands to clubs and their matches outside the events."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from uuid import UUID

from msgspec.structs import replace

from api.http.problems import STORE_FAILURES
from api.http.threads import in_thread
from api.personal_data.names import Kind, Names
from api.personal_data.texts import free_texts_of, with_texts_changed
from api.runtime.aggregate_reader import AggregateReader
from referee.actors import seat_of
from referee.clubs.lookup import member_of_actor
from referee.refusals import Refused
from referee.store.acts import key_of
from referee.store.clock import ClockWrong
from referee.store.command import (
    Busy,
    Command,
    Full,
    InDoubt,
    KeyReused,
    OpenedByAnother,
    Outcome,
    Overtaken,
    Stale,
    TokenNotValid,
)
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.store import UnknownAggregate

ACT_SECONDS = 4.5
"""Maximum seconds that a request waits for the desk."""
HISTORY_SECONDS = 25.0
"""Maximum if the desk reads a whole history for it."""
NOTHING_DONE = (
    Refused,
    Stale,
    KeyReused,
    OpenedByAnother,
    Overtaken,
    Full,
    TokenNotValid,
    UnknownAggregate,
    Busy,
    ClockWrong,
)
"""Errors of commands that certainly stored nothing."""


def resume_once(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class Waiters:
    """Wakes an event loop for the answers that the desk gives on its own thread.

    All answers of a transaction wake the loop once.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._answered: deque[asyncio.Future[None]] = deque()
        self._woken = False

    def wake(self, waiter: asyncio.Future[None]) -> None:
        """May be called on any thread."""
        self._answered.append(waiter)
        if not self._woken:
            self._woken = True
            self.loop.call_soon_threadsafe(self._resume)

    def _resume(self) -> None:
        self._woken = False  # First, because a later answer must wake the loop again.
        while self._answered:
            resume_once(self._answered.popleft())


class Commands:
    def __init__(self, desk: Desk, reader: AggregateReader, names: Names) -> None:
        self._desk, self._reader, self._names = desk, reader, names
        self._waiters = Waiters(asyncio.get_running_loop())

    async def do(self, command: Command) -> Outcome:
        """Let the desk decide and store a command, and return its outcome.

        In a club's match the desk gets refs instead of texts, so that texts can be erased.
        Raises the errors of ``Desk.submit`` and, while it stores texts, :data:`STORE_FAILURES`. Without an answer in
        time it raises :class:`Busy` if nothing was done, else :class:`InDoubt`.
        """
        texts = free_texts_of(command.request)
        match = await self._reader.match_perhaps_stale(command.id) if texts else None
        if match is None or match.opened.club is None:
            return await self._submit(command)
        key, writer = command.key, await self._writer(match, command)
        act = None if key is None else f"{command.id} {key_of(command.actor, key).hex()}"
        async with self.refs_for(match.opened.club, texts, member=writer, act=act, match=command.id) as refs:
            request = with_texts_changed(command.request, dict(zip(texts, refs, strict=True)).__getitem__)
            return await self._submit(replace(command, request=request))

    @asynccontextmanager
    async def refs_for(
        self,
        club: UUID,
        texts: Sequence[str],
        *,
        member: int | None = None,
        act: str | None = None,
        match: UUID | None = None,
        kind: Kind = "text",
    ) -> AsyncIterator[tuple[str, ...]]:
        """Store names or texts, and yield their refs. Delete them if the body raises one of :data:`NOTHING_DONE`.

        The arguments are those of :meth:`~api.personal_data.names.Names.put`.
        """
        refs = await in_thread(self._names.put, club, member, texts, act=act, match=match, kind=kind)
        try:
            yield refs
        except NOTHING_DONE:
            # Remaining texts do no harm, because no event has their refs.
            with suppress(Busy, *STORE_FAILURES):
                await in_thread(self._names.drop, refs)
            raise

    async def _submit(self, command: Command) -> Outcome:
        loop = self._waiters.loop
        answer, waiter = self._desk.submit(command), loop.create_future()
        answer.when_done(partial(self._waiters.wake, waiter))
        timer: asyncio.TimerHandle

        def give_up_unless_history_is_read() -> None:
            nonlocal timer
            if answer.aside:
                timer = loop.call_later(HISTORY_SECONDS - ACT_SECONDS, resume_once, waiter)
            else:
                resume_once(waiter)

        timer = loop.call_later(ACT_SECONDS, give_up_unless_history_is_read)
        await waiter
        timer.cancel()
        if not answer.done:
            raise Busy if answer.cancel() else InDoubt
        return answer.outcome()

    async def _writer(self, match: Match, command: Command) -> int | None:
        """Return the member at the seat of the actor or request, else the member with the actor's key, or None."""
        actor, opened = command.actor, match.opened
        seat = seat_of(actor)
        if seat is None:
            seat = getattr(command.request, "seat", None)
        if isinstance(seat, int):
            return opened.members[seat] if 0 <= seat < len(opened.members) else None
        club = None if opened.club is None else await self._reader.readable_club(opened.club)
        return None if club is None else member_of_actor(club.state, actor)
