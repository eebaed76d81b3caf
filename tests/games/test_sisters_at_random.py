"""Random matches of alga and catsatcards with every option, and the properties that always hold."""

import random
import re
from typing import Any, get_args, get_origin

import msgspec
import pytest

from referee.acts import (
    Act,
    Announce,
    Answer,
    Ask,
    Bid,
    Cut,
    Deal,
    Discard,
    Draw,
    KeepCards,
    Knock,
    KnockForCards,
    PickUp,
    Play,
    Remind,
    RequestCards,
    Score,
    Void,
)
from referee.cards import CARD, PACK, texts_of
from referee.events import DealScored, DealVoided, TrickTaken
from referee.games import RULESETS
from referee.refusals import Refused
from referee.visibility import Event, as_seen_by
from tests.games.rodskagg import Table, table
from tests.support.match_driver import pairs
from tests.support.random_deals import MATCHES

CARDS = re.compile(rb'(?<!"rule":)"([SHDC][2-9TJQKA])"')
"""Pattern of cards in JSON; C2 to C9 may also be the name of a rule."""
EXACT = (Announce, Answer, Ask, Bid, Cut, KeepCards, KnockForCards, PickUp, Play, Remind, Score)
"""Acts that are listed with all their content: an unlisted one is refused if errors are refused."""


def some_option(chance: random.Random, field: Any) -> Any:
    """Return a random value of an option."""
    kind = field.type.type if isinstance(field.type, msgspec.inspect.Metadata) else field.type
    if isinstance(kind, msgspec.inspect.BoolType):
        return chance.random() < 0.5
    if isinstance(kind, msgspec.inspect.LiteralType):
        return chance.choice(kind.values)
    if isinstance(kind, msgspec.inspect.IntType):
        return chance.randint(kind.ge or 0, kind.le or 6)
    assert isinstance(kind, msgspec.inspect.StructType)
    return {field.encode_name: chance.choice((0, 3, 5)) for field in kind.fields if chance.random() < 0.3}


def some_options(chance: random.Random, ruleset: str) -> dict[str, Any]:
    """Return random values of some options, except the largest number of players."""
    info = msgspec.inspect.type_info(RULESETS[ruleset].options)
    assert isinstance(info, msgspec.inspect.StructType)
    fields = [field for field in info.fields if field.encode_name != "max_players" and chance.random() < 0.4]
    return {field.encode_name: some_option(chance, field) for field in fields}


def some_match(chance: random.Random, ruleset: str) -> tuple[Table, bool]:
    """Return a match with random options, players and points, and whether its hands are closed."""
    rules = RULESETS[ruleset]
    players = chance.randint(rules.players_min, rules.players_max)
    near = chance.random() < 0.6
    points = tuple(chance.choice((1, 2, 3, 4, -1, -5) if near else (12, 9, 6)) for _ in range(players))
    dealing = chance.choice(("house", "house", "table"))
    match = table(
        ruleset,
        points=points,
        dealer=chance.choice((None, chance.randrange(players))),
        enforcement=chance.choice(("refuse", "penalise")),
        dealing=dealing,
        **some_options(chance, ruleset),
    )
    return match, dealing == "table" and chance.random() < 0.4


def filled_in(chance: random.Random, match: Table, act: Act, closed: bool) -> Act:
    """Return the act with the content that only a real table knows."""
    if match.opening.dealing == "house":
        return act
    if isinstance(act, Deal):
        counts = [6 if seat in match.in_deal else 0 for seat in match.seats]
        if closed:
            return Deal(seat=act.seat, counts=tuple(counts))
        pack = chance.sample(PACK, len(PACK))
        hands = tuple(tuple(pack.pop() for _ in range(count)) for count in counts)
        return Deal(seat=act.seat, hands=hands, stock=tuple(pack) if chance.random() < 0.5 else None)
    if isinstance(act, RequestCards) and not closed and not match.state.cards.stock:
        state = match.state
        gone = sum(state.cards.hands) | state.thrown
        if match.rules.key == "rodskagg-catsatcards":
            free = [card for card in PACK if card in texts_of(((1 << 52) - 1) & ~gone)]
            return RequestCards(seat=act.seat, cards=(chance.choice(free),))
        for _, received in state.asked:
            gone |= sum(1 << PACK.index(card) for card in received)
        free = list(texts_of(((1 << 52) - 1) & ~gone))
        if len(free) >= 6:
            return RequestCards(seat=act.seat, cards=tuple(chance.sample(free, 6)))
        return KeepCards(seat=act.seat)
    return act


