"""Kalabrias: sequences (E15-E25)."""

import pytest

from referee.acts import Declare, Respond
from referee.cards import cards_of
from referee.games.kalabrias.facts import SequenceAnswered, SequenceDeclared, SequencesCompared
from referee.games.kalabrias.ranks import RANKS, Sequence, best_split, is_sequence, runs, strongest_sequence
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.visibility import as_seen_by
from tests.games.kalabrias_table import Table, declaring, hands, table
from tests.support.match_driver import P1, P2, P3


def compared(t: Table) -> tuple[int | None, tuple[int, ...]]:
    """Return the seat with the best sequence, and the seats that are level with it."""
    (event,) = t.happened(SequencesCompared)
    return event.seat, event.level


def sequence_points(t: Table) -> list[int]:
    """Play the deal to its end, and return the points for sequences."""
    points: list[int] = t.played_out().line.detail["sequence_points"]
    return points


class TestSequences:
    """Sequences, and the order of their ranks."""

    @pytest.mark.rule("E15", "E16", "E17")
    @pytest.mark.parametrize(
        ("hand", "cards", "top"),
        [
            ("HQ HJ HT", 3, "Q"),
            ("H7 H8 H9", 3, "9"),
            ("HT HJ HQ HK", 4, "K"),
            ("HT HJ HQ HK HA", 4, "A"),
            ("H7 H8 H9 HT HJ HQ HK HA", 4, "A"),
            ("H7 H8 H9 SQ SK SA", 3, "A"),
            ("H7 H8 H9 HT SQ SK SA", 4, "T"),
        ],
    )
    def test_the_best(self, hand: str, cards: int, top: str):
        found = strongest_sequence(cards_of(hand.split()), "D", False)
        assert found == Sequence(cards, RANKS.index(top), False)
        assert found.name == ("small" if cards == 3 else "large")

    @pytest.mark.rule("E15", "E17")
    @pytest.mark.parametrize("hand", ["", "HQ HJ H9", "HA H7 H8", "HQ HJ ST", "H9 HJ HA SK D7"])
    def test_none(self, hand: str):
        assert strongest_sequence(cards_of(hand.split()), "H", True) is None

    @pytest.mark.rule("E24")
    def test_trumps_are_better_only_among_equals(self):
        hand = cards_of(["H7", "H8", "H9", "S7", "S8", "S9"])
        assert strongest_sequence(hand, "H", False) == Sequence(3, 2, True)
        assert strongest_sequence(hand | cards_of(["DA", "DK", "DQ"]), "H", False) == Sequence(3, 7, False)

    @pytest.mark.rule("E-O11")
    def test_five_cards_if_longer_ones_win(self):
        hand = cards_of(["HA", "HK", "HQ", "HJ", "S7", "S8", "S9", "ST", "SJ"])
        assert strongest_sequence(hand, "D", False) == Sequence(4, 7, False)
        assert strongest_sequence(hand, "D", True) == Sequence(5, 4, False)

    @pytest.mark.parametrize(
        ("cards", "is_one"),
        [("H7 H8 H9", True), ("H7 H8", False), ("H7 H8 HT", False), ("H7 H8 S9", False), ("H6 H7 H8 H9", False)],
    )
    def test_a_sequence_by_itself(self, cards: str, is_one: bool):
        assert is_sequence(cards_of(cards.split())) is is_one

    @pytest.mark.rule("E-O10", "E-O34")
    @pytest.mark.parametrize(
        ("length", "five", "points"),
        [
            (2, 50, 0),
            (3, 50, 20),
            (4, 50, 50),
            (5, 50, 50),
            (5, 100, 100),
            (6, 50, 50),
            (6, 100, 100),
            (7, 50, 70),
            (7, 100, 100),
            (8, 50, 100),
            (8, 100, 120),
            (5, 0, 50),
            (6, 0, 50),
        ],
    )
    def test_a_long_run_is_cut_in_the_best_way(self, length: int, five: int, points: int):
        assert best_split(length, 20, 50, five) == points

    def test_runs_of_a_suit(self):
        hand = cards_of(["D7", "D8", "D9", "DJ", "DQ", "DK", "DA", "HA"])
        assert runs(hand, "D") == ((3, 2), (4, 7))
        assert runs(hand, "H") == ()


