"""A club's money: its acts, the persons and limits they need, and the entries that the books get."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from referee.clubs import commands, facts
from referee.clubs.commands import EntryFound
from referee.clubs.facts import MoneyPosted, Posting
from referee.clubs.proposal_events import ProposalConfirmed, ProposalDeclined, ProposalMade
from referee.clubs.proposals import PROPOSALS_MAX, Proposal
from referee.clubs.scopes import needed_scope
from tests.clubs.test_clubs import CHANGES, NOW, Room, ref

SEK = "SEK"
MONTH = timedelta(days=30)


class Till(Room):
    """A club of five members; its founder is the treasurer, and so is member 5."""

    def __init__(self, **founded: Any) -> None:
        super().__init__(**founded)
        for digit in "bcde":
            self.do(commands.Join(name=ref(digit)))
        self.of = {member: f"key:{self.key('play', 'self', member=member)}" for member in (2, 3, 4)}
        self.of[5] = f"key:{self.key('treasury', member=5)}"
        self.of[1] = f"key:{self.key('treasury', 'keys', member=1)}"
        self.app = f"key:{self.key('treasury')}"

    def posts(self, request: Any, by: str | None = None) -> dict[str, int]:
        (*before, event) = self.do(request, by or self.of[1])
        assert isinstance(event, MoneyPosted)
        assert [type(one) for one in before] == ([] if event.proposal is None else [ProposalConfirmed])
        assert sum(one.amount for one in event.postings) == 0
        return {one.account: one.amount for one in event.postings}

    def proposes(self, request: Any, by: str | None = None) -> int:
        (event,) = self.do(request, by or self.of[1])
        assert isinstance(event, ProposalMade)
        return event.proposal


@pytest.fixture
def till() -> Till:
    return Till(currencies=("SEK", "EUR"))


def found(kind: Any = "deposit", **more: Any) -> EntryFound:
    """Return an opening entry whose accounts have only its own balances."""
    postings = (Posting(account="cash", amount=500), Posting(account="member:2", amount=-500))
    return EntryFound(**{"kind": kind, "currency": SEK, "postings": postings, "balances": (500, -500), **more})


def between(*members: int, kind: Any = "pay") -> EntryFound:
    """Return an entry between two members."""
    payee, payer = (f"member:{member}" for member in members)
    return found(kind, postings=(Posting(account=payee, amount=500), Posting(account=payer, amount=-500)))


PLAN = "0123456789abcdef"


def planned(payer: int = 2, payee: int = 3, amount: int = 500) -> commands.Pay:
    """Return a payment as the plan lists it."""
    lists = commands.PlannedPayment(payer=payer, payee=payee, amount=amount)
    return commands.Pay(payer=payer, payee=payee, amount=amount, plan=PLAN, planned=lists)


class TestEntries:
    """Debit above zero."""

    def test_a_deposit(self, till: Till):
        assert till.posts(commands.Deposit(member=2, amount=500, via="cash")) == {"member:2": -500, "cash": 500}

    def test_a_payout(self, till: Till):
        asks = commands.Payout(member=2, amount=500, via="bank", balance=-500)
        assert till.posts(asks) == {"member:2": 500, "bank": -500}

    def test_a_fee(self, till: Till):
        assert till.posts(commands.Fee(member=2, amount=500)) == {"member:2": 500, "fees": -500}

    @pytest.mark.parametrize("amount", [700, -700])
    def test_an_opening_posts_the_earlier_balance(self, till: Till, amount: int):
        asks = commands.OpenAccount(account="member:2", amount=amount)
        assert till.posts(asks) == {"member:2": amount, "opening": -amount}

    def test_a_payment_is_posted_when_it_is_confirmed(self, till: Till):
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        assert till.posts(commands.Confirm(proposal=number), till.of[3]) == {"member:3": 500, "member:2": -500}

    def test_the_first_currency_is_meant_if_none_is_named(self, till: Till):
        kinds = [commands.Fee(member=2, amount=1), commands.Fee(member=2, amount=1, currency="EUR")]
        assert [event.currency for one in kinds for event in till.do(one) if isinstance(event, MoneyPosted)] == [
            "SEK",
            "EUR",
        ]

    def test_the_posted_payment_names_the_proposer(self, till: Till):
        number = till.proposes(planned(), till.of[2])
        (_, event) = till.do(commands.Confirm(proposal=number), till.of[1])
        assert isinstance(event, MoneyPosted)
        assert (event.by, event.proposal, event.plan) == (till.of[2], number, PLAN)


class TestRefusals:
    def test_another_currency_than_the_clubs(self, till: Till):
        refused = till.refused(commands.Deposit(member=2, amount=500, via="cash", currency="NOK"))
        assert refused == ("currency_not_kept", {"currency": "NOK", "currencies": ("SEK", "EUR")})

    def test_an_evening_that_there_is_not(self, till: Till):
        refused = till.refused(commands.Deposit(member=2, amount=500, via="cash", evening=1))
        assert refused == ("no_such_evening", {"evening": 1, "last": 0})

    @pytest.mark.parametrize("balance", [-499, 0, 500])
    def test_a_payout_above_what_is_to_receive(self, till: Till, balance: int):
        asks = commands.Payout(member=2, amount=500, via="cash", balance=balance)
        assert till.refused(asks) == ("payout_too_high", {"most": max(0, -balance), "currency": SEK})

    def test_a_payment_to_oneself(self, till: Till):
        assert till.refused(commands.Pay(payer=2, payee=2, amount=1), till.of[2]) == ("pays_himself", {"member": 2})

    def test_an_opening_of_the_account_opening_or_of_nothing(self, till: Till):
        assert till.refused(commands.OpenAccount(account="opening", amount=1))[0] == "opening_of_opening"
        assert till.refused(commands.OpenAccount(account="cash", amount=0))[0] == "nothing_to_open"

    def test_a_member_who_is_not_one(self, till: Till):
        for asks in (
            commands.Deposit(member=9, amount=1, via="cash"),
            commands.Fee(member=9, amount=1),
            commands.OpenAccount(account="member:9", amount=1),
            commands.Pay(payer=2, payee=9, amount=1),
        ):
            assert till.refused(asks)[0] == "no_such_member"

    def test_a_former_member_settles_but_is_charged_no_fee(self, till: Till):
        till.do(commands.Leave(member=4))
        till.posts(commands.Deposit(member=4, amount=500, via="cash"))
        assert till.refused(commands.Fee(member=4, amount=500))[0] == "member_left"

    def test_an_erased_member_has_no_account(self, till: Till):
        till.do(commands.Leave(member=4))
        till.do(commands.Erase(texts=CHANGES, member=4, balances=(0, 0)))
        assert till.refused(commands.Deposit(member=4, amount=500, via="cash"))[0] == "member_erased"

    def test_nothing_asked_before_or_taken_back_is_posted_to_an_erased_member(self, till: Till):
        """A waiting proposal is declined: the member was erased with a balance of 0."""
        number = till.proposes(commands.Pay(payer=4, payee=3, amount=500), till.of[4])
        postings = (Posting(account="cash", amount=500), Posting(account="member:4", amount=-500))
        taken = commands.Reverse(entry=1, found=found(postings=postings))
        match = replace(taken, found=replace(taken.found, kind="match"))
        waits = till.proposes(match)
        till.do(commands.Leave(member=4))
        till.do(commands.Erase(texts=CHANGES, member=4, balances=(0, 0)))
        for asks, by in (
            (commands.Confirm(proposal=number), till.of[3]),
            (commands.Confirm(proposal=waits, complete=match), till.of[5]),
            (taken, till.of[1]),
        ):
            assert till.refused(asks, by) == ("member_erased", {"member": 4})
        till.do(commands.Decline(proposal=number), till.of[3])


class TestPayments:
    def test_a_member_who_is_no_party_cannot_report_a_payment(self, till: Till):
        for holder in (till.of[4], till.of[5], till.app, "operator"):
            refused = till.refused(commands.Pay(payer=2, payee=3, amount=500), holder)
            assert refused == ("payment_of_others", {"members": (2, 3)})

    @pytest.mark.parametrize("first", [2, 3])
    def test_either_party_may_report_a_payment_and_the_other_confirms(self, till: Till, first: int):
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[first])
        other = 5 - first
        refused = till.refused(commands.Confirm(proposal=number), till.of[first])
        assert refused == ("confirmed_by_other", {"members": (other,)})
        till.posts(commands.Confirm(proposal=number), till.of[other])

    def test_any_key_of_the_other_with_self_will_do_and_no_key_of_the_sender(self, till: Till):
        number = till.proposes(commands.Pay(payer=2, payee=1, amount=500), till.of[1])
        assert till.refused(commands.Confirm(proposal=number), "key:k1")[0] == "confirmed_by_other"
        till.posts(commands.Confirm(proposal=number), f"key:{till.key('self', member=2)}")

    def test_a_treasurer_who_is_neither_confirms(self, till: Till):
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        till.posts(commands.Confirm(proposal=number), till.of[5])

    def test_a_program_or_the_operator_does_not_confirm(self, till: Till):
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        for holder in (till.app, "operator"):
            assert till.refused(commands.Confirm(proposal=number), holder) == ("confirmed_by_member", {})

    def test_only_the_other_party_confirms_a_payment(self, till: Till):
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        assert till.refused(commands.Confirm(proposal=number), till.of[4])[0] == "confirmed_by_other"

    @pytest.mark.parametrize("holder", [2, 3, 5])
    def test_a_party_or_a_treasurer_declines(self, till: Till, holder: int):
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        (event,) = till.do(commands.Decline(proposal=number), till.of[holder])
        pay = commands.PaySent(payer=2, payee=3, amount=500)
        assert event == ProposalDeclined(proposal=number, act=pay, by=till.of[2])
        assert till.refused(commands.Confirm(proposal=number), till.of[3]) == (
            "proposal_settled",
            {"proposal": number},
        )

    def test_others_do_not_decline(self, till: Till):
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        assert till.refused(commands.Decline(proposal=number), till.of[4]) == (
            "confirmed_with",
            {"scopes": ("treasury",)},
        )

    def test_once(self, till: Till):
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        till.posts(commands.Confirm(proposal=number), till.of[3])
        assert till.refused(commands.Confirm(proposal=number), till.of[3])[0] == "proposal_settled"
        assert till.refused(commands.Confirm(proposal=2), till.of[3]) == (
            "no_such_proposal",
            {"proposal": 2, "last": 1},
        )

    def test_the_number_of_waiting_proposals_is_limited(self, till: Till):
        one = Proposal(act=commands.PaySent(payer=2, payee=3, amount=500), by="key:k1", member=1, event=4)
        wait = dict.fromkeys(range(1, PROPOSALS_MAX + 1), one)
        till.club = replace(till.club, proposals=wait, proposed=PROPOSALS_MAX)
        refused = till.refused(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        assert refused == ("proposals_wait", {"most": PROPOSALS_MAX})


class TestPlannedPayments:
    @pytest.mark.parametrize("holder", [2, 3])
    def test_a_planned_payment_has_one_proposal(self, till: Till, holder: int):
        number = till.proposes(planned(), till.of[2])
        assert till.refused(planned(), till.of[holder]) == ("planned_already", {"proposal": number})

    def test_the_plan_must_list_it(self, till: Till):
        asks = replace(planned(), planned=None)
        assert till.refused(asks, till.of[2]) == ("payment_not_planned", {"plan": PLAN})

    @pytest.mark.parametrize("other", [{"amount": 499}, {"payee": 4}])
    def test_it_is_paid_as_the_plan_lists_it(self, till: Till, other: dict[str, int]):
        lists = {"payer": 2, "payee": 3, "amount": 500}
        assert till.refused(replace(planned(), **other), till.of[2]) == ("planned_otherwise", lists)

    def test_declined_it_is_proposed_again(self, till: Till):
        number = till.proposes(planned(), till.of[2])
        till.do(commands.Decline(proposal=number), till.of[3])
        assert till.proposes(planned(), till.of[3]) == number + 1

    def test_only_a_party_learns_that_it_waits(self, till: Till):
        till.proposes(planned(), till.of[2])
        assert till.refused(planned(), till.of[4])[0] == "payment_of_others"


class TestTwoPersons:
    """A payout above the limit, and the reversal of a match."""

    def out(self, amount: int, member: int = 2, **more: Any) -> commands.Payout:
        return commands.Payout(**{"member": member, "amount": amount, "via": "bank", "balance": -10_000, **more})

    def test_the_limit_counts_what_each_member_was_paid_in_each_currency(self, till: Till):
        till.do(commands.Set(payout_limit=1000))
        till.posts(self.out(600))
        till.posts(self.out(400))
        till.posts(self.out(1000, member=3))
        till.posts(self.out(1000, currency="EUR"))
        till.proposes(self.out(1))

    def test_the_limit_counts_thirty_days_by_the_times_of_the_payouts(self, till: Till):
        till.do(commands.Set(payout_limit=1000))
        till.posts(self.out(600))
        till.at += timedelta(days=1)
        till.posts(self.out(400))
        till.at = NOW + MONTH - timedelta(microseconds=1)
        till.proposes(self.out(1))
        till.at = NOW + MONTH
        till.posts(self.out(600))
        till.proposes(self.out(1))
        till.at += timedelta(days=1)
        till.posts(self.out(400))

    def test_closing_the_books_does_not_start_the_count_again(self, till: Till):
        """A treasurer alone closed the books, and paid the same member again."""
        till.do(commands.Set(payout_limit=1000))
        till.posts(self.out(1000))
        till.do(commands.CloseBooks(label="2026", through=1, digest="a" * 64, trial=()), till.of[1])
        till.proposes(self.out(1))

    def test_a_confirmed_payout_counts_as_well(self, till: Till):
        till.do(commands.Set(payout_limit=1000))
        number = till.proposes(self.out(5000))
        till.do(self.confirm(till, number), till.of[5])
        till.proposes(self.out(1))

    def test_payouts_older_than_thirty_days_are_forgotten(self, till: Till):
        """The club's state must not grow with its age."""
        till.do(commands.Set(payout_limit=1000))
        for _ in range(5):
            till.posts(self.out(100))
            till.posts(self.out(100, member=3))
            till.at += MONTH
        assert [len(paid) for paid in till.club.paid_out.values()] == [1, 1]
        till.posts(self.out(100, member=4))
        assert list(till.club.paid_out) == ["member:4 SEK"]

    def test_without_a_limit_one_person_is_enough(self, till: Till):
        till.posts(self.out(10_000))

    def confirm(self, till: Till, number: int, balance: int = -10_000) -> commands.Confirm:
        act = till.club.proposals[number].act
        assert isinstance(act, commands.PayoutSent)
        return commands.Confirm(proposal=number, complete=commands.Payout(**asdict(act), balance=balance))

    def test_another_members_treasury_key_confirms(self, till: Till):
        till.do(commands.Set(payout_limit=0))
        number = till.proposes(self.out(600))
        for holder in (till.of[1], "key:k1"):
            assert till.refused(self.confirm(till, number), holder) == ("second_person_needed", {})
        for holder in (till.app, "operator"):
            assert till.refused(self.confirm(till, number), holder) == ("confirmed_by_member", {})
        for member in (2, 3):
            assert till.refused(self.confirm(till, number), till.of[member]) == (
                "confirmed_with",
                {"scopes": ("treasury",)},
            )
        assert till.posts(self.confirm(till, number), till.of[5]) == {"member:2": 600, "bank": -600}

    def test_a_program_proposes_it_and_then_it_takes_two_members_still(self, till: Till):
        till.do(commands.Set(payout_limit=0))
        for holder in (till.app, "operator"):
            number = till.proposes(self.out(600), holder)
            (confirmed, made) = till.do(self.confirm(till, number), till.of[1])
            assert confirmed == ProposalConfirmed(proposal=number, by=holder)
            assert isinstance(made, ProposalMade)
            assert (made.proposal, made.by) == (number + 1, till.of[1])
            refused = till.refused(self.confirm(till, number + 1), till.of[1])
            assert refused == ("second_person_needed", {})
            till.posts(self.confirm(till, number + 1), till.of[5])

    def test_it_is_owed_still_when_it_is_confirmed(self, till: Till):
        till.do(commands.Set(payout_limit=0))
        number = till.proposes(self.out(600))
        assert till.refused(self.confirm(till, number, -599), till.of[5])[0] == "payout_too_high"

    def test_the_member_who_is_paid_may_not_decline(self, till: Till):
        till.do(commands.Set(payout_limit=0))
        number = till.proposes(self.out(600))
        assert till.refused(commands.Decline(proposal=number), till.of[2])[0] == "confirmed_with"
        till.do(commands.Decline(proposal=number), till.of[1])

    def test_a_match(self, till: Till):
        number = till.proposes(commands.Reverse(entry=7, found=found("match", evening=None)))
        confirm = commands.Confirm(
            proposal=number, complete=commands.Reverse(entry=7, found=found("match", evening=None))
        )
        assert till.refused(confirm, till.of[1])[0] == "second_person_needed"
        assert till.posts(confirm, till.of[5]) == {"cash": -500, "member:2": 500}

    def test_a_match_that_was_reversed_meanwhile(self, till: Till):
        number = till.proposes(commands.Reverse(entry=7, found=found("match")))
        again = commands.Reverse(entry=7, found=found("match", reversed=True))
        confirm = commands.Confirm(proposal=number, complete=again)
        assert till.refused(confirm, till.of[5]) == ("entry_reversed", {"entry": 7})


