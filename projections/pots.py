"""The projection of pots: the contents, and the amounts put in or drawn in each deal.

In a game without a pot, the pot is empty.
"""

import msgspec
from msgspec.structs import replace

from projections.follow.page import topics
from projections.follow.sheets import Sheets
from projections.protocols import distinct_names
from projections.spreadsheets import table
from referee import wire_types
from referee.events import DealScored, DealVoided, MatchAbandoned, MatchClosed, MatchOpened, PotEntry
from referee.officials.events.corrections import Corrections, Ended, ProtocolCorrected, without_repeated_events
from referee.officials.events.takeback import ActTakenBack
from referee.value import EventNumber, RuleId, Seat, Value, Version
from referee.visibility import Recorded

STAKED = "pot/staked"
"""Topic of a game's event: ``seat`` put ``amount`` into the pot."""


class PotPending(Value):
    """A stake in the current deal. It becomes an entry only if the deal is scored."""

    seat: Seat
    units: wire_types.Money
    event: EventNumber


class PotLine(Value):
    """A scored deal: ``before`` plus the ``entries`` gives ``after``."""

    deal: wire_types.DealNumber
    kind: wire_types.Code
    before: wire_types.Money
    after: wire_types.Money
    entries: wire_types.Many[PotEntry]
    event: EventNumber


class PotClosed(Value):
    """The end by an official who shared the pot: ``before`` plus the ``entries`` gives ``after``."""

    before: wire_types.Money
    after: wire_types.Money
    entries: wire_types.Many[PotEntry]
    rule: RuleId
    event: EventNumber


class Pot(Value):
    """The pot of a match after event ``version``: ``opening`` plus all entries gives ``contents``.

    Amounts are minor units of ``currency`` or, without one, the game's units. Amounts drawn are negative.
    """

    match: wire_types.MatchId
    version: Version
    ruleset: wire_types.Code
    players: wire_types.Names
    currency: wire_types.Currency | None
    opening: wire_types.Money
    """Contents at the start."""
    contents: wire_types.Money
    """Present contents, without ``pending``."""
    pending: wire_types.Many[PotPending] = ()
    lines: wire_types.Many[PotLine] = ()
    """Scored deals that count, after all corrections."""
    closed: PotClosed | None = None
    corrected: wire_types.Events = ()
    """Numbers of the events that corrected the pot."""


def after_event(pot: Pot | None, recorded: Recorded) -> Pot:
    """Return the pot after an event. :func:`with_corrections` corrects the lines."""
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
            before = pot.contents if event.pot_before is None else event.pot_before
            lines = (*pot.lines, _line(event, number, before, after))
            return replace(pot, version=number, contents=after, pending=(), lines=lines)
        case ActTakenBack():
            pending = tuple(one for one in pot.pending if not event.undoes(one.event))
            return replace(pot, version=number, pending=pending)
        case DealVoided():
            return replace(pot, version=number, pending=())
        case ProtocolCorrected(pot=contents, won=won) if contents is not None:
            closed = _closed(won, contents, won.event) if won is not None and won.shares else None
            corrected = (*pot.corrected, number)
            return replace(pot, version=number, contents=contents, closed=closed, corrected=corrected)
        case MatchAbandoned(shares=()):
            return replace(pot, version=number, pending=())
        case MatchClosed() | MatchAbandoned():
            closed = _closed(event, event.pot, number)
            return replace(pot, version=number, contents=event.pot, pending=(), closed=closed)
    if event.TOPIC == STAKED:
        fields = msgspec.to_builtins(event)
        stake = PotPending(seat=fields["seat"], units=fields["amount"], event=number)
        return replace(pot, version=number, pending=(*pot.pending, stake))
    return replace(pot, version=number)


def _line(event: DealScored, number: int, before: int, after: int) -> PotLine:
    return PotLine(
        deal=event.deal,
        kind=event.kind,
        before=before,
        after=after,
        entries=event.pot_entries,
        event=number,
    )


def _closed(end: MatchClosed | MatchAbandoned | Ended, after: int, number: int) -> PotClosed:
    drawn = [
        PotEntry(seat=seat, units=-share, rule=end.rule, events=(number,))
        for seat, share in enumerate(end.shares)
        if share
    ]
    return PotClosed(before=end.pot_before, after=after, entries=tuple(drawn), rule=end.rule, event=number)


def with_corrections(pot: Pot, corrections: Corrections) -> Pot:
    """Return the pot with corrected lines and without the struck lines."""
    lines, struck = {line.event: line for line in pot.lines}, set[int]()
    for _, correction in corrections:
        for one in correction.lines:
            before, after, line = one.pot_before, one.pot, lines[one.event]
            if before is None or after is None:
                continue
            if one.score is None:
                lines[one.event] = replace(line, before=before, after=after)
            else:
                lines[one.event] = _line(without_repeated_events(one.score), one.event, before, after)
        struck = set(correction.struck)
    return replace(pot, lines=tuple([line for line in lines.values() if line.deal not in struck]))


class Pots(Sheets[Pot]):
    name, key, kind, line = "pots", "pots_4", Pot, PotLine
    takes = topics(
        MatchOpened, DealScored, DealVoided, MatchClosed, MatchAbandoned, ActTakenBack, ProtocolCorrected
    ) | {STAKED}
    after_event = staticmethod(after_event)
    with_corrections = staticmethod(with_corrections)


COLUMNS = ("deal", "player", "units", "rule", "contents")


def csv(pot: Pot) -> str:
    """Return the pot as CSV (RFC 4180): a row for the opening contents, then a row for each entry with the contents
    after it. The first row and the match's end have no deal."""
    names = distinct_names(pot.players)
    contents = pot.opening
    rows: list[list[int | str | None]] = [[None, None, contents, None, contents]]
    entries = [(line.deal, entry) for line in pot.lines for entry in line.entries]
    ends = [(None, entry) for entry in pot.closed.entries] if pot.closed else []
    for deal, entry in [*entries, *ends]:
        contents += entry.units
        name = None if entry.seat is None else names[entry.seat]
        rows.append([deal, name, entry.units, entry.rule, contents])
    return table(COLUMNS, rows)
