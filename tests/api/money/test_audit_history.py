"""The audit names the member behind each act on keys, settings, payees and closings, and acts of one person alone."""

import re
from html import unescape
from typing import Any, get_args, get_type_hints

import pytest

from api.money.audit_texts import PageTexts
from projections.audit.history import ActOfTwo, KeyChange
from referee.clubs import facts
from referee.clubs.commands import ProposedAct
from tests.conformance.description_check import Description
from tests.support.audited_club import Played
from tests.support.club_client import OPERATOR, ClubTable, in_days
from tests.support.service_in_memory import client_of
from tests.support.stored_clubs import hashed

ANNA, BERIT, CESAR = ((1, "Anna Åkesson-Ödmårk"), (2, "Berit"), (3, "Cesar"))


def person(one: Any) -> Any:
    """Return the name of a person in an audit: a member, a program, or an actor."""
    if one is None:
        return None
    return (one["member"], one["name"]) if one["member"] is not None else one["app"] or one["actor"]


def by(one: Any) -> tuple[Any, Any]:
    return person(one["by"]), person(one["confirmed_by"])


@pytest.fixture
def club(either_client: Any) -> ClubTable:
    """Return a club that Anna founded, with keys for Berit, Cesar and a program."""
    club = ClubTable(either_client)
    for name in ("Berit", "Cesar", "Dag"):
        club.join(name)
    club.issue("berit", "self", "play", member=2)
    club.issue("cesar", "self", "play", member=3)
    club.issue("board", "read")
    return club


def audit(club: ClubTable) -> Any:
    answer = club.get("/audit")
    assert answer.status_code == 200, answer.text
    Description().answered("GET", f"{club.path}/audit", 200, dict(answer.headers), answer.content)
    body = answer.json()
    assert body["ok"], body["checks"]
    return body


def test_keys(club: ClubTable) -> None:
    club.done("rotate_key", "berit", key="k2")
    club.done("revoke_key", key="k4")
    found = {one["key"]: [(change["what"], by(change)) for change in one["changes"]] for one in audit(club)["keys"]}
    assert found["k1"] == [("issued", (ANNA, None))]
    assert found["k2"] == [("invited", (ANNA, None)), ("redeemed", (BERIT, None)), ("rotated", (BERIT, None))]
    assert found["k4"] == [("issued", (ANNA, None)), ("revoked", (ANNA, None))]
    assert all(changes[0][1] == (ANNA, None) for changes in found.values())


def test_settings(club: ClubTable) -> None:
    club.done("set", payout_limit=5000, currencies=["SEK", "EUR"])
    club.done("set", payout_limit=6000)
    found = [(one["setting"], one["before"], one["after"], by(one)) for one in audit(club)["settings"]]
    assert found == [
        ("currencies", "SEK", "SEK, EUR", (ANNA, None)),
        ("payout_limit", "", "5000", (ANNA, None)),
        ("payout_limit", "5000", "6000", (ANNA, None)),
    ]


def test_payees_erasures_and_closings(club: ClubTable) -> None:
    club.done("set_payee", "berit", member=2, swish="0701740605")
    club.done("set_club_payee", swish="1231234567")
    club.done("set_payee", "berit", member=2)
    club.done("leave", member=4)
    club.done("erase", member=4)
    club.done("opening", account="cash", amount=500)
    club.done("close_books", label="2026")
    body = audit(club)
    found = [(one["member"], one["name"], one["swish"], one["iban"], by(one)) for one in body["payees"]]
    assert found == [
        (*BERIT, True, False, (BERIT, None)),
        (None, None, True, False, (ANNA, None)),
        (*BERIT, False, False, (BERIT, None)),
    ]
    assert [(one["member"], one["deleted"], by(one)) for one in body["erasures"]] == [(4, 0, (ANNA, None))]
    closings = [(one["closing"], one["label"], one["through"], by(one)) for one in body["closings"]]
    assert closings == [(1, "2026", 1, (ANNA, None))]


def test_acts_of_one_person_alone_are_listed(club: ClubTable) -> None:
    club.done("set", payout_limit=5000)
    club.done("set", payout_limit=6000)
    club.done("set_club_payee", swish="1231234567")
    club.done("opening", account="cash", amount=500)
    club.done("close_books", label="2026")
    club.issue("dag", "treasury", member=4)
    found = [(one["topic"], by(one)) for one in audit(club)["alone"]]
    assert found == [
        ("club/set", (ANNA, None)),
        ("payee/set", (ANNA, None)),
        ("books/closed", (ANNA, None)),
        ("key/invited", (ANNA, None)),
    ]


