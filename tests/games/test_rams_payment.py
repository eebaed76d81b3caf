"""Payment, faults, the end of the session, and the worked examples (D4, D15-D16, D59-D71)."""

import pytest

from referee.acts import Abandon, Close, Deal, Void
from referee.cards import SUIT
from referee.events import DealScored, MatchClosed
from referee.games.rams_english.payment import second_best, share_of
from referee.games.rams_english.states import Taken
from referee.refusals import MatchOver, WrongPhase
from tests.games.rams_table import Table
from tests.support.match_driver import P1, P2, P3, P4

ALL_IN = "join join join join"


def counts(*tricks: int):
    """Return a function that reports whether the seats took these numbers of tricks."""
    return lambda winners: [winners.count(seat) for seat in range(len(tricks))] == list(tricks)


# The worked examples


@pytest.mark.rule("D4", "D15", "D59", "D60", "D61")
@pytest.mark.rule("D-X1")
def test_x1_single_pot():
    t = Table()
    line = t.play_out(counts(2, 1, 2, 0), ALL_IN)
    assert t.change() == (2, 1, 2, -10)
    assert t.why(P4) == [(-5, "D15"), (-5, "D60")]
    assert t.why(P1) == [(2, "D59")]
    assert (line.pot_before, line.pot) == (0, 5)
    assert line.detail["single"] is True


@pytest.mark.rule("D59", "D60", "D16")
@pytest.mark.rule("D-X3")
def test_x3_one_takes_all():
    t = Table(dealer=P2, points=(-5, 0, 0, 0), pot=5)
    line = t.play_out(counts(0, 0, 5, 0), "join join join lie_down")
    assert t.change() == (-5, -5, 10, -5)
    assert line.pot == 10
    assert line.detail["active"] == [P1, P3, P4]
    assert line.detail["single"] is False


@pytest.mark.rule("D33", "D59")
@pytest.mark.rule("D-X5")
def test_x5_the_dealer_forced_in():
    t = Table(points=(-5, 0, 0, 0), pot=5)
    line = t.play_out(counts(4, 0, 0, 1), "join lie_down lie_down join")
    assert (t.change(), line.pot) == ((8, 0, 0, -3), 0)
    t = Table(points=(-5, 0, 0, 0), pot=5)
    line = t.play_out(counts(5, 0, 0, 0), "join lie_down lie_down join")
    assert (t.change(), line.pot) == ((10, 0, 0, -10), 5)


@pytest.mark.rule("D58", "D64", "D65", "D66", "D-O1", "D-O2")
@pytest.mark.rule("D-X7")
def test_x7_generalrams_lost():
    t = Table(points=(-5, 0, 0, 0), pot=5)

    def lost_the_third(winners: tuple[int, ...]) -> bool:
        return len(winners) == 3 and winners[:2] == (P3, P3) and winners[2] != P3

    line = t.play_out(lost_the_third, "join lie_down generalrams join")
    assert t.change() == (5, 5, -25, 0)
    assert t.why(P3) == [(-10, "D64"), (-5, "D65"), (-5, "D65"), (-5, "D65")]
    assert (line.kind, line.pot, line.declarer, line.contract) == ("generalrams_lost", 20, P3, "generalrams")
    assert t.dealer == P1
    staked = t.deal()[0]
    assert staked.pot == 25
    assert share_of(25) == 5


@pytest.mark.rule("D62", "D63", "D-O2", "D-O3")
def test_generalrams_won():
    t = Table(points=(-5, 0, 0, 0), pot=5)
    line = t.play_out(counts(0, 0, 5, 0), "join lie_down generalrams join")
    assert t.change() == (-5, -5, 25, -10)
    assert t.why(P3) == [(10, "D62"), (5, "D63"), (5, "D63"), (5, "D63")]
    assert (line.kind, line.pot) == ("generalrams_won", 0)


@pytest.mark.rule("D60", "D70", "D-O13")
@pytest.mark.parametrize(("cumulate", "change"), [(True, -10), (False, -5)])
@pytest.mark.rule("D-X9")
def test_x9_fault_and_no_trick(cumulate: bool, change: int):
    t = three_at_a_loss(fault_and_trickless_cumulate=cumulate)
    t.report(P2, "exposed_card")
    t.plays(REST)
    t.score()
    assert t.change()[P2] == change


@pytest.mark.rule("D2", "D-O9", "D15")
@pytest.mark.rule("D-X15")
def test_x15_six_players():
    t = Table(6)
    line = t.play_out(counts(2, 1, 2, 0, 0, 0), "join join join join join")
    assert t.change() == (2, 1, 2, -5, -5, -5)
    assert line.pot == 10
    assert t.dealer == P1


