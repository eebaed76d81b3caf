"""Acts that take two persons: each act about money and keys, sent and confirmed by each kind of holder.

The table of ``tests/api/money/test_stakes.py`` shows who agrees to the stakes of a match. :data:`TABLE` has a line
for each act. Its columns:

``alone``     the act is sent in a club in which one member only holds `keys` or `audit`
``first``     it is sent in a club in which two members do
``second``    the other member confirms it
``same``      the sender confirms it with a second key
``program``   a program's key with all scopes sends it
``confirms``  a program's key with all scopes confirms it
``taken_up``  the founder confirms the program's act, and so sends it

An answer is ``done``, ``waits`` (a proposal), ``-`` (nothing waits) or a refusal of :data:`REFUSED`.
"""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from referee.clubs import commands
from referee.clubs.commands import EntryFound
from referee.clubs.facts import Posting, SieAccounts
from referee.refusals import Refused
from referee.visibility import Event
from tests.clubs.test_clubs import LATER, Room, ref

WAITS = "proposal/made"
ALONE, MEMBER, OTHER = 1, 3, 2
"""The founder, a member without keys of weight, and the second person."""


class Persons(Room):
    """A club of three members: the founder, the second person if there is one, and a member."""

    def __init__(self, *, two: bool) -> None:
        super().__init__(currencies=("SEK", "EUR"))
        for digit in "bc":
            self.do(commands.Join(name=ref(digit)))
        self.do(commands.Set(payout_limit=1000, keep_years=7, stake_limit=1000))
        self.first = "key:k1"
        self.again = f"key:{self.key('treasury', 'audit', 'keys', 'play', member=ALONE, by='operator')}"
        self.play = self.key("play", member=MEMBER, by="operator")
        self.program = f"key:{self.key(*self.club.keys[0].scopes)}"
        scopes = self.club.keys[0].scopes if two else ("play",)
        self.second = f"key:{self.key(*scopes, member=OTHER, by='operator')}"

    def answer(self, request: Any, by: str) -> str:
        """Return the club's answer to an act."""
        try:
            events = self.do(request, by)
        except Refused as refused:
            return refused.code
        return "waits" if waiting(events) else "done"

    def confirm(self, act: Any, by: str) -> str:
        """Return the club's answer to the confirmation of the last proposal, an act with values of the books."""
        if not self.club.proposals:
            return "-"
        complete = act if type(act) in commands.SENT and not isinstance(act, commands.Pay) else None
        return self.answer(commands.Confirm(proposal=max(self.club.proposals), complete=complete), by)


def waiting(events: tuple[Event, ...]) -> bool:
    return events[-1].TOPIC == WAITS


def entry(kind: Any, debit: str = "cash", credit: str = "member:2", amount: int = 500) -> EntryFound:
    """Return an opening entry whose accounts have only its own balances."""
    postings = (Posting(account=debit, amount=amount), Posting(account=credit, amount=-amount))
    return EntryFound(kind=kind, currency="SEK", postings=postings, balances=(amount, -amount))


def reverse(*what: Any) -> commands.Reverse:
    return commands.Reverse(entry=1, found=entry(*what))


REFERENCE = "0" * 64
WEAK, STRONG_SCOPES = ("play", "self", "open", "read"), ("play", "treasury")


def key_for(member: int | None, *scopes: Any) -> dict[str, Any]:
    whose = {"app": "Board"} if member is None else {"member": member}
    return {"scopes": scopes, "expires_at": LATER, "hash": REFERENCE, **whose}


