"""Rödskägg (Kortoxen): the bidding (B28-B38)."""

from typing import Any

import pytest

from referee.acts import Ask, Bid, Cut, Deal, KnockForCards, Play, Void
from referee.events import PlayEnded
from referee.games._rodskagg.facts import AuctionWon, BidMade
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4, pairs

LADDER: tuple[Any, ...] = ("1", "2", "3", "4", "5", "6", "rodskagg")
BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])


def bidding(**match: Any) -> Table:
    """Return a table where P4 dealt, so that P1 speaks first."""
    return table(**match).dealt("1 2 3 4 | 1 2")


def offered(t: Table) -> tuple[Any, ...]:
    """Return the bids offered to the seat in turn."""
    return tuple(act.bid for act in t.legal(t.turn))


@pytest.mark.rule("B28")
class TestBids:
    """Bids are the numbers one to six, and above them rödskägg."""

    def test_the_ladder_is_open_to_the_first(self):
        assert offered(bidding()) == ("pass", *LADDER)

    @BOTH
    @pytest.mark.parametrize("bid", ["0", "7", "join"])
    def test_there_are_no_others(self, bid: Any, enforcement: str):
        bidding(enforcement=enforcement).refused(Bid(seat=P1, bid=bid), rule="B28", kind=AgainstTheRules)

    def test_rodskagg_is_higher_than_six(self):
        t = bidding().bid("6")
        assert offered(t) == ("pass", "rodskagg")
        t.bid("rodskagg")
        assert t.seen().contract == "rodskagg"

    def test_bids_have_no_place_before_the_deal_or_after_the_bidding(self):
        table().refused(Bid(seat=P1, bid="1"), rule="B28", kind=WrongPhase)
        bidding().bid("1 pass pass pass").refused(Bid(seat=P1, bid="2"), rule="B28", kind=WrongPhase)


@pytest.mark.rule("B29")
class TestOrder:
    """Forehand speaks first, then the others clockwise."""

    @pytest.mark.parametrize("dealer", [P1, P2, P3, P4])
    def test_the_player_on_the_dealers_left_begins(self, dealer: int):
        t = bidding(dealer=dealer)
        order = []
        while t.phase == "auction":
            order.append(t.turn)
            t.bid("pass")
        assert order == [(dealer + turn) % 4 for turn in (1, 2, 3, 4)]

    @BOTH
    def test_another_seat_must_wait(self, enforcement: str):
        t = bidding(enforcement=enforcement)
        assert t.legal(P2) == ()
        assert t.refused(Bid(seat=P2, bid="1"), rule="B29", kind=OutOfTurn).facts["turn"] == P1


@pytest.mark.rule("B30")
class TestMustSpeak:
    """The seat in turn bids or passes and does nothing else; to pass is to sneak (smyga)."""

    def test_a_player_in_turn_has_bids_and_the_pass(self):
        t = bidding().bid("2")
        assert t.seen().to_act == (P2,)
        assert t.legal(P2) == tuple(Bid(seat=P2, bid=bid) for bid in ("pass", "3", "4", "5", "6", "rodskagg"))

    def test_a_pass_is_a_call_and_leaves_the_bid_standing(self):
        t = bidding().bid("2")
        assert t.do(Bid(seat=P2, bid="pass")) == (BidMade(seat=P2, bid="pass"),)
        assert pairs(t.seen().bids) == ((P1, "2"), (P2, "pass"))

    @BOTH
    def test_nothing_else_can_be_done_meanwhile(self, enforcement: str):
        t = bidding(enforcement=enforcement)
        card = t.plan.hands[P1][0]
        t.refused(Play(seat=P1, card=card), rule="B41", kind=WrongPhase)
        t.refused(Ask(seat=P1), rule="B46", kind=WrongPhase)
        t.refused(Deal(seat=P4), rule="B13", kind=WrongPhase)


@pytest.mark.rule("B32", "B-O19", "B-O37")
class TestCap:
    """A player with bid_cap_by_score may not bid a number above their own points. Rödskägg is always allowed."""

    @BOTH
    @pytest.mark.rule("B-X17")
    def test_a_player_at_three_may_bid_one_two_three_or_rodskagg(self, enforcement: str):
        t = bidding(points=(3, 12, 12, 12), bid_cap_by_score=True, enforcement=enforcement)
        assert offered(t) == ("pass", "1", "2", "3", "rodskagg")
        t.refused(Bid(seat=P1, bid="4"), rule="B32", kind=AgainstTheRules)
        t.bid("3")

    def test_without_the_variant_a_player_at_three_may_bid_all(self):
        assert offered(bidding(points=(3, 12, 12, 12))) == ("pass", *LADDER)

    @pytest.mark.parametrize("points", [-1, -7])
    def test_below_zero_no_number_can_be_bid(self, points: int):
        t = bidding(points=(points, 12, 12, 12), bid_cap_by_score=True, overshoot="negative")
        assert offered(t) == ("pass", "rodskagg")
        t.refused(Bid(seat=P1, bid="1"), rule="B32", kind=AgainstTheRules)

    def test_at_zero_by_a_penalty_no_number_can_be_bid(self):
        t = table(points=(-5, 12, 12, 12), bid_cap_by_score=True, overshoot="negative", enforcement="penalise")
        t.do(Cut(seat=P1))
        t.knock(P2, P1)
        assert offered(t.dealt("1 2 3 4 | 1 2")) == ("pass", "rodskagg")

    def test_penalties_knocked_in_the_deal_raise_the_cap(self):
        t = table(points=(1, 12, 12, 12), bid_cap_by_score=True, enforcement="penalise")
        t.do(Cut(seat=P1))
        t.dealt("1 2 3 4 | 1 2")
        assert offered(t) == ("pass", "1", "rodskagg")
        t.knock(P2, P1)
        assert offered(t) == ("pass", *LADDER)

    def test_the_cap_is_each_players_own(self):
        t = bidding(points=(12, 2, 12, 12), bid_cap_by_score=True).bid("pass")
        assert offered(t) == ("pass", "1", "2", "rodskagg")


