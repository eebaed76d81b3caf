"""Bundles of a log that is signed as it should be and in which something false is on record, or nothing false."""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import msgspec
import pytest

from api.log.bundle_schemas import (
    BundleAbout,
    BundleSettlement,
    Last,
    bundle_of,
    decode_placed,
    entry_view,
    result_rows,
    settlement_from_rows,
)
from api.runtime.proofs import Placed
from projections.closings import digest
from projections.journal import JournalEntry
from projections.ledger.tables import NO_DIGEST
from referee.clubs.facts import BooksClosed, EntryKind, MoneyPosted, Posting
from referee.events import MatchAbandoned, MatchWon, Payment, Stakes
from referee.log.facts import LogSigned
from referee.log.notes import Checkpoint, signed_note
from referee.log.tree import Tree, changed_tiles
from referee.officials.events.corrections import Ended, ProtocolCorrected, Why
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.officials.events.takeback import ActTakenBack
from referee.store.rows import HASH_BEFORE_FIRST, row_hash, to_row
from referee.visibility import Event, Recorded
from tests.log.bundle_checks import KEY, ORIGIN, Checked, checked
from tests.support.agreed_stakes import AGREED
from tests.support.random_matches import opening
from tests.support.salted_rows import row_of

MATCH, CLUB = UUID(int=1), UUID(int=2)
AT = datetime(2026, 11, 22, 20, tzinfo=UTC)
OPENED = msgspec.structs.replace(
    opening(players=3), club=CLUB, members=(4, 5, 6), stakes=Stakes(currency="SEK", unit=100), evening=1
)
PAID = (Payment(payer=0, payee=1, points=1, rule="B74"), Payment(payer=2, payee=1, points=3, rule="B74"))


AMOUNTS = (-100, 400, -300)


def won(amounts: tuple[int, ...] = AMOUNTS, payments: tuple[Payment, ...] = PAID, **more: Any) -> MatchWon:
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
    """Return the rows of these events."""
    rows, before = [], HASH_BEFORE_FIRST
    for number, event in enumerate(events, 1):
        row = row_of(Recorded(of, number, AT, "official", f"~{number:024}", "0" * 16, before, event))
        before = row_hash(row)
        rows.append(Placed(number - 1, (number, str(of), number, row.topic, row.state)))
    return rows


def bundled(about: BundleAbout, rows: list[Placed], settled: BundleSettlement | None, entries: Any = ()) -> bytes:
    """Return a signed bundle of these rows."""
    leaves = [bytes.fromhex(row_hash_of(one)) for one in rows]
    tiles = changed_tiles({}, b"".join(leaves), 0)
    tree = Tree(size=len(leaves), tiles=lambda *tile: tiles[tile])
    note = signed_note(Checkpoint(origin=ORIGIN, size=tree.size, root=tree.root()), [KEY])
    said = LogSigned(size=tree.size, root=tree.root().hex(), note=note)
    last = {one.row[1]: Last(one, tree.size) for one in rows}
    told = () if settled is None else (settled,)
    return msgspec.json.encode(bundle_of(about, said, tree, None, rows, last, [KEY], told, tuple(entries)))


def row_hash_of(placed: Placed) -> str:
    return row_hash(to_row(decode_placed(placed)))


def settled_by(rows: list[Placed]) -> BundleSettlement | None:
    return settlement_from_rows(MATCH, OPENED, result_rows(rows))


OF_MATCH = BundleAbout(kind="match", id=str(MATCH), closing=None)
HALVES = tuple(msgspec.structs.replace(one, points=2 * one.points) for one in PAID)
TRUE: dict[str, tuple[Event, ...]] = {
    "won": (won(),),
    "halves of a point": (won(payments=HALVES, halves=True),),
    "a row from before payments were told": (won(payments=()),),
    "the payee pays": (won((100, -100, 0), (Payment(payer=0, payee=1, points=-1, rule="B74"),)),),
    "abandoned": (MatchAbandoned(deal=1),),
    "opened again": (won(), corrected()),
    "corrected": (won(), corrected(Ended(by="duel", rule="B74", event=3, seat=0, settlement=(100, -100, 0)))),
    "taken back": (won(), ActTakenBack(case=1, first=3, last=3, seat=0)),
    "taken back and won again": (won(), ActTakenBack(case=1, first=3, last=3, seat=0), won()),
}


