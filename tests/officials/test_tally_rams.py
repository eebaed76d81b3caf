"""Tallies of English Rams: results, their points, and impossible results (D-O29)."""

from typing import Any

import msgspec
import pytest

from referee.acts import Act, Bid, BidEntered, Deal, Exchange, FaultEntered, Play, Report, Result, Score, Trick
from referee.events import Dealt, TrickTaken
from referee.games.rams_english.states import SecondEntered, TurnUpTaken
from referee.officials.events.tally import ResultEntered
from referee.refusals import WrongPhase
from tests.games import rams_table as with_cards
from tests.officials.tally_comparison import without_numbers
from tests.officials.tally_table import Tallied
from tests.support.match_driver import P1, P2, P3, P4, P6

JOIN, LIE, PAY, WIDOW, GENERAL = "join", "lie_down", "pay", "widow", "generalrams"


def table(players: int = 4, *, pot: int = 0, **match: Any) -> Tallied:
    """Return a tally. A pot was paid by the last seat."""
    points = (*(0 for _ in range(players - 1)), -pot) if pot else None
    return Tallied("rams-english", players, pot=pot, points=points, **match)


def words(*said: Any, first: int = P1, players: int = 4) -> tuple[BidEntered, ...]:
    """Return these words, each with its seat, clockwise."""
    return tuple(BidEntered(seat=(first + place) % players, bid=word) for place, word in enumerate(said))


ALL_JOIN = words(JOIN, JOIN, JOIN, JOIN)
TRICKS = (P1, P2, P1, P3, P3)


def fault(seat: int, fault: str = "exposed_card") -> FaultEntered:
    return FaultEntered(seat=seat, fault=fault)


class TestWorkedExamples:
    """The score sheets of the rulebook's examples give their numbers."""

    @pytest.mark.rule("D15", "D41", "D59", "D60")
    @pytest.mark.rule("D-X1")
    def test_a_single_pot(self) -> None:
        t = table()
        line = t.enter(bids=ALL_JOIN, tricks=(P1, P2, P1, P3, P3))
        assert (t.change(), line.pot, line.kind) == ((2, 1, 2, -10), 5, "played")

    @pytest.mark.rule("D23", "D40")
    @pytest.mark.rule("D-X3")
    def test_one_takes_all(self) -> None:
        t = table(pot=5, dealer=P2)
        t.enter(bids=words(JOIN, JOIN, JOIN, LIE, first=P3), tricks=(P3,) * 5)
        assert (t.change(), t.line.pot) == ((-5, -5, 10, -5), 10)

    @pytest.mark.rule("D33")
    @pytest.mark.rule("D-X5")
    @pytest.mark.parametrize(
        ("tricks", "change", "pot"),
        [((P1, P1, P4, P1, P1), (8, 0, 0, -3), 0), ((P1,) * 5, (10, 0, 0, -10), 5)],
    )
    def test_the_dealer_is_forced_in(self, tricks: tuple[int, ...], change: tuple[int, ...], pot: int) -> None:
        t = table(pot=5)
        t.enter(bids=words(JOIN, LIE, LIE, JOIN), tricks=tricks)
        assert (t.change(), t.line.pot) == (change, pot)

    @pytest.mark.rule("D37", "D58", "D64", "D65")
    @pytest.mark.rule("D-X7")
    def test_generalrams_lost(self) -> None:
        t = table(pot=5)
        t.enter(bids=words(JOIN, LIE, GENERAL, JOIN), tricks=(P3, P3, P1))
        assert (t.change(), t.line.pot, t.line.kind) == ((5, 5, -25, 0), 20, "generalrams_lost")

    @pytest.mark.rule("D60", "D70")
    @pytest.mark.rule("D-X9")
    @pytest.mark.parametrize(("cumulate", "paid"), [(True, 10), (False, 5)])
    def test_a_fault_and_no_trick(self, cumulate: bool, paid: int) -> None:
        t = table(pot=5, dealer=P3, fault_and_trickless_cumulate=cumulate)
        t.enter(bids=words(JOIN, JOIN, JOIN, JOIN, first=P4), tricks=(P1, P2, P3, P1, P3), faults=(fault(P4),))
        assert t.change()[P4] == -paid

    @pytest.mark.rule("D67", "D-O10")
    @pytest.mark.rule("D-X11")
    def test_a_misdeal(self) -> None:
        t = table(dealer=P2)
        t.enter(misdeal=True)
        assert (t.change(), t.line.pot, t.line.kind, t.dealer) == ((0, -5, 0, 0), 5, "misdeal", P3)
        line = t.enter(bids=words(LIE, JOIN, JOIN, JOIN, first=P4), tricks=(P1, P2, P3, P1, P2))
        assert (line.detail["single"], line.pot_before) == (False, 5)

    @pytest.mark.rule("D38", "D46", "D47", "D49")
    @pytest.mark.rule("D-X13")
    @pytest.mark.parametrize("third", [WIDOW, JOIN])
    def test_generalrams_with_an_untouched_widow(self, third: str) -> None:
        t = table(pot=5)
        said = words(LIE, GENERAL, third) if third == WIDOW else words(LIE, GENERAL, JOIN, JOIN)
        line = t.enter(bids=said, tricks=(P4,), exchanged=True)
        assert (line.kind, line.detail["widow"], line.detail["exchanged"]) == (
            "generalrams_lost",
            P3 if third == WIDOW else None,
            True,
        )
        assert t.change() == (5, -25, 5, 0)

    @pytest.mark.rule("D2", "D-O9")
    @pytest.mark.rule("D-X15")
    def test_six_players(self) -> None:
        t = table(6)
        t.enter(bids=words(JOIN, JOIN, JOIN, JOIN, JOIN, players=6), tricks=(P1, P2, P1, P3, P3))
        assert (t.change(), t.line.pot) == ((2, 1, 2, -5, -5, -5), 10)

    @pytest.mark.rule("D31", "D32")
    def test_the_deal_is_bought_off(self) -> None:
        t = table(pot=5)
        line = t.enter(bids=words(LIE, LIE, PAY))
        assert (t.change(), line.pot, line.kind, line.tricks) == ((0, 0, -5, 0), 10, "paid", (0,) * 4)


