"""Reads the values of the books on which the decision of an act depends."""

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

WITH_BASIS: dict[type, type] = {
    commands.EraseSent: commands.Erase,
    commands.PaySent: commands.Pay,
    commands.PayoutSent: commands.Payout,
    commands.ReverseSent: commands.Reverse,
    commands.ConfirmSent: commands.Confirm,
    commands.CloseBooksSent: commands.CloseBooks,
}
"""Types of acts with values of the books, by type of the act that a client sends."""
BasisAct = commands.PayoutSent | commands.ReverseSent | commands.CloseBooksSent
"""Acts that need the newest books, also when their proposal is confirmed."""
BasisSent = commands.EraseSent | commands.PaySent | commands.ConfirmSent | BasisAct


async def read_basis(service: Service, club: Club, sent: BasisSent) -> dict[str, Any]:
    """Return, by name, the fields that the books add to an act. Raises ``Problem`` (503) if the books are late."""
    books = service.projections
    if isinstance(sent, commands.PaySent):
        return {"planned": await planned_payment(service, club, sent)}

    def read(connection: Connection, club_id: UUID) -> dict[str, Any]:
        return basis_of(books.ledger, books.matches, connection, club, sent)

    if type(sent) is commands.EraseSent:
        await books.must_catch_up(books.matches, books.ledger)
    elif _needs_match_entries(club, sent):
        await books.must_catch_up(books.ledger)
    return await books.ask_of(books.ledger, club.id, club.version, read)


def _needs_match_entries(club: Club, sent: BasisSent) -> bool:
    """Return whether the ledger must first have all stored events."""
    if isinstance(sent, commands.ConfirmSent):
        proposal = club.state.proposals.get(sent.proposal)
        return proposal is not None and isinstance(proposal.act, BasisAct)
    return isinstance(sent, BasisAct)


def as_first_decided(sent: BasisSent, first: Any) -> Any | None:
    """Return ``sent`` with the values of ``first``, its earlier request; ``None`` if that is a different act."""
    kind = WITH_BASIS[type(sent)]
    if type(first) is not kind:
        return None
    basis = {name: getattr(first, name) for name in set(kind.__struct_fields__) - set(sent.__struct_fields__)}
    return kind(**asdict(sent), **basis)


def basis_of(ledger: Ledger, matches: Matches, connection: Connection, club: Club, sent: BasisSent) -> dict[str, Any]:
    """Return, by name, the fields that ledger and matches add; none to a payment (see :func:`read_basis`)."""
    state = club.state
    match sent:
        case commands.EraseSent(member=member):
            account = account_of(member)
            balances = tuple(ledger.balance(connection, club.id, account, one) for one in state.currencies)
            last = ledger.last_number_on(connection, club.id, account)
            unfinished = matches.count_open(connection, club.id, member) + ledger.count_waiting(
                connection, club.id, member
            )
            return {"balances": balances, "entry": last, "matches": unfinished}
        case commands.PaySent():
            return {}
        case commands.PayoutSent(member=member, currency=currency):
            account, currency = account_of(member), currency or state.currencies[0]
            return {"balance": ledger.balance(connection, club.id, account, currency)}
        case commands.ReverseSent(entry=entry):
            return {"found": _read_entry(ledger, connection, club.id, entry)}
        case commands.ConfirmSent(proposal=number):
            proposal = state.proposals.get(number)
            act = None if proposal is None else proposal.act
            if not isinstance(act, BasisAct):
                return {}
            basis = basis_of(ledger, matches, connection, club, act)
            return {"complete": WITH_BASIS[type(act)](**asdict(act), **basis)}
        case commands.CloseBooksSent():
            through = ledger.last_number(connection, club.id)
            entries = ledger.read(connection, club.id, after=state.closed_through, to=through)
            trial = ledger.balances_at(connection, club.id, through)
            return {"through": through, "digest": digest(state.digest, entries), "trial": trial}


def _read_entry(ledger: Ledger, connection: Connection, club: UUID, number: int) -> EntryFound | None:
    """Return the entry with present balances, if it exists."""
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
