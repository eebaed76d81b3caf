"""What events and answers tell, and between what bounds it lies.

The bounds are for the description of the interface: nothing is checked by them when a row is read, for what stands on
record stays. What is sent is checked, by the types of ``acts`` and of the calls.
"""

from typing import Annotated, TypeVar

from msgspec import Meta

from referee.value import VERSION_MAX, CardText, EventNumber, Seat

SEATS_MAX = 8
CARDS_MAX = 52
ACTS_MAX = 1100
"""Acts that are listed for a seat: who throws cards away may do it in a thousand ways, and little else beside."""
LINES_MAX = 1000
"""Deals that one correction may be about."""
GAMES_MAX = 100
RULES_MAX = 500
"""Numbered rules of a game, and readings of it."""
NAME_MAX = 100
NAME = r"[^\s\x1c-\x1f\x85]"
"""Not only blanks: those of Python, which has five more of them than JSON Schema."""
EVENT_BYTES_MAX = 65_536
"""Of an event as JSON: a deal with all its hands has some thousand, and what was asked for about as many."""
TEXT_MAX = 2**31 - 1
"""A whole match as text: its events, of some kilobytes each at most, come to less."""
SENTENCE_MAX = 2000
"""A rule, or a ruling with the names of all that it speaks of."""
NOTE_MAX = 500
NOTE = r"^[^\x00-\x1F\x7F]*$"
"""No control characters: who sends one is told which and where."""
EXACT_MAX = 2**53 - 1
"""Above this a number is not the same to every reader of JSON."""


def _whole(least: int, most: int) -> Meta:
    return Meta(extra_json_schema={"minimum": least, "maximum": most})


def _text(most: int, pattern: str) -> Meta:
    return Meta(extra_json_schema={"maxLength": most, "pattern": pattern})


def at_most(items: int) -> Meta:
    """A list of so many."""
    return Meta(extra_json_schema={"maxItems": items})


T = TypeVar("T")
ListOfMany = Annotated[list[T], at_most(VERSION_MAX)]
ListBySeat = Annotated[list[T], at_most(SEATS_MAX)]
BySeat = Annotated[tuple[T, ...], at_most(SEATS_MAX)]
Many = Annotated[tuple[T, ...], at_most(VERSION_MAX)]
"""No more than the match has events."""

Seats = BySeat[Seat]
Name = Annotated[str, _text(NAME_MAX, NAME)]
Names = BySeat[Name]
OFFICIALS_MAX = 9
Officials = Annotated[tuple[Name, ...], at_most(OFFICIALS_MAX)]

Cards = Annotated[tuple[CardText, ...], at_most(CARDS_MAX)]
Hands = BySeat[Cards]
DrawnList = Annotated[list[tuple[Seat, CardText]], at_most(CARDS_MAX)]
"""Cards turned up, and by whom."""
Suit = Annotated[str, _text(1, "^[SHDC]$")]
Rank = Annotated[str, _text(1, "^[2-9TJQKA]$")]
Count = Annotated[int, _whole(0, CARDS_MAX)]
"""Of cards, or of tricks."""
Counts = BySeat[Count]
TrickNumber = Annotated[int, _whole(1, CARDS_MAX)]
Seed = Annotated[str, _text(75, "^([0-9a-f]{32}|2:[0-9]{1,6}:[0-9a-f]{64})$")]
"""The house's own, or of a shuffle that was committed to: 2, the number of the event before the act, and the key."""
Entropy = Annotated[str, _text(64, "^[0-9a-f]{32,64}$")]
ENTROPY_SECONDS_MAX = 60
EntropySeconds = Annotated[int, _whole(0, ENTROPY_SECONDS_MAX)]

