"""The kernel that plays all games: decisions, the order of refusals, and automatic events.

A game supplies :class:`Tables`. Requests in :data:`~referee.seating.DECISIONS_IN_EVERY_PHASE` are
decided first. If several refusals apply to an act of a seat, it gets the first of these:

1. The match is over (``MatchOver``).
2. The seat does not exist.
3. The seat is out of the match, or sits out this deal (``NotInPlay``).
4. The game does not have the act.
5. The phase does not allow the act (``WrongPhase``).
6. It is a different seat's turn (``OutOfTurn``).
7. The seat does not have the card (``NoSuchCard``).
8. A rule of the game forbids the act (``AgainstTheRules``).

The game's decision checks 6 to 8.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import replace

from referee import seating
from referee.acts import Abandon, Act, AgreeStakes, Close, Entropy, Knock, Result, TakeBack, Void
from referee.admission import IssueToken
from referee.cards import clockwise
from referee.events import (
    DealScored,
    DealVoided,
    FirstDealerDrawn,
    KnockDismissed,
    KnockUpheld,
    MatchAbandoned,
    MatchClosed,
    MatchOpened,
    MatchWon,
    Payment,
    PenaltyImposed,
    PlayerEliminated,
    Reported,
    Stakes,
)
from referee.offences import Ledger, check_may_knock, imposed, reported, ruled
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.tally import ResultEntered
from referee.refusals import MatchOver, NotInPlay, Refused, WrongPhase
from referee.requests import Proceeding, Request
from referee.ruleset import Moment, Ruleset, Script, Shown
from referee.seating import Seating
from referee.settlement import Basis, amounts_received
from referee.value import Value
from referee.visibility import Event, Viewer
from referee.whole_deal import result_decision


class Table(Value):
    """The part of the state that all games share. ``points`` are by seat."""

    seats: int
    penalise: bool
    house: bool
    tally: bool
    stakes: Stakes | None
    points: tuple[int, ...]
    pot: int
    active: tuple[int, ...]
    """Seats that are still in the match."""
    playing: tuple[int, ...]
    """Seats that take part in this deal: all active seats or, in a duel, some of them."""
    deal: int
    dealer: int
    ledger: Ledger
    seating: Seating


T = TypeVar("T", bound=Table)
Options = TypeVar("Options", bound=msgspec.Struct)


def table_of(kind: type[T], opened: MatchOpened, **own: Any) -> T:
    """Return the table at the opening of a match. ``own``: the fields that only this game has."""
    everybody = clockwise(0, len(opened.players))
    return kind(
        seats=len(everybody),
        penalise=opened.enforcement == "penalise",
        house=opened.dealing == "house",
        tally=opened.dealing == "tally",
        stakes=opened.stakes,
        points=opened.points,
        pot=opened.pot,
        active=everybody,
        playing=everybody,
        deal=1,
        dealer=opened.first_dealer or 0,
        ledger=Ledger(),
        seating=seating.seating_of(opened),
        **own,
    )


def options_of(kind: type[Options], opened: MatchOpened) -> Options:
    """Return the options of a match. Options that are newer than the match have their defaults."""
    known = {name: opened.options[name] for name in kind.__struct_fields__ if name in opened.options}
    return msgspec.convert(known, kind)


def source_basis(options: Mapping[str, Any]) -> Basis | None:
    """Return ``source``, for games whose source has rules for money."""
    return "source"


def house_basis(options: Mapping[str, Any]) -> Basis | None:
    """Return ``house``, for games whose source has no money; ``None`` if the option ``money`` is ``none``."""
    return None if options.get("money", "none") == "none" else "house"


def with_settlement(table: Table, won: MatchWon, payments: tuple[Payment, ...]) -> MatchWon:
    """Return the event ``won``; in a match for money, with these payments and the settlement."""
    if table.stakes is None:
        return won
    settled = amounts_received(payments, table.seats, table.stakes.unit, halves=won.halves)
    return replace(won, settlement=settled, payments=payments)


class Over(Value, Generic[T], tag="over"):
    """The match is over. ``winner``: the winner, or the first of two partners; ``None``: no winner."""

    table: T
    winner: int | None
    winners: tuple[int, ...]
    by: str


def deal_of(state: Any) -> int:
    """Return the number of the deal under way or the next deal; after the match, of the last scored deal."""
    deal: int = state.table.deal - isinstance(state, Over)
    return deal


def phase_of(state: Any) -> str:
    return str(state.__struct_config__.tag)


def next_deal(table: T, line: DealScored) -> T:
    """Return the table after a deal was scored. The next seat clockwise that is still in the match deals."""
    active = tuple([seat for seat in table.active if seat not in line.eliminated])
    order = clockwise((line.dealer + 1) % table.seats, table.seats)
    return replace(
        table,
        points=line.points,
        pot=table.pot if line.pot is None else line.pot,
        active=active,
        playing=active,
        deal=table.deal + 1,
        dealer=next((seat for seat in order if seat in active), line.dealer),
        ledger=table.ledger.closed(),
    )


def table_after_correction(table: T, corrected: ProtocolCorrected, carries: tuple[str, ...]) -> T:
    """Return the table after a correction. ``carries``: names of the fields that each deal passes to the next."""
    active = tuple([seat for seat in range(table.seats) if seat not in corrected.eliminated])
    kinds = {field.name: field.type for field in msgspec.structs.fields(table)}
    return replace(
        table,
        points=corrected.points,
        pot=table.pot if corrected.pot is None else corrected.pot,
        active=active,
        playing=corrected.duel or active,
        deal=corrected.next_deal,
        dealer=corrected.dealer,
        **{name: msgspec.convert(corrected.carried[name], kinds[name]) for name in carries},
    )


def match_view(state: Any, viewer: Viewer, *, to_act: tuple[int, ...], tricks_done: int = 0, **own: Any) -> Shown:
    """Return the match as this viewer may see it. ``own``: the fields that the game adds or replaces.

    ``tricks_done``: number of complete tricks, which decides whether a breach is open.
    """
    table, over = state.table, isinstance(state, Over)
    breaches = None
    if viewer == "official":
        open_now = table.ledger.open_breaches(tricks_done)
        breaches = tuple({**msgspec.to_builtins(record.breach), "event": record.event} for record in open_now)
    common: dict[str, Any] = {
        "phase": phase_of(state),
        "deal": deal_of(state),
        "dealer": table.dealer,
        "to_act": to_act,
        "active": table.active,
        "points": table.points,
        "penalties": tuple([table.ledger.penalty_points(seat) for seat in range(table.seats)]),
        "breaches": breaches,
        "winner": state.winner if over else None,
    }
    return Shown(**{**common, **own})


Decision = Callable[[Any, Any, Moment], tuple[Event, ...]]
"""Takes a phase, a request and the moment. Returns the request's events, or raises a refusal."""
Evolution = Callable[[Any, Any, int], Any]
"""Takes a phase, an event and its number. Returns the phase after the event."""
Consequence = Callable[[Any, Moment], tuple[Event, ...]]
"""Returns the events that follow automatically in a phase; empty: the phase waits for an act."""
Offer = Callable[[Any, int], tuple[Act, ...]]
"""Takes a phase and a seat. Returns the acts allowed to the seat."""


