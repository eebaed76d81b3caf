"""Checks the rows of one aggregate: their numbers, chain and decisions, the snapshots and keyed acts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from eventsourcing.persistence import StoredEvent
from msgspec.structs import replace

from api.maintenance.raw_store import Row
from referee.actors import seat_of
from referee.history import History as Past
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.acts import OWN_KEY_PREFIX, key_of
from referee.store.aggregate import KINDS, Aggregate, fold, with_known_state
from referee.store.damaged import DamagedRow
from referee.store.desk import digest_of
from referee.store.rows import HASH_BEFORE_FIRST, from_row, row_hash, to_row
from referee.store.store import Loaded, Snapshot, snapshot_row
from referee.visibility import Event, Recorded

SEED, OTHER_SEED = "heads", "tails"
"""Seeds for acts without a recorded seed. An event that differs between the two depends on chance."""
REPORTED_CHARACTERS_MAX = 60

MATCH, UNKNOWN = "match", "id"
KIND_BY_TOPIC = {fact.TOPIC: kind.__name__.lower() for kind in KINDS.values() for fact in kind.FACTS}
"""``match``, ``club`` or ``log``, by topic."""


class Difference(NamedTuple):
    """``event``: 0 for the whole aggregate."""

    kind: str
    aggregate: str
    event: int
    what: str

    def __str__(self) -> str:
        return f"{self.kind} {self.aggregate}: {f'event {self.event}: ' if self.event else ''}{self.what}"


class _ReadRow(NamedTuple):
    """A decoded row. The next row must name its ``hash``."""

    stored: StoredEvent
    recorded: Recorded
    hash: str


class History:
    """Checks rows in their order, and collects the differences."""

    def __init__(self, aggregate_id: UUID, snapshots: Sequence[tuple[int, bytes]]) -> None:
        self.id = aggregate_id
        self.events = 0
        self.readable = 0
        """Number of the last event up to which every row exists and can be read."""
        self.snapshots_of_other_releases = 0
        self._problems: list[tuple[int, str]] = []
        self._kind: str | None = None
        self._snapshots = dict(snapshots)
        self._number, self._prev = 0, HASH_BEFORE_FIRST
        self._aggregate: Aggregate | None = None
        self._folds = True
        self._act: list[_ReadRow] = []
        self._past: list[Recorded] = []
        """Events before the act that is being read."""
        self._keyed: dict[bytes, tuple[int, int]] = {}

    def report(self, number: int, what: str) -> None:
        """Add a difference at event ``number`` (0: the whole aggregate)."""
        self._problems.append((number, what))

    @property
    def kind(self) -> str:
        """The kind by the first known topic: ``id`` if no topic is known, ``match`` without rows."""
        return self._kind or (UNKNOWN if self.events else MATCH)

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(Difference(self.kind, str(self.id), number, what) for number, what in self._problems)

    def add(self, rows: Sequence[Row]) -> dict[int, Recorded]:
        """Check the next rows. Return those that can be decoded, by number."""
        recorded: dict[int, Recorded] = {}
        for row in rows:
            self.events += 1
            self._kind = self._kind or KIND_BY_TOPIC.get(row.topic)
            kept = self._read(row)
            if kept is None:
                self._stop_folding()
                continue
            recorded[row.number] = kept.recorded
            self._record_keyed_act(kept.recorded)
            if self._folds:
                self.readable = row.number
                if self._act and kept.recorded.begins_after(self._act[-1].recorded):
                    self._check_act()
                self._act.append(kept)
        return recorded

    @property
    def aggregate(self) -> Aggregate | None:
        """The aggregate after its rows; None if one is missing or unreadable. Lacks events that cannot be folded."""
        return self._aggregate if self.events == self.readable else None

    def end(self, acts: Mapping[bytes, tuple[int, int]] | None) -> None:
        """Check the last act, the snapshots and the keyed acts, after all rows were added.

        ``acts``: result of :meth:`StoreReader.acts`. None: keyed acts are not checked.
        """
        for key in () if acts is None else self._keyed.keys() | acts.keys():
            made, kept = self._keyed.get(key), acts.get(key) if acts else None
            if made is None and kept is not None and (not isinstance(kept[0], int) or kept[0] <= self._number):
                self.report(kept[0], "a keyed act is stored for it, but its row has no such key")
            elif made is not None and kept != made:
                self.report(made[0], "its act has a key that is not stored: a repeat would not be recognized")
        folds = self._folds
        self._stop_folding()
        if folds:
            for number in self._snapshots:
                self.report(number, "it has a snapshot, but the event does not exist")

    def _stop_folding(self) -> None:
        """Check the collected act. Decide no later acts again."""
        if self._act:
            self._check_act()
        self._folds = False

    def _read(self, row: Row) -> _ReadRow | None:
        """Check the number of a row and its link to the row before. Return None if the row cannot be decoded."""
        number, state, before, prev = row.number, row.state, self._number, self._prev
        if number != before + 1:
            self._stop_folding()
            self.report(number, _gap_text(before, number))
        if not isinstance(state, bytes):
            self.report(number, "its row is stored as text instead of bytes: the referee cannot read it")
            state = str(state).encode()
        stored = StoredEvent(self.id, number, row.topic, state)
        self._number = number_after(before, number)
        self._prev = row_hash(stored)
        try:
            recorded = from_row(stored)
        except DamagedRow as damaged:
            self.report(number, f"its row cannot be read: {damaged.detail}")
            return None
        if recorded.prev != prev:
            names = f"the hash of event {before}" if before else "the fixed value for a first event"
            self.report(number, f"the chain is broken before it: its `prev` is not {names}")
        return _ReadRow(stored, recorded, self._prev)

    def _record_keyed_act(self, recorded: Recorded) -> None:
        if not recorded.act_id.startswith(OWN_KEY_PREFIX):
            key, number = key_of(recorded.actor, recorded.act_id), recorded.originator_version
            self._keyed[key] = self._keyed.get(key, (number, number))[0], number

    def _check_act(self) -> None:
        """Decide the collected act again, fold it, and compare its snapshots."""
        act, self._act = self._act, []
        before, number = self._aggregate, act[0].stored.originator_version
        after: Aggregate | None = None
        try:
            after = self._decide_again(before, act)
        except Refused as refused:
            rule = f" by {refused.rule}" if refused.rule else ""
            self.report(number, f"today's rules refuse the request{rule}: {refused.code}")
        except Exception as error:  # a damaged row can cause any error
            self.report(number, f"the request cannot be decided again: {_error_text(error)}")
        self._past += [kept.recorded for kept in act]
        for place, kept in enumerate(act, 1):
            number = kept.stored.originator_version
            if after is None:
                try:
                    self._aggregate = fold(self._aggregate, [kept.recorded])
                except Exception as error:
                    self.report(number, f"it cannot be folded: {_error_text(error)}")
                    self._folds = False
                    return
            elif place == len(act):
                self._aggregate = after
            elif number in self._snapshots:
                self._aggregate = fold(before, [one.recorded for one in act[:place]])
            if (snapshot := self._snapshots.pop(number, None)) is not None:
                assert self._aggregate is not None
                self._compare_snapshot(snapshot, Loaded(self._aggregate, kept.hash))

    def _decide_again(self, before: Aggregate | None, act: list[_ReadRow]) -> Aggregate | None:
        """Decide an act again. If its rows are equal, return the aggregate after it; else report and return None.

        ``before``: the aggregate before the act; None if the act opens it. Raises what :func:`_decide_act` raises.
        """
        history = [kept.recorded for kept in act]
        first, number = history[0], history[0].originator_version
        request = msgspec.json.encode(first.event) if before is None else first.request
        if request is None:
            self.report(number, "its row does not contain the request")
            return None
        seed = next((seed for one in history if (seed := getattr(one.event, "seed", None)) is not None), None)
        past = self._past
        events, state = _decide_act(before, first, request, SEED if seed is None else seed, past)
        if _equal_stored_rows(act, events, request):
            return fold(None, history) if before is None else with_known_state(before, history, state)
        if seed is None:
            other, _ = _decide_act(before, first, request, OTHER_SEED, past)
            chance = [place for place, two in enumerate(zip(events, other, strict=False)) if two[0] != two[1]]
            # Some draws have no recorded seed, so their results cannot be compared.
            if chance and getattr(events[chance[0]], "seed", None) is None:
                act, events = act[: chance[0]], events[: chance[0]]
        for number, what in _act_differences(act, events, request):
            self.report(number, what)
        return None

    def _compare_snapshot(self, stored: bytes, loaded: Loaded) -> None:
        """Report how a stored snapshot differs from ``loaded``. Only count a snapshot of a different release."""
        number = loaded.aggregate.version
        own = snapshot_row(loaded).state
        if stored == own:
            return
        try:
            kept, whole = msgspec.json.decode(stored, type=Snapshot), msgspec.json.decode(own, type=Snapshot)
            actual, expected = msgspec.json.decode(kept.aggregate), msgspec.json.decode(whole.aggregate)
        except (msgspec.MsgspecError, ValueError) as error:
            self.report(number, f"its snapshot cannot be read: {error}")
            return
        if kept.shape != whole.shape:
            self.snapshots_of_other_releases += 1
            return
        if kept.kind != whole.kind:
            self.report(number, f"its snapshot is of a {kept.kind}")
        if kept.head != whole.head:
            self.report(number, "its snapshot names a hash that is not the row's")
        for place in difference_lines(actual, expected):
            self.report(number, f"its snapshot differs: {place}")


def number_after(before: int, stored: Any) -> int:
    """Return ``stored``, a row's number; if it is no number, ``before`` + 1.

    SQLite accepts any value in the column.
    """
    return stored if isinstance(stored, int) else before + 1


def _gap_text(before: int, number: Any) -> str:
    if not isinstance(number, int) or number < 1:
        return "this is not the number of an event"
    if not before:
        return f"the history begins with it: {_range_text(1, number - 1)} missing"
    return f"it follows event {before}: {_range_text(before + 1, number - 1)} missing"


def _range_text(first: int, last: int) -> str:
    return f"event {first} is" if first == last else f"events {first} to {last} are"


def _decide_act(
    before: Aggregate | None, first: Recorded, request: bytes, seed: str, past: Sequence[Recorded]
) -> tuple[tuple[Event, ...], Any]:
    """Return the events that today's rules make from a request, and the state after them (None without ``before``).

    Raises the rules' errors, LookupError if the first event opens no aggregate, PermissionError for the wrong seat.
    """
    if before is None:
        opened = first.event
        if opened.TOPIC not in KINDS:
            raise LookupError(f"no history begins with {opened.TOPIC}")
        rules = KINDS[opened.TOPIC].rules_for(opened)
        moment = Moment(1, first.at, seed, match=first.originator_id)
        return (opened, *rules.begin(rules.start(opened), moment)), None
    sent = type(before).REQUEST_OF(request)
    whose = before.sole_actor(sent)
    if seat_of(first.actor) is not None and whose is not None and first.actor != whose:
        raise PermissionError(f"{first.actor} did an act of {whose}")
    moment = Moment(before.version, first.at, seed, first.actor, Past(lambda: past), before.id)
    return before.procedure.take(before.state, sent, moment)


def _stored_and_new_rows(
    act: list[_ReadRow], events: Sequence[Event], request: bytes
) -> Iterator[tuple[_ReadRow, StoredEvent]]:
    """Yield each row of an act with the row that today's ``events`` would get."""
    digest = digest_of(request)
    for place, (kept, event) in enumerate(zip(act, events, strict=False)):
        request_here = None if place else kept.recorded.request
        yield kept, to_row(replace(kept.recorded, digest=digest, event=event, request=request_here))