@pytest.mark.rule("D-O9", "D-O3")
def test_the_dealer_of_six_gets_nothing_from_a_lost_generalrams():
    t = Table(6)
    t.play_out(lambda winners: winners == (P2,), "generalrams join join join join")
    assert t.change() == (-25, 5, 5, 5, 5, -5)


# Faults. P1 takes all five tricks from P2 and P3 with spades.

REST = "SK H7 D8 SQ H8 D7 SJ H9 D9 ST HT DT"


def three_at_a_loss(words: str = "join join join", first: str = "SA S7 S8", **options: object) -> Table:
    """Return a table of three after one trick: P3 dealt, P1 will take all tricks, faults are not refused."""
    t = Table(3, enforcement="penalise", **options)
    t.deal("SA SK SQ SJ ST", "S7 H7 H8 H9 HT", "S8 D7 D8 D9 DT", turn_up="CA")
    t.say(words)
    t.plays(first)
    return t


def finished(t: Table, rest: str = REST) -> DealScored:
    t.plays(rest)
    return t.score()


@pytest.mark.rule("D68", "D69", "D70", "D71", "D-O11", "D-O12")
def test_the_second_best_card_gets_what_the_offender_forfeits():
    t = three_at_a_loss()
    t.report(P1, "exposed_card")
    line = finished(t)
    # trick 1: S8 before S7; 2: D8 before H7; 3: H8 before D7; 4 and 5: equal ranks, P2 was first
    assert t.why(P3) == [(-5, "D15"), (1, "D71"), (1, "D71"), (-5, "D60")]
    assert t.why(P2) == [(1, "D71"), (1, "D71"), (1, "D71"), (-5, "D60")]
    assert t.why(P1) == [(-5, "D70")]
    assert (line.pot, line.detail["faults"]) == (15, {"0": 1})


@pytest.mark.rule("D-O12")
def test_a_share_for_the_second_best_may_count_as_a_trick():
    t = three_at_a_loss(second_best_counts_as_trick=True)
    t.report(P1, "exposed_card")
    finished(t)
    assert t.change() == (-5, 3, -3)


@pytest.mark.rule("D-O11", "D-O17")
@pytest.mark.parametrize(
    ("forfeited", "change", "pot"), [("next_pot", (-5, -5, -10), 20), ("split_equally", (-5, -3, -8), 16)]
)
def test_other_ways_with_forfeited_shares(forfeited: str, change: tuple[int, ...], pot: int):
    t = three_at_a_loss(forfeited_share=forfeited)
    t.report(P1, "exposed_card")
    assert finished(t).pot == pot
    assert t.change() == change


@pytest.mark.rule("D-O11", "D71")
@pytest.mark.parametrize("forfeited", ["second_best", "next_pot", "split_equally"])
def test_when_all_are_at_fault_the_shares_stay(forfeited: str):
    t = three_at_a_loss(forfeited_share=forfeited)
    for seat in (P1, P2, P3):
        t.report(seat, "wrong_count")
    assert finished(t).pot == 5 + 15 + 10
    assert t.change() == (-5, -10, -15)


@pytest.mark.rule("D-O11")
def test_if_the_second_best_is_at_fault_too_the_next_best_gets_it():
    t = three_at_a_loss()
    t.report(P1, "exposed_card")
    t.report(P2, "exposed_card")
    finished(t)
    assert t.change() == (-5, -10, -5 + 5 - 5)


@pytest.mark.rule("D71", "D-O11", "D55")
def test_second_best_ranks_trumps_before_the_suit_led_and_discards():
    clubs = SUIT["C"]

    def best(cards: str, faulted: set[int]) -> int | None:
        return second_best(
            Taken(seat=0, event=1, cards=tuple(enumerate(cards.split()))),
            clubs,
            faulted,
        )

    assert best("S7 SA C7 C8", {3}) == 2  # trumps before the suit led
    assert best("S7 HA DA S8", {3}) == 0  # the suit led before discards
    assert best("S7 HA DA SA", {0, 3}) == 1  # of equal discards the first
    assert best("S7 H9 DT SA", {0, 3}) == 2
    assert best("S7 H9 DT SA", {0, 1, 2, 3}) is None


@pytest.mark.rule("D-O14", "D70")
@pytest.mark.parametrize(("per_incident", "fault"), [(False, -5), (True, -15)])
def test_faults_once_a_deal_or_each(per_incident: bool, fault: int):
    t = three_at_a_loss(fault_per_incident=per_incident, first="SA H7 S8")  # P2 did not follow
    t.report(P2, "exposed_card")
    t.report(P2, "exposed_card")
    line = finished(t, "SK S7 D8 SQ H8 D7 SJ H9 D9 ST HT DT")
    assert t.why(P2) == [(-5, "D60"), (fault, "D70")]
    assert line.detail["faults"] == {"1": 3}


