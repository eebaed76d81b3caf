"""Edge cases of Rams: claims of cards with closed hands, the events of payments, and seats that do not exist."""

import pytest

from referee.acts import Deal, Play, Report
from referee.games.rams_english.states import Declared
from referee.refusals import NoSuchCard, NotInPlay
from tests.games.rams_table import Table
from tests.support.match_driver import P1, P2


def closed(words: str = "join join join") -> Table:
    """Return a table of three closed hands: clubs are trumps, P3 has dealt, faults are not refused."""
    t = Table(3, enforcement="penalise")
    t.closed_deal("C7")
    t.say(words)
    return t


def shown(t: Table) -> list[str]:
    """Return the rules of the faults on record."""
    return [breach["rule"] for breach in t.seen("official").breaches or ()]


@pytest.mark.rule("D6")
def test_a_card_dealt_twice_is_named():
    t = Table(3)
    refusal = t.refused(t.deal_of("SA SK SQ SJ ST", "SA H7 H8 H9 HT"), rule="D6", code="card_twice", kind=NoSuchCard)
    assert refusal.facts["cards"] == ["SA"]


@pytest.mark.rule("D68", "D-O26")
def test_a_fault_of_a_seat_that_does_not_exist_cannot_be_reported():
    t = closed()
    t.refused(Report(seat=P1, accused=3, fault="exposed_card"), rule=None, code="no_such_seat", kind=NotInPlay)


@pytest.mark.rule("D62", "D63")
def test_the_entries_of_a_generalrams_name_its_announcement():
    t = Table(3)
    t.deal("SA SK SQ CA CK", "S7 S8 S9 H7 H8", "ST SJ H9 HT HJ", turn_up="C7")
    t.say("generalrams join join")
    spoken = [number for number, event in enumerate(t.events, 1) if isinstance(event, Declared)]
    t.plays("CA H7 H9 CK H8 HT SA S7 ST SK S8 SJ SQ S9 HJ")
    assert t.line.kind == "generalrams_won"
    paid = [entry for entry in t.line.entries if entry.rule in ("D62", "D63")]
    assert {entry.events[0] for entry in paid} == {spoken[0]}


@pytest.mark.rule("D50", "D51")
def test_with_closed_hands_every_unseen_card_is_listed_to_follow_with():
    t = closed()
    t.plays("SA")
    assert {"S7", "H7", "CA"} <= {*t.cards(P2)}


@pytest.mark.rule("D-O24", "D50", "D53")
@pytest.mark.parametrize(
    ("cards", "rules"),
    [
        ("SJ SK S8 SA", []),  # P2 headed the jack, and may hold a still higher spade
        ("SJ C9 CT CA", []),  # P3 overtrumped
        ("SA C9 S8 S7", ["D50"]),  # P2 could have followed; no higher trump was required
        ("SA H7 S8 HA H8 H9 SK S7", ["D50"]),  # P2's claim holds after a card that P2 might play
        ("SA H7 S8 SK S7 S9 SQ ST", ["D50"]),  # a claim is disproved once
    ],
)
def test_with_closed_hands_a_card_claims_what_its_duty_says(cards: str, rules: list[str]):
    t = closed()
    t.plays(cards)
    assert shown(t) == rules


def test_the_seat_behind_the_last_cannot_deal_or_play():
    t = Table(3)
    t.refused(Deal(seat=3), rule=None, code="no_such_seat", kind=NotInPlay)
    t.refused(Play(seat=3, card="SA"), rule=None, code="no_such_seat", kind=NotInPlay)
