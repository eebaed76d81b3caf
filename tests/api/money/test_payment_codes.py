"""The payments of a plan with their payment codes: the callers who see each, and that a scanner reads them."""

from io import BytesIO
from typing import Any

import pytest
import segno

from api.http.headers import POLICY
from referee.clubs.commands import AMOUNT_MAX
from tests.support.club_client import OPERATOR, ClubTable
from tests.support.qr_codes import scanned
from tests.support.service_in_memory import client_of
from tests.support.stored_clubs import hashed

SWISH, CLUBS = "0701234567", "1231234567"
IBAN = "SE4550000000058398257466"
SVG = "image/svg+xml"


class Table(ClubTable):
    """A club in which Berit owes Cesar 300 kronor and five euros, and Dag owes the club 10 kronor."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        for member, name in enumerate(("Berit Borg", "Cesar Åkesson", "Dag"), 2):
            self.join(name)
            self.issue(name.partition(" ")[0].lower(), "play", "self", member=member)
        self.done("set", currencies=["SEK", "EUR", "NOK"])
        self.done("open_evening", on="2026-11-22", season="2026/27")
        for currency, amount in (("SEK", 30000), ("EUR", 500), ("NOK", 1)):
            self.done("fee", member=2, amount=amount, currency=currency, evening=1)
            self.done("deposit", member=3, amount=amount, via="cash", currency=currency, evening=1)
        self.done("fee", member=4, amount=1000)
        for scope in ("treasury", "audit", "read"):
            self.issue(scope, scope)

    def plan(self, who: str = "treasury", query: str = "") -> list[Any]:
        payments: list[Any] = self.get(f"/plan{query}", who).json()["payments"]
        return payments

    def code(self, who: str = "treasury", query: str = "", of: int = 0, **headers: str) -> Any:
        return self.get(f"/plan/{self.plan('treasury', query)[of]['id']}{query}", who, **headers)


def cesars(client: Any) -> Table:
    """Return a club in which Cesar and the club have set their payment numbers."""
    table = Table(client)
    table.done("set_payee", "cesar", member=3, swish=SWISH, iban=IBAN)
    table.done("set_club_payee", swish=CLUBS)
    return table


@pytest.fixture(scope="module")
def club(client: Any) -> Table:
    """Return a club that tests only read."""
    return cesars(client)


@pytest.fixture
def own(client: Any) -> Table:
    """Return a club that a test may change."""
    return cesars(client)


def status_and_code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("/problems/")


def test_kronor_go_by_swish_to_a_member_and_to_the_club(club: Table) -> None:
    assert [(one["from"], one["to"], one["swish"], one["epc"]) for one in club.plan()] == [
        (2, 3, "C0701234567;300,00;Knackarna;0", None),
        (4, None, "C1231234567;10,00;Knackarna;0", None),
    ]


def test_the_text_names_the_evening(club: Table) -> None:
    (payment,) = club.plan(query="?evening=1")
    assert payment["text"] == "Knackarna 2026-11-22"
    assert payment["swish"] == "C0701234567;300,00;Knackarna%202026-11-22;0"


def test_euros_go_to_an_account_by_the_name_of_its_owner(club: Table) -> None:
    (payment,) = club.plan(query="?currency=EUR")
    assert payment["swish"] is None
    assert payment["epc"] == f"BCD\n002\n1\nSCT\n\nCesar Åkesson\n{IBAN}\nEUR5.00\n\n\nKnackarna"


@pytest.mark.program("zbarimg")
@pytest.mark.parametrize(("query", "kind"), [("", "swish"), ("?evening=1", "swish"), ("?currency=EUR", "epc")])
def test_a_scanner_reads_the_code_of_a_payment(club: Table, query: str, kind: str) -> None:
    answer = club.code(query=query, Accept=SVG)
    assert scanned(answer.text).decode() == club.plan(query=query)[0][kind]


def test_the_picture_is_private_and_loads_nothing(club: Table) -> None:
    answer = club.code(Accept=SVG)
    assert answer.headers["content-type"] == SVG
    assert answer.headers["cache-control"].startswith("private")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == POLICY[1].decode()
    again = club.get(
        answer.url.path.removeprefix(club.path), **{"If-None-Match": answer.headers["etag"], "Accept": SVG}
    )
    assert again.status_code == 304


@pytest.mark.parametrize(("query", "kind"), [("", "swish"), ("?currency=EUR", "epc")])
def test_a_client_can_draw_the_code_itself(club: Table, query: str, kind: str) -> None:
    drawn, answer = club.code(query=query, Accept=SVG), club.code(query=query)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["etag"] != drawn.headers["etag"]
    code, file = answer.json(), BytesIO()
    assert code["payload"] == club.plan(query=query)[0][kind]
    picture = segno.make_qr(
        code["payload"], error=code["error_correction"], boost_error=False, encoding="utf-8", eci=False
    )
    settings: dict[str, Any] = {"scale": 4, "light": "white", "xmldecl": False, "nl": False}
    picture.save(file, kind="svg", border=code["quiet_zone"], title=code["title"], **settings)
    assert file.getvalue().decode() == drawn.text


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/json, image/svg+xml;q=0.5", "application/json"),
        (SVG, SVG),
        ("image/avif,image/webp,image/*;q=0.8,*/*;q=0.5", SVG),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json"),
    ],
)
def test_the_answer_is_json_unless_the_client_prefers_the_picture(club: Table, accept: str, media_type: str) -> None:
    answer = club.code(Accept=accept)
    assert answer.headers["content-type"] == media_type
    assert "Accept" in answer.headers["vary"].split(", ")


@pytest.mark.parametrize("accept", ["image/png", "text/html"])
def test_a_different_media_type_is_refused(club: Table, accept: str) -> None:
    assert status_and_code(club.code(Accept=accept)) == (406, "not-acceptable")


def test_a_member_sees_the_payments_that_they_make_or_get(club: Table) -> None:
    """The payer needs the code, so the payment has it."""
    whole = club.get("/plan").json()
    for who, shown in (("berit", 0), ("cesar", 0), ("dag", 1)):
        own = club.get("/plan", who).json()
        payments = [whole["payments"][shown]]
        assert own == {**whole, "payments": payments, "count": 1, "minimal": None, "groups": None}
        assert club.code(who, of=shown).status_code == 200
        assert status_and_code(club.code(who, of=1 - shown)) == (404, "no-such-payment")


def test_an_auditor_sees_the_payments_and_no_number(club: Table) -> None:
    whole = club.plan()
    assert club.plan("audit") == [
        {**whole[0], "swish": None},
        whole[1],
    ], "the club's number belongs to no member"
    assert status_and_code(club.code("audit")) == (403, "scope-missing")
    assert club.code("audit", of=1).status_code == 200


def test_a_program_is_not_taken_for_the_club_that_pays(own: Table) -> None:
    own.done("deposit", member=2, amount=30000, via="cash")
    assert [(one["from"], one["to"], one["swish"]) for one in own.plan("audit")] == [(4, 3, None), (None, 3, None)]
    assert status_and_code(own.code("audit", of=1)) == (403, "scope-missing")


def test_a_program_without_the_scope_sees_nothing(club: Table) -> None:
    assert status_and_code(club.get("/plan", "read")) == (403, "scope-missing")
    assert status_and_code(club.code("read")) == (403, "scope-missing")


def test_a_payment_without_a_code_is_refused_with_the_reason(own: Table) -> None:
    assert status_and_code(own.code(query="?currency=NOK")) == (422, "no-code-in-currency")
    assert status_and_code(own.get("/plan/0123456789abcdef")) == (404, "no-such-payment")
    assert status_and_code(own.get("/plan/nothing")) == (404, "no-such-payment")
    assert status_and_code(own.get(f"/plan/{own.plan()[0]['id']}?evening=1")) == (404, "no-such-payment")
    own.done("set_payee", "cesar", member=3)
    assert (own.plan()[0]["swish"], own.plan(query="?currency=EUR")[0]["epc"]) == (None, None)
    for query, needs in (("", "swish"), ("?currency=EUR", "iban")):
        answer = own.code(query=query)
        assert status_and_code(answer) == (409, "payee-without-number")
        assert answer.json()["facts"] == {"payee": 3, "needs": needs}


def test_more_than_one_code_can_pay(own: Table) -> None:
    for member, act in ((2, "fee"), (3, "deposit")):
        for _ in range(10):
            via = {"via": "bank"} if act == "deposit" else {}
            own.done(act, member=member, amount=AMOUNT_MAX, currency="EUR", **via)
    assert own.plan(query="?currency=EUR")[0]["epc"] is None
    assert status_and_code(own.code(query="?currency=EUR")) == (409, "beyond-code")


def test_a_confirmed_payment_leaves_the_plan(own: Table) -> None:
    (payment,) = own.plan("berit", "?evening=1")
    paid = {"payer": 2, "payee": 3, "amount": payment["amount"], "evening": 1, "plan": payment["id"]}
    number = own.done("pay", "berit", **paid)["proposal"]
    assert own.plan("berit", "?evening=1") == [payment], "until it is confirmed"
    own.done("confirm", "cesar", proposal=number)
    assert own.plan("treasury", "?evening=1") == []
    assert status_and_code(own.get(f"/plan/{payment['id']}?evening=1", "berit")) == (404, "no-such-payment")


def test_operators_see_no_payment_number(sqlite_url: str) -> None:
    with client_of(sqlite_url, operator_key_sha256=hashed(OPERATOR)) as client:
        club = ClubTable(client)
        club.done("set_payee", member=1, swish=SWISH)
        club.done("deposit", member=1, amount=100, via="cash")
        (payment,) = club.get("/plan", OPERATOR).json()["payments"]
        assert (payment["to"], payment["swish"]) == (1, None)
        assert status_and_code(club.get(f"/plan/{payment['id']}", OPERATOR)) == (409, "payee-without-number")
