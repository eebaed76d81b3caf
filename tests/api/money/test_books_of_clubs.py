"""A club's books over HTTP: accounts, statements, the journal, the plan, files."""

import re
from hashlib import sha256
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from projections.cursors import cursor_of
from tests.conformance.description_check import Description
from tests.support.club_client import ClubTable

DESCRIBED = Description()
FILES = {
    "hledger": "text/plain; charset=utf-8",
    "beancount": "text/plain; charset=utf-8",
    "sie": "text/plain; charset=ibm437",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}
"""Media type of each kind of file."""


@pytest.fixture
def club(either_client: Any) -> ClubTable:
    """Return a club in which Berit deposited 800 and paid 300 to Cesar after a closing of the books."""
    table = ClubTable(either_client)
    for name in ("Berit <b>Borg</b>", "Cesar"):
        table.join(name)
    table.issue("berit", "play", "self", member=2)
    table.issue("cesar", "self", member=3)
    table.issue("auditor", "audit")
    table.done("open_evening", on="2026-11-22", season="2026/27")
    table.done("deposit", member=2, amount=80000, via="bank", evening=1)
    table.done("close_books", label="2026")
    number = table.done("pay", "berit", payer=2, payee=3, amount=30000)["proposal"]
    table.done("confirm", "cesar", proposal=number)
    return table


def test_accounts_now_before_and_of_an_evening(club: ClubTable) -> None:
    body = club.get("/accounts", "auditor").json()
    assert body["entry"] == 2
    assert [(one["account"], one["balance"], one["to_receive"], one["name"]) for one in body["items"]] == [
        ("bank", 80000, None, None),
        ("member:2", -110000, 110000, "Berit <b>Borg</b>"),
        ("member:3", 30000, -30000, "Cesar"),
    ]
    for query in ("at=1", "evening=1"):
        before = club.get(f"/accounts?{query}", "auditor").json()["items"]
        assert [(one["account"], one["balance"]) for one in before] == [("bank", 80000), ("member:2", -80000)]
    assert club.get("/accounts?evening=2").json()["type"] == "/problems/no-such-evening"
    assert club.get("/accounts?currency=EUR").json()["type"] == "/problems/currency-not-kept"


def test_accounts_page_by_page(club: ClubTable) -> None:
    """The link to the next page has the `entry` of this one as `at`, so all have the balances of one time."""
    answer = club.get("/accounts?limit=2")
    first, following = answer.json(), answer.links["next"]["url"]
    club.done("deposit", member=3, amount=500, via="cash")
    rest = club.get(following.removeprefix(club.path)).json()
    assert rest == club.get(f"/accounts?limit=2&at={first['entry']}&cursor={first['next']}").json()
    found = [(one["account"], one["balance"]) for page in (first, rest) for one in page["items"]]
    assert found == [("bank", 80000), ("member:2", -110000), ("member:3", 30000)]
    assert rest["next"] is None
    for cursor in ("x", "2", f"{first['next']}A"):
        assert club.get(f"/accounts?cursor={cursor}").json()["type"] == "/problems/bad-cursor"


@pytest.mark.parametrize(("asked", "entry"), [("at=1", 1), ("at=99", 2), ("evening=1", 2), ("currency=SEK", 2)])
def test_the_link_of_accounts_names_the_entry(club: ClubTable, asked: str, entry: int) -> None:
    following = club.get(f"/accounts?limit=1&{asked}").links["next"]["url"]
    assert f"at={entry}" in re.split("[?&]", following)
    assert club.get(following.removeprefix(club.path)).json()["entry"] == entry


def test_an_account_at_zero_is_listed_now_and_after_its_entry(club: ClubTable) -> None:
    club.done("payout", member=2, amount=80000, via="bank")
    now, then = (club.get(f"/accounts?{query}").json() for query in ("", "at=3"))
    assert now == then
    assert [one["balance"] for one in now["items"] if one["account"] == "bank"] == [0]


