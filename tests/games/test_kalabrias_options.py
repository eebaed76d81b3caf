"""Kalabrias: the options, and a check that each option changes only what it describes."""

from typing import Any

import msgspec
import pytest

from referee.games.kalabrias import RULESET
from referee.visibility import Event
from tests.games.kalabrias_table import Table, declaring, opened, table

DEFAULTS = {
    "sequence_points": {"small": 20, "large": 50, "five": None},
    "bella_points": 20,
    "all_pass": "redeal_next_dealer",
    "redeal_dealer": "same",
    "refused_redeal_declarer": "proposer",
    "winner_scores_all_sequences": True,
    "longer_sequence_wins": False,
    "equal_sequences": "none",
    "declaration_needs_trick": False,
    "trump_seven_exchange": False,
    "must_overtrump": False,
    "target_score": 500,
    "target_tie": "play_on",
    "tie_rule": "opponent_only",
    "three_player_compare": "sum",
    "bete_split": "half",
    "bete_odd_point": "higher_opponent",
    "three_player_side_sequences": False,
    "bella_deadline": "second_card",
    "trick_rank": "ten_high",
    "money": "none",
}
OTHERWISE: list[tuple[str, Any]] = [
    ("sequence_points", {"small": 20, "large": 50, "five": 100}),
    ("bella_points", 40),
    ("all_pass", "dealer_must_choose"),
    ("redeal_dealer", "next"),
    ("refused_redeal_declarer", "refuser"),
    ("winner_scores_all_sequences", False),
    ("longer_sequence_wins", True),
    ("equal_sequences", "ten_each"),
    ("equal_sequences", "forehand"),
    ("declaration_needs_trick", True),
    ("trump_seven_exchange", True),
    ("must_overtrump", True),
    ("target_score", 501),
    ("tie_rule", "bete"),
    ("tie_rule", "carry"),
    ("three_player_compare", "each"),
    ("bete_split", "none"),
    ("bete_odd_point", "exact_half"),
    ("three_player_side_sequences", True),
    ("bella_deadline", "first_card"),
]
"""Values that change nothing in an ordinary deal of two."""


def ordinary_deal(**options: Any) -> list[Event]:
    """Return the events of a deal with a small sequence and no other special feature."""
    t: Table = declaring("HQ HJ HT | ", calls="pass take", **options).says("small enough").played_out(2)
    return [recorded.event for recorded in t.history[1:]]


class TestOptions:
    """Options agree with the rulebook, and do not change an ordinary deal."""

    def test_the_defaults_are_those_of_the_rulebook(self):
        assert msgspec.to_builtins(RULESET.options()) == DEFAULTS

    @pytest.mark.parametrize(
        "wrong",
        [
            {"jokers": True},
            {"all_pass": "redeal"},
            {"target_score": 0},
            {"bella_points": -20},
            {"target_tie": "highest"},
            {"sequence_points": {"small": 20, "four": 50}},
            {"sequence_points": 20},
        ],
    )
    def test_there_are_no_others(self, wrong: dict[str, Any]):
        with pytest.raises(msgspec.ValidationError):
            table(**wrong)

    @pytest.mark.parametrize(("option", "value"), OTHERWISE)
    def test_an_ordinary_deal_is_the_same(self, option: str, value: Any):
        assert ordinary_deal(**{option: value}) == ordinary_deal()

    def test_every_option_says_which_rule_it_answers(self):
        for field in msgspec.inspect.type_info(RULESET.options).fields:
            assert field.type.extra_json_schema["description"].startswith("E"), field.name

    def test_an_option_that_came_later_has_its_default(self):
        made = opened()
        del made.options["trick_rank"]
        assert RULESET.start(made).table.options.trick_rank == "ten_high"
