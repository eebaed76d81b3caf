"""Payments of a deal, and the pot at the end of the match (D4, D15-D16, D32, D59-D71)."""

from collections.abc import Callable, Collection
from itertools import chain
from typing import TypedDict

from referee import wire_types
from referee.acts import Abandon, Close, Score
from referee.cards import BIT, SUIT_OF, clockwise
from referee.events import DealScored, Entry, MatchAbandoned, MatchClosed, PotEntry
from referee.games.rams_english.declarations import is_single
from referee.games.rams_english.states import (
    GENERALRAMS,
    HAND_SIZE,
    Drawing,
    Outcome,
    Played,
    Playing,
    State,
    Table,
    Taken,
    Undealt,
)
from referee.offences import NotedBreach
from referee.refusals import WrongPhase
from referee.ruleset import Moment
from referee.value import Seat, Value
from referee.visibility import Event


class PaymentFacts(Value):
    table: Table
    outcome: Outcome
    kind: str
    """Kind of the outcome, or ``generalrams_lost`` after a fault (D-O15)."""
    faults: dict[int, list[tuple[int, ...]]]
    """Events that show each fault, by seat at fault."""

    @property
    def pot(self) -> int:
        """Pot with the dealer's stake, from which all shares are paid (D15-D16, D61, D-O1)."""
        return self.table.pot + self.table.stake

    @property
    def forfeited(self) -> list[Taken]:
        """Tricks of players at fault (D69)."""
        return [taken for taken in self.outcome.won if taken.seat in self.faults]


Party = tuple[int | None, int, tuple[int, ...]]
"""Seat (None: the pot), how often it pays or gets the amount, and the events that show the reason."""


def the_pot(deal: PaymentFacts) -> list[Party]:
    return [(None, 1, ())]


def the_dealer(deal: PaymentFacts) -> list[Party]:
    """Return the dealer; empty if ``misdeal_stake`` returns the stake (D15-D16, D-O10)."""
    goes_back = deal.kind == "misdeal" and deal.table.options.misdeal_stake == "returned"
    return [] if goes_back else [(deal.table.dealer, 1, (deal.outcome.staked,))]


def the_payer(deal: PaymentFacts) -> list[Party]:
    """Return the seat that paid to end the deal (D31)."""
    seat, _, event = deal.outcome.said.calls[-1]
    return [(seat, 1, (event,))]


def trick_winners(deal: PaymentFacts) -> list[Party]:
    """Return the seats without fault that took tricks (D59, D69)."""
    taken: dict[int, list[int]] = {seat: [] for seat in deal.outcome.order}
    for trick in deal.outcome.won:
        taken[trick.seat].append(trick.event)
    return [(seat, len(won), tuple(won)) for seat, won in taken.items() if won and seat not in deal.faults]


def the_second_best(deal: PaymentFacts) -> list[Party]:
    """Return the seats to which ``second_best`` gives the shares of forfeited tricks (D71, D-O11)."""
    if not deal.faults or deal.table.options.forfeited_share != "second_best":
        return []
    best = [(second_best(taken, deal.outcome.trumps, deal.faults), taken.event) for taken in deal.forfeited]
    return [(seat, 1, (event,)) for seat, event in best if seat is not None]


def the_faultless(deal: PaymentFacts) -> list[Party]:
    """Return the players without fault, if ``forfeited_share`` is ``split_equally`` (D-O11)."""
    if deal.table.options.forfeited_share != "split_equally":
        return []
    events = tuple([taken.event for taken in deal.forfeited])
    return [(seat, 1, events) for seat in deal.outcome.order if seat not in deal.faults]


def the_trickless(deal: PaymentFacts) -> list[Party]:
    """Return the players without a trick who pay (D60).

    ``second_best_counts_as_trick`` and ``fault_and_trickless_cumulate`` may excuse them (D-O12, D-O13).
    """
    options, said = deal.table.options, {seat: event for seat, _, event in deal.outcome.said.calls}
    saved: set[int | None] = {taken.seat for taken in deal.outcome.won}
    if options.second_best_counts_as_trick:
        saved.update([seat for seat, _, _ in the_second_best(deal)])
    if not options.fault_and_trickless_cumulate:
        saved.update(deal.faults)
    return [(seat, 1, (said[seat],)) for seat in deal.outcome.order if seat not in saved]


def the_announcer(deal: PaymentFacts) -> list[Party]:
    """Return the announcer of a generalrams (D62-D65)."""
    outcome = deal.outcome
    said = next(event for _, word, event in outcome.said.calls if word == GENERALRAMS)
    return [(outcome.said.announcer, 1, (said, *[taken.event for taken in outcome.won]))]


def the_others(deal: PaymentFacts) -> list[Party]:
    """Return the other players, without events, so that the announcer's are named (D63, D65, D-O3)."""
    announcer = deal.outcome.said.announcer
    return [(seat, 1, ()) for seat in deal.outcome.order if seat != announcer]


