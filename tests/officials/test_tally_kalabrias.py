"""Tallies of Kalabrias: results, their points, and impossible results (E-O41)."""

from typing import Any

import msgspec
import pytest

from referee.acts import Bid, Deal, Result, SequenceEntered, Trick
from referee.events import DealScored, Entry
from referee.games.kalabrias.facts import DealCounted
from referee.games.kalabrias.tally import POSSIBLE_SUMS
from referee.officials.events.tally import ResultEntered
from referee.store.aggregate import fold
from tests.officials.tally_table import Tallied
from tests.support.match_driver import P1, P2, P3, P4


def table(players: int = 2, **match: Any) -> Tallied:
    """Return a tally in which the last seat deals, so that P1 is forehand."""
    return Tallied("kalabrias", players, **match)


def seq(seat: int, text: str, *, trumps: bool = False) -> SequenceEntered:
    """Return a sequence in a hand: ``"KQJ"``, highest first."""
    return SequenceEntered(seat=seat, cards=len(text), top=text[0], trumps=trumps)


def result_of(points: tuple[int, ...], *, declarer: int = P1, **more: Any) -> Result:
    """Return the result of a deal in spades with these points for tricks, and with tricks as equal as possible."""
    tricks = 8 if len(points) == 4 else 9
    takers = [seat for seat, many in enumerate(points) if many]
    taken = [0] * len(points)
    for trick in range(tricks):
        taken[takers[trick % len(takers)]] += 1
    given = {"declarer": declarer, "trumps": "S", "card_points": points, "taken": tuple(taken)} | more
    return Result(**given)


def enter(t: Tallied, points: tuple[int, ...], **more: Any) -> DealScored:
    t.do(result_of(points, **more))
    return t.line


class TestWorkedExamples:
    """The score sheets of the rulebook's examples give their numbers."""

    @pytest.mark.rule("E42", "E43")
    @pytest.mark.rule("E-X1")
    def test_the_declarer_is_ahead(self) -> None:
        t = table()
        line = enter(t, (58, 41), sequences=(seq(P1, "QJT"),))
        assert (t.change(), line.detail["own"], line.kind) == ((78, 41), [78, 41], "scored")
        assert [(one.seat, one.points, one.rule) for one in line.entries] == [
            (P1, 58, "E33"),
            (P1, 20, "E20"),
            (P2, 41, "E33"),
        ]

    @pytest.mark.rule("E45")
    @pytest.mark.rule("E-X3")
    def test_bete(self) -> None:
        t = table()
        enter(t, (45, 70))
        assert t.change() == (0, 115)

    @pytest.mark.rule("E20", "E22")
    @pytest.mark.rule("E-X5")
    def test_the_better_sequence(self) -> None:
        t = table()
        assert enter(t, (60, 60), sequences=(seq(P2, "KQJ"),)).detail["sequence_points"] == [0, 20]

    @pytest.mark.rule("E24", "E-O12")
    @pytest.mark.rule("E-X7")
    def test_level_in_plain_suits(self) -> None:
        """No seat scores, so no sequence is entered; with ``ten_each`` both are."""
        t = table()
        both = (seq(P1, "QJT"), seq(P2, "QJT"))
        t.wrong(result_of((60, 60), sequences=both), rule="E24", code="one_side_has_sequences", at="/sequences/1")
        assert enter(t, (60, 60)).detail["sequence_points"] == [0, 0]
        t = table(equal_sequences="ten_each")
        line = enter(t, (60, 60), sequences=both)
        assert line.detail["sequence_points"] == [10, 10]
        assert {one.rule for one in line.entries if one.points == 10} == {"E-O12"}

    @pytest.mark.rule("E-O11")
    @pytest.mark.rule("E-X9")
    def test_four_cards_beat_five(self) -> None:
        t = table()
        assert enter(t, (60, 60), sequences=(seq(P2, "QJT9"),)).detail["sequence_points"] == [0, 50]
        t = table(longer_sequence_wins=True)
        assert enter(t, (60, 60), sequences=(seq(P1, "JT987"),)).detail["sequence_points"] == [50, 0]

    @pytest.mark.rule("E11", "E-O6")
    @pytest.mark.rule("E-X11")
    def test_a_new_deal_agreed_on(self) -> None:
        t = table()
        line = t.enter(kind="redeal")
        assert (line.kind, line.points, line.entries, t.dealer) == ("redeal", (0, 0), (), P2)

    @pytest.mark.rule("E47", "E48", "E-O23")
    @pytest.mark.rule("E-X13")
    @pytest.mark.parametrize(
        ("points", "change"), [((70, 52, 40), (0, 87, 75)), ((61, 52, 40), (0, 83, 70))], ids=["even", "odd"]
    )
    def test_three_players(self, points: tuple[int, ...], change: tuple[int, ...]) -> None:
        t = table(3)
        enter(t, points)
        assert t.change() == change

    @pytest.mark.rule("E52", "E53")
    @pytest.mark.rule("E-X15")
    def test_four_players(self) -> None:
        t = table(4)
        line = enter(t, (45, 37, 40, 40), sequences=(seq(P4, "KQJT"), seq(P2, "AKQ")))
        assert t.change() == (0, 232, 0, 232)
        assert [(one.seat, one.rule) for one in line.entries if one.points == 70] == [(P2, "E53"), (P4, "E20")]
        t = table(4)
        enter(t, (45, 37, 40, 40), sequences=(seq(P3, "KQJT"), seq(P1, "AKQ")))
        assert t.change() == (155, 77, 155, 77)

    @pytest.mark.rule("E18", "E26")
    def test_bella(self) -> None:
        t = table()
        line = enter(t, (60, 60), bella=P2)
        assert (line.detail["bella_points"], t.change()) == ([0, 20], (0, 140))

    @pytest.mark.rule("E44", "E-O36")
    def test_points_set_aside(self) -> None:
        t = table(tie_rule="carry")
        assert enter(t, (60, 60)).detail["carry"] == 60
        assert t.enter(kind="passed_out").detail["carry"] == 60
        enter(t, (70, 50))
        assert t.change() == (130, 50)

    @pytest.mark.rule("E46")
    def test_the_match_is_won(self) -> None:
        t = table(target_score=100)
        events = t.do(result_of((120, 36)))
        assert (t.won_by, len(events)) == ((P1, "target"), 4)

    @pytest.mark.rule("E-O38")
    def test_half_points(self) -> None:
        t = table(3, bete_odd_point="exact_half")
        assert enter(t, (61, 52, 40)).halves
        assert t.points == (0, 82.5, 70.5)


