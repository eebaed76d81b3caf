"""Rödskägg (Kortoxen): players, pack, draw and deal, and deals voided by an official (B1-B7, B13-B19)."""

from typing import Any

import pytest

from referee.acts import Abandon, Cut, Deal, Draw, Play, Void
from referee.cards import PACK, shuffled
from referee.events import CardDrawn, Dealt, DealVoided, FirstDealerDrawn
from referee.games.rodskagg_kortoxen import RULESET
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, Refused, WrongPhase
from tests.games.rodskagg import SEVEN_FOR_P3, SIX_EACH, Table, penalising, table
from tests.support.match_driver import P1, P2, P3, P4, P5, P6, P7, P8, deal


@pytest.mark.rule("B1", "B-O23")
class TestPlayers:
    """Three players or more take part, up to the number that the pack allows."""

    def test_a_match_has_three_to_eight_players(self):
        assert (RULESET.players_min, RULESET.players_max) == (3, 8)

    @pytest.mark.parametrize("players", range(3, 9))
    def test_the_pack_is_enough_for_so_many(self, players: int):
        t = table(players=players, dealing="house", dealer=P1).dealt()
        assert t.seen().cards_left == (6,) * players
        assert t.phase == "auction"

    def test_more_than_max_players_are_refused(self):
        table(players=5, max_players=5)
        with pytest.raises(AgainstTheRules) as refusal:
            table(players=6, max_players=5)
        assert refusal.value.rule == "B-O23"


@pytest.mark.rule("B4")
class TestPack:
    """The pack has 52 cards, each of them once."""

    def test_it_has_thirteen_cards_of_each_suit_and_no_joker(self):
        assert len(RULESET.pack) == len(set(RULESET.pack)) == 52
        assert {card[0] for card in RULESET.pack} == set("SHDC")

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_no_card_can_be_dealt_twice(self, enforcement: str):
        hands = (*SIX_EACH[:3], (*SIX_EACH[3][:5], SIX_EACH[0][0]))
        refusal = table(enforcement=enforcement).refused(Deal(seat=P4, hands=hands), rule="B4", kind=NoSuchCard)
        assert refusal.facts["cards"] == [SIX_EACH[0][0]]

    @pytest.mark.rule("B-O33")
    @pytest.mark.parametrize("counts", [(6, 6, 6, 35), (52, 52, 52, 52)])
    def test_nor_can_more_be_dealt_than_the_pack_holds(self, counts: tuple[int, ...]):
        t = penalising()
        with pytest.raises(Refused):
            t.do(Deal(seat=P4, counts=counts))

    def test_nor_lie_in_the_stock_and_in_a_hand(self):
        act = Deal(seat=P4, hands=SIX_EACH, stock=(SIX_EACH[1][1],))
        table(honour_redeal=True).refused(act, rule="B4", kind=NoSuchCard)


@pytest.mark.rule("B6", "B7")
class TestProtocol:
    """All players start at twelve in the protocol and count down."""

    def test_all_begin_at_twelve(self):
        assert RULESET.start_points == 12
        assert table().points == (12, 12, 12, 12)

    def test_a_trick_brings_a_player_down(self):
        t = table().dealt("1 1 1 2 | 3 4").declares(P1, 1).tricks(4).asks(P1, "play play").tricks(2)
        assert t.points == (9, 11, 11, 11)

    @pytest.mark.parametrize("points", [(12, 0, 12, 12), (12, -1, 12, 12)])
    def test_a_match_is_not_taken_over_at_points_that_end_it_or_cannot_be(self, points: tuple[int, ...]):
        with pytest.raises(AgainstTheRules):
            table(points=points)

    def test_below_zero_is_a_score_with_the_variant(self):
        assert table(points=(12, -1, 12, 12), overshoot="negative").points[P2] == -1


