"""A club's members, keys and evenings: the decisions on its commands, and their events."""

from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args

import pytest

from referee.actors import Actor
from referee.clubs import commands, facts, proposal_events
from referee.clubs.rules import DECIDE, EVOLVE, RULES
from referee.clubs.scopes import needed_scope
from referee.clubs.state import Club
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.visibility import Event

NOW = datetime(2026, 11, 22, 18, 30, tzinfo=UTC)
LATER = NOW + timedelta(days=30)
CHANGES = "5d" * 32
"""The digest of what an erasure changes."""


def ref(digit: str) -> str:
    return f"hmac:{digit * 64}"


class Room:
    """A club just founded, and its actors."""

    def __init__(self, **founded: Any) -> None:
        opened = facts.ClubFounded(
            **{
                "name": "Knackarna",
                "currencies": ("SEK",),
                "timezone": "Europe/Stockholm",
                "founder": ref("a"),
                "hash": "1" * 64,
                "expires_at": LATER,
                **founded,
            }
        )
        self.club: Club = RULES.start(opened)
        self.version, self.at = 1, NOW
        for event in RULES.begin(self.club, self._moment("operator")):
            self.version += 1
            self.club = RULES.evolve(self.club, event, self.version)

    def _moment(self, actor: Actor) -> Moment:
        return Moment(self.version, self.at, "", actor)

    def do(self, request: Any, by: Actor = "key:k1") -> tuple[Event, ...]:
        events, after = RULES.take(self.club, request, self._moment(by))
        folded = RULES.at_time_of_act(self.club, self.at)
        for number, event in enumerate(events, self.version + 1):
            folded = RULES.evolve(folded, event, number)
        assert folded == after, "what is decided is what is folded"
        self.club, self.version = after, self.version + len(events)
        return events

    def refused(self, request: Any, by: Actor = "key:k1") -> tuple[str, dict[str, Any]]:
        with pytest.raises(Refused) as refused:
            RULES.take(self.club, request, self._moment(by))
        return refused.value.code, refused.value.facts

    def key(self, *scopes: Any, by: Actor = "key:k1", **whose: Any) -> str:
        whose = whose or {"app": "Board"}
        by = by if whose.get("member") in (None, 1) else "operator"  # no caller sees another member's secret
        request = commands.IssueKey(scopes=scopes, expires_at=LATER, hash="2" * 64, **whose)
        (issued,) = self.do(request, by)
        assert isinstance(issued, facts.KeyIssued)
        return issued.key


@pytest.fixture
def room() -> Room:
    return Room()


def test_every_request_is_decided_and_every_event_has_its_place():
    assert DECIDE.keys() == set(get_args(commands.ClubRequest))
    kinds = [*vars(facts).values(), *vars(proposal_events).values()]
    assert {*EVOLVE, facts.ClubFounded} == {kind for kind in kinds if _is_fact(kind)}


def _is_fact(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Event) and kind is not Event


class TestFounding:
    def test_the_founder_is_member_1_and_has_a_key_with_all_scopes(self, room: Room):
        assert [member.name for member in room.club.members] == [ref("a")]
        (key,) = room.club.keys
        assert (key.member, key.scopes, key.hash, key.expires_at) == (1, facts.SCOPES, "1" * 64, LATER)