class TestCardPoints:
    """E33-E41, E-O3: points of the cards in tricks."""

    @pytest.mark.rule("E33", "E41", "E-O3")
    def test_the_possible_sums_of_card_points_depend_on_the_number_of_players(self) -> None:
        assert POSSIBLE_SUMS[4] == {162}
        assert POSSIBLE_SUMS[3] == {*range(95, 163)} - {161}, "no cards are worth one point"
        assert POSSIBLE_SUMS[2] == {*range(28, 157)}

    @pytest.mark.rule("E33", "E41")
    @pytest.mark.parametrize(
        ("points", "least", "most"),
        [
            ((100, 57), 28, 156),
            ((20, 7), 28, 156),
            ((90, 50, 21), 95, 162),
            ((90, 50, 23), 95, 162),
            ((50, 40, 4), 95, 162),
            ((50, 50, 50, 11), 162, 162),
            ((50, 50, 50, 13), 162, 162),
        ],
    )
    def test_they_must_add_up(self, points: tuple[int, ...], least: int, most: int) -> None:
        t = table(len(points))
        refusal = t.wrong(result_of(points), rule="E33", code="card_points_do_not_add_up", at="/card_points")
        assert refusal.facts == {"least": least, "most": most, "total": sum(points), "at": "/card_points"}

    @pytest.mark.rule("E32")
    @pytest.mark.parametrize(("players", "needed"), [(2, 9), (3, 9), (4, 8)])
    def test_all_tricks(self, players: int, needed: int) -> None:
        points = (60, 50, 40, 12)[:players]
        t = table(players)
        for taken in ((needed + 1,), (needed - 1,)):
            taken = (*taken, *(0 for _ in range(players - 1)))
            refusal = t.wrong(result_of(points, taken=taken), rule="E32", code="not_all_tricks", at="/taken")
            assert (refusal.facts["needed"], refusal.facts["total"]) == (needed, sum(taken))

    @pytest.mark.rule("E33")
    def test_none_without_a_trick(self) -> None:
        wrong = result_of((100, 2), taken=(9, 0))
        table().wrong(wrong, rule="E33", code="points_without_a_trick", at="/card_points/1")
        t = table()
        enter(t, (100, 0), taken=(8, 1))
        assert t.change() == (100, 0), "a trick may be worth nothing"

    @pytest.mark.parametrize("name", ["card_points", "taken"])
    def test_one_number_a_seat(self, name: str) -> None:
        rule = "E33" if name == "card_points" else "E32"
        for numbers in ((60,), (60, 50, 1), ()):
            wrong = result_of((60, 50), **{name: numbers})
            table().wrong(wrong, rule=rule, code="one_count_a_seat", at=f"/{name}")