@pytest.mark.rule("B14", "B15", "B5")
class TestDraw:
    """Cards are drawn for the first deal; the highest deals, ace high and two low."""

    def test_the_highest_card_gives_the_first_deal(self):
        t = table(dealer=None, players=3)
        for seat, card in enumerate(("SK", "H2", "DA")):
            events = t.do(Draw(seat=seat, card=card))
        assert events == (CardDrawn(seat=P3, card="DA"), FirstDealerDrawn(seat=P3, rule="B15"))
        assert t.dealer == P3

    @pytest.mark.parametrize(
        ("low", "high"), [("S2", "S3"), ("S9", "ST"), ("ST", "SJ"), ("SJ", "SQ"), ("SQ", "SK"), ("SK", "SA")]
    )
    def test_the_ranks_stand_in_the_usual_order(self, low: str, high: str):
        t = table(dealer=None, players=3)
        for seat, card in enumerate((low, high, "H2")):
            t.do(Draw(seat=seat, card=card))
        assert t.dealer == P2

    def test_they_draw_in_turn(self):
        t = table(dealer=None)
        t.refused(Draw(seat=P2, card="SA"), rule="B14", kind=OutOfTurn)
        assert (t.legal(P1), t.legal(P2)) == ((Draw(seat=P1),), ()), "which card it is, the table says"

    @pytest.mark.rule("B4")
    def test_a_card_is_drawn_once(self):
        t = table(dealer=None)
        t.do(Draw(seat=P1, card="SA"))
        t.refused(Draw(seat=P2, card="SA"), rule="B4", kind=NoSuchCard)

    def test_no_one_deals_before_the_draw(self):
        table(dealer=None).refused(Deal(seat=P1, hands=SIX_EACH), rule="B13", kind=WrongPhase)

    @pytest.mark.parametrize("version_of_luck", range(5))
    def test_at_the_house_the_referee_draws(self, version_of_luck: int):
        t = table(dealer=None, dealing="house", players=3 + version_of_luck)
        drawn = {event.seat: event.card for event in t.happened(CardDrawn)[: 3 + version_of_luck]}
        ranks = {seat: "23456789TJQKA".index(card[1]) for seat, card in drawn.items()}
        assert ranks[t.dealer] == max(ranks.values())

    @pytest.mark.rule("B-O24")
    def test_players_with_the_same_highest_rank_draw_again(self):
        t = table(dealer=None)
        for seat, card in enumerate(("SK", "HK", "D2", "CK")):
            t.do(Draw(seat=seat, card=card))
        assert t.phase == "drawing"
        t.do(Draw(seat=P1, card="S3"))
        t.do(Draw(seat=P2, card="H4"))
        t.refused(Draw(seat=P3, card="DA"), rule="B14", kind=OutOfTurn)
        t.do(Draw(seat=P4, card="C2"))
        assert t.dealer == P2


@pytest.mark.rule("B13")
class TestClockwise:
    """The deal passes clockwise, like everything else."""

    def test_only_the_dealer_deals(self):
        t = table(dealer=P2)
        t.refused(Deal(seat=P3, hands=SIX_EACH), rule="B13", kind=OutOfTurn)
        assert t.seen().to_act == (P2,)

    def test_the_deal_moves_to_the_left(self):
        t = table(dealer=P3, dealing="house")
        dealers = []
        for _ in range(5):
            dealers.append(t.dealer)
            t.dealt().bid("pass pass pass pass")
        assert dealers == [P3, P4, P1, P2, P3]

    def test_so_do_the_bidding_and_the_play(self):
        t = table(dealer=P2).dealt("3 1 3 3 | 2 3")
        assert t.turn == P3
        t.bid("pass")
        assert t.turn == P4
        t.bid("1 pass pass")
        turns = []
        for _ in range(4):
            turns.append(t.turn)
            t.card()
        assert turns == [P4, P1, P2, P3]

    def test_a_second_deal_is_refused(self):
        t = table().dealt(SIX_EACH, ritual=False)
        t.refused(Deal(seat=P4, hands=SIX_EACH), rule="B13", kind=WrongPhase)


@pytest.mark.rule("B18")
class TestSixEach:
    """Each seat is dealt six cards."""

    @pytest.mark.parametrize(
        "hands", [SEVEN_FOR_P3, (*SIX_EACH[:3], SIX_EACH[3][:5]), (*SIX_EACH[:3], ())], ids=["7", "5", "0"]
    )
    def test_another_number_is_refused(self, hands: Any):
        refusal = table().refused(Deal(seat=P4, hands=hands), rule="B18", kind=AgainstTheRules)
        assert refusal.facts["counts"] == (6, 6, 6, 6)

    def test_so_it_is_with_closed_hands(self):
        table().refused(Deal(seat=P4, counts=(6, 6, 7, 6)), rule="B18", kind=AgainstTheRules)

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_every_seat_gets_a_hand(self, enforcement: str):
        t = table(enforcement=enforcement)
        t.refused(Deal(seat=P4, hands=SIX_EACH[:3]), rule="B18", kind=AgainstTheRules)

    def test_hands_or_counts_are_entered_never_both(self):
        t = table()
        t.refused(Deal(seat=P4), rule=None)
        t.refused(Deal(seat=P4, hands=SIX_EACH, counts=(6, 6, 6, 6)), rule=None)
        t.refused(Deal(seat=P4, counts=(6, 6, 6, 6), stock=("C2",)), rule=None)

    def test_the_house_deals_its_own_cards(self):
        t = table(dealing="house")
        t.refused(Deal(seat=P4, hands=SIX_EACH), rule=None)
        (dealt,) = t.do(Deal(seat=P4))
        assert isinstance(dealt, Dealt)
        assert dealt.counts == (6, 6, 6, 6)


