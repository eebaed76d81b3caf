"""The facts common to all games.

This module is most of what projections may know of the referee. A fact carries codes and numbers and the ruling that
was made, never a sentence; its ``TOPIC`` stands in the database for ever.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from referee import wire_types
from referee.value import (
    AnswerSeen,
    BidSeen,
    CardText,
    DealKind,
    OffenceText,
    Points,
    RuleId,
    Seat,
    Time,
    Value,
    WonBy,
    tied,
)
from referee.visibility import Event, Hidden, Viewer, by_seat

Dealing = Annotated[
    Literal["house", "table", "tally"],
    Meta(
        title="Dealing",
        description="`house`: the server deals. `table`: cards lie on a real table. `tally`: so they do, and only "
        "who took which trick is entered, or a whole deal at once.",
    ),
]
Enforcement = Annotated[
    Literal["refuse", "penalise"],
    Meta(
        title="Enforcement",
        description="`refuse`: what the rules forbid is refused. `penalise`: it stands until somebody knocks.",
    ),
]
Shuffling = Annotated[
    Literal["committed"],
    Meta(
        title="Shuffling",
        description="`committed`: before each deal the server commits to a seed, and the seats add to it, so that "
        "anybody can check the shuffle when the deal is over.",
    ),
]
Visibility = Annotated[
    Literal["public", "club", "private"],
    Meta(
        title="Visibility",
        description="Who may see a match. `public`: anybody. `club`: who holds a key of its club, or a token of the "
        "match. `private`: who plays or officiates in it, and who opens or audits matches for its club.",
    ),
]


def in_points(numbers: tuple[int, ...], halves: bool) -> tuple[Points, ...]:
    """Points, from so many points or so many halves."""
    return tuple([number / 2 if number % 2 else number // 2 for number in numbers]) if halves else numbers


StakesNeed = Annotated[
    Literal["members", "secretary"],
    Meta(
        title="StakesNeed",
        description="Who agrees to the stakes of a match. `members`: each member in it. `secretary`: at a real table "
        "one member with `officiate` may also confirm for all who are present, unless the match was opened with "
        "other points than its ruleset starts with.",
    ),
]


class Stakes(Value, forbid_unknown_fields=True):
    """What a point is worth: ``unit`` minor units of an ISO 4217 ``currency``."""

    currency: wire_types.Currency
    unit: wire_types.Unit


class Breach(Value, omit_defaults=True):
    """An act against the rules that stands until somebody knocks. Only officials may see it.

    ``seat`` is accused of it, ``payer`` goes up ``points`` by ``rule`` if it is knocked for. After ``closes_after``
    completed tricks of the deal it is too late; ``None``: when the deal is scored.
    """

    offence: OffenceText
    seat: Seat
    rule: RuleId
    payer: Seat
    points: wire_types.WholePoints
    closes_after: wire_types.Count | None = None
    shown_by: wire_types.Events = ()
    """Earlier events that prove it, beside the one that carries it."""
    by: Seat | None = None
    """Who did it, where the rules hold another to it: ``seat``."""
    tricks: wire_types.Count | None = None
    """Of a reported error: how many tricks of the deal had been led to, or entered. ``None``: it does not matter."""


class Entry(Value):
    """One number on a line of the protocol: why it stands there, and the events that show it."""

    seat: Seat
    points: wire_types.WholePoints
    rule: RuleId
    events: wire_types.Events


class PotEntry(Value):
    """What a seat put into the pot (below zero: drew from it), in the pot's units, and why."""

    seat: Seat | None
    units: wire_types.Money
    rule: RuleId
    events: wire_types.Events


class Payment(Value, omit_defaults=True):
    """What one player owes another when the match is over, and by which rule. A loser may owe nothing: then the rule
    says why."""

    payer: Seat
    payee: Seat
    points: wire_types.WholePoints
    """How many points are paid for. Below zero: the payee pays."""
    rule: RuleId
    between: bool = False
    """They are those that lie between the two; else those that the payer is left with."""


class Adjudication(Value):
    """How a match is attended to: the officials by name, the first of whom is ``official``, the second
    ``official:2``, and their time limits."""

    officials: wire_types.Officials
    """Their names."""
    appeal_minutes: wire_types.Minutes = 30
    """So long a ruling may be appealed (J7)."""
    correction_minutes: wire_types.Minutes = 30
    """So long after the end of the match a score may be corrected (J8)."""
    pending: Literal["play_on", "hold"] = "play_on"
    """Whether play goes on while a case is open (J5)."""
    take_back: bool = False
    """Whether the last act may be taken back where all agree (J11)."""


