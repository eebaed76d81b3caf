"""All that can be asked of a match, as it stands on record: acts, knocks, and what is asked of its officials."""

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
"""The number of a deal, a case or an event."""
NAMED_MAX = 64
"""So many events, deals or rulings are named at once."""
EventsSent = Annotated[tuple[NumberSent, ...], Meta(max_length=NAMED_MAX)]
Prose = Annotated[str, Meta(max_length=wire_types.PROSE_MAX, extra_json_schema={"pattern": wire_types.NOTE})]
"""What somebody says in a case, in his own words."""


class Proceeding(Value, forbid_unknown_fields=True, omit_defaults=True):
    """What is asked of the officials, where there are any."""


class OpenCase(Proceeding, tag_field="act", tag="case"):
    """A knock that is no question to the events: by an official, or about what stands in the protocol."""

    kind: CaseKind
    seat: SeatSent | None = None
    """Who knocks; left out: an official."""
    accused: SeatSent | None = None
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)] | None = None
    """What was done wrong; left out: the case is about a line of the protocol."""
    note: Note = ""
    """Anything to be kept with it."""
    deal: NumberSent | None = None
    """Which deal it is about; left out: the one under way."""
    result: Result | None = None
    """What that deal came to; left out: it is about an offence."""


class StatementSent(Proceeding):
    """How a seat says that it was. The last that a seat has said counts."""

    seat: SeatSent
    agrees: bool
    """Whether it was as who opened the case says."""
    events: EventsSent = ()
    """The numbers of events that show it."""
    text: Prose = ""
    """In one's own words."""


class Statement(StatementSent, kw_only=True, tag_field="act", tag="statement"):
    """How a seat says that it was."""

    case: NumberSent


class Withdrawal(Proceeding, tag_field="act", tag="withdrawal"):
    """Who opened a case withdraws it."""

    case: NumberSent
    seat: SeatSent | None = None
    """Who opened it; left out: an official."""


class AppealSent(Proceeding):
    """A party asks for another official; or who ruled has found an error of his own."""

    seat: SeatSent | None = None
    """Who appeals; left out by the official who ruled (J10)."""
    text: Prose = ""
    """Why."""


class Appeal(AppealSent, kw_only=True, tag_field="act", tag="appeal"):
    """A party asks for another official, or who ruled has found an error of his own."""

    case: NumberSent


class RemedySent(Value, forbid_unknown_fields=True, omit_defaults=True):
    """What is to follow from a ruling beside the price of the offence."""

    void: bool = False
    """The deal under way counts for nothing and is dealt again."""
    result: Result | None = None
    """What the deal came to, in place of all that was played and knocked for in it since its cards were dealt."""
    strike: Annotated[tuple[NumberSent, ...], Meta(max_length=NAMED_MAX)] = ()
    """Deals whose lines are to be struck, where their end hung on the number."""


class PrecedentSent(Value, forbid_unknown_fields=True):
    """An earlier ruling that is followed."""

    match: Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", max_length=36)]
    """The id of its match."""
    case: NumberSent
    """Its number there."""


RuleSent = Annotated[RuleId, Meta(pattern="^[A-Z](-[A-Z])?[0-9]{1,3}$", max_length=6)]


class RulingSent(Proceeding):
    """What an official rules."""

    verdict: Verdict
    """Whether who opened the case is right."""
    standard: Standard
    """How sure the facts are."""
    rule: RuleSent
    """What it is based on: a rule of the game, or of the procedure."""
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)] | None = None
    """What was done; left out: what the case says."""
    events: EventsSent = ()
    """The numbers of the events that show it."""
    reason: Prose = ""
    """Why."""
    remedy: RemedySent = RemedySent()
    """What follows beside the price of the offence."""
    precedents: Annotated[tuple[PrecedentSent, ...], Meta(max_length=NAMED_MAX)] = ()
    """Earlier rulings that it follows."""


class Ruling(RulingSent, kw_only=True, tag_field="act", tag="ruling"):
    """What an official rules."""

    case: NumberSent


class Correct(Proceeding, tag_field="act", tag="correct"):
    """By the official: deals that are over are scored anew (J9), in a case or for an error of his own (J10)."""

    why: Why
    """What it rests on."""
    scripts: Annotated[tuple[Script, ...], Meta(max_length=wire_types.LINES_MAX)] = ()
    """What deals are scored with beside what was played, or in its place."""
    strike: Annotated[tuple[NumberSent, ...], Meta(max_length=wire_types.LINES_MAX)] = ()
    """The numbers of deals that shall count for nothing."""
    case: wire_types.CaseNumber | None = None
    """The case that it was ruled in; left out: none."""
    beyond_doubt: bool = False
    """It is beyond reasonable doubt: so it may be done when the correction time is over (J8)."""


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
"""Whatever can be asked; on record its tag tells a knock from an act."""

request_of: Callable[[bytes], Request] = msgspec.json.Decoder(Request).decode
"""What was asked, from how it stands on record."""


def act_name(request: Value) -> str:
    """The name that a request goes by on the wire."""
    return str(request.__struct_config__.tag)
