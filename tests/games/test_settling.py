"""The settlement of a match in money, line by line: by the sources of two games, by house rules in three."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.acts import Abandon
from referee.events import MatchWon, Payment, Stakes
from referee.games import RULESETS
from referee.refusals import AgainstTheRules
from referee.settlement import PaymentDue, SeatSettled, Settlement, SettlementLine
from referee.visibility import Recorded
from tests.games.kalabrias_table import declaring, hands
from tests.games.kalabrias_table import table as kalabrias
from tests.games.rams_table import Table as Rams
from tests.games.rodskagg import cats, table
from tests.games.test_kortoxen_money import p2_goes_home
from tests.games.test_rams_payment import ALL_IN, counts
from tests.officials.test_correct import corrected, five, quiet
from tests.support import match_driver
from tests.support.match_driver import P1, P2, P3, P4
from tests.support.settlement_checks import check, settled

KRONA = Stakes(currency="SEK", unit=100)
ORE = Stakes(currency="SEK", unit=2)


def of(t: match_driver.Table) -> Settlement:
    """Return the settlement of a match, whose amounts must add up."""
    return check(t.history)


def amounts(found: Settlement) -> tuple[int, ...]:
    return tuple(seat.amount for seat in found.seats)


def lines(found: Settlement, seat: int) -> list[tuple[Any, ...]]:
    """Return deal, rule, points and amount of each line of a seat."""
    return [(line.deal, line.rule, line.points, line.amount) for line in found.seats[seat].lines]


def paid(found: Settlement) -> list[tuple[Any, ...]]:
    """Return payer, payee, points, amount and rule of each payment."""
    return [(one.payer, one.payee, one.points, one.amount, one.rule) for one in found.payments]


@pytest.mark.rule("B9", "B10", "B74", "B-O39")
class TestLosersPayForWhatTheyHaveLeft:
    """B74: each loser pays the winner for every point left, which the protocol explains number by number."""

    def test_a_whole_settlement(self):
        """P1 came with two points and took a trick, P3 with five and took four; P2 went home with one."""
        t = table(points=(2, 1, 5), dealer=P3, stakes=KRONA).dealt("1 2 3 3 | 3 3").declares(P1, 1)
        t.tricks(2).knocks_out(P2).tricks(4)
        assert t.won is not None
        first, second = ([one.events for one in t.line.entries if one.seat == seat] for seat in (P1, P3))
        paid_for = SettlementLine(deal=None, rule="B74", points=1, amount=100, events=(t.version,))
        assert of(t) == Settlement(
            status="final",
            currency="SEK",
            unit=100,
            basis="source",
            pot=0,
            sum=0,
            counted=None,
            waiting_for=(),
            seats=(
                SeatSettled(
                    seat=P1,
                    member=None,
                    amount=-100,
                    lines=(
                        SettlementLine(deal=None, rule="opening", points=2, amount=-200, events=(1,)),
                        SettlementLine(deal=1, rule="B58", points=-1, amount=100, events=first[0]),
                    ),
                ),
                SeatSettled(seat=P2, member=None, amount=200, lines=(paid_for, paid_for)),
                SeatSettled(
                    seat=P3,
                    member=None,
                    amount=-100,
                    lines=(
                        SettlementLine(deal=None, rule="opening", points=5, amount=-500, events=(1,)),
                        SettlementLine(deal=1, rule="B58", points=-4, amount=400, events=second[0]),
                    ),
                ),
            ),
            payments=(
                PaymentDue(payer=P1, payee=P2, points=1, amount=100, rule="B74"),
                PaymentDue(payer=P3, payee=P2, points=1, amount=100, rule="B74"),
            ),
        )

    def test_a_loser_line_by_line_and_the_winner_by_what_is_paid(self):
        """Before 9, 1, 8, 8; P1 takes one trick, P2 one, P3 and P4 two each."""
        t = p2_goes_home((9, 1, 8, 8), stakes=ORE)
        found = of(t)
        assert lines(found, P1) == [(None, "opening", 9, -18), (1, "B58", -1, 2)]
        assert lines(found, P3) == [(None, "opening", 8, -16), (1, "B58", -2, 4)]
        assert lines(found, P2) == [(None, "B74", 8, 16), (None, "B74", 6, 12), (None, "B74", 6, 12)]
        assert amounts(found) == (-16, 40, -12, -12)
        assert paid(found) == [(P1, P2, 8, 16, "B74"), (P3, P2, 6, 12, "B74"), (P4, P2, 6, 12, "B74")]

    def test_each_line_names_the_events_that_show_it(self):
        t = p2_goes_home((9, 1, 8, 8), stakes=ORE)
        (entry,) = [one for one in t.line.entries if one.seat == P1]
        assert [line.events for line in of(t).seats[P1].lines] == [(1,), entry.events]
        assert {line.events for line in of(t).seats[P2].lines} == {(t.version,)}

    def test_the_match_says_who_pays(self):
        won = p2_goes_home((9, 1, 8, 8), stakes=ORE).won
        assert won is not None
        assert won.payments == tuple(
            Payment(payer=seat, payee=P2, points=points, rule="B74") for seat, points in ((P1, 8), (P3, 6), (P4, 6))
        )

    @pytest.mark.rule("B71")
    def test_a_loser_at_zero_has_nothing_left_to_pay_for(self):
        """P1 and P2 both come to zero, and P2 was the first to knock out."""
        t = table(points=(1, 1, 9, 9), stakes=ORE).dealt("2 1 3 4 | 3 4").declares(P1, 1)
        t.tricks(1).knocks_out(P2).tricks(1).knocks_out(P1).tricks(4)
        assert t.won is not None
        assert t.won.payments[0] == Payment(payer=P1, payee=P2, points=0, rule="B74")
        found = of(t)
        assert (amounts(found)[P1], [one.payer for one in found.payments]) == (0, [P3, P4])
        assert [one[:3] for one in lines(found, P1)] == [(None, "opening", 1), (1, "B58", -1)]

    def test_without_stakes_no_one_pays(self):
        won = p2_goes_home((9, 1, 8, 8)).won
        assert won is not None
        assert (won.payments, won.settlement) == ((), None)


@pytest.mark.rule("B66", "B-O22", "B-X9")
def test_an_eliminated_player_pays_for_five_more_points():
    """P1 at 4 loses rödskägg to P3 at 1; P2 wins later: P1 pays 18, P3 2 and P4 12, and P2 receives 32."""
    t = table(points=(4, 6, 1, 6), stakes=ORE).dealt("1 3 1 1 | 1 1").declares(P1, "rodskagg").tricks(2)
    assert (of(t).status, amounts(of(t)), of(t).payments) == ("open", (0, 0, 0, 0), ())
    assert all(seat.lines == () for seat in of(t).seats), "before the win no seat owes anything"
    t.dealt("2 2 2 2 | 2 2").declares(P2, 4).tricks(4).asks(P2, "fold fold").knocks_out(P2)
    found = of(t)
    assert amounts(found) == (-18, 32, -2, -12)
    assert lines(found, P1) == [(None, "opening", 4, -8), (1, "B66", 5, -10)]
    assert lines(found, P2) == [(None, "B74", 9, 18), (None, "B74", 1, 2), (None, "B74", 6, 12)]


@pytest.mark.rule("B80", "B-O34")
def test_after_a_deal_broken_off_the_losers_pay_for_what_they_had_before():
    found = of(p2_goes_home((9, 1, 8, 8), stakes=ORE, exact_zero=False))
    assert amounts(found) == (-18, 50, -16, -16)
    assert [lines(found, seat) for seat in (P1, P3)] == [[(None, "opening", 9, -18)], [(None, "opening", 8, -16)]]


@pytest.mark.rule("B-O21", "B75")
@pytest.mark.parametrize(
    ("value", "pays", "line", "payment"),
    [
        ("zero", 0, [(None, "B-O21", 2, -4)], []),
        ("absolute", 4, [(None, "B-O21", 4, -8)], [(P1, P2, 2, 4, "B-O21")]),
        ("signed", -4, [], [(P2, P1, 2, 4, "B-O21")]),
    ],
)
def test_a_loser_at_minus_two(value: str, pays: int, line: list[Any], payment: list[Any]):
    """P1 came with -1 and takes one more trick. The points paid for differ from those in the protocol."""
    t = table(points=(-1, 1, 8, 9), stakes=ORE, overshoot="negative", money_negative=value)
    t.dealt("1 2 3 4 | 3 3").declares(P1, 1).tricks(2).knocks_out(P2).tricks(4)
    found = of(t)
    assert amounts(found)[P1] == -pays
    assert lines(found, P1) == [(None, "opening", -1, 2), (1, "B58", -1, 2), *line]
    assert paid(found) == [*payment, (P3, P2, 5, 10, "B74"), (P4, P2, 8, 16, "B74")]
    assert [one[1:] for one in lines(found, P2)] == [
        *([("B-O21", -2, -4)] if value == "signed" else [("B-O21", 2, 4)] if value == "absolute" else []),
        ("B74", 5, 10),
        ("B74", 8, 16),
    ]


class TestThePot:
    """Rams: points won and put in are money, and the rest is in the pot."""

    @pytest.mark.rule("D9", "D10", "D15", "D59", "D60", "D61", "D-X1")
    def test_x1_while_the_match_goes_on(self):
        """P4 stakes 5 and takes no trick; P1 takes 2, P2 1, P3 2; a trick is worth fifty öre."""
        t = Rams(unit=50)
        t.play_out(counts(2, 1, 2, 0), ALL_IN)
        found = of(t)
        assert (found.status, found.basis, found.pot) == ("open", "source", 250)
        assert amounts(found) == (100, 50, 100, -500)
        assert lines(found, P1) == [(1, "D59", 100, 100)]
        assert lines(found, P4) == [(1, "D15", -250, -250), (1, "D60", -250, -250)]
        assert found.payments == ()

    @pytest.mark.rule("D16", "D-X3")
    def test_x3_one_takes_all_of_a_pot_that_was_taken_over(self):
        t = Rams(dealer=P2, points=(-5, 0, 0, 0), pot=5, unit=1)
        t.play_out(counts(0, 0, 5, 0), "join join join lie_down")
        found = of(t)
        assert lines(found, P1) == [(None, "opening", -5, -5), (1, "D60", -5, -5)]
        assert (amounts(found), found.pot) == ((-10, -5, 10, -5), 10)

    @pytest.mark.rule("D62", "D63")
    def test_a_generalrams_won(self):
        t = Rams(points=(-5, 0, 0, 0), pot=5, unit=1)
        t.play_out(counts(0, 0, 5, 0), "join lie_down generalrams join")
        found = of(t)
        assert lines(found, P3) == [(1, "D62", 10, 10), *[(1, "D63", 5, 5)] * 3]
        assert (amounts(found), found.pot) == ((-10, -5, 25, -10), 0)

    @pytest.mark.rule("D64", "D65", "D66", "D-X7")
    def test_x7_a_generalrams_lost(self):
        t = Rams(points=(-5, 0, 0, 0), pot=5, unit=1)
        lost = t.play_out(
            lambda won: len(won) == 3 and won[:2] == (P3, P3) and won[2] != P3, "join lie_down generalrams join"
        )
        assert lost.kind == "generalrams_lost"
        found = of(t)
        assert lines(found, P3) == [(1, "D64", -10, -10), *[(1, "D65", -5, -5)] * 3]
        assert (amounts(found), found.pot) == ((0, 5, -25, 0), 20)

    @pytest.mark.rule("D31", "D32")
    def test_a_player_who_buys_out_pays_the_dealer_and_the_stake_stays(self):
        t = Rams(points=(-5, 0, 0, 0), pot=5, unit=1)
        t.deal()
        t.say("lie_down lie_down pay")
        found = of(t)
        assert lines(found, P3) == [(1, "D31", -5, -5)]
        assert lines(found, P4) == [(1, "D15", -5, -5), (1, "D31", 5, 5)]
        assert found.pot == 10

    @pytest.mark.rule("D69", "D70", "D71", "D-X9")
    def test_x9_who_is_at_fault_pays_to_the_next_pot(self):
        t = Rams(3, enforcement="penalise", unit=1)
        t.deal("SA SK SQ SJ ST", "S7 H7 H8 H9 HT", "S8 D7 D8 D9 DT", turn_up="CA")
        t.say("join join join")
        t.plays("SA S7 S8")
        t.report(P2, "exposed_card")
        t.plays("SK H7 D8 SQ H8 D7 SJ H9 D9 ST HT DT")
        t.score()
        found = of(t)
        assert lines(found, P2) == [(1, "D60", -5, -5), (1, "D70", -5, -5)]
        assert found.pot == 15

    @pytest.mark.rule("D-O17", "D-O18", "D-O28")
    @pytest.mark.parametrize(
        ("final_pot", "shares", "left"),
        [("split_equally", (4, 4, 3, 4), 0), ("last_dealer", (0, 0, 15, 0), 0), ("keep", (0, 0, 0, 0), 15)],
    )
    @pytest.mark.parametrize("act", ["close", "abandon"])
    def test_the_pot_at_the_end(self, final_pot: str, shares: tuple[int, ...], left: int, act: str):
        """An abandoned or closed match shares the pot as agreed; what no player gets stays in the pot."""
        t = Rams(dealer=P4, points=(-15, 0, 0, 0), pot=15, unit=1, final_pot=final_pot)
        t.close() if act == "close" else t.do(Abandon())
        found = of(t)
        assert (found.status, found.pot) == ("final", left)
        opening = [(None, "opening", -15, -15)]
        for seat, share in enumerate(shares):
            drawn = [(None, "D-O18", share, share)] if share else []
            assert lines(found, seat) == (opening if seat == P1 else []) + drawn
        drew = [line.events for seat in found.seats for line in seat.lines if line.rule == "D-O18"]
        assert set(drew) <= {(t.version,)}

    def test_points_at_the_start_that_do_not_balance_are_in_the_pot(self):
        """No amount is lost: a player from an earlier session is owed 12 more than the others and the pot hold."""
        t = Rams(points=(20, 0, -8, 0), unit=1)
        assert (amounts(of(t)), of(t).pot) == ((20, 0, -8, 0), -12)


class TestHouseRules:
    """The table says how a loser pays if the source has no rule for money."""

    @pytest.mark.rule("A-O32")
    def test_alga_for_the_points_left(self):
        """A-X1 until P1 wins from one point: P2 has 11, P3 12, P4 below zero."""
        match: dict[str, Any] = {"stakes": KRONA, "money": "points_left"}
        t = table("rodskagg-alga", points=(1, 12, 12, -2), **match)
        t.play_deal("1 pass pass pass", "1 2 2 4 | 2 4")
        assert t.won_by == (P1, "zero")
        found = of(t)
        assert found.basis == "house"
        assert amounts(found) == (900 + 1200, -900, -1200, 0)
        assert paid(found) == [(P2, P1, 9, 900, "A-O32"), (P3, P1, 12, 1200, "A-O32")]
        assert lines(found, P4) == [(None, "opening", -2, 200), (1, "A40", -2, 200), (None, "A-O32", 4, -400)]

    @pytest.mark.rule("C-O37")
    def test_catsatcards_for_the_points_left(self):
        t = cats((1, 12, 12, -2), stakes=KRONA, money="points_left", honour_redeal=False)
        t.play_deal("1 0 0 0", "1 2 2 4 | 2 4")
        assert t.won_by == (P1, "zero")
        assert of(t).basis == "house"
        assert amounts(of(t)) == (2100, -900, -1200, 0)
        assert {one[4] for one in paid(of(t))} == {"C-O37"}

    @pytest.mark.rule("C-O37", "C-O34")
    def test_if_no_one_wins_no_one_pays(self):
        t = cats(
            (3, 3, 3),
            dealer=P3,
            stakes=KRONA,
            money="points_left",
            rodskagg_stop_at_first_loss=True,
            honour_redeal=False,
        )
        t.dealt("1 2 3 1 | 1 1").bid("rodskagg rodskagg rodskagg")
        while t.phase == "playing":
            t.trick()
        assert t.won_by == (None, "nobody_left")
        assert (amounts(of(t)), of(t).payments, of(t).status) == ((0, 0, 0), (), "final")

    @pytest.mark.rule("E-O42")
    def test_kalabrias_for_the_points_between(self):
        t = declaring("|", stakes=KRONA, money="difference", points=(450, 440)).played_out()
        while t.won is None:
            t.dealt(hands("|", "S9"), "S9").calls("take").played_out()
        found, points = of(t), t.won.points
        assert t.won.seat is not None
        winner, loser = t.won.seat, 1 - t.won.seat
        between = points[winner] - points[loser]
        assert paid(found) == [(loser, winner, between, between * 100, "E-O42")]
        own = lines(found, loser)
        assert own[0][:2] == (None, "opening")
        assert all(amount == points * 100 for _, _, points, amount in own[:-1]), "the loser's points have this value"
        assert own[-1] == (None, "E-O42", points[winner], -points[winner] * 100), (
            "the winner's points count against the loser"
        )

    @pytest.mark.rule("E-O42", "E49", "E52")
    def test_each_loser_pays_the_partner_on_the_left(self):
        t = kalabrias(players=4, target_score=1, stakes=KRONA, money="difference")
        t.dealt(hands("|||", "S9"), "S9").calls("take").played_out()
        assert t.won is not None
        winners = t.won.seats
        assert len(winners) == 2
        assert {(one.payer, one.payee) for one in of(t).payments} == {
            (loser, (loser + 1) % 4) for loser in range(4) if loser not in winners
        }

    @pytest.mark.rule("E-O42", "E-O38")
    def test_half_points_come_out_at_an_even_unit(self):
        """Three players, target one: halves may stand in the protocol, and half of 50 öre is 25."""
        seen = set()
        for seed in range(40):
            match: dict[str, Any] = {"target_score": 1, "bete_odd_point": "exact_half", "money": "difference"}
            t = kalabrias(players=3, stakes=Stakes(currency="SEK", unit=50), **match)
            t.dealt(hands("||", "S9"), "S9").calls("take").played_out(seed)
            if t.won is not None:
                seen |= {one.points % 1 for one in of(t).payments}
        assert seen == {0, 0.5}

    @pytest.mark.rule("E-O42", "E-O38")
    @pytest.mark.parametrize(
        ("players", "options", "unit", "refused"),
        [
            (3, {"bete_odd_point": "exact_half"}, 25, True),
            (3, {"bete_odd_point": "exact_half"}, 50, False),
            (3, {"bete_odd_point": "drop"}, 25, False),
            (2, {"bete_odd_point": "exact_half"}, 25, False),  # nothing is halved between two
            (3, {"bete_odd_point": "exact_half", "money": "none"}, 25, False),  # no player pays
        ],
    )
    def test_an_odd_unit_is_refused_if_halves_are_counted(
        self, players: int, options: dict[str, Any], unit: int, refused: bool
    ):
        match = {
            "players": players,
            "stakes": Stakes(currency="SEK", unit=unit),
            "money": "difference",
            **options,
        }
        if not refused:
            kalabrias(**match)
            return
        with pytest.raises(AgainstTheRules) as caught:
            kalabrias(**match)
        assert (caught.value.code, caught.value.rule, caught.value.facts) == ("odd_unit", "E-O42", {"unit": 25})

    @pytest.mark.parametrize("key", RULESETS)
    def test_the_settlement_names_the_source_of_its_rules(self, key: str):
        rules = RULESETS[key]
        usual = msgspec.to_builtins(rules.options())
        by_source = key in ("rodskagg-kortoxen", "rams-english")
        assert rules.basis(usual) == ("source" if by_source else None)
        assert rules.basis({}) == rules.basis(usual), "a match from before there was such an option"


class TestStoredMatches:
    """A stored match stays unchanged."""

    def test_stakes_without_a_rule_came_to_nothing_and_still_do(self):
        alga = table("rodskagg-alga", points=(1, 12, 12, 9), stakes=KRONA)
        alga.play_deal("1 pass pass pass", "1 2 2 4 | 2 4")
        sister = cats((1, 12, 12, 9), stakes=KRONA, honour_redeal=False).play_deal("1 0 0 0", "1 2 2 4 | 2 4")
        two = kalabrias(target_score=1, stakes=KRONA).dealt(hands("|", "S9"), "S9").calls("take").played_out()
        for t in (alga, sister, two):
            assert t.won is not None
            assert (t.won.payments, t.won.settlement) == ((), None)

    @pytest.mark.rule("B74", "B-O21")
    @pytest.mark.parametrize("unit", [1, 2])
    def test_a_row_without_payments_amounts_to_its_settlement(self, unit: int):
        t = table(points=(-1, 1, 8, 9), stakes=Stakes(currency="SEK", unit=unit), overshoot="negative")
        t.dealt("1 2 3 4 | 3 3").declares(P1, 1).tricks(2).knocks_out(P2).tricks(4)
        last = t.history[-1]
        won = last.event
        assert isinstance(won, MatchWon)
        old: list[Recorded] = [*t.history[:-1], msgspec.structs.replace(last, event=replace(won, payments=()))]
        found = settled(old)
        assert amounts(found) == won.settlement == amounts(of(t))
        assert [one[:4] for one in paid(found)] == [one[:4] for one in paid(of(t))]


@pytest.mark.rule("J9")
class TestCorrections:
    """Payments follow the corrected lines, and the player who has won by them."""

    def won_by_p2(self) -> Any:
        """Return a match that P2 wins in the second deal."""
        t = quiet(points=(9, 3, 8, 8), stakes=ORE)
        t.play_deal("2 pass pass pass", "1 1 2 3 | 2 4", join="P4")
        assert t.points == (7, 1, 7, 7)
        t.play_deal("pass pass pass 2", "4 4 1 2 | 3 3", join="P3")
        return t

    def test_a_line_that_was_corrected_is_paid_as_it_counts(self):
        t = self.won_by_p2()
        assert t.won_by == (P2, "zero")
        before = amounts(of(t))
        event = corrected(t, five(P3, 1))
        assert event.won is not None
        found = of(t)
        assert amounts(found) == (before[0], before[1] + 10, before[2] - 10, before[3])
        assert (1, "B42", 5, -10) in lines(found, P3)
        assert {line.events for line in found.seats[P2].lines} == {(t.version,)}, "the correction says who pays"
        assert {one.rule for one in event.won.payments} == {"B74"}
        assert found == settled(t.history)

    def test_a_match_that_is_open_again_owes_nothing(self):
        t = self.won_by_p2()
        corrected(t, five(P2, 2))
        assert t.match.play.table.points[P2] != 0
        assert (of(t).status, amounts(of(t)), of(t).payments) == ("open", (0, 0, 0, 0), ())

    def test_a_deal_that_was_struck_is_not_paid_for(self):
        t = quiet(points=(9, 4, 8, 8), stakes=ORE)
        t.play_deal("2 pass pass pass", "1 1 2 3 | 2 4")
        t.play_deal("pass pass pass 2", "4 4 1 1 | 3 3", join="P3")
        assert t.won is None
        corrected(t, five(P2, 1, -2))
        assert of(t).status == "final"
        assert {line.deal for seat in of(t).seats for line in seat.lines} == {None, 1}


@pytest.mark.parametrize("key", ["rodskagg-kortoxen", "rodskagg-alga"])
def test_an_abandoned_match_owes_nothing(key: str):
    money = {} if key == "rodskagg-kortoxen" else {"money": "points_left"}
    t = table(key, points=(9, 3, 8, 8), stakes=ORE, **money)
    t.play_deal("2 pass pass pass", "1 1 2 3 | 2 4")
    t.do(Abandon())
    found = of(t)
    assert (found.status, amounts(found), found.pot, found.payments) == ("final", (0, 0, 0, 0), 0, ())


def test_the_members_of_a_club_are_named_by_their_numbers():
    t = p2_goes_home((9, 1, 8, 8), stakes=ORE)
    found = settled(t.history, members=(5, 1, 7, 12), provisional=True)
    assert [seat.member for seat in found.seats] == [5, 1, 7, 12]
    assert found.status == "provisional"


def test_its_json_has_the_names_that_clients_rely_on():
    t = p2_goes_home((9, 1, 8, 8), stakes=ORE)
    told = msgspec.to_builtins(of(t))
    names = ["status", "currency", "unit", "basis", "pot", "sum", "counted", "waiting_for", "seats", "payments"]
    assert list(told) == names
    assert set(told["seats"][0]) == {"seat", "member", "amount", "lines"} == set(SeatSettled.__struct_fields__)
    assert set(told["seats"][0]["lines"][0]) == {"deal", "rule", "points", "amount", "events"}
    assert told["payments"][0] == {"from": 0, "to": 1, "points": 8, "amount": 16, "rule": "B74"}
    assert msgspec.convert(told["payments"][0], PaymentDue) == of(t).payments[0]
