"""Two worlds that differ only in cards that a seat has not seen, and everything that this seat can observe.

A match is played at random up to a deal, which is then dealt in two ways. The watcher's cards and the open cards are
the same; other cards have changed places. The same acts are made in both worlds as long as both accept them. The
watcher, and a spectator, must get equal answers in both: views, lists and events; and for each act that the watcher
tries, the refusal with its rule and facts, or the events that the watcher sees.

Facts that the rules themselves make public end a pair (:func:`revealed`): an upheld knock, a misdeal found on picking
up, the end of a deal, and cards that the watcher receives. One act is not tried: at a real table a seat may
name the cards it received (``request_cards`` with ``cards``), and cards of another hand are refused.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, Literal, NamedTuple, Self, get_args

import msgspec
from msgspec.structs import replace

from referee.actors import Actor, actor_of
from referee.acts import Act, Bid, Deal, Discard, Exchange, Fault, Knock, Play, Report, RequestCards
from referee.cards import texts_of
from referee.events import DEAL_ENDS, Dealt, Enforcement, KnockDismissed, KnockUpheld, MatchOpened, PlayEnded
from referee.games import RULESETS
from referee.officials.events.cases import CaseStated
from referee.refusals import Refused
from referee.requests import Request
from referee.ruleset import Moment
from referee.visibility import Event, Recorded, Viewer, as_seen_by
from tests.support.random_deals import ACTS_MAX, MATCH, PAUSE, Playout, every_act
from tests.support.random_openings import some_match

CardDealingMode = Literal["house", "hands", "counts"]
"""Ways of dealing: by the house, or at a real table with entered or closed hands."""
DealingMode = Literal[CardDealingMode, "tally"]
"""Ways of dealing, or a tally, in which no card is entered."""
CARD_DEALING_MODES: tuple[CardDealingMode, ...] = get_args(CardDealingMode)
ENFORCEMENTS: tuple[Enforcement, ...] = ("refuse", "penalise")
TALLIES: tuple[tuple[str, DealingMode, Enforcement], ...] = tuple(
    (key, "tally", by) for key in sorted(RULESETS) if key != "kalabrias" for by in ENFORCEMENTS
)
"""Games whose tally takes only whole deals, so that no deal is ever under way."""
WITH_CARDS: tuple[tuple[str, DealingMode, Enforcement], ...] = tuple(
    (key, mode, by) for key in sorted(RULESETS) for mode in CARD_DEALING_MODES for by in ENFORCEMENTS
)
COMBINATIONS = (*WITH_CARDS, *TALLIES)
NOTHING_HIDDEN = {
    *TALLIES,
    ("kalabrias", "counts", "refuse"),
    ("kalabrias", "counts", "penalise"),
    ("rodskagg-alga", "counts", "refuse"),
    ("rodskagg-alga", "counts", "penalise"),
    ("rodskagg-kortoxen", "counts", "refuse"),
}
"""Games and dealings in which the referee knows no hidden card or number: the worlds differ only in written texts."""
TEMPTING: dict[str, Any] = {"knock_window": "next_trick", "fem_opp": True, "longer_sequence_wins": True}
"""Options with more secrets."""
LOOKS = 2
"""Times in a pair that the watcher tries everything."""
REFUSED_MAX = 25
"""Attempts in a row that only one world accepts, or none, after which the worlds have parted."""
OWN_CARDS = ("hand", "hands", "card", "cards")
"""Fields of an event with cards for the watcher."""


class Leak(AssertionError):
    """The watcher can distinguish the two worlds."""


class Answer(NamedTuple):
    """The result of an attempt: its refusal, or its events and the state after it."""

    refused: tuple[Any, ...] | None
    events: tuple[Event, ...]
    state: Any


class Pair:
    """A match in two worlds. ``left`` plays and decides by chance; ``right`` follows."""

    def __init__(self, key: str, mode: DealingMode, enforcement: Enforcement, seed: object) -> None:
        self.name = f"Pair({key!r}, {mode!r}, {enforcement!r}, {seed!r})"
        self.rules, self.chance = RULESETS[key], Random(f"{key} {mode} {enforcement} {seed}")
        chance = self.chance
        dealing = mode if mode in ("house", "tally") else "table"
        tempting = {name: value for name, value in TEMPTING.items() if chance.random() < 0.7}
        opened = self._opening(
            some_match(chance, self.rules, dealing=dealing, enforcement=enforcement, tempting=tempting)
        )
        self.left = Playout(self.rules, chance, Counter(), keep=True, opened=opened, closed=mode == "counts")
        self.procedure: Any = self.rules
        self.ours: Any = self.left.state
        self.right: Any = self.ours
        self.watcher = chance.choice(self.left.seats)
        self.viewers: tuple[Viewer, ...] = (self.watcher, "spectator")
        self.swapped: dict[str, str] = {}
        self.forked = self.over = False
        self.fork_after = chance.choice((0, 0, 1))
        self.differed = self.looked = 0
        self.stacked = key == "kalabrias" and chance.random() < 0.6
        self.histories: tuple[list[Recorded], list[Recorded]] = ([], [])
        self.seed = ""
        for recorded in self.left.kept or ():
            self._record((recorded.event, recorded.event))
        self.left.kept = None

    def __repr__(self) -> str:
        return self.name

    # What another procedure does otherwise

    def _opening(self, opened: MatchOpened) -> MatchOpened:
        """Return the opening of the match."""
        return opened

    def _game(self, state: Any) -> Any:
        """Return the state of the game in a world."""
        return state

    def _moment(self, state: Any, act: Request) -> Moment:
        """Return the moment of an attempt in a world."""
        return Moment(self.left.version, self.left.at, self.seed)

    def _asked(self, state: Any, act: Request) -> Any:
        """Return a world's state before the events of an act."""
        return state

    def _fork(self) -> None:
        """Let the two worlds part with the next deal."""
        self.forked = True

    # Dealing in two ways

    def _swap(self, event: Dealt) -> dict[str, str]:
        """Return the cards that change places: a few that the watcher has not seen, from more than one place."""
        seen_already = {*(event.hands or ((),) * 8)[self.watcher], event.turn_up, *self._to_come(event)}
        unseen = [card for card in self.rules.pack if card not in seen_already]
        swapped: dict[str, str] = {}
        if self.stacked:  # whole sequences
            runs = [unseen[place : place + 3] for place in range(0, len(unseen) - 2, 3)]
            first, second = self.chance.sample(runs, 2)
            pairs = list(zip(first, second, strict=True))
        else:
            many = self.chance.choice((1, 2, 3, 5))
            drawn = self.chance.sample(unseen, 2 * many)
            pairs = list(zip(drawn[::2], drawn[1::2], strict=True))
        for one, other in pairs:
            swapped |= {one: other, other: one}
        return swapped

    def _to_come(self, event: Dealt) -> tuple[str, ...]:
        """Return the cards that the watcher gets after the auction of Kalabrias, which must be the same in both
        worlds."""
        if self.rules.key != "kalabrias" or event.hands is None:
            return ()
        if len(event.hands) == 4:
            return event.stock or tuple(self.left.rest)
        place = (self.watcher - event.dealer - 1) % len(event.hands)
        if event.stock:
            return event.stock[3 * place : 3 * place + 3]
        return tuple(self.left.rest[::-1][3 * self.watcher : 3 * self.watcher + 3])

    def _other(self, cards: tuple[str, ...]) -> tuple[str, ...]:
        """Return the cards of the other world that correspond to these."""
        return tuple(self.swapped.get(card, card) for card in cards)

    def _stack(self, event: Dealt) -> Dealt:
        """Return hands made of sequences, so that declarations are possible."""
        if not self.stacked or event.hands is None:
            return event
        pack = [card for card in self.rules.pack if card != event.turn_up]
        runs = [pack[place : place + 3] for place in range(0, len(pack), 3)]
        self.chance.shuffle(runs)
        left = [card for run in runs for card in run]
        hands = tuple(tuple(left[6 * seat : 6 * seat + 6]) for seat in self.left.seats)
        rest = tuple(left[6 * len(hands) :])
        self.left.rest = list(rest)
        return replace(event, hands=hands, stock=rest if event.stock else ())

    def _dealt_otherwise(self, event: Dealt) -> Dealt:
        """Return the deal in the other world."""
        self.swapped = self._swap(event)
        hands = event.hands
        if hands is not None:
            hands = tuple(hand if seat == self.watcher else self._other(hand) for seat, hand in enumerate(hands))
        return replace(event, hands=hands, stock=self._other(event.stock), widow=self._other(event.widow))

    def _misdealt(self, act: Deal, event: Dealt) -> Deal:
        """Return the deal with a card too many or too few for another seat."""
        others = [seat for seat, count in enumerate(event.counts) if count and seat != self.watcher]
        seat, more = self.chance.choice(others), self.chance.random() < 0.5
        if event.hands is None:
            counts = list(event.counts)
            counts[seat] += 1 if more else -1
            return replace(act, counts=tuple(counts))
        held = {card for hand in (*event.hands, event.stock) for card in hand}
        spare = [card for card in self.rules.pack if card not in held]
        hands = list(event.hands)
        hands[seat] = (*hands[seat], spare[0]) if more and spare else hands[seat][1:]
        return replace(act, hands=tuple(hands))

    def _deal(self, act: Request, events: tuple[Event, ...]) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
        """Return the events of a deal in both worlds."""
        at = next(place for place, event in enumerate(events) if isinstance(event, Dealt))
        event: Any = events[at]
        dealt: Any = self._stack(event)
        other = self._dealt_otherwise(dealt)
        before, after = events[:at], events[at + 1 :]
        if isinstance(act, Deal) and self.left.table and not after and self.chance.random() < 0.5:
            answer = self._try(self.right, self._misdealt(act, other))
            if answer.refused is None and not any(event.TOPIC == "deal/misdeal-found" for event in answer.events):
                return (*before, dealt), answer.events
        return (*before, dealt, *after), (*before, other, *after)

    # What happens

    def _record(
        self, events: tuple[Event, Event], asked: tuple[Request | None, Request | None] = (None, None)
    ) -> None:
        """Record one event of each world, with the request that made it."""
        for history, event, request in zip(self.histories, events, asked, strict=True):
            raw = None if request is None else msgspec.Raw(msgspec.json.encode(request))
            actor = "official" if request is None else self._actor(request)
            history.append(Recorded(MATCH, len(history) + 1, self.left.at, actor, "~", "", "", event, raw))

    def _actor(self, request: Request) -> Actor:
        """Return the actor of a request."""
        return actor_of(request)

    def _try(self, state: Any, act: Request) -> Answer:
        """Return the result of an attempt in a world."""
        try:
            events, after = self.procedure.take(state, act, self._moment(state, act))
        except Refused as refused:
            return Answer((type(refused).__name__, refused.code, refused.rule, refused.facts), (), state)
        return Answer(None, events, after)

    def tried(self, act: Request) -> tuple[Answer, Answer]:
        """Return the results of an attempt in both worlds, without applying it."""
        return self._try(self.ours, act), self._try(self.right, act)

    def _folded(self, state: Any, events: tuple[Event, ...]) -> Any:
        number = self.left.version
        for event in events:
            number += 1
            state = self.procedure.evolve(state, event, number)
        return state

    def step(self) -> bool:
        """Make one act, the same in both worlds. Return whether both accepted it."""
        rest = list(self.left.rest)
        done = self._done()
        if not done:
            self.left.rest = rest
        return done

    def _done(self) -> bool:
        left = self.left
        left.at += PAUSE
        self.seed = str(self.chance.random())
        act = self._some_act()
        if act is None:
            return False
        came, twin = self._try(self.ours, act), act
        if came.refused is not None:
            return False
        if any(isinstance(event, Dealt) for event in came.events) and self._forks():
            self._fork()
            events, others = self._deal(act, came.events)
            state = self._folded(self._asked(self.ours, act), events)
            right = self._folded(self._asked(self.right, act), others)
        elif not self.forked:
            events = others = came.events
            state = right = came.state
        else:
            twin = self._twin(act)
            went = self._try(self.right, twin)
            if went.refused is not None:
                if getattr(act, "seat", None) == self.watcher and twin == act:
                    raise Leak(f"only in one world: {act}: {went.refused}")
                return False
            events, state, others, right = came.events, came.state, went.events, went.state
        if self.forked:
            self._compare_events(events, others, act)
        if self.over:
            return True
        asked: tuple[Request | None, Request | None] = act, twin
        for both in zip(events, others, strict=True):
            self._record(both, asked)
            asked = None, None
        left.stand(events, self._game(state))
        self.ours, self.right = state, right
        if self.forked:
            self._compare_looks()
        return True

    def _forks(self) -> bool:
        return self.forked or self.left.deals >= self.fork_after

    def _twin(self, act: Request) -> Request:
        """Return the act in the other world, with that world's cards for the hidden ones."""
        if isinstance(act, Deal) and act.hands is not None:  # the dealer at a real table enters all hands
            return replace(act, hands=tuple(map(self._other, act.hands)))
        if getattr(act, "seat", None) == self.watcher:
            return act
        match act:
            case Discard(cards=cards) if self.left.closed:  # the thrown cards may be named or not
                return replace(act, cards=() if self.chance.random() < 0.5 else self._unseen(act.seat, len(cards)))
            case Discard(cards=cards) | RequestCards(cards=tuple() as cards):
                return replace(act, cards=self._other(cards))
            case Exchange(card=str() as card) if self.rules.key == "rams-english":
                return replace(
                    act, card=self._unseen(act.seat, 1)[0] if self.left.closed else self._other((card,))[0]
                )
        return act

    def _unseen(self, seat: int, many: int) -> tuple[str, ...]:
        """Return random cards that a seat with closed hands may hold."""
        return tuple(self.chance.sample(texts_of(hands_of(self._game(self.right))[seat]), many))

    def _some_act(self) -> Request | None:
        """Return a random act: mostly by the rules; if errors are possible, often against them, and then a knock."""
        left, chance, dice = self.left, self.chance, self.chance.random()
        state, awaited = left.state, self.rules.to_act(left.state)
        if left.closed and (holder := getattr(state, "holder", None)) is not None:
            return Discard(seat=holder, cards=tuple(chance.sample(texts_of(hands_of(state)[holder]), state.extra)))
        if left.closed and dice < 0.6:
            seat = state.table.dealer if self.rules.key == "rams-english" else chance.choice(left.seats)
            unseen = [act for act in self.rules.legal(state, seat) if isinstance(act, Exchange | RequestCards)]
            if unseen and dice < 0.5:
                return chance.choice(unseen)
        if left.opened.enforcement == "penalise":
            if dice < 0.06 and self.rules.offences:
                accused = chance.choice(left.seats)
                offence: Any = chance.choice((None, None, *self.rules.offences))
                return Knock(seat=chance.choice(left.seats), accused=accused, offence=offence)
            if dice < 0.14:
                return left.anything()
            if dice < 0.5 and awaited and type(state).__name__ == "Playing" and hands_known(state):
                held = hands_of(state)[awaited[0]] & ~getattr(state, "gone", 0)
                if held:
                    return Play(seat=awaited[0], card=chance.choice(texts_of(held)))
            if dice < 0.6 and (
                acts := [a for a in every_act(self.rules.key, chance.choice(left.seats)) if ritual(a)]
            ):
                return chance.choice(acts)
        act = left.some_act()
        if isinstance(act, Bid) and act.bid == "redeal":
            return None
        return act

    # What is seen

    def _compare_looks(self) -> None:
        """Compare the views and the legal acts."""
        left, right, rules = self.left.state, self._game(self.right), self.rules
        self.differed += left != right
        for viewer in self.viewers:
            self._same(rules.view(left, viewer), rules.view(right, viewer), f"the view of {viewer}")
        self._same(rules.legal(left, self.watcher), rules.legal(right, self.watcher), "what may be done")

    def _compare_events(
        self, left: tuple[Event, ...], right: tuple[Event, ...], act: Any, tried: bool = False
    ) -> None:
        """Compare the events of an act as a viewer sees them."""
        open_now = revealed(left, right)
        for viewer in self.viewers:
            ours, theirs = visible_events(left, viewer), visible_events(right, viewer)
            if ours == theirs:
                continue
            if not open_now and not (viewer == self.watcher and brings_cards(left, right, viewer)):
                raise Leak(f"{viewer} learns about {act}:\n{ours!r}\n{theirs!r}")
            self.over = self.over or not tried
        self.over = self.over or (not tried and any(type(event) in DEAL_ENDS for event in (*left, *right)))

    def _same(self, left: Any, right: Any, what: str) -> None:
        if encode(left) != encode(right):
            raise Leak(f"{what}:\n{encode(left)!r}\n{encode(right)!r}")

    def attempts(self) -> Iterator[Request]:
        """Yield everything that the watcher can send, with knocks and reports."""
        seat, rules, chance = self.watcher, self.rules, self.chance
        legal: Any = rules.legal(self.left.state, seat)
        yield from legal[:40]
        acts = every_act(rules.key, seat)
        yield from chance.sample(acts, min(30, len(acts)))
        for accused in self.left.seats:
            yield Knock(seat=seat, accused=accused)
            offences: Any = rules.offences
            for offence in offences:
                yield Knock(seat=seat, accused=accused, offence=offence)
            if Report in rules.acts:
                yield Report(seat=seat, accused=accused, fault=chance.choice(get_args(Fault)))
        for kind in (Discard, RequestCards):
            if kind in rules.acts:
                yield Discard(seat=seat, cards=()) if kind is Discard else RequestCards(seat=seat)

    def look(self) -> None:
        """Let the watcher try everything, and compare the answers."""
        self.looked += 1
        for act in self.attempts():
            left, right = self.tried(act)
            if left.refused != right.refused:
                raise Leak(f"{act}:\n{left.refused}\n{right.refused}")
            if left.refused is None:
                self._compare_events(left.events, right.events, act, tried=True)

    # A whole pair

    def play(self, steps: int = ACTS_MAX) -> Self:
        """Play until the two worlds part, or for this many acts after the deal."""
        try:
            self._play(steps)
        except Exception as error:
            error.add_note(f"in {self!r}")
            raise
        return self

    def _play(self, steps: int) -> None:
        refused = done = 0
        while done < steps and refused <= REFUSED_MAX and not self.over and not self.left.over:
            refused = 0 if self.step() else refused + 1
            done += self.forked and not refused
            rarely = type(self.left.state).__name__ != "Declaring" and self.left.opened.dealing != "tally"
            often = 0.15 if rarely else 0.5
            if self.forked and not self.over and not refused and self.looked < LOOKS and self.chance.random() < often:
                self.look()


