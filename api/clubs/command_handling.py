"""Executes an act in a club."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from api.access.clubs import ClubCaller
from api.access.codes import new_code
from api.access.tokens import hash_of
from api.clubs.erasing import TextsErased, store_plan
from api.clubs.new_keys import NewKey, derived_secrets, key_in_club, make_key, random_bytes
from api.clubs.schemas import EventSeen, KeyGiven, KeyInvitationGiven, event_seen
from api.clubs.zones import must_be_zone
from api.http.member_texts import NO_TEXTS
from api.http.problems import Problem
from api.http.replies import Reply, versioned_reply
from api.http.threads import in_long_thread, in_thread
from api.http.writes import must_not_be_guessable, replay_headers
from api.money.decision_basis import WITH_BASIS, BasisSent, as_first_decided, read_basis
from api.runtime.aggregate_reader import club_of
from api.runtime.member_names import must_be_visible, with_stored_numbers
from api.runtime.service import Service
from referee import wire_types
from referee.clubs import commands, facts
from referee.clubs.commands import ClubRequest, ClubSent
from referee.clubs.facts import KeyId
from referee.clubs.money import proposal_for_plan
from referee.clubs.proposal_events import ProposalDeclined, ProposalMade
from referee.refusals import Refused
from referee.store import acts
from referee.store.command import Busy, Command, KeyReused, Outcome, Stale
from referee.value import Value, Version
from referee.visibility import Recorded

DECISION_ATTEMPTS = 8
"""Attempts to decide an act on the books before ``Busy``."""
NUMBER_ATTEMPTS = 3
"""Attempts to number a new key before ``Busy``."""


class ClubActDone(Value, omit_defaults=True):
    """An accepted act."""

    version: Version
    events: wire_types.Many[EventSeen]
    """Events that the act made, in order. Never empty."""
    member: wire_types.MemberNumber | UnsetType = UNSET
    """New member, after `join`."""
    key: KeyGiven | UnsetType = UNSET
    """Key that `issue_key` or `rotate_key` made."""
    invitation: KeyInvitationGiven | UnsetType = UNSET
    """Invitation to a key, after `issue_key` for another member or its `confirm`."""
    evening: wire_types.EveningNumber | UnsetType = UNSET
    """New evening, after `open_evening`."""
    proposal: wire_types.ProposalNumber | UnsetType = UNSET
    """Proposal, if the act needs a second person."""
    closing: wire_types.ClosingNumber | UnsetType = UNSET
    """Closing, after `close_books`."""
    erased: TextsErased | UnsetType = UNSET
    """Deleted and changed texts, after `erase`."""


class ActExecution:
    def __init__(self, service: Service, caller: ClubCaller, key: str | None, expected: int | None) -> None:
        self._service, self._caller, self._club = service, caller, caller.club
        self._key, self._expected = key, expected

    async def execute(self, sent: ClubSent) -> Reply:
        """Execute the act and return its answer.

        Raises ``Refused``, ``Problem`` (400, 422 or 503) and the errors of :meth:`Commands.do`.
        """
        await _check_texts(sent)
        match sent:
            case commands.Join() | commands.Rename():
                return await self._name_member(sent)
            case commands.SetPayeeSent():
                return await self._set_payee(self._with_member(sent))
            case commands.SetClubPayee():
                return await self._set_payee(sent)
            case commands.IssueKeySent(member=int(member), app=None) if member != self._caller.member:
                return await self._invite(sent)
            case commands.IssueKeySent():
                return await self._issue_key(sent)
            case commands.RotateKeySent():
                return await self._rotate_key(sent)
            case commands.EraseSent():
                return await self._erase(sent)
            case commands.PaySent():
                return await self._pay(sent)
            case commands.ConfirmSent():
                return await self._confirm(sent)
            case commands.CloseBooksSent() | commands.PayoutSent() | commands.ReverseSent():
                return await self._finish(await self._decide_on_books(sent))
        return await self._finish(await self._decide(sent))

    async def _decide(self, request: ClubRequest, *, key: str | None = None, expected: int | None = None) -> Outcome:
        """Let the desk decide a request.

        ``key``: id recorded instead of the client's Idempotency-Key. ``expected``: version instead of ``If-Match``.
        """
        return await self._service.commands.do(
            Command(
                id=self._club.id,
                actor=self._caller.actor,
                request=request,
                key=key or self._key,
                expected=self._expected if expected is None else expected,
                token=self._caller.secret_hash,
            )
        )

    async def _name_member(self, sent: commands.Join | commands.Rename) -> Reply:
        member = sent.member if isinstance(sent, commands.Rename) else None
        refs_for, act = self._service.commands.refs_for, self._act_hash
        async with refs_for(self._club.id, [sent.name], member=member, act=act, kind="name") as (ref,):
            outcome = await self._decide(replace(sent, name=ref))
        return _answer(outcome, {ref: sent.name})

    @property
    def _act_hash(self) -> str | None:
        """Hash with which a repetition finds its stored texts; None: no Idempotency-Key."""
        return None if self._key is None else acts.key_of(self._caller.actor, self._key).hex()

    def _with_member(self, sent: commands.SetPayeeSent) -> commands.SetPayee:
        """Return the act with its member, by default the holder. Raises ``Problem`` (422) without one."""
        member = self._caller.member if sent.member is UNSET else sent.member
        if member is None:
            raise Problem("payee_not_named", field="/member")
        return commands.SetPayee(member=member, swish=sent.swish, iban=sent.iban)

    async def _set_payee(self, sent: commands.PayeeAct) -> Reply:
        """Set payment numbers, or propose them."""
        member, sent = commands.member_of_payee_act(sent), with_stored_numbers(sent)
        given = {"swish": sent.swish, "iban": sent.iban}
        texts = [text for text in given.values() if text is not None]
        refs_for, act = self._service.commands.refs_for, self._act_hash
        async with refs_for(self._club.id, texts, member=member, act=act, kind="number") as refs:
            these = iter(refs)
            by_ref = {name: None if text is None else next(these) for name, text in given.items()}
            outcome = await self._decide(replace(sent, **by_ref))
        return await self._finish(outcome, dict(zip(refs, texts, strict=True)))

    async def _confirm(self, sent: commands.ConfirmSent) -> Reply:
        """Confirm a proposal. An invitation to a key gets its code now.

        The books are read again, except for `pay` or a repetition. Raises ``Busy``, and ``Problem`` (400) for an
        invitation with a short Idempotency-Key.
        """
        own_key, random = await self._id_and_secret(sent)
        code = new_code(self._club.id, random)
        for key in (own_key, self._key):
            before = await self._earlier_request(key)
            if isinstance(before, commands.Confirm):
                outcome = await self._decide(replace(before, proposal=sent.proposal), key=key)
                return await self._finish(outcome, code=code)
        for _ in range(DECISION_ATTEMPTS):
            if self._expected not in (None, self._club.version):
                await self._catch_up()
            proposal = self._club.state.proposals.get(sent.proposal)
            if proposal is not None and isinstance(proposal.act, commands.IssueKeySent):
                must_not_be_guessable(self._key)
                invite = commands.Invite(**asdict(proposal.act), hash=hash_of(code))
                request, key = commands.Confirm(proposal=sent.proposal, complete=invite), own_key
            else:
                basis = await read_basis(self._service, self._club, sent)
                request, key = commands.Confirm(proposal=sent.proposal, **basis), self._key
            with suppress(Stale):
                outcome = await self._decide(request, key=key, expected=self._club.version)
                return await self._finish(outcome, code=code)
            await self._catch_up()
        raise Busy

    async def _invite(self, sent: commands.IssueKeySent) -> Reply:
        """Invite a member to a key, or propose it."""
        own_key, random = await self._id_and_secret(sent)
        code = new_code(self._club.id, random)
        outcome = await self._decide(commands.Invite(**asdict(sent), hash=hash_of(code)), key=own_key)
        return _answer(outcome, code=code)

    async def _finish(
        self, outcome: Outcome, texts: Mapping[str, str] | None = None, code: str | None = None
    ) -> Reply:
        """Delete replaced or declined payment numbers, request a closing's checkpoint, and return the answer."""
        service, club = self._service, club_of(outcome.aggregate)
        for recorded in outcome.events:
            match recorded.event:
                case facts.PayeeSet(member=member):
                    await service.member_names.forget_numbers(club, member)
                case ProposalDeclined(act=act) if isinstance(act, commands.PayeeAct):
                    await service.member_names.forget_numbers(club, commands.member_of_payee_act(act))
                case facts.BooksClosed() if service.signer is not None:
                    service.signer.request_signature()  # because statements name the checkpoint
        return _answer(outcome, texts, code=code)

    async def _erase(self, sent: commands.EraseSent) -> Reply:
        """Record an erasure and carry it out.

        If no texts are left to record, complete the recorded erasures and raise ``Refused``.
        """
        carry_out = self._service.erasures.carry_out
        try:
            outcome = await self._decide_on_books(sent)
        except Refused as refused:
            if refused.code == "member_erased":
                await in_long_thread(carry_out, await self._service.reader.newest_club(self._club))
            raise
        await in_long_thread(carry_out, club_of(outcome.aggregate))
        return _answer(outcome)

    async def _pay(self, sent: commands.PaySent) -> Reply:
        """Propose a payment. If a planned payment is already proposed, return that proposal."""
        if sent.plan is None:
            return _answer(await self._decide(commands.Pay(**asdict(sent))))
        try:
            return _answer(await self._decide_on_books(sent))
        except Refused as refused:
            if refused.code != "planned_already":
                raise
        return _answer(await self._proposed_payment(sent.plan))

    async def _proposed_payment(self, plan: str) -> Outcome:
        """Return the outcome that proposed a planned payment. Raises ``Busy`` if the proposal has ended."""
        self._club = await self._service.reader.newest_club(self._club)
        number = proposal_for_plan(self._club.state, plan)
        if number is None:
            raise Busy
        event = self._club.state.proposals[number].event
        (proposed,) = await in_thread(self._service.referee.history, self._club.id, after=event - 1, to=event)
        if proposed.actor != self._caller.actor:
            # so that the answer does not show another caller's Idempotency-Key
            proposed = replace(proposed, act_id=acts.OWN_KEY_PREFIX)
        return Outcome(aggregate=self._club, events=(proposed,), repeated=True)

    async def _decide_on_books(self, sent: BasisSent) -> Outcome:
        """Let the desk decide an act at the version of the books; a repetition, with the first values.

        Raises ``Busy``.
        """
        for _ in range(DECISION_ATTEMPTS):
            before = await self._earlier_request(self._key)
            if before is not None and (again := as_first_decided(sent, before)) is not None:
                return await self._decide(again)
            if self._expected not in (None, self._club.version):
                await self._catch_up()
            with suppress(Stale):
                request = await self._with_basis(sent)
                return await self._decide(request, expected=self._club.version)
            await self._catch_up()
        raise Busy

    async def _with_basis(self, sent: BasisSent) -> Any:
        """Return the act with the values of the books. Store the plan of an erasure first."""
        basis = await read_basis(self._service, self._club, sent)
        if isinstance(sent, commands.EraseSent):
            return await store_plan(self._service, self._club, self._caller.actor, sent, basis)
        return WITH_BASIS[type(sent)](**asdict(sent), **basis)

    async def _earlier_request(self, key: str | None) -> Any | None:
        """Return the request of the caller's act with this key, or ``None``."""
        recorded = await self._earlier_event(key)
        return None if recorded is None or recorded.request is None else commands.club_request_of(recorded.request)

    async def _issue_key(self, sent: commands.IssueKeySent) -> Reply:
        """Issue a key with the next number; a repetition, with the first number. Raises ``Busy``."""
        own_key, random = await self._id_and_secret(sent)
        for _ in range(NUMBER_ATTEMPTS):
            before = await self._earlier_key(own_key)
            if before is None and self._expected not in (None, self._club.version):
                await self._catch_up()
            made = make_key(self._club.id, before or f"k{len(self._club.state.keys) + 1}", random)
            request = commands.IssueKey(**asdict(sent), hash=made.hash)
            try:
                outcome = await self._decide(request, key=own_key, expected=self._club.version)
            except Stale:
                await self._catch_up()
            except KeyReused:
                if before is not None or own_key is None:
                    raise
            else:
                return _answer(outcome, new_key=made)
        raise Busy

    async def _catch_up(self) -> None:
        """Read the club from the store. Raises ``Stale`` if the caller expects a different version."""
        self._club = await self._service.reader.newest_club(self._club)
        if self._expected not in (None, self._club.version):
            raise Stale(self._club.version)

    async def _earlier_key(self, own_key: str | None) -> KeyId | None:
        """Return the key that the act with this id issued, or None. Raises ``KeyReused`` if it issued none."""
        recorded = await self._earlier_event(own_key)
        if recorded is None:
            return None
        if not isinstance(recorded.event, facts.KeyIssued):
            raise KeyReused
        return recorded.event.key

    async def _earlier_event(self, key: str | None) -> Recorded | None:
        """Return the first event of the caller's act with this key, or ``None``."""
        referee, club_id = self._service.referee, self._club.id
        if key is None or (act := await in_thread(referee.act, club_id, self._caller.actor, key)) is None:
            return None
        (recorded, *_) = await in_thread(referee.history, club_id, after=act.first - 1, to=act.last)
        return recorded

    async def _rotate_key(self, sent: commands.RotateKeySent) -> Reply:
        own_key, random = await self._id_and_secret(sent)
        made = make_key(self._club.id, sent.key, random)
        outcome = await self._decide(commands.RotateKey(**asdict(sent), hash=made.hash), key=own_key)
        return _answer(outcome, new_key=made)

    async def _id_and_secret(self, sent: ClubSent) -> tuple[str | None, bytes]:
        """Return the id that is recorded instead of the Idempotency-Key, and the bytes of the new secret.

        Both are derived from the Idempotency-Key, the bytes also from the act. Without a key: ``None``, random bytes.
        """
        if self._key is None:
            return None, random_bytes()
        purpose = ("act", str(self._club.id), self._caller.actor)
        derived = await derived_secrets(self._service, self._key, sent, *purpose)
        return str(derived.id_of("act")), derived.secret_of("key")


