"""The differences that an audit finds."""

import re
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

from referee import wire_types
from referee.clubs.facts import ACCOUNT, Account
from referee.value import EventNumber, Value

Check = Annotated[
    Literal[
        "entries_balance",
        "numbers",
        "running_balances",
        "settlements",
        "derivations",
        "closings",
        "chain",
        "log",
        "names",
        "two_persons",
        "pot_not_negative",
    ],
    Meta(
        title="Check",
        description="The check. `entries_balance`: each entry adds up to 0, in one currency. `numbers`: entries "
        "are numbered without a gap, in the order of the log, and no date is before the previous one. "
        "`running_balances`: the balance after a posting is the balance before it plus the posting. `settlements`: "
        "each entry is the result of its match, or the amounts of its event. `derivations`: the lines of a match add "
        "up to its result. `closings`: each closing has the digest and the balances of its entries. `chain`: each "
        "row has the hash of the row before, and no row is missing. `log`: the rows are the leaves of the signed "
        "log. `names`: each name and text is the one that was entered. `two_persons`: members made the acts about "
        "money, and acts that need two members were confirmed by a different one than the sender, as proposed. "
        "`pot_not_negative`: no pot has given more than it had.",
    ),
]
CHECKS: tuple[str, ...] = get_args(get_args(Check)[0])
DIFFERENCES_MAX = 100
"""Maximum listed differences of a check."""
SHOWN_MAX = 200
"""Maximum shown characters of a value."""
ShownValue = Annotated[str, Meta(extra_json_schema={"pattern": r"^[\s\S]*$", "maxLength": SHOWN_MAX})]
LeafNumber = Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": wire_types.EXACT_MAX})]


class Difference(Value):
    """An actual and an expected value that differ, and their place: the fields `entry` to `member`."""

    code: wire_types.Code
    """Kind of difference."""
    entry: wire_types.EntryNumber | None = None
    """Number of the entry."""
    aggregate: wire_types.MatchId | None = None
    """Id of the match or club."""
    event: EventNumber | None = None
    """Number of the event in the match or club."""
    closing: wire_types.ClosingNumber | None = None
    """Number of the closing."""
    account: Account | None = None
    leaf: LeafNumber | None = None
    """Number of the leaf in the log, from 0."""
    member: wire_types.MemberNumber | None = None
    stands: ShownValue = ""
    """Actual value; empty: it does not exist."""
    should: ShownValue = ""
    """Expected value; empty: it should not exist."""


class Findings:
    """The number of differences found by each check, and the first of them."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(CHECKS, 0)
        self.shown: dict[str, list[Difference]] = {check: [] for check in CHECKS}

    def add(self, check: Check, code: str, *, stands: Any = "", should: Any = "", **place: Any) -> None:
        """Count a difference, and keep the first. ``place``: fields of :class:`Difference`, dropped if unfit."""
        self.counts[check] += 1
        place = {name: value for name, value in place.items() if _fits_field(name, value)}
        if len(self.shown[check]) < DIFFERENCES_MAX:
            self.shown[check].append(Difference(code=code, stands=_shorten(stands), should=_shorten(should), **place))


def _fits_field(name: str, value: Any) -> bool:
    """Return whether a value fits the field. A damaged row may have any."""
    if name in ("aggregate", "account"):
        return isinstance(value, str) and (name == "aggregate" or is_account(value))
    return isinstance(value, int) and value >= (name != "leaf")


def is_account(name: str) -> bool:
    return re.fullmatch(ACCOUNT, name) is not None


def _shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 1] + "…"
