"""The events that all games share. Their fields are codes and numbers. A ``TOPIC`` never changes: rows store it."""

from collections.abc import Mapping
from types import ModuleType
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from referee import wire_types
from referee.value import (
    AnswerSeen,
    BidValue,
    CardText,
    DealKind,
    OffenceText,
    Points,
    RuleId,
    Seat,
    Time,
    Value,
    WonBy,
    type_depends_on,
)
from referee.visibility import Event, Hidden, Viewer, only_own_item

Dealing = Annotated[
    Literal["house", "table", "tally"],
    Meta(
        title="Dealing",
        description="`house`: the server deals. `table`: the players deal real cards. `tally`: they do too, and only "
        "the winner of each trick, or a whole deal at once, is entered.",
    ),
]
Enforcement = Annotated[
    Literal["refuse", "penalise"],
    Meta(
        title="Enforcement",
        description="`refuse`: an act against the rules is refused. `penalise`: it is accepted, and costs something "
        "only if a player knocks.",
    ),
]
Shuffling = Annotated[
    Literal["committed"],
    Meta(
        title="Shuffling",
        description="`committed`: before each deal the server commits to a seed, and the seats add to it, so that "
        "any client can check the shuffle when the deal is over.",
    ),
]
Visibility = Annotated[
    Literal["public", "club", "private"],
    Meta(
        title="Visibility",
        description="Visibility of a match. `public`: any client may see it. `club`: holders of a key of its club or "
        "of a token of the match. `private`: its players and officials, and the members who open or "
        "audit matches for its club.",
    ),
]


