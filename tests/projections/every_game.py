"""Matches of every game, played at random in memory: mostly by the rules, with knocks, and now and then not."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from referee.actors import Actor, actor_at
from referee.acts import Close, Knock, Play, SeatAct, Void
from referee.events import Stakes
from referee.games import RULESETS
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.aggregate import fold
from referee.store.match import Match
from referee.visibility import Event, Recorded
from tests.support.random_matches import legal_acts, opening

ALONE = UUID(int=1)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
KINDS: tuple[dict[str, Any], ...] = (
    {"ruleset": "kalabrias", "players": 2, "target_score": 200, "enforcement": "refuse"},
    {"ruleset": "kalabrias", "players": 3, "bete_odd_point": "exact_half", "target_score": 300},
    {"ruleset": "kalabrias", "players": 4, "target_score": 300, "enforcement": "refuse"},
    {"ruleset": "rams-english", "players": 4, "first_dealer": None},
    {"ruleset": "rams-english", "stakes": Stakes(currency="SEK", unit=25), "points": (-50, 10, 0), "pot": 40},
    {"ruleset": "rodskagg-alga", "enforcement": "refuse", "points": (4, 4, 4)},
    {"ruleset": "rodskagg-catsatcards", "players": 4, "points": (8, 9, 9, 9)},
    {"ruleset": "rodskagg-catsatcards", "fem_opp": True, "points": (9, 9, 9)},
    {"ruleset": "rodskagg-kortoxen", "points": (6, 6, 6), "deal_ritual": False},
)


def _any_act(match: Match, chance: random.Random) -> tuple[Actor, Any]:
    """Return an actor and an act, mostly within the rules."""
    what, seats = chance.random(), range(len(match.opened.players))
    if what < (0.05 if any(match.rules.view(match.play, "spectator").penalties) else 0.005):
        return "official", Void(reason="spilt coffee")
    if what < 0.1:
        ledger = getattr(match.play.table, "ledger", None)
        done = [(one.breach.seat, one.breach.offence) for one in getattr(ledger, "standings", ())]
        accused, offence = chance.choice([*done, (0, None)])
        seat = chance.choice([seat for seat in seats if seat != accused])
        return actor_at(seat), Knock(seat=seat, accused=accused, offence=offence)
    legal = [act for act in legal_acts(match) if getattr(act, "bid", None) != "rodskagg" or chance.random() < 0.02]
    plays = [act for act in legal if isinstance(act, Play)]
    if plays and what < 0.2:
        seat = plays[0].seat
        return actor_at(seat), Play(seat=seat, card=chance.choice(match.rules.view(match.play, seat).hand or ("SA",)))
    if not legal:
        return "official", Close()
    act = chance.choice(legal)
    assert isinstance(act, SeatAct)
    return actor_at(act.seat), act


def history_of(kind: dict[str, Any], seed: int, acts: int = 1500, match_id: UUID = ALONE) -> list[Recorded]:
    """Return the events of a match played at random, a session closed at the end."""
    chance = random.Random(seed)
    opened = opening(**kind)
    rules = RULESETS[opened.ruleset]
    rules.opening(opened)
    history: list[Recorded] = []
    match: Match | None = None

    def stand(actor: Actor, events: tuple[Event, ...], act: Any = None) -> Match:
        first = len(history) + 1
        said, at = None if act is None else msgspec.Raw(msgspec.json.encode(act)), NOON + timedelta(seconds=first)
        new = [
            Recorded(match_id, number, at, actor, f"act-{first}", "", "", event, said if number == first else None)
            for number, event in enumerate(events, first)
        ]
        history.extend(new)
        return fold(match, new)

    match = stand("official", (opened,))
    if begun := rules.begin(match.play, Moment(match.version, NOON, f"{seed}")):
        match = stand("official", begun)
    for turn in range(acts):
        if rules.view(match.play, "spectator").phase == "over":
            break
        actor, act = _any_act(match, chance)
        if turn > acts - 200 and Close() in rules.legal(match.play, "official"):
            actor, act = "official", Close()
        try:
            events = rules.decide(match.play, act, Moment(match.version, NOON + timedelta(hours=1), f"{seed}{turn}"))
        except Refused:
            continue
        match = stand(actor, events, act)
    return history