@pytest.mark.rule("B33", "B34")
class TestHigher:
    """The first bid is free; each one after must be higher than the one before."""

    @pytest.mark.parametrize("place", range(7))
    def test_only_what_is_higher_is_accepted(self, place: int):
        t = bidding().bid(LADDER[place])
        if t.phase == "playing":
            return
        for bid in LADDER[: place + 1]:
            refusal = t.refused(Bid(seat=P2, bid=bid), rule="B34", kind=AgainstTheRules)
            assert refusal.facts["allowed"] == ("pass", *LADDER[place + 1 :])
        assert offered(t) == ("pass", *LADDER[place + 1 :])

    def test_a_pass_in_between_changes_nothing(self):
        t = bidding().bid("pass 3 pass")
        t.refused(Bid(seat=P4, bid="3"), rule="B34", kind=AgainstTheRules)
        t.bid("4")
        assert t.seen().declarer == P4

    @pytest.mark.rule("B-O37")
    def test_a_bid_too_low_does_not_stand_if_errors_stand_either(self):
        bidding(enforcement="penalise").bid("3").refused(Bid(seat=P2, bid="3"), rule="B34", kind=AgainstTheRules)


@pytest.mark.rule("B35")
class TestOnce:
    """Each speaks once."""

    @BOTH
    @pytest.mark.parametrize("first", ["1", "pass"])
    def test_a_player_who_has_spoken_may_not_bid_again(self, first: str, enforcement: str):
        t = bidding(enforcement=enforcement).bid(f"{first} pass")
        t.refused(Bid(seat=P1, bid="6"), rule="B35", kind=OutOfTurn, code="already_spoken")

    def test_after_one_round_the_bidding_is_over(self):
        assert bidding().bid("1 2 3 4").phase == "playing"


@pytest.mark.rule("B36")
class TestRodskaggEndsIt:
    """Rödskägg ends the bidding at once."""

    @pytest.mark.parametrize("calls", ["rodskagg", "3 rodskagg", "1 2 3 rodskagg"])
    def test_no_one_speaks_after_it(self, calls: str):
        t = bidding().bid(calls)
        assert t.phase == "playing"
        assert t.seen().declarer == len(calls.split()) - 1


@pytest.mark.rule("B37")
class TestPassedOut:
    """The deal is over if all pass, and the next player deals."""

    def test_if_errors_are_refused_the_deal_moves_on_by_itself(self):
        t = bidding().bid("pass pass pass pass")
        assert (t.line.kind, t.line.points, t.line.declarer) == ("passed_out", (12, 12, 12, 12), None)
        assert (t.dealer, t.seen().deal) == (P1, 2)

    def test_if_they_stand_the_line_is_written_first(self):
        t = bidding(enforcement="penalise").bid("pass pass pass")
        events = t.do(Bid(seat=P4, bid="pass"))
        assert events[1:] == (PlayEnded(kind="passed_out"),)
        t.refused(Deal(seat=P1), rule="B-O28", kind=WrongPhase)
        t.score()
        assert (t.dealer, t.seen().deal) == (P1, 2)


@pytest.mark.rule("B38")
class TestDeclarer:
    """Otherwise the last bid is the contract, and its bidder the declarer."""

    @pytest.mark.parametrize(
        ("calls", "declarer", "contract"),
        [
            ("2 pass 3 pass", P3, "3"),
            ("1 2 3 4", P4, "4"),
            ("6 pass pass pass", P1, "6"),
            ("pass pass pass 1", P4, "1"),
            ("pass rodskagg", P2, "rodskagg"),
        ],
    )
    def test_it_is_the_last_bidder(self, calls: str, declarer: int, contract: Any):
        t = bidding().bid(calls)
        assert t.happened(AuctionWon) == [AuctionWon(seat=declarer, contract=contract)]
        assert (t.seen().declarer, t.seen().contract) == (declarer, contract)


@pytest.mark.rule("B-O37", "B23")
class TestOpening:
    """The bidding opens when all have picked up their cards, if the ritual applies."""

    @BOTH
    def test_no_one_bids_before(self, enforcement: str):
        t = table(enforcement=enforcement).dealt("1 2 3 4 | 1 2", ritual=False)
        t.do(KnockForCards(seat=P4))
        t.refused(Bid(seat=P1, bid="1"), rule="B23", kind=WrongPhase)
        assert t.all_pick_up().phase == "auction"

    def test_without_the_ritual_it_opens_with_the_deal(self):
        assert bidding(deal_ritual=False).phase == "auction"

    def test_a_voided_bidding_is_begun_afresh(self):
        t = bidding().bid("1 2")
        t.do(Void())
        assert offered(t.dealt("1 2 3 4 | 1 2")) == ("pass", *LADDER)