def hands_known(state: Any) -> bool:
    """Return whether the referee knows all hands."""
    cards: Any = state.cards if hasattr(state, "cards") else state.dealing
    known: bool = cards.known
    return known


def hands_of(state: Any) -> tuple[int, ...]:
    """Return the hands as bit masks."""
    hands: tuple[int, ...] = state.hands if hasattr(state, "hands") else state.cards.hands
    return hands


def ritual(act: Act) -> bool:
    """Return whether the act belongs to the ritual of a deal, rightly or wrongly, or is a lead that forgets the
    question."""
    return type(act).__name__ in ("Cut", "PickUp", "KnockForCards")


def encode(value: Any) -> bytes:
    """Return a value as the service sends it."""
    return msgspec.json.encode(value)


def visible_events(events: tuple[Event, ...], viewer: Viewer) -> list[Event]:
    """Return the events of an act as the viewer may see them before the deal is over."""
    return [as_seen_by(event, viewer, public=False) for event in events]


def revealed(left: tuple[Event, ...], right: tuple[Event, ...]) -> bool:
    """Return whether the rules make a fact public.

    That is an upheld knock, a right knock that joins a case (a wrong one is dismissed), a wrong number that was
    found, a fault that ends the play (D-O15), the length of a declared sequence (E-O11), and everything at the end of
    the deal.
    """
    topics = {event.TOPIC for event in left} ^ {event.TOPIC for event in right}
    if topics == {CaseStated.TOPIC, KnockDismissed.TOPIC}:
        return True
    if any(isinstance(event, KnockUpheld) or type(event) in DEAL_ENDS for event in (*left, *right)):
        return True
    if topics & {"deal/misdeal-found", PlayEnded.TOPIC}:
        return True
    both = [(one, other) for one, other in zip(left, right, strict=False) if one.TOPIC == other.TOPIC]
    return any(
        getattr(one, "five", False) != getattr(other, "five", False)
        for one, other in both
        if one.TOPIC in ("sequence/declared", "sequence/answered")
    )


def brings_cards(left: tuple[Event, ...], right: tuple[Event, ...], watcher: Viewer) -> bool:
    """Return whether the two answers differ only in cards that the watcher received."""

    def without(events: tuple[Event, ...]) -> list[Event]:
        shown = visible_events(events, watcher)
        return [replace(event, **{name: None for name in OWN_CARDS if name in event.HIDDEN}) for event in shown]

    return len(left) == len(right) and without(left) == without(right)
