"""Rödskägg (alga): opening, dealing, new hands, and the bidding (A1-A28)."""

from itertools import count

import pytest

from referee.acts import Abandon, Bid, Cut, Deal, Draw, KeepCards, Knock, Play, Report, RequestCards, Void
from referee.cards import HONOURS, PACK, cards_of
from referee.events import Dealt, DealVoided, Reported
from referee.games._rodskagg.facts import MisdealFound, NewHands
from referee.refusals import AgainstTheRules, MatchOver, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.visibility import as_seen_by
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4, P5, pairs

BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
LOW = (
    ("S2", "S3", "S4", "S5", "S6", "S7"),
    ("H2", "H3", "H4", "H5", "H6", "H7"),
    ("D2", "D3", "D4", "D5", "D6", "D7"),
    ("SA", "SK", "SQ", "HA", "HK", "HQ"),
)
"""Three hands without an honour, and one with nothing else."""
REST = tuple(card for card in PACK if card not in {card for hand in LOW for card in hand})


def alga(points: tuple[int, ...] = (12, 12, 12, 12), **match: object) -> Table:
    return table("rodskagg-alga", points=points, **match)


def low(stock: tuple[str, ...] | None = REST, **match: object) -> Table:
    """Return a table where P4 dealt and P1, P2 and P3 have no honour."""
    return alga(**match).after(Deal(seat=P4, hands=LOW, stock=stock))


@pytest.mark.rule("A1", "A-O15")
class TestPlayers:
    @pytest.mark.parametrize("players", [2, 5, 8])
    def test_two_to_eight_may_play(self, players: int):
        match = alga((12,) * players, dealer=0, dealing="house")
        match.do(Deal(seat=0))
        assert [len(hand) for hand in match.seen("official").hands] == [6] * players

    def test_max_players_lowers_the_limit(self):
        with pytest.raises(AgainstTheRules) as caught:
            alga((12,) * 5, max_players=4)
        assert (caught.value.rule, caught.value.code) == ("A-O15", "too_many_players")

    @pytest.mark.rule("A-O29")
    def test_a_match_with_someone_at_zero_is_over(self):
        with pytest.raises(AgainstTheRules) as caught:
            alga((12, 0, 12))
        assert (caught.value.rule, caught.value.code) == ("A-O29", "match_is_over_already")


@pytest.mark.rule("A4", "A5", "A6", "A12")
def test_the_pack_the_ranks_and_the_start():
    match = alga()
    assert len(match.rules.pack) == 52
    assert match.rules.start_points == 12
    assert cards_of(("SJ", "SQ", "SK", "SA")) & HONOURS == cards_of(("SJ", "SQ", "SK", "SA"))
    assert not cards_of(("ST", "S2")) & HONOURS


@pytest.mark.rule("A8", "A9", "A10", "A-O16")
class TestDeal:
    def test_the_first_dealer_is_given_else_the_first_seat(self):
        assert alga(dealer=P3).seen(P1).dealer == P3
        assert alga(dealer=None).seen(P1).dealer == P1

    def test_three_and_three_from_the_left(self):
        match = alga(dealing="house").after(Deal(seat=P4))
        dealt = match.happened(Dealt)[0]
        pack = [card for hand in dealt.hands for card in hand]
        assert len(set(pack)) == 24
        assert set(pack) | set(dealt.stock) == set(PACK)
        first_round = [card for hand in dealt.hands for card in hand[:3]]
        second_round = [card for hand in dealt.hands for card in hand[3:]]
        again = alga(dealing="house").after(Deal(seat=P4)).happened(Dealt)[0]
        assert again.hands == dealt.hands, "the seed makes the deal"
        assert len(first_round) == len(second_round) == 12

    @BOTH
    def test_only_the_dealer_deals(self, enforcement: str):
        refusal = alga(enforcement=enforcement).refused(
            Deal(seat=P1, counts=(6, 6, 6, 6)), rule="A9", code="not_dealer"
        )
        assert isinstance(refusal, OutOfTurn)

    @BOTH
    @pytest.mark.rule("A-O26")
    def test_six_cards_each_in_both_enforcements(self, enforcement: str):
        alga(enforcement=enforcement).refused(Deal(seat=P4, counts=(6, 5, 6, 6)), rule="A9", code="six_cards_each")

    @pytest.mark.parametrize(
        ("deal", "rule", "code"),
        [
            (Deal(seat=P4), None, "hands_or_counts"),
            (Deal(seat=P4, counts=(6, 6, 6)), "A9", "one_hand_a_seat"),
            (Deal(seat=P4, counts=(52, 6, 6, 6)), "A4", "more_than_the_pack"),
            (Deal(seat=P4, counts=(6, 6, 6, 6), stock=("S2",)), None, "stock_needs_hands"),
            (Deal(seat=P4, hands=(*LOW[:3], LOW[2])), "A4", "card_twice"),
        ],
    )
    def test_a_deal_says_the_cards_once(self, deal: Deal, rule: str | None, code: str):
        alga().refused(deal, rule=rule, code=code)

    def test_the_house_deals_by_itself(self):
        alga(dealing="house").refused(Deal(seat=P4, counts=(6, 6, 6, 6)), rule=None, code="house_deals")

    @pytest.mark.parametrize("act", [Cut(seat=P4), Draw(seat=P4)])
    def test_cutting_and_drawing_are_not_in_this_game(self, act: Cut):
        alga().refused(act, rule=None, code="not_in_this_game", kind=WrongPhase)

    def test_a_seat_that_is_not_there(self):
        alga().refused(Deal(seat=P5), rule=None, code="no_such_seat", kind=NotInPlay)


