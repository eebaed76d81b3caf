"""Kalabrias: the choice of trumps, and new deals (E5-E13)."""

from typing import Any

import pytest

from referee.acts import Bid, Deal, Play, Reply
from referee.events import DealScored, PlayEnded
from referee.games.kalabrias.facts import DeclarerBound, RedealAnswered, TrumpsCalled, TrumpsMade
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from tests.games.kalabrias_table import Table, hands, table
from tests.given import P1, P2, P3, P4, pairs

TURN_UP = "H9"
DEALT = {players: hands("|" * (players - 1), TURN_UP) for players in (2, 3, 4)}


def dealt(players: int = 2, **match: Any) -> Table:
    """Return a table in which hearts are turned up; the last seat dealt, and P1 speaks first."""
    return table(players=players, **match).dealt(DEALT[players], TURN_UP)


def made(t: Table) -> tuple[int, str, str]:
    """Return declarer, trumps and rule."""
    (event,) = t.happened(TrumpsMade)
    return event.seat, event.trumps, event.rule


def calls(t: Table, seat: int) -> list[Any]:
    """Return the calls that a seat may make."""
    return [act.bid for act in t.legal(seat) if isinstance(act, Bid)]


class TestFirstRound:
    """The turned-up suit is taken, or not."""

    @pytest.mark.rule("E5")
    @pytest.mark.parametrize("call", ["take", "H"])
    def test_forehand_takes_it_by_saying_so_or_by_its_name(self, call: str):
        t = dealt()
        t.do(Bid(seat=P1, bid=call))
        assert made(t) == (P1, "H", "E5")
        assert (t.seen().contract, t.seen().declarer, t.seen().bids) == ("H", P1, [{"seat": P1, "bid": call}])

    @pytest.mark.rule("E6", "E7")
    def test_after_a_pass_the_dealer_has_the_same_choice(self):
        t = dealt()
        t.do(Bid(seat=P1, bid="pass"))
        assert t.turn == P2
        assert calls(t, P2) == ["take", "H", "pass", "redeal"]
        t.do(Bid(seat=P2, bid="take"))
        assert made(t) == (P2, "H", "E5")

    @pytest.mark.rule("E5")
    @pytest.mark.parametrize("suit", ["S", "D", "C"])
    def test_no_other_suit_yet(self, suit: str):
        t = dealt()
        refusal = t.refused(
            Bid(seat=P1, bid=suit),
            rule="E5",
            kind=AgainstTheRules,
            code="only_turned_up_suit",
        )
        assert refusal.facts == {"allowed": ("take", "H", "pass", "redeal")}

    @pytest.mark.rule("E5", "E7", "E8", "E10")
    def test_in_turn(self):
        t = dealt(3)
        for rule in ("E5", "E7", "E7", "E8", "E10", "E10"):
            turn = t.turn
            for seat in {P1, P2, P3} - {turn}:
                refusal = t.refused(Bid(seat=seat, bid="pass"), rule=rule, kind=OutOfTurn, code="out_of_turn")
                assert refusal.facts == {"turn": turn}
                assert t.legal(seat) == ()
            t.do(Bid(seat=turn, bid="pass"))

    @pytest.mark.rule("E5", "E9")
    @pytest.mark.parametrize("bid", [1, "rodskagg", "join", "pay"])
    def test_words_of_other_games(self, bid: Any):
        t = dealt()
        t.refused(Bid(seat=P1, bid=bid), rule="E5", kind=AgainstTheRules, code="no_such_bid")
        t.calls("pass pass")
        t.refused(Bid(seat=P1, bid=bid), rule="E9", kind=AgainstTheRules, code="no_such_bid")


class TestSecondRound:
    """A different suit is named, or not."""

    @pytest.mark.rule("E8", "E9")
    @pytest.mark.parametrize("suit", ["S", "D", "C"])
    def test_forehand_names_another_suit(self, suit: str):
        t = dealt().calls("pass pass")
        assert (t.turn, t.seen().more and t.seen().more["round"]) == (P1, 2)
        assert calls(t, P1) == ["S", "D", "C", "pass", "redeal"]
        t.do(Bid(seat=P1, bid=suit))
        assert made(t) == (P1, suit, "E9")

    @pytest.mark.rule("E9", "E-O9")
    @pytest.mark.parametrize("call", ["take", "H"])
    def test_not_the_suit_turned_up(self, call: str):
        t = dealt().calls("pass pass")
        t.refused(
            Bid(seat=P1, bid=call),
            rule="E9",
            kind=AgainstTheRules,
            code="not_turned_up_suit",
        )

    @pytest.mark.rule("E10")
    def test_forehand_passes_and_the_dealer_chooses(self):
        t = dealt().calls("pass pass pass")
        assert calls(t, P2) == ["S", "D", "C", "pass", "redeal"]
        t.do(Bid(seat=P2, bid="C"))
        assert made(t) == (P2, "C", "E9")

    @pytest.mark.rule("E10", "E-O5")
    @pytest.mark.parametrize("players", [2, 3, 4])
    def test_all_pass_twice(self, players: int):
        t = dealt(players, enforcement="penalise").calls("pass " * (2 * players))
        line = t.line
        assert (line.kind, line.declarer, line.contract, line.entries) == ("passed_out", None, None, ())
        assert line.points == line.before == (0,) * players
        assert line.detail == {"carry": 0}
        assert (t.phase, t.dealer, t.seen().deal) == ("undealt", P1, 2)

    @pytest.mark.rule("E-O5", "E-O40")
    def test_or_the_dealer_must_choose(self):
        t = dealt(3, all_pass="dealer_must_choose").calls("pass pass pass pass pass")
        assert calls(t, P3) == ["S", "D", "C", "redeal"]
        refusal = t.refused(Bid(seat=P3, bid="pass"), rule="E-O40", kind=AgainstTheRules, code="dealer_must_choose")
        assert refusal.facts == {"allowed": ("S", "D", "C", "redeal")}
        t.do(Bid(seat=P3, bid="D"))
        assert made(t) == (P3, "D", "E9")

    @pytest.mark.rule("E-O40")
    def test_the_dealer_may_propose_a_new_deal_instead(self):
        t = dealt(all_pass="dealer_must_choose").calls("pass pass pass redeal yes")
        assert t.line.kind == "redeal"


