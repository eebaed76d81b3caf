"""Paying out a deal, and the pot at the end (D4, D15-D16, D32, D59-D71)."""

from collections.abc import Callable, Collection
from itertools import chain, product
from typing import TypedDict

from referee import wire_types
from referee.acts import Abandon, Close, Score
from referee.cards import BIT, SUIT_OF, clockwise
from referee.events import DealScored, Entry, MatchAbandoned, MatchClosed, PotEntry
from referee.games.rams_english.declarations import is_single
from referee.games.rams_english.states import (
    GENERALRAMS,
    HAND,
    Drawing,
    Outcome,
    Played,
    Playing,
    State,
    Table,
    Taken,
    Undealt,
)
from referee.offences import Standing
from referee.refusals import WrongPhase
from referee.ruleset import Moment
from referee.value import Seat, Value
from referee.visibility import Event


class Settlement(Value):
    """What a payment is reckoned from: the deal, what became of it, and by seat the events that show each fault."""

    table: Table
    outcome: Outcome
    kind: str
    faults: dict[int, list[tuple[int, ...]]]

    @property
    def pot(self) -> int:
        """The pot after the dealer's stake (D15-D16), out of which all is paid (D61, D-O1)."""
        return self.table.pot + self.table.stake

    @property
    def forfeited(self) -> list[Taken]:
        """D69: the tricks of those at fault."""
        return [taken for taken in self.outcome.won if taken.seat in self.faults]


# Who pays, and whom: a seat or the pot, for how many times the amount, and the events that show why

Party = tuple[int | None, int, tuple[int, ...]]


def the_pot(deal: Settlement) -> list[Party]:
    """Everybody's."""
    return [(None, 1, ())]


def the_dealer(deal: Settlement) -> list[Party]:
    """D15-D16; after a misdeal the stake may go back (D67, D-O10)."""
    goes_back = deal.kind == "misdeal" and deal.table.options.misdeal_stake == "returned"
    return [] if goes_back else [(deal.table.dealer, 1, (deal.outcome.staked,))]


def the_payer(deal: Settlement) -> list[Party]:
    """D31: who bought himself off."""
    seat, _, event = deal.outcome.said.calls[-1]
    return [(seat, 1, (event,))]


def trick_winners(deal: Settlement) -> list[Party]:
    """D59; who is at fault gets no share (D69)."""
    taken: dict[int, list[int]] = {seat: [] for seat in deal.outcome.order}
    for trick in deal.outcome.won:
        taken[trick.seat].append(trick.event)
    return [(seat, len(won), tuple(won)) for seat, won in taken.items() if won and seat not in deal.faults]


def the_second_best(deal: Settlement) -> list[Party]:
    """D71, D-O11: of each forfeited trick; where all in it are at fault the share stays in the pot."""
    if deal.table.options.forfeited_share != "second_best":
        return []
    best = [(second_best(taken, deal.outcome.trumps, deal.faults), taken.event) for taken in deal.forfeited]
    return [(seat, 1, (event,)) for seat, event in best if seat is not None]


def the_faultless(deal: Settlement) -> list[Party]:
    """D-O11: those who joined and are without fault."""
    if deal.table.options.forfeited_share != "split_equally":
        return []
    events = tuple([taken.event for taken in deal.forfeited])
    return [(seat, 1, events) for seat in deal.outcome.order if seat not in deal.faults]


def the_trickless(deal: Settlement) -> list[Party]:
    """D60, D-O12, D-O13: a share is no trick; who is at fault pays for both; each as agreed."""
    options, said = deal.table.options, {seat: event for seat, _, event in deal.outcome.said.calls}
    saved: set[int | None] = {taken.seat for taken in deal.outcome.won}
    if options.second_best_counts_as_trick:
        saved.update([seat for seat, _, _ in the_second_best(deal)])
    if not options.fault_and_trickless_cumulate:
        saved.update(deal.faults)
    return [(seat, 1, (said[seat],)) for seat in deal.outcome.order if seat not in saved]


def the_announcer(deal: Settlement) -> list[Party]:
    """D62-D65."""
    said = next(event for _, word, event in deal.outcome.said.calls if word == GENERALRAMS)
    return [(deal.outcome.said.announcer, 1, (said, *[taken.event for taken in deal.outcome.won]))]


def the_others(deal: Settlement) -> list[Party]:
    """D63, D65, D-O3: everybody else in the deal."""
    announcer, times, events = the_announcer(deal)[0]
    return [(seat, times, events) for seat in deal.outcome.order if seat != announcer]


def the_faulted(deal: Settlement) -> list[Party]:
    """D70, D-O14: once in a deal, or for each fault."""
    each = deal.table.options.fault_per_incident
    return [
        (seat, len(incidents) if each else 1, tuple(sorted({*chain.from_iterable(incidents)})))
        for seat, incidents in deal.faults.items()
    ]


# How much


def share_of(pot: int, tricks: int = 1) -> int:
    """D59, D-O17: a fifth of the pot a trick, rounded down; what is left over stays in the pot."""
    return pot // HAND * tricks