class TestSecondBest:
    """D71, D-O11: the receiver of a forfeited trick has to be entered."""

    @pytest.mark.rule("D69", "D71")
    def test_it_gets_the_share(self) -> None:
        t = table()
        t.enter(bids=ALL_JOIN, tricks=TRICKS, second=(None, None, None, P4, P2), faults=(fault(P3, "revoke"),))
        assert t.change() == (2, 2, -5, -9)
        assert [(one.seat, one.rule) for one in t.line.entries if one.rule == "D71"] == [(P4, "D71"), (P2, "D71")]

    @pytest.mark.rule("D71", "D-O11")
    def test_it_must_be_entered(self) -> None:
        t = table()
        sheet = {"bids": ALL_JOIN, "tricks": TRICKS, "faults": (fault(P3),)}
        refusal = t.wrong(Result(**sheet), rule="D71", code="second_needed", at="/second/3")
        assert refusal.facts["trick"] == 4
        assert refusal.facts["allowed"] == (P1, P2, P4)
        t.wrong(Result(**sheet, second=(None, None, None, P4)), rule="D71", code="second_needed", at="/second/4")

    @pytest.mark.rule("D71", "D-O11")
    def test_not_by_a_player_at_fault(self) -> None:
        """The next best card gets the share if that player is at fault, too; if all are, the share stays in the
        pot."""
        t = table()
        sheet = {"bids": ALL_JOIN, "tricks": TRICKS, "second": (None, None, None, P4, P4)}
        two = Result(**sheet, faults=(fault(P3), fault(P4)))
        t.wrong(two, rule="D71", code="second_needed", at="/second/3")
        for second in ((), (P2, P1, P2, P4, P2)):
            t = table()
            t.enter(
                bids=ALL_JOIN, tricks=TRICKS, second=second, faults=tuple(fault(seat) for seat in (P1, P2, P3, P4))
            )
            assert (t.change(), t.line.pot) == ((-5, -5, -5, -15), 30)

    @pytest.mark.rule("D71")
    @pytest.mark.parametrize("share", ["next_pot", "split_equally"])
    def test_it_need_not_be_entered_if_it_does_not_matter(self, share: str) -> None:
        t = table(forfeited_share=share)
        t.enter(bids=ALL_JOIN, tricks=TRICKS, faults=(fault(P3),))
        assert t.change()[P3] == -5

    @pytest.mark.rule("D71", "D40")
    def test_an_impossible_second_is_refused(self) -> None:
        t = table(pot=5)
        said = words(JOIN, LIE, JOIN, JOIN)
        tricks = (P1, P1, P1, P3, P3)
        cannot = (P2, "not_in_play", "D40"), (P1, "second_is_first", "D71"), (7, "no_such_seat", None)
        for second, code, rule in cannot:
            wrong = Result(bids=said, tricks=tricks, second=(None, second))
            t.wrong(wrong, rule=rule, code=code, at="/second/1")
        many = Result(bids=said, tricks=tricks, second=(None,) * 6)
        t.wrong(many, rule="D71", code="one_second_a_trick", at="/second/5")

    @pytest.mark.rule("D71", "D40")
    def test_impossible_second_seats_are_refused_act_by_act(self) -> None:
        t = table(pot=5)
        t.do(Deal(seat=P4), *(Bid(seat=one.seat, bid=one.bid) for one in words(JOIN, LIE, JOIN, JOIN)))
        t.wrong(Trick(seat=P1, second=P2), rule="D40", code="not_in_play")
        t.wrong(Trick(seat=P1, second=P1), rule="D71", code="second_is_first")
        t.wrong(Trick(seat=P2), rule="D40", code="not_in_play")

    @pytest.mark.rule("D71", "D-O29")
    def test_entered_after_the_play(self) -> None:
        """A fault may be discovered after its trick was entered."""
        t = table()
        t.do(Deal(seat=P4), *(Bid(seat=seat, bid=JOIN) for seat in range(4)))
        t.do(*(Trick(seat=seat) for seat in TRICKS), Report(seat=P1, accused=P3, fault="led_out_of_turn"))
        t.wrong(Score(seat=P1), rule="D71", code="second_needed")
        assert t.legal(P1) == ()
        assert t.legal(P3) == tuple(Trick(seat=P3, second=second) for second in (P1, P2, P4))
        t.wrong(Trick(seat=P3), rule="D71", code="second_needed")
        t.wrong(Trick(seat=P3, second=P3), rule="D71", code="second_needed")
        t.wrong(Trick(seat=P1, second=P2), rule="D71", code="second_needed")
        assert t.do(Trick(seat=P3, second=P4)) == (SecondEntered(seat=P4, trick=4),)
        t.do(Trick(seat=P3, second=P2))
        t.wrong(Trick(seat=P3, second=P2), rule="D3", code="all_tricks_entered")
        t.do(Score(seat=P1))
        assert t.change() == (2, 2, -5, -9)


