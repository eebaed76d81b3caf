"""Rödskägg (CatsAtCards): opening, drawing, dealing, replacement cards, and the declarations (C2-C22)."""

import pytest

from referee.acts import Bid, Cut, Deal, Discard, Draw, KeepCards, KnockOut, Play, RequestCards, Void
from referee.cards import PACK
from referee.events import CardDrawn, Dealt, DealVoided, FirstDealerDrawn
from referee.games._rodskagg.facts import CardGiven, CardsThrown
from referee.refusals import AgainstTheRules, MatchOver, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.visibility import as_seen_by
from tests.games.rodskagg import Table, cats
from tests.support.match_driver import P1, P2, P3, P4, P5, pairs

BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
LOW = (
    ("S2", "S3", "S4", "S5", "S6", "S7"),
    ("H2", "H3", "H4", "H5", "H6", "H7"),
    ("SA", "SK", "SQ", "HA", "HK", "HQ"),
)
"""P1 and P2 have no card above ten."""
REST = ("C2", "C3", "CJ", *(card for card in PACK if card not in {*sum(LOW, ()), "C2", "C3", "CJ"}))


def low(stock: tuple[str, ...] | None = REST, **match: object) -> Table:
    return cats((12, 12, 12), dealer=P3, **match).after(Deal(seat=P3, hands=LOW, stock=stock))


@pytest.mark.rule("C4", "C5")
class TestPlayers:
    @pytest.mark.parametrize("players", [3, 7])
    def test_three_to_seven_start_at_twelve(self, players: int):
        match = cats((12,) * players, dealer=0, dealing="house").after(Deal(seat=0))
        assert match.rules.start_points == 12
        assert match.seen(P1).cards_left == (6,) * players

    def test_max_players_lowers_the_limit(self):
        with pytest.raises(AgainstTheRules) as caught:
            cats((12,) * 5, max_players=4)
        assert (caught.value.rule, caught.value.code) == ("C4", "too_many_players")

    @pytest.mark.rule("C43")
    def test_a_match_with_someone_at_zero_is_over(self):
        with pytest.raises(AgainstTheRules) as caught:
            cats((12, 0, 12))
        assert (caught.value.rule, caught.value.code) == ("C43", "match_is_over_already")


@pytest.mark.rule("C3", "C6", "C7", "C8")
class TestDrawing:
    def test_the_first_dealer_may_be_given(self):
        assert cats(dealer=P2).seen(P1).dealer == P2

    def test_the_house_draws_by_itself(self):
        match = cats(dealer=None, dealing="house")
        assert len(match.happened(CardDrawn)) >= 4
        assert match.happened(FirstDealerDrawn)[0].rule == "C8"
        assert match.phase == "undealt"

    def test_at_a_real_table_each_draws_and_equals_again(self):
        match = cats((12, 12, 12), dealer=None)
        assert match.seen(P1).dealer is None
        match.refused(Draw(seat=P2, card="SA"), rule="C7", code="out_of_turn", kind=OutOfTurn)
        match.refused(Draw(seat=P1), rule="C7", code="card_needed")
        match.refused(Deal(seat=P1, counts=(6, 6, 6)), rule="C9", code="wrong_phase")
        match.do(Draw(seat=P1, card="SK"))
        match.refused(Draw(seat=P2, card="SK"), rule="C2", code="card_seen", kind=NoSuchCard)
        match.do(Draw(seat=P2, card="S2"), Draw(seat=P3, card="HK"))
        assert match.seen(P1).to_act == (P1,)
        match.do(Draw(seat=P1, card="D3"), Draw(seat=P3, card="DA"))
        assert match.seen(P1).dealer == P3


@pytest.mark.rule("C2", "C9", "C10", "C11", "C12")
class TestDeal:
    def test_three_and_three_from_the_dealers_left(self):
        match = cats(dealing="house").after(Deal(seat=P4))
        dealt = match.happened(Dealt)[0]
        assert dealt.counts == (6, 6, 6, 6)
        assert {card for hand in dealt.hands for card in hand} | set(dealt.stock) == set(PACK)
        assert match.seen(P1).hand is not None
        match_without = cats(dealing="house", honour_redeal=False).after(Deal(seat=P4))
        assert match_without.happened(Dealt)[0].stock == ()

    def test_the_deal_rotates(self):
        match = cats().play_deal("2 0 2 1", "3 1 2 3 | 1 3")
        assert match.seen(P1).dealer == P1
        match.refused(Deal(seat=P4, counts=(6, 6, 6, 6)), rule="C9", code="not_dealer", kind=OutOfTurn)

    @pytest.mark.parametrize(
        ("deal", "rule", "code"),
        [
            (Deal(seat=P4, counts=(6, 5, 6, 6)), "C12", "six_cards_each"),
            (Deal(seat=P4, counts=(6, 6, 6)), "C12", "one_hand_a_seat"),
            (Deal(seat=P4, counts=(30, 30, 6, 6)), "C2", "more_than_the_pack"),
            (Deal(seat=P4, hands=(LOW[0], LOW[1], LOW[2], LOW[2])), "C2", "card_twice"),
            (Deal(seat=P4), None, "hands_or_counts"),
        ],
    )
    @BOTH
    @pytest.mark.rule("C-O26")
    def test_a_wrong_deal_is_refused(self, deal: Deal, rule: str | None, code: str, enforcement: str):
        cats(enforcement=enforcement).refused(deal, rule=rule, code=code)

    def test_the_house_deals_by_itself(self):
        cats(dealing="house").refused(Deal(seat=P4, counts=(6, 6, 6, 6)), rule=None, code="house_deals")

    def test_cutting_is_an_act_only_in_fem_opp(self):
        cats().refused(Cut(seat=P4), rule="C10", code="no_ritual", kind=WrongPhase)

    def test_the_exit_knock_is_not_in_this_game(self):
        cats().refused(KnockOut(seat=P1), rule=None, code="not_in_this_game")
        cats().refused(Bid(seat=P5, bid="1"), rule=None, code="no_such_seat", kind=NotInPlay)