class Cites(Value):
    """The rules that the kernel cites for a game."""

    eliminated: str | None = None
    """Rule that puts a player out of the match."""
    not_in_duel: str | None = None
    """Rule by which only some seats play a duel."""
    knocks: str | None = None
    """Rule that the game has no knocks, or that seats out of the match may not knock."""
    void: str | None = None
    """Rule that only a deal under way can be voided."""


def refusal_decision(kind: type[Refused], code: str, rule: str | None) -> Decision:
    """Return a decision that always raises ``kind``, for a code that is more exact than ``wrong_phase``."""

    def refused(state: Any, act: Any, moment: Moment) -> tuple[Event, ...]:
        raise kind(code, rule)

    return refused


def evolution_by_phase(evolutions: Mapping[type, Evolution]) -> Evolution:
    def evolved(state: Any, event: Any, number: int) -> Any:
        return evolutions[type(state)](state, event, number)

    return evolved


def _void(state: Any, act: Void, moment: Moment) -> tuple[Event, ...]:
    """Return the event that voids the deal. Penalties after knocks stay in force (B-O38)."""
    return (DealVoided(deal=state.table.deal, reason=act.reason),)


def _abandon(state: Any, act: Abandon, moment: Moment) -> tuple[Event, ...]:
    return (MatchAbandoned(deal=state.table.deal, reason=act.reason),)