class MatchOpened(Event):
    """A match was opened, with every option of its ruleset resolved. Tokens are kept as SHA-256."""

    TOPIC: ClassVar[str] = "match/opened"
    HIDDEN: ClassVar[Hidden] = {"tokens": "nobody", "official": "nobody", "officials": "nobody"}
    ruleset: wire_types.Code
    edition: wire_types.Edition
    options: Annotated[dict[str, Any], tied("ruleset", "resolved")]
    players: wire_types.Names
    dealing: Dealing
    enforcement: Enforcement
    points: wire_types.PointsBySeat
    tokens: wire_types.BySeat[wire_types.Hash]
    official: wire_types.HiddenHash
    pot: wire_types.Money = 0
    """What lies in the pot, in games that have one."""
    taken_over: bool = False
    first_dealer: Seat | None = None
    stakes: Stakes | None = None
    adjudication: Adjudication | None = None
    """Officials attend to the match; null: what events cannot decide, nobody rules on."""
    officials: wire_types.BySeat[wire_types.Hash] = ()
    """Of the tokens of the other officials, from the second on, as SHA-256: told to nobody."""
    shuffle: Shuffling | None = None
    """How the server shuffles; null: by a seed of its own, and nobody can check that it did not choose it."""
    entropy_seconds: wire_types.EntropySeconds = 0
    """So long after the commitment a deal waits for what the seats add to the shuffle."""
    club: UUID | None = None
    """Whose match it is; null: nobody's. In a club's match ``players`` are ``M5`` and so on, by ``members``."""
    evening: wire_types.EveningNumber | None = None
    """Of the club's evenings the one on which it is played."""
    table: wire_types.TableNumber | None = None
    """At which table of that evening."""
    members: wire_types.BySeat[wire_types.MemberNumber] = ()
    """The members who play, by seat; empty where it is no club's."""
    visibility: Visibility = "public"
    """Who may see it."""
    stakes_need: StakesNeed = "members"
    """Who has to agree to the stakes before a club's books count them."""
    stake_limit: wire_types.Money | None = None
    """The most that the match may move in the club's books, in minor units; null: the club has no limit."""


class TokenEnded(Event):
    """The token that a seat or a role had until now is refused from here on."""

    TOPIC: ClassVar[str] = "match/token-ended"
    seat: Seat | None = None
    """Whose it was; left out: nobody's, in a role that has no seat."""
    role: wire_types.Code = "seat"
    """`seat`, `scribe` (writes for all seats), `watcher` (may only look), or `official`."""
    official: wire_types.OfficialPlace | None = None
    """Which of the officials, from 1; left out: another role."""


class TokenMade(Event):
    """A seat or a role was given a token, which is kept as SHA-256."""

    TOPIC: ClassVar[str] = "match/token-made"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    hash: wire_types.HiddenHash
    """Of the token, as SHA-256: told to nobody."""
    seat: Seat | None = None
    """Whose it is; left out: nobody's, in a role that has no seat."""
    role: wire_types.Code = "seat"
    """`seat`, `scribe` (writes for all seats), `watcher` (may only look), or `official`."""
    official: wire_types.OfficialPlace | None = None
    """Which of the officials, from 1; left out: another role."""


class CardDrawn(Event):
    """A seat drew a card for the first deal."""

    TOPIC: ClassVar[str] = "dealer/card-drawn"
    seat: Seat
    card: CardText


class FirstDealerDrawn(Event):
    """The highest card drawn gave the first deal."""

    TOPIC: ClassVar[str] = "dealer/drawn"
    seat: Seat
    rule: RuleId


def if_face_up(dealt: Any, field: str, viewer: Viewer) -> tuple[tuple[str, ...], ...] | None:
    """By seat when hands are up; else no hand before it is picked up."""
    return by_seat(dealt, field, viewer) if dealt.face_up else None


def as_agreed(dealt: Any, field: str, viewer: Viewer) -> tuple[int, ...]:
    """As many as each should have, where a wrong number is found only on picking up."""
    counts: tuple[int, ...] = dealt.counts
    return tuple([dealt.each if count else 0 for count in counts]) if dealt.each else counts


class Dealt(Event):
    """The cards of a deal lie before the seats. ``hands`` by seat, or with closed hands only ``counts``.

    A hand that is not for the viewer to see is empty; ``counts`` say how many cards it has. ``seed`` made the
    shuffle in house dealing; ``stock`` is what is left, when it is known and needed.
    """

    TOPIC: ClassVar[str] = "deal/dealt"
    HIDDEN: ClassVar[Hidden] = {
        "counts": as_agreed,
        "each": "open",
        "hands": if_face_up,
        "stock": "open",
        "widow": "open",
        "seed": "open",
        "breaches": "official",
    }
    deal: wire_types.DealNumber
    dealer: Seat
    counts: wire_types.Counts
    hands: wire_types.Hands | None = None
    each: wire_types.Count = 0
    """How many cards each should have, where somebody has a wrong number, which is found only on picking up."""
    stock: wire_types.Cards = ()
    widow: wire_types.Cards = ()
    turn_up: CardText | None = None
    """Lies face up for all to see."""
    seed: wire_types.Seed | None = None
    face_up: bool = False
    """Hands are up as soon as they are dealt: each seat sees its own."""
    breaches: wire_types.Many[Breach] = ()