def in_points(numbers: tuple[int, ...], halves: bool) -> tuple[Points, ...]:
    """Return the numbers as points; with ``halves``, half of each number."""
    return tuple([number / 2 if number % 2 else number // 2 for number in numbers]) if halves else numbers


StakesNeed = Annotated[
    Literal["members", "secretary"],
    Meta(
        title="StakesNeed",
        description="Who agrees to the stakes of a match. `members`: each member in it. `secretary`: at a real table "
        "one member with `officiate` may also confirm for all who are present, unless the match was "
        "opened with other points than its ruleset starts with.",
    ),
]


class Stakes(Value, forbid_unknown_fields=True):
    """The worth of a point: ``unit`` minor units of an ISO 4217 ``currency``."""

    currency: wire_types.Currency
    unit: wire_types.Unit


class Breach(Value, omit_defaults=True):
    """An act against the rules. Only officials see it. After a knock ``payer`` goes up ``points`` by ``rule``.

    ``closes_after``: number of complete tricks after which a knock is too late; ``None``: a knock is possible until
    the deal is scored.
    """

    offence: OffenceText
    seat: Seat
    rule: RuleId
    payer: Seat
    points: wire_types.WholePoints
    closes_after: wire_types.Count | None = None
    shown_by: wire_types.Events = ()
    """Earlier events that prove the breach."""
    by: Seat | None = None
    """Seat that broke the rule, if a different seat (``seat``) is responsible."""
    tricks: wire_types.Count | None = None
    """Number of tricks begun, or entered, before a reported fault. ``None``: the number does not matter."""


class Entry(Value):
    """A number on a line of the protocol, with its reason."""

    seat: Seat
    points: wire_types.WholePoints
    rule: RuleId
    events: wire_types.Events


class PotEntry(Value):
    """Units that a seat put into the pot; below zero: units that it took out."""

    seat: Seat | None
    units: wire_types.Money
    rule: RuleId
    events: wire_types.Events


class Payment(Value, omit_defaults=True):
    """The points that one player owes another when the match is over. If ``points`` is 0, ``rule`` is the reason."""

    payer: Seat
    payee: Seat
    points: wire_types.WholePoints
    """Points that are paid for. Below zero: the payee pays."""
    rule: RuleId
    between: bool = False
    """True: ``points`` is the difference between the two players. False: it is the payer's points."""


class Adjudication(Value):
    """The officials of a match and their time limits. They act as ``official``, ``official:2`` and so on."""

    officials: wire_types.Officials
    """Names of the officials."""
    appeal_minutes: wire_types.Minutes = 30
    """Time to appeal a ruling (J7)."""
    correction_minutes: wire_types.Minutes = 30
    """Time after the end of the match to correct a score (J8)."""
    pending: Literal["play_on", "hold"] = "play_on"
    """Effect of an open case: play goes on, or waits for the ruling (J5)."""
    take_back: bool = False
    """True if the last act can be taken back when all seats agree (J11)."""


class MatchOpened(Event):
    """A match was opened. ``options`` has all options. Hashes of tokens are valid in this match only."""

    TOPIC: ClassVar[str] = "match/opened"
    HIDDEN: ClassVar[Hidden] = {
        "tokens": "nobody",
        "official": "nobody",
        "officials": "nobody",
        "dockets": "nobody",
        "given_by": "nobody",
    }
    ruleset: wire_types.Code
    edition: wire_types.Edition
    options: Annotated[dict[str, Any], type_depends_on("ruleset", "resolved")]
    players: wire_types.Names
    dealing: Dealing
    enforcement: Enforcement
    points: wire_types.PointsBySeat
    tokens: wire_types.BySeat[wire_types.Hash]
    official: wire_types.HiddenHash
    pot: wire_types.Money = 0
    """Amount in the pot, in games with a pot."""
    taken_over: bool = False
    first_dealer: Seat | None = None
    stakes: Stakes | None = None
    adjudication: Adjudication | None = None
    officials: wire_types.BySeat[wire_types.Hash] = ()
    """Hashes of the other officials' tokens. Never shown."""
    dockets: wire_types.BySeat[wire_types.Hash] = ()
    """Encrypted SHA-256 of each official's token, to find all matches of a token. Never shown."""
    shuffle: Shuffling | None = None
    """Null: the server uses a seed of its own, and no client can check the shuffle."""
    entropy_seconds: wire_types.EntropySeconds = 0
    """Seconds that a deal waits after the commitment for the seats to add to the shuffle."""
    club: UUID | None = None
    """Club of the match; null: none. In a club's match ``players`` are member numbers such as ``M5``."""
    evening: wire_types.EveningNumber | None = None
    table: wire_types.TableNumber | None = None
    members: wire_types.BySeat[wire_types.MemberNumber] = ()
    """Members who play, by seat; empty in a match without a club."""
    visibility: Visibility = "public"
    stakes_need: StakesNeed = "members"
    given_by: wire_types.Givers = ()
    """Members who hold or gave the key that opened the match. They may know its tokens."""
    stake_limit: wire_types.Money | None = None
    """Maximum sum of the match's payments, in minor units. The books count no match above it; null: no limit."""


class TokenEnded(Event):
    """The token of a seat or a role is no longer valid."""

    TOPIC: ClassVar[str] = "match/token-ended"
    seat: Seat | None = None
    role: wire_types.Code = "seat"
    official: wire_types.OfficialPlace | None = None


class TokenMade(Event):
    """A seat or a role was given a token."""

    TOPIC: ClassVar[str] = "match/token-made"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody", "given_by": "nobody"}
    hash: wire_types.HiddenHash
    """Hash of the token in this match. Never shown."""
    seat: Seat | None = None
    role: wire_types.Code = "seat"
    official: wire_types.OfficialPlace | None = None
    given_by: wire_types.Givers = ()
    """Members who hold or gave the inviting key, for an official."""


class CardDrawn(Event):
    """A seat drew a card for the first deal."""

    TOPIC: ClassVar[str] = "dealer/card-drawn"
    seat: Seat
    card: CardText


class FirstDealerDrawn(Event):
    """The cards drawn decided which seat deals first."""

    TOPIC: ClassVar[str] = "dealer/drawn"
    seat: Seat
    rule: RuleId


def veiled_hands(dealt: Any, field: str, viewer: Viewer) -> tuple[tuple[str, ...], ...] | None:
    """Return the hands by seat, all empty but the viewer's own; ``None`` unless seats see their hands at once."""
    return only_own_item(dealt, field, viewer) if dealt.face_up else None


def veiled_counts(dealt: Any, field: str, viewer: Viewer) -> tuple[int, ...]:
    """Return the numbers of cards by seat. If one is wrong, return the right number for all seats with cards."""
    counts: tuple[int, ...] = dealt.counts
    return tuple([dealt.each if count else 0 for count in counts]) if dealt.each else counts


class Dealt(Event):
    """Cards were dealt to the seats: ``hands`` by seat, or with closed hands only ``counts``.

    A hand that the viewer may not see is empty.
    """

    TOPIC: ClassVar[str] = "deal/dealt"
    HIDDEN: ClassVar[Hidden] = {
        "counts": veiled_counts,
        "each": "open",
        "hands": veiled_hands,
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
    stock: wire_types.Cards = ()
    widow: wire_types.Cards = ()
    turn_up: CardText | None = None
    """Card that lies face up."""
    seed: wire_types.Seed | None = None
    face_up: bool = False
    """True if each seat sees its hand as soon as it is dealt."""
    breaches: wire_types.Many[Breach] = ()


class CardPlayed(Event):
    """A card was played to the trick."""

    TOPIC: ClassVar[str] = "card/played"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    card: CardText
    breaches: wire_types.Many[Breach] = ()


class TrickTaken(Event):
    """A trick was won. ``uncontested``: no other seat was left to play."""

    TOPIC: ClassVar[str] = "trick/taken"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    trick: wire_types.TrickNumber
    uncontested: bool = False
    grace_until: Time | None = None
    """Time until which only the seat that asked may lead to trick five (B-O29)."""
    second: Seat | None = None
    """Seat of the second best card, if this seat was entered."""
    breaches: wire_types.Many[Breach] = ()
    """Breaches of a seat that led before it did an act that was due (tally only)."""


class Reported(Event):
    """A seat reported a fault that the cards cannot show."""

    TOPIC: ClassVar[str] = "fault/reported"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    accused: Seat
    fault: OffenceText
    breaches: wire_types.Many[Breach] = ()


def veiled_note(ruling: Any, field: str, viewer: Viewer) -> str:
    """Return a knock's note; if ``note_kept``, an empty note for all viewers but the knocker."""
    text: str = getattr(ruling, field)
    return text if not ruling.note_kept or viewer == ruling.seat else ""


class KnockUpheld(Event):
    """A knock was right. ``rests_on``: the events that prove the breach."""

    TOPIC: ClassVar[str] = "knock/upheld"
    HIDDEN: ClassVar[Hidden] = {"note": veiled_note}
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
    note_kept: bool = False


_LATE_SHOWN_AS: dict[str, Any] = {"reason": "nothing", "offence": None, "rests_on": (), "within_deal": False}
"""Fields of the dismissal of a late knock, as players see them until the deal is over."""


def veiled_reason(ruling: Any, field: str, viewer: Viewer) -> Any:
    """Return a field of a dismissal. If ``within_deal``, a late knock looks like a knock for nothing."""
    late = ruling.reason == "late" and ruling.within_deal
    return _LATE_SHOWN_AS[field] if late else getattr(ruling, field)


DismissalReason = Annotated[
    Literal["nothing", "late", "again", "enforced"],
    Meta(
        title="DismissalReason",
        description="Why a knock was wrong. `nothing`: no rule was broken. `late`: a rule was broken, but the knock "
        "came too late. `again`: a different case decides about the breach. `enforced`: the referee refuses what "
        "the rules forbid.",
    ),
]


class KnockDismissed(Event):
    """A knock was wrong."""

    TOPIC: ClassVar[str] = "knock/dismissed"
    HIDDEN: ClassVar[Hidden] = dict.fromkeys(_LATE_SHOWN_AS, veiled_reason) | {"note": veiled_note}
    case: wire_types.CaseNumber
    seat: Seat
    accused: Seat
    reason: DismissalReason
    rule: RuleId
    named: OffenceText | None = None
    offence: OffenceText | None = None
    rests_on: wire_types.Events = ()
    of: wire_types.CaseNumber | None = None
    """Number of the case that decides about the same incident, if the reason is ``again``."""
    note: wire_types.Note = ""
    within_deal: bool = False
    """True if the deal of the breach goes on. Until it is over, a late knock looks like a knock for nothing."""
    appeal_until: Time | None = None
    note_kept: bool = False


class PenaltyImposed(Event):
    """A seat goes up ``points`` when the deal is written into the protocol."""

    TOPIC: ClassVar[str] = "penalty/imposed"
    seat: Seat
    points: wire_types.WholePoints
    rule: RuleId
    case: wire_types.CaseNumber | None = None


class DealScored(Event):
    """A deal was written into the protocol. Lists are by seat. ``before`` plus the ``entries`` of a seat gives its
    ``points``."""

    TOPIC: ClassVar[str] = "deal/scored"
    SCHEMA: ClassVar[str] = "DealScore"
    """Name of the schema without the topic."""
    deal: wire_types.DealNumber
    dealer: Seat
    kind: DealKind
    declarer: Seat | None
    contract: BidValue | None
    tricks: wire_types.Counts
    answers: wire_types.BySeat[AnswerSeen | None]
    penalties: wire_types.PointsBySeat
    before: wire_types.PointsBySeat
    points: wire_types.PointsBySeat
    entries: wire_types.Many[Entry]
    eliminated: wire_types.Seats = ()
    pot_before: wire_types.Money | None = None
    pot: wire_types.Money | None = None
    pot_entries: wire_types.Many[PotEntry] = ()
    halves: bool = False
    """True if ``before``, ``points`` and ``entries`` count half points."""
    detail: Annotated[Mapping[str, Any], type_depends_on("ruleset", "detail")] = msgspec.field(default_factory=dict)
    """Codes and numbers that only this game has."""


class PlayEnded(Event):
    """The play of the deal is over. The deal waits to be scored."""

    TOPIC: ClassVar[str] = "deal/play-ended"
    kind: DealKind


class DealVoided(Event):
    """An official voided the deal under way: it is dealt again.

    If penalties count at once, ``before`` plus ``entries`` gives ``points``.
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
    FOLLOWS_FROM_LINE: ClassVar[bool] = True
    seat: Seat
    rule: RuleId


class MatchWon(Event):
    """The match is over. ``settlement``: the minor units that each seat receives (below zero: pays)."""

    TOPIC: ClassVar[str] = "match/won"
    FOLLOWS_FROM_LINE: ClassVar[bool] = True
    seat: Seat | None
    by: WonBy
    rule: RuleId
    points: wire_types.PointsBySeat
    settlement: wire_types.MoneyBySeat | None = None
    halves: bool = False
    """True if ``points`` and the points of the ``payments`` count half points."""
    seats: wire_types.Seats = ()
    """All winners, if partners win together."""
    payments: wire_types.Many[Payment] = ()
    """Payments that add up to the ``settlement``; left out without stakes."""


class MatchClosed(Event):
    """An official ended the session between two deals.

    ``before`` plus ``shares`` gives ``points``. ``settlement``: as in :class:`MatchWon`.
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
    """An official ended an unfinished match without a winner. The deal under way and its penalties do not count.

    If the rules share a pot, the other fields are as in :class:`MatchClosed`. Otherwise nothing is owed.
    """

    TOPIC: ClassVar[str] = "match/abandoned"
    deal: wire_types.DealNumber
    reason: wire_types.Note = ""
    rule: wire_types.SharedBy = ""
    pot_before: wire_types.Money = 0
    shares: wire_types.MoneyBySeat = ()
    pot: wire_types.Money = 0
    before: wire_types.PointsBySeat = ()
    points: wire_types.PointsBySeat = ()
    settlement: wire_types.MoneyBySeat | None = None


MATCH_ENDS: frozenset[type[Event]] = frozenset((MatchAbandoned, MatchClosed, MatchWon))
DEAL_ENDS: frozenset[type[Event]] = frozenset((DealScored, DealVoided, MatchAbandoned, MatchClosed, MatchWon))
"""Events that end a deal. All viewers may then see the event and all earlier events."""


def event_kinds_in(module: ModuleType) -> tuple[type[Event], ...]:
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Event)]
    return tuple(kind for kind in kinds if kind is not Event)
