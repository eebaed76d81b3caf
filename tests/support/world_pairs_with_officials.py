"""Two worlds with officials, in which other people's texts and the house's commitment are hidden as well.

They are the worlds of :mod:`tests.support.world_pairs`. During the deal other seats knock, state and appeal, and
officials rule, with different texts in each world: only the writer and the officials may see those before the deal is
over. If the house commits to its shuffle, it has a different seed in each world. The commitment is public and must
differ, so the comparison leaves it out, and nothing else.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from referee.actors import Actor, actor_at, officials
from referee.acts import Entropy, Knock, TakeBack, Void
from referee.events import Adjudication, Dealt, Enforcement, MatchOpened
from referee.officials import shuffle, takeback
from referee.officials.attended import procedure_of
from referee.officials.events.shuffle import ShuffleCommitted
from referee.officials.state import Case
from referee.officials.takeback import before_request
from referee.requests import Appeal, OpenCase, Request, Ruling, Statement, Withdrawal
from referee.ruleset import Moment
from referee.store.aggregate import fold
from referee.visibility import Event
from tests.support.world_pairs import DealingMode, Pair, visible_events

OFTEN = 0.3
"""Probability of a request to the officials."""
WRITTEN = {Knock: "note", OpenCase: "note", Statement: "text", Appeal: "text", Ruling: "reason"}
"""Field of the text, by request."""


class AttendedPair(Pair):
    """A match that officials attend to, in two worlds; ``ours`` and ``right`` are the game with its docket."""

    def __init__(self, key: str, mode: DealingMode, enforcement: Enforcement, seed: object) -> None:
        super().__init__(key, mode, enforcement, f"attended {seed}")
        self.name = f"AttendedPair({key!r}, {mode!r}, {enforcement!r}, {seed!r})"
        self.procedure, self.seed = procedure_of(self.rules), "begun"
        self.official: Actor = "official"
        self.written = self.heard = 0
        opened, left = self.left.opened, self.left
        state = self.ours = self.procedure.start(opened)
        left.version, self.histories = 1, ([], [])
        self._record((opened, opened))
        events = self.procedure.begin(state, Moment(left.version, left.at, self.seed))
        for event in events:
            self._record((event, event))
        self.ours = self.right = self._folded(state, events)
        left.stand(events, self._game(self.ours))

    def _opening(self, opened: MatchOpened) -> MatchOpened:
        chance, house = self.chance, opened.dealing == "house"
        terms = Adjudication(
            officials=("Maja", "Nils"),
            appeal_minutes=chance.choice((0, 30, 600)),
            pending="hold" if chance.random() < 0.1 else "play_on",
            take_back=opened.enforcement == "refuse" and chance.random() < 0.5,
        )
        return replace(
            opened,
            adjudication=None if house and chance.random() < 0.3 else terms,
            shuffle="committed" if house else None,
            entropy_seconds=chance.choice((0, 60)) if house else 0,
        )

    def _game(self, state: Any) -> Any:
        return getattr(state, "play", state)  # while the pair is made, the world is only the game

    def _moment(self, state: Any, act: Request) -> Moment:
        here = state is self.ours or not self.forked
        seed = self.seed if here or state.docket.shuffle is None else f"another {self.seed}"
        history = self.histories[0 if here else 1]
        return Moment(self.left.version, self.left.at, seed, self._actor(act), history)

    def _actor(self, request: Request) -> Actor:
        seat: int | None = getattr(request, "seat", None)
        return self.official if seat is None else actor_at(seat)

    def _asked(self, state: Any, act: Request) -> Any:
        return before_request(state, act, self._actor(act), self.left.version + 1)

    # What is otherwise in the other world

    def _fork(self) -> None:
        """Let the house of the other world commit to a different seed for this deal."""
        parting = not self.forked
        super()._fork()
        if not parting or self.right.docket.shuffle is None:
            return
        history, seed = self.histories[1], shuffle.seed_of(f"another {self.seed}")
        place = max(place for place, one in enumerate(history) if isinstance(one.event, ShuffleCommitted))
        committed: Any = history[place].event
        other = replace(committed, commitment=sha256(seed.encode()).hexdigest(), seed=seed)
        assert other.commitment != committed.commitment, "it has to differ"
        for viewer in (*self.viewers, "official"):
            ours, theirs = (visible_events(without_commitment((event,)), viewer) for event in (committed, other))
            self._same(ours, theirs, f"what {viewer} sees of the seed")
        history[place] = replace(history[place], event=other)
        self.right = fold(None, history).state

    def _dealt_otherwise(self, event: Dealt) -> Dealt:
        dealt = super()._dealt_otherwise(event)
        if self.right.docket.shuffle is None:
            return dealt
        met = shuffle.with_seed(self.rules, self.right, None, self._moment(self.right, Void()))
        return replace(dealt, seed=met.seed)

    def _twin(self, act: Request) -> Request:
        """Return the act of the other world: with a different text, if the text is not public at once."""
        name, under_way = WRITTEN.get(type(act)), self.ours.docket.under_way
        # otherwise the game rules on a knock, and its note is public at once
        heard = self.ours.docket.terms is not None
        if name is None or self._actor(act) == actor_at(self.watcher) or not (under_way and heard):
            return super()._twin(act)
        self.written += 1
        return replace(act, **{name: self._text()})

    def _text(self) -> str:
        """Return a random text, or an empty one."""
        return self.chance.choice(("", "So it was.", f"He had {self.chance.choice(self.rules.pack)}."))

    # Requests to the officials

    def _some_act(self) -> Request | None:
        docket, chance = self.ours.docket, self.chance
        self.official = chance.choice(officials(2))
        if docket.shuffle is not None and chance.random() < OFTEN and (seats := shuffle.seats_to_add(self.ours)):
            return Entropy(seat=chance.choice(seats), hex=chance.randbytes(16).hex())
        if docket.terms is not None and chance.random() < OFTEN:
            return self._hearing()
        return super()._some_act()

    def _hearing(self) -> Request:
        """Return a knock that may open a case, or a request in an open case."""
        chance, rules, cases = self.chance, self.rules, self.ours.docket.cases
        seat, other, dice = chance.choice(self.left.seats), chance.choice(self.left.seats), chance.random()
        if not cases or dice < 0.3:
            offence: Any = chance.choice((None, *rules.offences, *self._unseen_offences()))
            if dice < 0.05 and offence is not None:
                deal = chance.randint(1, self.left.deals + 1)
                return OpenCase(kind="offence", accused=other, offence=offence, deal=deal, note=self._text())
            return Knock(seat=seat, accused=other, offence=offence, note=self._text())
        return self._in_case(chance.choice(cases), seat)

    def _in_case(self, case: Case, seat: int) -> Request:
        """Return a random request in a case."""
        chance, number, dice = self.chance, case.case, self.chance.random()
        if not case.is_open:
            return Appeal(case=number, seat=seat if dice < 0.9 else None, text=self._text())
        if dice < 0.45:
            agrees = chance.random() < 0.2
            return Statement(case=number, seat=seat, agrees=agrees, text=self._text())
        if dice < 0.55:
            return Withdrawal(case=number, seat=case.by if isinstance(case.by, int) else None)
        return Ruling(
            case=number,
            verdict="upheld" if dice < 0.7 else "dismissed",
            standard=chance.choice(("balance_of_probabilities", "agreed_facts")),
            rule="J3",
            reason=self._text(),
        )

    def _unseen_offences(self) -> tuple[str, ...]:
        """Return the offences that the events cannot show now."""
        return () if self.rules.unseen is None else tuple(sorted(self.rules.unseen(self.left.state)))

    # What is seen

    def _compare_looks(self) -> None:
        super()._compare_looks()
        left, right = self.ours.docket, self.right.docket
        self._same(left.cases, right.cases, "the cases")
        ours, theirs = (takeback.take_back_acts(world, self.watcher) for world in (self.ours, self.right))
        self._same(ours, theirs, "what may be taken back")
        self._same(shuffle.seats_to_add(self.ours), shuffle.seats_to_add(self.right), "who may add to the shuffle")
        self.heard = len(left.cases)

    def _compare_events(
        self, left: tuple[Event, ...], right: tuple[Event, ...], act: Any, tried: bool = False
    ) -> None:
        super()._compare_events(without_commitment(left), without_commitment(right), act, tried)

    def attempts(self) -> Iterator[Request]:
        yield from super().attempts()
        seat, docket = self.watcher, self.ours.docket
        for accused in self.left.seats:
            offences: Any = self._unseen_offences()
            for offence in offences:
                yield Knock(seat=seat, accused=accused, offence=offence)
        for case in docket.cases:
            for agrees in (True, False):
                yield Statement(case=case.case, seat=seat, agrees=agrees)
            yield Withdrawal(case=case.case, seat=seat)
            yield Appeal(case=case.case, seat=seat)
        yield OpenCase(kind="misclick", seat=seat)
        yield TakeBack(seat=seat)
        yield Entropy(seat=seat, hex="5" * 32)


def without_commitment(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the events without the commitment, which has to differ."""
    return tuple(replace(one, commitment="") if isinstance(one, ShuffleCommitted) else one for one in events)
