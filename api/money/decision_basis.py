"""What a money act is decided on: the club's books, as they stand at the version that it is decided at."""

from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import asdict
from sqlalchemy import Connection

from api.money.plan_source import planned_payment
from api.runtime.service import Service
from projections.closings import digest
from projections.ledger import Ledger
from projections.matches import Matches
from referee.clubs import commands
from referee.clubs.commands import EntryFound
from referee.clubs.facts import EntryKind, account_of
from referee.store.club import Club

BOOKED: dict[type, type] = {
    commands.EraseSent: commands.Erase,
    commands.PaySent: commands.Pay,
    commands.PayoutSent: commands.Payout,
    commands.ReverseSent: commands.Reverse,
    commands.ConfirmSent: commands.Confirm,
    commands.CloseBooksSent: commands.CloseBooks,
}
"""What is sent, and what is decided: that, what the books say, and of an erasure its changes."""
BookedAct = commands.PayoutSent | commands.ReverseSent | commands.CloseBooksSent
"""The acts of these that a proposal may be about, and that the books are asked about again when it is confirmed."""
BookedSent = commands.EraseSent | commands.PaySent | commands.ConfirmSent | BookedAct


async def booked(service: Service, club: Club, sent: BookedSent) -> dict[str, Any]:
    """Return what the books say now, by the fields that are decided on beside those that were sent.

    Raises 503 if they do not have all that is stored.
    """
    books = service.projections
    if isinstance(sent, commands.PaySent):
        return {"planned": await planned_payment(service, club, sent)}

    def read(connection: Connection, club_id: UUID) -> dict[str, Any]:
        return says_of(books.ledger, books.matches, connection, club, sent)

    if type(sent) is commands.EraseSent:
        await books.must_catch_up(books.matches, books.ledger)
    elif _rests_on_books(club, sent):
        await books.must_catch_up(books.ledger)
    return await books.ask_of(books.ledger, club.id, club.version, read)


def _rests_on_books(club: Club, sent: BookedSent) -> bool:
    """Return whether an act is decided on entries of matches, too: they have to be there."""
    if isinstance(sent, commands.ConfirmSent):
        proposal = club.standing.proposals.get(sent.proposal)
        return proposal is not None and isinstance(proposal.act, BookedAct)
    return isinstance(sent, BookedAct)


def as_before(sent: BookedSent, before: Any) -> Any | None:
    """What was sent, with what the books said when it was asked ``before`` under the same key; ``None`` where that
    was something else."""
    kind = BOOKED[type(sent)]
    if type(before) is not kind:
        return None
    says = {name: getattr(before, name) for name in set(kind.__struct_fields__) - set(sent.__struct_fields__)}
    return kind(**asdict(sent), **says)


def says_of(ledger: Ledger, matches: Matches, connection: Connection, club: Club, sent: BookedSent) -> dict[str, Any]:
    """What the books say of it, by the fields that are decided on beside those that were sent."""
    now = club.standing
    match sent:
        case commands.EraseSent(member=member):
            account = account_of(member)
            balances = tuple(ledger.balance(connection, club.id, account, one) for one in now.currencies)
            last = ledger.last_on(connection, club.id, account)
            going_on = matches.still_open(connection, club.id, member) + ledger.waiting(connection, club.id, member)
            return {"balances": balances, "entry": last, "matches": going_on}
        case commands.PaySent():
            return {}
        case commands.PayoutSent(member=member, currency=currency):
            account, currency = account_of(member), currency or now.currencies[0]
            return {"balance": ledger.balance(connection, club.id, account, currency)}
        case commands.ReverseSent(entry=entry):
            return {"found": _found(ledger, connection, club.id, entry)}
        case commands.ConfirmSent(proposal=number):
            proposal = now.proposals.get(number)
            act = None if proposal is None else proposal.act
            if not isinstance(act, BookedAct):
                return {}
            says = says_of(ledger, matches, connection, club, act)
            return {"complete": BOOKED[type(act)](**asdict(act), **says)}
        case commands.CloseBooksSent():
            through = ledger.last(connection, club.id)
            entries = ledger.read(connection, club.id, after=now.closed_through, to=through)
            trial = ledger.balances_at(connection, club.id, through)
            return {"through": through, "digest": digest(now.digest, entries), "trial": trial}


def _found(ledger: Ledger, connection: Connection, club: UUID, number: int) -> EntryFound | None:
    found = ledger.entry(connection, club, number)
    if found is None:
        return None
    entry, reversed_by = found
    return EntryFound(
        kind=msgspec.convert(entry.kind, EntryKind),
        currency=entry.currency,
        postings=entry.postings,
        evening=entry.evening,
        reversed=reversed_by is not None,
        balances=tuple(ledger.balance(connection, club, one.account, entry.currency) for one in entry.postings),
    )