class TestReversals:
    def test_the_negative_of_the_entry(self, till: Till):
        assert till.posts(commands.Reverse(entry=3, found=found())) == {"cash": -500, "member:2": 500}

    def test_a_reversed_deposit_is_at_most_the_balance_of_the_member(self, till: Till):
        """The reversal pays the deposit out."""
        asks = commands.Reverse(entry=3, found=found(balances=(500, -499)))
        assert till.refused(asks) == ("payout_too_high", {"most": 499, "currency": SEK})
        (posted,) = till.do(commands.Reverse(entry=3, found=found()))
        assert isinstance(posted, MoneyPosted)
        assert (posted.reversed_kind, posted.balance) == ("deposit", -500)

    def test_a_reversed_deposit_above_the_payout_limit_needs_a_second_treasurer(self, till: Till):
        till.do(commands.Set(payout_limit=800))
        till.posts(commands.Payout(member=2, amount=300, via="cash", balance=-1000))
        till.posts(commands.Reverse(entry=3, found=found()))
        till.proposes(commands.Payout(member=2, amount=1, via="cash", balance=-1000))
        number = till.proposes(commands.Reverse(entry=4, found=found()))
        spent = commands.Reverse(entry=4, found=found(balances=(500, -499)))
        assert till.refused(commands.Confirm(proposal=number, complete=spent), till.of[5])[0] == "payout_too_high"
        till.posts(commands.Confirm(proposal=number, complete=commands.Reverse(entry=4, found=found())), till.of[5])

    @pytest.mark.parametrize("kind", ["payout", "fee", "opening"])
    def test_a_reversal_that_pays_nothing_out_needs_one_treasurer(self, till: Till, kind: Any):
        """A treasurer alone may reverse an entry that a treasurer alone may make, and it counts against no limit."""
        till.do(commands.Set(payout_limit=0))
        postings = (Posting(account="member:2", amount=500), Posting(account="fees", amount=-500))
        till.posts(commands.Reverse(entry=3, found=found(kind, postings=postings, balances=(9000, 0))))
        assert till.club.paid_out == {}

    @pytest.mark.parametrize("second", [2, 3, 5])
    def test_a_reversed_payment_is_confirmed_by_a_party_or_another_treasurer(self, till: Till, second: int):
        taken_back = commands.Reverse(entry=3, found=between(3, 2))
        number = till.proposes(taken_back)
        confirm = commands.Confirm(proposal=number, complete=taken_back)
        for holder in (till.of[1], till.of[4]):
            assert till.refused(confirm, holder) == ("confirmed_by_other", {"members": (2, 3)})
        assert till.posts(confirm, till.of[second]) == {"member:3": -500, "member:2": 500}

    def test_a_reversed_payment_of_the_treasurer_is_confirmed_by_the_other_party(self, till: Till):
        taken_back = commands.Reverse(entry=3, found=between(1, 2))
        number = till.proposes(taken_back)
        confirm = commands.Confirm(proposal=number, complete=taken_back)
        assert till.refused(confirm, "key:k1") == ("confirmed_by_other", {"members": (2,)})
        till.posts(confirm, till.of[2])

    def test_the_parties_of_a_payment_may_decline_it(self, till: Till):
        for member in (2, 3):
            number = till.proposes(commands.Reverse(entry=3, found=between(3, 2)))
            till.do(commands.Decline(proposal=number), till.of[member])

    def test_a_reversed_match_needs_two_treasurers(self, till: Till):
        taken_back = commands.Reverse(entry=3, found=between(3, 2, kind="match"))
        confirm = commands.Confirm(proposal=till.proposes(taken_back), complete=taken_back)
        assert till.refused(confirm, till.of[2]) == ("confirmed_with", {"scopes": ("treasury",)})
        till.posts(confirm, till.of[5])

    def test_a_reversed_match_that_makes_a_balance_too_large_is_refused(self, till: Till):
        large = replace(between(3, 2, kind="match"), balances=(0, -facts.MATCH_BALANCE_MAX))
        taken_back = replace(large, postings=tuple(replace(one, amount=-one.amount) for one in large.postings))
        assert till.refused(commands.Reverse(entry=3, found=taken_back)) == (
            "balance_too_large",
            {"account": "member:2"},
        )
        till.proposes(commands.Reverse(entry=3, found=large))

    def test_a_missing_entry_cannot_be_reversed(self, till: Till):
        assert till.refused(commands.Reverse(entry=3)) == ("no_such_entry", {"entry": 3})

    def test_a_reversal_cannot_be_reversed(self, till: Till):
        assert till.refused(commands.Reverse(entry=3, found=found("reverse"))) == ("entry_is_reversal", {"entry": 3})

    def test_twice(self, till: Till):
        asks = commands.Reverse(entry=3, found=found(reversed=True))
        assert till.refused(asks) == ("entry_reversed", {"entry": 3})


