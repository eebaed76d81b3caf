"""The kernel: which decision a phase has for an act, which refusal comes first, and what follows by itself.

All games are played by it. A game gives tables: what may be decided in which phase, the rule that each act belongs
to, what an event changes, what follows by itself in a phase, and what a seat may do. What all games have alike is
here: the table that a deal is played at, the facts that change it in the same way everywhere, and one order of
precedence among refusals. Requests that are no part of the play (:data:`~referee.seating.WHENEVER`) come before it.

1. the match is over (``MatchOver``),
2. there is no such seat, 3. it is out of the match, or out of the deal where only some play it (``NotInPlay``),
4. the act has no place in the game, 5. or none in this phase (``WrongPhase``),
6. somebody else is to act (``OutOfTurn``), 7. a rule of the game forbids it: those two are the decision's own.
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
from referee.offences import Ledger, imposed, may_knock, reported, ruled
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.tally import ResultEntered
from referee.refusals import MatchOver, NotInPlay, Refused, WrongPhase
from referee.requests import Proceeding, Request
from referee.ruleset import Moment, Ruleset, Script, Shown
from referee.seating import Seating
from referee.settlement import Basis, received
from referee.value import Value
from referee.visibility import Event, Viewer
from referee.whole_deal import entering

# The table


class Table(Value):
    """What holds for the whole of a deal in every game; each game adds its own. Tuples of numbers go by seat."""

    seats: int
    penalise: bool
    house: bool
    tally: bool
    """Only the tally is kept: the cards are never told."""
    stakes: Stakes | None
    points: tuple[int, ...]
    pot: int
    active: tuple[int, ...]
    """Who is still in the match."""
    playing: tuple[int, ...]
    """Who takes part in this deal: those, or in a duel some of them."""
    deal: int
    dealer: int
    ledger: Ledger
    """What was done wrong in the deal, and what it cost so far."""
    seating: Seating
    """Who may act for each seat and role, and who has agreed to the stakes."""


T = TypeVar("T", bound=Table)
Options = TypeVar("Options", bound=msgspec.Struct)


def table_of(kind: type[T], opened: MatchOpened, **own: Any) -> T:
    """The table of a match just opened; ``own``: what only this game keeps there."""
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
        seating=seating.begun(opened),
        **own,
    )


def options_of(kind: type[Options], opened: MatchOpened) -> Options:
    """The options of a match; what a later release has added has its default."""
    known = {name: opened.options[name] for name in kind.__struct_fields__ if name in opened.options}
    return msgspec.convert(known, kind)


def by_its_source(options: Mapping[str, Any]) -> Basis | None:
    """The game's source says who pays."""
    return "source"


def by_house_rule(options: Mapping[str, Any]) -> Basis | None:
    """The source knows no money: who pays is for the table to say, by the option ``money``."""
    return None if options.get("money", "none") == "none" else "house"


def ended_by(table: Table, won: MatchWon, payments: tuple[Payment, ...]) -> MatchWon:
    """How the match has ended, with who pays whom where it is for money."""
    if table.stakes is None:
        return won
    settled = received(payments, table.seats, table.stakes.unit, halves=won.halves)
    return replace(won, settlement=settled, payments=payments)


class Over(Value, Generic[T], tag="over"):
    """The match is over; ``winner`` is of partners the first, and ``None`` when nobody won."""

    table: T
    winner: int | None
    winners: tuple[int, ...]
    by: str


def deal_of(state: Any) -> int:
    """The number of the deal under way or to come; when the match is over, of the last one."""
    deal: int = state.table.deal - isinstance(state, Over)
    return deal


def phase_of(state: Any) -> str:
    """The name of a phase."""
    return str(state.__struct_config__.tag)


def next_deal(table: T, line: DealScored) -> T:
    """The table when a deal has been written into the protocol: the deal moves on clockwise among those left."""
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


def other_numbers(table: T, corrected: ProtocolCorrected, carries: tuple[str, ...]) -> T:
    """The table before the next deal when deals have been scored anew; ``carries``: what the game has of its own."""
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


def shown(state: Any, viewer: Viewer, *, to_act: tuple[int, ...], tricks_done: int = 0, **own: Any) -> Shown:
    """The match as this viewer may see it: what all games show alike, and what the game says of its ``own``.

    ``tricks_done``: played in the deal; by it offences lapse.
    """
    table, over = state.table, isinstance(state, Over)
    breaches = None
    if viewer == "official":
        open_now = table.ledger.open(tricks_done)
        breaches = tuple({**msgspec.to_builtins(standing.breach), "event": standing.event} for standing in open_now)
    told: dict[str, Any] = {
        "phase": phase_of(state),
        "deal": deal_of(state),
        "dealer": table.dealer,
        "to_act": to_act,
        "active": table.active,
        "points": table.points,
        "penalties": tuple([table.ledger.points(seat) for seat in range(table.seats)]),
        "breaches": breaches,
        "winner": state.winner if over else None,
    }
    return Shown(**{**told, **own})


# What a game is made of