@pytest.mark.rule("A11", "A13", "A14", "A-O14", "A-O24")
class TestNewHands:
    def test_everyone_speaks_in_turn(self):
        match = low()
        match.refused(KeepCards(seat=P2), rule="A-O14", code="out_of_turn")
        assert match.legal(P1) == (KeepCards(seat=P1), RequestCards(seat=P1))
        match.do(RequestCards(seat=P1), KeepCards(seat=P2), KeepCards(seat=P3))
        assert match.legal(P4) == (KeepCards(seat=P4),)
        match.refused(Bid(seat=P1, bid="1"), rule="A17", code="wrong_phase")
        match.refused(Play(seat=P1, card="S2"), rule="A29", code="wrong_phase")

    def test_a_hand_with_an_honour_stays(self):
        match = low().after(KeepCards(seat=P1), KeepCards(seat=P2), KeepCards(seat=P3))
        match.refused(RequestCards(seat=P4), rule="A11", code="has_honour")

    def test_new_cards_go_clockwise_in_packets_to_those_who_asked(self):
        match = low().after(RequestCards(seat=P1), KeepCards(seat=P2), RequestCards(seat=P3), KeepCards(seat=P4))
        new = match.happened(NewHands)[0]
        assert new.seats == (P1, P3)
        assert new.hands[P1] == REST[0:3] + REST[6:9]
        assert new.hands[P3] == REST[3:6] + REST[9:12]
        assert new.hands[P2] == new.hands[P4] == ()
        assert match.seen(P1).to_act == (P1,), "those who got new cards may ask again"
        told = as_seen_by(new, P1, public=False)
        assert (told.hands[P1], told.hands[P3], told.stock) == (new.hands[P1], (), ())
        assert as_seen_by(new, P1, public=True) == new

    def test_no_one_asks_the_bidding_opens(self):
        assert low().keep().seen(P1).to_act == (P1,)
        assert low().keep().phase == "auction"

    def test_further_rounds_until_no_one_asks(self):
        stock = ("S8", "S9", "ST", "H8", "H9", "HT", "DA", "DK", "DQ", "CA", "CK", "CQ")
        match = low(stock).after(RequestCards(seat=P1), *(KeepCards(seat=seat) for seat in (P2, P3, P4)))
        match.do(RequestCards(seat=P1))
        assert match.seen(P1).hand == ("DQ", "DK", "DA", "CQ", "CK", "CA")
        match.refused(RequestCards(seat=P1), rule="A11", code="has_honour")
        assert match.after(KeepCards(seat=P1)).phase == "auction"

    def test_at_a_real_table_the_cards_are_pairs(self):
        match = low(None)
        match.refused(RequestCards(seat=P1), rule="A11", code="cards_needed")
        match.refused(RequestCards(seat=P1, cards=("CA",)), rule="A11", code="cards_needed")
        match.refused(
            RequestCards(seat=P1, cards=("SA", "C2", "C3", "C4", "C5", "C6")),
            rule="A4",
            code="card_elsewhere",
            kind=NoSuchCard,
        )
        own = RequestCards(seat=P1, cards=("S2", "C2", "C3", "C4", "C5", "C6"))
        match.refused(own, rule="A4", code="card_elsewhere")
        match.do(RequestCards(seat=P1, cards=("CA", "C2", "C3", "C4", "C5", "C6")))
        match.do(*(KeepCards(seat=seat) for seat in (P2, P3, P4)))
        assert match.seen(P1).hand == ("C2", "C3", "C4", "C5", "C6", "CA")

    def test_the_house_and_closed_hands_want_no_cards(self):
        six = ("C2", "C3", "C4", "C5", "C6", "C7")
        closed = alga().after(Deal(seat=P4, counts=(6, 6, 6, 6)))
        closed.refused(RequestCards(seat=P1, cards=six), rule=None, code="cards_not_wanted")
        closed.do(RequestCards(seat=P1), *(KeepCards(seat=seat) for seat in (P2, P3, P4, P1)))
        assert closed.phase == "auction"

    def test_without_the_option_there_is_none(self):
        match = alga(honour_redeal=False).after(Deal(seat=P4, hands=LOW))
        assert match.phase == "auction"
        match.refused(RequestCards(seat=P1), rule="A11", code="wrong_phase")
        match.refused(KeepCards(seat=P1), rule="A-O24", code="wrong_phase")


