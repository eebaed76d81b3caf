"""A replay of a match with corrected facts for some of its deals (J9).

Acts, dealers and playing seats stay as recorded, except in a new duel. The game makes each line again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from referee import events
from referee.acts import Abandon, Close, Void
from referee.events import (
    DealScored,
    Dealt,
    DealVoided,
    FirstDealerDrawn,
    KnockDismissed,
    KnockUpheld,
    MatchAbandoned,
    MatchClosed,
    MatchOpened,
    MatchWon,
    PenaltyImposed,
    PlayEnded,
    PlayerEliminated,
    Reported,
    TrickTaken,
    event_kinds_in,
)
from referee.offences import Ledger
from referee.officials.events.corrections import Line, ProtocolCorrected, Script, Scripted
from referee.officials.events.takeback import ActTakenBack, TakeBackAsked, without_taken_back
from referee.officials.events.tally import ResultEntered
from referee.officials.numbering import Numbering
from referee.ruleset import Moment, Ruleset
from referee.value import Value
from referee.visibility import Event, Recorded

_COUNT_BETWEEN_DEALS: frozenset[type[Event]] = frozenset((Reported, KnockUpheld, KnockDismissed, PenaltyImposed))
"""Types of events that count between deals, even if a correction changes the seats of the next deal."""


class Rescored(Value):
    """A match at the end of a replay."""

    state: Any
    lines: Mapping[int, Line]
    """Lines that count, by the number of the event that wrote them."""
    struck: tuple[int, ...]
    """Scored deals that do not count."""
    dependent: tuple[int, ...]
    """Deals that were played, or ended at their last trick, because of a number that is now different."""
    end: Event | None
    ended_by: int
    """Number of the event that ended the match or wrote the winning line; 0: the match goes on."""
    duel: tuple[int, ...]
    """Seats that play the next deal, if it is a duel; else empty."""
    called: tuple[int, ...]
    """Value of ``duel`` as recorded, before these corrections."""
    before: Mapping[int, Any]
    """State at the beginning of each deal that counts, by deal."""
    played: Mapping[int, Any]
    """State just before the score of each deal that counts, by deal."""
    whole: frozenset[int]
    """Deals that a script replaced as a whole."""
    begun: Mapping[int, int]
    """Number of the last recorded event that dealt the cards or entered the result, by deal."""


def script(deal: int, facts: Iterable[Event], *, whole: bool = False) -> Script:
    """Return a script: facts to add just before the score of a deal or, with ``whole``, to replace the deal."""
    scripted = [Scripted(topic=fact.TOPIC, event=as_json(fact)) for fact in facts]
    return Script(deal=deal, events=tuple(scripted), whole=whole)


def as_json(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


@cache
def _events_by_topic(rules: Ruleset) -> Mapping[str, type[Event]]:
    types: tuple[type[Event], ...] = (*event_kinds_in(events), ResultEntered, *rules.events)
    return {kind.TOPIC: kind for kind in types}


def as_tally(state: Any) -> Any:
    """Return the state as in a tally, so that a deal's result can be entered."""
    return replace(state, table=replace(state.table, house=False, tally=True, penalise=True))


class _Corrections:
    """The scripts and struck deals of all corrections that count. The last script for a whole deal counts."""

    def __init__(self, rules: Ruleset) -> None:
        self.event_types = _events_by_topic(rules)
        self.whole: dict[int, tuple[int, tuple[Event, ...]]] = {}
        """Facts that replace a deal, and the number of their correction, by deal."""
        self.added: dict[int, list[tuple[int, tuple[Event, ...]]]] = {}
        """Facts to add before a score, with the numbers of their corrections, by deal."""
        self.strike: set[int] = set()

    def add_recorded(self, history: Iterable[Recorded], replaced: int | None) -> None:
        """Add the recorded corrections, except ``replaced`` and those that a later correction replaces."""
        recorded = {one.originator_version: one.event for one in history if isinstance(one.event, ProtocolCorrected)}
        left_out = {replaced, *(event.replaces for event in recorded.values())}
        for number, event in recorded.items():
            if number not in left_out:
                self.add(number, event.scripts, event.strike)

    def add(self, number: int, scripts: Iterable[Script], strike: Iterable[int]) -> None:
        """Add the correction of event ``number``. A script for a whole deal that was struck restores the deal."""
        for one in scripts:
            facts = tuple([msgspec.convert(fact.event, self.event_types[fact.topic]) for fact in one.events])
            if one.whole:
                self.whole[one.deal] = number, facts
                self.strike.discard(one.deal)
            else:
                self.added.setdefault(one.deal, []).append((number, facts))
        self.strike.update(strike)


