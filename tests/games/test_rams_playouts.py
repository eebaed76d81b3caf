"""Random matches over all options, with checks that must hold in each (D-O17 and the entries, D6, D17, D50-D54).

Each match mixes legal acts with arbitrary acts, reports, and now and then a void or a close.
"""

import random
from typing import Any, get_args

import msgspec
import pytest

from referee.acts import Act, Bid, Close, Deal, Draw, Exchange, Play, Report, Score, Void
from referee.cards import cards_of
from referee.events import DealScored, Dealt, MatchClosed
from referee.games.rams_english import RULESET
from referee.games.rams_english.states import IN_PACK, PACK, Declaring, Options, Played, Playing, TurnUpTaken
from referee.refusals import Refused
from referee.store.aggregate import fold
from referee.store.rows import from_row
from referee.value import BidValue
from referee.visibility import Event, Recorded
from tests.games.rams_table import Table
from tests.support.random_deals import MATCHES
from tests.support.salted_rows import row_of

CHOICES: dict[str, tuple[Any, ...]] = {
    "late_generalrams": (False, True),
    "passers_may_take_widow": (False, True),
    "misdeal_stake": ("stays", "returned"),
    "forfeited_share": ("second_best", "next_pot", "split_equally"),
    "second_best_counts_as_trick": (False, True),
    "fault_and_trickless_cumulate": (True, False),
    "fault_per_incident": (False, True),
    "final_pot": ("split_equally", "last_dealer", "keep"),
    "six_players": (True,),
}
WORDS = get_args(get_args(BidValue)[0])
FAULTS = ("misdeal", "exposed_card", "wrong_count", "led_out_of_turn", "wrong_cut")


def test_all_options_are_tried():
    assert set(CHOICES) == set(Options.__struct_fields__)


def some_table(rng: random.Random) -> Table:
    players = rng.randint(3, 6)
    pot = rng.choice((0, 0, 5, 15, 3))
    points = [rng.randint(-20, 20) for _ in range(players - 1)]
    return Table(
        players,
        enforcement=rng.choice(("refuse", "penalise")),
        dealing=rng.choice(("house", "table", "table")),
        dealer=rng.choice((None, rng.randrange(players))),
        points=(*points, -pot - sum(points)),
        pot=pot,
        unit=rng.choice((None, 1, 7)),
        seed=str(rng.random()),
        **{name: rng.choice(values) for name, values in CHOICES.items()},
    )


def some_deal(t: Table, rng: random.Random, closed: bool) -> Deal:
    if t.opening.dealing == "house":
        return Deal(seat=t.dealer)
    given = t.deal_of(chance=rng.randrange(10**6))
    if not closed:
        return given
    assert given.hands is not None
    return Deal(seat=t.dealer, counts=tuple(map(len, given.hands)), turn_up=given.turn_up)


def any_act(t: Table, rng: random.Random) -> Act:
    """Return an act that a seat may try, possibly impossible."""
    seat = rng.randrange(len(t.seats))
    kind = rng.randrange(6)
    if kind == 0:
        return Bid(seat=seat, bid=rng.choice(WORDS))
    if kind == 1:
        return Exchange(seat=seat, card=rng.choice(PACK))
    if kind == 2:
        return Report(seat=seat, accused=rng.randrange(len(t.seats)), fault=rng.choice(FAULTS))
    if kind == 3:
        return Score(seat=seat)
    return Play(seat=rng.choice(t.to_act or (seat,)), card=rng.choice(PACK))


def next_act(t: Table, rng: random.Random, closed: bool) -> Act:
    """Return the next act, which is mostly legal."""
    if t.phase == "drawing":
        seen = {card for _, card in t.more["drawn"]}
        return Draw(seat=t.turn, card=rng.choice([card for card in PACK if card not in seen]))
    if t.phase == "undealt":
        return some_deal(t, rng, closed)
    chance = rng.random()
    if chance < 0.15:
        return any_act(t, rng)
    if chance < 0.155:
        return Void()
    seats = t.to_act if rng.random() < 0.9 else range(len(t.seats))
    return rng.choice([act for seat in seats for act in t.legal(seat)] or [Void()])


LISTED = (Play, Bid, Exchange, Score)
"""Kinds of act whose legal acts are all listed."""


def check_legal(t: Table, rng: random.Random) -> None:
    """Check that an act is listed and accepted, or neither, if the match refuses faults."""
    listed = {act for seat in range(len(t.seats)) for act in t.legal(seat)}
    tried = [any_act(t, rng) for _ in range(6)] + list(rng.sample(sorted(listed, key=repr), min(4, len(listed))))
    for act in tried:
        if not isinstance(act, LISTED):
            continue
        if t.accepted(act):
            assert act in listed or t.opening.enforcement == "penalise"
        else:
            assert act not in listed


def check_cards(t: Table) -> None:
    """D6: Check that every card is in one place, and that known hands shrink with each card played."""
    state = t.state
    if not isinstance(state, Declaring | Playing) or not state.dealing.known:
        return
    dealing, said = state.dealing, state.said
    played = [card for taken in getattr(state, "won", ()) for _, card in taken.cards]
    played += [card for _, card in getattr(state, "trick", ())]
    held = [hand for seat, hand in enumerate(state.hands) if seat in dealing.order]
    places = [*held, cards_of(played)]
    if said.widow is None:
        places.append(dealing.widow)
    if not said.exchanged:
        places.append(cards_of((dealing.turn_up,)))
    everything = 0
    for cards in places:
        assert not everything & cards
        everything |= cards
    assert not everything & ~IN_PACK
    assert sum(hand.bit_count() for hand in held) + len(played) == 5 * len(dealing.order)
    assert RULESET.view(state, 0).cards_left == tuple(hand.bit_count() for hand in state.hands)