def test_payments_of_two_persons_who_invited_one_another(club: ClubTable) -> None:
    number = club.done("pay", payer=1, payee=2, amount=500)["proposal"]
    club.done("confirm", "berit", proposal=number)
    number = club.done("pay", "cesar", payer=2, payee=3, amount=300)["proposal"]
    club.done("confirm", "berit", proposal=number)
    found = [
        (one["act"], one["proposal"], one["how"], person(one["inviter"]), by(one)) for one in audit(club)["related"]
    ]
    assert found == [
        ("pay", 1, "one_invited_the_other", ANNA, (ANNA, BERIT)),
        ("pay", 2, "invited_by_the_same", ANNA, (CESAR, BERIT)),
    ]


def test_a_key_that_a_program_gave_comes_from_the_member_who_made_the_program(club: ClubTable) -> None:
    club.issue("bot", "keys", "self")
    key = {"scopes": ["keys", "self"], "app": "bot of the bot", "expires_at": in_days(9)}
    club.keys["bot of the bot"] = club.done("issue_key", "bot", **key)["key"]["secret"]
    invited = club.done("issue_key", "bot of the bot", member=4, scopes=["self"], expires_at=in_days(9))
    code = invited["invitation"]["code"]
    club.keys["dag"] = club.redeemed(code)["key"]["secret"]
    number = club.done("pay", payer=1, payee=4, amount=500)["proposal"]
    club.done("confirm", "dag", proposal=number)
    (found,) = audit(club)["related"]
    assert (found["how"], person(found["inviter"])) == ("one_invited_the_other", ANNA)


def test_a_member_who_confirmed_a_key_and_saw_its_code_gave_it_too(club: ClubTable) -> None:
    club.issue("berit", "keys", "treasury", "self", member=2)
    number = club.done("issue_key", "berit", member=4, scopes=["treasury", "self"], expires_at=in_days(9))["proposal"]
    code = club.done("confirm", proposal=number)["invitation"]["code"]
    club.keys["dag"] = club.redeemed(code)["key"]["secret"]
    number = club.done("pay", payer=1, payee=4, amount=500)["proposal"]
    club.done("confirm", "dag", proposal=number)
    found = [(one["how"], person(one["inviter"])) for one in audit(club)["related"] if one["act"] == "pay"]
    assert found == [("one_invited_the_other", ANNA)]


def test_a_closing_names_the_program_that_proposed_it_and_the_member_who_confirmed_it(club: ClubTable) -> None:
    club.issue("till", "treasury")
    club.done("opening", account="cash", amount=500)
    number = club.done("close_books", "till", label="2026")["proposal"]
    club.done("confirm", proposal=number)
    body = audit(club)
    assert [by(one) for one in body["closings"]] == [("till", ANNA)]
    assert body["related"] == [], "a program is no person"


def test_two_whose_keys_the_operator_made(sqlite_url: str) -> None:
    with client_of(sqlite_url, operator_key_sha256=hashed(OPERATOR)) as client:
        club = ClubTable(client)
        for member, name in ((2, "Berit"), (3, "Cesar")):
            club.join(name)
            key = {"scopes": ["self"], "member": member, "expires_at": in_days(9)}
            code = club.done("issue_key", OPERATOR, **key)["invitation"]["code"]
            club.keys[name] = club.redeemed(code)["key"]["secret"]
        number = club.done("pay", "Cesar", payer=2, payee=3, amount=300)["proposal"]
        club.done("confirm", "Berit", proposal=number)
        (found,) = audit(club)["related"]
        assert (found["how"], person(found["inviter"])) == ("invited_by_the_same", "operator")


WITH_AUTHORS = ("Reversals", "Proposals that wait")
HEADS = {
    "en": ("Changes of settings", "Done by one person alone", "Who issued and ended keys"),
    "sv": ("Ändrade inställningar", "Gjort av en person ensam", "Vem som utfärdat och avslutat nycklar"),
}