@pytest.mark.rule("A15", "A16", "A-O24")
class TestStockRunsOut:
    def test_exchanged_cards_are_dealt_to_later_seats_and_no_seat_asks_twice(self):
        """The dealer of a real table shuffles, and the referee receives the new cards (A-O24)."""
        match = alga((12,) * 8, dealer=7)
        low_cards = [card for card in PACK if card[1] in "23456789T"]
        hands = tuple(tuple(low_cards[6 * seat : 6 * seat + 6]) for seat in range(6))
        high = [card for card in PACK if card not in low_cards]
        match.do(Deal(seat=7, hands=(*hands, tuple(high[:6]), tuple(high[6:12])), stock=tuple(high[12:])))
        match.do(KeepCards(seat=0))
        assert match.legal(1) == (KeepCards(seat=1),), "it would not say which cards came"
        match.refused(RequestCards(seat=1), rule="A11", code="cards_needed")
        match.do(RequestCards(seat=1, cards=(*high[12:], *hands[1][:2])))
        assert match.phase == "exchanging", "a seat that has not bid may still ask"
        match.do(RequestCards(seat=2, cards=(*hands[1][2:], *hands[2][:2])))
        match.do(*(KeepCards(seat=seat) for seat in range(3, 8)))
        (new,) = match.happened(NewHands)
        assert (new.seats, new.last) == ((1, 2), True)
        assert match.phase == "auction", "no further round"
        match.refused(RequestCards(seat=2), rule="A11", code="wrong_phase")
        assert set(match.seen(2).hand) == {*hands[1][2:], *hands[2][:2]}
        assert len(match.seen(1).hand) == 6
        assert set(high[12:]) <= set(match.seen(1).hand)

    def test_in_the_house_the_referee_shuffles(self):
        for luck in count():
            match = alga((12,) * 8, dealer=7, dealing="house", seed=f"{luck} ").after(Deal(seat=7))
            if RequestCards(seat=0) in match.legal(0):
                break
        thrown = match.seen(0).hand
        match.do(RequestCards(seat=0), *(KeepCards(seat=seat) for seat in range(1, 8)))
        (new,) = match.happened(NewHands)
        assert new.last
        assert new.seed is not None
        assert len(set(new.hands[0]) - set(thrown)) == 4, "the whole stock, and two of the thrown cards"
        assert match.phase == "auction"

    def test_in_the_house_all_who_ask_are_served(self):
        for luck in count():
            match = alga((12,) * 7, dealer=6, dealing="house", seed=f"{luck} ").after(Deal(seat=6))
            if all(not set("JQKA") & {card[1] for card in match.seen(seat).hand} for seat in (0, 1)):
                break
        match.do(RequestCards(seat=0), RequestCards(seat=1), *(KeepCards(seat=seat) for seat in range(2, 7)))
        (new,) = match.happened(NewHands)
        assert (new.seats, new.last) == ((0, 1), True)
        assert [len(hand) for hand in new.hands] == [6, 6, 0, 0, 0, 0, 0]
        assert match.phase == "auction"

    def test_cards_that_an_earlier_seat_received_are_refused_for_a_later_one(self):
        low_cards = [card for card in PACK if card[1] not in "JQKA"]
        pack = (*low_cards, *(card for card in PACK if card not in low_cards))
        hands = tuple(pack[6 * seat : 6 * seat + 6] for seat in range(7))
        match = alga((12,) * 7, dealer=6).after(Deal(seat=6, hands=hands, stock=pack[42:]), RequestCards(seat=0))
        match.refused(RequestCards(seat=1, cards=pack[42:48]), rule="A4", code="card_elsewhere")
        match.do(RequestCards(seat=1, cards=(*pack[48:], *pack[:2])))
        for seat in range(2, 7):
            if KeepCards(seat=seat) in match.legal(seat):
                match.do(KeepCards(seat=seat))
        assert match.happened(NewHands)[0].hands[:2] == (pack[42:48], (*pack[48:], *pack[:2]))

    def test_at_a_real_table_thrown_cards_may_come_back(self):
        """Cards of a different hand thrown in during the same round may also come back."""
        match = alga((12,) * 7, dealer=6)
        low_cards = [card for card in PACK if card[1] in "23456789"]
        hands = tuple(tuple(low_cards[4 * seat : 4 * seat + 4]) for seat in range(7))
        tens = [card for card in PACK if card[1] in "TJQKA" and card[1] == "T"]
        rest = [card for card in PACK if card[1] in "JQKA"]
        filler = low_cards[28:] + tens + rest
        full = [hands[seat] + tuple(filler[2 * seat : 2 * seat + 2]) for seat in range(7)]
        match.do(Deal(seat=6, hands=tuple(full)))
        left = [card for card in PACK if card not in {card for hand in full for card in hand}]
        match.do(RequestCards(seat=0, cards=tuple(left[:6])))
        back = RequestCards(seat=1, cards=(*left[6:10], full[0][0], full[1][0]))
        match.do(back, *(KeepCards(seat=seat) for seat in range(2, 7)))
        assert match.phase == "auction"
        assert set(match.seen(1).hand) == {*left[6:10], full[0][0], full[1][0]}


