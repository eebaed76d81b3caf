"""A match whose house commits to its shuffle, and what ``openapi/shuffle.py`` says of it."""

import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any
from uuid import UUID

import msgspec
import pytest

from api.access.caller import SPECTATOR
from api.matches.schemas import event_seen, shuffling_seen
from referee.actors import Actor, actor_of
from referee.acts import Act, Entropy, RequestCards
from referee.events import MatchOpened
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.match import Match
from referee.visibility import Event, Recorded
from tests.support.growing_history import Folded
from tests.support.in_process_programs import run_here
from tests.support.paths import ROOT
from tests.support.random_matches import opening

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
MATCH = UUID("0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
PROGRAM = ROOT / "openapi" / "shuffle.py"
FAIR, NOT_SHOWN = "the shuffle is fair", "the shuffle is not proved fair"
STANDS = f"{FAIR}, but the record is broken after the deal"


def hashed(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return sha256(text.encode()).hexdigest()


def checked(match_id: object, lines: Iterable[str], *deals: int) -> dict[int, str]:
    """Return the checker's verdict by deal. It exits with 0 only if all deals are fair and the record is whole."""
    return _told(*run_here(PROGRAM, [str(match_id), *map(str, deals)], "\n".join(lines)))


def checked_by_anybody(match_id: object, lines: Iterable[str]) -> dict[int, str]:
    """Return the checker's verdict by deal, from a process of its own without our modules."""
    command = [sys.executable, "-I", str(PROGRAM), str(match_id)]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return _told(done.returncode, done.stdout)


def _told(code: Any, said: str) -> dict[int, str]:
    lines = said.splitlines()
    told = dict(line.removeprefix("deal ").split(": ")[:2] for line in lines if line.startswith("deal "))
    whole = not any(line.startswith("the record is broken: ") for line in lines)
    assert code == (0 if whole and told and set(told.values()) == {FAIR} else 1)
    return {int(deal): fair if whole or fair != FAIR else STANDS for deal, fair in told.items()}


class Played:
    """A match whose house commits, in memory; ``outside`` names the seeds that come from outside."""

    def __init__(self, outside: str = "outside", **kwargs: Any) -> None:
        self.opening: MatchOpened = opening(**{"shuffle": "committed", **kwargs})
        self.outside, self.at = outside, NOON
        self.history: list[Recorded] = []
        self._folded = Folded()
        self.record((self.opening,), "official")
        self.record(self.match.procedure.begin(self.match.state, self.moment("official")), "official")

    @property
    def match(self) -> Match:
        return self._folded.match_of(self.history)

    def moment(self, actor: Actor) -> Moment:
        version = len(self.history)
        return Moment(version, self.at, f"{self.outside} {version}", actor, (), MATCH)

    def do(self, act: Any) -> tuple[Event, ...]:
        """Return the events of an act, which takes a second."""
        actor = actor_of(act)
        match = self.match
        events, state = match.procedure.take(match.state, act, self.moment(actor))
        self.record(events, actor)
        assert self.match.state == state, "what take gives is what folding gives"
        self.tick()
        return events

    def tick(self) -> None:
        """Let a second pass."""
        self.at += timedelta(seconds=1)

    def refused(self, act: Any) -> tuple[str, str, dict[str, Any]]:
        """Return the status, code and facts with which an act is refused."""
        with pytest.raises(Refused) as caught:
            self.do(act)
        return caught.value.status, caught.value.code, caught.value.facts

    def record(self, events: tuple[Event, ...], actor: Actor) -> None:
        for event in events:
            number = len(self.history) + 1
            self.history.append(Recorded(MATCH, number, self.at, actor, "~", "", "", event))

    def kinds(self) -> list[str]:
        return [one.event.TOPIC for one in self.history]

    def lines(self) -> list[str]:
        """Return the events of the match as a spectator gets them."""
        match = self.match
        told = (
            event_seen(one, SPECTATOR, one.originator_version <= match.public_to, act_number=1)
            for one in self.history
        )
        return [msgspec.json.encode(one).decode() for one in told]

    def some(self, chance: Random) -> tuple[Event, ...]:
        """Add entropy for a random seat, or make a different act; nothing when the match is over."""
        match, told = self.match, shuffling_seen(self.match)
        if told is not None and told.awaited and chance.random() < 0.5:
            said = hashed(str(chance.random()))[: chance.randint(32, 64)]
            return self.do(Entropy(seat=chance.choice(told.awaited), hex=said))
        seats = range(len(self.opening.players))
        acts: list[Act] = [act for seat in seats for act in match.rules.legal(match.play, seat)]
        acts = [act for act in acts if isinstance(act, RequestCards)] or acts
        return self.do(chance.choice(acts)) if acts else ()
