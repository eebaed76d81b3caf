"""Acts about money over HTTP: bad acts are refused, and nothing is posted."""

from collections.abc import Iterator
from typing import Any

import pytest

from referee.clubs.commands import AMOUNT_MAX
from referee.value import VERSION_MAX
from referee.wire_types import EXACT_MAX
from tests.api.money.test_stakes import Club
from tests.support.audited_club import Played
from tests.support.club_client import ClubTable
from tests.support.projection_progress import caught_up
from tests.support.service_in_memory import client_of


@pytest.fixture
def club(either_client: Any) -> ClubTable:
    """Return a club of four members, each with a key; 1 and 4 are treasurers."""
    table = ClubTable(either_client)
    for name in ("Berit", "Cesar", "Dag"):
        table.join(name)
    table.issue("berit", "play", "self", member=2)
    table.issue("cesar", "self", member=3)
    table.issue("dag", "treasury", member=4)
    table.issue("auditor", "audit")
    return table


def balances(club: ClubTable, **query: Any) -> dict[str, int]:
    answer = club.client.get(f"{club.path}/accounts", params=query, headers=club.bearer("founder"))
    assert answer.status_code == 200, answer.text
    return {one["account"]: one["balance"] for one in answer.json()["items"] if one["balance"]}


def refusal(club: ClubTable, act: str, who: str = "founder", **fields: Any) -> tuple[int, str]:
    """Return the status and the code of a refused act. Assert that nothing is posted."""
    before = balances(club)
    answer = club.act(act, who, **fields)
    assert balances(club) == before
    return answer.status_code, answer.json()["type"].rpartition("/")[2]


SENT = {"member": 2, "amount": 500, "via": "bank"}


class TestBadInput:
    @pytest.mark.parametrize("amount", [0, -1, AMOUNT_MAX + 1, 10**18, 1.5, "5"])
    def test_an_amount(self, club: ClubTable, amount: Any):
        assert refusal(club, "deposit", **{**SENT, "amount": amount}) == (400, "unreadable")

    def test_sums_of_acts_are_exact_for_every_json_reader(self, club: ClubTable):
        """The sums stay exact even if a club had only the highest deposits of one member as its events."""
        club.done("deposit", **{**SENT, "amount": AMOUNT_MAX})
        (stood,) = (-amount for account, amount in balances(club).items() if account == "member:2")
        assert VERSION_MAX * stood <= EXACT_MAX

    @pytest.mark.parametrize("currency", ["EUR", "JPY", "KWD", "XYZ"])
    def test_a_currency_that_the_club_does_not_keep(self, club: ClubTable, currency: str):
        assert refusal(club, "deposit", **SENT, currency=currency) == (422, "currency-not-kept")

    def test_a_payout_above_what_is_owed(self, club: ClubTable):
        club.done("deposit", **SENT)
        assert refusal(club, "payout", **{**SENT, "amount": 501}) == (409, "payout-too-high")
        club.done("payout", **SENT)
        assert refusal(club, "payout", **{**SENT, "amount": 1}) == (409, "payout-too-high")

    def test_a_confirmation_by_the_wrong_person(self, club: ClubTable):
        number = club.done("pay", "berit", payer=2, payee=3, amount=500)["proposal"]
        assert refusal(club, "confirm", "berit", proposal=number) == (403, "confirmed-by-other")
        assert refusal(club, "confirm", "auditor", proposal=number) == (403, "confirmed-by-member")
        club.done("confirm", "cesar", proposal=number)
        assert balances(club) == {"member:2": -500, "member:3": 500}
        for who in ("cesar", "founder"):
            assert refusal(club, "confirm", who, proposal=number) == (409, "proposal-settled")

    def test_a_reversal_of_a_reversal_or_twice_or_of_nothing(self, club: ClubTable):
        club.done("deposit", **SENT)
        club.done("reverse", entry=1)
        assert balances(club) == {}
        assert refusal(club, "reverse", entry=1) == (409, "entry-reversed")
        assert refusal(club, "reverse", entry=2) == (422, "entry-is-reversal")
        assert refusal(club, "reverse", entry=3) == (422, "no-such-entry")

    def test_closing_twice_or_nothing(self, club: ClubTable):
        assert refusal(club, "close_books", label="2026") == (409, "nothing-to-close")
        club.done("deposit", **SENT)
        closed = club.done("close_books", label="2026")
        assert closed["closing"] == 1
        assert closed["events"][0]["event"]["trial"] == [
            {"account": "bank", "currency": "SEK", "amount": 500},
            {"account": "member:2", "currency": "SEK", "amount": -500},
        ]
        assert refusal(club, "close_books", label="2026") == (409, "nothing-to-close")

    def test_one_person_if_two_are_needed(self, club: ClubTable):
        club.done("set", payout_limit=400)
        club.done("deposit", **SENT)
        number = club.done("payout", **SENT)["proposal"]
        assert refusal(club, "confirm", proposal=number) == (403, "second-person-needed")
        club.done("confirm", "dag", proposal=number)
        assert balances(club) == {}

    def test_a_payout_above_the_limit_after_closing_the_books(self, club: ClubTable):
        """A closing does not restart the limit: earlier payouts still count."""
        club.done("set", payout_limit=500)
        club.done("deposit", **{**SENT, "amount": 1000})
        assert "proposal" not in club.done("payout", **SENT)
        club.done("close_books", label="2026")
        assert "proposal" in club.done("payout", **SENT)
        assert balances(club) == {"bank": 500, "member:2": -500}

    @pytest.mark.parametrize("who", ["berit", "cesar", "auditor"])
    def test_without_the_scope(self, club: ClubTable, who: str):
        for act, fields in (
            ("deposit", SENT),
            ("payout", SENT),
            ("fee", {"member": 2, "amount": 1}),
            ("opening", {"account": "cash", "amount": 1}),
            ("reverse", {"entry": 1}),
            ("close_books", {"label": "2026"}),
        ):
            assert refusal(club, act, who, **fields) == (403, "scope-missing")