class TestDeclarations:
    """D22-D45 hold as with cards, and the refusal names the place."""

    @pytest.mark.parametrize(
        ("said", "pot", "at", "rule", "code"),
        [
            (words(LIE), 0, "/bids/0", "D43", "single_pot"),
            (words(JOIN, "pass"), 0, "/bids/1", "D24", "no_such_declaration"),
            (words("3"), 0, "/bids/0", "D24", "no_such_declaration"),
            (words(JOIN, WIDOW, WIDOW), 0, "/bids/2", "D30", "widow_taken"),
            (words(JOIN, first=P2), 0, "/bids/0", "D28", "out_of_turn"),
            (words(JOIN, GENERAL, LIE), 5, "/bids/2", "D37", "all_must_join"),
            (words(LIE, LIE, LIE), 5, "/bids/2", "D31", "must_join_or_pay"),
            (words(JOIN, LIE, LIE, LIE), 5, "/bids/3", "D33", "last_must_join"),
            (words(PAY), 5, "/bids/0", "D31", "nothing_to_buy_off"),
            (words(GENERAL, GENERAL), 5, "/bids/1", "D38", "already_announced"),
            (words(JOIN, JOIN, JOIN, JOIN, JOIN), 5, "/bids/4", "D28", "declarations_over"),
            (words(LIE, LIE, PAY, JOIN), 5, "/bids/3", "D32", "declarations_over"),
            (words(JOIN, JOIN, JOIN), 5, "/bids", "D28", "bids_missing"),
            ((), 5, "/bids", "D28", "bids_missing"),
            (words(JOIN, first=6, players=8), 5, "/bids/0", None, "no_such_seat"),
        ],
    )
    def test_impossible_declarations_are_refused(
        self, said: Any, pot: int, at: str, rule: str | None, code: str
    ) -> None:
        t = table(pot=pot)
        t.wrong(Result(bids=said, tricks=TRICKS), rule=rule, code=code, at=at)
        t.enter(bids=ALL_JOIN, tricks=TRICKS)

    @pytest.mark.rule("D24")
    def test_they_must_be_entered(self) -> None:
        table().wrong(Result(tricks=TRICKS), rule="D24", code="missing_in_the_result", at="/bids")

    @pytest.mark.rule("D46")
    def test_the_exchange(self) -> None:
        t = table(pot=5)
        lain = Result(bids=words(JOIN, JOIN, JOIN, LIE), tricks=TRICKS, exchanged=True)
        t.wrong(lain, rule="D46", code="dealer_not_in_play", at="/exchanged")
        line = t.enter(bids=ALL_JOIN, tricks=TRICKS, exchanged=True)
        assert line.detail["exchanged"]
        assert TurnUpTaken(seat=P4) in t.events


