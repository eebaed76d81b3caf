"""Projections after corrections: corrected lines with their former versions, and unchanged rows."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import msgspec
import pytest
from sqlalchemy import Engine, select

from projections.follow.follow import prepare
from projections.matches import Listed, Matches, after_event
from projections.pots import Pots
from projections.pots import csv as pot_csv
from projections.protocols import Line, LineWritten, Protocol, Protocols, csv
from referee.events import in_points
from referee.games import RULESETS
from referee.officials.events.corrections import ProtocolCorrected, lines_as_corrected
from referee.officials.rescoring import rescore
from referee.visibility import Recorded
from tests.officials.random_corrections import (
    Match,
    attended_match,
    correction,
    of_kind,
    scored_deals,
    some_play,
    some_script,
    with_strikes,
)
from tests.projections.filled_log import page_of
from tests.support.random_deals import play_deal

MANY = 12
"""Matches of each ruleset."""


@cache
def corrected(ruleset: str, number: int) -> Match:
    """Return a match with some deals rescored, and perhaps others after that."""
    chance = Random(f"books {ruleset} {number}")
    match = some_play(ruleset, chance, chance.choice((2, 4, 6)), attended_match(ruleset, chance))
    if number % 3 == 0:
        match.close()
    for _ in range(3):
        lines = scored_deals(match)
        if lines and (one := some_script(match, chance, chance.choice(lines).deal)):
            with_strikes(match, correction(one))
        if not match.over and chance.random() < 0.6:
            play_deal(match, False)
    return match


def books_of(engine: Engine, histories: Sequence[Sequence[Recorded]]) -> tuple[Any, ...]:
    """Return the protocol, the pot and the list's entry after the projections have applied these pages in turn."""
    books = Protocols(), Pots(), Matches()
    prepare(engine, books)
    with engine.begin() as connection:
        for projection in books:
            for table in projection.metadata.tables.values():
                connection.execute(table.delete())
            for page in histories:
                projection.apply(connection, page_of(page, page[0].originator_version))
        protocols, pots, matches = books
        match_id = histories[0][0].originator_id
        answer = protocols.answer_json(connection, match_id)
        assert answer is not None
        protocol = protocols.answer(connection, match_id)
        assert answer == (msgspec.json.encode(protocol), protocol.version)
        (entry,) = connection.execute(select(matches.entries)).all()
        kept = connection.scalars(select(protocols.lines.c.line).order_by(protocols.lines.c.event)).all()
        return protocol, pots.answer(connection, match_id), entry, kept


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_books_are_as_the_match_counts(engine: Engine, ruleset: str) -> None:
    was = struck = 0
    for number in range(MANY):
        match = corrected(ruleset, number)
        protocol, pot, entry, kept = books_of(engine, [match.history])
        lines = lines_as_corrected(match.history)
        again = rescore(match.rules, match.history)
        halves = any(getattr(line, "halves", False) for line in lines.values())
        assert [line.event for line in protocol.lines] == list(again.lines)
        for line in protocol.lines:
            counts = lines[line.event]
            assert (line.before, line.points) == (in_points(counts.before, halves), in_points(counts.points, halves))
            assert line.change == tuple(
                after - before for before, after in zip(line.before, line.points, strict=True)
            )
            for seat, change in enumerate(line.change):
                assert change == sum(one.points for one in line.entries if one.seat == seat)
        shown = match.rules.view(match.state, "spectator")
        assert protocol.points == shown.points
        assert protocol.over == (shown.phase == "over") == (entry.status != "open")
        assert protocol.winner == entry.winner == shown.winner
        assert (entry.deal, entry.version) == (max(1, shown.deal), match.version)
        assert (protocol.version, {one.line.deal for one in protocol.struck}) == (match.version, set(again.struck))
        assert protocol.eliminated == tuple(seat for seat in match.seats if seat not in shown.active)
        told = of_kind(match.history, ProtocolCorrected)
        assert protocol.corrected == tuple(one.originator_version for one in told)
        assert len(csv(protocol).splitlines()) == len(protocol.lines) + 1
        if match.rules.has_pot:
            assert pot.contents == match.state.table.pot
            assert [line.event for line in pot.lines] == list(again.lines)
            total = pot.opening + sum(one.units for line in pot.lines for one in line.entries)
            assert (
                total + sum(one.units for one in pot.closed.entries if pot.closed) == pot.contents
                if pot.closed
                else 1
            )
            assert pot_csv(pot).splitlines()[-1].endswith(str(pot.contents))
        assert [msgspec.structs.replace(line, was=()) for line in kept] == kept, "what was written stays"
        was += sum(len(line.was) for line in protocol.lines)
        struck += len(protocol.struck)
    assert was > MANY // 2
    assert struck or ruleset == "rams-english"


@pytest.mark.parametrize("ruleset", RULESETS)
def test_page_by_page_they_say_the_same(engine: Engine, ruleset: str) -> None:
    for number in range(3):
        match, chance = corrected(ruleset, number), Random(number)
        cuts = sorted({0, *chance.sample(range(1, len(match.history)), 4), len(match.history)})
        pages = [match.history[first:last] for first, last in pairwise(cuts)]
        assert books_of(engine, pages)[:2] == books_of(engine, [match.history])[:2]


def test_each_line_says_what_it_was_and_why(engine: Engine) -> None:
    match = next(
        one
        for one in (corrected("rodskagg-kortoxen", number) for number in range(MANY))
        if len(of_kind(one.history, ProtocolCorrected)) > 1 and not rescore(one.rules, one.history).struck
    )
    protocol, *_, kept = books_of(engine, [match.history])
    first: LineWritten = kept[0]
    line: Line = next(line for line in protocol.lines if line.was)
    stored = next(one for one in kept if one.event == line.event)
    assert line.was[0].line == LineWritten(**{name: getattr(stored, name) for name in LineWritten.__struct_fields__})
    assert [(one.rule, one.reason, one.case) for one in line.was] == [("B11", "as agreed", None)] * len(line.was)
    assert {one.event for one in line.was} <= set(protocol.corrected)
    assert first.event == protocol.lines[0].event


def test_the_list_follows_event_by_event() -> None:
    for ruleset in RULESETS:
        match = corrected(ruleset, 0)
        entry: Listed | None = None
        for recorded in match.history:
            entry = after_event(entry, recorded)
        assert entry is not None
        assert (entry.status != "open") == match.over


def test_a_protocol_goes_through_json(engine: Engine) -> None:
    protocol, *_ = books_of(engine, [corrected("kalabrias", 1).history])
    assert msgspec.json.decode(msgspec.json.encode(protocol), type=Protocol) == protocol
