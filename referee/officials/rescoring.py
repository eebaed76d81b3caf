"""A match folded anew, with other numbers for some of its deals (J9).

What was bid, played and answered stands, and so does who was dealt in. What a line comes to is asked of the game
once more at each score; so what hangs on a corrected number is right by itself: bounces, ends, elimination, the pot.
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
    facts_of,
)
from referee.offences import Ledger
from referee.officials.events.corrections import Line, ProtocolCorrected, Script, Scripted
from referee.officials.events.takeback import that_stands
from referee.officials.events.tally import ResultEntered
from referee.officials.numbering import Numbering
from referee.ruleset import Moment, Ruleset
from referee.value import Value
from referee.visibility import Event, Recorded

AT_ANY_TIME = (Reported, KnockUpheld, KnockDismissed, PenaltyImposed)
"""What can happen before a deal, whatever deal it will be."""


class Recast(Value):
    """A match as it stands when deals have been scored anew."""

    state: Any
    """The phase of the game."""
    lines: Mapping[int, Line]
    """The lines that count, by the number of the event that wrote them."""
    struck: tuple[int, ...]
    """Deals that were scored and count for nothing."""
    hangs: tuple[int, ...]
    """Deals that ended as they did, or were played at all, because of a number that is another now. They are left
    out here."""
    end: Event | None
    """What has ended the match."""
    ended_by: int
    """The number of the event that did, or that wrote the line which did; 0: it goes on."""
    duel: tuple[int, ...]
    """Who plays the next deal, where it is a duel."""
    called: tuple[int, ...]
    """Who was to play it in a duel until now."""
    before: Mapping[int, Any]
    """The state in which a deal was begun, by deal, of those that count."""
    played: Mapping[int, Any]
    """The state in which a deal waited for its score, by deal, of those that count."""
    whole: frozenset[int]
    """Deals that count as a script tells them, and not as they were played."""
    begun: Mapping[int, int]
    """The number of the event with which a deal was begun as it was played: its cards were dealt, or it was entered
    whole."""


def script(deal: int, facts: Iterable[Event], *, whole: bool = False) -> Script:
    """What a deal is scored with, as it goes on record: before its score, or as the ``whole`` of it."""
    told = [Scripted(topic=fact.TOPIC, event=as_json(fact)) for fact in facts]
    return Script(deal=deal, events=tuple(told), whole=whole)


def as_json(value: Any) -> Any:
    """As it comes back from a row."""
    return msgspec.json.decode(msgspec.json.encode(value))


@cache
def _known(rules: Ruleset) -> Mapping[str, type[Event]]:
    """The facts that a game folds, by topic."""
    kinds: tuple[type[Event], ...] = (*facts_of(events), ResultEntered, *rules.events)
    return {kind.TOPIC: kind for kind in kinds}


def as_tally(state: Any) -> Any:
    """The state before a deal of which a result is told: it is read as of a tally, whatever cards there were."""
    return replace(state, table=replace(state.table, house=False, tally=True, penalise=True))


class _Orders:
    """What all corrections of a match say about its deals, the later ones after the earlier."""

    def __init__(self, rules: Ruleset) -> None:
        self.kinds = _known(rules)
        self.whole: dict[int, tuple[int, tuple[Event, ...]]] = {}
        """By deal: the number of the event that says so, and what stands for the deal."""
        self.added: dict[int, list[tuple[int, tuple[Event, ...]]]] = {}
        """By deal: the same, and what comes before its score."""
        self.strike: set[int] = set()

    def take_all(self, history: Iterable[Recorded], replaced: int | None) -> None:
        """What is on record, but for what counts no more: ``replaced``, or another that a later one replaces."""
        told = {one.originator_version: one.event for one in history if isinstance(one.event, ProtocolCorrected)}
        out = {replaced, *(event.replaces for event in told.values())}
        for number, event in told.items():
            if number not in out:
                self.take(number, event.scripts, event.strike)

    def take(self, number: int, scripts: Iterable[Script], strike: Iterable[int]) -> None:
        """What event ``number`` says. A deal that was struck counts again when it is told anew later."""
        for one in scripts:
            facts = tuple([msgspec.convert(told.event, self.kinds[told.topic]) for told in one.events])
            if one.whole:
                self.whole[one.deal] = number, facts
                self.strike.discard(one.deal)
            else:
                self.added.setdefault(one.deal, []).append((number, facts))
        self.strike.update(strike)


def recast(
    rules: Ruleset,
    history: Sequence[Recorded],
    scripts: Iterable[Script] = (),
    strike: Iterable[int] = (),
    number: int | None = None,
    replaces: int | None = None,
) -> Recast:
    """The match with these scripts and without the deals of ``strike``, beside what it was corrected by before, and
    without what was taken back (J11).

    ``history`` is the whole of it. ``number``: of the event that will hold the scripts, which shows what they tell;
    left out: the next. ``replaces``: the earlier correction that counts no more.
    """
    orders, number = _Orders(rules), history[-1].originator_version + 1 if number is None else number
    orders.take_all(history, replaces)
    orders.take(number, scripts, strike)
    return _Walk(rules, that_stands(history), orders, Numbering(number)).gone()


class _Walk:
    """On the way through a history."""

    def __init__(self, rules: Ruleset, history: Sequence[Recorded], orders: _Orders, numbering: Numbering) -> None:
        opened = history[0].event
        assert isinstance(opened, MatchOpened), "a history begins with its opening"
        self.rules, self.history, self.orders, self.numbering = rules, history, orders, numbering
        self.place = 1
        """So much of the history is behind."""
        self.state: Any = rules.start(opened)
        self.base = self.state
        """After the last line that counts, or the last void: nothing has been dealt since."""
        self.lines: dict[int, Line] = {}
        self.struck: set[int] = set()
        self.hangs: set[int] = set()
        self.end: Event | None = None
        self.ended_by = 0
        self.duel: tuple[int, ...] = ()
        self.before: dict[int, Any] = {}
        self.played: dict[int, Any] = {}
        self.whole: set[int] = set()
        self.terms = {name: getattr(self.state.table, name) for name in ("house", "tally", "penalise")}
        """What a result is read without."""
        self.dealers: dict[tuple[int, int], int] = {}
        """After so many corrections: by deal, who dealt."""
        self.begun: dict[int, int] = {}
        """By deal: the event in which the cards were dealt that were played, or the deal was entered."""
        self.times = 0
        """How many corrections there have been."""
        times, deal, whole = 0, 1, False
        for recorded in history:
            event = recorded.event
            if type(event) not in _BEGINS:
                continue
            if isinstance(event, Dealt):
                self.dealers.setdefault((times, event.deal), event.dealer)
            elif isinstance(event, DealScored):
                self.dealers.setdefault((times, event.deal), event.dealer)
                deal, whole = event.deal + 1, False
            elif isinstance(event, ProtocolCorrected):
                times += 1
            if isinstance(event, Dealt | ResultEntered) and not whole:
                self.begun[deal] = recorded.originator_version
            whole = whole or isinstance(event, ResultEntered)
        # As it stands on record
        self.points: tuple[int, ...] = self.state.table.points
        self.out: tuple[int, ...] = ()
        self.called: tuple[int, ...] = ()
        self.deal = 1
        self.usual = self.state.table.dealer, self.state.table.playing
        """Who would deal next, and to whom, if nothing stood on record."""
        self.passing = 1 in orders.strike
        """The deal under way does not count, or its script has been told."""
        self.told = self.hung = False
        """Its script has been told; it hangs on a number."""

    def gone(self) -> Recast:
        """The match at the end of the way."""
        evolve, known = self.rules.evolve, frozenset(_known(self.rules).values())
        special = {kind: SPECIAL.get(kind, _Walk.of_the_line) for kind in known | SPECIAL.keys() if _is_special(kind)}
        for recorded in self.history[1:]:
            self.place += 1
            event = recorded.event
            step = special.get(kind := type(event))
            if step is not None:
                step(self, recorded.originator_version, event, recorded)
            elif self.passing or self.end is not None or kind not in known:
                continue
            elif self.duel == self.called or kind in AT_ANY_TIME:
                self.state = evolve(self.state, event, recorded.originator_version)
        if self.end is None and self.rules.between_deals(self.state):
            self.seated(*self.usual)
        return Recast(
            state=self.state,
            lines=self.lines,
            struck=tuple(sorted(self.struck)),
            hangs=tuple(sorted(self.hangs)),
            end=self.end,
            ended_by=self.ended_by,
            duel=self.duel,
            called=self.called,
            before=self.before,
            played=self.played,
            whole=frozenset(self.whole),
            begun=self.begun,
        )

    # Deals

    def drawn(self, number: int, event: FirstDealerDrawn, recorded: Recorded) -> None:
        """Who deals first stays so, whatever counts."""
        self.state = self.base = self.rules.evolve(self.state, event, number)
        self.usual = event.seat, self.usual[1]

    def dealing(self, number: int, event: Dealt | ResultEntered, recorded: Recorded) -> None:
        """A deal begins; where another deal would have come, it hangs on the number."""
        if self.passing or self.end is not None:
            return
        if self.duel != self.called:
            self.hang()
            return
        deal = self.deal
        begins = number == self.begun[deal]
        if begins:
            self.before[deal] = self.state
        if begins and deal in self.orders.whole:
            told = self.orders.whole[deal]
            if isinstance(told[1][0], ResultEntered):
                self.state = as_tally(self.state)
            self.evolved(told)
            self.whole.add(deal)
            self.passing = self.told = True
        else:
            self.state = self.rules.evolve(self.state, event, number)

    def trick(self, number: int, event: TrickTaken, recorded: Recorded) -> None:
        """A trick; where it ends the play by other numbers than it did, the deal hangs on them."""
        if self.passing or self.end is not None:
            return
        self.state = self.rules.evolve(self.state, event, number)
        table = self.state.table
        if table.points != self.points:
            moment = Moment(number - 1, recorded.at, "")
            follows = self.rules.follows(self.state, moment)
            then = self.history[self.place].event if self.place < len(self.history) else None
            if any(isinstance(one, PlayEnded) for one in follows[:1]) != isinstance(then, PlayEnded):
                self.hang()

    def line(self, number: int, event: DealScored, recorded: Recorded) -> None:
        """The score: asked of the game once more."""
        deal = event.deal
        if self.end is not None:
            self.struck.add(deal)
        elif not self.passing or self.told:
            for added in self.orders.added.get(deal, ()):
                self.evolved(added)
            self.played[deal] = self.state
            self.score(number, deal)
        elif not self.hung:
            self.struck.add(deal)
        if self.hung:
            self.hangs.add(deal)
        self.passing = self.told = self.hung = False
        self.points, self.out, self.called = event.points, event.eliminated, ()
        self.base, self.deal = self.state, deal + 1
        self.next_deal()

    def score(self, number: int, deal: int) -> None:
        """What the line comes to, and what comes of it."""
        assert self.rules.scored is not None, "the game can score a deal anew"
        made = self.rules.scored(self.state, "")
        if not made:
            self.hang()
            return
        self.state = replace(self.state, table=replace(self.state.table, **self.terms))
        line, *after = made
        assert isinstance(line, DealScored), "a score begins with its line"
        self.lines[number] = line = self.numbering.line(line)
        self.duel = ()
        for event in (line, *after):
            self.state = self.rules.evolve(self.state, event, number)
            if isinstance(event, MatchWon):
                self.end, self.ended_by = event, number
            elif event is not line:
                self.duel = seats_of(event)
        table = self.state.table
        self.state = replace(self.state, table=replace(table, ledger=self.numbering.ledger(table.ledger)))

    def hang(self) -> None:
        """As if the deal had not been dealt."""
        self.state, self.passing, self.hung, self.told = self.base, True, True, False
        self.before.pop(self.deal, None)
        self.played.pop(self.deal, None)

    def evolved(self, told: tuple[int, tuple[Event, ...]]) -> None:
        """Fold the facts of a script, each with a number of its own."""
        correction, facts = told
        for fact in facts:
            if isinstance(fact, KnockUpheld):
                fact = replace(fact, rests_on=_breach(self.state.table.ledger, fact))
            self.state = self.rules.evolve(self.state, fact, self.numbering.next(correction))

    def next_deal(self) -> None:
        """Before a deal: on record, who was dealt in stays so, and who dealt; else it comes as usual."""
        self.passing = self.end is None and self.deal in self.orders.strike
        if self.end is not None:
            return
        table = self.state.table
        self.usual = dealer, playing = table.dealer, self.duel or table.active
        if self.passing:
            return
        if not self.duel:  # whoever calls one says who deals
            known = self.dealers.get((self.times, self.deal))
            if known is not None:
                dealer, playing = known, tuple([seat for seat in range(table.seats) if seat not in self.out])
        self.seated(dealer, playing)

    def seated(self, dealer: int, playing: tuple[int, ...]) -> None:
        """The next deal is dealt by this seat, to these."""
        table = self.state.table
        if (self.deal, dealer, playing) != (table.deal, table.dealer, table.playing):
            table = replace(table, deal=self.deal, dealer=dealer, playing=playing)
            self.state = self.base = replace(self.state, table=table)

    # What else is told anew

    def of_the_line(self, number: int, event: Event, recorded: Recorded) -> None:
        """What came of the line on record: here there is what comes of the line as it is now."""
        if seats := seats_of(event):
            self.called = seats

    def voided(self, number: int, event: DealVoided, recorded: Recorded) -> None:
        """A deal that is dealt again; its penalties may have been entered."""
        if self.passing or self.end is not None:
            if event.points:
                (self.hangs if self.hung else self.struck).add(event.deal)
            self.passing = self.passing and not self.hung and not self.told
            self.hung = self.told = False
            return
        if event.points:
            self.points = event.points
            event = self.lines[number] = self.decided(Void(reason=event.reason), number, recorded)
        self.state = self.base = self.rules.evolve(self.state, event, number)

    def ended(self, number: int, event: MatchClosed | MatchAbandoned, recorded: Recorded) -> None:
        """An official has ended the match, and where there is a pot it is shared."""
        if self.end is not None:
            return
        act = Close() if isinstance(event, MatchClosed) else Abandon(reason=event.reason)
        self.end, self.ended_by = self.decided(act, number, recorded), number
        self.state = self.rules.evolve(self.state, self.end, number)

    def decided(self, act: Void | Close | Abandon, number: int, recorded: Recorded) -> Any:
        """What an official's act makes of these numbers."""
        (made,) = self.rules.decide(self.state, act, Moment(number - 1, recorded.at, ""))
        return made

    def corrected(self, number: int, event: ProtocolCorrected, recorded: Recorded) -> None:
        """From here on the record goes by its numbers."""
        self.points, self.out, self.called = event.points, event.eliminated, event.duel
        if self.end is not None:
            return
        if event.fresh:
            ledger = self.state.table.ledger
            self.state = replace(self.base, table=replace(self.base.table, ledger=ledger))
        self.times += 1
        self.seated(*self.usual)
        self.next_deal()