def test_the_operator_reads_no_names_in_the_accounts(club: ClubTable) -> None:
    """The operator's key may read the books; see the access table."""
    names = [one["name"] for one in club.get("/accounts", "founder").json()["items"] if one["name"]]
    assert names == ["Berit <b>Borg</b>", "Cesar"]


def test_a_statement_in_three_forms(club: ClubTable) -> None:
    body = club.get("/accounts/member:2/statement", "berit").json()
    assert (body["before"], body["after"], body["next"]) == (0, -110000, None)
    assert [(one["number"], one["kind"], one["amount"], one["balance"]) for one in body["items"]] == [
        (1, "deposit", -80000, -80000),
        (2, "pay", -30000, -110000),
    ]
    table = club.get("/accounts/member:2/statement", "berit", Accept="text/csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert [row.split(",")[2:5] for row in table.text.splitlines()[1:]] == [
        ['"before"', '""', "0.00"],
        ['"deposit"', "-800.00", "-800.00"],
        ['"pay"', "-300.00", "-1100.00"],
        ['"after"', '""', "-1100.00"],
    ]
    page = club.get("/accounts/member:2/statement", "berit", Accept="text/html", **{"Accept-Language": "sv"})
    assert "Insättning" in page.text
    assert "<b>" not in page.text
    assert "script" not in page.text
    assert "Berit &lt;b&gt;Borg&lt;/b&gt;" in page.text
    assert "Under noll: att få" in page.text
    cash = club.get("/accounts/bank/statement", Accept="text/html", **{"Accept-Language": "sv"})
    assert "Under noll: att få" not in cash.text, "no member owes the money in the bank"
    assert "default-src 'none'" in page.headers["content-security-policy"]


NASTY = """Eva & "E" O'Ek"""


@pytest.fixture
def renamed(club: ClubTable) -> ClubTable:
    """Return the club with a member 4 whose name has characters that HTML escapes, and whose balance is zero."""
    club.join(NASTY)
    club.issue("eva", "self", member=4)
    club.done("deposit", member=4, amount=500, via="bank")
    club.done("payout", member=4, amount=500, via="bank")
    return club


@pytest.mark.parametrize("path", ["/accounts/member:4/statement", "/audit"])
def test_a_page_escapes_the_name_of_a_member_and_an_erased_name_is_gone(renamed: ClubTable, path: str) -> None:
    page = renamed.get(path, Accept="text/html").text
    assert "Eva &amp; &#34;E&#34; O&#39;Ek" in page
    assert NASTY not in page
    assert unescape(page).count(NASTY) == page.count("Eva &amp;") > 0
    renamed.done("close_books", label="2027")
    renamed.done("leave", member=4)
    renamed.done("erase", member=4)
    page = renamed.get(path, Accept="text/html").text
    assert "(member:4)" in page or "member 4" in page
    assert [one for one in ("Eva ", '"E"', "O'Ek") if one in unescape(page)] == []


def test_a_statement_page_by_page(club: ClubTable) -> None:
    first = club.get("/accounts/member:2/statement?limit=1").json()
    second = club.get(f"/accounts/member:2/statement?limit=1&cursor={first['next']}").json()
    assert (first["after"], second["before"], second["after"], second["next"]) == (-80000, -80000, -110000, None)
    assert club.get("/accounts/member:2/statement?from=2999-01-01").json()["before"] == -110000
    assert club.get("/accounts/member:2/statement?to=1999-01-01").json()["after"] == 0
    wrong = club.get("/accounts/member:2/statement?from=2026-02-01&to=2026-01-01")
    assert (wrong.status_code, wrong.json()["type"]) == (422, "/problems/bad-period")