def check_books(event: Event, total: int) -> None:
    """D-O17: Check that seats and pot add up to zero, in whole numbers, and that the entries explain every number."""
    if isinstance(event, MatchClosed):
        assert sum(event.points) + event.pot == total
        assert event.pot_before == event.pot + sum(event.shares)
    if not isinstance(event, DealScored):
        return
    assert event.pot is not None
    assert event.pot_before is not None
    assert sum(event.points) + event.pot == sum(event.before) + event.pot_before == total
    assert event.pot >= 0
    for seat, before in enumerate(event.before):
        entries = [entry for entry in event.entries if entry.seat == seat]
        assert before + sum(entry.points for entry in entries) == event.points[seat]
    assert event.pot_before + sum(entry.units for entry in event.pot_entries) == event.pot
    assert all(entry.points and entry.events for entry in event.entries)
    assert all(entry.units and entry.events for entry in event.pot_entries)


def seen_in(value: Any) -> set[str]:
    """Return all cards that a value names."""
    text = msgspec.json.encode(value).decode()
    return {card for card in PACK if f'"{card}"' in text}


def check_sight(t: Table) -> None:
    """Check that neither the view of a seat nor its legal acts show cards that are hidden from it."""
    state = t.state
    if not isinstance(state, Declaring | Playing | Played):
        return
    open_cards = {state.dealing.turn_up, *(card for _, card in getattr(state, "trick", ()))}
    for seat in (*range(len(t.seats)), "spectator"):
        view = RULESET.view(state, seat)
        assert seen_in(view) <= open_cards | set(view.hand or ())
        assert view.hands is None
        assert view.breaches is None
        if isinstance(seat, int) and state.dealing.known:
            others = tuple(hand if other == seat else 0 for other, hand in enumerate(state.hands))
            blind = msgspec.structs.replace(state, hands=others)
            assert RULESET.view(blind, seat) == view
            assert RULESET.legal(blind, seat) == RULESET.legal(state, seat)


def check_events_seen(t: Table, deal: list[Recorded]) -> None:
    """Check that the events of a deal under way show a seat only its own cards and open cards."""
    if not deal:
        return
    dealt = next(recorded.event for recorded in deal if isinstance(recorded.event, Dealt))
    laid = [r.event for r in deal if isinstance(r.event, TurnUpTaken)]
    match = t.match
    for seat in range(len(t.seats)):
        seen = [match.event_seen_by(recorded, seat).event for recorded in deal]
        own = set(dealt.hands[seat]) if dealt.hands else set()
        said = getattr(getattr(t.state, "outcome", t.state), "said", None)
        if said is not None and said.widow == seat:
            own |= set(dealt.widow)
        if laid and laid[0].seat == seat and laid[0].laid:
            own.add(laid[0].laid)
        played = {event.card for event in seen if type(event).__name__ == "CardPlayed"}
        assert seen_in(seen) <= own | played | {dealt.turn_up}
        assert not any(getattr(event, "breaches", ()) for event in seen)


def check_state(t: Table) -> None:
    """Check that states and rows are unchanged by JSON."""
    state = t.state
    assert msgspec.json.decode(msgspec.json.encode(state), type=RULESET.state) == state


def check_history(t: Table, rng: random.Random) -> None:
    """Check that a match is the fold of its rows, split at any row."""
    history = [from_row(row_of(recorded)) for recorded in t.history]
    assert [recorded.event for recorded in history] == [recorded.event for recorded in t.history]
    middle = rng.randrange(1, len(history) + 1)
    assert fold(fold(None, history[:middle]), history[middle:]) == t.match


@pytest.mark.rule("D-O17", "D6", "D17", "D50", "D51", "D53", "D-O24")
@pytest.mark.parametrize("chance", range(MATCHES))
def test_a_random_match(chance: int):
    rng = random.Random(chance)
    t = some_table(rng)
    total = sum(t.points) + t.pot
    closed = rng.random() < 0.3
    deal: list[Recorded] = []
    while t.seen().deal < 7 and len(t.history) < 600:
        act = next_act(t, rng, closed)
        before = len(t.history)
        try:
            t.do(act)
        except Refused:
            continue
        for recorded in t.history[before:]:
            check_books(recorded.event, total)
            deal.append(recorded)
        if not isinstance(t.state, Declaring | Playing | Played):
            deal = []
        check_cards(t)
        check_state(t)
        if rng.random() < 0.2:
            check_legal(t, rng)
            check_sight(t)
            check_events_seen(t, deal)
    if t.phase in ("undealt", "drawing"):
        check_books(t.do(Close())[0], total)
        assert t.seen(0).phase == "over"
    check_state(t)
    check_history(t, rng)


def test_the_random_matches_see_everything():
    """The play-outs meet every kind of deal, and faults of every rule."""
    kinds: set[str] = set()
    rules: set[str] = set()
    for chance in range(60):
        rng = random.Random(chance)
        t = some_table(rng)
        closed = rng.random() < 0.3
        while t.seen().deal < 7 and len(t.history) < 600:
            try:
                events = t.do(next_act(t, rng, closed))
            except Refused:
                continue
            for event in events:
                if isinstance(event, DealScored):
                    kinds.add(event.kind)
                    rules |= {entry.rule for entry in event.entries}
    assert kinds == {"played", "generalrams_won", "generalrams_lost", "paid", "misdeal"}
    assert rules == {"D15", "D31", "D59", "D60", "D62", "D63", "D64", "D65", "D70", "D71", "D-O11"}
