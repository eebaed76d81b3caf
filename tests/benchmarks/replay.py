"""Replay: folding a history beside only decoding its rows, and loading a match of 1,000 events cold."""

import gc
import random
import tempfile
from collections.abc import Sequence
from time import process_time
from typing import Any
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from referee.actors import actor_at
from referee.acts import Deal, Void
from referee.events import Adjudication, DealScored, PlayEnded
from referee.games import RULESETS
from referee.officials.corrections import make_correction
from referee.officials.events.corrections import Why
from referee.officials.rescoring import script
from referee.requests import Correct
from referee.ruleset import Moment
from referee.store.aggregate import fold
from referee.store.command import Command
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.rows import HASH_BEFORE_FIRST, from_row, row_hash
from referee.store.store import construct
from referee.visibility import Event, Recorded
from tests.benchmarks.measure import floor, side_by_side, table
from tests.benchmarks.playouts import BOLD, NOW
from tests.support.databases import empty_database, running_postgres
from tests.support.random_matches import opened, opening, send
from tests.support.salted_rows import row_of

EVENTS = 1000


def long_history() -> list[StoredEvent]:
    """Return the rows of a match that continues for 1,000 events."""
    rules, chance = RULESETS["rodskagg-kortoxen"], random.Random(3)
    opened_ = opening(players=4, enforcement="refuse", points=(90,) * 4, deal_ritual=False)
    state, history = rules.start(opened_), list[Event]([opened_])
    while len(history) < EVENTS:
        choice = [act for seat in rules.to_act(state) for act in rules.legal(state, seat)]
        tame = [act for act in choice if getattr(act, "bid", None) != "rodskagg"]
        act: Any = chance.choice(tame)
        for event in rules.decide(state, act, Moment(len(history), NOW, f"{len(history)}")):
            history.append(event)
            state = rules.evolve(state, event, len(history))
    rows, prev = [], HASH_BEFORE_FIRST
    for number, event in enumerate(history[:EVENTS], 1):
        rows.append(row_of(Recorded(UUID(int=7), number, NOW, "seat:1", "~" + "0" * 32, "0" * 16, prev, event)))
        prev = row_hash(rows[-1])
    return rows


def cold(url: str, rows: Sequence[StoredEvent]) -> tuple[float, float]:
    """Return the loads a second of the 1,000-event match from a store, without and with a snapshot."""
    with construct(url) as referee:
        referee.recorder.insert_events(rows)
        match_id = UUID(int=7)

        def load() -> int:
            assert referee.load(match_id).aggregate.version == EVENTS
            return 1

        without = side_by_side({"": load})[""]
        referee.take_snapshots([referee.load(match_id)])
        return without, side_by_side({"": load})[""]


def growth() -> tuple[float, float]:
    """Return the acts a second at the desk in the first deal of a match, which is dealt and voided repeatedly, and
    after 1,000 events of it."""
    with tempfile.TemporaryDirectory() as place, construct(f"sqlite:///{place}/knacka.db") as referee:
        desk = Desk(referee, committed=lambda recorded: None)
        young = opened(desk, enforcement="penalise", deal_ritual=False)
        send(desk, young, Deal(seat=0))
        referee.recorder.insert_events(long_history())
        old = UUID(int=7)

        def dealt(match_id: UUID) -> int:
            match: Any = desk.get(match_id)
            dealer = match.play.table.dealer
            for _ in range(10):
                desk.submit(Command(id=match_id, actor="official", request=Void())).result()
                desk.submit(Command(id=match_id, actor=actor_at(dealer), request=Deal(seat=dealer))).result()
            return 20

        rates = side_by_side({"young": lambda: dealt(young), "old": lambda: dealt(old)})
        desk.close()
        return rates["young"], rates["old"]


DEALS = 200
"""Deals of the match that is corrected."""