class TestNewDeal:
    """A seat proposes a new deal."""

    @pytest.mark.rule("E11", "E-O6", "E-O8")
    @pytest.mark.parametrize("before", ["", "pass", "pass pass", "pass pass pass"])
    @pytest.mark.rule("E-X11")
    def test_agreed(self, before: str):
        t = dealt().calls(before)
        proposer = t.turn
        t.calls("redeal")
        assert (t.phase, t.turn, t.seen().due) == ("redeal_proposed", 1 - proposer, ("reply",))
        assert t.seen().more["proposer"] == proposer
        events = t.do(Reply(seat=1 - proposer, agree=True))
        assert [type(event) for event in events] == [RedealAnswered, PlayEnded, DealScored]
        line = t.line
        assert (line.kind, line.points, line.detail) == ("redeal", (0, 0), {"carry": 0})
        assert (t.phase, t.dealer, t.seen().deal) == ("undealt", P2, 2)

    @pytest.mark.rule("E-O6")
    def test_the_next_dealer_deals_it(self):
        assert dealt(3, redeal_dealer="next").calls("redeal yes yes").dealer == P1

    @pytest.mark.rule("E12", "E13")
    @pytest.mark.parametrize(("before", "proposer"), [("", P1), ("pass", P2)])
    @pytest.mark.rule("E-X11")
    def test_refused_in_the_first_round(self, before: str, proposer: int):
        t = dealt().calls(before).calls("redeal no")
        assert made(t) == (proposer, "H", "E13")
        assert t.happened(DeclarerBound) == []

    @pytest.mark.rule("E12", "E13")
    @pytest.mark.rule("E-X11")
    def test_refused_in_the_second_round(self):
        t = dealt().calls("pass pass pass redeal no")
        (bound,) = t.happened(DeclarerBound)
        assert (bound.seat, bound.rule) == (P2, "E12")
        assert (t.phase, t.turn, t.seen().due, t.seen().declarer) == ("naming", P2, ("bid",), P2)
        assert (calls(t, P2), calls(t, P1)) == (["S", "D", "C"], [])
        for call in ("take", "H", "pass", "redeal", 3):
            refusal = t.refused(
                Bid(seat=P2, bid=call),
                rule="E13",
                kind=AgainstTheRules,
                code="name_another_suit",
            )
            assert refusal.facts == {"allowed": ("S", "D", "C")}
        t.refused(Bid(seat=P1, bid="S"), rule="E10", kind=WrongPhase, code="trumps_to_be_named")
        t.do(Bid(seat=P2, bid="S"))
        assert made(t) == (P2, "S", "E13")
        assert t.happened(TrumpsCalled)[-1] == TrumpsCalled(seat=P2, call="S")
        assert pairs(t.seen().bids) == ((P1, "pass"), (P2, "pass"), (P1, "pass"), (P2, "redeal"), (P2, "S"))

    @pytest.mark.rule("E-O7")
    def test_or_the_refuser_is_declarer(self):
        t = dealt(refused_redeal_declarer="refuser").calls("redeal no")
        assert made(t) == (P2, "H", "E13")
        t = dealt(refused_redeal_declarer="refuser").calls("pass pass redeal no")
        (bound,) = t.happened(DeclarerBound)
        assert (bound.seat, bound.rule, t.turn) == (P2, "E-O7", P2)

    @pytest.mark.rule("E-O8", "E-O37")
    @pytest.mark.parametrize(("option", "declarer"), [("proposer", P2), ("refuser", P4)])
    def test_among_four_all_must_agree(self, option: str, declarer: int):
        t = dealt(4, refused_redeal_declarer=option).calls("pass redeal")
        assert t.turn == P3
        for seat in (P1, P2, P4):
            t.refused(Reply(seat=seat, agree=True), rule="E12", kind=OutOfTurn, code="out_of_turn")
            assert t.legal(seat) == ()
        t.do(Reply(seat=P3, agree=True))
        assert t.legal(P4) == (Reply(seat=P4, agree=True), Reply(seat=P4, agree=False))
        t.do(Reply(seat=P4, agree=False))
        assert made(t) == (declarer, "H", "E13")

    @pytest.mark.rule("E11", "E12")
    def test_only_what_was_proposed_is_answered(self):
        t = dealt()
        t.refused(Reply(seat=P2, agree=True), rule="E11", kind=WrongPhase)
        t.calls("redeal")
        t.refused(Bid(seat=P2, bid="pass"), rule="E5", kind=WrongPhase)
        t.refused(Play(seat=P2, card="H7"), rule="E28", kind=WrongPhase)
        t.refused(Deal(seat=P2), rule="E3", kind=WrongPhase)