@pytest.mark.rule("C13", "C14", "C15", "C-O19", "C-O32")
class TestReplacement:
    def test_card_by_card_from_the_front_of_the_stock_until_content(self):
        match = low()
        assert match.legal(P2) == (KeepCards(seat=P2), RequestCards(seat=P2))
        match.do(RequestCards(seat=P2), RequestCards(seat=P2))
        assert [given.card for given in match.happened(CardGiven)] == ["C2", "C3"]
        assert match.seen(P2).cards_left == (6, 8, 6)
        assert match.seen(P1).more == {"discarding": P2, "discards": 2}
        match.do(RequestCards(seat=P2))
        match.refused(RequestCards(seat=P2), rule="C13", code="has_card_above_ten")
        match.refused(KeepCards(seat=P2), rule="C15", code="must_discard")
        match.refused(Discard(seat=P2, cards=("H2", "H3")), rule="C15", code="down_to_six")
        match.refused(Discard(seat=P2, cards=("H2", "H3", "SA")), rule=None, code="not_held")
        match.do(Discard(seat=P2, cards=("H2", "C2", "H4")))
        assert match.seen(P2).hand == ("H3", "H5", "H6", "H7", "C3", "CJ")
        match.refused(RequestCards(seat=P2), rule="C13", code="content_already")

    def test_each_card_is_thrown_once(self):
        match = low().after(RequestCards(seat=P2), RequestCards(seat=P2))
        for twice in (("H2", "H2"), ("H2", "H2", "H3")):
            match.refused(Discard(seat=P2, cards=twice), rule="C15", code="down_to_six")
        refusal = match.refused(Discard(seat=P2, cards=("H2", "SA")), rule=None, code="not_held")
        assert refusal.facts == {"card": "SA"}

    def test_every_way_to_throw_is_listed(self):
        match = low().after(RequestCards(seat=P1))
        assert len([act for act in match.legal(P1) if isinstance(act, Discard)]) == 7
        match.do(RequestCards(seat=P1))
        assert len([act for act in match.legal(P1) if isinstance(act, Discard)]) == 28

    def test_the_others_see_neither_card(self):
        match = low().after(RequestCards(seat=P1), Discard(seat=P1, cards=("S2",)))
        given, thrown = match.happened(CardGiven)[0], match.happened(CardsThrown)[0]
        assert (as_seen_by(given, P2, public=False).card, as_seen_by(thrown, P2, public=False).cards) == (None, ())
        assert (as_seen_by(given, P1, public=False).card, as_seen_by(thrown, P1, public=False).cards) == (
            "C2",
            ("S2",),
        )
        assert as_seen_by(given, "spectator", public=True) == given

    def test_one_player_at_a_time_and_bids_wait(self):
        match = low().after(RequestCards(seat=P2))
        assert match.due("discard")
        assert match.seen(P1).to_act == (P2,)
        match.refused(RequestCards(seat=P1), rule="C-O32", code="one_at_a_time")
        match.refused(KeepCards(seat=P1), rule="C-O32", code="one_at_a_time")
        match.refused(Bid(seat=P1, bid="1"), rule="C15", code="must_discard")
        match.refused(Discard(seat=P1, cards=("S2",)), rule="C15", code="nothing_to_discard")

    def test_only_without_a_card_above_ten_and_before_the_first_bid(self):
        match = low()
        match.refused(RequestCards(seat=P3), rule="C13", code="has_card_above_ten")
        match.refused(KeepCards(seat=P3), rule="C13", code="has_card_above_ten")
        match.do(KeepCards(seat=P2))
        match.refused(RequestCards(seat=P2), rule="C13", code="content_already")
        match.do(Bid(seat=P1, bid="1"))
        match.refused(RequestCards(seat=P1), rule="C13", code="bidding_begun")
        match.refused(KeepCards(seat=P1), rule="C13", code="bidding_begun")

    def test_at_a_real_table_the_card_is_pairs(self):
        match = low(None)
        match.refused(RequestCards(seat=P1), rule="C14", code="cards_needed")
        match.refused(RequestCards(seat=P1, cards=("CA", "CK")), rule="C-O32", code="one_card_at_a_time")
        match.refused(RequestCards(seat=P1, cards=("SA",)), rule="C2", code="card_elsewhere")
        match.do(RequestCards(seat=P1, cards=("CA",)), Discard(seat=P1, cards=("S2",)))
        match.refused(RequestCards(seat=P2, cards=("S2",)), rule="C2", code="card_elsewhere")

    def test_closed_hands_are_not_checked(self):
        match = cats((12, 12, 12), dealer=P3).after(Deal(seat=P3, counts=(6, 6, 6)))
        match.refused(RequestCards(seat=P3, cards=("SA",)), rule=None, code="cards_not_wanted")
        match.do(RequestCards(seat=P3), RequestCards(seat=P3))
        assert match.legal(P3) == (RequestCards(seat=P3), Discard(seat=P3, cards=()))
        match.do(Discard(seat=P3, cards=("S2", "S3")))
        match.bid("1 0 0")
        assert "S2" in match.cards(P1), "what P3 has thrown P1 may not know"
        match.plays("S5 S6")
        match.refused(Play(seat=P3, card="S2"), rule="C2", code="card_seen", kind=NoSuchCard)

    def test_closed_hands_need_not_say_what_they_throw(self):
        match = cats((12, 12, 12), dealer=P3).after(Deal(seat=P3, counts=(6, 6, 6)))
        match.do(RequestCards(seat=P2), Discard(seat=P2, cards=()))
        assert match.seen(P1).cards_left == (6, 6, 6)

    def test_the_request_lapses_when_the_stock_is_empty(self):
        match = cats((12, 12, 12), dealer=P3).after(Deal(seat=P3, counts=(6, 6, 6)))
        for _ in range(52 - 18):
            match.do(RequestCards(seat=P1))
        match.refused(RequestCards(seat=P1), rule="C13", code="stock_empty")

    def test_without_the_option_there_is_none(self):
        match = low(honour_redeal=False)
        assert match.legal(P2) == (KeepCards(seat=P2),)
        match.refused(RequestCards(seat=P2), rule="C13", code="no_replacement")
        match.do(KeepCards(seat=P2), KeepCards(seat=P1), Bid(seat=P1, bid="0"))