class Tables(Value):
    """The parts of a game. Mappings are by the type of the phase, act or event."""

    decide: Mapping[type, Mapping[type[Act], Decision]]
    rule_of: Mapping[type[Act], str | Callable[[Any], str]]
    """Rule to cite if a phase does not allow a seat's act, or a function that returns the rule."""
    evolve: Mapping[type[Event], Evolution]
    """Evolutions for the game's own events, and for common events with other effects."""
    follows: Mapping[type, Consequence]
    offers: Mapping[type, Offer]
    undealt: Callable[[Any], Any]
    """Takes a table. Returns the phase before its deal."""
    between_deals: tuple[type, ...]
    """Phases without dealt cards."""
    cites: Cites
    knock: Decision | None = None
    void: Decision = _void
    close: Decision | None = None
    abandon: Decision = _abandon
    beside_the_duel: frozenset[type[Act]] = frozenset()
    """Acts open to seats that sit out a duel."""
    result: type[msgspec.Struct] | None = None
    script: Callable[[Any, Any], Script] | None = None
    carries: tuple[str, ...] = ()

    # Each public method becomes a function of :class:`Ruleset` in :func:`make_ruleset`.

    def take(self, state: Any, request: Request, moment: Moment) -> tuple[tuple[Event, ...], Any]:
        kind: type[Any] = type(request)
        decision = self.decide[type(state)].get(kind)
        # The request has a seat, because ``decide`` has only acts of seats.
        if decision is None or request.seat not in state.table.playing:  # type: ignore[union-attr]
            decision = self._other_decision(state, request)
        return self._with_automatic_events(state, decision(state, request, moment), moment)

    def _with_automatic_events(
        self, state: Any, events: tuple[Event, ...], moment: Moment
    ) -> tuple[tuple[Event, ...], Any]:
        """Return these events with the automatic events that follow, and the state after all of them."""
        evolve, follows, number, news = self.evolve, self.follows, moment.version, events
        while True:
            for event in news:
                number += 1
                state = evolve[type(event)](state, event, number)
            if not (news := follows[type(state)](state, moment)):
                return events, state
            events += news

    def decided(self, state: Any, request: Request, moment: Moment) -> tuple[Event, ...]:
        return self.take(state, request, moment)[0]

    def begin(self, state: Any, moment: Moment) -> tuple[Event, ...]:
        return self._with_automatic_events(state, (), moment)[0]

    def evolved(self, state: Any, event: Event, number: int) -> Any:
        return self.evolve[type(event)](state, event, number)

    def automatic_events(self, state: Any, moment: Moment) -> tuple[Event, ...]:
        return self.follows[type(state)](state, moment)

    def is_between_deals(self, state: Any) -> bool:
        return isinstance(state, self.between_deals)

    # The methods ``_…_decision`` raise ``Refused`` if the request is not possible.

    def _other_decision(self, state: Any, request: Any) -> Decision:
        """Return the decision on a request that ``decide`` lacks, or of a seat that sits out."""
        kind = type(request)
        if kind in seating.DECISIONS_IN_EVERY_PHASE:
            return seating.DECISIONS_IN_EVERY_PHASE[kind]
        if isinstance(state, Over):
            raise MatchOver("match_over", None, winner=state.winner)
        if kind in (Void, Close, Abandon):
            return self._official_decision(state, kind)
        if kind is Result:
            return self._whole_deal_decision(state)
        if isinstance(request, Proceeding):
            raise WrongPhase("not_attended", "J1")
        if kind is IssueToken:
            return seating.issue_token
        return self._seat_decision(state, request)

    def _official_decision(self, state: Any, kind: type) -> Decision:
        if kind is Abandon:
            return self.abandon
        if kind is Close:
            if self.close is None:
                raise WrongPhase("not_in_this_game", None)
            return self.close
        if self.is_between_deals(state):
            raise WrongPhase("nothing_dealt", self.cites.void)
        return self.void

    def _whole_deal_decision(self, state: Any) -> Decision:
        if self.result is None or self.script is None:
            raise WrongPhase("not_in_this_game", None)
        if not state.table.tally:
            raise WrongPhase("not_tallied", None)
        if not self.is_between_deals(state):
            raise WrongPhase("deal_under_way", None, phase=phase_of(state))
        return result_decision(self.result, self.script, self.take)

    def _seat_decision(self, state: Any, request: Any) -> Decision:
        kind, seat, table, cites = type(request), request.seat, state.table, self.cites
        if seat >= table.seats:
            raise NotInPlay("no_such_seat", None, seat=seat)
        if seat not in table.active:
            may_not_knock = cites.knocks if kind is Knock and self.knock else None
            raise NotInPlay("eliminated", may_not_knock or cites.eliminated, seat=seat)
        if kind is TakeBack:
            raise WrongPhase("no_taking_back", "J11")
        if kind is Knock and self.knock is not None:  # here, because a seat that sits out a duel may knock
            check_may_knock(table.ledger, seat)
            return self.knock
        if seat not in table.playing and kind not in self.beside_the_duel:
            raise NotInPlay("not_in_duel", cites.not_in_duel, seat=seat)
        if kind is Knock:
            raise WrongPhase("no_knocking", cites.knocks)
        if kind not in self.rule_of:
            raise WrongPhase("no_entropy" if kind is Entropy else "not_in_this_game", None)
        decision = self.decide[type(state)].get(kind)
        if decision is None:
            rule = self.rule_of[kind]
            raise WrongPhase("wrong_phase", rule if isinstance(rule, str) else rule(request), phase=phase_of(state))
        return decision

    def legal(self, state: Any, viewer: Viewer) -> tuple[Act, ...]:
        if isinstance(viewer, int):
            offer, table = self.offers[type(state)], state.table
            if viewer in table.playing:
                return offer(state, viewer)
            if viewer not in table.active:
                return ()
            return tuple([act for act in offer(state, viewer) if type(act) in self.beside_the_duel])
        if viewer == "spectator" or isinstance(state, Over):
            return ()
        if self.is_between_deals(state):
            return (Abandon(),) if self.close is None else (Close(), Abandon())
        return (Void(), Abandon())

    def resumed(self, state: Any, corrected: ProtocolCorrected) -> Any:
        table, won = table_after_correction(state.table, corrected, self.carries), corrected.won
        if won is not None:
            winners = won.seats or (() if won.seat is None else (won.seat,))
            return Over(table=table, winner=won.seat, winners=winners, by=won.by)
        return self.undealt(table) if corrected.fresh else replace(state, table=table)