async def _check_texts(sent: ClubSent) -> None:
    """Raise ``Problem`` (422) for an invisible text or unknown timezone."""
    for field in ("name", "app", "label", "season"):
        if (text := getattr(sent, field, None)) is not None:
            must_be_visible(f"/{field}", text)
    if isinstance(sent, commands.Set) and sent.timezone is not None:
        await must_be_zone(sent.timezone)


def _answer(
    outcome: Outcome,
    texts: Mapping[str, str] | None = None,
    new_key: NewKey | None = None,
    code: str | None = None,
) -> Reply:
    """``texts``: texts by ref that the sender may read."""
    version = outcome.events[-1].originator_version
    done: dict[str, Any] = {"version": version, "events": [event_seen(one, texts or {}) for one in outcome.events]}
    club = club_of(outcome.aggregate)
    for recorded in outcome.events:
        match recorded.event:
            case facts.MemberJoined(member=member):
                done["member"] = member
            case facts.EveningOpened(evening=evening):
                done["evening"] = evening
            case ProposalMade(proposal=proposal):
                done["proposal"] = proposal
            case facts.BooksClosed(closing=closing):
                done["closing"] = closing
            case facts.MemberErased(deleted=deleted, changed=changed):
                done["erased"] = TextsErased(deleted=deleted, changed=changed)
            case facts.KeyIssued(key=key_id) | facts.KeyRotated(key=key_id) if new_key is not None:
                done["key"] = new_key.view(key_id, key_in_club(club, key_id))
            case facts.KeyInvited() as invited if code is not None:
                done["invitation"] = KeyInvitationGiven(
                    key=invited.key,
                    code=code,
                    scopes=invited.scopes,
                    expires_at=invited.until,
                    key_expires_at=invited.expires_at,
                )
    secret = {"Cache-Control": "no-store"} if {"key", "invitation"} & done.keys() else {}
    return versioned_reply(done, version, NO_TEXTS, status=201, headers={**replay_headers(outcome), **secret})