def rescore(
    rules: Ruleset,
    history: Sequence[Recorded],
    scripts: Iterable[Script] = (),
    strike: Iterable[int] = (),
    number: int | None = None,
    replaces: int | None = None,
) -> Rescored:
    """Return the match with a new correction and the earlier ones, without acts taken back (J11).

    ``scripts`` and ``strike`` (deals): the new correction. ``number``: its event; ``None``: the next event.
    ``replaces``: number of an earlier correction that no longer counts.
    """
    if number is None:
        number = history[-1].originator_version + 1
    corrections, landmarks = _Corrections(rules), [one for one in history if type(one.event) in _LANDMARKS]
    corrections.add_recorded(landmarks, replaces)
    corrections.add(number, scripts, strike)
    counting = without_taken_back(landmarks)
    if len(counting) < len(landmarks):
        history = without_taken_back(history)
    return _Replay(rules, history, counting, corrections, Numbering(number)).run()


class _Replay:
    """A pass through a history with the corrected facts.

    It compares the corrected match (``state``, ``lines``, ``end``, ``duel``) with the recorded match
    (``recorded_points``, ``recorded_out``, ``called``, ``deal``), to find deals that depend on a changed number.
    """

    def __init__(
        self,
        rules: Ruleset,
        history: Sequence[Recorded],
        landmarks: Iterable[Recorded],
        corrections: _Corrections,
        numbering: Numbering,
    ) -> None:
        opened = history[0].event
        assert isinstance(opened, MatchOpened), "a history begins with its opening"
        self.rules, self.history, self.corrections, self.numbering = rules, history, corrections, numbering
        self.position = 0
        """Number of events of ``history`` that have been read."""
        self.state: Any = rules.start(opened)
        self.base = self.state
        """State before the deal under way, restored if that deal is dropped."""
        self.lines: dict[int, Line] = {}
        self.struck: set[int] = set()
        self.dependent: set[int] = set()
        self.end: Event | None = None
        self.ended_by = 0
        self.duel: tuple[int, ...] = ()
        self.before: dict[int, Any] = {}
        self.played: dict[int, Any] = {}
        self.whole: set[int] = set()
        self.terms = {name: getattr(self.state.table, name) for name in ("house", "tally", "penalise")}
        """Original values of the fields that :func:`as_tally` sets."""
        self.dealers: dict[tuple[int, int], int] = {}
        """Recorded dealer, by number of earlier corrections and deal."""
        self.begun: dict[int, int] = {}
        self.corrections_read = 0
        self._read_dealers_and_begins(landmarks)
        self.recorded_points: tuple[int, ...] = self.state.table.points
        self.points_end_play = rules.points_end_play is not None and rules.points_end_play(self.state)
        self.recorded_out: tuple[int, ...] = ()
        self.called: tuple[int, ...] = ()
        self.deal = 1
        self.usual = self.state.table.dealer, self.state.table.playing
        """Next dealer and playing seats, unless other ones are recorded."""
        self.is_skipping = 1 in corrections.strike
        """True while recorded events are skipped, because the deal does not count or its script has been folded."""
        self.is_scripted = False
        """True if the script of the deal under way has been folded."""
        self.is_dependent = False
        """True if the deal under way depends on a changed number."""

    def _read_dealers_and_begins(self, landmarks: Iterable[Recorded]) -> None:
        corrections, deal, whole = 0, 1, False
        for recorded in landmarks:
            event = recorded.event
            if isinstance(event, Dealt):
                self.dealers.setdefault((corrections, event.deal), event.dealer)
            elif isinstance(event, DealScored):
                self.dealers.setdefault((corrections, event.deal), event.dealer)
                deal, whole = event.deal + 1, False
            elif isinstance(event, ProtocolCorrected):
                corrections += 1
            if isinstance(event, Dealt | ResultEntered) and not whole:
                self.begun[deal] = recorded.originator_version
            whole = whole or isinstance(event, ResultEntered)

    def run(self) -> Rescored:
        evolve, known = self.rules.evolve, frozenset(_events_by_topic(self.rules).values())
        steps = {
            kind: STEPS.get(kind, _Replay.consequence)
            for kind in known | STEPS.keys()
            if kind.FOLLOWS_FROM_LINE or kind in STEPS
        }
        if not self.points_end_play:
            del steps[TrickTaken]
        folded = self.kinds_to_fold(known)
        for position, recorded in enumerate(self.history[1:], 2):
            event = recorded.event
            kind = type(event)
            if kind in steps:
                self.position = position
                steps[kind](self, recorded.originator_version, event, recorded)
                folded = self.kinds_to_fold(known)
            elif kind in folded:
                self.state = evolve(self.state, event, recorded.originator_version)
        if self.end is None and self.rules.between_deals(self.state):
            self.seat_next_deal(*self.usual)
        return Rescored(
            state=self.state,
            lines=self.lines,
            struck=tuple(sorted(self.struck)),
            dependent=tuple(sorted(self.dependent)),
            end=self.end,
            ended_by=self.ended_by,
            duel=self.duel,
            called=self.called,
            before=self.before,
            played=self.played,
            whole=frozenset(self.whole),
            begun=self.begun,
        )

    def kinds_to_fold(self, known: frozenset[type[Event]]) -> frozenset[type[Event]]:
        """Return the types of events to fold as recorded from now on. ``known``: all types of the game."""
        if self.is_skipping or self.end is not None:
            return frozenset()
        return known if self.duel == self.called else _COUNT_BETWEEN_DEALS

    def first_dealer_drawn(self, number: int, event: FirstDealerDrawn, recorded: Recorded) -> None:
        self.state = self.base = self.rules.evolve(self.state, event, number)
        self.usual = event.seat, self.usual[1]

    def deal_begun(self, number: int, event: Dealt | ResultEntered, recorded: Recorded) -> None:
        """Fold the event, or the script that replaces the deal. Drop the deal if different seats should play it."""
        if self.is_skipping or self.end is not None:
            return
        if self.duel != self.called:
            self.drop_deal()
            return
        deal = self.deal
        begins = number == self.begun[deal]
        if begins:
            self.before[deal] = self.state
        if begins and deal in self.corrections.whole:
            correction, facts = self.corrections.whole[deal]
            if isinstance(facts[0], ResultEntered):
                self.state = as_tally(self.state)
            self.fold_script(correction, facts)
            self.whole.add(deal)
            self.is_skipping = self.is_scripted = True
        else:
            self.state = self.rules.evolve(self.state, event, number)

    def trick_taken(self, number: int, event: TrickTaken, recorded: Recorded) -> None:
        """Fold a trick. Drop the deal if only the recorded or only the changed points end its play at this trick."""
        if self.is_skipping or self.end is not None:
            return
        self.state = self.rules.evolve(self.state, event, number)
        table = self.state.table
        if table.points != self.recorded_points:
            moment = Moment(number - 1, recorded.at, "")
            follows = self.rules.follows(self.state, moment)
            then = self.history[self.position].event if self.position < len(self.history) else None
            if (bool(follows) and isinstance(follows[0], PlayEnded)) != isinstance(then, PlayEnded):
                self.drop_deal()

    def deal_scored(self, number: int, event: DealScored, recorded: Recorded) -> None:
        """Score a deal that counts, with the added facts. Mark any other deal as struck or dependent."""
        deal = event.deal
        if self.end is not None:
            self.struck.add(deal)
        elif not self.is_skipping or self.is_scripted:
            for correction, facts in self.corrections.added.get(deal, ()):
                self.fold_script(correction, facts)
            self.played[deal] = self.state
            self.score(number, deal)
        elif not self.is_dependent:
            self.struck.add(deal)
        if self.is_dependent:
            self.dependent.add(deal)
        self.is_skipping = self.is_scripted = self.is_dependent = False
        self.recorded_points, self.recorded_out, self.called = event.points, event.eliminated, ()
        self.base, self.deal = self.state, deal + 1
        self.prepare_next_deal()

    def score(self, number: int, deal: int) -> None:
        """Fold the game's line of the deal and its consequences. Drop the deal if the game makes no line."""
        assert self.rules.scored is not None, "the game can score a deal again"
        scored = self.rules.scored(self.state, "")
        if not scored:
            self.drop_deal()
            return
        self.state = replace(self.state, table=replace(self.state.table, **self.terms))
        line, *consequences = scored
        assert isinstance(line, DealScored), "a score begins with its line"
        self.lines[number] = line = self.numbering.line(line)
        self.duel = ()
        for event in (line, *consequences):
            self.state = self.rules.evolve(self.state, event, number)
            if isinstance(event, MatchWon):
                self.end, self.ended_by = event, number
            elif event is not line:
                self.duel = seats_called(event)
        table = self.state.table
        self.state = replace(self.state, table=replace(table, ledger=self.numbering.ledger(table.ledger)))

    def drop_deal(self) -> None:
        self.state, self.is_skipping, self.is_dependent, self.is_scripted = self.base, True, True, False
        self.before.pop(self.deal, None)
        self.played.pop(self.deal, None)

    def fold_script(self, correction: int, facts: tuple[Event, ...]) -> None:
        """Fold the facts of a correction, each with a temporary number. An upheld knock rests on its open breach."""
        for fact in facts:
            if isinstance(fact, KnockUpheld):
                fact = replace(fact, rests_on=_open_breach_event(self.state.table.ledger, fact))
            self.state = self.rules.evolve(self.state, fact, self.numbering.next(correction))

    def prepare_next_deal(self) -> None:
        """Set the dealer and playing seats of the next deal, unless the match is over or the deal is struck."""
        self.is_skipping = self.end is None and self.deal in self.corrections.strike
        if self.end is not None:
            return
        table = self.state.table
        self.usual = dealer, playing = table.dealer, self.duel or table.active
        if self.is_skipping:
            return
        if not self.duel:
            known = self.dealers.get((self.corrections_read, self.deal))
            if known is not None:
                dealer = known
                playing = tuple([seat for seat in range(table.seats) if seat not in self.recorded_out])
        self.seat_next_deal(dealer, playing)

    def seat_next_deal(self, dealer: int, playing: tuple[int, ...]) -> None:
        table = self.state.table
        if (self.deal, dealer, playing) != (table.deal, table.dealer, table.playing):
            table = replace(table, deal=self.deal, dealer=dealer, playing=playing)
            self.state = self.base = replace(self.state, table=table)

    def consequence(self, number: int, event: Event, recorded: Recorded) -> None:
        """Skip a recorded consequence of a line, but store the seats that it calls to a duel."""
        if seats := seats_called(event):
            self.called = seats

    def deal_voided(self, number: int, event: DealVoided, recorded: Recorded) -> None:
        """Void the deal again, with a new line if the void had one. Mark a skipped deal that had a line."""
        if self.is_skipping or self.end is not None:
            if event.points:
                (self.dependent if self.is_dependent else self.struck).add(event.deal)
            self.is_skipping = self.is_skipping and not self.is_dependent and not self.is_scripted
            self.is_dependent = self.is_scripted = False
            return
        if event.points:
            self.recorded_points = event.points
            event = self.lines[number] = self.decide(Void(reason=event.reason), number, recorded)
        self.state = self.base = self.rules.evolve(self.state, event, number)

    def match_ended(self, number: int, event: MatchClosed | MatchAbandoned, recorded: Recorded) -> None:
        """End the match as the official did, with the new numbers, unless a line has ended it already."""
        if self.end is not None:
            return
        act = Close() if isinstance(event, MatchClosed) else Abandon(reason=event.reason)
        self.end, self.ended_by = self.decide(act, number, recorded), number
        self.state = self.rules.evolve(self.state, self.end, number)

    def decide(self, act: Void | Close | Abandon, number: int, recorded: Recorded) -> Any:
        (event,) = self.rules.decide(self.state, act, Moment(number - 1, recorded.at, ""))
        return event

    def protocol_corrected(self, number: int, event: ProtocolCorrected, recorded: Recorded) -> None:
        """Use a correction's numbers as the recorded numbers, because later deals were played with them."""
        self.recorded_points, self.recorded_out, self.called = event.points, event.eliminated, event.duel
        if self.end is not None:
            return
        if event.fresh:
            ledger = self.state.table.ledger
            self.state = replace(self.base, table=replace(self.base.table, ledger=ledger))
        self.corrections_read += 1
        self.seat_next_deal(*self.usual)
        self.prepare_next_deal()


