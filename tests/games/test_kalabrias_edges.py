"""Edge cases of Kalabrias: fields of answers, proofs of claims, and the events that a line names."""

from typing import Any

import pytest

from referee.acts import Declare, Exchange, Knock
from referee.events import TrickTaken
from referee.games.kalabrias.facts import SequenceAnswered, TrumpsMade
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from tests.games.kalabrias_table import Closed, Table, declaring, hands, table
from tests.support.match_driver import P1, P2, P3


@pytest.mark.rule("E-O30")
def test_a_seat_that_does_not_exist_cannot_be_accused():
    table().refused(Knock(seat=P1, accused=2), rule=None, kind=NotInPlay, code="no_such_seat")


@pytest.mark.rule("E3", "E14")
def test_the_dealer_is_awaited_before_each_of_the_two_deals():
    t = table(players=3, dealer=P2)
    assert t.seen().to_act == (P2,)
    t.dealt(hands("||", "S9"), "S9")
    t.do(t.legal(P3)[0])
    assert (t.phase, t.seen().to_act) == ("later_cards", (P2,))


@pytest.mark.rule("E-O16", "E51")
def test_with_four_the_seven_of_trumps_is_not_exchanged():
    t = declaring("| S7 | |", trump_seven_exchange=True)
    assert not [act for act in t.legal(P2) if isinstance(act, Exchange)]


def test_only_officials_see_that_no_breach_stands():
    t = declaring("|")
    assert (t.seen("official").breaches, t.seen(P1).breaches, t.seen("spectator").breaches) == ((), None, None)


# Sequences


@pytest.mark.rule("E25", "E-O35")
@pytest.mark.parametrize(
    ("theirs", "refrains"), [("DA DK DQ", True), ("DK DQ DJ", True), ("DQ DJ DT", False), ("", False)]
)
def test_a_player_with_an_equal_sequence_who_says_enough_refrains(theirs: str, refrains: bool):
    t = declaring(f"HK HQ HJ | {theirs}").says("small enough")
    assert [answered.refrains for answered in t.happened(SequenceAnswered)] == [refrains]


@pytest.mark.rule("E-O11")
@pytest.mark.parametrize(
    ("text", "words", "fives"),
    [
        ("HQ HJ HT | D9 DT DJ DQ", "small better", [False]),
        ("H7 H8 H9 HT HJ | D8 D9 DT DJ DQ", "large equal J better", [False, True]),
        ("H7 H8 H9 HT HJ | D8 D9 DT DJ DQ", "large enough", [False]),
    ],
)
def test_only_the_holder_of_a_better_sequence_says_that_it_is_long(text: str, words: str, fives: list[bool]):
    t = declaring(text, longer_sequence_wins=True).says(words)
    assert [answered.five for answered in t.happened(SequenceAnswered)] == fives


@pytest.mark.rule("E-O11", "E-O33")
@pytest.mark.parametrize(
    ("words", "fives"),
    [("small better", [False]), ("small equal Q better", [False, False]), ("large better", [True])],
)
def test_with_closed_hands_a_better_one_is_long_only_against_a_large_one(words: str, fives: list[bool]):
    c = Closed("|", longer_sequence_wins=True).says(words)
    assert [answered.five for answered in c.t.happened(SequenceAnswered)] == fives


@pytest.mark.rule("E20", "E22", "E-O33")
@pytest.mark.parametrize(
    ("text", "words", "options", "points"),
    [
        ("HQ HJ HT | DQ DJ DT", "small equal Q better", {}, [0, 0]),  # as high is not better
        ("H8 H9 HT HJ | ", "large enough", {"longer_sequence_wins": True}, [50, 0]),  # four were claimed, not five
    ],
)
def test_with_closed_hands_the_cards_bear_out_what_was_said(
    text: str, words: str, options: dict[str, Any], points: list[int]
):
    assert Closed(text, **options).says(words).detail["sequence_points"] == points


@pytest.mark.rule("E-O10")
def test_only_the_best_sequence_counts_though_another_would_bring_more():
    t = declaring("HA HK HQ HJ D7 D8 D9 DT DJ | ", winner_scores_all_sequences=False, sequence_points={"five": 100})
    assert t.says("large enough").played_out().line.detail["sequence_points"] == [50, 0]


@pytest.mark.rule("E-O14", "E53")
def test_a_trick_of_the_partner_is_enough_for_a_sequence():
    def played(seed: int) -> Table:
        t = declaring("H7 H8 H9 | | | ", declaration_needs_trick=True)
        return t.says("small enough enough enough").played_out(seed)

    t = next(t for t in map(played, range(200)) if not t.line.tricks[P1] and t.line.tricks[P3])
    assert t.line.detail["sequence_points"] == [20, 0, 0, 0]


@pytest.mark.rule("E19", "E-O34")
@pytest.mark.parametrize("said", [{}, {"cards": ("D7", "D8", "D9"), "sequence": "small"}])
def test_in_the_play_nothing_but_cards_is_said_of_sequences(said: Any):
    c = Closed("HQ HJ HT H9 D7 D8 D9 | ").says("large enough")
    c.t.refused(Declare(seat=P1, **said), rule="E19", kind=WrongPhase, code="declarations_over")
    t = declaring("HQ HJ HT H9 D7 D8 D9 | ").says("large enough")
    t.refused(Declare(seat=P1, **said), rule="E19", kind=WrongPhase, code="declarations_over")
    shown = Declare(seat=P1, cards=("D7", "D8", "D9"))
    t.refused(shown, rule="E-O34", kind=AgainstTheRules, code="cards_known")


@pytest.mark.rule("E-O34")
def test_cards_may_be_shown_until_the_lead_to_the_second_trick():
    c = Closed("HQ HJ HT H9 D7 D8 D9 | ").says("large enough")
    listed = []
    for _ in range(4):
        listed.append(Declare(seat=P1) in c.t.legal(P1))
        c.play(1)
    assert listed == [True, True, True, False]


# The line


@pytest.mark.rule("E45")
def test_the_entry_of_a_lost_contract_names_the_tricks_of_the_declarer():
    t = next(
        t
        for t in (declaring("|").says("none none").played_out(seed) for seed in range(50))
        if t.line.detail["outcome"] == "bete" and all(t.line.tricks)
    )
    (entry,) = (entry for entry in t.line.entries if entry.rule == "E45")
    made, *taken = map(t.event, entry.events)
    assert isinstance(made, TrumpsMade)
    assert taken == [event for event in t.happened(TrickTaken) if event.seat == t.line.declarer]


@pytest.mark.rule("E46", "E-O20")
def test_a_single_player_of_three_reaches_the_target_and_wins():
    t = declaring("||", points=(10, 490, 10)).says("none none none").played_out()
    assert t.won is not None
    assert (t.won.seat, t.won.rule) == (P2, "E46")


@pytest.mark.rule("E-O38")
@pytest.mark.parametrize(
    "rules", [{"bete_split": "none"}, {"bete_split": "full_to_both", "tie_rule": "carry"}], ids=["none", "carry"]
)
def test_points_are_whole_if_nothing_is_halved(rules: Any):
    t = table(players=3, bete_odd_point="exact_half", **rules)
    t.dealt(hands("||", "S9"), "S9").calls("take").says("none none none").played_out()
    assert t.line.halves is False
