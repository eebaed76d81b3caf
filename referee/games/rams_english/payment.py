"""Paying out a deal, and the pot at the end (D4, D15-D16, D32, D59-D71)."""

from collections.abc import Iterable

from msgspec.structs import replace

from referee.acts import Close, Score
from referee.cards import BIT, SUIT_OF, clockwise, left_of
from referee.events import DealScored, Entry, Event, MatchClosed, PotEntry
from referee.games.rams_english.declarations import is_single
from referee.games.rams_english.play import at_fault
from referee.games.rams_english.states import (
    GENERALRAMS,
    HAND,
    Drawing,
    Kind,
    Over,
    Played,
    Playing,
    Table,
    Taken,
    Undealt,
)
from referee.ruleset import Moment


class _Books:
    """The entries of a deal as they are made. What a seat pays, the pot or another seat receives."""

    def __init__(self, pot: int) -> None:
        self.pot = pot
        self.entries: list[Entry] = []
        self.pot_entries: list[PotEntry] = []

    def into_pot(self, seat: int, amount: int, rule: str, events: tuple[int, ...]) -> None:
        """``seat`` pays into the pot, or below zero draws from it."""
        if not amount:
            return
        self.pot += amount
        self.entries.append(Entry(seat=seat, points=-amount, rule=rule, events=events))
        self.pot_entries.append(PotEntry(seat=seat, units=amount, rule=rule, events=events))

    def between(self, payer: int, payee: int, amount: int, rule: str, events: tuple[int, ...]) -> None:
        """One seat pays another."""
        self.entries.append(Entry(seat=payer, points=-amount, rule=rule, events=events))
        self.entries.append(Entry(seat=payee, points=amount, rule=rule, events=events))


def share_of(pot: int, tricks: int = 1) -> int:
    """D59, D-O17: a fifth of the pot a trick, rounded down; what is left over stays in the pot."""
    return pot // HAND * tricks


# Scoring a deal


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """D-O24: where faults stand, any seat has the deal scored, and they are punished."""
    return scored(state)


def scored(state: Played) -> tuple[Event, ...]:
    """The line of the deal (D59-D71). What the seats win or lose, the pot loses or wins."""
    table, play = state.table, state.play
    kind = kind_of(state)
    faults = faults_of(play) if play else {}
    books = _Books(table.pot)
    if kind != "misdeal" or table.options.misdeal_stake == "stays":  # D-O10
        books.into_pot(table.dealer, table.stake, "D15", (state.dealing.staked,))
    if kind == "paid":
        seat, _, event = state.said.calls[-1]
        books.between(seat, table.dealer, table.stake, "D31", (event,))
    if play is not None and kind == "played":
        _pay_shares(books, table, play, faults)
    if play is not None and kind in ("generalrams_won", "generalrams_lost"):
        _pay_generalrams(books, table, play, kind)
    for seat, incidents in faults.items():  # D70, D-O14
        count = len(incidents) if table.options.fault_per_incident else 1
        books.into_pot(seat, count * table.stake, "D70", _joined(incidents))
    points = list(table.balances)
    for entry in books.entries:
        points[entry.seat] += entry.points
    announcer = play.said.announcer if play else None
    return (
        DealScored(
            deal=table.deal,
            dealer=table.dealer,
            kind=kind,
            declarer=announcer,
            contract=None if announcer is None else GENERALRAMS,
            tricks=tricks_of(table, play),
            answers=(None,) * table.seats,
            penalties=(0,) * table.seats,
            before=table.balances,
            points=tuple(points),
            entries=tuple(books.entries),
            pot_before=table.pot,
            pot=books.pot,
            pot_entries=tuple(books.pot_entries),
            detail={
                "single": is_single(table),
                "active": sorted(play.order) if play else [],
                "widow": play.said.widow if play else None,
                "announcer": announcer,
                "exchanged": bool(play and play.said.exchanged),
                "faults": {str(seat): len(faults[seat]) for seat in sorted(faults)},
            },
        ),
    )


def kind_of(state: Played) -> Kind:
    """D58, D-O15: a fault of the announcer, though it be shown at the very end, loses the generalrams."""
    if state.play is not None and state.kind == "generalrams_won":
        announcer = state.play.said.announcer
        if announcer is not None and at_fault(state.play, announcer):
            return "generalrams_lost"
    return state.kind


def tricks_of(table: Table, play: Playing | None) -> tuple[int, ...]:
    """Tricks by seat."""
    tricks = [0] * table.seats
    for taken in play.won if play else ():
        tricks[taken.seat] += 1
    return tuple(tricks)