@pytest.mark.rule("A-O17", "A-O26")
class TestMisdeal:
    def closed(self, **match: object) -> Table:
        return alga(**match).after(Deal(seat=P4, counts=(6, 6, 6, 6)))

    @BOTH
    def test_the_same_dealer_deals_again(self, enforcement: str):
        match = self.closed(enforcement=enforcement).after(Report(seat=P1, accused=P2, fault="misdeal"))
        assert match.happened(Reported)
        assert match.happened(MisdealFound)[0].rule == "A-O17"
        assert (match.phase, match.seen(P1).to_act, match.points) == ("undealt", (P4,), (12, 12, 12, 12))

    def test_if_the_cards_are_known_there_is_none(self):
        low().refused(Report(seat=P1, accused=P2, fault="wrong_count"), rule="A9", code="hands_known")
        house = alga(dealing="house").after(Deal(seat=P4))
        house.refused(Report(seat=P1, accused=P2, fault="misdeal"), rule=None, code="house_sees")

    def test_other_faults_cost_nothing_here(self):
        self.closed().refused(
            Report(seat=P1, accused=P2, fault="exposed_card"), rule="A-O26", code="nothing_to_punish"
        )

    def test_only_a_seat_in_the_deal_can_be_accused_of_a_misdeal(self):
        self.closed().refused(Report(seat=P1, accused=7, fault="misdeal"), rule="A-O17", code="not_in_deal")