class TestDeclarations:
    @pytest.mark.rule("C16", "C17", "C18", "C19", "C-O3", "C-O4")
    def test_each_says_once_in_turn_anything_from_0_to_5_or_redbeard(self):
        match = cats().dealt()
        bids = [act.bid for act in match.legal(P1) if isinstance(act, Bid)]
        assert bids == ["0", "1", "2", "3", "4", "5", "rodskagg"]
        match.refused(Bid(seat=P2, bid="1"), rule="C16", code="out_of_turn", kind=OutOfTurn)
        for bid in ("6", "7", "pass"):
            match.refused(Bid(seat=P1, bid=bid), rule="C18", code="no_such_bid")
        match.do(Bid(seat=P1, bid="3"), Bid(seat=P2, bid="3"))
        match.refused(Bid(seat=P1, bid="4"), rule="C17", code="already_spoken", kind=OutOfTurn)
        match.do(Bid(seat=P3, bid="rodskagg"), Bid(seat=P4, bid="0"))

    @pytest.mark.rule("C20", "C21", "C22", "C-O3", "C-O5")
    @pytest.mark.parametrize(
        ("bids", "declarer", "contract"),
        [
            ("2 0 2 1", P1, "2"),
            ("0 0 0 0", P1, "0"),
            ("1 4 5 3", P3, "5"),
            ("5 rodskagg rodskagg 0", P2, "rodskagg"),
        ],
    )
    def test_the_highest_and_the_first_of_equals_is_declarer(self, bids: str, declarer: int, contract: object):
        view = cats().dealt().bid(bids).seen(P1)
        assert (view.declarer, view.contract) == (declarer, contract)
        assert [bid for _, bid in pairs(view.bids)] == bids.split()

    @pytest.mark.rule("C20")
    def test_the_declarations_stand_on_the_score_sheet(self):
        match = cats().play_deal("2 0 2 1", "3 1 2 3 | 1 3")
        assert pairs(match.line.detail["bids"]) == ((0, "2"), (1, "0"), (2, "2"), (3, "1"))

    def test_no_card_is_played_before(self):
        cats().dealt().refused(Play(seat=P1, card="SA"), rule="C23", code="wrong_phase")


@pytest.mark.rule("C-O23")
class TestVoid:
    def test_the_same_dealer_deals_again(self):
        match = cats()
        match.refused(Void(), rule="C-O23", code="nothing_dealt")
        match.dealt().bid("2 0 2 1").do(Void())
        assert match.happened(DealVoided)[0].points == ()
        assert (match.phase, match.seen(P1).to_act, match.points) == ("undealt", (P4,), (12, 12, 12, 12))


def test_nothing_can_be_done_when_the_match_is_over():
    match = cats((3, 12, 12, 12)).play_deal("3 0 0 0", "1 1 1 2 | 3 3", join="P3")
    assert match.won_by == (P1, "zero")
    match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), rule=None, code="match_over", kind=MatchOver)
    assert match.legal("official") == match.legal(P1) == ()