@pytest.mark.rule("B19", "B18")
class TestPackets:
    """Cards are dealt three and three, beginning on the dealer's left. The referee cannot see this at a real
    table."""

    def test_the_house_deals_in_two_packets_of_three(self):
        t = table(dealing="house", dealer=P2, players=3)
        (dealt,) = t.do(Deal(seat=P2))
        assert isinstance(dealt, Dealt)
        assert dealt.hands is not None
        pack = shuffled(dealt.seed or "")
        assert dealt.hands[P3] == pack[0:3] + pack[9:12]
        assert dealt.hands[P1] == pack[3:6] + pack[12:15]
        assert dealt.hands[P2] == pack[6:9] + pack[15:18]

    def test_the_same_seed_deals_the_same_cards(self):
        assert sorted(shuffled("seed")) == sorted(PACK)
        assert shuffled("seed") == shuffled("seed") != shuffled("deeds")


@pytest.mark.rule("B-O36")
class TestDealWithoutThoseWhoAreOut:
    """An eliminated player gets no cards and does not deal."""

    def after_p1_is_out(self, **match: Any) -> Table:
        t = table(**match).dealt("2 1 1 1 | 1 1").declares(P1, "rodskagg").tricks(1)
        t.score()
        return t

    def test_the_deal_skips_an_eliminated_player(self):
        t = self.after_p1_is_out(dealer=P4)
        assert t.dealer == P2

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_an_eliminated_player_gets_no_cards(self, enforcement: str):
        t = self.after_p1_is_out(enforcement=enforcement)
        t.refused(Deal(seat=P2, hands=SIX_EACH), rule="B18", kind=AgainstTheRules)
        t.refused(Deal(seat=P2, counts=(6, 6, 6, 6)), rule="B18", kind=AgainstTheRules)
        t.do(Deal(seat=P2, hands=((), *SIX_EACH[1:])))
        assert t.seen().cards_left == (0, 6, 6, 6)

    def test_the_bidding_goes_round_without_them(self):
        t = self.after_p1_is_out()
        t.dealt("2 3 4 2 | 3 4")
        assert t.phase == "auction"
        assert t.turn == P3

    def test_and_does_nothing_any_more(self):
        t = self.after_p1_is_out()
        assert t.legal(P1) == ()
        t.refused(Cut(seat=P1), rule="B63", kind=NotInPlay)
        t.refused(Cut(seat=P8), rule=None, kind=NotInPlay)


@pytest.mark.rule("B-O38")
class TestVoid:
    """The official voids the deal under way. Only penalties count, and the cards are dealt again."""

    def test_the_same_dealer_deals_again_and_penalties_stay(self):
        t = penalising()
        t.do(Cut(seat=P3))
        t.knock(P1, P3)
        t.dealt("1 1 1 1 | 1 1").declares(P1, 3).tricks(3)
        assert t.do(Void(reason="a card fell")) == (DealVoided(deal=1, reason="a card fell"),)
        assert (t.dealer, t.seen().deal, t.points) == (P4, 1, (12, 12, 12, 12))
        line = t.dealt(SIX_EACH).bid("pass pass pass pass").score()
        assert line.points == (12, 12, 17, 12)

    def test_an_error_without_a_knock_lapses_when_the_deal_is_voided(self):
        t = penalising()
        t.do(Cut(seat=P3))
        t.dealt(SIX_EACH).do(Void())
        t.dismissed(P1, P3, reason="late")

    def test_before_the_deal_there_is_nothing_to_void(self):
        t = table()
        assert t.legal("official") == (Abandon(),)
        t.refused(Void(), rule="B-O38", kind=WrongPhase)

    @pytest.mark.parametrize("tricks_played", [0, 1, 6])
    def test_at_any_time_until_it_is_scored(self, tricks_played: int):
        t = penalising().dealt("1 1 1 2 | 3 4").declares(P1, 1)
        if tricks_played < 6:
            t.tricks(tricks_played)
        else:
            t.tricks(4).asks(P1, "play play").tricks(2)
        assert t.legal("official") == (Void(), Abandon())
        t.do(Void())
        assert t.points == (12, 12, 12, 12)


@pytest.mark.rule("B41")
def test_no_card_is_played_before_the_bidding_is_over():
    t = table().dealt(SIX_EACH)
    t.refused(Play(seat=P1, card=SIX_EACH[P1][0]), rule="B41", kind=WrongPhase)


def test_hands_are_written_as_a_player_reads_them():
    assert deal("SA HT | D7 C2") == (("SA", "HT"), ("D7", "C2"))
    assert list(range(8)) == [P1, P2, P3, P4, P5, P6, P7, P8]