class TestContract:
    """E5-E13, E47."""

    @pytest.mark.rule("E5", "E32", "E33")
    @pytest.mark.parametrize(
        ("name", "rule"), [("declarer", "E5"), ("trumps", "E5"), ("card_points", "E33"), ("taken", "E32")]
    )
    def test_required_fields(self, name: str, rule: str) -> None:
        wrong = result_of((60, 50), **{name: None})
        table().wrong(wrong, rule=rule, code="missing_in_the_result", at=f"/{name}")

    @pytest.mark.rule("E10", "E11")
    @pytest.mark.parametrize(
        "more",
        [
            {"declarer": 0},
            {"trumps": "S"},
            {"card_points": (60, 50)},
            {"taken": (5, 4)},
            {"sequences": (SequenceEntered(seat=0, cards=3, top="K", trumps=False),)},
            {"bella": 0},
        ],
    )
    @pytest.mark.parametrize(("kind", "rule"), [("passed_out", "E10"), ("redeal", "E11")])
    def test_nothing_else_of_a_deal_that_was_not_played(self, kind: Any, rule: str, more: dict[str, Any]) -> None:
        t, at = table(), f"/{next(iter(more))}"
        t.wrong(Result(kind=kind, **more), rule=rule, code="nothing_was_played", at=at)
        line = t.enter(kind=kind)
        assert (line.kind, line.tricks, line.detail) == (kind, (0, 0), {"carry": 0})

    @pytest.mark.rule("E-O5", "E-O40")
    def test_the_dealer_must_choose(self) -> None:
        t = table(all_pass="dealer_must_choose")
        t.wrong(Result(kind="passed_out"), rule="E-O40", code="dealer_must_choose", at="/kind")
        t.enter(kind="redeal")

    def test_there_is_no_such_seat(self) -> None:
        t = table()
        t.wrong(result_of((60, 50), declarer=P3), rule=None, code="no_such_seat", at="/declarer")
        t.wrong(result_of((60, 50), bella=P3), rule=None, code="no_such_seat", at="/bella")
        wrong = result_of((60, 50), sequences=(seq(P3, "KQJ"),))
        t.wrong(wrong, rule=None, code="no_such_seat", at="/sequences/0/seat")