AMOUNTS: dict[str, Callable[[Settlement], int]] = {
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
"""Who pays what to whom by which rule, in this order."""
# fmt: on


def payments(deal: Settlement) -> tuple[list[Entry], list[PotEntry]]:
    """D15, D31, D59-D71: what is written of each seat, and of the pot. What one pays another receives."""
    entries: wire_types.ListBySeat[Entry] = []
    pot: wire_types.ListBySeat[PotEntry] = []
    for rule, kinds, paying, paid, much in PAYMENTS:
        if deal.kind not in kinds:
            continue
        for (payer, owing, why), (payee, due, because) in product(paying(deal), paid(deal)):
            amount, events = AMOUNTS[much](deal) * owing * due, why or because
            if not amount:
                continue
            if payer is not None:
                entries.append(Entry(seat=payer, points=-amount, rule=rule, events=events))
            if payee is not None:
                entries.append(Entry(seat=payee, points=amount, rule=rule, events=events))
            if payee is None:
                pot.append(PotEntry(seat=payer, units=amount, rule=rule, events=events))
            elif payer is None:
                pot.append(PotEntry(seat=payee, units=-amount, rule=rule, events=events))
    return entries, pot


def second_best(taken: Taken, trumps: int, faulted: Collection[int]) -> int | None:
    """D71, D-O11: who played the best card of a trick among those without fault: trumps, then the suit led, then
    discards by rank and, of the same rank, as they were played. ``None``: all are at fault.

    Where the cards were never told, who was told (D-O29).
    """
    if not taken.cards:
        return None if taken.second in faulted else taken.second
    led = SUIT_OF[BIT[taken.cards[0][1]]]

    def strength(card: str) -> tuple[int, int]:
        bit = BIT[card]
        return 2 if bit & trumps else 1 if bit & led else 0, "789TJQKA".index(card[1])

    cards = [(seat, card) for seat, card in taken.cards if seat not in faulted]
    return max(cards, key=lambda played: strength(played[1]))[0] if cards else None


# Scoring a deal


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """D-O24: where faults stand, any seat has the deal scored, and they are punished."""
    return scored(state.table, state.outcome)


def follows(state: Played, moment: Moment) -> tuple[Event, ...]:
    """D32, D67, D-O24: scored at once, where no fault can stand or the cards were never played."""
    waits = state.table.penalise and state.outcome.kind not in ("paid", "misdeal")
    return () if waits else scored(state.table, state.outcome)


class Detail(TypedDict):
    """What only this game tells of a deal."""

    single: bool
    """The pot held nothing before the dealer's stake (D16)."""
    active: wire_types.ListBySeat[Seat]
    """Who played, by seat."""
    widow: Seat | None
    """Who took the widow; null: nobody."""
    announcer: Seat | None
    """Who announced generalrams; null: nobody."""
    exchanged: bool
    """The dealer took the turned-up card."""
    faults: dict[str, wire_types.Tally]
    """How many faults were found of each seat that has any: by seat, written as a text."""


def scored_again(state: Played, seed: str) -> tuple[Event, ...]:
    """The line of the deal."""
    return scored(state.table, state.outcome)


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """The line of the deal (D59-D71). What the seats win or lose, the pot loses or wins."""
    faults, announcer = faults_of(table), deal.said.announcer
    kind = deal.kind
    if kind == "generalrams_won" and announcer in faults:  # D58, D-O15: though it be shown at the very end
        kind = "generalrams_lost"
    entries, pot_entries = payments(Settlement(table=table, outcome=deal, kind=kind, faults=faults))
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
            tricks=tricks_of(table, deal),
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


def tricks_of(table: Table, deal: Playing | Outcome) -> tuple[int, ...]:
    """Tricks by seat."""
    tricks = [0] * table.seats
    for taken in deal.won:
        tricks[taken.seat] += 1
    return tuple(tricks)


def faults_of(table: Table) -> dict[int, list[tuple[int, ...]]]:
    """D68: the events that show each fault, by seat; in the order in which they came to light.

    A fault that an official has found costs nothing again when the cards show it (J3).
    """
    faults: dict[int, list[tuple[int, ...]]] = {}
    standings = table.ledger.standings
    for noted in standings:
        if noted.breach.points and not any(was_found(noted, other) for other in standings):
            shown = (*noted.breach.shown_by, noted.event)
            faults.setdefault(noted.breach.seat, []).append(shown)
    return faults


def was_found(shown: Standing, found: Standing) -> bool:
    """Return whether the cards show a fault that had been committed when an official found one of its kind."""
    one, other = shown.breach, found.breach
    alike = (one.seat, one.offence) == (other.seat, other.offence)
    return alike and bool(one.shown_by) and not other.shown_by and one.shown_by[-1] < found.event


# The end of the session


def close(state: State, act: Close, moment: Moment) -> tuple[Event, ...]:
    """D-O18, D-O28: the official ends the session between two deals, and the pot goes as agreed."""
    if not isinstance(state, Undealt | Drawing):
        raise WrongPhase("deal_under_way", "D-O28")
    return (MatchClosed(**parted(state.table)),)


def abandon(state: State, act: Abandon, moment: Moment) -> tuple[Event, ...]:
    """D-O18, D-O28: the pot goes as at the end of a session. A deal under way is not scored, nor its stake paid."""
    return (MatchAbandoned(deal=state.table.deal, reason=act.reason, **parted(state.table)),)


class Parted(TypedDict):
    """What the end of a session says of the pot and of what each seat has."""

    rule: str
    pot_before: int
    shares: tuple[int, ...]
    pot: int
    before: tuple[int, ...]
    points: tuple[int, ...]
    settlement: tuple[int, ...] | None


def parted(table: Table) -> Parted:
    """D-O18: the pot goes to the seats as agreed, and what nobody draws stays in it."""
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
    """D-O18: what each seat draws from the pot at the end. The last dealer sits on the right of the next."""
    shares = [0] * table.seats
    if table.options.final_pot == "last_dealer":
        shares[table.dealer - 1] = table.pot
    elif table.options.final_pot == "split_equally":
        each, rest = divmod(table.pot, table.seats)
        shares = [each] * table.seats
        for seat in clockwise(table.dealer, table.seats)[:rest]:
            shares[seat] += 1
    return tuple(shares)
