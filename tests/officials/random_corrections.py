"""Random matches whose deals are scored again. Their requests are kept, so that they can be played again."""

from collections import Counter
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from referee.actors import Actor
from referee.acts import Score
from referee.events import Adjudication, DealScored, Dealt, DealVoided, MatchAbandoned, MatchOpened, PenaltyImposed
from referee.games import RULESETS
from referee.offences import Ledger
from referee.officials.events.corrections import Script, Why
from referee.officials.rescoring import as_json, rescore, script
from referee.phases import Over
from referee.refusals import Refused
from referee.requests import Correct
from referee.ruleset import Moment, Ruleset
from referee.store.aggregate import fold
from referee.visibility import Event, Recorded
from tests.support.random_deals import PAUSE, Playout, play_deal
from tests.support.random_openings import some_match


class Match(Playout):
    """A match under way, with its whole history."""

    def __init__(self, rules: Ruleset, chance: Random, opened: MatchOpened | None = None) -> None:
        self.requests: list[tuple[Any, Moment]] = []
        super().__init__(rules, chance, Counter(), True, opened)

    def attended(self) -> Any:
        """Return the attended match, folded from its last state."""
        begun, before = getattr(self, "folded", (0, None))
        if begun > len(self.history):  # the history was cut
            begun, before = 0, None
        if begun < len(self.history):
            self.folded = len(self.history), fold(before, self.history[begun:])
        return self.folded[1]

    def moment(self) -> Moment:
        moment = super().moment()
        self.opening_moment = getattr(self, "opening_moment", moment)
        return moment

    @property
    def history(self) -> list[Recorded]:
        """The whole history."""
        assert self.kept is not None
        return self.kept

    def step(self) -> bool:
        """Try one act of any seat; return whether it was accepted."""
        self.at += PAUSE
        if (act := self.some_act()) is None:
            return False
        moment = self.moment()
        try:
            events, state = self.rules.take(self.state, act, moment)
        except Refused:
            return False
        self.requests.append((act, moment))
        self.stand(events, state)
        return True


def some_play(key: str, chance: Random, deals: int, opened: MatchOpened | None = None) -> Match:
    """Play a match for this many deals, or until it is over; return it."""
    match = Match(RULESETS[key], chance, opened)
    play_on(match, deals)
    return match


def play_on(match: Match, deals: int) -> None:
    """Play this many deals, or until the match is over."""
    while match.deals < deals and not match.over:
        play_deal(match, False)


def of_kind(history: list[Recorded], *kinds: type[Event]) -> list[Recorded]:
    """Return the events of these kinds."""
    return [one for one in history if isinstance(one.event, kinds)]


# Corrected by officials


def attended_match(key: str, chance: Random, **given: Any) -> MatchOpened:
    """Return the opening of a random attended match."""
    return replace(some_match(chance, RULESETS[key], **given), adjudication=Adjudication(officials=("Maja",)))


def ask(match: Match, request: Any, at: datetime | None = None, actor: Actor = "official") -> tuple[Event, ...]:
    """Do a request; return its events. Check that the fold gives the decided state."""
    before = match.attended()
    moment = Moment(match.version, at or match.at, f"asked {match.version}", actor, tuple(match.history))
    events, folded = before.procedure.take(before.state, request, moment)
    for event in events:
        match.version += 1
        match.history.append(match.recorded(event))
    assert match.attended().state == folded
    match.state = folded.play
    match.points = match.state.table.points
    match.new_deal()
    return tuple(events)


def correction(*scripts: Script, strike: tuple[int, ...] = (), **more: Any) -> Correct:
    """Return a request for a correction."""
    return Correct(why=Why(rule="B11", reason="as agreed"), scripts=scripts, strike=strike, **more)


def with_strikes(match: Match, request: Correct) -> tuple[Event, ...]:
    """Make a correction, with the dependent deals struck that its refusal names; return its events."""
    while True:
        try:
            return ask(match, request)
        except Refused as refused:
            if refused.code != "line_hangs" or set(refused.facts["deals"]) & set(request.strike):
                raise  # a struck deal does not depend on a number
            request = replace(request, strike=(*request.strike, *refused.facts["deals"]))


# Scripts at random


def scored_deals(match: Match) -> list[DealScored]:
    """Return the lines of the match as first recorded."""
    return [one.event for one in match.history if isinstance(one.event, DealScored)]


def some_script(match: Match, chance: Random, deal: int) -> Script | None:
    """Return a script with a penalty, a fault or a different play of the deal, as far as the game has them."""
    rules, before = match.rules, rescore(match.rules, match.history).before.get(deal)
    if before is None:  # the deal does not count
        return None
    if rules.key in ("rodskagg-kortoxen", "rodskagg-catsatcards") and chance.random() < 0.6:
        seat = chance.choice(before.table.playing)
        return script(deal, [PenaltyImposed(seat=seat, points=chance.choice((5, 5, -5, 1)), rule="B11")])
    played = some_other_play(match, chance, before)
    return script(deal, [one.event for one in played.history], whole=True) if played is not None else None