class CardPlayed(Event):
    """A card was played to the trick."""

    TOPIC: ClassVar[str] = "card/played"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    card: CardText
    breaches: wire_types.Many[Breach] = ()


class TrickTaken(Event):
    """A trick was won. ``trick`` counts from 1. Uncontested: nobody was left to play against."""

    TOPIC: ClassVar[str] = "trick/taken"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    trick: wire_types.TrickNumber
    uncontested: bool = False
    grace_until: Time | None = None
    """Until then a lead to trick five by anybody but the asker is refused (B-O29)."""
    second: Seat | None = None
    """Who had played the second best card, where that was told."""
    breaches: wire_types.Many[Breach] = ()
    """What the lead passed over, where only the tally is kept."""


class Reported(Event):
    """A seat reported what the cards cannot show."""

    TOPIC: ClassVar[str] = "fault/reported"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    accused: Seat
    fault: OffenceText
    breaches: wire_types.Many[Breach] = ()


def to_knocker(ruling: Any, field: str, viewer: Viewer) -> str:
    """What was written with a knock within a deal is the knocker's own until that is over, where officials attend."""
    text: str = getattr(ruling, field)
    return text if not ruling.note_kept or viewer == ruling.seat else ""


class KnockUpheld(Event):
    """A knock was right. ``rests_on``: the event numbers that prove it."""

    TOPIC: ClassVar[str] = "knock/upheld"
    HIDDEN: ClassVar[Hidden] = {"note": to_knocker}
    case: wire_types.CaseNumber
    seat: Seat
    accused: Seat
    offence: OffenceText
    rule: RuleId
    payer: Seat
    penalty: wire_types.WholePoints
    rests_on: wire_types.Events
    named: OffenceText | None = None
    note: wire_types.Note = ""
    appeal_until: Time | None = None
    """Before this a party may appeal where officials attend (J7); left out: there is no appeal."""
    note_kept: bool = False
    """Knocked while a deal was under way, where officials attend: the note is told when that is over."""


NOTHING: dict[str, Any] = {"reason": "nothing", "offence": None, "rests_on": (), "within_deal": False}
"""What a knock that was too late looks like until the deal is over."""


def unless_late(ruling: Any, field: str, viewer: Viewer) -> Any:
    """Too late and for nothing look alike, where it was ruled within the deal."""
    late = ruling.reason == "late" and ruling.within_deal
    return NOTHING[field] if late else getattr(ruling, field)


DismissalReason = Annotated[
    Literal["nothing", "late", "again", "enforced"],
    Meta(
        title="DismissalReason",
        description="Why a knock was wrong. `nothing`: nothing was done wrong. `late`: it was, but knocked for too "
        "late. `again`: another case decides about it. `enforced`: the referee refuses what the rules forbid.",
    ),
]


class KnockDismissed(Event):
    """A knock was wrong. ``reason``: ``nothing``, ``late``, ``again`` or ``enforced`` (nothing to punish)."""

    TOPIC: ClassVar[str] = "knock/dismissed"
    HIDDEN: ClassVar[Hidden] = dict.fromkeys(NOTHING, unless_late) | {"note": to_knocker}
    case: wire_types.CaseNumber
    seat: Seat
    accused: Seat
    reason: DismissalReason
    rule: RuleId
    named: OffenceText | None = None
    offence: OffenceText | None = None
    rests_on: wire_types.Events = ()
    of: wire_types.CaseNumber | None = None
    """With ``again``: the number of the case that decides about the same incident."""
    note: wire_types.Note = ""
    within_deal: bool = False
    """Ruled while the deal was under way: that there was something to be late for is not told before its end."""
    appeal_until: Time | None = None
    """Before this a party may appeal where officials attend (J7); left out: there is no appeal."""
    note_kept: bool = False
    """Knocked while a deal was under way, where officials attend: the note is told when that is over."""


class PenaltyImposed(Event):
    """A seat goes up ``points`` when the deal is written into the protocol."""

    TOPIC: ClassVar[str] = "penalty/imposed"
    seat: Seat
    points: wire_types.WholePoints
    rule: RuleId
    case: wire_types.CaseNumber | None = None