def test_a_page_of_a_statement_as_csv_begins_with_the_balance_before_and_says_that_it_continues(
    club: ClubTable,
) -> None:
    path = "/accounts/member:2/statement?limit=1"
    first = club.get(path, Accept="text/csv")
    assert first.text.splitlines()[1:] == [
        '"","","before","",0.00,"","",""',
        first.text.splitlines()[2],
        '"","","continued","",-800.00,"","",""',
    ]
    cursor = club.get(path).json()["next"]
    assert f"cursor={quote(cursor)}" in first.headers["link"]
    last = club.get(f"{path}&cursor={cursor}", Accept="text/csv")
    assert last.text.splitlines()[1] == '"","","before","",-800.00,"","",""'
    assert last.text.splitlines()[-1] == '"","","after","",-1100.00,"","",""'
    assert 'rel="next"' not in last.headers["link"]


@pytest.mark.parametrize(
    ("language", "before", "after", "continues"),
    [
        ("en", "Brought forward", "Carried forward", "The statement continues after entry 1 (cursor={cursor})."),
        ("sv", "Ingående saldo", "Utgående saldo", "Kontoutdraget fortsätter efter post 1 (cursor={cursor})."),
    ],
)
def test_a_printed_page_of_a_statement_begins_with_the_balance_before_and_says_that_it_continues(
    club: ClubTable, language: str, before: str, after: str, continues: str
) -> None:
    path = "/accounts/member:2/statement?limit=1"
    cursor = club.get(path).json()["next"]
    first, last = (
        club.get(f"{path}{part}", Accept="text/html", **{"Accept-Language": language})
        for part in ("", f"&cursor={cursor}")
    )
    for page, amounts in ((first, ("0.00", "-800.00")), (last, ("-800.00", "-1100.00"))):
        balances = re.findall(rf'<td>({before}|{after})</td><td></td><td class="sum">([-.\d]+)</td>', page.text)
        assert balances == [*zip((before, after), amounts, strict=True)]
    assert f"<strong>{continues.format(cursor=cursor)}</strong>" in first.text
    assert f"cursor={quote(cursor)}" in first.headers["link"]
    assert "cursor" not in last.text
    assert 'rel="next"' not in last.headers["link"]


@pytest.mark.parametrize("account", ["till", "member:4", "member:0", "member:02", "Cash"])
def test_an_account_that_there_is_not(club: ClubTable, account: str) -> None:
    response = club.get(f"/accounts/{account}/statement")
    assert (response.status_code, response.json()["type"]) == (404, "/problems/no-such-account")


def test_the_journal(club: ClubTable) -> None:
    body = club.get("/journal?limit=1").json()
    (entry,) = club.get(f"/journal?cursor={body['next']}").json()["items"]
    assert entry["cause"].startswith(club.id)
    assert entry["postings"] == [
        {"account": "member:2", "amount": -30000},
        {"account": "member:3", "amount": 30000},
    ]
    assert entry["by"] == {"actor": "key:k2", "member": 2, "match": None}


def test_the_digest_of_a_closing_can_be_made_of_the_journal(club: ClubTable) -> None:
    closed = club.act("close_books", label="again").json()["events"][0]["event"]
    before = "0" * 64
    for after, through in ((0, 1), (1, 2)):
        lines = "".join(
            "|".join(
                [
                    *(str(one[name]) for name in ("number", "date", "kind", "currency", "cause")),
                    ",".join(f"{part['account']}:{part['amount']}" for part in one["postings"]),
                ]
            )
            + "\n"
            for one in club.get(f"/journal?cursor={cursor_of(after)}&limit={through - after}").json()["items"]
        )
        before = sha256(f"{before}\n{lines}".encode()).hexdigest()
    assert (closed["through"], closed["digest"]) == (2, before)


