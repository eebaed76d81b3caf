"""Journals of every kind, including ones that no club would write but programs must read."""

import datetime
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st
from msgspec.structs import replace

from projections.journal import OWN, Balance, Journal, JournalEntry, Posting
from referee.clubs.facts import SieAccounts

MEMBERS_MAX = 6
ENTRIES_MAX = 8
AMOUNT_MAX = 10**12
FIRST = datetime.date(2026, 1, 1)
KINDS = ("match", "deposit", "payout", "pay", "fee", "opening", "reverse")
UUID = "0190b6a4-6e0f-7cc1-93a5-0d5f6a4b1c2d"


texts = st.one_of(
    st.text(
        st.sampled_from(";:[](){}=@\"'\\|#*!%~^&<>\n\r\t\0 date:2026-01-01 key:5 key:: (1) include end"), max_size=30
    ),
    st.text(max_size=30),
    st.text("ABCÅÄÖåäöéøłþŽ€ –’你אب", min_size=1, max_size=20),
)
"""Users' texts: with characters special to some program, with any characters, with letters of many languages."""


def amounts(parts: int) -> st.SearchStrategy[list[int]]:
    """Generate ``parts`` amounts that add up to 0."""
    some = st.one_of(st.integers(-1000, 1000), st.integers(-AMOUNT_MAX, AMOUNT_MAX))
    cuts = st.lists(some, min_size=parts - 1, max_size=parts - 1)
    return cuts.map(lambda cuts: [after - before for before, after in pairwise([0, *cuts, 0])])


@st.composite
def spread(draw: st.DrawFn, accounts: Sequence[str]) -> list[tuple[str, int]]:
    """Generate amounts for some of the accounts that add up to 0."""
    chosen = draw(st.lists(st.sampled_from(accounts), min_size=2, max_size=5, unique=True))
    return list(zip(chosen, draw(amounts(len(chosen))), strict=True))


@st.composite
def journals(draw: st.DrawFn) -> Journal:
    """Generate a journal over some days, in one to three currencies, with correct closing balances."""
    currencies = draw(st.sampled_from([("SEK",), ("EUR",), ("SEK", "EUR"), ("NOK", "SEK", "EUR")]))
    members = draw(st.lists(st.integers(1, 10_000), min_size=1, max_size=MEMBERS_MAX, unique=True))
    accounts = [*OWN, *(f"member:{member}" for member in members)]
    balances: dict[tuple[str, str], int] = {}
    for currency in currencies:
        if draw(st.booleans()):
            balances |= {(account, currency): amount for account, amount in draw(spread(accounts))}
    opening = tuple(Balance(account=a, currency=c, amount=amount) for (a, c), amount in balances.items())
    before = draw(st.integers(0, 1000))
    days = sorted(draw(st.lists(st.integers(0, 40), max_size=ENTRIES_MAX)))
    entries = []
    actors = ("seat:0", "seat:7", "official", "official:2", "scribe", "key:k3")
    for number, day in enumerate(days, before + 1):
        currency, kind = draw(st.sampled_from(currencies)), draw(st.sampled_from(KINDS))
        written = draw(spread(accounts))
        for account, amount in written:
            balances[account, currency] = balances.get((account, currency), 0) + amount
        entries.append(
            JournalEntry(
                number=number,
                date=FIRST + datetime.timedelta(days=day),
                kind=kind,
                currency=currency,
                cause=f"{UUID}/{number}",
                postings=tuple(Posting(account=account, amount=amount) for account, amount in written),
                evening=draw(st.none() | st.integers(1, 500)),
                reverses=number - 1 if kind == "reverse" and number > 1 else None,
                by=draw(st.sampled_from(actors)),
                text=draw(texts),
            )
        )
    return Journal(
        club=draw(texts),
        currencies=currencies,
        first=FIRST,
        last=FIRST + datetime.timedelta(days=(days or [0])[-1] + draw(st.integers(0, 30))),
        made=datetime.date(2026, 12, 31),
        opening=opening,
        entries=tuple(entries),
        closing=tuple(Balance(account=a, currency=c, amount=amount) for (a, c), amount in balances.items() if amount),
        names={member: draw(st.none() | texts) for member in members},
        sie=draw(st.sampled_from((SieAccounts(), SieAccounts(pot="2891")))),
    )


def entry(number: int, day: int, kind: str, postings: dict[str, int], text: str = "") -> JournalEntry:
    """Return an entry in SEK of January 2026."""
    return JournalEntry(
        number=number,
        date=datetime.date(2026, 1, day),
        kind=kind,
        currency="SEK",
        cause=f"{UUID}/{number}",
        postings=tuple(Posting(account=account, amount=amount) for account, amount in postings.items()),
        evening=3 if kind == "match" else None,
        reverses=None,
        by="key:k3",
        text=text,
    )


def balance(account: str, amount: int) -> Balance:
    return Balance(account=account, currency="SEK", amount=amount)


EXAMPLE = Journal(
    club='Kortklubben "Åttan"',
    currencies=("SEK",),
    first=FIRST,
    last=datetime.date(2026, 1, 31),
    made=datetime.date(2026, 2, 1),
    opening=(balance("cash", 10_000), balance("member:5", -10_000)),
    entries=(
        entry(12, 3, "match", {"member:5": 450, "member:7": -400, "pot": -50}),
        entry(13, 3, "deposit", {"bank": 20_000, "member:7": -20_000}, text="Swish; ref: 77 [jan]"),
        entry(14, 31, "fee", {"member:5": 2_500, "fees": -2_500}),
    ),
    closing=(
        *(balance("cash", 10_000), balance("bank", 20_000), balance("pot", -50), balance("fees", -2_500)),
        *(balance("member:5", -7_050), balance("member:7", -20_400)),
    ),
    names={5: "Anna Ek", 7: None},
    sie=SieAccounts(),
)
EMPTY = replace(EXAMPLE, opening=(), entries=(), closing=(), names={})
"""A span of a club that has done nothing yet."""