class TestMembers:
    def test_a_number_is_never_given_twice(self, room: Room):
        assert room.do(commands.Join(name=ref("b"))) == (facts.MemberJoined(member=2, name=ref("b")),)
        room.do(commands.Leave(member=2))
        assert room.do(commands.Join(name=ref("b"))) == (facts.MemberJoined(member=3, name=ref("b")),)

    def test_leaving_revokes_the_keys_of_the_member(self, room: Room):
        room.do(commands.Join(name=ref("b")))
        theirs, other = room.key("play", member=2), room.key("read")
        assert room.do(commands.Leave(member=2)) == (
            facts.KeyRevoked(key=theirs),
            facts.MemberLeft(member=2, on=date(2026, 11, 22)),
        )
        assert [bool(key.revoked) for key in room.club.keys] == [False, True, False]
        assert other == "k3"

    def test_all_names_are_known_until_they_are_erased(self, room: Room):
        room.do(commands.Rename(member=1, name=ref("c")))
        assert (room.club.members[0].name, room.club.members[0].names) == (ref("c"), (ref("a"), ref("c")))

    @pytest.mark.parametrize(
        "request_of",
        [commands.Leave, commands.EraseSent, lambda member: commands.Rename(member=member, name=ref("b"))],
    )
    def test_no_one_has_a_number_that_was_not_given(self, room: Room, request_of: Any):
        request = request_of(member=2)
        request = commands.Erase(texts=CHANGES, member=2) if isinstance(request, commands.EraseSent) else request
        assert room.refused(request) == ("no_such_member", {"member": 2, "last": 1})

    def test_a_member_who_has_left_cannot_leave_or_be_renamed(self, room: Room):
        room.do(commands.Leave(member=1))
        for request in (commands.Leave(member=1), commands.Rename(member=1, name=ref("b"))):
            assert room.refused(request, "operator") == ("member_left", {"member": 1})


SWISH, IBAN = ref("5"), ref("6")


class TestPayees:
    def test_a_payment_number_that_is_left_out_is_removed(self, room: Room):
        room.do(commands.SetPayee(member=1, swish=SWISH, iban=IBAN))
        assert room.do(commands.SetPayee(member=1, iban=ref("7"))) == (facts.PayeeSet(member=1, iban=ref("7")),)
        payee = room.club.members[0].payee
        assert (payee.swish, payee.iban, payee.numbers) == (None, ref("7"), (SWISH, IBAN, ref("7")))

    def test_the_club_has_numbers_of_its_own(self, room: Room):
        room.do(commands.SetClubPayee(swish=SWISH))
        assert (room.club.payee.swish, room.club.members[0].payee.swish) == (SWISH, None)

    def test_a_former_member_may_have_a_payment_number_and_an_erased_one_may_not(self, room: Room):
        """A former member may have a balance; an erased one has none."""
        room.do(commands.Leave(member=1))
        room.do(commands.SetPayee(member=1, swish=SWISH), "operator")
        room.do(commands.Erase(texts=CHANGES, member=1, balances=(0,)), "operator")
        assert room.club.members[0].payee.numbers == ()
        refused = room.refused(commands.SetPayee(member=1, swish=SWISH), "operator")
        assert refused == ("member_erased", {"member": 1})
        assert room.refused(commands.SetPayee(member=2), "operator")[0] == "no_such_member"

    def test_a_member_sets_their_own_numbers_and_a_key_with_scope_keys_sets_all(self, room: Room):
        room.do(commands.Join(name=ref("b")))
        own, board = f"key:{room.key('play', member=2)}", f"key:{room.key('read')}"
        acts = (commands.SetPayee(member=2), commands.SetPayee(member=1), commands.SetClubPayee())
        assert [needed_scope(room.club, act, own) for act in acts] == ["self", "keys", "keys"]
        assert needed_scope(room.club, commands.SetPayeeSent(), own) == "self", "without a member it is the key's own"
        assert needed_scope(room.club, commands.SetPayeeSent(), board) == "keys", "a program is no member"
        assert needed_scope(room.club, commands.SetPayeeSent(), "operator") == "keys"


