"""Bundles of a log that is signed as it should be and in which something false is on record, or nothing false."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from api.log.bundled import BundleSettlement, bundle_of, decided, entry_told, recorded_in, settlement_by
from api.log.proving import Placed
from projections.closings import digest
from projections.journal import JournalEntry
from projections.ledger.tables import NO_DIGEST
from referee.clubs.facts import BooksClosed, MoneyPosted, Posting
from referee.events import MatchAbandoned, MatchOpened, MatchWon, Payment, Stakes
from referee.log.facts import LogSigned
from referee.log.notes import Checkpoint, signed
from referee.log.tree import Tree, rolled_up
from referee.proceedings.corrections import Ended, ProtocolCorrected, Why
from referee.proceedings.seating import StakesAgreed, StakesDeclined
from referee.proceedings.takeback import ActTakenBack
from referee.sight import Event, Recorded
from referee.store.rows import FIRST, row_hash, to_row
from tests.agreed import AGREED
from tests.log.proving import KEY, ORIGIN, checked
from tests.played import opening

MATCH, CLUB = UUID(int=1), UUID(int=2)
AT = datetime(2026, 11, 22, 20, tzinfo=UTC)
OPENED = msgspec.structs.replace(
    opening(players=3), club=CLUB, members=(4, 5, 6), stakes=Stakes(currency="SEK", unit=100), evening=1
)
PAID = (Payment(payer=0, payee=1, points=1, rule="B74"), Payment(payer=2, payee=1, points=3, rule="B74"))


def won(amounts: tuple[int, ...] = (-100, 400, -300), payments: tuple[Payment, ...] = PAID, **more: Any) -> MatchWon:
    return MatchWon(seat=1, by="points", rule="B74", points=(1, 0, 3), settlement=amounts, payments=payments, **more)


def corrected(won: Ended | None = None) -> ProtocolCorrected:
    return ProtocolCorrected(
        case=None,
        deal=1,
        why=Why(rule="B11"),
        lines=(),
        struck=(),
        points=(1, 0, 3),
        eliminated=(),
        dealer=0,
        next_deal=2,
        won=won,
    )


def rows_of(*events: Event, of: UUID = MATCH) -> list[Placed]:
    """The rows of these events."""
    rows, before = [], FIRST
    for number, event in enumerate(events, 1):
        row = to_row(Recorded(of, number, AT, "official", f"~{number:024}", "0" * 16, before, event))
        before = row_hash(row)
        rows.append(Placed(number - 1, (number, str(of), number, row.topic, row.state)))
    return rows


def entries_of(*found: tuple[str, int, tuple[int, ...]], of: UUID = MATCH) -> list[dict[str, Any]]:
    """Entries of a match by kind, event, and what is written on the accounts of its members."""
    return [
        {
            "number": None,
            "date": None,
            "kind": kind,
            "currency": "SEK",
            "cause": f"{of}/{event}",
            "postings": [
                {"account": f"member:{4 + seat}", "amount": amount} for seat, amount in enumerate(amounts) if amount
            ],
        }
        for kind, event, amounts in found
    ]


def bundled(rows: list[Placed], settled: BundleSettlement | None, entries: Any) -> bytes:
    """A bundle of them, signed."""
    leaves = [bytes.fromhex(row_hash_of(one)) for one in rows]
    tiles = rolled_up({}, b"".join(leaves), 0)
    tree = Tree(size=len(leaves), tiles=lambda *tile: tiles[tile])
    note = signed(Checkpoint(origin=ORIGIN, size=tree.size, root=tree.root()), [KEY])
    said = LogSigned(size=tree.size, root=tree.root().hex(), note=note)
    bundle = bundle_of(said, tree, None, rows, () if settled is None else (settled,), ())
    return msgspec.json.encode({**msgspec.to_builtins(bundle), "entries": entries})


def row_hash_of(placed: Placed) -> str:
    return row_hash(to_row(recorded_in(placed)))


def settled_by(rows: list[Placed]) -> BundleSettlement | None:
    return settlement_by(MATCH, OPENED, decided(rows))


FIRST_ENTRY = ("match", 3, (100, -400, 300))
BACK = (-100, 400, -300)
HALVES = tuple(msgspec.structs.replace(one, points=2 * one.points) for one in PAID)
TRUE: dict[str, tuple[tuple[Event, ...], list[dict[str, Any]]]] = {
    "won": ((won(),), entries_of(FIRST_ENTRY)),
    "halves of a point": ((won(payments=HALVES, halves=True),), entries_of(FIRST_ENTRY)),
    "a row from before payments were told": ((won(payments=()),), entries_of(FIRST_ENTRY)),
    "the payee pays": (
        (won((100, -100, 0), (Payment(payer=0, payee=1, points=-1, rule="B74"),)),),
        entries_of(("match", 3, (-100, 100, 0))),
    ),
    "abandoned": ((MatchAbandoned(deal=1),), []),
    "opened again": ((won(), corrected()), entries_of(FIRST_ENTRY, ("reverse", 4, BACK))),
    "corrected": (
        (won(), corrected(Ended(by="duel", rule="B74", event=3, seat=0, settlement=(100, -100, 0)))),
        entries_of(FIRST_ENTRY, ("reverse", 4, BACK), ("match", 4, (-100, 100, 0))),
    ),
    "taken back": (
        (won(), ActTakenBack(case=1, first=3, last=3, seat=0)),
        entries_of(FIRST_ENTRY, ("reverse", 4, BACK)),
    ),
    "taken back and won again": (
        (won(), ActTakenBack(case=1, first=3, last=3, seat=0), won()),
        entries_of(FIRST_ENTRY, ("reverse", 4, BACK), ("match", 5, (100, -400, 300))),
    ),
}


@pytest.mark.parametrize("what", TRUE)
def test_what_a_match_came_to_is_read_from_its_rows(what: str, tmp_path: Path) -> None:
    events, entries = TRUE[what]
    rows = rows_of(OPENED, AGREED, *events)
    code, lines = checked(tmp_path, bundled(rows, settled_by(rows), entries))
    assert code == 0, lines
    for place in range(len(entries)):
        left = [*entries[:place], *entries[place + 1 :]]
        assert checked(tmp_path, bundled(rows, settled_by(rows), left)).code == 1, "an entry is left out"


LIMITED = msgspec.structs.replace(OPENED, stake_limit=399)
UNCOUNTED: dict[str, tuple[tuple[Event, ...], list[dict[str, Any]]]] = {
    "nobody has agreed": ((OPENED, won()), []),
    "one has not agreed": ((OPENED, StakesAgreed(seats=(0, 2), how="secretary"), won()), []),
    "they agree later": ((OPENED, won(), AGREED), entries_of(FIRST_ENTRY)),
    "they agree to what was corrected": ((OPENED, won(), corrected(), AGREED), []),
    "declined": ((OPENED, StakesDeclined(seat=1), won()), []),
    "above the limit": ((LIMITED, AGREED, won()), []),
    "above the limit once corrected": (
        (
            LIMITED,
            AGREED,
            won((100, -100, 0), ()),
            corrected(Ended(by="duel", rule="B74", event=3, seat=0, settlement=(-100, 400, -300))),
        ),
        entries_of(("match", 3, (-100, 100, 0)), ("reverse", 4, (100, -100, 0))),
    ),
}


@pytest.mark.parametrize("what", UNCOUNTED)
def test_what_the_books_do_not_count_has_a_settlement_and_no_entries(what: str, tmp_path: Path) -> None:
    events, entries = UNCOUNTED[what]
    rows = rows_of(*events)
    code, lines = checked(tmp_path, bundled(rows, settled_by(rows), entries))
    assert code == 0, lines
    if not entries:
        assert checked(tmp_path, bundled(rows, settled_by(rows), entries_of(FIRST_ENTRY))).code == 1


def test_a_match_of_no_club_has_a_settlement_and_no_entries(tmp_path: Path) -> None:
    opened = msgspec.structs.replace(OPENED, club=None, members=(), evening=None)
    rows = rows_of(opened, won())
    assert checked(tmp_path, bundled(rows, settled_by(rows), [])).code == 0
    assert checked(tmp_path, bundled(rows, None, [])).code == 1


FALSE: dict[str, tuple[MatchOpened, Event, list[dict[str, Any]], str]] = {
    "its payments come to something else": (
        OPENED,
        won(payments=PAID[:1]),
        entries_of(FIRST_ENTRY),
        f"the payments of {MATCH} are not its settlement",
    ),
    "its payments go to somebody else": (
        OPENED,
        won(payments=(PAID[0], msgspec.structs.replace(PAID[1], payee=0))),
        entries_of(FIRST_ENTRY),
        f"the payments of {MATCH} are not its settlement",
    ),
    "the entry is another's": (
        msgspec.structs.replace(OPENED, members=(4, 6, 5)),
        won(),
        entries_of(FIRST_ENTRY),
        "no row says an entry",
    ),
}


@pytest.mark.parametrize("what", FALSE)
def test_what_does_not_agree_is_found_though_it_is_signed(what: str, tmp_path: Path) -> None:
    opened, event, entries, says = FALSE[what]
    rows = rows_of(opened, AGREED, event)
    code, lines = checked(tmp_path, bundled(rows, settled_by(rows), entries))
    assert (code, lines[-1]) == (1, f"NOT PROVED: {says}")


@pytest.mark.parametrize(
    ("amount", "closing", "through", "before", "says"),
    [
        (-500, 1, 1, NO_DIGEST, None),
        (-400, 1, 1, NO_DIGEST, "no row says entry 1"),
        (-500, 1, 1, "1" * 64, "the entries do not have the digest of the closing"),
        (-500, 2, 1, NO_DIGEST, "there are more entries, or fewer"),
        (-500, 1, 2, NO_DIGEST, "there are more entries, or fewer"),
    ],
)
def test_a_closing_of_what_does_not_add_up_is_found(
    tmp_path: Path, amount: int, closing: int, through: int, before: str, says: str | None
) -> None:
    postings = (Posting(account="cash", amount=500), Posting(account="member:4", amount=amount))
    entry = JournalEntry(
        number=1,
        date=AT.date(),
        kind="deposit",
        currency="SEK",
        cause=f"{CLUB}/1",
        postings=postings,
        evening=None,
        reverses=None,
        by="key:k1",
    )
    posted = MoneyPosted(kind="deposit", currency="SEK", postings=postings, by="key:k1")
    closed = BooksClosed(closing=closing, through=through, digest=digest(before, [entry]), trial=(), label="2026")
    told = msgspec.to_builtins(entry_told(entry, of_club=True))
    code, lines = checked(tmp_path, bundled(rows_of(posted, closed, of=CLUB), None, [told]))
    assert (code, lines[-1]) == (
        (0, "adds up: 0 settlements, 1 entries") if says is None else (1, f"NOT PROVED: {says}")
    )
