"""Kalabrias: the settlement and the end of a match (E42-E48, E52-E53)."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.acts import Score
from referee.events import DealScored, MatchWon, PlayEnded, TrickTaken
from referee.games.kalabrias.facts import BellaDeclared, SequenceDeclared, TrumpsMade
from referee.games.kalabrias.scoring import scored
from referee.games.kalabrias.states import Played
from referee.refusals import WrongPhase
from tests.games.kalabrias_table import Table, declaring, hands, table
from tests.support.match_driver import P1, P2, P3, P4


def line(
    tricks: tuple[int, ...],
    *,
    sequences: str = "",
    bella: int | None = None,
    cards: str | None = None,
    declarer: int = P1,
    carry: int = 0,
    **match: Any,
) -> DealScored:
    """Return the line of a deal with these points for tricks, and with the ``sequences`` stated for these
    ``cards``."""
    events = settled(tricks, sequences, bella, cards, declarer, carry, **match)
    assert isinstance(events[0], DealScored)
    return events[0]


def settled(
    tricks: tuple[int, ...],
    sequences: str = "",
    bella: int | None = None,
    cards: str | None = None,
    declarer: int = P1,
    carry: int = 0,
    **match: Any,
) -> tuple[Any, ...]:
    """Return all events of the score of such a deal."""
    players = len(tricks)
    calls = "pass " * declarer + "take"
    text = cards or "|" * (players - 1)
    t = declaring(text, calls=calls, declarer=declarer, enforcement="penalise", **match)
    if bella is not None:
        t.bella(bella)
    t.says(sequences or "none " * players).played_out()
    state = t.state
    assert isinstance(state, Played)
    return scored(replace(state.table, carry=carry), replace(state.outcome, card_points=tricks))


def change(scored: DealScored) -> list[int]:
    """Return the points that the deal added, by seat."""
    return [after - before for before, after in zip(scored.before, scored.points, strict=True)]


class TestTwoPlayers:
    """Declarer and opponent."""

    @pytest.mark.rule("E42", "E43")
    @pytest.mark.rule("E-X1")
    def test_the_declarer_is_ahead(self):
        made = line((58, 41), sequences="small enough", cards="HQ HJ HT | ")
        assert change(made) == [78, 41]
        assert made.detail["own"] == [78, 41]
        assert (made.detail["outcome"], made.detail["rule"]) == ("made", "E43")
        assert (made.kind, made.contract, made.declarer) == ("scored", "S", P1)

    @pytest.mark.rule("E44", "E-O21")
    def test_level(self):
        tie = line((60, 60))
        assert change(tie) == [0, 60]
        assert (tie.detail["outcome"], tie.detail["rule"], tie.detail["carry"]) == ("tie", "E44", 0)

    @pytest.mark.rule("E45")
    @pytest.mark.rule("E-X3")
    def test_bete(self):
        lost = line((45, 70))
        assert change(lost) == [0, 115]
        assert (lost.detail["outcome"], lost.detail["rule"]) == ("bete", "E45")
        assert change(line((45, 70), declarer=P2)) == [45, 70]

    @pytest.mark.rule("E42", "E18")
    def test_sequences_and_bella_count(self):
        made = line((40, 60), bella=P1, sequences="large enough", cards="SK SQ HQ HJ HT H9 | ")
        assert change(made) == [110, 60]
        lost = line((60, 50), sequences="none large", cards=" | HQ HJ HT H9")
        assert change(lost) == [0, 160]

    @pytest.mark.rule("E-O21")
    def test_level_is_bete(self):
        lost = line((60, 60), tie_rule="bete")
        assert change(lost) == [0, 120]
        assert (lost.detail["outcome"], lost.detail["rule"]) == ("bete", "E-O21")

    @pytest.mark.rule("E-O21", "E-O36")
    def test_level_and_set_aside(self):
        tie = line((60, 60), tie_rule="carry")
        assert (change(tie), tie.detail["carry"]) == ([0, 60], 60)
        again = line((50, 50), tie_rule="carry", carry=60)
        assert (change(again), again.detail["carry"]) == ([0, 50], 110)
        made = line((70, 50), tie_rule="carry", carry=110)
        assert (change(made), made.detail["carry"]) == ([180, 50], 0)
        lost = line((50, 70), tie_rule="carry", carry=110)
        assert (change(lost), lost.detail["carry"]) == ([0, 230], 0)
        assert [(entry.seat, entry.points, entry.rule) for entry in lost.entries] == [
            (P2, 70, "E33"),
            (P2, 50, "E45"),
            (P2, 110, "E-O36"),
        ]

    @pytest.mark.rule("E-O36")
    def test_carried_points_wait_through_deals_without_play(self):
        t = table(tie_rule="carry")
        t.state = replace(t.state, table=replace(t.state.table, carry=40))
        t.dealt(hands("|", "S9"), "S9").calls("redeal yes")
        assert t.line.detail == {"carry": 40}
        assert t.seen("spectator").more["carry"] == 40
        t.dealt(hands("|", "S9"), "S9").calls("take").says("none none").played_out()
        assert t.line.detail["carry"] == 0
        assert sum(t.points) == sum(t.line.detail["own"]) + 40


class TestThreePlayers:
    """The declarer against two."""

    @pytest.mark.rule("E47", "E-O22")
    def test_against_the_sum(self):
        assert change(line((80, 40, 39))) == [80, 40, 39]
        assert line((79, 40, 40)).detail["outcome"] == "bete"

    @pytest.mark.rule("E48", "E-O23")
    @pytest.mark.rule("E-X13")
    def test_half_each(self):
        lost = line((70, 52, 40))
        assert change(lost) == [0, 87, 75]
        assert [(entry.seat, entry.points, entry.rule) for entry in lost.entries] == [
            (P2, 52, "E33"),
            (P3, 40, "E33"),
            (P2, 35, "E48"),
            (P3, 35, "E48"),
        ]

    @pytest.mark.rule("E-O23")
    @pytest.mark.parametrize(
        ("odd", "added"), [("higher_opponent", [0, 83, 70]), ("drop", [0, 82, 70]), ("exact_half", [0, 165, 141])]
    )
    @pytest.mark.rule("E-X13")
    def test_the_odd_point(self, odd: str, added: list[int]):
        lost = line((61, 52, 40), bete_odd_point=odd)
        assert change(lost) == added
        assert lost.halves is (odd == "exact_half")

    @pytest.mark.rule("E-O23", "E-O38")
    @pytest.mark.parametrize(("declarer", "added"), [(P1, [0, 82, 81]), (P2, [81, 0, 82]), (P3, [82, 81, 0])])
    def test_the_odd_point_of_level_ones(self, declarer: int, added: list[int]):
        tricks = tuple(61 if seat == declarer else 51 for seat in range(3))
        assert change(line(tricks, declarer=declarer)) == added
        whole = [112 if points == 82 else 51 if points else 0 for points in added]
        assert change(line(tricks, declarer=declarer, bete_split="higher_opponent_takes_all")) == whole

    @pytest.mark.rule("E-O23")
    @pytest.mark.parametrize(
        ("split", "added"),
        [
            ("half", [0, 83, 70]),
            ("higher_opponent_takes_all", [0, 113, 40]),
            ("full_to_both", [0, 113, 101]),
            ("none", [0, 52, 40]),
        ],
    )
    def test_other_ways_to_share(self, split: str, added: list[int]):
        assert change(line((61, 52, 40), bete_split=split)) == added

    @pytest.mark.rule("E-O24")
    def test_level(self):
        tie = line((80, 50, 30))
        assert (change(tie), tie.detail["outcome"], tie.detail["rule"]) == ([0, 50, 30], "tie", "E-O24")
        assert change(line((80, 50, 30), tie_rule="bete")) == [0, 90, 70]

    @pytest.mark.rule("E-O22")
    def test_against_each(self):
        assert change(line((53, 52, 40), three_player_compare="each")) == [53, 52, 40]
        assert change(line((52, 52, 40), three_player_compare="each")) == [0, 52, 40]
        assert change(line((52, 53, 40), three_player_compare="each")) == [0, 79, 66]

    @pytest.mark.rule("E-O36", "E-O23")
    @pytest.mark.parametrize(
        ("split", "added"),
        [
            ("half", [0, 52 + 30 + 15, 40 + 30 + 15]),
            ("higher_opponent_takes_all", [0, 52 + 60 + 30, 40]),
            ("full_to_both", [0, 52 + 60 + 30, 40 + 60 + 30]),
            ("none", [0, 52 + 15, 40 + 15]),
        ],
    )
    def test_the_option_for_bete_splits_carried_points_too(self, split: str, added: list[int]):
        lost = line((60, 52, 40), tie_rule="carry", carry=30, bete_split=split)
        assert (change(lost), lost.detail["carry"]) == (added, 0)
        assert change(line((100, 30, 20), tie_rule="carry", carry=30)) == [130, 30, 20]

    @pytest.mark.rule("E-O38")
    def test_halves_of_a_point(self):
        t = table(players=3, bete_odd_point="exact_half", points=(100, 90, 80))
        assert t.state.table.points == (200, 180, 160)
        assert t.seen().points == (100, 90, 80)
        t.dealt(hands("||", "S9"), "S9").calls("take").says("none none none").played_out()
        assert t.line.before == (200, 180, 160)
        assert sum(change(t.line)) == 2 * sum(t.line.detail["own"])
        assert table(players=2, bete_odd_point="exact_half").state.table.unit == 1

    @pytest.mark.rule("E-O38", "E46")
    @pytest.mark.rule("E-O36", "E-O38")
    def test_half_of_an_odd_number_set_aside_is_not_lost(self):
        """Only the points set aside are divided between the opponents by ``bete_split: none``."""
        rules = {"tie_rule": "carry", "bete_split": "none", "bete_odd_point": "exact_half"}
        lost = line((60, 52, 40), carry=83, **rules)
        assert change(lost) == [0, 2 * 52 + 83, 2 * 40 + 83]

    def test_the_target_in_halves(self):
        won = settled((100, 30, 20), points=(400, 10, 10), bete_odd_point="exact_half")[-1]
        assert isinstance(won, MatchWon)
        assert (won.seat, won.points, won.halves) == (P1, (1000, 80, 60), True)


class TestFourPlayers:
    """Two against two."""

    @pytest.mark.rule("E49", "E52", "E53", "E45")
    @pytest.mark.rule("E-X15")
    def test_beaten_by_the_partners(self):
        cards = "| HQ HJ HT | D7 D8 D9 | CA CK CQ CJ"
        lost = line((45, 40, 40, 37), cards=cards, sequences="none small enough better")
        assert lost.detail["sequence_points"] == [0, 20, 0, 50]
        assert change(lost) == [0, 232, 0, 232]
        assert [(entry.seat, entry.points, entry.rule) for entry in lost.entries] == [
            (P2, 77, "E33"),
            (P2, 70, "E53"),
            (P4, 77, "E33"),
            (P4, 70, "E20"),
            (P2, 85, "E45"),
            (P4, 85, "E45"),
        ]

    @pytest.mark.rule("E49", "E52", "E53", "E43")
    @pytest.mark.rule("E-X15")
    def test_the_partners_make_it(self):
        cards = "HQ HJ HT | | CA CK CQ CJ | D7 D8 D9"
        made = line((45, 40, 40, 37), cards=cards, sequences="small enough better enough")
        assert made.detail["sequence_points"] == [20, 0, 50, 0]
        assert change(made) == [155, 77, 155, 77]

    @pytest.mark.rule("E52", "E18")
    def test_bella_of_either(self):
        made = line((30, 40, 50, 42), cards="| | SK SQ | ", bella=P3)
        assert made.detail["bella_points"] == [0, 0, 20, 0]
        assert change(made) == [100, 82, 100, 82]

    @pytest.mark.rule("E44", "E-O36")
    def test_level(self):
        assert change(line((41, 40, 40, 41))) == [0, 81, 0, 81]
        assert change(line((51, 40, 40, 31), tie_rule="carry", carry=30)) == [121, 71, 121, 71]
        assert change(line((31, 40, 40, 51), tie_rule="carry", carry=30)) == [0, 192, 0, 192]


class TestTheLine:
    """The fields of a line in the protocol."""

    @pytest.mark.rule("E42", "E33", "E20")
    def test_every_number_has_its_events(self):
        t = declaring("SK SQ HQ HJ HT | ").bella(P1).says("small enough").played_out()
        sums = [0, 0]
        kinds: dict[str, set[type]] = {"E33": {TrickTaken}, "E20": {SequenceDeclared}, "E18": {BellaDeclared}}
        kinds["E45"] = {TrumpsMade, TrickTaken}
        for entry in t.line.entries:
            sums[entry.seat] += entry.points
            events = [t.history[number - 1].event for number in entry.events]
            assert events
            assert {type(event) for event in events} <= kinds[entry.rule]
            assert all(event.seat == entry.seat or entry.rule == "E45" for event in events)
        assert sums == change(t.line)

    def test_it_reads_the_same_from_the_store(self):
        made = line((58, 41), sequences="small enough", cards="HQ HJ HT | ")
        assert msgspec.json.decode(msgspec.json.encode(made), type=DealScored) == made

    def test_points_add_up_over_deals(self):
        t = table()
        for _ in range(2):
            before = t.points
            t.dealt(hands("|", "S9"), "S9").calls("take").played_out()
            assert t.line.before == before
            assert t.points == t.line.points
        assert t.line.deal == 2


class TestScoreAct:
    """A deal that was played waits for its score, if the match penalises errors."""

    def test_it_waits(self):
        t = declaring("|", enforcement="penalise").played_out()
        assert (t.phase, t.happened(DealScored), t.seen().to_act) == ("played", [], (P1, P2))
        assert t.legal(P1) == (Score(seat=P1),)
        t.do(Score(seat=P2))
        assert t.phase == "undealt"

    def test_it_does_not(self):
        t = declaring("|").played_out()
        assert t.happened(PlayEnded) == [PlayEnded(kind="scored")]
        t.refused(Score(seat=P1), rule="E42", kind=WrongPhase)


class TestTheEnd:
    """500 points, counted after the deal."""

    @pytest.mark.rule("E46", "E-O31")
    def test_the_target_is_reached(self):
        events = settled((60, 39), points=(440, 400))
        assert events[1:] == (MatchWon(seat=P1, by="target", rule="E46", points=(500, 439)),)
        assert settled((60, 39), points=(439, 400))[1:] == ()

    @pytest.mark.rule("E-O20")
    def test_both_reach_it(self):
        (won,) = settled((60, 39), points=(450, 480))[1:]
        assert (won.seat, won.rule, won.points) == (P2, "E-O20", (510, 519))

    @pytest.mark.rule("E-O20")
    def test_both_reach_it_level(self):
        assert settled((60, 39), points=(460, 481))[1:] == ()
        assert settled((60, 30, 9), points=(440, 470, 490))[1:] == ()

    @pytest.mark.rule("E46")
    @pytest.mark.parametrize(("target", "over"), [(500, True), (501, False), (450, True)])
    def test_another_target(self, target: int, over: bool):
        assert bool(settled((60, 39), points=(440, 400), target_score=target)[1:]) is over

    @pytest.mark.rule("E46", "E52")
    def test_partners_win_together(self):
        (won,) = settled((40, 30, 50, 42), points=(450, 100, 450, 100))[1:]
        assert (won.seat, won.seats, won.points) == (P1, (P1, P3), (540, 172, 540, 172))

    def test_the_state_of_a_match_that_is_over(self):
        t = table(players=4, target_score=1).dealt(hands("|||", "S9"), "S9").calls("take").played_out()
        assert t.won is not None
        assert t.phase == "over"
        assert t.seen().winner == t.won.seat
        assert t.seen().more["winners"] == t.won.seats
        assert t.won.settlement is None


def test_the_helper_makes_whole_deals() -> None:
    """The helper replaces nothing in a deal but the points for its tricks."""
    t: Table = declaring("HQ HJ HT | ").says("small enough").played_out()
    assert t.line.detail["sequence_points"] == [20, 0]
    assert len(t.happened(TrickTaken)) == 9
    assert P4 not in {event.seat for event in t.happened(TrickTaken)}