def the_faulted(deal: PaymentFacts) -> list[Party]:
    """Return the players at fault, each once or, with ``fault_per_incident``, for each fault (D70, D-O14)."""
    each = deal.table.options.fault_per_incident
    return [
        (seat, len(incidents) if each else 1, tuple(sorted({*chain.from_iterable(incidents)})))
        for seat, incidents in deal.faults.items()
    ]


def share_of(pot: int, tricks: int = 1) -> int:
    """Return a fifth of the pot, rounded down, for each trick (D59, D-O17)."""
    return pot // HAND_SIZE * tricks


AMOUNTS: dict[str, Callable[[PaymentFacts], int]] = {
    "five": lambda deal: deal.table.stake,
    "fifth": lambda deal: share_of(deal.pot),
    "equal part": lambda deal: share_of(deal.pot, len(deal.forfeited)) // len(the_faultless(deal)),
    "all": lambda deal: deal.pot,
}

PLAYED, WON, LOST = ("played",), ("generalrams_won",), ("generalrams_lost",)
ANY = (*PLAYED, *WON, *LOST, "paid", "misdeal")

# fmt: off
PAYMENTS = (
    # rule   in a deal  payer          payee            amount
    ("D15",   ANY,       the_dealer,    the_pot,         "five"),
    ("D31",   ("paid",), the_payer,     the_dealer,      "five"),
    ("D59",   PLAYED,    the_pot,       trick_winners,   "fifth"),
    ("D71",   PLAYED,    the_pot,       the_second_best, "fifth"),
    ("D-O11", PLAYED,    the_pot,       the_faultless,   "equal part"),
    ("D60",   PLAYED,    the_trickless, the_pot,         "five"),
    ("D62",   WON,       the_pot,       the_announcer,   "all"),
    ("D63",   WON,       the_others,    the_announcer,   "five"),
    ("D64",   LOST,      the_announcer, the_pot,         "all"),
    ("D65",   LOST,      the_announcer, the_others,      "five"),
    ("D70",   ANY,       the_faulted,   the_pot,         "five"),
)
# fmt: on
PAYMENTS_OF = {kind: [payment for payment in PAYMENTS if kind in payment[1]] for kind in ANY}


def payments(deal: PaymentFacts) -> tuple[list[Entry], list[PotEntry]]:
    """Return the entries of the seats and of the pot (D15, D31, D59-D71)."""
    entries: wire_types.ListBySeat[Entry] = []
    pot: wire_types.ListBySeat[PotEntry] = []
    for rule, _, payers, payees, unit in PAYMENTS_OF[deal.kind]:
        paying = payers(deal)
        receiving = payees(deal) if paying else []
        each = AMOUNTS[unit](deal) if receiving else 0
        if not each:
            continue
        for payer, owing, payer_events in paying:
            for payee, due, payee_events in receiving:
                amount, events = each * owing * due, payer_events or payee_events
                if payer is None:
                    pot.append(PotEntry(seat=payee, units=-amount, rule=rule, events=events))
                else:
                    entries.append(Entry(seat=payer, points=-amount, rule=rule, events=events))
                if payee is None:
                    pot.append(PotEntry(seat=payer, units=amount, rule=rule, events=events))
                else:
                    entries.append(Entry(seat=payee, points=amount, rule=rule, events=events))
    return entries, pot


def second_best(taken: Taken, trumps: int, faulted: Collection[int]) -> int | None:
    """Return the seat with the best card in a trick among the players without fault, or None (D71, D-O11).

    In a tally return the seat entered, or None if it is at fault (D-O29).
    """
    if not taken.cards:
        return None if taken.second in faulted else taken.second
    led = SUIT_OF[BIT[taken.cards[0][1]]]

    def strength(card: str) -> tuple[int, int]:
        bit = BIT[card]
        return 2 if bit & trumps else 1 if bit & led else 0, "789TJQKA".index(card[1])

    cards = [(seat, card) for seat, card in taken.cards if seat not in faulted]
    return max(cards, key=lambda played: strength(played[1]))[0] if cards else None


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """Return the line of the deal (D-O24)."""
    return scored(state.table, state.outcome)


def automatic_events(state: Played, moment: Moment) -> tuple[Event, ...]:
    """Return the line of the deal; no event if the deal waits for the act ``score`` (D32, D67, D-O24)."""
    waits = state.table.penalise and state.outcome.kind not in ("paid", "misdeal")
    return () if waits else scored(state.table, state.outcome)


class Detail(TypedDict):
    single: bool
    """True if the pot was empty before the dealer's stake (D41)."""
    active: wire_types.ListBySeat[Seat]
    """Seats that played, in ascending order."""
    widow: Seat | None
    """Seat that took the widow; null: no seat."""
    announcer: Seat | None
    """Seat that announced generalrams; null: no seat."""
    exchanged: bool
    """True if the dealer took the turned-up card."""
    faults: dict[str, wire_types.Tally]
    """Numbers of faults. The keys are seats as text."""