def _open_breach_event(ledger: Ledger, knock: KnockUpheld) -> tuple[int, ...]:
    """Return the number of the first open breach with the knock's offence and accused; empty: no such breach."""
    return next(
        (
            (one.event,)
            for one in ledger.breaches
            if one.case is None and (one.breach.seat, one.breach.offence) == (knock.accused, knock.offence)
        ),
        (),
    )


_LANDMARKS = frozenset((Dealt, ResultEntered, DealScored, ProtocolCorrected, ActTakenBack, TakeBackAsked))
"""Types of events that are read before a replay begins."""


def seats_called(event: Event) -> tuple[int, ...]:
    """Return the seats that a consequence of a line calls to a duel; empty: none."""
    may_call = not isinstance(event, MatchWon | PlayerEliminated)
    return getattr(event, "seats", ()) if may_call else ()


STEPS: Mapping[type[Event], Callable[[_Replay, int, Any, Recorded], None]] = {
    FirstDealerDrawn: _Replay.first_dealer_drawn,
    Dealt: _Replay.deal_begun,
    ResultEntered: _Replay.deal_begun,
    TrickTaken: _Replay.trick_taken,
    DealScored: _Replay.deal_scored,
    DealVoided: _Replay.deal_voided,
    MatchClosed: _Replay.match_ended,
    MatchAbandoned: _Replay.match_ended,
    ProtocolCorrected: _Replay.protocol_corrected,
}
"""Steps of a replay. Other events are folded as recorded or, if they follow from a line, skipped."""