PAYOUT = commands.Payout(member=MEMBER, amount=600, via="cash", balance=-5000)
ACTS: dict[str, Callable[[Persons], Any]] = {
    "deposit": lambda club: commands.Deposit(member=MEMBER, amount=600, via="cash"),
    "payout": lambda club: PAYOUT,
    "payout_above_the_limit": lambda club: replace(PAYOUT, amount=1001),
    "fee": lambda club: commands.Fee(member=MEMBER, amount=600),
    "opening": lambda club: commands.OpenAccount(account="cash", amount=600),
    "pay": lambda club: commands.Pay(payer=ALONE, payee=OTHER, amount=600),
    "pay_of_others": lambda club: commands.Pay(payer=MEMBER, payee=OTHER, amount=600),
    "reverse_deposit": lambda club: reverse("deposit", "cash", "member:3", 600),
    "reverse_deposit_above": lambda club: reverse("deposit", "cash", "member:3", 1001),
    "reverse_payout": lambda club: reverse("payout", "member:3", "cash", 1001),
    "reverse_fee": lambda club: reverse("fee", "member:3", "fees", 1001),
    "reverse_opening": lambda club: reverse("opening", "cash", "opening", 1001),
    "reverse_pay": lambda club: reverse("pay", "member:3", "member:2"),
    "reverse_pay_own": lambda club: reverse("pay", "member:1", "member:2"),
    "reverse_match": lambda club: reverse("match", "member:3", "member:2"),
    "close_books": lambda club: commands.CloseBooks(label="2026", through=3, digest="a" * 64, trial=()),
    "set_name": lambda club: commands.Set(name="Korten"),
    "payout_limit_lower": lambda club: commands.Set(payout_limit=999),
    "payout_limit_higher": lambda club: commands.Set(payout_limit=1001),
    "keep_years_more": lambda club: commands.Set(keep_years=10),
    "keep_years_fewer": lambda club: commands.Set(keep_years=0),
    "currencies": lambda club: commands.Set(currencies=("SEK", "EUR", "NOK")),
    "stake_limit_lower": lambda club: commands.Set(stake_limit=999),
    "stake_limit_higher": lambda club: commands.Set(stake_limit=1001),
    "secretary_confirms": lambda club: commands.Set(stakes_need="secretary"),
    "sie_accounts": lambda club: commands.Set(sie=SieAccounts(cash="1911")),
    "name_and_currencies": lambda club: commands.Set(name="Korten", currencies=("SEK", "EUR", "NOK")),
    "set_payee_own": lambda club: commands.SetPayee(member=ALONE, swish=ref("8")),
    "set_payee_other": lambda club: commands.SetPayee(member=MEMBER, swish=ref("8")),
    "set_club_payee": lambda club: commands.SetClubPayee(swish=ref("8")),
    "own_key": lambda club: commands.IssueKey(**key_for(ALONE, *STRONG_SCOPES)),
    "key_of_other": lambda club: commands.IssueKey(**key_for(MEMBER, *WEAK)),
    "key_of_program": lambda club: commands.IssueKey(**key_for(None, *STRONG_SCOPES)),
    "invite_weak": lambda club: commands.Invite(**key_for(MEMBER, *WEAK)),
    "invite_treasury": lambda club: commands.Invite(**key_for(MEMBER, "play", "treasury")),
    "invite_audit": lambda club: commands.Invite(**key_for(MEMBER, "audit")),
    "invite_officiate": lambda club: commands.Invite(**key_for(MEMBER, "officiate")),
    "invite_keys": lambda club: commands.Invite(**key_for(MEMBER, "keys", "self")),
    "rotate_own": lambda club: commands.RotateKey(key="k1", hash=REFERENCE),
    "rotate_other": lambda club: commands.RotateKey(key=club.play, hash=REFERENCE),
    "rotate_program": lambda club: commands.RotateKey(key=club.program.removeprefix("key:"), hash=REFERENCE),
    "revoke_own": lambda club: commands.RevokeKey(key=club.again.removeprefix("key:")),
    "revoke_other": lambda club: commands.RevokeKey(key=club.play),
    "rename_other": lambda club: commands.Rename(member=MEMBER, name=ref("8")),
    "leave_other": lambda club: commands.Leave(member=MEMBER),
}
TABLE = """
                        alone   first   second  same    program  confirms  taken_up
deposit                 done    done    -       -       waits    -         done
payout                  done    done    -       -       waits    -         done
payout_above_the_limit  waits   waits   done    second  waits    member    waits
fee                     done    done    -       -       waits    -         done
opening                 done    done    -       -       waits    -         done
pay                     waits   waits   done    other   party    member    -
pay_of_others           party   party   -       -       party    -         -
reverse_deposit         done    done    -       -       waits    -         done
reverse_deposit_above   waits   waits   done    second  waits    member    waits
reverse_payout          done    done    -       -       waits    -         done
reverse_fee             done    done    -       -       waits    -         done
reverse_opening         done    done    -       -       waits    -         done
reverse_pay             waits   waits   done    other   waits    member    waits
reverse_pay_own         waits   waits   done    other   waits    member    waits
reverse_match           waits   waits   done    second  waits    member    waits
close_books             done    waits   done    second  waits    member    waits
set_name                done    done    -       -       done     -         -
payout_limit_lower      done    done    -       -       done     -         -
payout_limit_higher     done    waits   done    second  waits    member    waits
keep_years_more         done    done    -       -       done     -         -
keep_years_fewer        done    waits   done    second  waits    member    waits
currencies              done    waits   done    second  waits    member    waits
stake_limit_lower       done    done    -       -       done     -         -
stake_limit_higher      done    waits   done    second  waits    member    waits
secretary_confirms      done    waits   done    second  waits    member    waits
sie_accounts            done    done    -       -       done     -         -
name_and_currencies     done    waits   done    second  waits    member    waits
set_payee_own           done    done    -       -       waits    -         done
set_payee_other         done    waits   done    second  waits    member    waits
set_club_payee          done    waits   done    second  waits    member    waits
own_key                 done    done    -       -       secret   -         -
key_of_other            secret  secret  -       -       secret   -         -
key_of_program          done    done    -       -       done     -         -
invite_weak             done    done    -       -       done     -         -
invite_treasury         done    waits   done    second  waits    member    waits
invite_audit            done    waits   done    second  waits    member    waits
invite_officiate        done    waits   done    second  waits    member    waits
invite_keys             done    waits   done    second  waits    member    waits
rotate_own              done    done    -       -       secret   -         -
rotate_other            secret  secret  -       -       secret   -         -
rotate_program          done    done    -       -       done     -         -
revoke_own              done    done    -       -       done     -         -
revoke_other            done    done    -       -       done     -         -
rename_other            done    done    -       -       done     -         -
leave_other             done    done    -       -       done     -         -
"""
COLUMNS, *LINES = (line.split() for line in TABLE.strip().splitlines())
REFUSED = {
    "second": "second_person_needed",
    "other": "confirmed_by_other",
    "member": "confirmed_by_member",
    "party": "payment_of_others",
    "secret": "others_secret",
}
"""The codes of the refusals in :data:`TABLE`."""
EXPECTED = {
    act: dict(zip(COLUMNS, (REFUSED.get(one, one) for one in answers), strict=True)) for act, *answers in LINES
}