class TestRepeats:
    """A repeated Idempotency-Key makes one entry, also if the books have newer entries."""

    def test_a_payout(self, club: ClubTable):
        club.done("deposit", **{**SENT, "amount": 800})
        first = club.act("payout", headers={"Idempotency-Key": "out"}, **SENT)
        again = club.act("payout", headers={"Idempotency-Key": "out"}, **SENT)
        assert (first.json(), again.headers["Idempotency-Replayed"]) == (again.json(), "true")
        assert balances(club) == {"bank": 300, "member:2": -300}
        other = club.act("payout", headers={"Idempotency-Key": "out"}, **{**SENT, "amount": 1})
        assert other.json()["type"] == "/problems/key-reused"

    @pytest.mark.parametrize("act", ["confirm", "decline"])
    def test_a_repeated_answer_to_a_proposal_gets_the_first_answer(self, club: ClubTable, act: str):
        """A repeat is answered although the proposal is settled. Another member's act gets no such answer."""
        number = club.done("pay", "berit", payer=2, payee=3, amount=500)["proposal"]
        once = {"headers": {"Idempotency-Key": "mine"}, "proposal": number}
        first, again = (club.act(act, "cesar", **once) for _ in range(2))
        assert (first.status_code, first.json(), again.headers["Idempotency-Replayed"]) == (201, again.json(), "true")
        assert refusal(club, act, "berit", **once) == (409, "proposal-settled")
        assert refusal(club, act, "cesar", **{**once, "proposal": number + 1}) == (422, "key-reused")

    def test_a_closing(self, club: ClubTable):
        club.done("deposit", **SENT)
        first = club.act("close_books", headers={"Idempotency-Key": "close"}, label="2026")
        club.done("deposit", **SENT)
        again = club.act("close_books", headers={"Idempotency-Key": "close"}, label="2026")
        assert first.json() == again.json()