class TestErasing:
    def test_only_a_former_member_is_erased(self, room: Room):
        assert room.refused(commands.Erase(texts=CHANGES, member=1)) == ("member_here", {"member": 1})

    def test_a_member_with_open_matches_is_not_erased(self, room: Room):
        room.do(commands.Leave(member=1))
        refused = room.refused(commands.Erase(texts=CHANGES, member=1, matches=2), "operator")
        assert refused == ("matches_left", {"member": 1, "matches": 2})

    def test_a_member_with_a_balance_is_not_erased(self, room: Room):
        room.do(commands.Leave(member=1))
        refused = room.refused(commands.Erase(texts=CHANGES, member=1, balances=(0, -5)), "operator")
        assert refused == ("balance_left", {"member": 1})
        assert room.do(commands.Erase(texts=CHANGES, member=1, balances=(0,)), "operator") == (
            facts.MemberErased(texts=CHANGES, member=1, balances=(0,)),
        )
        assert room.refused(commands.Erase(texts=CHANGES, member=1), "operator") == ("member_erased", {"member": 1})

    def test_the_event_says_what_was_erased_and_once_more_only_if_there_is_more(self, room: Room):
        room.do(commands.Leave(member=1))
        more = "6e" * 32
        (event,) = room.do(commands.Erase(texts=CHANGES, member=1, deleted=2, changed=1), "operator")
        assert event == facts.MemberErased(texts=CHANGES, member=1, deleted=2, changed=1)
        assert room.refused(commands.Erase(texts=more, member=1), "operator")[0] == "member_erased"
        room.do(commands.Erase(texts=more, member=1, deleted=1), "operator")
        assert room.club.erasures == (CHANGES, more)

    def test_a_member_is_erased_only_after_all_their_entries_are_closed(self, room: Room):
        room.do(commands.Join(name=ref("b")))
        treasurer = room.key("treasury", member=2)
        room.do(commands.Leave(member=1))
        request = commands.Erase(texts=CHANGES, member=1, balances=(0,), entry=3)
        assert room.refused(request, "operator") == ("books_open", {"member": 1, "entry": 3})
        room.do(commands.CloseBooks(label="", through=3, digest="0" * 64, trial=()), f"key:{treasurer}")
        assert room.do(request, "operator") == (facts.MemberErased(texts=CHANGES, member=1, balances=(0,), entry=3),)

    def test_only_when_the_years_of_the_books_have_gone_by(self, room: Room):
        """Seven years from the end of the year of leaving, by the club's clock (Stockholm)."""
        room.do(commands.Set(keep_years=7))
        room.at = datetime(2025, 12, 31, 23, 0, tzinfo=UTC)
        (*_, left) = room.do(commands.Leave(member=1))
        assert left == facts.MemberLeft(member=1, on=date(2026, 1, 1))
        room.at = datetime(2033, 12, 31, 22, 59, tzinfo=UTC)
        refused = room.refused(commands.Erase(texts=CHANGES, member=1), "operator")
        assert refused == ("books_kept", {"member": 1, "until": "2034-01-01"})
        room.at = datetime(2033, 12, 31, 23, 0, tzinfo=UTC)
        assert room.do(commands.Erase(texts=CHANGES, member=1), "operator")