class TestBidding:
    @pytest.mark.rule("A17", "A18", "A19", "A20")
    def test_forehand_may_bid_anything_or_pass(self):
        match = alga().dealt().keep()
        bids = [act.bid for act in match.legal(P1)]
        assert bids == ["pass", "1", "2", "3", "4", "5", "6", "rodskagg"]
        assert match.legal(P2) == ()
        match.refused(Bid(seat=P2, bid="1"), rule="A18", code="out_of_turn", kind=OutOfTurn)
        for bid in ("0", "7", "join"):
            match.refused(Bid(seat=P1, bid=bid), rule="A17", code="no_such_bid")

    @pytest.mark.rule("A21")
    @BOTH
    def test_every_later_bid_is_higher(self, enforcement: str):
        match = alga(enforcement=enforcement).dealt().bid("3 pass")
        refusal = match.refused(Bid(seat=P3, bid="3"), rule="A21", code="bid_too_low")
        assert refusal.facts["allowed"] == ("pass", "4", "5", "6", "rodskagg")
        match.do(Bid(seat=P3, bid="4"))

    @pytest.mark.rule("A22")
    def test_each_speaks_once(self):
        match = alga().dealt().bid("pass 2")
        match.refused(Bid(seat=P1, bid="3"), rule="A22", code="already_spoken", kind=OutOfTurn)

    @pytest.mark.rule("A23")
    def test_rodskagg_ends_the_bidding(self):
        match = alga().dealt().bid("pass rodskagg")
        view = match.seen(P1)
        assert (view.phase, view.declarer, view.contract) == ("playing", P2, "rodskagg")
        match.refused(Bid(seat=P3, bid="pass"), rule="A17", code="wrong_phase")

    @pytest.mark.rule("A24", "A25", "A-O19")
    def test_a_deal_passed_out_moves_the_deal_on(self):
        match = alga().dealt().bid("pass pass pass pass")
        assert (match.line.kind, match.line.points, match.line.entries) == ("passed_out", (12, 12, 12, 12), ())
        assert match.seen(P1).to_act == (P1,)

    @pytest.mark.rule("A26")
    def test_the_last_bid_is_the_contract(self):
        view = alga().dealt().bid("2 pass 3 pass").seen(P1)
        assert (view.declarer, view.contract, view.to_act) == (P3, "3", (P3,))
        assert pairs(view.bids) == ((P1, "2"), (P2, "pass"), (P3, "3"), (P4, "pass"))

    @pytest.mark.rule("A-O20", "A-O25")
    def test_the_cap_is_off_unless_chosen(self):
        alga((3, 12, 12, 12)).dealt().bid("6")
        match = alga((3, 12, -1, 12), bid_cap_by_score=True).dealt().keep()
        match.refused(Bid(seat=P1, bid="4"), rule="A-O20", code="bid_above_points")
        assert [act.bid for act in match.legal(P1)] == ["pass", "1", "2", "3", "rodskagg"]
        match.do(Bid(seat=P1, bid="3"), Bid(seat=P2, bid="pass"))
        assert [act.bid for act in match.legal(P3)] == ["pass", "rodskagg"]


@pytest.mark.rule("A-O23")
def test_the_official_may_void_a_deal():
    match = alga()
    assert match.legal("official") == (Abandon(),)
    match.refused(Void(), rule="A-O23", code="nothing_dealt")
    match.dealt().bid("2 pass pass pass").tricks(2)
    assert match.legal("official") == (Void(), Abandon())
    match.do(Void(reason="a card fell"))
    assert match.happened(DealVoided)[0].reason == "a card fell"
    assert (match.phase, match.seen(P1).to_act, match.seen(P1).deal) == ("undealt", (P4,), 1)


@pytest.mark.rule("A-O27")
@BOTH
def test_there_is_no_knocking(enforcement: str):
    match = alga(enforcement=enforcement).dealt()
    match.refused(Knock(seat=P1, accused=P2), rule="A-O27", code="no_knocking", kind=WrongPhase)


def test_nothing_can_be_done_when_the_match_is_over():
    match = alga((6, 12, 12, 12)).play_deal("6 pass pass pass", "1 1 1 1 | 1 1")
    assert match.won_by == (P1, "zero")
    match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), rule=None, code="match_over", kind=MatchOver)
    match.refused(Knock(seat=P1, accused=P2), rule=None, code="match_over", kind=MatchOver)
    assert match.legal("official") == match.legal(P1) == match.legal("spectator") == ()
    assert match.seen(P1).winner == P1