class TestTricks:
    """D3, D40, D58."""

    @pytest.mark.rule("D40")
    def test_a_seat_that_lay_down_takes_no_trick(self) -> None:
        t = table(pot=5)
        sheet = Result(bids=words(JOIN, JOIN, LIE, JOIN), tricks=(P1, P3, P1, P1, P1))
        t.wrong(sheet, rule="D40", code="not_in_play", at="/tricks/1")

    @pytest.mark.rule("D2", "D-O9")
    def test_none_to_a_dealer_who_sits_out(self) -> None:
        t = table(6)
        sheet = Result(bids=words(JOIN, JOIN, JOIN, JOIN, JOIN, players=6), tricks=(P1, P6, P1, P1, P1))
        t.wrong(sheet, rule="D-O9", code="not_in_play", at="/tricks/1")

    @pytest.mark.rule("D3")
    def test_five(self) -> None:
        t = table()
        t.wrong(Result(bids=ALL_JOIN), rule="D3", code="missing_in_the_result", at="/tricks")
        for tricks in ((), TRICKS[:4]):
            refusal = t.wrong(Result(bids=ALL_JOIN, tricks=tricks), rule="D3", code="tricks_missing", at="/tricks")
            assert refusal.facts["done"] == len(tricks)
        six = Result(bids=ALL_JOIN, tricks=(*TRICKS, P1))
        t.wrong(six, rule="D3", code="too_many_tricks", at="/tricks/5")

    @pytest.mark.rule("D58")
    def test_fewer_when_generalrams_is_lost(self) -> None:
        t = table()
        said = words(JOIN, GENERAL, JOIN, JOIN)
        more = Result(bids=said, tricks=(P2, P1, P2))
        t.wrong(more, rule="D58", code="too_many_tricks", at="/tricks/2")
        fewer = Result(bids=said, tricks=(P2, P2))
        t.wrong(fewer, rule="D3", code="tricks_missing", at="/tricks")
        t.enter(bids=said, tricks=(P2, P1))
        assert t.line.kind == "generalrams_lost"

    @pytest.mark.rule("D58", "D-O15")
    def test_fewer_when_a_fault_of_the_announcer_ends_the_play(self) -> None:
        t = table()
        said = words(JOIN, GENERAL, JOIN, JOIN)
        t.enter(bids=said, tricks=(P2, P2), faults=(fault(P3), fault(P2, "revoke")))
        assert (t.line.kind, t.line.detail["faults"]) == ("generalrams_lost", {"1": 1, "2": 1})
        other = Result(bids=words(JOIN, GENERAL, JOIN, JOIN, first=P2), tricks=(P3, P3), faults=(fault(P2),))
        t.wrong(other, rule="D3", code="tricks_missing", at="/tricks")

    @pytest.mark.rule("D62", "D63")
    def test_generalrams_won(self) -> None:
        t = table(pot=5)
        t.enter(bids=words(JOIN, GENERAL, JOIN, JOIN), tricks=(P2,) * 5)
        assert (t.change(), t.line.pot) == ((-5, 25, -5, -10), 0)