class TestSequences:
    """E15-E24, E53."""

    @pytest.mark.rule("E24", "E53", "E-O25")
    @pytest.mark.parametrize(
        ("players", "rule", "second"), [(2, "E24", P2), (3, "E-O25", P3), (4, "E53", P2), (4, "E53", P4)]
    )
    def test_one_side_scores(self, players: int, rule: str, second: int) -> None:
        points = (60, 50, 40, 12)[:players]
        wrong = result_of(points, sequences=(seq(P1, "KQJ"), seq(P1, "987"), seq(second, "987")))
        table(players).wrong(wrong, rule=rule, code="one_side_has_sequences", at="/sequences/2")

    @pytest.mark.rule("E-O25")
    def test_an_option_lets_both_opponents_of_three_count_sequences(self) -> None:
        both = (seq(P2, "KQJ"), seq(P3, "987"))
        t = table(3, three_player_side_sequences=True)
        assert enter(t, (60, 50, 40), sequences=both).detail["sequence_points"] == [0, 20, 20]
        wrong = result_of((60, 50, 40), declarer=P2, sequences=both)
        t.wrong(wrong, rule="E-O25", code="one_side_has_sequences", at="/sequences/1")

    @pytest.mark.rule("E-O12")
    @pytest.mark.parametrize(
        "other",
        [seq(P2, "JT9"), seq(P2, "QJT9"), seq(P2, "QJT", trumps=True)],
        ids=["another top", "another class", "in trumps"],
    )
    def test_ten_each_only_if_they_are_level(self, other: SequenceEntered) -> None:
        t = table(equal_sequences="ten_each")
        wrong = result_of((60, 50), sequences=(seq(P1, "QJT"), other))
        t.wrong(wrong, rule="E24", code="one_side_has_sequences", at="/sequences/1")
        twice = result_of((60, 50), sequences=(seq(P1, "QJT"), seq(P2, "QJT"), seq(P2, "QJT")))
        t.wrong(twice, rule="E24", code="one_side_has_sequences", at="/sequences/1")

    @pytest.mark.rule("E-O11", "E-O12")
    @pytest.mark.parametrize("longer", [False, True])
    def test_four_and_five_are_level_unless_longer_ones_win(self, longer: bool) -> None:
        t = table(equal_sequences="ten_each", longer_sequence_wins=longer)
        both = result_of((60, 50), sequences=(seq(P1, "QJT9"), seq(P2, "QJT98")))
        if longer:
            t.wrong(both, rule="E24", code="one_side_has_sequences", at="/sequences/1")
        else:
            t.do(both)
            assert t.line.detail["sequence_points"] == [10, 10]

    @pytest.mark.rule("E-O14")
    def test_a_trick_is_needed_if_so_agreed(self) -> None:
        for needed, points in ((False, [0, 20]), (True, [0, 0])):
            t = table(declaration_needs_trick=needed)
            line = enter(t, (100, 0), taken=(9, 0), sequences=(seq(P2, "KQJ"),))
            assert line.detail["sequence_points"] == points
        t = table(4, declaration_needs_trick=True)
        line = enter(t, (81, 81, 0, 0), taken=(4, 4, 0, 0), sequences=(seq(P3, "KQJ"),))
        assert line.detail["sequence_points"] == [0, 0, 20, 0], "the partner has tricks"

    @pytest.mark.rule("E-O10")
    def test_only_the_best_if_so_agreed(self) -> None:
        t = table(winner_scores_all_sequences=False)
        two = result_of((60, 50), sequences=(seq(P1, "KQJ"), seq(P1, "987")))
        t.wrong(two, rule="E-O10", code="only_the_best_sequence", at="/sequences/1")
        six = enter(t, (60, 50), sequences=(seq(P1, "AKQJT9"),))
        assert six.detail["sequence_points"] == [50, 0]

    @pytest.mark.rule("E-O1", "E-O10", "E-O34")
    @pytest.mark.parametrize(
        ("cards", "points"), [("KQJ", 20), ("KQJT", 50), ("KQJT9", 100), ("AKQJT9", 100), ("AKQJT98", 100)]
    )
    def test_a_run_counts_the_agreed_points(self, cards: str, points: int) -> None:
        t = table(sequence_points={"small": 20, "large": 50, "five": 100})
        assert enter(t, (60, 50), sequences=(seq(P1, cards),)).detail["sequence_points"] == [points, 0]

    @pytest.mark.rule("E15", "E16", "E17")
    @pytest.mark.parametrize(
        ("cards", "top", "rule"),
        [(3, "8", "E15"), (4, "9", "E16"), (5, "T", "E16"), (8, "K", "E16"), (3, "2", "E15")],
    )
    def test_no_sequence(self, cards: int, top: str, rule: str) -> None:
        one = SequenceEntered(seat=P1, cards=cards, top=top, trumps=False)
        wrong = result_of((60, 50), sequences=(seq(P1, "AKQ"), one))
        table().wrong(wrong, rule=rule, code="no_sequence", at="/sequences/1/top")

    @pytest.mark.rule("E2", "E-O10")
    @pytest.mark.parametrize(
        ("sequences", "at"),
        [
            ((seq(P1, "KQJ", trumps=True), seq(P1, "JT9", trumps=True)), 1),
            (tuple(seq(P1, "KQJ") for _ in range(4)), 3),
            ((seq(P1, "AKQJT"), seq(P1, "AKQJT")), 1),
        ],
        ids=["one card twice", "twelve cards", "ten cards"],
    )
    def test_they_must_go_into_such_hands(self, sequences: tuple[SequenceEntered, ...], at: int) -> None:
        wrong = result_of((60, 50), sequences=sequences)
        table().wrong(wrong, rule="E-O10", code="sequences_overlap", at=f"/sequences/{at}")

    @pytest.mark.rule("E2", "E-O10")
    def test_there_are_three_plain_suits(self) -> None:
        four = tuple(seq(seat, "KQJ") for seat in (P1, P3, P1, P3))
        wrong = result_of((45, 37, 40, 40), sequences=four)
        table(4).wrong(wrong, rule="E-O10", code="sequences_overlap", at="/sequences/3")

    @pytest.mark.rule("E-O10")
    def test_three_of_a_rank_do(self) -> None:
        t = table()
        three = tuple(seq(P1, "KQJ") for _ in range(3))
        assert enter(t, (60, 50), sequences=three).detail["sequence_points"] == [60, 0]

    @pytest.mark.rule("E18")
    @pytest.mark.parametrize(("cards", "held"), [("AKQ", False), ("QJT", False), ("JT9", True), ("AKQJT987", False)])
    def test_bella_lies_in_no_sequence_of_another(self, cards: str, held: bool) -> None:
        t = table()
        both = result_of((60, 50), sequences=(seq(P1, cards, trumps=True),), bella=P2)
        if held:
            t.do(both)
        else:
            t.wrong(both, rule="E18", code="no_bella", at="/bella")
        own = result_of((60, 50), sequences=(seq(P1, cards, trumps=True),), bella=P1)
        t.do(own)
        plain = result_of((60, 50), sequences=(seq(P1, cards),), bella=P2)
        t.do(plain)