def played(key: str, deals: int, seed: str) -> list[Recorded]:
    """Return the history of an attended match of ``deals`` deals, or fewer if it ends before."""
    rules, chance = RULESETS[key], random.Random(seed)
    points = (90_000,) * 4 if key.startswith("rodskagg") else None
    options: dict[str, Any] = {"target_score": 10_000} if key == "kalabrias" else {}
    match = opening(
        ruleset=key,
        players=4,
        enforcement="refuse",
        points=points,
        adjudication=Adjudication(officials=("",)),
        **options,
    )
    state, history = rules.start(match), [Recorded(UUID(int=7), 1, NOW, "official", "", "", "", match)]
    while state.table.deal <= deals and (seats := rules.to_act(state)):
        choice = rules.legal(state, chance.choice(seats)) or rules.legal(state, seats[0])
        tame = [act for act in choice if getattr(act, "bid", None) not in BOLD]
        act: Any = chance.choice(tame)
        events, state = rules.take(state, act, Moment(len(history), NOW, f"{seed} {len(history)}"))
        history += (
            Recorded(UUID(int=7), number, NOW, "seat:1", "", "", "", event)
            for number, event in enumerate(events, len(history) + 1)
        )
    return history


def correcting(key: str) -> tuple[int, float, float]:
    """Return the deals of a match, and how often a second it is folded, and its first deal corrected, on which all
    others depend."""
    history, rules = played(key, DEALS, "one"), RULESETS[key]
    other = [one.event for one in played(key, 1, "another")]
    first = next(place for place, one in enumerate(other) if one.TOPIC in ("pot/staked", "deal/dealt"))
    last = next(place for place, one in enumerate(other) if isinstance(one, PlayEnded))
    scripts = [script(1, other[first : last + 1], whole=True)]
    match: Match = fold(None, history)
    moment = Moment(len(history), NOW, "", "official", history)
    request = Correct(why=Why(rule="J9"), scripts=tuple(scripts), beyond_doubt=True)

    def folding() -> int:
        return 1 if fold(None, history).version == len(history) else 0

    def correction() -> int:
        event = make_correction(rules, match.state, request, moment)
        return 1 if event.lines else 0

    gc.disable()  # as in the process for long matches
    rates = side_by_side({"folding": folding, "correction": correction}, 0.05, 41, process_time)
    gc.enable()
    deals = sum(isinstance(one.event, DealScored) for one in history)
    return deals, rates["folding"], rates["correction"]


def main() -> bool:
    """Print the figures. Return whether all floors are reached."""
    rows = long_history()

    def decode() -> int:
        return len([from_row(row) for row in rows])

    def replay() -> int:
        return fold(None, map(from_row, rows)).version

    works = {"decoding alone": decode, "replay (decoding and folding)": replay}
    rates = side_by_side(works, 0.05, 41, process_time)
    ratio = rates["replay (decoding and folding)"] / rates["decoding alone"]
    table("Replay, events/s", ("", "events/s"), list(rates.items()))
    loads = []
    with tempfile.TemporaryDirectory() as place:
        loads.append(("SQLite", *cold(f"sqlite:///{place}/knacka.db", rows)))
    with running_postgres() as server, empty_database(server) as url:
        loads.append(("PostgreSQL", *cold(url, rows)))
    table(
        "Loading a match of 1,000 events cold, ms",
        ("", "from its first event", "from its snapshot", "ratio"),
        [(name, 1000 / without, 1000 / with_, without / with_) for name, without, with_ in loads],
    )
    young, old = growth()
    table(
        "Acts/s at the desk (dealing, voiding), one client, SQLite",
        ("", "acts/s", "ratio"),
        [("new match", young, None), ("after 1,000 events", old, old / young)],
    )
    paces = {key: correcting(key) for key in RULESETS}
    table(
        "Correcting the first deal of a match, ms",
        ("", "deals", "folding", "correction", "ratio"),
        [(key, deals, 1000 / fold, 1000 / one, fold / one) for key, (deals, fold, one) in paces.items()],
    )
    return all(
        [
            floor("replay beside decoding alone", ratio, 0.5),
            floor(
                "correcting a match beside folding it once", min(one / fold for _, fold, one in paces.values()), 0.62
            ),
        ]
    )