def faults_of(play: Playing) -> dict[int, list[tuple[int, ...]]]:
    """D68: the events that show each fault, by seat; in the order in which they came to light."""
    faults: dict[int, list[tuple[int, ...]]] = {}
    for standing in play.faults:
        if standing.breach.points:
            shown = (*standing.breach.shown_by, standing.event)
            faults.setdefault(standing.breach.seat, []).append(shown)
    return faults


def _joined(incidents: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({event for incident in incidents for event in incident}))


def _pay_shares(books: _Books, table: Table, play: Playing, faults: dict[int, list[tuple[int, ...]]]) -> None:
    """D59-D61, D69-D71: a fifth of the pot a trick; who took none pays when the pot has been shared out."""
    full, saved = books.pot, set()
    for seat in play.order:
        events = tuple([taken.event for taken in play.won if taken.seat == seat])
        if events:
            saved.add(seat)
            if seat not in faults:
                books.into_pot(seat, -share_of(full, len(events)), "D59", events)
    if faults:
        saved |= _pay_forfeited(books, table, play, set(faults), full)
    said = {seat: event for seat, _, event in play.said.calls}
    for seat in play.order:
        if seat not in saved and (seat not in faults or table.options.fault_and_trickless_cumulate):
            books.into_pot(seat, table.stake, "D60", (said[seat],))


def _pay_forfeited(books: _Books, table: Table, play: Playing, faulted: set[int], full: int) -> set[int]:
    """D69, D71, D-O11: what becomes of the shares of those at fault. Gives who has a trick by it (D-O12)."""
    options, saved = table.options, set()
    forfeited = [taken for taken in play.won if taken.seat in faulted]
    if options.forfeited_share == "second_best":
        for taken in forfeited:
            seat = second_best(taken, play.dealing.trumps, faulted)
            if seat is not None:
                books.into_pot(seat, -share_of(full), "D71", (taken.event,))
                if options.second_best_counts_as_trick:
                    saved.add(seat)
    elif options.forfeited_share == "split_equally":
        faultless = [seat for seat in play.order if seat not in faulted]
        for seat in faultless:
            part = share_of(full, len(forfeited)) // len(faultless)
            books.into_pot(seat, -part, "D-O11", tuple([taken.event for taken in forfeited]))
    return saved


def second_best(taken: Taken, trumps: int, faulted: set[int]) -> int | None:
    """D71, D-O11: who played the best card of a trick among those without fault: trumps, then the suit led, then
    discards by rank and, of the same rank, as they were played. ``None``: all are at fault."""
    led = SUIT_OF[BIT[taken.cards[0][1]]]

    def strength(card: str) -> tuple[int, int]:
        bit = BIT[card]
        return 2 if bit & trumps else 1 if bit & led else 0, "789TJQKA".index(card[1])

    cards = [(seat, card) for seat, card in taken.cards if seat not in faulted]
    return max(cards, key=lambda played: strength(played[1]))[0] if cards else None


def _pay_generalrams(books: _Books, table: Table, play: Playing, kind: Kind) -> None:
    """D62-D66, D-O1 to D-O3: the announcer against everybody else in the deal."""
    announcer = play.said.announcer
    assert announcer is not None, "a generalrams was announced"
    said = next(event for seat, word, event in play.said.calls if word == GENERALRAMS)
    events = (said, *(taken.event for taken in play.won))
    others = [seat for seat in play.order if seat != announcer]
    if kind == "generalrams_won":
        books.into_pot(announcer, -books.pot, "D62", events)
        for seat in others:
            books.between(seat, announcer, table.stake, "D63", events)
    else:
        books.into_pot(announcer, books.pot, "D64", events)
        for seat in others:
            books.between(announcer, seat, table.stake, "D65", events)


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt:
    """The state between deals: the deal moves on clockwise (D14, D32, D67)."""
    table = state.table
    pot = event.pot
    assert pot is not None, "Rams has a pot"
    return Undealt(
        table=replace(
            table,
            balances=event.points,
            pot=pot,
            deal=table.deal + 1,
            dealer=left_of(event.dealer, table.seats),
        )
    )


# The end of the session


def close(state: Undealt | Drawing, act: Close, moment: Moment) -> tuple[Event, ...]:
    """D-O18, D-O28: the official ends the session between two deals, and the pot goes as agreed."""
    table = state.table
    shares = final_shares(table)
    points = tuple(map(sum, zip(table.balances, shares, strict=True)))
    return (
        MatchClosed(
            rule="D-O18",
            pot_before=table.pot,
            shares=shares,
            pot=table.pot - sum(shares),
            before=table.balances,
            points=points,
            settlement=None if table.stakes is None else points,
        ),
    )


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


def match_closed(state: Undealt | Drawing, event: MatchClosed, number: int) -> Over:
    """The state when the session is closed."""
    return Over(table=replace(state.table, balances=event.points, pot=event.pot))