def test_every_act_has_its_line():
    assert EXPECTED.keys() == ACTS.keys()


def test_every_act_about_money_keys_and_settings_is_in_the_table():
    club = Persons(two=False)
    tried = {type(act(club)) for act in ACTS.values()}
    assert {
        *get_args(commands.MoneyRequest),
        *get_args(commands.CompletedAct),
        commands.Set,
        commands.SetPayee,
        commands.SetClubPayee,
    } <= tried
    assert {commands.IssueKey, commands.Invite, commands.RotateKey, commands.RevokeKey} <= tried
    settings = {name for act in ACTS.values() if isinstance(act(club), commands.Set) for name in changed(act(club))}
    assert settings == set(commands.Set.__struct_fields__) - {"timezone"}


def changed(act: commands.Set) -> list[str]:
    """Return the settings that an act changes."""
    return [name for name in act.__struct_fields__ if getattr(act, name) is not None]


@pytest.mark.parametrize("name", ACTS)
def test_the_answer_is_as_the_table_says(name: str):
    alone = Persons(two=False)
    found = {"alone": alone.answer(ACTS[name](alone), alone.first)}
    club = Persons(two=True)
    act = ACTS[name](club)
    found["first"] = club.answer(act, club.first)
    for column, holder in (("same", club.again), ("confirms", club.program), ("second", club.second)):
        found[column] = club.confirm(act, holder)
    club = Persons(two=True)
    found["program"] = club.answer(act, club.program)
    found["taken_up"] = club.confirm(act, club.first)
    assert found == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name, row in EXPECTED.items() if row["first"] == "waits"])
def test_an_act_for_two_persons_waits_for_a_member_if_a_program_sends_it(name: str):
    """The rule holds in a club of one, too: the founder may confirm alone, and the audit names the founder."""
    club = Persons(two=False)
    assert club.answer(ACTS[name](club), club.program) in ("waits", "payment_of_others")


def _is_about_money(act: Callable[[Persons], Any]) -> bool:
    return isinstance(act(Persons(two=False)), commands.MoneyAct)


@pytest.mark.parametrize("name", [name for name, act in ACTS.items() if _is_about_money(act)])
def test_a_program_posts_nothing_in_a_club_of_one_either(name: str):
    club = Persons(two=False)
    assert club.answer(ACTS[name](club), club.program) in ("waits", "payment_of_others")
    assert club.answer(ACTS[name](club), "operator") in ("waits", "payment_of_others")