Decision = Callable[[Any, Any, Moment], tuple[Event, ...]]
"""Phase, act, and what comes from outside: the events that the act makes, or a refusal."""
Evolution = Callable[[Any, Any, int], Any]
"""Phase, event and its number: the phase after it."""
Consequence = Callable[[Any, Moment], tuple[Event, ...]]
"""The events that follow by themselves in a phase; none: it waits for somebody."""
Offer = Callable[[Any, int], tuple[Act, ...]]
"""What a seat that takes part may do in a phase."""


class Cites(Value):
    """The rules that the kernel cites for a game."""

    eliminated: str | None = None
    """By which a player is out of the match."""
    not_in_duel: str | None = None
    """By which only some play a deal."""
    knocks: str | None = None
    """On knocking: that nobody does, or that those who are out may not."""
    void: str | None = None
    """By which an official may void only a deal that is under way."""


def refuse(kind: type[Refused], code: str, rule: str | None) -> Decision:
    """A decision for an act that never has its place in a phase, where the game has more to say than that."""

    def refused(state: Any, act: Any, moment: Moment) -> tuple[Event, ...]:
        raise kind(code, rule)

    return refused


def by_phase(evolutions: Mapping[type, Evolution]) -> Evolution:
    """What an event changes that can happen in several phases, by phase."""

    def evolved(state: Any, event: Any, number: int) -> Any:
        return evolutions[type(state)](state, event, number)

    return evolved


def game(
    *,
    decide: Mapping[type, Mapping[type[Act], Decision]],
    rule_of: Mapping[type[Act], str | Callable[[Any], str]],
    evolve: Mapping[type[Event], Evolution],
    follows: Mapping[type, Consequence],
    offers: Mapping[type, Offer],
    undealt: Callable[[Any], Any],
    between_deals: tuple[type, ...],
    cites: Cites,
    knock: Decision | None = None,
    void: Decision | None = None,
    close: Decision | None = None,
    abandon: Decision | None = None,
    beside_the_duel: frozenset[type[Act]] = frozenset(),
    result: type[msgspec.Struct] | None = None,
    script: Callable[[Any, Any], Script] | None = None,
    scored: Callable[[Any, str], tuple[Event, ...]] | None = None,
    carries: tuple[str, ...] = (),
    **rest: Any,
) -> Ruleset:
    """The ruleset of a game that is played by these tables.

    ``decide``: by phase and act. ``rule_of``: every act of a seat that the game has, and the rule it belongs to (or
    what tells it from the act), which is cited where the act comes in a phase that has no place for it. ``evolve``:
    what the game's own facts change, and what common facts change beyond what they do in every game. ``follows`` and
    ``offers``: by phase. ``undealt`` makes of a table the phase in which the dealer is to deal, and ``between_deals``
    are the phases in which nothing has been dealt. ``knock``: where there is knocking. ``void``, ``close`` and
    ``abandon``: what the official's acts do beyond the usual. ``beside_the_duel``: acts of those who sit out a duel.
    ``result`` and ``script``: what a whole deal is told by, and the acts that it stands for.
    ``scored``: a deal's line and what comes of it; where a game has that, its deals can be scored anew, and
    ``carries`` names what its table takes over from deal to deal.
    """
    phases = {get_origin(phase) or phase for phase in get_args(rest["state"])}
    decisions: dict[type, dict[type, Decision]] = {phase: dict(decide.get(phase, {})) for phase in phases}
    told = decide.keys() | follows.keys() | {Over}
    assert phases == told, f"nothing can be done in, or there is no such phase: {phases ^ told}"
    changes = {**_common(undealt), **evolve}
    voided, abandoning = void or _void, abandon or _abandon

    def beside(state: Any, request: Any) -> Decision:
        """The decision on what is not simply an act of the phase by a seat that takes part in the deal."""
        kind = type(request)
        if kind in seating.WHENEVER:
            return seating.WHENEVER[kind]
        if isinstance(state, Over):
            raise MatchOver("match_over", None, winner=state.winner)
        if kind is Void:
            if isinstance(state, between_deals):
                raise WrongPhase("nothing_dealt", cites.void)
            return voided
        if kind is Close:
            if close is None:
                raise WrongPhase("not_in_this_game", None)
            return close
        if kind is Abandon:
            return abandoning
        table = state.table
        if kind is Result:
            if result is None or script is None:
                raise WrongPhase("not_in_this_game", None)
            if not table.tally:
                raise WrongPhase("not_tallied", None)
            if not isinstance(state, between_deals):
                raise WrongPhase("deal_under_way", None, phase=phase_of(state))
            return entering(result, script, take)
        if isinstance(request, Proceeding):
            raise WrongPhase("not_attended", "J1")
        if kind is IssueToken:
            return seating.issue_token
        seat = request.seat
        if seat >= table.seats:
            raise NotInPlay("no_such_seat", None, seat=seat)
        if seat not in table.active:
            may_not_knock = cites.knocks if kind is Knock and knock else None
            raise NotInPlay("eliminated", may_not_knock or cites.eliminated, seat=seat)
        if kind is TakeBack:
            raise WrongPhase("no_taking_back", "J11")
        if kind is Knock and knock is not None:  # who sits out a duel may knock
            may_knock(table.ledger, seat)
            return knock
        if seat not in table.playing and kind not in beside_the_duel:
            raise NotInPlay("not_in_duel", cites.not_in_duel, seat=seat)
        if kind is Knock:
            raise WrongPhase("no_knocking", cites.knocks)
        if kind not in rule_of:
            raise WrongPhase("no_entropy" if kind is Entropy else "not_in_this_game", None)
        decision = decisions[type(state)].get(kind)
        if decision is None:
            rule = rule_of[kind]
            raise WrongPhase("wrong_phase", rule if isinstance(rule, str) else rule(request), phase=phase_of(state))
        return decision

    def evolved(state: Any, event: Event, number: int) -> Any:
        return changes[type(event)](state, event, number)

    def take(state: Any, request: Request, moment: Moment) -> tuple[tuple[Event, ...], Any]:
        decision = decisions[type(state)].get(type(request))
        if decision is None or request.seat not in state.table.playing:  # type: ignore[union-attr]  # a seat's
            decision = beside(state, request)
        events, number = decision(state, request, moment), moment.version
        for event in events:
            number += 1
            state = changes[type(event)](state, event, number)
        return settled(state, events, number, moment)

    def settled(state: Any, events: tuple[Event, ...], number: int, moment: Moment) -> tuple[tuple[Event, ...], Any]:
        """These events, the last of which is event ``number``, and all that follow by themselves; the state then."""
        while (follow := follows.get(type(state))) is not None and (news := follow(state, moment)):
            for event in news:
                number += 1
                state = changes[type(event)](state, event, number)
            events += news
        return events, state

    def decided(state: Any, request: Request, moment: Moment) -> tuple[Event, ...]:
        return take(state, request, moment)[0]

    def begin(state: Any, moment: Moment) -> tuple[Event, ...]:
        return settled(state, (), moment.version, moment)[0]

    def legal(state: Any, viewer: Viewer) -> tuple[Act, ...]:
        if isinstance(viewer, int):
            offer, table = offers.get(type(state)), state.table
            if offer is None or viewer not in (*table.playing, *table.active):
                return ()
            acts = offer(state, viewer)
            return acts if viewer in table.playing else tuple(act for act in acts if type(act) in beside_the_duel)
        if viewer == "spectator" or isinstance(state, Over):
            return ()
        if isinstance(state, between_deals):
            return (Abandon(),) if close is None else (Close(), Abandon())
        return (Void(), Abandon())

    def next_by_itself(state: Any, moment: Moment) -> tuple[Event, ...]:
        follow = follows.get(type(state))
        return () if follow is None else follow(state, moment)

    def resumed(state: Any, corrected: ProtocolCorrected) -> Any:
        table, won = other_numbers(state.table, corrected, carries), corrected.won
        if won is not None:
            winners = won.seats or (() if won.seat is None else (won.seat,))
            return Over(table=table, winner=won.seat, winners=winners, by=won.by)
        return undealt(table) if corrected.fresh else replace(state, table=table)

    whole_deal = () if script is None else (Result,)
    ending = (Void, Abandon) if close is None else (Close, Void, Abandon)
    return Ruleset(
        acts=(*rule_of, *whole_deal, *ending, AgreeStakes),
        decide=decided,
        take=take,
        begin=begin,
        evolve=evolved,
        legal=legal,
        result=result,
        script=script,
        knocks=knock is not None,
        follows=next_by_itself,
        between_deals=lambda state: isinstance(state, between_deals),
        scored=scored,
        resumed=None if scored is None else resumed,
        carries=carries,
        **rest,
    )


