"""Deals played with cards, and their score sheets: entered whole, act by act, or by counts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from referee.acts import (
    Answer,
    AnswerEntered,
    AnyAct,
    Ask,
    Bid,
    BidEntered,
    Deal,
    ExitEntered,
    Knock,
    KnockEntered,
    KnockOut,
    Report,
    Result,
    Score,
    Trick,
)
from referee.events import (
    CardPlayed,
    DealScored,
    Dealt,
    KnockDismissed,
    KnockUpheld,
    MatchOpened,
    MatchWon,
    PenaltyImposed,
    PlayerEliminated,
    TrickTaken,
)
from referee.games import RULESETS
from referee.games._rodskagg.facts import (
    BidMade,
    DuelCalled,
    KnockedOut,
    MisdealFound,
    QuestionAnswered,
    QuestionAsked,
)
from referee.refusals import Refused
from referee.requests import Request
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event
from tests.support.random_deals import NOON, PAUSE, Playout, every_act
from tests.support.random_openings import some_match

SHOWN = ("fold_question", "exit_knock")
OF_THE_DEAL = ("wrong_cut", "early_pick_up", "misdeal")
AFTERWARDS = (PlayerEliminated, MatchWon, DuelCalled)


class WithCards(Playout):
    """A match played with cards in which a score sheet can show everything: knocks come between tricks."""

    def anything(self) -> AnyAct | Knock:
        chance = self.chance
        while True:
            seat, other = chance.choice(self.seats), chance.choice((chance.choice(self.seats), self.suspect))
            if chance.random() < 0.4:
                offence: Any = chance.choice((None, *self.rules.offences))
                act = Knock(seat=seat, accused=other, offence=offence)
                if self.on_the_sheet(act):
                    return act
            seat = chance.choice(self.rules.to_act(self.state) or (seat,))
            return chance.choice(every_act(self.rules.key, seat))

    def on_the_sheet(self, knock: Knock) -> bool:
        """Return whether a score sheet can show this knock."""
        state = self.state
        try:
            ruling = self.rules.decide(state, knock, self.moment())[0]
        except Refused:
            return True
        if getattr(state, "trick", ()):
            return False
        if state.__struct_config__.tag not in ("playing", "played"):
            return isinstance(ruling, KnockUpheld) and ruling.penalty > 0
        done = len(getattr(state, "outcome", state).won)
        told: set[tuple[Any, ...]] = getattr(self, "told", set())
        self.told = told
        if isinstance(ruling, KnockDismissed):
            return ruling.reason == "nothing" or (ruling.reason == "again" and ruling.within_deal)
        assert isinstance(ruling, KnockUpheld)
        if not ruling.penalty:  # the knock is only noted, and not on a score sheet
            return False
        once = (state.table.deal, done, ruling.accused, ruling.offence)
        if once in told:
            return False
        told.add(once)
        return True


def deals_of(events: Sequence[Event]) -> Iterator[tuple[list[Event], tuple[Event, ...]]]:
    """Yield each scored deal: its events up to its line, and the events that follow from the line."""
    deal: list[Event] = []
    for place, event in enumerate(events):
        deal.append(event)
        if isinstance(event, DealScored):
            rest = events[place + 1 :]
            end = next((at for at, one in enumerate(rest) if not isinstance(one, AFTERWARDS)), len(rest))
            yield deal, tuple(rest[:end])
            deal = []


def between_tricks(deal: Iterable[Event]) -> list[Event]:
    """Return the events with knocks during a trick moved after it, because a tally has no place within a trick."""
    ordered: list[Event] = []
    later: list[Event] = []
    under_way = False
    for event in deal:
        under_way = isinstance(event, CardPlayed) or (under_way and not isinstance(event, TrickTaken))
        if under_way and isinstance(event, (KnockUpheld, KnockDismissed, PenaltyImposed)):
            later.append(event)
            continue
        ordered.append(event)
        if isinstance(event, TrickTaken):
            ordered += later
            later = []
    return ordered


def sheet_of(deal: Sequence[Event], rules: Ruleset, *, counts: bool = False) -> Result:
    """Return the score sheet of a deal."""
    deal = between_tricks(deal)
    told: dict[str, list[Any]] = {name: [] for name in ("bids", "tricks", "answers", "exits", "knocks")}
    asked = False
    duel = not any(isinstance(event, BidMade) for event in deal)
    dealt = max(place for place, event in enumerate(deal) if isinstance(event, Dealt))
    for place, event in enumerate(deal):
        done = len(told["tricks"])
        match event:
            case BidMade():
                told["bids"].append(BidEntered(seat=event.seat, bid=event.bid))
            case TrickTaken():
                told["tricks"].append(event.seat)
            case QuestionAsked():
                asked = True
            case QuestionAnswered():
                told["answers"].append(AnswerEntered(seat=event.seat, answer=event.answer))
            case KnockedOut(seat=seat, valid=True):
                told["exits"].append(ExitEntered(seat=seat, after=done))
            case KnockedOut(seat=seat):
                vain = KnockEntered(seat=seat, accused=seat, offence="exit_knock", after=done, upheld=False)
                told["knocks"].append(vain)
            case KnockUpheld() | KnockDismissed():
                before = place < dealt or not (told["bids"] or duel)
                told["knocks"].append(_knock_told(event, None if before else done, rules))
    line: Any = deal[-1]
    seats = len(line.tricks)
    fields: dict[str, Any] = {name: tuple(value) for name, value in told.items() if value}
    if len(told["tricks"]) > 3 and not asked:
        fields["asked"] = False
    if counts and told["tricks"]:
        for name, tricks in (("taken", told["tricks"]), ("late", told["tricks"][4:])):
            fields[name] = tuple(map(tricks.count, range(seats)))
        del fields["tricks"]
    return Result(**fields)


def _knock_told(ruling: KnockUpheld | KnockDismissed, after: int | None, rules: Ruleset) -> KnockEntered:
    upheld = isinstance(ruling, KnockUpheld)
    offence: Any = ruling.offence
    if not isinstance(ruling, KnockUpheld) and ruling.reason != "again":
        offence = ruling.named or rules.offences[0]
    if after is None:
        assert offence in OF_THE_DEAL
    return KnockEntered(seat=ruling.seat, accused=ruling.accused, offence=offence, after=after, upheld=upheld)


def acts_of(deal: Sequence[Event], rules: Ruleset) -> Iterator[Request]:
    """Yield the acts of a table in their order."""
    reported = False
    for event in between_tricks(deal):
        match event:
            case Dealt():
                yield Deal(seat=event.dealer)
            case MisdealFound():
                reported = True
                yield Report(seat=event.seat, accused=event.seat, fault="misdeal")
            case BidMade():
                yield Bid(seat=event.seat, bid=event.bid)
            case TrickTaken(uncontested=False):
                yield Trick(seat=event.seat)
            case QuestionAsked():
                yield Ask(seat=event.seat)
            case QuestionAnswered():
                yield Answer(seat=event.seat, answer=event.answer)
            case KnockedOut():
                yield KnockOut(seat=event.seat)
            case KnockUpheld() | KnockDismissed():
                told = _knock_told(event, 0, rules)
                fault: Any = told.offence
                if told.upheld and told.offence not in SHOWN and not (reported and told.offence == "misdeal"):
                    yield Report(seat=told.seat, accused=told.accused, fault=fault)
                yield Knock(seat=told.seat, accused=told.accused, offence=told.offence)


class Tally:
    """A match in which only the tally is kept."""

    def __init__(self, opened: MatchOpened, dealer: int) -> None:
        self.opened = replace(opened, dealing="tally", enforcement="penalise", first_dealer=dealer)
        self.rules = RULESETS[opened.ruleset]
        self.rules.opening(self.opened)
        self.state = self.rules.start(self.opened)
        self.version, self.at = 1, NOON

    def decide(self, request: Request) -> tuple[tuple[Event, ...], Any]:
        """Return the events of a request and the state after it, without applying them."""
        return self.rules.take(self.state, request, Moment(self.version, self.at, str(self.version)))

    def do(self, *requests: Request) -> tuple[Event, ...]:
        """Apply these requests. Return their events."""
        done: tuple[Event, ...] = ()
        for request in requests:
            self.at += PAUSE
            before, number = self.state, self.version
            events, self.state = self.decide(request)
            for event in events:
                number += 1
                before = self.rules.evolve(before, event, number)
            assert before == self.state
            self.version = number
            done += events
        return done

    def act_by_act(self, requests: Iterable[Request]) -> tuple[Event, ...]:
        """Make these requests, and score the deal if that has not happened automatically. Return the events."""
        done: tuple[Event, ...] = self.do(*requests)
        if self.state.__struct_config__.tag == "played":
            done += self.do(Score(seat=self.state.table.playing[0]))
        return done


def line_of(events: Iterable[Event]) -> tuple[Any, ...]:
    """Return the result of a deal, without the numbers of its events."""
    return tuple(_unnumbered(event) for event in events if isinstance(event, (DealScored, *AFTERWARDS)))


def _unnumbered(event: Event) -> Any:
    if not isinstance(event, DealScored):
        return event
    detail = {name: value for name, value in event.detail.items() if name != "noted"}
    if event.kind == "knocked_out":  # a sheet does not show a question that an exit knock cut off
        event = replace(event, answers=())
    return replace(event, entries=tuple(replace(entry, events=()) for entry in event.entries), detail=detail)


def played_with_cards(key: str, deals: int, seed: int) -> Iterator[tuple[MatchOpened, list[Event]]]:
    """Yield matches with this many deals altogether: their openings and events."""
    rules, done, number = RULESETS[key], 0, 0
    tempting = {"knock_window": "deal_end"}
    while done < deals:
        number += 1
        chance = Random(f"tally {key} {seed} {number}")
        opened = some_match(chance, rules, tempting=tempting)
        match = WithCards(rules, chance, Counter(), True, opened)
        many = min(chance.choice((1, 5, 20)), deals - done)
        while match.deals < many and not match.over:
            match.step()
        done += match.deals
        assert match.kept is not None
        yield opened, [recorded.event for recorded in match.kept]