@pytest.mark.parametrize("what", TRUE)
def test_the_settlement_of_a_match_is_read_from_its_rows(what: str, tmp_path: Path) -> None:
    rows = rows_of(OPENED, AGREED, *TRUE[what])
    settled = settled_by(rows)
    code, lines = checked(tmp_path, bundled(OF_MATCH, rows, settled))
    assert code == 0, lines
    if settled is not None:
        assert checked(tmp_path, bundled(OF_MATCH, rows, None)).code == 1, "the settlement is left out"
        other = msgspec.structs.replace(
            settled, amounts=settled.amounts[::-1] if any(settled.amounts) else (1, 0, -1)
        )
        assert checked(tmp_path, bundled(OF_MATCH, rows, other)).code == 1


def test_a_match_of_no_club_has_a_settlement(tmp_path: Path) -> None:
    opened = msgspec.structs.replace(OPENED, club=None, members=(), evening=None)
    rows = rows_of(opened, won())
    assert checked(tmp_path, bundled(OF_MATCH, rows, settled_by(rows))).code == 0
    assert checked(tmp_path, bundled(OF_MATCH, rows, None)).code == 1


FALSE: dict[str, Event] = {
    "its payments come to something else": won(payments=PAID[:1]),
    "its payments go to somebody else": won(payments=(PAID[0], msgspec.structs.replace(PAID[1], payee=0))),
}


@pytest.mark.parametrize("what", FALSE)
def test_a_signed_contradiction_is_found(what: str, tmp_path: Path) -> None:
    rows = rows_of(OPENED, FALSE[what])
    code, lines = checked(tmp_path, bundled(OF_MATCH, rows, settled_by(rows)))
    assert (code, lines[-1]) == (1, f"NOT PROVED: the payments of {MATCH} do not add up to its settlement")


Said = tuple[EntryKind, int, tuple[int, ...]]
"""An entry: its kind, its event's number, and the amounts on the members' accounts, by seat."""
FIRST_ENTRY: Said = ("match", 3, (100, -400, 300))
BACK = (-100, 400, -300)


def closed(events: tuple[Event, ...], *said: Said) -> Checked:
    """Return the output of verify.py for a signed closing with a match and these entries."""
    match = rows_of(*events)
    entries = [
        JournalEntry(
            number=number,
            date=AT.date(),
            kind=kind,
            currency="SEK",
            cause=f"{MATCH}/{event}",
            postings=tuple(
                Posting(account=f"member:{4 + seat}", amount=amount) for seat, amount in enumerate(amounts) if amount
            ),
            evening=None,
            reverses=None,
            by="official",
        )
        for number, (kind, event, amounts) in enumerate(said, 1)
    ]
    told = digest(NO_DIGEST, entries)
    (row,) = rows_of(BooksClosed(closing=1, through=len(said), digest=told, trial=(), label="2026"), of=CLUB)
    rows = [*match, Placed(len(match), (len(match) + 1, *row.row[1:]))]
    about = BundleAbout(kind="closing", id=str(CLUB), closing=1)
    with TemporaryDirectory() as place:
        bundle = bundled(about, rows, settled_by(match), map(entry_view, entries))
        return checked(Path(place), bundle)