class TestComparing:
    """Forehand states, the dealer answers."""

    @pytest.mark.rule("E19", "E20")
    def test_enough(self):
        t = declaring("HQ HJ HT | ")
        assert (t.phase, t.turn, t.seen().due, t.words(P1)) == ("declaring", P1, ("declare",), ["small", "none"])
        t.says("small")
        assert (t.turn, t.seen().due, t.words(P2)) == (P2, ("respond",), ["enough"])
        t.says("enough")
        assert compared(t) == (P1, ())
        assert (t.phase, t.turn) == ("playing", P1)
        assert sequence_points(t) == [20, 0]

    @pytest.mark.rule("E20", "E16")
    def test_better(self):
        t = declaring("HQ HJ HT | D7 D8 D9 DT").says("small")
        assert t.words(P2) == ["better", "enough"]
        t.says("better")
        assert compared(t) == (P2, ())
        assert sequence_points(t) == [0, 50]

    @pytest.mark.rule("E20", "E21", "E22")
    @pytest.mark.rule("E-X5")
    def test_equal_and_a_higher_top(self):
        t = declaring("HQ HJ HT | DK DQ DJ").says("small")
        assert t.words(P2) == ["equal", "enough"]
        t.says("equal")
        assert (t.turn, t.words(P1)) == (P1, ["Q"])
        t.says("Q")
        assert (t.turn, t.words(P2)) == (P2, ["better", "enough"])
        t.says("better")
        assert compared(t) == (P2, ())
        assert sequence_points(t) == [0, 20]

    @pytest.mark.rule("E22")
    def test_equal_and_a_lower_top(self):
        t = declaring("HQ HJ HT | DJ DT D9").says("small equal Q")
        assert t.words(P2) == ["enough"]
        t.says("enough")
        assert sequence_points(t) == [20, 0]

    @pytest.mark.rule("E23", "E24", "E-O12")
    @pytest.mark.rule("E-X7")
    def test_level_in_plain_suits(self):
        t = declaring("HQ HJ HT | DQ DJ DT").says("small equal Q")
        assert t.words(P2) == ["equal", "enough"]
        t.says("equal")
        assert (t.turn, t.words(P1)) == (P1, ["plain"])
        t.says("plain")
        assert (t.turn, t.words(P2)) == (P2, ["plain"])
        t.says("plain")
        assert compared(t) == (P1, (P2,))
        assert sequence_points(t) == [0, 0]

    @pytest.mark.rule("E24", "E-O12")
    @pytest.mark.parametrize(("option", "points"), [("ten_each", [10, 10]), ("forehand", [20, 0])])
    def test_level_in_plain_suits_otherwise(self, option: str, points: list[int]):
        t = declaring("HQ HJ HT | DQ DJ DT", equal_sequences=option).says("small equal Q equal plain plain")
        assert sequence_points(t) == points

    @pytest.mark.rule("E23", "E24")
    def test_the_dealers_is_in_trumps(self):
        t = declaring("HQ HJ HT | DQ DJ DT", turn_up="D7").says("small equal Q equal plain")
        assert t.words(P2) == ["trumps"]
        t.says("trumps")
        assert compared(t) == (P2, ())
        assert sequence_points(t) == [0, 20]

    @pytest.mark.rule("E23", "E24")
    @pytest.mark.parametrize("added", [True, False])
    def test_forehands_is_in_trumps(self, added: bool):
        """The dealer's is not in trumps then: to say so changes nothing, and the play may begin without it."""
        t = declaring("DQ DJ DT | HQ HJ HT", turn_up="D7").says("small equal Q equal trumps")
        assert compared(t) == (P1, ())
        assert t.words(P2) == ["plain"]
        assert t.turn == P1
        t.refused(Declare(seat=P2, trumps=True), rule="E19", kind=WrongPhase, code="declarations_over")
        t.refused(Declare(seat=P1, trumps=False), rule="E19", kind=WrongPhase, code="declarations_over")
        if added:
            assert t.do(Declare(seat=P2, trumps=False)) == (SequenceDeclared(seat=P2, trumps=False),)
            assert t.words(P2) == []
        t.plays(t.cards(P1)[0])
        t.refused(Declare(seat=P2, trumps=False), rule="E19", kind=WrongPhase)
        assert sequence_points(t) == [20, 0]

    @pytest.mark.rule("E16", "E-O11")
    @pytest.mark.rule("E-X9")
    def test_four_beat_five_by_their_top(self):
        t = declaring("H7 H8 H9 HT HJ | D9 DT DJ DQ").says("large equal J better")
        assert sequence_points(t) == [0, 50]

    @pytest.mark.rule("E-O11")
    @pytest.mark.rule("E-X9")
    def test_or_longer_ones_win(self):
        t = declaring("H7 H8 H9 HT HJ | D9 DT DJ DQ", longer_sequence_wins=True).says("large")
        assert t.seen(P2).more["best"]["five"] is True
        assert t.words(P2) == ["enough"]
        assert sequence_points(t.says("enough")) == [50, 0]
        t = declaring("D9 DT DJ DQ | H7 H8 H9 HT HJ", longer_sequence_wins=True).says("large")
        assert t.words(P2) == ["better", "enough"]
        t.says("better")
        assert t.happened(SequenceAnswered)[-1].five is True
        assert sequence_points(t) == [0, 50]

    @pytest.mark.rule("E-O13", "E25")
    def test_forehand_says_none(self):
        t = declaring("HQ HJ HT | DJ DT D9").says("none")
        assert (t.turn, t.words(P2)) == (P2, ["small", "none"])
        assert sequence_points(t.says("small")) == [0, 20]

    @pytest.mark.rule("E25", "E-O33")
    def test_a_seat_that_refrains_scores_nothing(self):
        assert sequence_points(declaring("HQ HJ HT | DJ DT D9 D8").says("small enough")) == [20, 0]
        assert sequence_points(declaring("HQ HJ HT | DJ DT D9 D8").says("none none")) == [0, 0]

    @pytest.mark.rule("E25")
    def test_a_sequence_that_a_player_does_not_announce_stays_hidden(self):
        t = declaring("HQ HJ HT | DJ DT D9 D8").says("small enough")
        answered = t.happened(SequenceAnswered)[-1]
        assert answered.refrains is True
        assert as_seen_by(answered, "official", False).refrains is True
        for viewer in (P1, P2, "spectator"):
            assert as_seen_by(answered, viewer, False).refrains is False
            assert as_seen_by(answered, viewer, True).refrains is True

    @pytest.mark.parametrize("theirs", ["HA HK HQ", "H9 H8 H7"])
    def test_enough_does_not_reveal_how_high_the_other_sequence_was(self, theirs: str):
        """Only the class has been stated, so the answer does not show whether the top of the other seat is higher."""
        t = declaring(f"{theirs} | DQ DJ DT").says("small enough")
        (answered,) = t.happened(SequenceAnswered)
        assert answered.refrains is (theirs != "HA HK HQ")
        assert as_seen_by(answered, P2, False) == SequenceAnswered(seat=P2, answer="enough")


