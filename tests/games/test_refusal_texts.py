"""A refusal says what would be right: its words and facts agree with the acts that are legal at that moment."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from referee.acts import Announce, Bella, Bid, Deal, Draw, Exchange, Play
from referee.games import RULESETS
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.sentences import refusal, title
from tests.games.kalabrias_table import hands
from tests.games.kalabrias_table import table as kalabrias
from tests.games.rodskagg import Table, cats, near, table
from tests.games.test_rams_declarations import double
from tests.support.match_driver import P1, P2, P3, P4, P5, P6
from tests.support.random_deals import MATCHES, Playout, every_act

ACTS = 250
EVERY = 15
"""Each fifteenth state of a play-out is looked at."""


def in_words(refused: Refused) -> tuple[str, str]:
    """Return the text of a refusal in English and in Swedish."""
    return refusal(refused.code, refused.facts, "en"), refusal(refused.code, refused.facts, "sv")


def duel_deal_refused(match: Table) -> Refused:
    """Draw for the lead of a duel, and return the refusal of a deal to all four seats."""
    match.do(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA"))
    assert match.seen().active == (P1, P2, P3, P4), "all four are still in the match"
    assert match.accepted(Deal(seat=P1, counts=(0, 6, 0, 6)))
    return match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), rule="C12", code="six_cards_each")


class TestBella:
    """E27 with E-O15 and E-O39: the deadline is an option."""

    SPREAD = hands("SK SQ SA SJ | S7 S8", "S9")

    @pytest.mark.rule("E27", "E-O15", "E-O39")
    def test_until_the_trick_with_its_second_card_is_complete(self):
        t = kalabrias().dealt(self.SPREAD, "S9").calls("take").says("none none").plays("SK S7")
        assert Bella(seat=P1) in t.legal(P1), "one of its cards has been played"
        t.plays("SQ S8")
        english, swedish = in_words(t.refused(Bella(seat=P1), rule="E27", code="bella_too_late"))
        assert "second of its cards" in english
        assert "andra av de två korten" in swedish

    @pytest.mark.rule("E27", "E-O39")
    def test_an_option_allows_bella_only_with_its_first_card(self):
        strict = kalabrias(bella_deadline="first_card").dealt(self.SPREAD, "S9").calls("take").says("none none")
        strict.plays("SK")
        assert Bella(seat=P1) in strict.legal(P1), "its first card was the last card played"
        strict.plays("S7")
        english, swedish = in_words(strict.refused(Bella(seat=P1), rule="E27", code="bella_after_first_card"))
        assert "first of its cards" in english
        assert "första av de två korten" in swedish


class TestTheLead:
    @pytest.mark.rule("A29")
    def test_in_alga_the_declarer_leads_to_every_trick(self):
        match = table("rodskagg-alga").dealt("2 3 4 2").bid("pass pass 3 pass").trick()
        taker = 1
        assert [act.seat for act in match.legal(P3)] == [P3] * 5, "the declarer leads, and P2 took the trick"
        lead = match.refused(Play(seat=taker, card=match.plan.cards[1][taker]), rule="A29", code="not_on_lead")
        assert lead.facts["turn"] == P3
        for text in in_words(lead):
            assert not any(word in text.lower() for word in ("took", "tog", "trick one", "första"))


class TestHands:
    @pytest.mark.rule("C12", "C46", "C-O31")
    def test_in_a_duel_only_its_players_get_cards(self):
        match = cats((12, 2, 12, 1)).play_deal("3 0 0 0", "2 2 4 1 | 1 3", join="P3")
        english, swedish = in_words(duel_deal_refused(match))
        assert "still in the match" not in english
        assert "kvar i partiet" not in swedish


class TestRamsWithSix:
    """D-O9: the dealer stakes and gets no cards; the dealer's right-hand neighbour speaks last."""

    @pytest.mark.rule("D31", "D-O9")
    def test_the_last_but_one_to_speak_may_pay(self):
        t = double(6)
        english, swedish = in_words(t.refused(Bid(seat=P1, bid="pay"), rule="D31", code="nothing_to_buy_off"))
        assert "last but one to speak" in english
        assert "näst sist" in swedish
        t.say("lie_down lie_down lie_down")
        assert Bid(seat=P4, bid="pay") in t.legal(P4), "P5 sits on the dealer's right"

    @pytest.mark.rule("D33", "D-O9")
    def test_the_last_to_speak_must_join(self):
        t = double(6)
        t.say("lie_down lie_down lie_down join")
        assert Bid(seat=P5, bid="join") in t.legal(P5)
        refused = t.refused(Bid(seat=P5, bid="lie_down"), rule="D33", code="last_must_join")
        assert t.dealer == P6
        for text in (*in_words(refused), title(refused.code, "en"), title(refused.code, "sv")):
            assert not any(word in text.lower() for word in ("dealer", "givare"))

    @pytest.mark.rule("D46", "D-O9")
    def test_the_dealer_takes_no_card_and_has_not_lain_down(self):
        t = double(6)
        t.say("lie_down lie_down lie_down join join")
        assert not any(isinstance(act, Exchange) for seat in t.seats for act in t.legal(seat))
        for seat in (P6, P5):
            refused = t.refused(Exchange(seat=seat, card="SA"), rule="D46", code="dealer_not_in_play")
            for text in in_words(refused):
                assert not any(word in text for word in ("lay down", "lagt sig"))


