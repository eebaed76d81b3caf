"""``openapi/shuffle.py`` accepts every honest record of a shuffle, and no forged one."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import pytest

from referee.games import RULESETS
from referee.store.aggregate import event_types
from tests.support.forged_shuffles import (
    FORGERIES,
    Line,
    Record,
    dealings,
    dealt_again,
    entropy,
    fair,
    forged,
    given,
    record,
)
from tests.support.in_process_programs import run_here
from tests.support.verifiable_shuffles import NOT_SHOWN, PROGRAM, STANDS, checked

MATCHES = 6


@pytest.fixture(scope="module")
def records() -> list[Record]:
    """Return records of some matches of each game, each with at least one deal."""
    found = [record(ruleset, seed) for ruleset in RULESETS for seed in range(MATCHES)]
    return [one for one in found if any(line["event"]["topic"] == "deal/dealt" for line in one.lines)]


def test_every_game_is_there(records: list[Record]) -> None:
    assert {one.lines[0]["event"]["ruleset"] for one in records} == RULESETS.keys()
    topics = {line["event"]["topic"] for one in records for line in one.lines}
    assert topics >= {
        "deal/voided",
        "player/eliminated",
        "protocol/corrected",
        "deal/new-hands",
        "deal/card-given",
        "deal/later-cards-dealt",
        "dealer/drawn",
        "pot/staked",
    }


def test_honest_shuffles_are_fair(records: list[Record]) -> None:
    assert [one for one in records if not fair(one)] == []


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forged_shuffles_are_not_fair(records: list[Record], forge: Callable[[list[Line], Random], bool]) -> None:
    chance = Random(forge.__name__)
    false = [made for one in records if (made := forged(one, forge, chance)) is not None]
    assert false, "there was something to forge"
    assert [one for one in false if fair(one)] == []


class TestKept:
    """A client that has kept its events finds a later replacement, even a consistent one."""

    def kept(self, one: Record, place: Path, *numbers: int) -> list[str]:
        place.write_text("\n".join(json.dumps(one.lines[number - 1]) for number in numbers), "utf-8")
        return ["--kept", str(place)]

    def said(self, one: Record, *more: str) -> tuple[int, str]:
        return run_here(PROGRAM, [str(one.match), *more], "\n".join(map(json.dumps, one.lines)))

    def replaced(self, records: list[Record]) -> tuple[Record, Record, int]:
        """Return a match, a copy with other digits of a seat and the resulting cards, and the number of the event."""
        for one in records:
            for begun, dealt, _ in dealings(list(one.lines)):
                for place in given(list(one.lines), begun, dealt):
                    lines: list[Line] = json.loads(json.dumps(one.lines))
                    lines[place]["event"]["hex"] = "0" * 32
                    dealt_again(lines)
                    other = Record(one.match, tuple(lines))
                    if fair(other):
                        return one, other, place + 1
        raise AssertionError("no seat has added anything")

    def test_other_digits_are_found(self, records: list[Record], tmp_path: Path) -> None:
        one, other, number = self.replaced(records)
        kept = self.kept(one, tmp_path / "kept", number)
        assert self.said(one, *kept)[0] == 0
        code, said = self.said(other, *kept)
        assert (code, f"event {number} differs from the event that you kept" in said) == (1, True)

    def test_another_commitment_is_found(self, records: list[Record], tmp_path: Path) -> None:
        one = records[0]
        lines: list[Line] = json.loads(json.dumps(one.lines))
        begun, _, _ = next(dealings(lines))
        lines[begun]["event"]["seed"] = "0" * 64
        dealt_again(lines)
        hidden = json.loads(json.dumps(one.lines[begun]))
        hidden["event"]["seed"] = ""  # the value while the deal was under way
        (tmp_path / "kept").write_text(json.dumps(hidden), "utf-8")
        kept = ["--kept", str(tmp_path / "kept")]
        assert self.said(one, *kept)[0] == 0
        code, said = self.said(Record(one.match, tuple(lines)), *kept)
        assert (code, f"event {begun + 1} differs from the event that you kept" in said) == (1, True)

    def test_an_event_that_is_gone_is_found(self, records: list[Record], tmp_path: Path) -> None:
        one = records[0]
        kept = self.kept(one, tmp_path / "kept", len(one.lines))
        shorter = Record(one.match, one.lines[:-1])
        assert self.said(one, *kept)[0] == 0
        assert "which you kept, is missing" in self.said(shorter, *kept)[1]


class TestReports:
    def test_why_a_deal_is_not_fair(self, records: list[Record]) -> None:
        one = records[0]
        lines: list[Line] = json.loads(json.dumps(one.lines))
        begun, _, _ = next(dealings(lines))
        lines.insert(begun + 1, entropy(0, "official", lines[begun], Random(1)))
        dealt_again(lines)
        code, said = run_here(PROGRAM, [str(one.match)], "\n".join(map(json.dumps, lines)))
        assert code == 1
        assert f"deal 1: {NOT_SHOWN}: seat 0 did not send event {begun + 2} itself\n" in said

    def test_deals_before_a_break_stay_fair(self, records: list[Record]) -> None:
        one = next(one for one in records if len(checked(one.match, map(json.dumps, one.lines))) > 2)
        lines = list(one.lines)
        _, dealt, _ = list(dealings(lines))[-1]
        lines.pop(dealt - 1)
        result = checked(one.match, map(json.dumps, lines))
        assert result[1] == STANDS


def test_it_knows_the_fields_of_every_event_that_it_reads() -> None:
    kinds, known = event_types(), runpy.run_path(str(PROGRAM))["FIELDS"]
    for topic, (needed, allowed) in known.items():
        fields = msgspec.structs.fields(kinds[topic])
        assert needed.split() == [field.encode_name for field in fields if field.required]
        assert allowed.split() == [field.encode_name for field in fields if not field.required]