class TestTheTruth:
    """A statement that a known hand contradicts is refused."""

    @pytest.mark.rule("E-O33")
    @pytest.mark.parametrize(("hand", "word"), [("", "small"), ("HQ HJ HT", "large"), ("HQ HJ HT H9", "small")])
    def test_the_class(self, hand: str, word: str):
        t = declaring(f"{hand} | ")
        t.refused(Declare(seat=P1, sequence=word), rule="E-O33", kind=AgainstTheRules, code="not_in_the_hand")

    @pytest.mark.rule("E21")
    @pytest.mark.parametrize("top", ["K", "J", "8", "2"])
    def test_the_top(self, top: str):
        t = declaring("HQ HJ HT | DQ DJ DT").says("small equal")
        t.refused(Declare(seat=P1, top=top), rule="E21", kind=AgainstTheRules, code="not_the_top")

    @pytest.mark.rule("E-O33", "E20", "E22")
    def test_the_answers(self):
        t = declaring("HQ HJ HT | DQ DJ DT").says("small")
        t.refused(Respond(seat=P2, answer="better"), rule="E-O33", kind=AgainstTheRules, code="not_in_the_hand")
        t.says("equal Q")
        t.refused(Respond(seat=P2, answer="better"), rule="E-O33", code="not_in_the_hand")
        t.says("equal")
        t.refused(Declare(seat=P1, trumps=True), rule="E-O33", code="not_in_the_hand")
        t.says("plain")
        t.refused(Declare(seat=P2, trumps=True), rule="E-O33", code="not_in_the_hand")

    @pytest.mark.rule("E19")
    def test_one_thing_at_a_time(self):
        t = declaring("HQ HJ HT | DQ DJ DT")
        t.refused(Declare(seat=P1), rule="E19", kind=AgainstTheRules, code="one_thing_at_a_time")
        t.refused(Declare(seat=P1, sequence="small", top="Q"), rule="E19", code="one_thing_at_a_time")

    @pytest.mark.rule("E19", "E20", "E21", "E22", "E23")
    def test_in_turn_and_in_order(self):
        t = declaring("HQ HJ HT | DQ DJ DT")
        t.refused(Declare(seat=P2, sequence="none"), rule="E19", kind=OutOfTurn, code="out_of_turn")
        t.refused(Respond(seat=P2, answer="enough"), rule="E20", kind=WrongPhase, code="nothing_to_answer")
        t.refused(Declare(seat=P1, top="Q"), rule="E19", kind=AgainstTheRules, code="something_else_asked")
        t.says("small")
        t.refused(Declare(seat=P2, sequence="none"), rule="E20", kind=WrongPhase, code="answer_expected")
        t.refused(Respond(seat=P1, answer="enough"), rule="E20", kind=OutOfTurn, code="out_of_turn")
        t.says("equal")
        t.refused(Declare(seat=P1, sequence="small"), rule="E21", code="something_else_asked")
        t.refused(Declare(seat=P2, top="Q"), rule="E19", kind=OutOfTurn)
        t.refused(Respond(seat=P2, answer="enough"), rule="E20", kind=WrongPhase)
        t.says("Q")
        t.refused(Declare(seat=P2, trumps=False), rule="E22", kind=WrongPhase, code="answer_expected")
        t.says("equal")
        t.refused(Declare(seat=P1, top="Q"), rule="E23", code="something_else_asked")
        t.says("plain")
        t.refused(Declare(seat=P1, trumps=False), rule="E19", kind=OutOfTurn)
        t.refused(Declare(seat=P2, cards=("DQ", "DJ", "DT")), rule="E-O34", kind=WrongPhase, code="shown_in_the_play")

    @pytest.mark.rule("E-O34")
    def test_known_cards_are_not_shown(self):
        t = declaring("HQ HJ HT | ").says("small enough")
        shown = Declare(seat=P1, cards=("HQ", "HJ", "HT"))
        t.refused(shown, rule="E-O34", kind=AgainstTheRules, code="cards_known")
        t.refused(Declare(seat=P1, sequence="small"), rule="E19", kind=WrongPhase, code="declarations_over")