class TestFaults:
    """D68-D70."""

    @pytest.mark.rule("D68")
    def test_a_fault_of_a_seat_out_of_play_is_refused(self) -> None:
        t = table(pot=5)
        sheet = Result(bids=words(JOIN, LIE, JOIN, JOIN), tricks=(P1,) * 5, faults=(fault(P3), fault(P2)))
        t.wrong(sheet, rule="D68", code="accused_not_in_play", at="/faults/1")

    @pytest.mark.rule("D68", "D-O26")
    @pytest.mark.parametrize(
        ("kind", "rule", "code"),
        [
            ("misdeal", "D-O26", "misdeal_too_late"),
            ("early_pick_up", "D68", "no_such_fault"),
            ("wrong_cut", "D68", "no_such_fault"),
            ("near_zero", "D68", "no_such_fault"),
        ],
    )
    def test_a_fault_outside_the_play_or_of_another_game_is_refused(self, kind: str, rule: str, code: str) -> None:
        sheet = Result(bids=ALL_JOIN, tricks=TRICKS, faults=(fault(P4), fault(P4, kind)))
        table().wrong(sheet, rule=rule, code=code, at="/faults/1")

    @pytest.mark.rule("D68", "D-O29")
    @pytest.mark.parametrize("kind", ["revoke", "not_heading", "exposed_card", "wrong_count", "led_out_of_turn"])
    def test_each_costs_the_same(self, kind: str) -> None:
        t = table()
        t.enter(bids=ALL_JOIN, tricks=TRICKS, faults=(fault(P4, kind),))
        assert t.change() == (2, 1, 2, -15)

    @pytest.mark.rule("D68", "D-O26")
    @pytest.mark.parametrize("kind", ["revoke", "not_heading"])
    def test_with_known_cards_they_are_not_reported(self, kind: Any) -> None:
        t = with_cards.Table(enforcement="penalise")
        t.deal()
        t.say("join join join join")
        t.refused(Report(seat=P1, accused=P2, fault=kind), rule="D-O26", code="shown_by_cards")


class TestNothingPlayed:
    """D32, D67."""

    @pytest.mark.rule("D67")
    @pytest.mark.parametrize(
        "more",
        [
            {"bids": ALL_JOIN},
            {"tricks": TRICKS},
            {"second": (P1,)},
            {"exchanged": True},
            {"faults": (FaultEntered(seat=P1, fault="revoke"),)},
        ],
    )
    def test_nothing_else_of_a_misdeal(self, more: dict[str, Any]) -> None:
        at = f"/{next(iter(more))}"
        table().wrong(Result(misdeal=True, **more), rule="D67", code="nothing_was_played", at=at)

    @pytest.mark.rule("D32")
    def test_nothing_else_of_a_deal_bought_off(self) -> None:
        sheet = Result(bids=words(LIE, LIE, PAY), tricks=TRICKS)
        table(pot=5).wrong(sheet, rule="D32", code="nothing_was_played", at="/tricks")


