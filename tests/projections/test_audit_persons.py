"""The audit looks for the second person behind each entry, by the events of the club alone."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from projections.audit.findings import Findings
from projections.audit.persons import People
from referee.actors import Actor
from referee.clubs.facts import SCOPES, BooksClosed, ClubSet, KeyIssued, MoneyPosted, Posting
from referee.visibility import Event, Recorded

NOW = datetime(2026, 11, 22, 18, 30, tzinfo=UTC)


class Audited:
    """The events of a club whose founder is treasurer, as the audit reads them."""

    def __init__(self) -> None:
        self.findings, self.number, self.at = Findings(), 0, NOW
        self.people, self.kinds = People(self.findings), dict[int, str]()
        self.happens(KeyIssued(key="k1", scopes=SCOPES, hash="1" * 64, expires_at=NOW, member=1))

    def happens(self, event: Event, by: Actor = "key:k1") -> None:
        self.number += 1
        recorded = Recorded(UUID(int=1), self.number, self.at, by, "~", "", "", event)
        self.people.add_event(recorded, self.kinds.get)

    def pays_out(self, amount: int, currency: str = "SEK") -> None:
        postings = (Posting(account="member:2", amount=amount), Posting(account="cash", amount=-amount))
        self.happens(MoneyPosted(kind="payout", currency=currency, postings=postings, by="key:k1", balance=-amount))

    def takes_back(self, kind: str, debit: str, credit: str, amount: int) -> None:
        """Reverse an entry of this kind by the founder alone."""
        postings = (Posting(account=debit, amount=amount), Posting(account=credit, amount=-amount))
        self.kinds[1] = kind
        self.happens(MoneyPosted(kind="reverse", currency="SEK", postings=postings, by="key:k1", reverses=1))

    @property
    def found(self) -> list[tuple[str, Any]]:
        return [(one.code, one.event) for one in self.findings.shown["two_persons"]]


@pytest.fixture
def audited() -> Audited:
    audited = Audited()
    audited.happens(ClubSet(payout_limit=1000))
    return audited


def test_payouts_above_the_limit_by_one_alone(audited: Audited) -> None:
    audited.pays_out(1000)
    audited.pays_out(1000, "EUR")
    assert audited.found == []
    audited.pays_out(1)
    assert audited.found == [("not_proposed", audited.number)]


def test_closing_the_books_does_not_start_the_count_again(audited: Audited) -> None:
    audited.pays_out(1000)
    audited.happens(BooksClosed(closing=1, through=1, digest="a" * 64, trial=(), label="2026"))
    audited.pays_out(1)
    assert audited.found == [("not_proposed", audited.number)]


def test_a_deposit_taken_back_is_paid_out(audited: Audited) -> None:
    """The kind of the reversed entry comes from the ledger, whatever its event says."""
    audited.takes_back("deposit", "member:2", "cash", 1000)
    assert audited.found == []
    audited.pays_out(1)
    assert audited.found == [("not_proposed", audited.number)]


def test_a_payment_taken_back_by_one_alone(audited: Audited) -> None:
    audited.takes_back("pay", "member:2", "member:3", 1)
    assert audited.found == [("not_proposed", audited.number)]


def test_one_person_may_reverse_entries_that_pay_nothing_out(audited: Audited) -> None:
    audited.takes_back("payout", "cash", "member:2", 5000)
    audited.takes_back("fee", "fees", "member:2", 5000)
    audited.takes_back("opening", "opening", "cash", 5000)
    assert audited.found == []


@pytest.mark.parametrize("by", ["key:k2", "operator"])
def test_acts_about_money_by_no_member(audited: Audited, by: Actor) -> None:
    audited.happens(KeyIssued(key="k2", scopes=SCOPES, hash="2" * 64, expires_at=NOW, app="Till"))
    postings = (Posting(account="member:2", amount=5), Posting(account="fees", amount=-5))
    audited.happens(MoneyPosted(kind="fee", currency="SEK", postings=postings, by=by), by)
    audited.happens(BooksClosed(closing=1, through=1, digest="a" * 64, trial=(), label="2026"), by)
    assert audited.found == [("no_member", audited.number - 1), ("no_member", audited.number)]


def test_payouts_count_for_thirty_days(audited: Audited) -> None:
    audited.pays_out(1000)
    audited.at += timedelta(days=30)
    audited.pays_out(1000)
    assert audited.found == []
