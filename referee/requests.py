"""Requests to and by officials, as sent and as stored; the union of all requests."""

from typing import Annotated

from msgspec import Meta

from referee import wire_types
from referee.acts import Act, Knock, Note, Offence, Result
from referee.admission import Invite, IssueToken, RedeemInvitation
from referee.officials.events.corrections import Script, Why
from referee.value import OFFENCE_SAYS, VERSION_MAX, CaseKind, RuleId, SeatSent, Standard, Value, Verdict

NumberSent = Annotated[int, Meta(ge=1, le=VERSION_MAX)]
"""Number of a deal, a case or an event."""
NAMED_MAX = 64
"""Maximum events, deals or rulings that one request names."""
EventsSent = Annotated[tuple[NumberSent, ...], Meta(max_length=NAMED_MAX)]
Prose = Annotated[str, Meta(max_length=wire_types.PROSE_MAX, extra_json_schema={"pattern": wire_types.NOTE})]


class Proceeding(Value, forbid_unknown_fields=True, omit_defaults=True):
    """A request to or by officials."""


class OpenCase(Proceeding, tag_field="act", tag="case"):
    """Open a case. Only an official opens one about an offence: a seat knocks instead."""

    kind: CaseKind
    seat: SeatSent | None = None
    """Seat that opens the case; left out: an official opens it."""
    accused: SeatSent | None = None
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)] | None = None
    """Offence; left out: the case is about a line or a misclick."""
    note: Note = ""
    """Note that is stored with the case."""
    deal: NumberSent | None = None
    """Number of the deal; left out: the deal under way."""
    result: Result | None = None
    """Right result of the deal; left out: the case is not about a line."""


class StatementSent(Proceeding):
    """A seat's statement about the facts. A seat's last statement counts."""

    seat: SeatSent
    agrees: bool
    """True if the seat agrees with the opener of the case."""
    events: EventsSent = ()
    text: Prose = ""
    """Seat's own words."""


class Statement(StatementSent, kw_only=True, tag_field="act", tag="statement"):
    """A statement as stored, with its case."""

    case: NumberSent


class Withdrawal(Proceeding, tag_field="act", tag="withdrawal"):
    """The opener of a case withdraws it."""

    case: NumberSent
    seat: SeatSent | None = None
    """Seat that opened the case; left out: an official opened it."""


class AppealSent(Proceeding):
    """A party asks for a different official, or the official who ruled reports an error of their own."""

    seat: SeatSent | None = None
    """Seat that appeals; left out: the official who ruled (J10)."""
    text: Prose = ""
    """Reasons."""


class Appeal(AppealSent, kw_only=True, tag_field="act", tag="appeal"):
    """An appeal as stored, with its case."""

    case: NumberSent


class RemedySent(Value, forbid_unknown_fields=True, omit_defaults=True):
    """Consequences of a ruling in addition to the price of the offence."""

    void: bool = False
    """Void the deal under way: it is dealt again."""
    result: Result | None = None
    """Result of the scored deal. It replaces all acts and knocks since the cards were dealt."""
    strike: Annotated[tuple[NumberSent, ...], Meta(max_length=NAMED_MAX)] = ()
    """Later deals to strike: a wrong score decided whether they were played, or how they ended."""


class PrecedentSent(Value, forbid_unknown_fields=True):
    """An earlier ruling that this ruling follows."""

    match: Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", max_length=36)]
    case: NumberSent


RuleSent = Annotated[RuleId, Meta(pattern="^[A-Z](-[A-Z])?[0-9]{1,3}$", max_length=6)]


class RulingSent(Proceeding):
    """The ruling of an official."""

    verdict: Verdict
    standard: Standard
    rule: RuleSent
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)] | None = None
    """Offence that was committed; left out: the offence that the case names."""
    events: EventsSent = ()
    reason: Prose = ""
    remedy: RemedySent = RemedySent()
    """Further consequences."""
    precedents: Annotated[tuple[PrecedentSent, ...], Meta(max_length=NAMED_MAX)] = ()
    """Earlier rulings that this ruling follows."""


class Ruling(RulingSent, kw_only=True, tag_field="act", tag="ruling"):
    """A ruling as stored, with its case."""

    case: NumberSent


class Correct(Proceeding, tag_field="act", tag="correct"):
    """Score finished deals again (J9), in a case or because of the official's own error (J10)."""

    why: Why
    """Reason for the correction."""
    scripts: Annotated[tuple[Script, ...], Meta(max_length=wire_types.LINES_MAX)] = ()
    """Changes of deals: each replaces the play of a deal, or adds acts before its score."""
    strike: Annotated[tuple[NumberSent, ...], Meta(max_length=wire_types.LINES_MAX)] = ()
    """Numbers of the deals that no longer count."""
    case: wire_types.CaseNumber | None = None
    """Case with the ruling; left out: the correction is not part of a case."""
    beyond_doubt: bool = False
    """True: the facts are beyond reasonable doubt, so the time limit for corrections does not apply (J8)."""


Request = (
    Act
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
"""Any request to a match. The field ``act`` names its type."""


def act_name(request: Value) -> str:
    return str(request.__struct_config__.tag)
