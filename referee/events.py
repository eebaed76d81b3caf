"""The events that all games share. A ``TOPIC`` never changes, because rows store it."""

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
    """Return numbers as points; with ``halves``, half of each."""
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
    """An act against the rules. Only officials see it. If a knock is upheld, ``payer`` goes up ``points``.

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
    """The points that one player owes another when the match is over. ``rule`` is the reason, also for 0 points."""

    payer: Seat
    payee: Seat
    points: wire_types.WholePoints
    """Points that are paid for. Below zero: the payee pays."""
    rule: RuleId
    between: bool = False
    """True: ``points`` is the difference between the two players. False: it follows from the payer's points."""


class Adjudication(Value):
    """The officials of a match, who act as ``official``, ``official:2`` and so on."""

    officials: wire_types.Officials
    """Names of the officials."""
    appeal_minutes: wire_types.Minutes = 30
    """Minutes in which a ruling can be appealed (J7)."""
    correction_minutes: wire_types.Minutes = 30
    """Minutes after the end of the match in which any score can be corrected (J8)."""
    pending: Literal["play_on", "hold"] = "play_on"
    """Effect of an open case: play goes on, or waits for the ruling (J5)."""
    take_back: bool = False
    """True if the last act can be taken back: in a tally by one seat, else if all agree, or by a ruling (J11)."""


class MatchOpened(Event):
    """A match was opened. ``options`` has every option. Hashes of tokens are valid in this match only."""

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
    """Hashes of the tokens of ``official:2`` and so on. Never shown."""
    dockets: wire_types.BySeat[wire_types.Hash] = ()
    """Encrypted SHA-256 of each official's token, to find all matches of a token. Never shown."""
    shuffle: Shuffling | None = None
    """Null: no client can check the shuffle, if there is one."""
    entropy_seconds: wire_types.EntropySeconds = 0
    """Seconds that a deal waits after the commitment for the seats to add to the shuffle."""
    club: UUID | None = None
    """Club of the match; null: none. In a club's match ``players`` are member numbers such as ``M5``."""
    evening: wire_types.EveningNumber | None = None
    table: wire_types.TableNumber | None = None
    members: wire_types.BySeat[wire_types.MemberNumber] = ()
    """Members by seat; empty without a club."""
    visibility: Visibility = "public"
    stakes_need: StakesNeed = "members"
    given_by: wire_types.Givers = ()
    """Members who hold or gave the key that opened the match. They may know its tokens."""
    stake_limit: wire_types.Money | None = None
    """Maximum sum of the payments, in minor units, with which the books count the match; null: no limit."""


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
    """Hash of the token in this match."""
    seat: Seat | None = None
    role: wire_types.Code = "seat"
    official: wire_types.OfficialPlace | None = None
    given_by: wire_types.Givers = ()
    """Members who hold or gave the inviting key, for an official."""


class CardDrawn(Event):
    """A seat drew a card to decide who deals first."""

    TOPIC: ClassVar[str] = "dealer/card-drawn"
    seat: Seat
    card: CardText


class FirstDealerDrawn(Event):
    """The drawn cards decided which seat deals first."""

    TOPIC: ClassVar[str] = "dealer/drawn"
    seat: Seat
    rule: RuleId


def veiled_hands(dealt: Any, field: str, viewer: Viewer) -> tuple[tuple[str, ...], ...] | None:
    """Return the hands by seat, all empty but the viewer's own; ``None`` if they are closed or to be picked up."""
    return only_own_item(dealt, field, viewer) if dealt.face_up else None


def veiled_counts(dealt: Any, field: str, viewer: Viewer) -> tuple[int, ...]:
    """Return the numbers of cards by seat; if one is wrong, the right number for all seats with cards."""
    counts: tuple[int, ...] = dealt.counts
    return tuple([dealt.each if count else 0 for count in counts]) if dealt.each else counts


class Dealt(Event):
    """Cards were dealt: ``hands`` by seat; in a tally, or with closed hands, only ``counts``.

    Hands that the viewer may not see are empty or null.
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
    """A trick was won."""

    TOPIC: ClassVar[str] = "trick/taken"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    trick: wire_types.TrickNumber
    uncontested: bool = False
    grace_until: Time | None = None
    """Time until which only the asker may lead to trick five (B-O29, C-O23)."""
    second: Seat | None = None
    """Seat of the second-best card, if entered."""
    breaches: wire_types.Many[Breach] = ()
    """Breaches of a lead before an act that was due (tally only)."""


class Reported(Event):
    """A fault that the cards cannot show was reported. If an official added it, ``seat`` is the accused."""

    TOPIC: ClassVar[str] = "fault/reported"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    accused: Seat
    fault: OffenceText
    breaches: wire_types.Many[Breach] = ()


def veiled_note(ruling: Any, field: str, viewer: Viewer) -> str:
    """Return a knock's note; if ``note_kept``, an empty note unless the viewer knocked."""
    text: str = getattr(ruling, field)
    return text if not ruling.note_kept or viewer == ruling.seat else ""


class KnockUpheld(Event):
    """A knock was right."""

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
"""Dismissal of a late knock, as all but officials see it until the deal is over."""


def veiled_reason(ruling: Any, field: str, viewer: Viewer) -> Any:
    """Return a field of a dismissal; of a late knock ``within_deal``, as if it were for nothing."""
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
    """Number of the case about the incident, if the reason is ``again``."""
    note: wire_types.Note = ""
    within_deal: bool = False
    """True if the breach was in the deal under way. Until it is over, a late knock looks like one for nothing."""
    appeal_until: Time | None = None
    note_kept: bool = False


class PenaltyImposed(Event):
    """A seat goes up ``points`` when the deal is scored. Below zero: a ruling cancelled a penalty."""

    TOPIC: ClassVar[str] = "penalty/imposed"
    seat: Seat
    points: wire_types.WholePoints
    rule: RuleId
    case: wire_types.CaseNumber | None = None


class DealScored(Event):
    """A deal was scored. Lists are by seat. ``before`` plus the ``entries`` of a seat gives its
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
    """Fields that only this game has."""


class PlayEnded(Event):
    """The play is over. The deal waits to be scored."""

    TOPIC: ClassVar[str] = "deal/play-ended"
    kind: DealKind


class DealVoided(Event):
    """An official voided the deal under way, which is dealt again.

    If its penalties count, ``before`` plus ``entries`` gives ``points``.
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
    """The match is over."""

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
    """Payments that add up to the ``settlement``."""


class MatchClosed(Event):
    """An official ended the session between two deals. ``before`` plus ``shares`` gives ``points``."""

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
"""Events that end a deal. The deal then hides no field of this and earlier events."""


def event_kinds_in(module: ModuleType) -> tuple[type[Event], ...]:
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Event)]
    return tuple(kind for kind in kinds if kind is not Event)
