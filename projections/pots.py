"""The pot: what lies in it, and who put in or drew what, deal by deal, by which rule.

Nothing is reckoned here but sums: why somebody pays, the referee has said in the event. The book keeps a row for
each match, since it cannot tell which games have a pot: where there is none, nothing ever comes into it.
"""

import msgspec
from msgspec.structs import replace

from projections.follow.page import topics
from projections.follow.sheets import Sheets
from projections.protocols import columns_of
from projections.spreadsheets import table
from referee import wire_types
from referee.events import DealScored, DealVoided, MatchAbandoned, MatchClosed, MatchOpened, PotEntry
from referee.officials.events.corrections import Corrections, Ended, ProtocolCorrected, as_counted
from referee.officials.events.takeback import ActTakenBack
from referee.value import EventNumber, RuleId, Seat, Value, Version
from referee.visibility import Event, Recorded

STAKED = "pot/staked"
"""The topic of a stake, a fact of games with a pot alone: ``seat`` put ``amount`` into the pot."""


class PotPending(Value):
    """A stake in the deal under way, and the event that says so. It is entered when the deal is scored."""

    seat: Seat
    units: wire_types.Money
    event: EventNumber


class PotLine(Value):
    """A scored deal: ``before`` plus the ``entries`` gives ``after``. ``event`` is the one that wrote the line."""

    deal: wire_types.DealNumber
    kind: wire_types.Code
    before: wire_types.Money
    after: wire_types.Money
    entries: wire_types.Many[PotEntry]
    event: EventNumber


class PotClosed(Value):
    """The end of the session: ``before`` plus the ``entries``, what each seat drew, gives ``after``."""

    before: wire_types.Money
    after: wire_types.Money
    entries: wire_types.Many[PotEntry]
    rule: RuleId
    event: EventNumber


class Pot(Value):
    """The pot of a match after its event number ``version``: ``opening`` plus all entries gives ``contents``.

    Entries are above zero for what was put in, below for what was drawn. They and all sums are in minor units of
    ``currency``, or where it is ``null`` in the game's own units.
    """

    match: wire_types.MatchId
    version: Version
    ruleset: wire_types.Code
    players: wire_types.Names
    currency: wire_types.Currency | None
    opening: wire_types.Money
    """What lay in it at the start."""
    contents: wire_types.Money
    """What lies in it, without ``pending``."""
    pending: wire_types.Many[PotPending] = ()
    lines: wire_types.Many[PotLine] = ()
    """The deals that count, as they count."""
    closed: PotClosed | None = None
    corrected: wire_types.Events = ()
    """The numbers of the events that corrected it."""


def entered(pot: Pot | None, recorded: Recorded) -> Pot:
    """The pot after one more event, with the line that it may have written."""
    number, event = recorded.originator_version, recorded.event
    if isinstance(event, MatchOpened):
        return Pot(
            match=str(recorded.originator_id),
            version=number,
            ruleset=event.ruleset,
            players=event.players,
            currency=event.stakes.currency if event.stakes else None,
            opening=event.pot,
            contents=event.pot,
        )
    assert pot is not None, "a match begins with its opening"
    match event:
        case DealScored(pot=after) if after is not None:
            return replace(
                pot, version=number, contents=after, pending=(), lines=(*pot.lines, _line(pot, event, number))
            )
        case ActTakenBack():
            pending = tuple(one for one in pot.pending if not event.undoes(one.event))
            return replace(pot, version=number, pending=pending)
        case DealVoided():
            return replace(pot, version=number, pending=())
        case ProtocolCorrected(pot=contents, won=won) if contents is not None:
            closed = _closed_again(won, contents) if won is not None and won.shares else None
            corrected = (*pot.corrected, number)
            return replace(pot, version=number, contents=contents, closed=closed, corrected=corrected)
        case MatchAbandoned(shares=()):
            return replace(pot, version=number, pending=())
        case MatchClosed() | MatchAbandoned():
            return replace(pot, version=number, contents=event.pot, pending=(), closed=_closed(event, number))
    if event.TOPIC == STAKED:
        return replace(pot, version=number, pending=(*pot.pending, _staked(event, number)))
    return replace(pot, version=number)


def _staked(event: Event, number: int) -> PotPending:
    said = msgspec.to_builtins(event)
    return PotPending(seat=said["seat"], units=said["amount"], event=number)


def _line(pot: Pot, event: DealScored, number: int) -> PotLine:
    before, after = event.pot_before, event.pot
    assert after is not None, "the deal has a pot"
    return _line_of(event, number, pot.contents if before is None else before, after)


def _line_of(event: DealScored, number: int, before: int, after: int) -> PotLine:
    return PotLine(
        deal=event.deal,
        kind=event.kind,
        before=before,
        after=after,
        entries=event.pot_entries,
        event=number,
    )


def _closed(event: MatchClosed | MatchAbandoned, number: int) -> PotClosed:
    return _shared(event.shares, event.rule, event.pot_before, event.pot, number)


def _closed_again(won: Ended, contents: int) -> PotClosed:
    return _shared(won.shares, won.rule, won.pot_before, contents, won.event)


def _shared(shares: tuple[int, ...], rule: RuleId, before: int, after: int, number: int) -> PotClosed:
    drawn = [
        PotEntry(seat=seat, units=-share, rule=rule, events=(number,)) for seat, share in enumerate(shares) if share
    ]
    return PotClosed(before=before, after=after, entries=tuple(drawn), rule=rule, event=number)


def amended(pot: Pot, corrections: Corrections) -> Pot:
    """The pot with its lines as they count."""
    lines, struck = {line.event: line for line in pot.lines}, set[int]()
    for _, by in corrections:
        for one in by.lines:
            before, after, line = one.pot_before, one.pot, lines[one.event]
            if before is None or after is None:
                continue
            if one.score is None:
                lines[one.event] = replace(line, before=before, after=after)
            else:
                lines[one.event] = _line_of(as_counted(one.score), one.event, before, after)
        struck = set(by.struck)
    return replace(pot, lines=tuple([line for line in lines.values() if line.deal not in struck]))


class Pots(Sheets[Pot]):
    """The book of all pots; a pot in a game that has none is empty."""

    name, key, kind, line = "pots", "pots_4", Pot, PotLine
    takes = topics(
        MatchOpened, DealScored, DealVoided, MatchClosed, MatchAbandoned, ActTakenBack, ProtocolCorrected
    ) | {STAKED}
    entered = staticmethod(entered)
    amended = staticmethod(amended)


# As a table for a spreadsheet

COLUMNS = ("deal", "player", "units", "rule", "contents")


def csv(pot: Pot) -> str:
    """The pot as CSV after RFC 4180: a row for what lay in it at the start, then one for each entry.

    ``deal`` its number, empty at the start and at the end of the session; ``player`` by name; ``units`` put in, or
    below zero drawn; ``rule`` why; ``contents`` what lies in the pot then.
    """
    names = columns_of(pot.players)
    contents = pot.opening
    rows: list[list[int | str | None]] = [[None, None, contents, None, contents]]
    entries = [(line.deal, entry) for line in pot.lines for entry in line.entries]
    ends = [(None, entry) for entry in pot.closed.entries] if pot.closed else []
    for deal, entry in [*entries, *ends]:
        contents += entry.units
        name = None if entry.seat is None else names[entry.seat]
        rows.append([deal, name, entry.units, entry.rule, contents])
    return table(COLUMNS, rows)