class TestReversals:
    """An entry can be reversed by members who may make the opposite entry, and within the same limits."""

    def test_a_deposit_that_was_spent_pays_no_cash_out(self, club: ClubTable):
        club.done("deposit", **SENT)
        club.done("fee", member=2, amount=400)
        answer = club.act("reverse", entry=1)
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/payout-too-high")
        assert answer.json()["facts"] == {"most": 100, "currency": "SEK"}
        club.done("deposit", member=2, amount=400, via="cash")
        club.done("reverse", entry=1)
        assert balances(club) == {"cash": 400, "fees": -400}

    def test_a_deposit_above_the_limit_takes_a_second_person(self, club: ClubTable):
        club.done("set", payout_limit=400)
        club.done("deposit", **SENT)
        number = club.done("reverse", entry=1)["proposal"]
        assert refusal(club, "confirm", proposal=number) == (403, "second-person-needed")
        club.done("confirm", "dag", proposal=number)
        assert balances(club) == {}

    def test_a_deposit_taken_back_counts_against_the_limit(self, club: ClubTable):
        club.done("set", payout_limit=900)
        for _ in range(2):
            club.done("deposit", **SENT)
        assert "proposal" not in club.done("reverse", entry=1)
        assert "proposal" in club.done("payout", **SENT)

    def test_a_payout_taken_back_still_counts(self, club: ClubTable):
        """A reversal of a payout counts like a new deposit of the sum: the payout still counts."""
        club.done("set", payout_limit=900)
        club.done("deposit", **SENT)
        club.done("payout", **SENT)
        assert "proposal" not in club.done("reverse", entry=2)
        assert "proposal" in club.done("payout", **SENT)

    def test_a_payment_between_members_takes_one_of_them(self, club: ClubTable):
        paid = club.done("pay", "berit", payer=2, payee=3, amount=500)["proposal"]
        club.done("confirm", "cesar", proposal=paid)
        number = club.done("reverse", entry=1)["proposal"]
        assert refusal(club, "confirm", proposal=number) == (403, "confirmed-by-other")
        club.done("confirm", "cesar", proposal=number)
        assert balances(club) == {}

    def test_a_payment_of_the_treasurer_takes_the_other(self, club: ClubTable):
        paid = club.done("pay", payer=1, payee=3, amount=500)["proposal"]
        club.done("confirm", "cesar", proposal=paid)
        number = club.done("reverse", entry=1)["proposal"]
        assert refusal(club, "confirm", proposal=number) == (403, "confirmed-by-other")
        assert refusal(club, "confirm", "berit", proposal=number) == (403, "confirmed-by-other")
        club.done("confirm", "dag", proposal=number)

    def test_fees_and_openings_are_taken_back_by_one_treasurer(self, club: ClubTable):
        """The reversal pays no cash out, and one treasurer makes such entries."""
        club.done("set", payout_limit=0)
        club.done("fee", member=2, amount=500)
        club.done("opening", account="member:3", amount=-500)
        for entry in (1, 2):
            assert "proposal" not in club.done("reverse", entry=entry)
        assert balances(club) == {}


