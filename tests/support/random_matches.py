"""Matches to test stores, books and the service with: opened for real, played by random legal acts."""

import random
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

import msgspec

from api.access.caller import SPECTATOR
from api.cases.case import entries_of
from projections.cases import Case
from referee import notation
from referee.actors import actor_of
from referee.acts import AnyAct
from referee.events import (
    Adjudication,
    Dealing,
    DealScored,
    Enforcement,
    KnockDismissed,
    KnockUpheld,
    MatchOpened,
    Shuffling,
    Stakes,
)
from referee.games import RULESETS
from referee.store.aggregate import fold
from referee.store.command import Command, Outcome
from referee.store.desk import Desk
from referee.visibility import Recorded

KORTOXEN = "rodskagg-kortoxen"


def opening(
    *,
    ruleset: str = KORTOXEN,
    players: int = 3,
    dealing: Dealing = "house",
    enforcement: Enforcement = "penalise",
    first_dealer: int | None = 0,
    points: tuple[int, ...] | None = None,
    pot: int = 0,
    stakes: Stakes | None = None,
    adjudication: Adjudication | None = None,
    shuffle: Shuffling | None = None,
    entropy_seconds: int = 0,
    **options: Any,
) -> MatchOpened:
    """Return the opening of a match, with its options resolved."""
    rules = RULESETS[ruleset]
    return MatchOpened(
        ruleset=rules.key,
        edition=rules.edition,
        options=msgspec.to_builtins(msgspec.convert(options, rules.options)),
        players=tuple(f"P{seat + 1}" for seat in range(players)),
        dealing=dealing,
        enforcement=enforcement,
        points=points or (rules.start_points,) * players,
        pot=pot,
        first_dealer=first_dealer,
        stakes=stakes,
        adjudication=adjudication,
        shuffle=shuffle,
        entropy_seconds=entropy_seconds,
        tokens=("",) * players,
        official="",
    )


def opened(desk: Desk, **kwargs: Any) -> UUID:
    """Open a match at the desk. Return its id."""
    match_id = uuid4()
    desk.submit(Command(id=match_id, actor="official", request=opening(**kwargs))).result(30)
    return match_id


def send(desk: Desk, match_id: UUID, act: AnyAct, **kwargs: Any) -> Outcome:
    """Send an act by its own seat, or by the official. Return its outcome."""
    return desk.submit(Command(id=match_id, actor=actor_of(act), request=act, **kwargs)).result(30)


def legal_acts(match: Any) -> list[Any]:
    """Return the acts that any seat may make now."""
    return [act for seat in range(len(match.opened.players)) for act in match.rules.legal(match.play, seat)]


def play_out(desk: Desk, match_id: UUID, acts: int, seed: int = 0) -> Iterator[Outcome]:
    """Make random legal acts, at most this many, until the match is over."""
    chance = random.Random(seed)
    for _ in range(acts):
        choice = legal_acts(desk.get(match_id))
        if not choice:
            return
        yield send(desk, match_id, chance.choice(choice))


def of_the_deal(history: Sequence[Recorded], deal: int) -> list[Recorded]:
    """Return the events of a deal: after the score of the deal before, up to its own score."""
    ends = [0, *(one.originator_version for one in history if isinstance(one.event, DealScored))]
    return list(history[ends[deal - 1] : ends[deal]])


def first_of_act(history: Sequence[Recorded], one: Recorded) -> int:
    """Return the number of the first event of the act that made this event."""
    numbers = range(one.originator_version, 1, -1)
    return next((number for number in numbers if history[number - 1].begins_after(history[number - 2])), 1)


def deal_of(opened: MatchOpened, history: Sequence[Recorded], deal: int) -> notation.Deal:
    """Return a finished deal, from the whole of its match."""
    events = of_the_deal(history, deal)
    first = max(0, events[0].originator_version - 2)
    return notation.deal_of_history(opened, fold(None, history[: first + 1]).play, history[first:])


def cases_in(events: Sequence[Recorded]) -> tuple[Case, ...]:
    """Return the cases of a deal that is over, from its events."""
    numbers = [one.event.case for one in events if isinstance(one.event, KnockUpheld | KnockDismissed)]
    end = events[-1].originator_version
    return tuple(Case(number, entries_of(events, number, SPECTATOR, end)) for number in numbers)