def draws(chance: random.Random, match: Table) -> Act:
    drawn = {card for _, card in match.state.drawn}
    return Draw(seat=match.turn, card=chance.choice([card for card in PACK if card not in drawn]))


def every(match: Table, seat: int) -> list[Act]:
    """Return all acts of a seat with every content that the seat may choose."""
    acts: list[Act] = [Ask(seat=seat), Cut(seat=seat), KeepCards(seat=seat), KnockForCards(seat=seat)]
    acts += [PickUp(seat=seat), Remind(seat=seat), Score(seat=seat)]
    acts += [Play(seat=seat, card=card) for card in CARD.values()]
    acts += [Answer(seat=seat, answer="play"), Answer(seat=seat, answer="fold")]
    acts += [Announce(seat=seat, what="near_zero"), Announce(seat=seat, what="thanks")]
    words: tuple[Any, ...] = ("pass", "rodskagg", *range(-1, 8))
    acts += [Bid(seat=seat, bid=bid) for bid in words]
    return acts


def check_legal(match: Table, closed: bool) -> None:
    """Check that every listed act is accepted, and under ``refuse`` that no other act of these kinds is."""
    for seat in match.seats:
        listed = match.legal(seat)
        assert len(set(map(repr, listed))) == len(listed)
        for act in listed:
            if isinstance(act, EXACT) or (isinstance(act, Discard | Deal) and match.opening.dealing == "house"):
                assert match.accepted(act), act
        if match.opening.enforcement == "refuse" and not closed:
            for act in every(match, seat):
                assert match.accepted(act) == (act in listed), (act, listed)


def check_sight(match: Table) -> None:
    """Check that the view of a seat holds only cards that the seat has seen."""
    state = match.state
    inner = match.playing
    open_cards = {card for _, card in getattr(inner, "trick", ())} | {card for _, card in getattr(state, "drawn", ())}
    dealt = getattr(state, "cards", None)
    gone = getattr(inner, "gone", 0)
    for seat in match.seats:
        own = set(texts_of(dealt.hands[seat] & ~gone)) if dealt is not None and dealt.known else set()
        seen = {card.decode() for card in CARDS.findall(msgspec.json.encode(match.seen(seat)))}
        assert seen <= own | open_cards
    spectators = {card.decode() for card in CARDS.findall(msgspec.json.encode(match.seen("spectator")))}
    assert spectators <= open_cards


def check_secrets(match: Table, events: tuple[Event, ...]) -> None:
    """Check that the public form of an event has no hidden card."""
    for event in events:
        if type(event).__name__ in ("CardPlayed", "CardDrawn"):
            continue
        assert not CARDS.findall(msgspec.json.encode(as_seen_by(event, "spectator", public=False))), event


def check_line(line: DealScored, before: tuple[int, ...]) -> None:
    """Check that a line starts with the points of the line before, and that its numbers add up."""
    assert line.before == before
    for seat, points in enumerate(line.points):
        entries = [entry for entry in line.entries if entry.seat == seat]
        assert points == line.before[seat] + sum(entry.points for entry in entries)
        assert all(entry.events and entry.rule for entry in entries)
    assert sum(line.tricks) <= 6


def options_of(match: Table) -> Any:
    """Return the options of the match with their values."""
    return msgspec.convert(match.opening.options, match.rules.options)


def early_tricks(match: Table) -> set[int]:
    """Return the seats that took one of the first four tricks of the deal just scored."""
    taken: list[TrickTaken] = []
    for event in match.events:
        if isinstance(event, TrickTaken):
            taken = [event] if event.trick == 1 else [*taken, event]
    return {trick.seat for trick in taken if trick.trick <= 4}