@pytest.mark.rule("E-O28", "E-O35")
class TestMoreThanTwo:
    """More than two players: clockwise, each answers the best so far."""

    def test_a_third_beats_the_second(self):
        t = declaring("HQ HJ HT | DK DQ DJ | C7 C8 C9 CT").says("small equal Q better")
        assert (t.turn, t.words(P3)) == (P3, ["better", "enough"])
        t.says("better")
        assert compared(t) == (P3, ())
        assert sequence_points(t) == [0, 0, 50]

    def test_a_player_who_says_better_must_name_the_sequence(self):
        t = declaring("HQ HJ HT | DK DQ DJ | CA CK CQ").says("small equal Q better equal")
        assert (t.turn, t.words(P2)) == (P2, ["K"])
        assert sequence_points(t.says("K better")) == [0, 0, 20]

    def test_a_rank_that_was_named_is_not_asked_for_again(self):
        t = declaring("HQ HJ HT | DQ DJ DT | CQ CJ CT").says("small equal Q equal plain plain")
        assert t.words(P3) == ["equal", "enough"]
        t.says("equal")
        assert (t.turn, t.words(P3)) == (P3, ["equal", "enough"])
        t.says("equal")
        assert (t.turn, t.words(P3)) == (P3, ["plain"])
        t.says("plain")
        assert compared(t) == (P1, (P2, P3))
        assert sequence_points(t) == [0, 0, 0]

    def test_trumps_beat_two_level_ones(self):
        t = declaring("HQ HJ HT | DQ DJ DT | CQ CJ CT", turn_up="C7").says("small equal Q equal plain plain")
        t.says("equal equal trumps")
        assert compared(t) == (P3, ())
        assert sequence_points(t) == [0, 0, 20]

    def test_trumps_that_were_named_settle_it(self):
        t = declaring("CQ CJ CT | DQ DJ DT | HQ HJ HT", turn_up="C7").says("small equal Q equal trumps")
        assert t.turn == P3
        t.do(Declare(seat=P2, trumps=False))
        t.says("equal equal")
        assert compared(t) == (P1, ())
        assert t.words(P3) == ["plain"]
        t.refused(Declare(seat=P2, trumps=False), rule="E19", kind=WrongPhase)
        t.do(Declare(seat=P3, trumps=False))
        assert sequence_points(t) == [20, 0, 0]

    def test_a_better_one_ends_a_tie(self):
        t = declaring("HQ HJ HT | DQ DJ DT | CA CK CQ").says("small equal Q equal plain plain equal better")
        assert compared(t) == (P3, ())

    @pytest.mark.rule("E53", "E-O34")
    def test_the_partner_scores_too(self):
        full = "HQ HJ HT | DK DQ DJ | C7 C8 C9 CT | "
        t = declaring(full).says("small enough better enough")
        assert sequence_points(t) == [20, 0, 50, 0]

    @pytest.mark.rule("E53", "E25", "E-O34")
    def test_but_not_a_partner_who_refrained(self):
        full = "HQ HJ HT | DK DQ DJ | C7 C8 C9 CT | "
        assert sequence_points(declaring(full).says("none small better enough")) == [0, 0, 50, 0]
        full = "C7 C8 C9 CT | DK DQ DJ | HA HK HQ HJ | "
        assert sequence_points(declaring(full).says("large enough enough enough")) == [50, 0, 0, 0]
        assert sequence_points(declaring(full).says("large enough equal T better enough")) == [50, 0, 50, 0]

    @pytest.mark.rule("E-O35")
    def test_partners_who_are_level_score(self):
        full = "HQ HJ HT | D7 D8 D9 | CQ CJ CT | "
        t = declaring(full).says("small enough equal Q equal plain plain enough")
        assert compared(t) == (P1, (P3,))
        assert sequence_points(t) == [20, 0, 20, 0]

    @pytest.mark.rule("E-O35", "E-O12")
    @pytest.mark.parametrize(("option", "points"), [("none", [0, 0, 0, 0]), ("ten_each", [10, 10, 0, 0])])
    def test_opponents_who_are_level_do_not(self, option: str, points: list[int]):
        full = "HQ HJ HT | DQ DJ DT | C7 C8 C9 | "
        t = declaring(full, equal_sequences=option).says("small equal Q equal plain plain enough enough")
        assert sequence_points(t) == points

    @pytest.mark.rule("E-O12", "E53")
    def test_nearest_to_forehand_has_priority(self):
        full = "HQ HJ HT | DQ DJ DT | C7 C8 C9 | "
        t = declaring(full, equal_sequences="forehand").says("small equal Q equal plain plain enough enough")
        assert sequence_points(t) == [20, 0, 20, 0]

    @pytest.mark.rule("E-O25")
    @pytest.mark.parametrize(("option", "points"), [(False, [0, 0, 50]), (True, [0, 20, 50])])
    def test_three_players(self, option: bool, points: list[int]):
        full = "HQ HJ HT | DK DQ DJ | C7 C8 C9 CT"
        t = declaring(full, three_player_side_sequences=option).says("small equal Q better better")
        assert sequence_points(t) == points

    @pytest.mark.rule("E-O25")
    def test_the_declarer_of_three_is_alone(self):
        full = "HQ HJ HT H9 | DK DQ DJ | C7 C8 C9"
        t = declaring(full, three_player_side_sequences=True).says("large enough enough")
        assert sequence_points(t) == [50, 0, 0]


