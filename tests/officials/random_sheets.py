"""Score sheets drawn at random, in which the order of the facts often decides."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

from msgspec.structs import replace

from referee.acts import (
    Answer,
    AnswerEntered,
    Ask,
    Bid,
    BidEntered,
    Deal,
    Exchange,
    ExitEntered,
    FaultEntered,
    Knock,
    KnockOut,
    Report,
    Result,
    Score,
    SequenceEntered,
    Trick,
)
from referee.events import DealScored, MatchOpened
from referee.games.kalabrias.play import tricks_in_deal
from referee.games.kalabrias.tally import POSSIBLE_SUMS
from referee.games.rams_english.states import Declaring, Playing
from referee.phases import phase_of
from referee.refusals import Refused
from referee.requests import Request
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event
from tests.support.random_deals import NOON
from tests.support.random_openings import some_match
from tests.support.random_tallies import sheet_of

SISTERS = ("rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen")
CLOSE = ((1, 2), (2, 2), (1, 3), (2, 3), (3, 3), (1, 2, 2), (1, 1, 2), (2, 2, 2))
"""Points of seats that can all come to zero in one deal."""
FAR = (1, 2, 5, 7, 9)
"""Points of the other seats."""
TEMPTING = {"forfeited_share": "second_best", "exact_zero": True, "overshoot": "bounce"}
"""Options of most matches, by which order decides more often."""
FAULTS: tuple[Any, ...] = ("revoke", "exposed_card", "led_out_of_turn")


def some_tally(chance: Random, rules: Ruleset) -> MatchOpened:
    """Draw a tally; in the sisters most seats are close to zero."""
    while True:
        tempting = TEMPTING if chance.random() < 0.7 else None
        opened = some_match(chance, rules, dealing="tally", enforcement="penalise", tempting=tempting)
        players = len(opened.players)
        opened = replace(opened, first_dealer=chance.randrange(players))
        if rules.key in SISTERS:
            if players > 4 and chance.random() < 0.8:
                continue
            points = [*chance.choice(CLOSE), *[chance.choice(FAR) for _ in range(players)]][:players]
            opened = replace(opened, points=tuple(chance.sample(points, players)))
        if rules.key == "kalabrias" and chance.random() < {2: 0.9, 3: 0.6, 4: 0}[players]:
            continue
        try:
            rules.opening(opened)
        except Refused:
            continue
        return opened


def some_sheet(chance: Random, rules: Ruleset, state: Any) -> Result:
    """Draw a sheet that can be entered before the deal of this state."""
    while True:
        sheet = DRAW[rules.key](chance, rules, state)
        if sheet is not None and outcome_of(rules, state, sheet) is not None:
            return sheet


def some_acts(chance: Random, rules: Ruleset, state: Any) -> list[Request]:
    """Draw a deal of a tally that is entered act by act, without knocks for errors; Kalabrias has only whole
    sheets."""
    if rules.key in SISTERS:
        tally = _Tally(chance, rules, state, knocks=False)
        tally.keep()
        return tally.requests
    sheet = some_sheet(chance, rules, state)
    if rules.key != "rams-english":
        return [sheet]
    while sheet.faults and "generalrams" in [one.bid for one in sheet.bids or ()]:
        sheet = some_sheet(chance, rules, state)
    return list(_acts_of_rams(state, sheet))


# The outcome of a sheet

TRIES = 10
"""Other orders of a sheet that are tried."""

Outcome = tuple[Any, ...]
"""Points, entries, and the win by the line: the winners, the rule and the payments."""


def outcome_of(rules: Ruleset, state: Any, sheet: Result) -> Outcome | None:
    """Return the outcome of a sheet; ``None`` if it is refused."""
    try:
        events = rules.decide(state, sheet, Moment(1, NOON, ""))
    except Refused:
        return None
    score = next(place for place, event in enumerate(events) if isinstance(event, DealScored))
    line = events[score]
    assert isinstance(line, DealScored)
    entries = [(entry.seat, entry.points, entry.rule) for entry in line.entries]
    return line.points, sorted(entries), line.pot, events[score + 1 :]


def order_decides(chance: Random, rules: Ruleset, state: Any, sheet: Result) -> bool:
    """Return whether the same facts in another order can be entered and have another outcome."""
    outcome = outcome_of(rules, state, sheet)
    for _ in range(TRIES):
        other = _reordered(chance, sheet)
        if other != sheet and outcome_of(rules, state, _answered(rules, state, other)) not in (outcome, None):
            return True
    return False


def _answered(rules: Ruleset, state: Any, sheet: Result) -> Result:
    """Return a sheet in which the seats without a trick before the question answer it, in this order of tricks."""
    answers, sheet = {one.seat: one.answer for one in sheet.answers or ()}, replace(sheet, answers=None)
    try:
        rules.decide(state, sheet, Moment(1, NOON, ""))
    except Refused as refused:
        if refused.code == "answers_missing":
            pending = refused.facts["pending"]
            return replace(
                sheet, answers=tuple([AnswerEntered(seat=seat, answer=answers.get(seat, "play")) for seat in pending])
            )
    return sheet


def _reordered(chance: Random, sheet: Result) -> Result:
    """Return a sheet with its sequences shuffled, or its tricks, with each exit after the same trick of its seat."""
    if sheet.sequences:
        return replace(sheet, sequences=tuple(chance.sample(sheet.sequences, len(sheet.sequences))))
    tricks = sheet.tricks or ()
    shuffled = tuple(chance.sample(tricks, len(tricks)))
    exits = []
    for one in sheet.exits or ():
        seat, after = one.seat, one.after
        own = tricks[:after].count(seat)
        places = [place for place, taker in enumerate(shuffled, 1) if taker == seat]
        exits.append(ExitEntered(seat=seat, after=places[own - 1] if own else after))
    return replace(sheet, tricks=shuffled or None, exits=tuple(exits) or None)


# The three Rödskägg games: a random tally, and its sheet


class _Tally:
    """A deal whose tally is kept act by act."""

    def __init__(self, chance: Random, rules: Ruleset, state: Any, *, knocks: bool = True) -> None:
        self.chance, self.rules, self.state, self.knocks = chance, rules, state, knocks
        self.events: tuple[Event, ...] = ()
        self.requests: list[Request] = []
        self.silent = chance.random() < 0.25
        """True if hardly any seat knocks for its exit."""
        self.reported: set[Any] = set()

    def do(self, request: Request) -> bool:
        """Return whether the request was accepted; then its events have happened."""
        try:
            events, self.state = self.rules.take(self.state, request, Moment(1 + len(self.events), NOON, ""))
        except Refused:
            return False
        self.events += events
        self.requests.append(request)
        return True

    @property
    def over(self) -> bool:
        return any(isinstance(event, DealScored) for event in self.events)

    def keep(self) -> None:
        """Enter a deal act by act, up to its line."""
        chance = self.chance
        self.do(Deal(seat=self.state.table.dealer))
        while not self.over:
            phase = phase_of(self.state)
            if phase == "auction":
                seat = self.state.to_speak[0]
                bids = [act for act in self.rules.legal(self.state, seat) if isinstance(act, Bid)]
                low = [bid for bid in bids if bid.bid in ("pass", "0", "1", "2")]
                self.do(chance.choice(low if low and chance.random() < 0.95 else bids))
            elif phase == "playing":
                self.play()
            else:
                assert phase == "played"
                self.say()
                self.do(Score(seat=self.state.table.playing[0]))

    def play(self) -> None:
        state, chance = self.state, self.chance
        if pending := state.question.pending:
            self.do(Answer(seat=pending[0], answer="fold" if chance.random() < 0.3 else "play"))
            return
        self.say()
        state = self.state
        if self.over or phase_of(state) != "playing" or state.question.pending:
            return
        if chance.random() < 0.9 and any(self.do(Ask(seat=seat)) for seat in state.order):
            return
        left = [state.table.points[seat] - state.tricks[seat] for seat in state.order]
        weights = [9 if 0 < one < 4 else 1 if one else 0.4 for one in left]
        self.do(Trick(seat=chance.choices(state.order, weights)[0]))

    def say(self) -> None:
        """Knock for exits, now and then in vain, and for errors."""
        chance, seats = self.chance, self.state.table.playing
        for seat in chance.sample(seats, len(seats)):
            at_zero = any(isinstance(act, KnockOut) for act in self.rules.legal(self.state, seat))
            if not self.over and chance.random() < (0.9 if at_zero and not self.silent else 0.01):
                self.do(KnockOut(seat=seat))
        if self.over or not self.knocks or chance.random() > 0.12:
            return
        done = len(getattr(self.state, "outcome", self.state).won)
        seat, accused = chance.sample(seats, 2)
        offence: Any = chance.choice((*FAULTS, "fold_question", "exit_knock"))
        if (accused, offence, done) in self.reported:
            return
        self.reported.add((accused, offence, done))
        if offence in FAULTS and not self.do(Report(seat=seat, accused=accused, fault=offence)):
            return
        self.do(Knock(seat=seat, accused=accused, offence=offence))


def _of_sisters(chance: Random, rules: Ruleset, state: Any) -> Result | None:
    tally = _Tally(chance, rules, state)
    tally.keep()
    line = next(place for place, event in enumerate(tally.events) if isinstance(event, DealScored))
    return sheet_of(tally.events[: line + 1], rules)


# Rams: the second-best card is entered for each trick, for a fault gives it the share


def _of_rams(chance: Random, rules: Ruleset, state: Any) -> Result | None:
    if chance.random() < 0.03:
        return Result(misdeal=True)
    now, bids = rules.take(state, Deal(seat=state.table.dealer), Moment(1, NOON, ""))[1], []
    while isinstance(now, Declaring):
        words = [act for act in rules.legal(now, now.to_speak[0]) if isinstance(act, Bid)]
        usual = ("join", "widow") if chance.random() < 0.6 else ("join", "widow", "lie_down")
        bid = chance.choice([act for act in words if act.bid in usual] or words)
        if chance.random() < 0.05:
            bid = chance.choice(words)
        bids.append(BidEntered(seat=bid.seat, bid=bid.bid))
        now = rules.take(now, bid, Moment(1, NOON, ""))[1]
    if not isinstance(now, Playing):
        return Result(bids=tuple(bids))
    exchanged = Exchange(seat=state.table.dealer) in rules.legal(now, state.table.dealer) and chance.random() < 0.5
    tricks = [chance.choice(now.order) for _ in range(5)]
    if (announcer := now.said.announcer) is not None:
        tricks = [announcer] * 5
        if chance.random() < 0.5:
            tricks = [*tricks[: chance.randrange(5)], chance.choice(now.order)]
    second = [chance.choice([seat for seat in now.order if seat != taker] or [None]) for taker in tricks]
    many = chance.choice((0, 1, 1, 1, 1, 1, 1, 2, 2))
    faults = [FaultEntered(seat=chance.choice(tricks), fault=chance.choice(FAULTS)) for _ in range(many)]
    return Result(
        bids=tuple(bids),
        tricks=tuple(tricks),
        second=tuple(second) if faults and announcer is None else None,
        exchanged=exchanged,
        faults=tuple(faults) or None,
    )


def _acts_of_rams(state: Any, sheet: Result) -> Iterator[Request]:
    dealer = state.table.dealer
    yield Deal(seat=dealer)
    if sheet.misdeal:
        yield Report(seat=dealer, accused=dealer, fault="misdeal")
    for one in sheet.bids or ():
        yield Bid(seat=one.seat, bid=one.bid)
    if sheet.exchanged:
        yield Exchange(seat=dealer)
    second = sheet.second or (None,) * 5
    for seat, best in zip(sheet.tricks or (), second, strict=False):
        yield Trick(seat=seat, second=best)
    for fault in sheet.faults or ():
        yield Report(seat=fault.seat, accused=fault.seat, fault=fault.fault)
    if sheet.tricks:
        yield Score(seat=dealer)


# Kalabrias: the first of the seats that score sequences has the best


def _of_kalabrias(chance: Random, rules: Ruleset, state: Any) -> Result | None:
    table, dice = state.table, chance.random()
    if dice < 0.04:
        return Result(kind="passed_out" if dice < 0.02 else "redeal")
    seats, needed = table.seats, tricks_in_deal(table.seats)
    declarer, taken, points = chance.randrange(seats), [0] * seats, [0] * seats
    for _ in range(needed):
        taken[chance.randrange(seats)] += 1
    takers = [seat for seat in range(seats) if taken[seat]]
    total = chance.choice(sorted(POSSIBLE_SUMS[seats]))
    for seat in takers[:-1]:
        points[seat] = chance.randint(0, total - sum(points))
    points[takers[-1]] = total - sum(points)
    best = chance.randrange(seats)
    side = {2: (best,), 3: tuple({0, 1, 2} - {declarer}), 4: (best, (best + 2) % 4)}[seats]
    own = chance.sample(side, chance.choice((1, len(side), len(side), len(side))))
    sequences = [
        SequenceEntered(seat=seat, cards=chance.choice((3, 3, 4)), top=chance.choice("TJQKA"), trumps=False)
        for seat in own
    ]
    return Result(
        declarer=declarer,
        trumps=chance.choice("SHDC"),
        card_points=tuple(points),
        taken=tuple(taken),
        sequences=tuple(sequences) if chance.random() < 0.9 else None,
        bella=chance.choice((None, None, declarer)),
    )


DRAW: Mapping[str, Callable[[Random, Ruleset, Any], Result | None]] = {
    **dict.fromkeys(SISTERS, _of_sisters),
    "rams-english": _of_rams,
    "kalabrias": _of_kalabrias,
}
"""Functions that draw a sheet of each game, possibly one that cannot be entered."""