@pytest.mark.rule("D-O25")
def test_each_fault_but_not_the_missing_trick():
    t = three_at_a_loss(fault_per_incident=True, fault_and_trickless_cumulate=False)
    t.report(P2, "exposed_card")
    t.report(P2, "exposed_card")
    finished(t)
    assert t.why(P2) == [(-10, "D70")]


@pytest.mark.rule("D-O15", "D70")
def test_a_fault_of_the_announcer_loses_the_generalrams():
    t = three_at_a_loss("generalrams join join", first="SA S7")
    t.report(P1, "exposed_card")
    t.plays("S8")
    line = t.score()
    assert (line.kind, line.tricks, line.pot) == ("generalrams_lost", (1, 0, 0), 15)
    assert t.why(P1) == [(-5, "D64"), (-5, "D65"), (-5, "D65"), (-5, "D70")]
    assert t.change() == (-20, 5, 0)


@pytest.mark.rule("D-O15")
def test_even_after_the_fifth_trick():
    t = three_at_a_loss("generalrams join join")
    t.plays(REST)
    t.report(P1, "exposed_card")
    assert t.score().kind == "generalrams_lost"


@pytest.mark.rule("D-O15", "D63")
def test_a_fault_in_a_generalrams_changes_only_the_payment_of_its_player():
    t = three_at_a_loss("generalrams join join", first="SA H7 S8")
    line = finished(t, "SK S7 D8 SQ H8 D7 SJ H9 D9 ST HT DT")
    assert (line.kind, line.pot) == ("generalrams_won", 5)
    assert t.change() == (15, -10, -10)


@pytest.mark.rule("D61", "D70", "D-O17")
def test_a_pot_that_does_not_divide_leaves_a_rest():
    t = Table(3, points=(-3, 0, 0), pot=3)
    line = t.play_out(counts(2, 3, 0), "join join join")
    assert share_of(8, 2) == 2
    assert t.change() == (2, 3, -5 - 5)
    assert line.pot == 3 + 5 - 5 + 5


@pytest.mark.rule("D10", "D-O17")
def test_the_books_are_in_minor_units_of_money():
    t = Table(unit=50)
    line = t.play_out(counts(2, 1, 2, 0), ALL_IN)
    assert t.change() == (100, 50, 100, -500)
    assert line.pot == 250
    closed = t.close()
    assert closed.settlement == closed.points


# The end


@pytest.mark.rule("D-O18", "D-O28")
@pytest.mark.parametrize(
    ("final_pot", "shares", "pot"),
    [("split_equally", (4, 4, 3, 4), 0), ("last_dealer", (0, 0, 15, 0), 0), ("keep", (0, 0, 0, 0), 15)],
)
def test_the_option_decides_who_gets_the_final_pot(final_pot: str, shares: tuple[int, ...], pot: int):
    t = Table(dealer=P4, points=(-15, 0, 0, 0), pot=15, final_pot=final_pot)  # P3 dealt last
    assert t.legal("official") == (Close(), Abandon())
    closed = t.close()
    assert closed == MatchClosed(
        rule="D-O18",
        pot_before=15,
        shares=shares,
        pot=pot,
        before=(-15, 0, 0, 0),
        points=(-15 + shares[0], *shares[1:]),
    )
    assert t.legal("official") == t.legal(P1) == ()
    t.refused(Deal(seat=P4), code="match_over", rule=None, kind=MatchOver)
    t.refused(Close(), code="match_over", rule=None, kind=MatchOver)


@pytest.mark.rule("D-O28")
def test_a_session_is_closed_between_two_deals():
    t = Table()
    t.deal()
    assert t.legal("official") == (Void(), Abandon())
    t.refused(Close(), code="deal_under_way", rule="D-O28", kind=WrongPhase)
    t.say(ALL_IN)
    t.refused(Close(), code="deal_under_way", rule="D-O28", kind=WrongPhase)
    t = Table(dealer=None)
    assert t.close().shares == (0, 0, 0, 0)


def test_a_voided_deal_counts_for_nothing():
    t = Table(pot=5)
    t.refused(Void(), code="nothing_dealt", rule=None, kind=WrongPhase)
    t.deal()
    t.say("join")
    t.do(Void(reason="somebody tipped the table"))
    assert (t.pot, t.dealer, t.seen().deal) == (5, P4, 1)
    staked = t.deal()[0]
    assert staked.pot == 10