class TestClosings:
    def test_a_closing_names_what_it_closes(self, till: Till):
        trial = (facts.Balance(account="cash", currency=SEK, amount=5),)
        (event,) = till.do(commands.CloseBooks(label="2026", through=9, digest="a" * 64, trial=trial), till.of[1])
        closed = facts.BooksClosed(closing=1, through=9, digest="a" * 64, trial=trial, label="2026", alone=True)
        assert event == closed
        assert (till.club.closings, till.club.closed_through, till.club.digest) == (1, 9, "a" * 64)

    def test_twice_or_nothing(self, till: Till):
        empty = commands.CloseBooks(label="2026", through=0, digest="0" * 64, trial=())
        assert till.refused(empty) == ("nothing_to_close", {"last": 0})
        close = commands.CloseBooks(label="2026", through=9, digest="a" * 64, trial=())
        till.do(close, till.of[1])
        assert till.refused(close) == ("nothing_to_close", {"last": 9})


class TestScopes:
    @pytest.mark.parametrize(
        "request_",
        [
            commands.Deposit(member=2, amount=1, via="cash"),
            commands.PayoutSent(member=2, amount=1, via="cash"),
            commands.Fee(member=2, amount=1),
            commands.OpenAccount(account="cash", amount=1),
            commands.ReverseSent(entry=1),
            commands.CloseBooksSent(label="2026"),
        ],
        ids=lambda one: type(one).__name__,
    )
    def test_acts_of_the_treasurer_need_the_treasury_scope(self, till: Till, request_: Any):
        assert needed_scope(till.club, request_, till.of[2]) == "treasury"

    def test_acts_of_the_parties_need_no_treasury_scope(self, till: Till):
        assert needed_scope(till.club, commands.Pay(payer=2, payee=3, amount=1), till.of[4]) == "self"
        number = till.proposes(commands.Pay(payer=2, payee=3, amount=500), till.of[2])
        for asks in (commands.ConfirmSent(proposal=number), commands.Decline(proposal=number)):
            assert needed_scope(till.club, asks, till.of[4]) is None, "the proposal names the confirming member"