def make_ruleset(
    tables: Tables, *, scored: Callable[[Any, str], tuple[Event, ...]] | None = None, **rest: Any
) -> Ruleset:
    """Return the ruleset of a game. ``scored`` and ``rest``: fields of the ruleset that the tables do not have."""
    phases = {get_origin(phase) or phase for phase in get_args(rest["state"])}
    covered = tables.decide.keys() | tables.follows.keys() | {Over}
    assert phases == covered, f"unknown phase, or a phase without decisions: {phases ^ covered}"
    tables = replace(
        tables,
        decide={phase: dict(tables.decide.get(phase, {})) for phase in phases},
        evolve={**_common(tables.undealt), **tables.evolve},
        follows={**dict.fromkeys(phases, nothing_follows), **tables.follows},
        offers={**dict.fromkeys(phases, nothing_offered), **tables.offers},
    )
    whole_deal = () if tables.script is None else (Result,)
    ending = (Void, Abandon) if tables.close is None else (Close, Void, Abandon)
    return Ruleset(
        acts=(*tables.rule_of, *whole_deal, *ending, AgreeStakes),
        decide=tables.decided,
        take=tables.take,
        begin=tables.begin,
        evolve=tables.evolved,
        legal=tables.legal,
        result=tables.result,
        script=tables.script,
        knocks=tables.knock is not None,
        follows=tables.automatic_events,
        between_deals=tables.is_between_deals,
        scored=scored,
        resumed=None if scored is None else tables.resumed,
        carries=tables.carries,
        **rest,
    )


def nothing_follows(state: Any, moment: Moment) -> tuple[Event, ...]:
    return ()


def nothing_offered(state: Any, seat: int) -> tuple[Act, ...]:
    return ()


# Evolutions


def nothing_changes(state: Any, event: Event, number: int) -> Any:
    """Return the state unchanged, because other events have the effects."""
    return state


def won(state: Any, event: MatchWon, number: int) -> Any:
    winners = event.seats or (() if event.seat is None else (event.seat,))
    return Over(table=state.table, winner=event.seat, winners=winners, by=event.by)


def closed(state: Any, event: MatchClosed, number: int) -> Any:
    table = replace(state.table, points=event.points, pot=event.pot)
    return Over(table=table, winner=None, winners=(), by="closed")


def abandoned(state: Any, event: MatchAbandoned, number: int) -> Any:
    table = state.table
    if event.shares:
        table = replace(table, points=event.points, pot=event.pot)
    return Over(table=replace(table, ledger=table.ledger.closed()), winner=None, winners=(), by="abandoned")


def _common(undealt: Callable[[Any], Any]) -> dict[type[Event], Evolution]:
    def first_dealer_drawn(state: Any, event: FirstDealerDrawn, number: int) -> Any:
        return undealt(replace(state.table, dealer=event.seat))

    def scored(state: Any, event: DealScored, number: int) -> Any:
        return undealt(next_deal(state.table, event))

    def voided(state: Any, event: DealVoided, number: int) -> Any:
        return undealt(replace(state.table, ledger=state.table.ledger.voided()))

    return {
        FirstDealerDrawn: first_dealer_drawn,
        ResultEntered: nothing_changes,
        Reported: reported,
        KnockUpheld: ruled,
        KnockDismissed: ruled,
        PenaltyImposed: imposed,
        PlayerEliminated: nothing_changes,
        DealScored: scored,
        DealVoided: voided,
        MatchWon: won,
        MatchClosed: closed,
        MatchAbandoned: abandoned,
        **seating.EVOLVE,
    }
