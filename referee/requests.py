"""All requests to a match in their stored form: acts, knocks, and requests to the officials."""

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from referee import wire_types
from referee.acts import AnyAct, Knock, Note, Offence, Result
from referee.admission import Invite, IssueToken, RedeemInvitation
from referee.officials.events.corrections import Script, Why
from referee.value import OFFENCE_SAYS, VERSION_MAX, CaseKind, RuleId, SeatSent, Standard, Value, Verdict

NumberSent = Annotated[int, Meta(ge=1, le=VERSION_MAX)]
"""Number of a deal, a case or an event."""
NAMED_MAX = 64
"""Events, deals or rulings that one request may name."""
EventsSent = Annotated[tuple[NumberSent, ...], Meta(max_length=NAMED_MAX)]
Prose = Annotated[str, Meta(max_length=wire_types.PROSE_MAX, extra_json_schema={"pattern": wire_types.NOTE})]


class Proceeding(Value, forbid_unknown_fields=True, omit_defaults=True):
    """A request to the officials of a match."""


class OpenCase(Proceeding, tag_field="act", tag="case"):
    """A knock that the recorded events cannot decide: by an official, or about a line of the protocol."""

    kind: CaseKind
    seat: SeatSent | None = None
    """Seat that knocks; left out: an official knocks."""
    accused: SeatSent | None = None
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)] | None = None
    """The offence; left out: the case is about a line of the protocol."""
    note: Note = ""
    """A note that is stored with the case."""
    deal: NumberSent | None = None
    """Number of the deal; left out: the deal under way."""
    result: Result | None = None
    """The right result of that deal; left out: the case is about an offence."""


class StatementSent(Proceeding):
    """A seat's account of the facts. The last account of a seat counts."""

    seat: SeatSent
    agrees: bool
    """True if the seat agrees with the opener of the case."""
    events: EventsSent = ()
    text: Prose = ""
    """The seat's own words."""


class Statement(StatementSent, kw_only=True, tag_field="act", tag="statement"):
    """A seat's account of the facts in a case."""

    case: NumberSent


class Withdrawal(Proceeding, tag_field="act", tag="withdrawal"):
    """The opener of a case withdraws it."""

    case: NumberSent
    seat: SeatSent | None = None
    """Seat that opened the case; left out: an official did."""


class AppealSent(Proceeding):
    """A party asks for a different official, or the official who ruled reports an error of their own."""

    seat: SeatSent | None = None
    """Seat that appeals; left out by the official who ruled (J10)."""
    text: Prose = ""
    """The reasons."""


class Appeal(AppealSent, kw_only=True, tag_field="act", tag="appeal"):
    """An appeal against the ruling on a case."""

    case: NumberSent


class RemedySent(Value, forbid_unknown_fields=True, omit_defaults=True):
    """Consequences of a ruling in addition to the price of the offence."""

    void: bool = False
    """Void the deal under way: it is dealt again."""
    result: Result | None = None
    """Result of the deal. It replaces everything played and knocked for since the cards were dealt."""
    strike: Annotated[tuple[NumberSent, ...], Meta(max_length=NAMED_MAX)] = ()
    """Deals to strike: they were played, or ended as they did, only through the wrong number."""


class PrecedentSent(Value, forbid_unknown_fields=True):
    """An earlier ruling."""

    match: Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", max_length=36)]
    case: NumberSent


RuleSent = Annotated[RuleId, Meta(pattern="^[A-Z](-[A-Z])?[0-9]{1,3}$", max_length=6)]


class RulingSent(Proceeding):
    """The ruling of an official."""

    verdict: Verdict
    """Decision on the claim of the opener."""
    standard: Standard
    rule: RuleSent
    """A rule of the game, or of the procedure."""
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)] | None = None
    """The offence that was committed; left out: the offence that the case names."""
    events: EventsSent = ()
    reason: Prose = ""
    """The reasons."""
    remedy: RemedySent = RemedySent()
    """Consequences in addition to the price of the offence."""
    precedents: Annotated[tuple[PrecedentSent, ...], Meta(max_length=NAMED_MAX)] = ()
    """Earlier rulings that this ruling follows."""


class Ruling(RulingSent, kw_only=True, tag_field="act", tag="ruling"):
    """The ruling of an official on a case."""

    case: NumberSent


class Correct(Proceeding, tag_field="act", tag="correct"):
    """An official has finished deals scored again (J9), in a case or for an error of the official's own (J10)."""

    why: Why
    """Reason for the correction."""
    scripts: Annotated[tuple[Script, ...], Meta(max_length=wire_types.LINES_MAX)] = ()
    """Scripts that these deals are scored with, in addition to the play or instead of it."""
    strike: Annotated[tuple[NumberSent, ...], Meta(max_length=wire_types.LINES_MAX)] = ()
    """Numbers of the deals that no longer count."""
    case: wire_types.CaseNumber | None = None
    """The case in which it was ruled; left out: in no case."""
    beyond_doubt: bool = False
    """True if the correction is beyond reasonable doubt: it may then be made after the correction time (J8)."""


Request = (
    AnyAct
    | Knock
    | IssueToken
    | Invite
    | RedeemInvitation
    | OpenCase
    | Statement
    | Withdrawal
    | Appeal
    | Ruling
    | Correct
)
"""Any request to a match. Its stored tag distinguishes a knock from an act."""

request_of: Callable[[bytes], Request] = msgspec.json.Decoder(Request).decode


def act_name(request: Value) -> str:
    """Return the name of a request in the API."""
    return str(request.__struct_config__.tag)