class TestOnRecord:
    """E-O41. A deal is entered whole, and shown by one event."""

    @pytest.mark.rule("E42", "E-O41")
    def test_the_events(self) -> None:
        t = table()
        result = result_of((58, 41), sequences=(seq(P1, "QJT"),), bella=P2)
        entered, counted, line = t.do(result)
        assert entered == ResultEntered(result=result)
        assert counted == DealCounted(
            kind="scored",
            tricks=(5, 4),
            declarer=P1,
            trumps="S",
            card_points=(58, 41),
            sequence_points=(20, 0),
            bella_points=(0, 20),
            scoring=(P1,),
        )
        assert isinstance(line, DealScored)
        assert {one.events for one in line.entries} == {(3,)}
        assert line.entries[1] == Entry(seat=P1, points=20, rule="E20", events=(3,))

    @pytest.mark.rule("E-O41")
    def test_nothing_else_is_done(self) -> None:
        t = table()
        assert (t.to_act, t.legal(P1), t.legal(P2)) == ((), (), ())
        t.wrong(Deal(seat=P2), rule="E-O41", code="entered_whole")
        t.wrong(Bid(seat=P1, bid="take"), rule="E5", code="wrong_phase")
        t.wrong(Trick(seat=P1), rule=None, code="not_in_this_game")
        for name in ("bids", "tricks", "answers", "knocks", "faults"):
            result_of: Any = {"bids": ({"seat": 0, "bid": "take"},), "tricks": (0,)}.get(name, ())
            t.wrong(Result(**{name: result_of}), rule=None, code="not_in_the_result", at=f"/{name}")
        t.wrong(Result(misdeal=True), rule=None, code="not_in_the_result", at="/misdeal")

    @pytest.mark.rule("E-O41")
    def test_wherever_a_replay_stops(self) -> None:
        t = table(4)
        enter(t, (45, 37, 40, 40), sequences=(seq(P4, "KQJT"),), bella=P1)
        t.enter(kind="redeal")
        for version in range(1, t.version + 1):
            match: Any = fold(None, t.history[:version])
            assert msgspec.json.decode(msgspec.json.encode(match.play), type=t.rules.state) == match.play
            for viewer in (P1, "official", "spectator"):
                seen = match.rules.view(match.play, viewer)
                assert (seen.hand, seen.hands, seen.cards_left) == (None, None, None)
                assert "turn_up" not in seen.more