def _equal_stored_rows(act: list[_ReadRow], events: Sequence[Event], request: bytes) -> bool:
    rows = _stored_and_new_rows(act, events, request)
    return len(act) == len(events) and all(
        kept.stored.state == expected.state and kept.stored.topic == expected.topic for kept, expected in rows
    )


def _act_differences(act: list[_ReadRow], events: Sequence[Event], request: bytes) -> Iterator[tuple[int, str]]:
    """Yield the number of a stored event, and how it differs from ``events``."""
    for (kept, expected), event in zip(_stored_and_new_rows(act, events, request), events, strict=False):
        number, stored = kept.stored.originator_version, kept.recorded.event
        if type(event) is not type(stored):
            yield number, f"{stored.TOPIC} is stored, but today's rules make {event.TOPIC} from the request"
        elif event != stored:
            for place in difference_lines(msgspec.to_builtins(stored), msgspec.to_builtins(event)):
                yield number, f"today's rules decide differently: {place}"
        elif expected.state != kept.stored.state:
            if kept.recorded.digest != digest_of(request):
                yield number, "its digest is not that of the request"
            else:
                yield number, "its row holds data that the referee does not write"
    number = act[-1].stored.originator_version if act else 0
    for kept in act[len(events) :]:
        yield kept.stored.originator_version, f"today's rules make no {kept.recorded.event.TOPIC} from the request"
    for event in events[len(act) :]:
        yield number, f"today's rules also make {event.TOPIC} from the request, which is missing"


def difference_lines(actual: Any, expected: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each place at which two JSON values differ. ``path``: the start of each line."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        for key in dict.fromkeys((*expected, *actual)):
            if (one := actual.get(key, _NOTHING)) != (other := expected.get(key, _NOTHING)):
                yield from difference_lines(one, other, f"{path}.{key}" if path else str(key))
    elif isinstance(actual, list | tuple) and isinstance(expected, list | tuple) and len(actual) == len(expected):
        for place, (one, other) in enumerate(zip(actual, expected, strict=True)):
            if one != other:
                yield from difference_lines(one, other, f"{path}[{place}]")
    else:
        yield f"{path} is {_shortened_json(actual)}, not {_shortened_json(expected)}"


_NOTHING = object()


def _shortened_json(value: Any) -> str:
    if value is _NOTHING:
        return "missing"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= REPORTED_CHARACTERS_MAX else f"{text[:REPORTED_CHARACTERS_MAX]}…"


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
