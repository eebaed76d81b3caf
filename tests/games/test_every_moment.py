"""Wherever a replay may stop, each of the games can be looked at: after every event, also within one act."""

import random
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from referee.acts import Draw
from referee.events import Event, MatchOpened, Viewer
from referee.games import RULESETS
from referee.refusals import Refused
from referee.ruleset import Moment, Ruleset

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MATCHES = 30
ACTS = 250


def some_options(chance: random.Random, rules: Ruleset) -> dict[str, Any]:
    """Some of the options that have a few values, at random."""
    info = msgspec.inspect.type_info(rules.options)
    assert isinstance(info, msgspec.inspect.StructType)
    options: dict[str, Any] = {}
    for field in info.fields:
        kind = field.type.type if isinstance(field.type, msgspec.inspect.Metadata) else field.type
        values: tuple[Any, ...] = ()
        if isinstance(kind, msgspec.inspect.BoolType):
            values = (False, True)
        elif isinstance(kind, msgspec.inspect.LiteralType):
            values = tuple(kind.values)
        if values and chance.random() < 0.4:
            options[field.encode_name] = chance.choice(values)
    return options


def some_points(chance: random.Random, rules: Ruleset, players: int) -> tuple[int, ...]:
    """Level, or near the end of a match that counts down."""
    if rules.start_points and chance.random() < 0.6:
        return tuple(chance.randint(1, 4) for _ in range(players))
    return (rules.start_points,) * players


def some_opening(chance: random.Random, rules: Ruleset) -> MatchOpened:
    """A match that this game can be played as."""
    while True:
        players = chance.randint(rules.players_min, rules.players_max)
        opened = MatchOpened(
            ruleset=rules.key,
            edition=rules.edition,
            options=msgspec.to_builtins(msgspec.convert(some_options(chance, rules), rules.options)),
            players=tuple(f"P{seat + 1}" for seat in range(players)),
            dealing="house",
            enforcement=chance.choice(("refuse", "penalise")),
            points=some_points(chance, rules, players),
            first_dealer=chance.choice((None, chance.randrange(players))),
            tokens=("",) * players,
            official="",
        )
        try:
            rules.opening(opened)
        except Refused:  # too many players for these options
            continue
        return opened


class Watched:
    """A match that is looked at by everybody after each of its events."""

    def __init__(self, opened: MatchOpened) -> None:
        self.rules = RULESETS[opened.ruleset]
        self.viewers: tuple[Viewer, ...] = (*range(len(opened.players)), "official", "spectator")
        self.version = 1
        self.state: Any = self.rules.start(opened)
        self.phase = ""
        self.watch()
        self.stand(self.rules.begin(self.state, self.moment))

    @property
    def moment(self) -> Moment:
        return Moment(self.version, NOON, f"seed {self.version}")

    def watch(self) -> None:
        awaited = self.rules.to_act(self.state)
        for viewer in self.viewers:
            self.rules.legal(self.state, viewer)
            shown = self.rules.view(self.state, viewer)
            assert msgspec.json.encode(shown)
            assert shown.to_act == awaited
            self.phase = shown.phase

    def stand(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self.version += 1
            self.state = self.rules.evolve(self.state, event, self.version)
            self.watch()

    def act(self, chance: random.Random) -> None:
        """Something that may be done now."""
        acts: list[Any] = [act for viewer in self.viewers[:-2] for act in self.rules.legal(self.state, viewer)]
        if chance.random() < 0.01:
            acts = [*self.rules.legal(self.state, "official")] or acts
        if not acts and self.phase == "drawing":  # which card, is the table's to say
            seat = self.rules.to_act(self.state)[0]
            acts = [Draw(seat=seat, card=card) for card in self.rules.pack]
        chance.shuffle(acts)
        for act in acts:
            try:
                events = self.rules.decide(self.state, act, self.moment)
            except Refused:
                continue
            self.stand(events)
            return
        raise AssertionError(f"nothing can be done in {self.phase}")


@pytest.mark.parametrize("seed", range(MATCHES))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_moment_can_be_looked_at(ruleset: str, seed: int) -> None:
    chance = random.Random(f"{ruleset} {seed}")
    match = Watched(some_opening(chance, RULESETS[ruleset]))
    for _ in range(ACTS):
        if match.phase == "over":
            break
        match.act(chance)