def test_the_plan(club: ClubTable) -> None:
    body = club.get("/plan").json()
    assert [(one["from"], one["to"], one["amount"]) for one in body["payments"]] == [
        (3, 2, 30000),
        (None, 2, 80000),
    ]
    assert (body["entry"], body["count"], body["minimal"]) == (2, 2, True)
    paid = {"payer": 3, "payee": 2, "amount": 30000, "plan": body["payments"][0]["id"]}
    number = club.done("pay", "cesar", **paid)["proposal"]
    club.done("confirm", "berit", proposal=number)
    assert [one["from"] for one in club.get("/plan").json()["payments"]] == [None]
    assert [one["amount"] for one in club.get("/plan?evening=1").json()["payments"]] == [80000]
    assert club.get("/plan?evening=2").status_code == 422
    assert club.get("/plan?evening=none").status_code == 400


@pytest.mark.parametrize("kind", FILES)
def test_files(club: ClubTable, kind: str) -> None:
    without = club.get(f"/export/{kind}")
    assert without.status_code == 200, without.text
    assert "attachment" in without.headers["content-disposition"]
    assert b"Cesar" not in without.content
    assert b"Cesar" in club.get(f"/export/{kind}?names=true").content


@pytest.mark.parametrize("kind", FILES)
def test_files_are_what_they_say_and_what_the_description_says(club: ClubTable, kind: str) -> None:
    response = club.get(f"/export/{kind}?names=true")
    assert response.headers["content-type"] == FILES[kind]
    DESCRIBED.answered("GET", f"{club.path}/export/{kind}", 200, response.headers, response.content)


@pytest.mark.parametrize("kind", FILES)
def test_files_do_not_name_erased_members(club: ClubTable, kind: str) -> None:
    """The file has the member's number, and no name."""
    club.done("deposit", member=3, amount=30000, via="cash")
    club.done("close_books", label="again")
    club.done("leave", member=3)
    club.done("erase", member=3)
    response = club.get(f"/export/{kind}?names=true")
    assert b"Berit" in response.content
    assert b"hmac" not in response.content
    DESCRIBED.answered("GET", f"{club.path}/export/{kind}", 200, response.headers, response.content)


@pytest.mark.parametrize("form", ["application/json", "text/csv", "text/html"])
def test_statements_are_as_described(club: ClubTable, form: str) -> None:
    response = club.get("/accounts/member:2/statement?limit=1", Accept=form)
    assert response.headers["content-type"].partition(";")[0] == form
    DESCRIBED.answered("GET", f"{club.path}/accounts/member:2/statement", 200, response.headers, response.content)


@pytest.mark.parametrize("kind", FILES)
def test_files_of_all_days_that_there_are(club: ClubTable, kind: str) -> None:
    """Some formats name the day after the last one, which does not exist here."""
    response = club.get(f"/export/{kind}?from=0001-01-01&to=9999-12-31")
    assert response.status_code == 200, response.text
    assert "0001-01-01--9999-12-30" in response.headers["content-disposition"]


def test_no_file_of_nothing(club: ClubTable) -> None:
    for query in ("from=2999-01-01", "to=1999-01-01"):
        response = club.get(f"/export/csv?{query}")
        assert (response.status_code, response.json()["type"]) == (422, "/problems/empty-period")
    assert club.get("/export/xls").json()["type"] == "/problems/no-such-export"


def test_a_member_cannot_read_the_books_or_accounts_of_others(club: ClubTable) -> None:
    for path in ("/accounts", "/journal", "/export/csv", "/accounts/cash/statement"):
        assert club.get(path, "berit").json()["type"] == "/problems/scope-missing"
    assert club.get("/accounts/member:3/statement", "berit").status_code == 403


def test_a_match_for_money_in_a_currency_of_the_club(club: ClubTable) -> None:
    body = {
        "ruleset": "rodskagg-kortoxen",
        "players": [{"member": member} for member in (1, 2, 3)],
        "club": club.id,
        "evening": 1,
        "stakes": {"currency": "EUR", "unit": 100},
    }
    refused = club.client.post("/v1/matches", json=body, headers=club.bearer("founder"))
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/currency-not-kept")
    body["stakes"] = {"currency": "SEK", "unit": 100}
    assert club.client.post("/v1/matches", json=body, headers=club.bearer("founder")).status_code == 201