def some_other_play(match: Match, chance: Random, before: Any) -> Match | None:
    """Play the same deal differently to its score; return the match, or ``None`` if it was not scored."""
    other = Match(match.rules, chance, match.opened)
    other.kept, other.requests, other.closed, other.at = [], [], match.closed, match.at
    other.state, other.points, other.deals = before, before.table.points, 0
    other.version, other.worth = 900_000 + chance.randrange(1000), sum(before.table.points) + before.table.pot
    other.new_deal()
    play_deal(other, False)
    scores = [place for place, one in enumerate(other.history) if isinstance(one.event, DealScored)]
    if not scores or of_kind(other.history, DealVoided, MatchAbandoned):
        return None
    score = other.history[scores[0]].originator_version
    other.requests = [
        (act, moment) for act, moment in other.requests if moment.version < score - 1 or type(act) is not Score
    ]
    del other.history[scores[0] :]
    return other


def bare(line: Any) -> Any:
    """Return a line without the numbers of events."""
    plain = msgspec.to_builtins(line)
    for entry in (*plain.get("entries", ()), *plain.get("pot_entries", ())):
        entry.pop("events")
    for noted in plain.get("detail", {}).get("noted", ()):
        noted.pop("events")
    return plain


def unordered(line: Any) -> Any:
    """Return a bare line without the order of faults and without the details that need cards."""
    plain = as_json(bare(line))
    plain.get("detail", {}).pop("noted", None)
    for name in ("entries", "pot_entries"):
        plain[name] = sorted(plain.get(name, ()), key=repr)
    return plain


def without_ledger(state: Any) -> Any:
    """Return the phase without its ledger and its tokens."""
    return replace(state, table=replace(state.table, ledger=Ledger()))


# The same match, played correctly from the start


class Repeated:
    """A match that is played again from its opening."""

    def __init__(self, match: Match) -> None:
        self.rules, self.version = match.rules, 1
        self.state: Any = match.rules.start(match.opened)
        self.lines: list[DealScored] = []
        self.stand(self.rules.begin(self.state, match.opening_moment))

    @property
    def over(self) -> bool:
        return isinstance(self.state, Over)

    def stand(self, events: tuple[Event, ...], after: Any = None) -> None:
        """Apply these events. ``after``: the state after them, if known."""
        for event in events:
            self.version += 1
            if after is None:
                self.state = self.rules.evolve(self.state, event, self.version)
            if isinstance(event, DealScored):
                self.lines.append(event)
        if after is not None:
            self.state = after

    def decide(self, act: Any, moment: Moment) -> tuple[tuple[Event, ...], Any]:
        """Return the events of an act and the state after it."""
        return self.rules.take(self.state, act, replace(moment, version=self.version))

    def play_deal(self, deal: int, other: Match, moment: Moment) -> None:
        """Play the deal as in ``other``, to its score."""
        for theirs, when in other.requests:
            self.stand(*self.decide(theirs, when))
        if len(self.lines) < deal:
            self.stand(*self.decide(Score(seat=self.state.table.playing[0]), moment))
        assert len(self.lines) == deal

    def repeat(self, act: Any, moment: Moment, was: list[Event]) -> bool:
        """Repeat an act. Return whether it is accepted with the same events as before."""
        try:
            events, after = self.decide(act, moment)
        except Refused:
            return False
        if play_events(events) != play_events(was):
            return False
        self.stand(events, after)
        return True


def played_so(match: Match, deal: int, other: Match | None, penalty: PenaltyImposed | None) -> Any:
    """Repeat the requests of a match with the deal played as in ``other``, or with a ``penalty`` before its score.

    Return the lines and the final state; ``None`` if the requests do not fit any more.
    """
    ends = [one.originator_version for one in of_kind(match.history, DealScored)]
    dealings = ((one.originator_version, one.event) for one in match.history)
    dealt = max(number for number, event in dealings if isinstance(event, Dealt) and event.deal == deal)

    def scores_it(act: Any, moment: Moment) -> bool:
        return type(act) is Score and moment.version + 1 == ends[deal - 1]

    if penalty is not None and not any(scores_it(act, moment) for act, moment in match.requests):
        return None  # the deal was scored at once, before a penalty was possible
    again, played = Repeated(match), False
    until = [moment.version for _, moment in match.requests[1:]] + [match.version]
    for (act, moment), end in zip(match.requests, until, strict=True):
        if again.over:
            break
        now = 1 + sum(number <= moment.version for number in ends)
        if now == deal and other is not None and end >= dealt:
            if not played:
                again.play_deal(deal, other, moment)
            played = True
            continue
        if penalty is not None and scores_it(act, moment):
            again.stand((penalty,))
        if not again.repeat(act, moment, [one.event for one in match.history[moment.version : end]]):
            return None
    waits = not (again.over or again.rules.between_deals(again.state))  # for what had not to be said then
    return None if waits else (again.lines, again.state)


def play_events(events: Any) -> list[Any]:
    """Return the events as JSON, without lines and without the events that prove them."""
    dumped = [(event.TOPIC, msgspec.to_builtins(event)) for event in events if not is_of_a_line(event)]
    for _, fields in dumped:
        for name in ("breaches", "rests_on"):
            fields.pop(name, None)
    return dumped


def is_of_a_line(event: Event) -> bool:
    """Return whether an event is a line or a consequence of one."""
    return isinstance(event, DealScored | DealVoided) or event.FOLLOWS_FROM_LINE
