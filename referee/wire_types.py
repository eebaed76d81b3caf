"""Types of the fields in events and answers, with bounds for the API's description.

Nothing checks these bounds. The bounds of requests are checked.
"""

from typing import Annotated, TypeVar

from msgspec import Meta

from referee.value import VERSION_MAX, CardText, EventNumber, Seat, SeatAndCard

SEATS_MAX = 8
CARDS_MAX = 52
ACTS_MAX = 1100
"""Maximum acts for a seat, because discards can have a thousand combinations."""
LINES_MAX = 1000
"""Maximum deals in one correction."""
GAMES_MAX = 100
RULES_MAX = 500
"""Maximum rules and readings of a game."""
NAME_MAX = 100
NAME = r"[^\s\x1c-\x1f\x85]"
"""Pattern: at least one character that is not blank in Python."""
EVENT_BYTES_MAX = 65_536
"""Maximum bytes of an event as JSON."""
TEXT_MAX = 2**31 - 1
"""Maximum characters of a text without a smaller limit."""
SENTENCE_MAX = 2000
"""Maximum characters of a rule, ruling or title."""
NOTE_MAX = 500
NOTE = r"^[^\x00-\x1F\x7F]*$"
"""Pattern: no control characters."""
EXACT_MAX = 2**53 - 1
"""Greatest integer that all JSON readers read exactly."""


def _whole(least: int, most: int) -> Meta:
    return Meta(extra_json_schema={"minimum": least, "maximum": most})


def _text(most: int, pattern: str) -> Meta:
    return Meta(extra_json_schema={"maxLength": most, "pattern": pattern})


def at_most(items: int) -> Meta:
    return Meta(extra_json_schema={"maxItems": items})


T = TypeVar("T")
ListOfMany = Annotated[list[T], at_most(VERSION_MAX)]
ListBySeat = Annotated[list[T], at_most(SEATS_MAX)]
BySeat = Annotated[tuple[T, ...], at_most(SEATS_MAX)]
Many = Annotated[tuple[T, ...], at_most(VERSION_MAX)]
"""Tuple with at most one item for each event."""

Seats = BySeat[Seat]
Name = Annotated[str, _text(NAME_MAX, NAME)]
Names = BySeat[Name]
OFFICIALS_MAX = 9
Officials = Annotated[tuple[Name, ...], at_most(OFFICIALS_MAX)]

Cards = Annotated[tuple[CardText, ...], at_most(CARDS_MAX)]
Hands = BySeat[Cards]
DrawnList = Annotated[list[SeatAndCard], at_most(CARDS_MAX)]
Suit = Annotated[str, _text(1, "^[SHDC]$")]
Rank = Annotated[str, _text(1, "^[2-9TJQKA]$")]
Count = Annotated[int, _whole(0, CARDS_MAX)]
"""Number of cards or of tricks."""
Counts = BySeat[Count]
TrickNumber = Annotated[int, _whole(1, CARDS_MAX)]
Seed = Annotated[str, _text(75, "^([0-9a-f]{32}|2:[0-9]{1,6}:[0-9a-f]{64})$")]
"""Seed of a shuffle. For a committed shuffle ``2:n:key``; ``n`` is the number of the event before the act."""
Entropy = Annotated[str, _text(64, "^[0-9a-f]{32,64}$")]
ENTROPY_SECONDS_MAX = 60
EntropySeconds = Annotated[int, _whole(0, ENTROPY_SECONDS_MAX)]

Events = Many[EventNumber]
DealNumber = Annotated[int, _whole(0, VERSION_MAX)]
"""Number of a deal; 0: before the first deal."""
CaseNumber = Annotated[int, _whole(1, VERSION_MAX)]
Cases = Annotated[tuple[CaseNumber, ...], at_most(VERSION_MAX)]
Deals = Annotated[tuple[DealNumber, ...], at_most(VERSION_MAX)]
Instance = Annotated[int, _whole(1, VERSION_MAX)]
MINUTES_MAX = 10_080
Minutes = Annotated[int, _whole(0, MINUTES_MAX)]
AttemptNumber = Annotated[int, _whole(1, EXACT_MAX)]
Edition = Annotated[int, _whole(1, 9999)]
Tally = Annotated[int, _whole(0, VERSION_MAX)]
Lag = Annotated[int, _whole(0, EXACT_MAX)]

WholePoints = Annotated[int, _whole(-EXACT_MAX, EXACT_MAX)]
"""Points in an event: half points if its ``halves`` is true."""
PointsBySeat = BySeat[WholePoints]
Money = Annotated[int, _whole(-EXACT_MAX, EXACT_MAX)]
"""Minor units of the currency of the stakes; without stakes, tricks."""
MoneyBySeat = BySeat[Money]
Unit = Annotated[int, _whole(1, 1_000_000)]
Currency = Annotated[str, _text(3, "^[A-Z]{3}$")]

MEMBERS_MAX = 10_000
"""Maximum members, evenings and keys that a club ever has."""
MemberNumber = Annotated[int, _whole(1, MEMBERS_MAX)]
Givers = Annotated[tuple[MemberNumber, ...], at_most(MEMBERS_MAX)]
"""Members who gave or confirmed a key or token, or may know its secret or invitation code."""
EveningNumber = Annotated[int, _whole(1, MEMBERS_MAX)]
TableNumber = Annotated[int, _whole(1, 999)]
Years = Annotated[int, _whole(0, 100)]
ENTRIES_MAX = 1_000_000_000
EntryNumber = Annotated[int, _whole(1, ENTRIES_MAX)]
"""Number of an entry in a club's books, from 1, without gaps."""
EntryCount = Annotated[int, _whole(0, ENTRIES_MAX)]
"""Number of the last entry; 0: the books have no entry."""
InvitationNumber = Annotated[int, _whole(1, VERSION_MAX)]
OfficialPlace = Annotated[int, _whole(1, OFFICIALS_MAX)]
ProposalNumber = Annotated[int, _whole(1, VERSION_MAX)]
ClosingNumber = Annotated[int, _whole(1, VERSION_MAX)]

Code = Annotated[str, _text(64, "^[A-Za-z0-9][A-Za-z0-9_-]*$")]
"""Code, not translated."""
Topic = Annotated[str, _text(64, "^[a-z-]+/[a-z-]+$")]
Codes = Annotated[tuple[Code, ...], at_most(RULES_MAX)]
Note = Annotated[str, _text(NOTE_MAX, NOTE)]
PROSE_MAX = 2000
"""Maximum characters of a person's text in a case."""
Text = Annotated[str, _text(PROSE_MAX, NOTE)]
Sentence = Annotated[str, _text(SENTENCE_MAX, r"\S")]

SharedBy = Annotated[str, _text(6, "^([A-Z](-[A-Z])?[0-9]{1,3})?$")]
"""Id of a rule; empty if no pot is shared."""
Key = Annotated[str, _text(128, "^[!-}][!-~]{0,127}$")]
Path = Annotated[str, _text(1024, "^/v1/[!-~]+$")]
MatchId = Annotated[str, Meta(extra_json_schema={"format": "uuid", "maxLength": 36})]
Cursor = Annotated[str, _text(256, "^[A-Za-z0-9_=-]+$")]
Digest = Annotated[str, _text(16, "^[0-9a-f]{16}$")]
Hash = Annotated[str, _text(64, "^[0-9a-f]{64}$")]
HiddenHash = Annotated[str, _text(64, "^([0-9a-f]{64})?$")]
"""Hash that is never shown: empty in all answers."""
Token = Annotated[str, _text(43, "^[A-Za-z0-9_-]{43}$")]