def check_alga(match: Table, line: DealScored) -> None:
    """Check a number contract against an independent form of its score formulas."""
    options, early = options_of(match), early_tricks(match)
    if line.kind != "number" or line.detail["duel"]:
        return
    for seat, tricks in enumerate(line.tricks):
        change = 0
        if seat == line.declarer:
            change = -tricks + 6 * (tricks < int(line.contract))
            change += options.forgotten_question_penalty * line.detail["forgotten"]
        elif seat in early:
            change = -tricks
        elif line.detail["forgotten"] and seat not in line.eliminated:
            change = -2 if options.forgotten_question_effect == "deemed_one_late_trick" else -tricks
        elif seat in line.detail["joined"]:
            change = -2 * tricks or 6
        assert line.points[seat] == line.before[seat] + change, seat


def check_cats(match: Table, line: DealScored) -> None:
    """Check an ordinary hand without further options against an independent form of its score formulas."""
    options, early = options_of(match), early_tricks(match)
    if line.kind != "ordinary" or options.play_on_double_for_all or options.play_on_applies_to_declarer:
        return
    bids = dict(pairs(line.detail["bids"]))
    for seat, tricks in enumerate(line.tricks):
        late = seat in line.detail["joined"]
        missed = bids.get(seat, str(tricks)) != str(tricks)
        change = -tricks * (2 if late and seat not in early else 1)
        if options.exact_tricks_for_all:
            change += options.exact_tricks_penalty if missed else 6 * (late and not tricks)
        else:
            change += 5 * (missed and seat == line.declarer) + 6 * (late and not tricks)
        assert line.points[seat] == line.before[seat] + line.penalties[seat] + change, seat


def next_act(chance: random.Random, match: Table, closed: bool) -> Act | Knock | None:
    """Return an act: mostly a listed one, sometimes a knock, a void, or an unlisted act."""
    seats = len(match.seats)
    if match.phase == "drawing":
        return draws(chance, match)
    dice = chance.random()
    if dice < 0.03:
        return Knock(seat=chance.randrange(seats), accused=chance.randrange(seats))
    if dice < 0.035 and Void() in match.legal("official"):
        return Void()
    if dice < 0.15:
        return chance.choice(every(match, chance.choice(match.to_act or (0,))))
    choice = [act for seat in range(seats) for act in match.legal(seat)]
    if match.opening.enforcement == "penalise" and dice < 0.4 and match.phase == "playing":
        choice = [act for act in every(match, match.turn_to_play) if match.accepted(act)] or choice
    return filled_in(chance, match, chance.choice(choice), closed) if choice else None


@pytest.mark.parametrize("seed", range(MATCHES // 3))
@pytest.mark.parametrize("ruleset", ["rodskagg-alga", "rodskagg-catsatcards"])
def test_a_match_at_random(ruleset: str, seed: int) -> None:
    chance = random.Random(f"{ruleset} {seed}")
    match, closed = some_match(chance, ruleset)
    before, steps = match.points, 0
    while match.phase != "over" and steps < 400:
        steps += 1
        if steps % 7 == 0:
            check_legal(match, closed)
            check_sight(match)
        act = next_act(chance, match, closed)
        assert act is not None, match.phase
        try:
            events = match.do(act)
        except Refused:
            continue
        check_secrets(match, events)
        for event in events:
            if isinstance(event, DealScored):
                check_line(event, before)
                (check_alga if ruleset == "rodskagg-alga" else check_cats)(match, event)
                before = event.points
            elif isinstance(event, DealVoided) and event.points:
                before = event.points
    check_fold(match, chance)


def check_fold(match: Table, chance: random.Random) -> None:
    """Check that the state is the fold of the events, even if it is encoded and decoded in between."""
    state: Any = match.rules.start(match.opening)
    stops = {chance.randrange(len(match.events)) for _ in range(25)}
    for number, event in enumerate(match.events[1:], 2):
        state = match.rules.evolve(state, event, number)
        if number in stops:
            state = msgspec.json.decode(msgspec.json.encode(state), type=match.rules.state)
    assert state == match.state
    for kind in get_args(match.rules.state):
        assert (get_origin(kind) or kind).__struct_config__.tag