def _breach(ledger: Ledger, knock: KnockUpheld) -> tuple[int, ...]:
    """Return the number of the open breach that a knock of a script is for, as the fold has numbered it."""
    return next(
        (
            (one.event,)
            for one in ledger.standings
            if one.case is None and (one.breach.seat, one.breach.offence) == (knock.accused, knock.offence)
        ),
        (),
    )


_BEGINS = frozenset((Dealt, ResultEntered, DealScored, ProtocolCorrected))
"""What is looked at first, to know how deals were begun."""


def seats_of(event: Event) -> tuple[int, ...]:
    """Who plays the deal that comes of a line, where a game's own fact says that only some do."""
    own = not isinstance(event, MatchWon | PlayerEliminated)
    return getattr(event, "seats", ()) if own else ()


def _is_special(kind: type[Event]) -> bool:
    return kind.OF_THE_LINE or kind in SPECIAL


SPECIAL: Mapping[type[Event], Callable[[_Walk, int, Any, Recorded], None]] = {
    FirstDealerDrawn: _Walk.drawn,
    Dealt: _Walk.dealing,
    ResultEntered: _Walk.dealing,
    TrickTaken: _Walk.trick,
    DealScored: _Walk.line,
    DealVoided: _Walk.voided,
    MatchClosed: _Walk.ended,
    MatchAbandoned: _Walk.ended,
    ProtocolCorrected: _Walk.corrected,
}