def rescoring_events(state: Played, seed: str) -> tuple[Event, ...]:
    return scored(state.table, state.outcome)


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """Return the line of the deal (D59-D71)."""
    faults, announcer = fault_events_by_seat(table), deal.said.announcer
    kind = deal.kind
    if kind == "generalrams_won" and announcer in faults:  # because the fault may be shown later (D58, D-O15)
        kind = "generalrams_lost"
    entries, pot_entries = payments(PaymentFacts(table=table, outcome=deal, kind=kind, faults=faults))
    points = list(table.points)
    for entry in entries:
        points[entry.seat] += entry.points
    detail: Detail = {
        "single": is_single(table),
        "active": sorted(deal.order),
        "widow": deal.said.widow,
        "announcer": announcer,
        "exchanged": bool(deal.said.exchanged),
        "faults": {str(seat): len(faults[seat]) for seat in sorted(faults)},
    }
    return (
        DealScored(
            deal=table.deal,
            dealer=table.dealer,
            kind=kind,
            declarer=announcer,
            contract=None if announcer is None else GENERALRAMS,
            tricks=tricks_by_seat(table, deal),
            answers=(None,) * table.seats,
            penalties=(0,) * table.seats,
            before=table.points,
            points=tuple(points),
            entries=tuple(entries),
            pot_before=table.pot,
            pot=table.pot + sum([entry.units for entry in pot_entries]),
            pot_entries=tuple(pot_entries),
            detail=detail,
        ),
    )


def tricks_by_seat(table: Table, deal: Playing | Outcome) -> tuple[int, ...]:
    tricks = [0] * table.seats
    for taken in deal.won:
        tricks[taken.seat] += 1
    return tuple(tricks)


def fault_events_by_seat(table: Table) -> dict[int, list[tuple[int, ...]]]:
    """Return, by seat, the events that show each punished fault, in order of discovery (D68).

    A fault that an official found does not count again when cards show it (J3).
    """
    faults: dict[int, list[tuple[int, ...]]] = {}
    noted = table.ledger.breaches
    for one in noted:
        if one.breach.points and not any(repeats_finding(one, other) for other in noted):
            shown = (*one.breach.shown_by, one.event)
            faults.setdefault(one.breach.seat, []).append(shown)
    return faults


def repeats_finding(shown: NotedBreach, found: NotedBreach) -> bool:
    """Return whether cards show a fault after which an official found one of the same seat and kind (J3)."""
    one, other = shown.breach, found.breach
    same_kind = (one.seat, one.offence) == (other.seat, other.offence)
    return same_kind and bool(one.shown_by) and not other.shown_by and one.shown_by[-1] < found.event


def close(state: State, act: Close, moment: Moment) -> tuple[Event, ...]:
    """Return the end of the match and the shares of its pot. Raises WrongPhase during a deal (D-O18, D-O28)."""
    if not isinstance(state, Undealt | Drawing):
        raise WrongPhase("deal_under_way", "D-O28")
    return (MatchClosed(**final_amounts(state.table)),)


def abandon(state: State, act: Abandon, moment: Moment) -> tuple[Event, ...]:
    """Return the end of an abandoned match and the shares of its pot. The deal is not paid (D-O18, D-O28)."""
    return (MatchAbandoned(deal=state.table.deal, reason=act.reason, **final_amounts(state.table)),)


class FinalAmounts(TypedDict):
    rule: str
    pot_before: int
    shares: tuple[int, ...]
    pot: int
    before: tuple[int, ...]
    points: tuple[int, ...]
    settlement: tuple[int, ...] | None


def final_amounts(table: Table) -> FinalAmounts:
    """Return the final pot, shares and points. What ``final_pot`` does not share stays in the pot (D-O18)."""
    shares = final_shares(table)
    points = tuple(map(sum, zip(table.points, shares, strict=True)))
    return {
        "rule": "D-O18",
        "pot_before": table.pot,
        "shares": shares,
        "pot": table.pot - sum(shares),
        "before": table.points,
        "points": points,
        "settlement": None if table.stakes is None else points,
    }


def final_shares(table: Table) -> tuple[int, ...]:
    """Return each seat's share of the pot. The last dealer sits to the right of ``table.dealer`` (D-O18)."""
    shares = [0] * table.seats
    if table.options.final_pot == "last_dealer":
        shares[table.dealer - 1] = table.pot
    elif table.options.final_pot == "split_equally":
        each, rest = divmod(table.pot, table.seats)
        shares = [each] * table.seats
        for seat in clockwise(table.dealer, table.seats)[:rest]:
            shares[seat] += 1
    return tuple(shares)