class TestKeys:
    def test_a_key_is_a_members_or_a_programs(self, room: Room):
        request = commands.IssueKey(scopes=("read",), expires_at=LATER, hash="2" * 64)
        assert room.refused(request)[0] == "member_or_app"
        request = commands.IssueKey(scopes=("read",), expires_at=LATER, hash="2" * 64, member=1, app="Board")
        assert room.refused(request)[0] == "member_or_app"

    def test_its_scopes_are_kept_in_their_order_and_once(self, room: Room):
        key = room.key("read", "open", "read")
        issued = room.club.key(key)
        assert issued is not None
        assert issued.scopes == ("open", "read")

    @pytest.mark.parametrize("days", [-1, 0, 400.01])
    def test_it_ends_after_now_and_within_400_days(self, room: Room, days: float):
        request = commands.IssueKey(
            scopes=("read",), expires_at=NOW + timedelta(days=days), hash="2" * 64, app="Board"
        )
        assert room.refused(request) == ("key_expiry", {"most": 400})

    def test_a_key_cannot_grant_scopes_that_it_lacks(self, room: Room):
        secretary = room.key("keys", "read")
        request = commands.IssueKey(scopes=("read", "treasury", "open"), expires_at=LATER, hash="3" * 64, app="Till")
        assert room.refused(request, f"key:{secretary}") == ("scopes_not_yours", {"scopes": ("open", "treasury")})
        assert room.key("read", by=f"key:{secretary}")
        assert room.key("treasury", by="operator")

    def test_rotated_it_has_another_secret_and_both_are_good_for_a_while(self, room: Room):
        key = room.key("read")
        room.do(commands.RotateKey(key=key, overlap_seconds=60, hash="3" * 64))
        now = room.club.key(key)
        assert now is not None
        assert (now.hash, now.before, now.until) == ("3" * 64, "2" * 64, NOW + timedelta(seconds=60))
        assert now.expires_at == LATER, "who holds a key cannot make it last"

    def test_a_key_cannot_rotate_a_key_with_scopes_that_it_lacks(self, room: Room):
        treasurer, secretary = room.key("treasury"), room.key("keys")
        request = commands.RotateKey(key=treasurer, hash="3" * 64)
        assert room.refused(request, f"key:{secretary}") == ("scopes_not_yours", {"scopes": ("treasury",)})
        assert room.do(request, f"key:{treasurer}"), "a member may revoke their own key"

    def test_a_key_is_not_rotated_by_a_lesser_key_of_the_same_member(self, room: Room):
        display, all_of_it = room.key("read", member=1), room.key("read", "keys", member=1)
        request = commands.RotateKey(key=all_of_it, hash="3" * 64)
        assert room.refused(request, f"key:{display}") == ("scopes_not_yours", {"scopes": ("keys",)})
        assert room.do(commands.RotateKey(key=display, hash="3" * 64), f"key:{all_of_it}")

    def test_a_revoked_or_expired_key_cannot_be_rotated(self, room: Room):
        key = room.key("read")
        room.at = LATER
        assert room.refused(commands.RotateKey(key=key, hash="3" * 64))[0] == "key_ended"
        room.at = NOW
        room.do(commands.RevokeKey(key=key))
        assert room.refused(commands.RotateKey(key=key, hash="3" * 64)) == ("key_ended", {"key": key})
        assert room.refused(commands.RevokeKey(key=key)) == ("key_ended", {"key": key})
        assert room.refused(commands.RevokeKey(key="k9")) == ("no_such_key", {"key": "k9"})

    def test_each_act_needs_its_scope(self, room: Room):
        room.do(commands.Join(name=ref("b")))
        own, others = room.key("play", member=2), room.key("read", member=1)
        by = f"key:{own}"
        assert needed_scope(room.club, commands.RevokeKey(key=own), by) == "self"
        assert needed_scope(room.club, commands.RevokeKey(key=others), by) == "keys"
        assert needed_scope(room.club, commands.Rename(member=2, name=ref("c")), by) == "self"
        assert needed_scope(room.club, commands.Rename(member=1, name=ref("c")), by) == "keys"
        assert needed_scope(room.club, commands.Leave(member=2), by) == "self"
        assert needed_scope(room.club, commands.Leave(member=1), "key:k1") == "keys", (
            "leaving ends all keys of the member"
        )
        assert needed_scope(room.club, commands.Join(name=ref("c")), by) == "keys"
        assert needed_scope(room.club, commands.OpenEvening(on=date(2026, 11, 22), season="2026/27"), by) == "open"


class TestSettings:
    def test_the_event_contains_only_changed_settings(self, room: Room):
        assert room.do(commands.Set(name="Knackarna", payout_limit=50000)) == (facts.ClubSet(payout_limit=50000),)
        assert room.club.payout_limit == 50000
        assert room.refused(commands.Set(name="Knackarna")) == ("nothing_to_set", {})
        assert room.refused(commands.Set()) == ("nothing_to_set", {})

    @pytest.mark.parametrize(
        ("currencies", "code"),
        [
            (("SEK", "SOL"), "unknown_currency"),
            (("SEK", "JPY"), "currency_decimals"),
            (("SEK", "KWD"), "currency_decimals"),
            (("SEK", "EUR", "SEK"), "currency_twice"),
            (("EUR",), "currency_kept"),
        ],
    )
    def test_its_currencies_count_hundredths_and_stay(self, room: Room, currencies: tuple[str, ...], code: str):
        assert room.refused(commands.Set(currencies=currencies))[0] == code
        room.do(commands.Set(currencies=("SEK", "EUR")))


class TestEvenings:
    def test_they_are_numbered_and_closed_once(self, room: Room):
        opened = room.do(commands.OpenEvening(on=date(2026, 11, 22), season="2026/27"))
        assert opened == (facts.EveningOpened(evening=1, on=date(2026, 11, 22), season="2026/27"),)
        room.do(commands.CloseEvening(evening=1))
        assert room.refused(commands.CloseEvening(evening=1)) == ("evening_closed", {"evening": 1})
        assert room.refused(commands.CloseEvening(evening=2)) == ("no_such_evening", {"evening": 2, "last": 1})
