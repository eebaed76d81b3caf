"""Names of members, and the numbers by which they are paid: kept beside the events, told to who may read them, and
erased."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from msgspec.structs import replace

from api.access.clubs import ClubCaller, KeyHolder
from api.http.problems import Problem
from api.http.strict import shows
from api.http.threads import in_long_thread, in_thread
from api.runtime.service import Service
from projections.payable import WrongCheckDigits, iban, swish_number
from referee.clubs.commands import SetPayee
from referee.clubs.facts import Ref
from referee.clubs.state import Member, Payee
from referee.store.club import Club


def may_be_shown(field: str, name: str) -> None:
    """422 for a name in which nothing can be seen; ``field``: where it stands, as a JSON pointer."""
    if not shows(name):
        raise Problem("unseen_text", field=field)


async def texts_of(service: Service, club_id: UUID, refs: Iterable[Ref]) -> dict[Ref, str]:
    """By ref those that there are."""
    wanted = list(refs)
    return await in_thread(service.names.read, club_id, wanted) if wanted else {}


async def names_of(service: Service, club: Club, members: Mapping[int, Member]) -> dict[Ref, str]:
    """Return by ref the names of these members, without those who are erased. Carries out an erasure that the service
    could only put on record."""
    found = await texts_of(service, club.id, (ref for member in members.values() for ref in _refs(member)))
    if any(member.erased and not found.keys().isdisjoint(member.names) for member in members.values()):
        await in_long_thread(service.erasures.carry_out, club)
    here = (member.name for member in members.values() if not member.erased)
    return {name: found[name] for name in here if name in found}


class Numbers(NamedTuple):
    """By which somebody is paid, as far as whoever asks is told."""

    swish: str | None = None
    iban: str | None = None


def numbers_meant(sent: SetPayee) -> SetPayee:
    """The same, each number in the one form in which it is kept. 422."""
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


def sees_numbers(caller: ClubCaller, member: int | None) -> bool:
    """Whether somebody is told by which numbers a member is paid, or the club (``None``): who settles accounts
    (`treasury`) or enters numbers (`keys`), and he himself; the club's everybody with a key of it. Not whoever runs
    the service: he is told no names either."""
    if not isinstance(caller, KeyHolder):
        return False
    return member in (None, caller.key.member) or caller.may("treasury") or caller.may("keys")


async def numbers_of(service: Service, club: Club, payees: Iterable[int | None]) -> dict[int | None, Numbers]:
    """By which numbers members are paid, or the club (``None``)."""
    known = {one: club.standing.payee_of(one) for one in payees}
    found = await texts_of(service, club.id, (ref for payee in known.values() for ref in _kept(payee)))
    return {one: Numbers(found.get(payee.swish or ""), found.get(payee.iban or "")) for one, payee in known.items()}


async def numbers_seen(
    service: Service, caller: ClubCaller, sent: SetPayee, *, confirms: bool = False
) -> dict[str, str]:
    """Return the numbers of a proposed payee by field, as a caller may see them: the texts for those who read numbers
    or confirm the proposal (``confirms``), else the refs."""
    refs = {name: ref for name, ref in (("swish", sent.swish), ("iban", sent.iban)) if ref is not None}
    if not (confirms or sees_numbers(caller, sent.member)):
        return refs
    texts = await texts_of(service, caller.club.id, refs.values())
    return {name: texts.get(ref, ref) for name, ref in refs.items()}


async def forget_numbers(service: Service, club: Club, whose: int | None) -> None:
    """Deletes the numbers of a member, or the club, in whose place others have come; again does no harm."""
    payee = club.standing.payee_of(whose)
    if gone := set(payee.numbers).difference(_kept(payee)):
        await in_thread(service.names.forget, gone)


def _kept(payee: Payee) -> tuple[str, ...]:
    return tuple(ref for ref in (payee.swish, payee.iban) if ref is not None)


def _refs(member: Member) -> tuple[Ref, ...]:
    return member.names if member.erased else (member.name,)
