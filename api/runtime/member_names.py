"""Names, payment numbers and texts of members. Without a caller as argument, rights are not checked."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from msgspec.structs import replace

from api.access.clubs import ClubCaller, KeyHolder
from api.http.headers import number_in_letters
from api.http.member_texts import NO_TEXTS, MemberTexts
from api.http.problems import Problem
from api.http.strict import comparable_name
from api.http.threads import in_long_thread, in_thread
from api.personal_data.erasures import Erasures, Redactions
from api.personal_data.names import Names
from api.personal_data.texts import Texts
from api.runtime.aggregate_reader import AggregateReader
from projections.payable import WrongCheckDigits, iban, swish_number
from referee.clubs.commands import PayeeAct, member_of_payee_act
from referee.clubs.facts import Ref
from referee.clubs.state import Member, Payee
from referee.store.club import Club
from referee.store.match import Match

CACHED_CLUBS_MAX = 1000
"""Maximum number of clubs whose names are cached."""


def must_be_visible(field: str, name: str) -> None:
    """Raise Problem (422) for a name without visible characters. ``field``: JSON pointer of the name."""
    if not comparable_name(name):
        raise Problem("unseen_text", field=field)


class Numbers(NamedTuple):
    swish: str | None = None
    iban: str | None = None


def with_stored_numbers(sent: PayeeAct) -> PayeeAct:
    """Return the act with numbers in the stored form. Raises Problem (422) for a malformed number or check digits."""
    try:
        swish = None if sent.swish is None else swish_number(sent.swish)
    except ValueError:
        raise Problem("bad_swish_number", field="/swish") from None
    try:
        return replace(sent, swish=swish, iban=None if sent.iban is None else iban(sent.iban))
    except WrongCheckDigits:
        raise Problem("wrong_check_digits", field="/iban") from None
    except ValueError:
        raise Problem("bad_iban", field="/iban") from None


def may_see_payment_numbers(caller: ClubCaller, member: int | None) -> bool:
    """Return whether a caller may see the payment numbers of ``member`` (None: the club).

    A key sees those of the club and of its own member. With ``treasury`` or ``keys`` it sees all, the
    operator none.
    """
    if not isinstance(caller, KeyHolder):
        return False
    return member in (None, caller.key.member) or caller.may("treasury") or caller.may("keys")


def _number_refs(payee: Payee) -> tuple[str, ...]:
    return tuple(ref for ref in (payee.swish, payee.iban) if ref is not None)


def _name_refs(member: Member) -> tuple[Ref, ...]:
    """Return the ref of the current name or, of an erased member, all refs, because some names may be stored."""
    return member.names if member.erased else (member.name,)


class MemberNames:
    def __init__(self, names: Names, erasures: Erasures, reader: AggregateReader) -> None:
        self._names, self._erasures, self._reader = names, erasures, reader
        self._names_cache: dict[UUID, tuple[int, dict[str, str]]] = {}
        """Version at which each club's names were read, and the names by ref."""
        self._redactions_cache: dict[UUID, tuple[tuple[str, ...], Redactions]] = {}
        """Recorded erasures of each club, and their :meth:`redactions`."""

    def texts_in(self, match: Match) -> MemberTexts:
        """Return the texts of a club's match, without players' names (:meth:`with_names`)."""
        return NO_TEXTS if match.opened.club is None else self.texts_in_all({match.id})

    def texts_in_all(self, matches: Collection[UUID]) -> MemberTexts:
        """Return the texts of these matches."""
        return MemberTexts(Texts(self._names, matches, self.redactions))

    async def redactions(self, club_id: UUID) -> Redactions:
        """Return, by ref of an erased text, the ref of its replacement; None if it was deleted."""
        club = await self._reader.readable_club(club_id)
        if club is None or not (erasures := club.state.erasures):
            return {}
        known = self._redactions_cache.get(club_id)
        if known is None or known[0] != erasures:
            if len(self._redactions_cache) >= CACHED_CLUBS_MAX:
                self._redactions_cache.clear()
            known = self._redactions_cache[club_id] = erasures, await in_thread(self._erasures.redactions, club)
        return known[1]

    async def with_names(self, match: Match, texts: MemberTexts) -> tuple[Match, MemberTexts]:
        """Return the match with the names of its players, and ``texts`` with the ETag mark of the names.

        Both are unchanged if the match has no readable club, or the caller may read no texts.
        """
        opened = match.opened
        if opened.club is None or texts.resolver is None:
            return match, texts
        club = await self._reader.readable_club(opened.club)
        if club is None:
            return match, texts
        names = await self.names_by_number(club.id, opened.members)
        players = tuple(
            names.get(member, shown) for member, shown in zip(opened.members, opened.players, strict=True)
        )
        named = replace(match, opened=replace(opened, players=players))
        return named, texts._replace(tag_mark=f"-names-{number_in_letters(club.version)}")

    async def names_by_number(self, club_id: UUID, members: Iterable[int]) -> dict[int, str]:
        """Return, by number, the stored names of members that are not erased; empty if the club cannot be read."""
        club = await self._reader.readable_club(club_id)
        if club is None:
            return {}
        known = {number: club.state.member(number) for number in members}
        refs = {number: one.name for number, one in known.items() if one is not None and not one.erased}
        names = await self._cached_names(club, set(refs.values()))
        return {number: names[ref] for number, ref in refs.items() if ref in names}

    async def _cached_names(self, club: Club, refs: set[str]) -> dict[str, str]:
        """Return, by ref, at least these stored names. Read them at each version, because it may erase a member."""
        version, known = self._names_cache.get(club.id, (0, {}))
        if version != club.version or not refs <= known.keys():
            before = known if version == club.version else {}
            known = before | await in_thread(self._names.read, club.id, refs)
            if len(self._names_cache) >= CACHED_CLUBS_MAX:
                self._names_cache.clear()
            self._names_cache[club.id] = club.version, known
        return known

    async def names_of(self, club: Club, members: Mapping[int, Member]) -> dict[Ref, str]:
        """Return, by ref, the stored names of members that are not erased. Complete an interrupted erasure."""
        found = await self._texts_of(club.id, (ref for member in members.values() for ref in _name_refs(member)))
        if any(member.erased and not found.keys().isdisjoint(member.names) for member in members.values()):
            await in_long_thread(self._erasures.carry_out, club)
        unerased = (member.name for member in members.values() if not member.erased)
        return {name: found[name] for name in unerased if name in found}

    async def numbers_of(self, club: Club, payees: Iterable[int | None]) -> dict[int | None, Numbers]:
        """Return, by member (None: the club), the stored payment numbers."""
        known = {one: club.state.payee_of(one) for one in payees}
        found = await self._texts_of(club.id, (ref for payee in known.values() for ref in _number_refs(payee)))
        return {
            one: Numbers(found.get(payee.swish or ""), found.get(payee.iban or "")) for one, payee in known.items()
        }

    async def visible_numbers(self, caller: ClubCaller, act: PayeeAct, *, confirms: bool = False) -> dict[str, str]:
        """Return, by field, the numbers of an act: refs unless the caller may see or ``confirms`` them."""
        refs = {name: ref for name, ref in (("swish", act.swish), ("iban", act.iban)) if ref is not None}
        if not (confirms or may_see_payment_numbers(caller, member_of_payee_act(act))):
            return refs
        texts = await self._texts_of(caller.club.id, refs.values())
        return {name: texts.get(ref, ref) for name, ref in refs.items()}

    async def forget_numbers(self, club: Club, member: int | None) -> None:
        """Delete the former payment numbers of a member (None: the club)."""
        payee = club.state.payee_of(member)
        if replaced := set(payee.numbers).difference(_number_refs(payee)):
            await in_thread(self._names.forget, replaced)

    async def _texts_of(self, club_id: UUID, refs: Iterable[Ref]) -> dict[Ref, str]:
        """Return, by ref, the texts that still exist."""
        wanted = list(refs)
        return await in_thread(self._names.read, club_id, wanted) if wanted else {}