class TestPrograms:
    """A program's key proposes, and neither posts nor confirms."""

    @pytest.fixture
    def till(self, club: ClubTable) -> ClubTable:
        club.issue("till", "treasury", "keys", "audit", "play", "read")
        club.done("deposit", **{**SENT, "amount": 1000})
        club.done("fee", member=3, amount=10)
        return club

    @pytest.mark.parametrize(
        ("act", "fields"),
        [
            ("deposit", SENT),
            ("payout", SENT),
            ("fee", {"member": 2, "amount": 500}),
            ("opening", {"account": "cash", "amount": 500}),
            ("reverse", {"entry": 2}),
            ("close_books", {"label": "2026"}),
        ],
        ids=lambda one: one if isinstance(one, str) else "",
    )
    def test_a_money_act_of_a_program_waits_for_a_member(self, till: ClubTable, act: str, fields: Any):
        before = balances(till)
        done = till.done(act, "till", **fields)
        assert [one["event"]["topic"] for one in done["events"]] == ["proposal/made"]
        assert balances(till) == before
        for who, code in (("till", "confirmed-by-member"), ("berit", "confirmed-with")):
            assert refusal(till, "confirm", who, proposal=done["proposal"]) == (403, code)
        confirmed = till.done("confirm", "dag", proposal=done["proposal"])
        topics = [one["event"]["topic"] for one in confirmed["events"]]
        assert topics == ["proposal/confirmed", "books/closed" if act == "close_books" else "money/posted"]

    def test_a_member_who_confirms_it_sends_it_and_may_need_another(self, till: ClubTable):
        till.done("set", payout_limit=100)
        number = till.done("payout", "till", **SENT)["proposal"]
        again = till.done("confirm", "dag", proposal=number)["proposal"]
        assert refusal(till, "confirm", "dag", proposal=again) == (403, "second-person-needed")
        assert refusal(till, "confirm", "till", proposal=again) == (403, "confirmed-by-member")
        till.done("confirm", proposal=again)

    def test_it_is_no_party_and_no_second_person(self, till: ClubTable):
        number = till.done("pay", "berit", payer=2, payee=3, amount=500)["proposal"]
        assert refusal(till, "confirm", "till", proposal=number) == (403, "confirmed-by-member")
        assert refusal(till, "pay", "till", payer=2, payee=3, amount=500) == (403, "scope-missing")

    def test_it_declines_only_what_it_has_proposed(self, till: ClubTable):
        number = till.done("pay", "berit", payer=2, payee=3, amount=500)["proposal"]
        assert refusal(till, "decline", "till", proposal=number) == (403, "confirmed-by-member")
        till.done("decline", "till", proposal=till.done("fee", "till", member=2, amount=1)["proposal"])


class TestErasing:
    def test_a_member_with_a_balance_is_not_erased(self, club: ClubTable):
        club.done("fee", member=3, amount=100)
        club.done("leave", member=3)
        assert refusal(club, "erase", member=3) == (409, "balance-left")
        club.done("deposit", member=3, amount=100, via="cash")
        assert refusal(club, "erase", member=3) == (409, "books-open")
        club.done("close_books", label="2026")
        done = club.done("erase", member=3)
        event = done["events"][0]["event"]
        assert (event["member"], event["balances"], event["entry"]) == (3, [0], 2)


class TestBooksThatAreBehind:
    """Acts that need the books wait until these have every earlier event. Here the books do not follow."""

    @pytest.fixture
    def behind(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClubTable]:
        """Yield a club whose books have all events of the club, but not yet a match that member 2 has won."""
        with client_of(sqlite_url) as client:
            club = ClubTable(client)
            for name in ("Berit", "Cesar"):
                club.join(name)
            club.issue("cesar", "treasury", member=3)
            club.done("open_evening", on="2026-11-22", season="2026/27")
            club.done("deposit", member=2, amount=300, via="cash")
            match = Played(club)
            caught_up(client.app.state.service.projections)
            client.app.state.service.projections.follower.close()
            monkeypatch.setattr("api.runtime.projections.WAIT_SECONDS", 0.01)
            match.ends()
            yield club

    @pytest.mark.parametrize(
        ("act", "fields"),
        [
            ("payout", {"member": 2, "amount": 300, "via": "cash"}),
            ("close_books", {"label": "2026"}),
            ("reverse", {"entry": 1}),
        ],
    )
    def test_an_act_is_not_decided_on_old_balances(self, behind: ClubTable, act: str, fields: Any):
        answer = behind.act(act, **fields)
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/books-behind"), answer.text
        assert int(answer.headers["retry-after"]) > 0

    def test_no_one_is_erased_by_old_balances(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch):
        """An official has declined for the member who left, so no match waits for that member."""
        with client_of(sqlite_url) as client:
            club = Club(client)
            match = club.match()
            match.ends()
            club.done("leave", member=2)
            caught_up(client.app.state.service.projections)
            client.app.state.service.projections.follower.close()
            monkeypatch.setattr("api.runtime.projections.WAIT_SECONDS", 0.01)
            match.done("host", "agree_stakes", agree=False)
            answer = club.act("erase", member=2)
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/books-behind"), answer.text
