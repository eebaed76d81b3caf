"""Every game can be viewed after each event, even within one act, because a replay may stop there."""

import random
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from referee.actors import Actor
from referee.acts import Draw
from referee.events import MatchOpened
from referee.games import RULESETS
from referee.refusals import Refused
from referee.requests import Request
from referee.ruleset import Ruleset
from referee.visibility import Event
from tests.support.match_driver import Table
from tests.support.random_deals import MATCHES
from tests.support.random_matches import opening

ACTS = 250


def some_options(chance: random.Random, rules: Ruleset) -> dict[str, Any]:
    """Return random values of some options that have few values."""
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
    """Return level points, or points near the end of a match that counts down."""
    if rules.start_points and chance.random() < 0.6:
        return tuple(chance.randint(1, 4) for _ in range(players))
    return (rules.start_points,) * players


def some_opening(chance: random.Random, rules: Ruleset) -> MatchOpened:
    """Return a random opening that this game accepts."""
    while True:
        players = chance.randint(rules.players_min, rules.players_max)
        opened = opening(
            ruleset=rules.key,
            players=players,
            **some_options(chance, rules),
            enforcement=chance.choice(("refuse", "penalise")),
            points=some_points(chance, rules, players),
            first_dealer=chance.choice((None, chance.randrange(players))),
        )
        try:
            rules.opening(opened)
        except Refused:  # too many players for these options
            continue
        return opened


class Watched(Table):
    """A match that every viewer views after each of its events."""

    def stand(self, events: tuple[Event, ...], actor: Actor, request: Request | None = None) -> None:
        if self.version == 1:  # just opened
            self.watch()
        super().stand(events, actor, request)

    def evolved(self, event: Event) -> None:
        super().evolved(event)
        self.watch()

    def watch(self) -> None:
        for viewer in (*self.seats, "official", "spectator"):
            self.legal(viewer)
            shown = self.seen(viewer)
            assert msgspec.json.encode(shown)
            assert shown.to_act == self.to_act

    def act(self, chance: random.Random) -> None:
        """Make a random legal act."""
        acts: list[Any] = [act for seat in self.seats for act in self.legal(seat)]
        if chance.random() < 0.01:
            acts = [*self.legal("official")] or acts
        if self.phase == "drawing":  # the table names the card
            acts = [Draw(seat=self.turn, card=card) for card in self.rules.pack]
        chance.shuffle(acts)
        for act in acts:
            with suppress(Refused):
                self.do(act)
                return
        raise AssertionError(f"no act is possible in {self.phase}")


@pytest.mark.parametrize("seed", range(MATCHES // 8))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_moment_can_be_looked_at(ruleset: str, seed: int) -> None:
    chance = random.Random(f"{ruleset} {seed}")
    match = Watched(some_opening(chance, RULESETS[ruleset]))
    for _ in range(ACTS):
        if match.phase == "over":
            break
        match.act(chance)