Events = Many[EventNumber]
"""By number."""
DealNumber = Annotated[int, _whole(0, VERSION_MAX)]
"""From 1; 0 before the first."""
CaseNumber = Annotated[int, _whole(1, VERSION_MAX)]
Cases = Annotated[tuple[CaseNumber, ...], at_most(VERSION_MAX)]
Deals = Annotated[tuple[DealNumber, ...], at_most(VERSION_MAX)]
Instance = Annotated[int, _whole(1, VERSION_MAX)]
MINUTES_MAX = 10_080
"""A week."""
Minutes = Annotated[int, _whole(0, MINUTES_MAX)]
AttemptNumber = Annotated[int, _whole(1, EXACT_MAX)]
Edition = Annotated[int, _whole(1, 9999)]
Tally = Annotated[int, _whole(0, VERSION_MAX)]
"""Of what events tell."""
Lag = Annotated[int, _whole(0, EXACT_MAX)]

WholePoints = Annotated[int, _whole(-EXACT_MAX, EXACT_MAX)]
"""As an event has them: where it says so, halves."""
PointsBySeat = BySeat[WholePoints]
Money = Annotated[int, _whole(-EXACT_MAX, EXACT_MAX)]
"""Minor units of the currency of the stakes; without stakes, tricks."""
MoneyBySeat = BySeat[Money]
Unit = Annotated[int, _whole(1, 1_000_000)]
Currency = Annotated[str, _text(3, "^[A-Z]{3}$")]

MEMBERS_MAX = 10_000
"""That a club may have had, all in all; and evenings, and keys."""
MemberNumber = Annotated[int, _whole(1, MEMBERS_MAX)]
"""A member of a club, from 1 on: no number is given twice."""
EveningNumber = Annotated[int, _whole(1, MEMBERS_MAX)]
TableNumber = Annotated[int, _whole(1, 999)]
Years = Annotated[int, _whole(0, 100)]
ENTRIES_MAX = 1_000_000_000
"""More than the books of a club will have."""
EntryNumber = Annotated[int, _whole(1, ENTRIES_MAX)]
"""Of an entry in a club's books, from 1 on, in the order of the log: none is left out or given twice."""
EntryCount = Annotated[int, _whole(0, ENTRIES_MAX)]
"""The number of the last entry; 0: there is none."""
InvitationNumber = Annotated[int, _whole(1, VERSION_MAX)]
"""Of an invitation in its match or club, from 1."""
OfficialPlace = Annotated[int, _whole(1, OFFICIALS_MAX)]
"""Which of the officials that a match names, from 1."""
ProposalNumber = Annotated[int, _whole(1, VERSION_MAX)]
ClosingNumber = Annotated[int, _whole(1, VERSION_MAX)]

Code = Annotated[str, _text(64, "^[A-Za-z0-9][A-Za-z0-9_-]*$")]
"""A word of the interface that is the same in every language."""
Topic = Annotated[str, _text(64, "^[a-z-]+/[a-z-]+$")]
"""What kind of event it is."""
Codes = Annotated[tuple[Code, ...], at_most(RULES_MAX)]
Note = Annotated[str, _text(NOTE_MAX, NOTE)]
PROSE_MAX = 2000
"""Of what is said in a case."""
Text = Annotated[str, _text(PROSE_MAX, NOTE)]
Sentence = Annotated[str, _text(SENTENCE_MAX, r"\S")]

SharedBy = Annotated[str, _text(6, "^([A-Z](-[A-Z])?[0-9]{1,3})?$")]
"""A rule; empty where nothing is shared."""
Key = Annotated[str, _text(128, "^[!-}][!-~]{0,127}$")]
Path = Annotated[str, _text(1024, "^/v1/[!-~]+$")]
"""Where it can be read, from here."""
MatchId = Annotated[str, Meta(extra_json_schema={"format": "uuid", "maxLength": 36})]
Cursor = Annotated[str, _text(256, "^[A-Za-z0-9_=-]+$")]
Digest = Annotated[str, _text(16, "^[0-9a-f]{16}$")]
Hash = Annotated[str, _text(64, "^[0-9a-f]{64}$")]
HiddenHash = Annotated[str, _text(64, "^([0-9a-f]{64})?$")]
"""Nobody is told: it is empty in all that is shown."""
Token = Annotated[str, _text(43, "^[A-Za-z0-9_-]{43}$")]