def _void(state: Any, act: Void, moment: Moment) -> tuple[Event, ...]:
    """The deal under way counts for nothing; penalties already knocked stay (B-O38)."""
    return (DealVoided(deal=state.table.deal, reason=act.reason),)


def _abandon(state: Any, act: Abandon, moment: Moment) -> tuple[Event, ...]:
    """Nothing is owed for what was not finished."""
    return (MatchAbandoned(deal=state.table.deal, reason=act.reason),)


# What the common facts change in every game


def nothing_changes(state: Any, event: Event, number: int) -> Any:
    """The event tells what other events bring about."""
    return state


def won(state: Any, event: MatchWon, number: int) -> Any:
    """The match is over."""
    winners = event.seats or (() if event.seat is None else (event.seat,))
    return Over(table=state.table, winner=event.seat, winners=winners, by=event.by)


def closed(state: Any, event: MatchClosed, number: int) -> Any:
    """The session is over, without a winner."""
    table = replace(state.table, points=event.points, pot=event.pot)
    return Over(table=table, winner=None, winners=(), by="closed")


def abandoned(state: Any, event: MatchAbandoned, number: int) -> Any:
    """The match is over, without a winner; the deal under way was not the last."""
    table = state.table
    if event.shares:
        table = replace(table, points=event.points, pot=event.pot)
    return Over(table=replace(table, ledger=table.ledger.closed()), winner=None, winners=(), by="abandoned")


def _common(undealt: Callable[[Any], Any]) -> dict[type[Event], Evolution]:
    """What the common facts change where a game says nothing else."""

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