class TestAnnouncement:
    @pytest.mark.rule("C49", "C-O24")
    def test_once_for_each_value(self):
        match = cats((2, 12, 12, 12)).dealt("1 1 2 3").bid("2 0 0 0").trick()
        match.do(near(P1))
        refused = match.refused(near(P1), rule="C49", code="nothing_to_announce")
        assert refused.facts["total"] == 1, "this seat has just come to one point"
        assert not any(isinstance(act, Announce) for act in match.legal(P1))
        english, swedish = in_words(refused)
        assert "once" in english
        assert "en gång" in swedish

    @pytest.mark.rule("C-O24", "C47")
    def test_none_in_a_duel(self):
        match = cats((12, 2, 12, 1)).play_deal("3 0 0 0", "2 2 4 1 | 1 3", join="P3")
        duel_deal_refused(match)
        match.dealt("2 2 2 4 | 2 4")
        refused = match.refused(near(P2), rule="C49", code="nothing_to_announce")
        assert refused.facts["total"] == 0
        for text in in_words(refused):
            assert "duel" in text.lower()


def agree(match: Playout, act: Any, refused: Refused, met: Counter[str]) -> None:
    """Compare the facts of a refusal with the acts that are legal now."""
    facts, rules, state = refused.facts, match.rules, match.state
    legal = rules.legal(state, act.seat)
    if isinstance(act, Bid) and (allowed := facts.get("allowed")) is not None:
        met["bids"] += 1
        assert set(allowed) == {one.bid for one in legal if isinstance(one, Bid)}, (act, refused.code)
    if isinstance(act, Play) and (allowed := facts.get("allowed")) is not None:
        met["cards"] += 1
        assert set(allowed) == {one.card for one in legal if isinstance(one, Play)}, (act, refused.code)
    if (turn := facts.get("turn")) is not None:
        met["turn"] += 1
        assert turn != act.seat, (act, refused.code)
        shown = rules.view(state, turn)
        assert rules.legal(state, turn) or shown.due or match.closed, (act, refused.code)
    if pending := facts.get("pending"):
        met["pending"] += 1
        seats = (pending,) if isinstance(pending, int) else pending
        assert any(rules.legal(state, seat) for seat in seats), (act, refused.code)


@pytest.mark.parametrize("key", sorted(RULESETS))
def test_the_facts_of_every_refusal_agree_with_the_legal_acts(key: str):
    met: Counter[str] = Counter()
    for number in range(MATCHES // 8):
        match = Playout(RULESETS[key], Random(f"texts {key} {number}"), Counter(), keep=False)
        for step in range(ACTS):
            if match.over:
                break
            if step % EVERY == 0:
                for seat in match.seats:
                    for act in every_act(key, seat):
                        try:
                            match.rules.decide(match.state, act, Moment(match.version, match.at, "any"))
                        except Refused as refused:
                            agree(match, act, refused, met)
            match.step()
    assert min(met["turn"], met["bids"]) > 0, met
