"""The journal as CSV and as JSON."""

import csv
from collections import Counter
from io import StringIO

import msgspec
from hypothesis import given

from projections.exports import EXPORTS
from projections.journal import Journal, JournalEntry, balances, decimal
from tests.exports.journals import EMPTY, EXAMPLE, UUID, journals


def rows(journal: Journal) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(EXPORTS["csv"].write(journal).decode(), newline="")))


def cents(text: str) -> int:
    whole, _, rest = text.partition(".")
    assert len(rest) == 2
    return int(whole + rest)


def test_a_table_as_it_stands():
    cause = f'"{UUID}/12"'
    assert EXPORTS["csv"].write(EXAMPLE).decode().splitlines()[:4] == [
        '"entry","date","kind","account","name","amount","balance","currency","evening","reverses","cause","by","text"',
        '"","2026-01-01","brought_forward","cash","",100.00,100.00,"SEK","","","","",""',
        '"","2026-01-01","brought_forward","member:5","Anna Ek",-100.00,-100.00,"SEK","","","","",""',
        f'12,"2026-01-03","match","member:5","Anna Ek",4.50,-95.50,"SEK",3,"",{cause},"key:k3",""',
    ]
    assert [",".join(row.values()) for row in rows(EXAMPLE)[3:]] == [
        f"12,2026-01-03,match,member:7,,-4.00,-4.00,SEK,3,,{UUID}/12,key:k3,",
        f"12,2026-01-03,match,pot,,-0.50,-0.50,SEK,3,,{UUID}/12,key:k3,",
        f"13,2026-01-03,deposit,bank,,200.00,200.00,SEK,,,{UUID}/13,key:k3,Swish; ref: 77 [jan]",
        f"13,2026-01-03,deposit,member:7,,-200.00,-204.00,SEK,,,{UUID}/13,key:k3,Swish; ref: 77 [jan]",
        f"14,2026-01-31,fee,member:5,Anna Ek,25.00,-70.50,SEK,,,{UUID}/14,key:k3,",
        f"14,2026-01-31,fee,fees,,-25.00,-25.00,SEK,,,{UUID}/14,key:k3,",
    ]


@given(journals())
def test_the_amounts_add_up_and_the_last_balance_is_that_of_the_ledger(journal: Journal):
    sums, last = Counter[str](), {}
    for row in rows(journal):
        sums[row["currency"]] += cents(row["amount"])
        last[row["account"], row["currency"]] = row["balance"]
    assert not any(sums.values())
    assert all(last.get((one.account, one.currency), "0.00") == decimal(one.amount) for one in balances(journal))


def test_an_empty_span_has_a_head_and_no_rows():
    assert len(EXPORTS["csv"].write(EMPTY).splitlines()) == 1
    said = msgspec.json.decode(EXPORTS["json"].write(EMPTY))
    assert (said["opening"], said["entries"], said["closing"]) == ([], [], [])


@given(journals())
def test_json_has_the_journal_in_minor_units(journal: Journal):
    said = msgspec.json.decode(EXPORTS["json"].write(journal))
    assert (said["from"], said["to"]) == (str(journal.first), str(journal.last))
    assert msgspec.convert(said["entries"], tuple[JournalEntry, ...]) == journal.entries
    standing = Counter({(one["account"], one["currency"]): one["amount"] for one in said["opening"]})
    for entry in said["entries"]:
        assert sum(posting["amount"] for posting in entry["postings"]) == 0
        for posting in entry["postings"]:
            standing[posting["account"], entry["currency"]] += posting["amount"]
    closing = {(one["account"], one["currency"]): one["amount"] for one in said["closing"]}
    assert {place: amount for place, amount in standing.items() if amount} == closing


def test_json_contains_only_visible_names():
    said = msgspec.json.decode(EXPORTS["json"].write(EXAMPLE))
    assert {one["account"]: one["name"] for one in said["accounts"]} == {
        **dict.fromkeys(("cash", "bank", "pot", "fees", "opening", "member:7")),
        "member:5": "Anna Ek",
    }