@pytest.mark.parametrize(("language", "member"), [("en", "member"), ("sv", "medlem")])
def test_the_page_has_each_list(club: ClubTable, language: str, member: str) -> None:
    club.done("set", payout_limit=5000)
    club.done("set_club_payee", swish="1231234567")
    club.done("leave", member=4)
    club.done("erase", member=4)
    club.done("opening", account="cash", amount=500)
    club.done("close_books", label="<2026>")
    number = club.done("pay", payer=1, payee=2, amount=500)["proposal"]
    club.done("confirm", "berit", proposal=number)
    page = club.get("/audit", Accept="text/html", **{"Accept-Language": language}).text
    for head in HEADS[language]:
        assert f"<h2>{head}</h2>\n<table>" in page
    assert "<2026>" not in page
    cells = [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", page)]
    for cell in ("payout_limit", "5000", "<2026>", f"Anna Åkesson-Ödmårk ({member} 1)", f"Berit ({member} 2)"):
        assert cell in cells


def test_the_page_names_the_members_who_proposed_and_reversed(club: ClubTable) -> None:
    """The answer in JSON has the numbers of the members."""
    club.issue("bot", "treasury", "keys")
    club.done("deposit", member=2, amount=100, via="cash")
    club.done("fee", member=2, amount=100)
    club.done("reverse", entry=2)
    club.done("pay", "berit", payer=2, payee=3, amount=300)
    club.done("payout", "bot", member=2, amount=100, via="cash")
    body = audit(club)
    member, program = {"actor": "key:k1", "member": 1}, {"actor": "key:k5", "member": None}
    assert [one["by"] for one in body["reversals"]] == [{**member, "match": None}]
    assert [one["by"] for one in body["proposals"]][1:] == [{**program, "match": None}]
    page = unescape(club.get("/audit", Accept="text/html", **{"Accept-Language": "en"}).text)
    tables = {title: page.partition(f"<h2>{title}</h2>")[2].partition("</table>")[0] for title in WITH_AUTHORS}
    assert "<td>Anna Åkesson-Ödmårk (member 1)</td>" in tables["Reversals"]
    assert "<td>Berit (member 2)</td>" in tables["Proposals that wait"]
    assert "<td>bot (key:k5)</td>" in tables["Proposals that wait"]


@pytest.mark.parametrize(
    ("language", "matches", "firsts", "lasts"),
    [
        ("en", "Matches that are not over", "At most 2 are listed: the first.", "At most 2 are listed: the last."),
        ("sv", "Partier som inte är slut", "Högst 2 visas: de första.", "Högst 2 visas: de sista."),
    ],
)
def test_the_page_says_of_a_list_that_may_be_cut_which_end_it_has(
    club: ClubTable, monkeypatch: pytest.MonkeyPatch, language: str, matches: str, firsts: str, lasts: str
) -> None:
    monkeypatch.setattr("api.money.audit_lists.LISTED_MAX", 2)
    club.done("open_evening", on="2026-11-22", season="2026/27")
    club.done("deposit", member=2, amount=60000, via="bank")
    for limit in (5000, 6000):
        club.done("set", payout_limit=limit)
        Played(club)
    page = club.get("/audit", **{"Accept": "text/html", "Accept-Language": language}).text
    settings, _, keys = HEADS[language]
    notes = dict(re.findall(r"<h2>([^<]+)</h2>\n<table>(?:.|\n)*?</table>\n(?:<p>(.*)</p>\n)?", page))
    assert (notes[matches], notes[settings], notes[keys]) == (firsts, lasts, "")


@pytest.mark.parametrize("language", ["en", "sv"])
def test_all_that_the_lists_can_show_has_words(language: Any) -> None:
    texts = PageTexts(language)
    for fact in vars(facts).values():
        if isinstance(fact, type) and "alone" in getattr(fact, "__struct_fields__", ()):
            assert texts.word(getattr(fact, "TOPIC", ""))
    for act in get_args(ProposedAct):
        assert texts.command(act.__struct_config__.tag)
    for what in get_args(get_type_hints(KeyChange)["what"]):
        assert texts.word(f"key_{what}")
    for how in get_args(get_type_hints(ActOfTwo)["how"]):
        assert texts.word(how)


def test_matches_that_began_before_a_closing_and_ended_after_it(club: ClubTable) -> None:
    """An unfinished match is among the open matches. A match entered before the closing belongs to the closing."""
    club.done("open_evening", on="2026-11-22", season="2026/27")
    club.done("deposit", member=2, amount=60000, via="bank")
    before, across, late, forgotten = (Played(club) for _ in range(4))
    before.ends()
    club.get("/journal?fresh=true")
    club.done("close_books", label="2026")
    assert audit(club)["across_closings"] == []
    across.ends()
    club.get("/journal?fresh=true")
    club.done("close_books", label="2027")
    late.ends()
    after = Played(club)
    after.ends()
    body = audit(club)
    assert [one["match"] for one in body["open_matches"]] == [forgotten.id]
    entries = {one["cause"]: one["number"] for one in club.get("/journal?fresh=true&limit=100").json()["items"]}
    assert [(one["match"], one["evening"], one["closings"]) for one in body["across_closings"]] == [
        (across.id, 1, [1]),
        (late.id, 1, [1, 2]),
    ]
    for one in body["across_closings"]:
        assert one["entry"] == entries[f"{one['match']}/{one['event']}"]
    for language, title in (
        ("en", "Matches that began before a closing and ended after it"),
        ("sv", "Partier som började före ett bokslut och slutade efter det"),
    ):
        page = club.get("/audit", **{"Accept": "text/html", "Accept-Language": language}).text
        section = page[page.index(title) :]
        assert across.id in section
        assert "1, 2" in section


def test_a_match_that_comes_to_nothing_is_listed_without_an_entry(club: ClubTable) -> None:
    club.done("open_evening", on="2026-11-22", season="2026/27")
    club.done("deposit", member=2, amount=60000, via="bank")
    abandoned = Played(club)
    club.done("close_books", label="2026")
    abandoned.done("abandon", None, reason="Late")
    (one,) = audit(club)["across_closings"]
    assert (one["match"], one["closings"], one["entry"]) == (abandoned.id, [1], None)