class TestActByAct:
    """D-O29: deals act by act have the acts of a deal with cards, and the winner of each trick instead of the
    cards."""

    ACTS: tuple[Act, ...] = (
        Deal(seat=P4),
        Bid(seat=P1, bid="join"),
        Bid(seat=P2, bid="widow"),
        Bid(seat=P3, bid="join"),
        Bid(seat=P4, bid="join"),
        Exchange(seat=P4),
        *(Trick(seat=seat, second=P2 if seat == P3 else None) for seat in TRICKS),
        Report(seat=P3, accused=P3, fault="revoke"),
        Score(seat=P4),
    )

    @pytest.mark.rule("D-O29")
    def test_the_same_events_as_entered_whole(self) -> None:
        whole, by_act = table(), table()
        faults, second = (fault(P3, "revoke"),), (None, None, None, P2, P2)
        said = words(JOIN, WIDOW, JOIN, JOIN)
        events = whole.do(Result(bids=said, tricks=TRICKS, second=second, exchanged=True, faults=faults))
        assert isinstance(events[0], ResultEntered)
        assert [type(one) for one in events[1:]] == [type(one) for one in by_act.do(*self.ACTS)]
        assert whole.events[3:-1] == by_act.events[2:-1]
        assert without_numbers(whole.line) == without_numbers(by_act.line)

    @pytest.mark.rule("D-O29")
    def test_no_card_is_ever_entered(self) -> None:
        t = table()
        counts = (5, 5, 5, 5)
        assert t.do(Deal(seat=P4, counts=counts))[-1] == Dealt(deal=1, dealer=P4, counts=counts, face_up=True)
        t.do(*self.ACTS[1:5])
        for viewer in (P1, "official"):
            seen = t.seen(viewer)
            assert (seen.hand, seen.hands, seen.cards_left) == (None, None, counts)
            assert "turn_up" not in (seen.more or {})
            assert "widow_cards" not in (seen.more or {})
        refusal = t.wrong(Play(seat=P1, card="SA"), rule="D-O29", code="tallied")
        assert isinstance(refusal, WrongPhase)
        t.wrong(Exchange(seat=P4, card="SA"), rule="D-O29", code="cards_not_entered")

    @pytest.mark.rule("D17", "D-O29")
    @pytest.mark.parametrize(
        "deal",
        [
            Deal(seat=P4, turn_up="SA"),
            Deal(seat=P4, widow=("SA",)),
            Deal(seat=P4, stock=("SA",)),
            Deal(seat=P4, hands=(("SA",), (), (), ())),
        ],
    )
    def test_no_hands_are_entered(self, deal: Deal) -> None:
        table().wrong(deal, rule="D-O29", code="cards_not_entered")
        table().wrong(Deal(seat=P4, counts=(5, 5, 5, 6)), rule="D17", code="five_cards_each")

    @pytest.mark.rule("D-O29")
    def test_only_seats_in_play_are_awaited(self) -> None:
        t = table(pot=5)
        t.do(Deal(seat=P4), *(Bid(seat=one.seat, bid=one.bid) for one in words(JOIN, LIE, JOIN, JOIN)))
        assert t.to_act == (P1, P3, P4)
        assert t.legal(P1) == (Trick(seat=P1),)
        assert t.legal(P2) == ()
        assert t.legal(P4) == (Trick(seat=P4), Exchange(seat=P4), Bid(seat=P4, bid="generalrams"))
        assert t.do(Trick(seat=P3, second=P1)) == (TrickTaken(seat=P3, trick=1, second=P1),)
        assert t.seen(P1).tricks == (0, 0, 1, 0)
        assert t.legal(P4) == (Trick(seat=P4),)

    @pytest.mark.rule("D48")
    def test_a_trick_only_if_the_tally_is_kept(self) -> None:
        t = with_cards.Table()
        t.refused(Result(misdeal=True), rule=None, code="not_tallied")
        t.deal()
        t.say("join join join join")
        t.refused(Trick(seat=P1), rule=None, code="not_tallied")
        t.refused(Exchange(seat=P4), rule="D46", code="card_to_lay_away")


class TestWhenAndWhat:
    """A refusal refuses the whole sheet."""

    @pytest.mark.rule("D-O29")
    def test_not_while_a_deal_is_under_way(self) -> None:
        t = table()
        t.do(Deal(seat=P4))
        t.wrong(Result(misdeal=True), rule=None, code="deal_under_way")

    @pytest.mark.rule("D-O29")
    @pytest.mark.parametrize("name", ["taken", "answers", "exits", "knocks", "card_points", "bella"])
    def test_fields_of_other_games_are_refused(self, name: str) -> None:
        sheet: Any = {"bella": 0, "taken": (1,), "card_points": (1,), "knocks": ()}.get(name, ())
        wrong = Result(bids=ALL_JOIN, tricks=TRICKS, **{name: sheet})
        table().wrong(wrong, rule=None, code="not_in_the_result", at=f"/{name}")

    def test_the_state_goes_through_json(self) -> None:
        t = table()
        for act in TestActByAct.ACTS:
            t.do(act)
            assert msgspec.json.decode(msgspec.json.encode(t.state), type=t.rules.state) == t.state
        assert t.match.play == t.state