class DealScored(Event):
    """A deal was written into the protocol. All tuples go by seat.

    ``before`` plus the ``entries`` of a seat gives its ``points``. ``answers``: ``"in"`` (has a trick),
    ``"play"``, ``"fold"`` or ``None`` (was not asked).
    """

    TOPIC: ClassVar[str] = "deal/scored"
    deal: wire_types.DealNumber
    dealer: Seat
    kind: DealKind
    declarer: Seat | None
    contract: BidSeen | None
    tricks: wire_types.Counts
    answers: wire_types.BySeat[AnswerSeen | None]
    penalties: wire_types.PointsBySeat
    before: wire_types.PointsBySeat
    points: wire_types.PointsBySeat
    entries: wire_types.Many[Entry]
    eliminated: wire_types.Seats = ()
    """Everybody who is out of the match after this deal."""
    pot_before: wire_types.Money | None = None
    pot: wire_types.Money | None = None
    """The pot before and after the deal, in games that have one."""
    pot_entries: wire_types.Many[PotEntry] = ()
    halves: bool = False
    """``before``, ``points`` and ``entries`` count halves of a point."""
    detail: Annotated[Mapping[str, Any], tied("ruleset", "detail")] = msgspec.field(default_factory=dict)
    """What only this game has to tell of the deal: codes and numbers, never a sentence."""


class PlayEnded(Event):
    """No more cards are played in the deal; it waits to be written into the protocol."""

    TOPIC: ClassVar[str] = "deal/play-ended"
    kind: DealKind


class DealVoided(Event):
    """An official voided the deal under way: it is dealt again.

    Where penalties that were knocked in it enter the protocol at once, ``before`` plus ``entries`` gives ``points``.
    """

    TOPIC: ClassVar[str] = "deal/voided"
    deal: wire_types.DealNumber
    reason: wire_types.Note = ""
    before: wire_types.PointsBySeat = ()
    points: wire_types.PointsBySeat = ()
    entries: wire_types.Many[Entry] = ()


class PlayerEliminated(Event):
    """A player is out of the match."""

    TOPIC: ClassVar[str] = "player/eliminated"
    OF_THE_LINE: ClassVar[bool] = True
    seat: Seat
    rule: RuleId


class MatchWon(Event):
    """The match is over. ``settlement``: what each seat receives (or pays, below zero) in minor units.

    ``seat`` is ``None`` when nobody is left to win it.
    """

    TOPIC: ClassVar[str] = "match/won"
    OF_THE_LINE: ClassVar[bool] = True
    seat: Seat | None
    by: WonBy
    rule: RuleId
    points: wire_types.PointsBySeat
    settlement: wire_types.MoneyBySeat | None = None
    halves: bool = False
    """``points``, and those of the ``payments``, count halves of a point."""
    seats: wire_types.Seats = ()
    """All winners, where partners win together."""
    payments: wire_types.Many[Payment] = ()
    """Who pays whom, which gives the ``settlement``; left out: the match was not for money."""


class MatchClosed(Event):
    """An official ended the session between two deals. ``shares``: what each seat drew from the pot.

    ``before`` plus ``shares`` gives ``points``; ``pot`` stays. ``settlement`` as in :class:`MatchWon`.
    """

    TOPIC: ClassVar[str] = "match/closed"
    rule: RuleId
    pot_before: wire_types.Money
    shares: wire_types.MoneyBySeat
    pot: wire_types.Money
    before: wire_types.PointsBySeat
    points: wire_types.PointsBySeat
    settlement: wire_types.MoneyBySeat | None = None


class MatchAbandoned(Event):
    """An official ended a match that will not be finished: nobody wins it, and the deal under way counts for nothing,
    with what was knocked up in it.

    Where the rules share a pot, the other fields are as in :class:`MatchClosed`. Elsewhere nothing is owed, and the
    points stay as they stand.
    """

    TOPIC: ClassVar[str] = "match/abandoned"
    deal: wire_types.DealNumber
    reason: wire_types.Note = ""
    """Why, as the official gave it."""
    rule: wire_types.SharedBy = ""
    pot_before: wire_types.Money = 0
    shares: wire_types.MoneyBySeat = ()
    pot: wire_types.Money = 0
    before: wire_types.PointsBySeat = ()
    points: wire_types.PointsBySeat = ()
    settlement: wire_types.MoneyBySeat | None = None


ENDS: frozenset[type[Event]] = frozenset((MatchAbandoned, MatchClosed, MatchWon))
"""The match is over after these."""
LAYS_OPEN: frozenset[type[Event]] = frozenset((DealScored, DealVoided, MatchAbandoned, MatchClosed, MatchWon))
"""The deal is over after these: its cards lie open, up to and with the event itself."""


def facts_of(module: ModuleType) -> tuple[type[Event], ...]:
    """The facts that a module knows."""
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Event)]
    return tuple(kind for kind in kinds if kind is not Event)