LIMITED = msgspec.structs.replace(OPENED, stake_limit=399)
OTHER = Ended(by="duel", rule="B74", event=3, seat=0, settlement=(100, -100, 0))
COUNTED: dict[str, tuple[tuple[Event, ...], tuple[Said, ...]]] = {
    "won": ((OPENED, AGREED, won()), (FIRST_ENTRY,)),
    "they agree later": ((OPENED, won(), AGREED), (FIRST_ENTRY,)),
    "opened again": ((OPENED, AGREED, won(), corrected()), (FIRST_ENTRY, ("reverse", 4, BACK))),
    "corrected": (
        (OPENED, AGREED, won(), corrected(OTHER)),
        (FIRST_ENTRY, ("reverse", 4, BACK), ("match", 4, (-100, 100, 0))),
    ),
    "taken back and won again": (
        (OPENED, AGREED, won(), ActTakenBack(case=1, first=3, last=3, seat=0), won()),
        (FIRST_ENTRY, ("reverse", 4, BACK), ("match", 5, (100, -400, 300))),
    ),
    "above the limit once corrected": (
        (
            LIMITED,
            AGREED,
            won((100, -100, 0), ()),
            corrected(Ended(by="duel", rule="B74", event=3, seat=0, settlement=AMOUNTS)),
        ),
        (("match", 3, (-100, 100, 0)), ("reverse", 4, (100, -100, 0))),
    ),
}


@pytest.mark.parametrize("what", COUNTED)
def test_the_booked_entries_of_a_match_are_read_from_its_rows(what: str) -> None:
    events, entries = COUNTED[what]
    code, lines = closed(events, *entries)
    said = f"entries: every entry ({len(entries)}) adds up and agrees with the rows and the closing"
    assert (code, lines[-1]) == (0, said)


UNCOUNTED: dict[str, tuple[Event, ...]] = {
    "nobody has agreed": (OPENED, won()),
    "one has not agreed": (OPENED, StakesAgreed(seats=(0, 2), how="secretary"), won()),
    "they agree to what was corrected": (OPENED, won(), corrected(), AGREED),
    "declined": (OPENED, StakesDeclined(seat=1), won()),
    "above the limit": (LIMITED, AGREED, won()),
    "the entry is another's": (msgspec.structs.replace(OPENED, members=(4, 6, 5)), AGREED, won()),
}


@pytest.mark.parametrize("what", UNCOUNTED)
def test_a_match_that_does_not_count_is_in_no_closing(what: str) -> None:
    events = UNCOUNTED[what]
    ended = next(number for number, one in enumerate(events, 1) if isinstance(one, MatchWon))
    code, lines = closed(events, ("match", ended, FIRST_ENTRY[2]))
    assert (code, lines[-1]) == (1, "NOT PROVED: entry 1 does not agree with any row")


def test_a_match_of_another_club_is_no_part_of_a_closing() -> None:
    """Though the service has signed it, with entries and a digest that agree."""
    code, lines = closed((msgspec.structs.replace(OPENED, club=UUID(int=3)), AGREED, won()), FIRST_ENTRY)
    assert (code, lines[-1]) == (1, f"NOT PROVED: '{MATCH}' is not a match of the club")


@pytest.mark.parametrize(
    ("amount", "closing", "through", "before", "says"),
    [
        (-500, 1, 1, NO_DIGEST, None),
        (-400, 1, 1, NO_DIGEST, "entry 1 does not agree with any row"),
        (-500, 1, 1, "1" * 64, "the entries do not have the digest of the closing"),
        (-500, 2, 1, NO_DIGEST, "the number of entries is wrong"),
        (-500, 1, 2, NO_DIGEST, "the number of entries is wrong"),
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
    about = BundleAbout(kind="closing", id=str(CLUB), closing=closing)
    code, lines = checked(tmp_path, bundled(about, rows_of(posted, closed, of=CLUB), None, [entry_view(entry)]))
    assert (code, lines[-1]) == (
        (0, "entries: every entry (1) adds up and agrees with the rows and the closing")
        if says is None
        else (1, f"NOT PROVED: {says}")
    )
