"""Acts that wait for a second person: decided again when they are confirmed, and who counts as a second person."""

from datetime import timedelta

import pytest

from referee.clubs import commands
from referee.clubs.proposals import NEEDS_SECOND, has_second_person
from tests.clubs.test_clubs import CHANGES, NOW, Room, ref

HARMLESS = {"name", "timezone", "sie"}
"""Settings that control no person."""


class Two(Room):
    """A club of two members who hold all scopes."""

    def __init__(self) -> None:
        super().__init__()
        self.do(commands.Join(name=ref("b")))
        self.first = "key:k1"
        self.second = f"key:{self.key(*self.club.keys[0].scopes, member=2)}"
        self.do(commands.Set(payout_limit=1000, keep_years=7))

    def proposes(self, act: commands.ClubRequest, by: str = "key:k1") -> int:
        self.do(act, by)
        return self.club.proposed


@pytest.fixture
def two() -> Two:
    return Two()


def test_every_setting_is_looser_by_a_rule_or_harmless() -> None:
    assert set(commands.Set.__struct_fields__) == NEEDS_SECOND.keys() | HARMLESS


class TestDecidedAgain:
    def test_a_confirmed_proposal_without_effect_is_refused(self, two: Two):
        waits = [two.proposes(commands.Set(keep_years=0)) for _ in range(2)]
        two.do(commands.Confirm(proposal=waits[0]), two.second)
        assert two.club.keep_years == 0
        assert two.refused(commands.Confirm(proposal=waits[1]), two.second) == ("nothing_to_set", {})

    def test_a_member_who_was_erased_meanwhile_has_no_payee(self, two: Two):
        two.do(commands.Join(name=ref("c")))
        number = two.proposes(commands.SetPayee(member=3, swish=ref("5")))
        two.do(commands.Leave(member=3))
        two.do(commands.Set(keep_years=0), "operator")
        two.do(commands.Confirm(proposal=number + 1), two.first)
        two.do(commands.Confirm(proposal=number + 2), two.second)
        two.do(commands.Erase(texts=CHANGES, member=3, balances=(0,)))
        assert two.refused(commands.Confirm(proposal=number), two.second) == ("member_erased", {"member": 3})

    def test_the_proposer_must_still_have_the_key(self, two: Two):
        number = two.proposes(commands.Set(keep_years=0))
        third = f"key:{two.key('audit', member=2)}"
        two.do(commands.RevokeKey(key="k1"), two.second)
        assert two.refused(commands.Confirm(proposal=number), third) == ("proposer_key_ended", {"key": "k1"})
        two.do(commands.Decline(proposal=number), third)

    def test_a_declined_number_is_one_to_forget(self, two: Two):
        number = two.proposes(commands.SetClubPayee(swish=ref("5")))
        assert two.club.payee.numbers == ()
        two.do(commands.Decline(proposal=number), two.second)
        assert (two.club.payee.swish, two.club.payee.numbers) == (None, (ref("5"),))


class TestSecondPersons:
    def test_a_member_whose_key_another_ended_counts_for_30_days(self, two: Two):
        two.do(commands.RevokeKey(key="k2"))
        assert has_second_person(two.club, NOW + timedelta(days=29))
        assert not has_second_person(two.club, NOW + timedelta(days=30))

    def test_a_member_whose_key_its_holder_ended_does_not_count(self, two: Two):
        two.do(commands.RevokeKey(key="k2"), two.second)
        assert not has_second_person(two.club, NOW)

    def test_a_holder_whose_key_the_operator_ended_does_not_count(self, two: Two):
        two.do(commands.RevokeKey(key="k2"), "operator")
        assert not has_second_person(two.club, NOW)

    def test_an_invited_member_counts_when_the_key_is_redeemed(self, two: Two):
        two.do(commands.RevokeKey(key="k2"), two.second)
        invite = commands.Invite(scopes=("audit",), member=2, expires_at=NOW + timedelta(days=9), hash="0" * 64)
        two.do(invite)
        assert not has_second_person(two.club, NOW)
        two.do(commands.RedeemKey(key="k3", hash="1" * 64), "key:k3")
        assert has_second_person(two.club, NOW)

    def test_a_program_does_not(self, two: Two):
        two.do(commands.RevokeKey(key="k2"), two.second)
        two.key("keys", "audit")
        assert not has_second_person(two.club, NOW)