class TestSequencePoints:
    """Options on the points."""

    @pytest.mark.rule("E-O1", "E-O10")
    def test_all_of_the_winners(self):
        assert sequence_points(declaring("HQ HJ HT H9 DA DK DQ | C7 C8 C9").says("large enough")) == [70, 0]

    @pytest.mark.rule("E-O10")
    @pytest.mark.parametrize(
        ("hand", "points"), [("HQ HJ HT H9 DA DK DQ", 50), ("D7 D8 D9 DA DK DQ", 20), ("H7 H8 H9 HT HJ HQ HK", 50)]
    )
    def test_or_only_the_best(self, hand: str, points: int):
        t = declaring(f"{hand} | ", winner_scores_all_sequences=False)
        t.says(t.words(P1)[0]).says("enough")
        assert sequence_points(t) == [points, 0]

    @pytest.mark.rule("E-O1")
    @pytest.mark.parametrize(
        ("value", "points"),
        [
            ({"small": 20, "large": 50, "five": 100}, 100),
            ({"small": 20, "large": 50}, 50),
            ({"five": 70}, 70),
            ({"large": 40}, 40),
        ],
    )
    def test_five_cards(self, value: dict[str, int], points: int):
        t = declaring("H7 H8 H9 HT HJ | ", sequence_points=value).says("large enough")
        assert sequence_points(t) == [points, 0]

    @pytest.mark.rule("E-O14")
    @pytest.mark.parametrize("needed", [False, True])
    def test_without_a_trick(self, needed: bool):
        """P1 has every trick: seven trumps, then the high diamonds."""
        full = hands("SJ S9 SA ST SK SQ S8 DA DT | H7 H8 H9", "S7")
        t = table(declaration_needs_trick=needed).dealt(full, "S7").calls("take").says("none small")
        t.plays_high()
        assert t.line.tricks == (9, 0)
        assert t.line.detail["sequence_points"] == [0, 0 if needed else 20]
