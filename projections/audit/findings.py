"""What an audit finds, and where."""

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
        description="What is checked. `entries_balance`: each entry adds up to 0, in one currency. `numbers`: "
        "entries are numbered without a gap, in the order of the log, and no date is before the one before. "
        "`running_balances`: what stands on an account after a posting is what stood there before and the posting. "
        "`settlements`: each entry is what its match comes to, or what its event says. `derivations`: the lines of a "
        "match add up to what it has said. `closings`: each closing has the digest and the balances of its entries. "
        "`chain`: each row names the hash of the row before, and none is missing. `log`: the rows are the leaves of "
        "the log that is signed. `names`: each name and text is the one that was put. `two_persons`: members "
        "made the acts about money, and what needs two was confirmed by another than the sender, as proposed. "
        "`pot_not_negative`: no pot has given more than it had.",
    ),
]
CHECKS: tuple[str, ...] = get_args(get_args(Check)[0])
TOLD_MAX = 100
"""Differences of one check that are told, of however many there are."""
SHORT = 200
"""Characters that are told of what stands somewhere."""
Said = Annotated[str, Meta(extra_json_schema={"pattern": r"^[\s\S]*$", "maxLength": SHORT})]
LeafNumber = Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": wire_types.EXACT_MAX})]


class Difference(Value):
    """Something that is not as it should be, and its place: what of a place does not apply is null."""

    code: wire_types.Code
    """What is wrong."""
    entry: wire_types.EntryNumber | None = None
    """At which entry of the books."""
    aggregate: wire_types.MatchId | None = None
    """In which match, or in the club itself."""
    event: EventNumber | None = None
    """At which event of it."""
    closing: wire_types.ClosingNumber | None = None
    """At which closing."""
    account: Account | None = None
    """On which account."""
    leaf: LeafNumber | None = None
    """At which place of the log, counted from 0."""
    member: wire_types.MemberNumber | None = None
    """Of which member."""
    stands: Said = ""
    """What stands there; empty: nothing."""
    should: Said = ""
    """What should; empty: nothing."""


class Findings:
    """What has been found until now: of each check how much it was, and the first few."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(CHECKS, 0)
        self.told: dict[str, list[Difference]] = {check: [] for check in CHECKS}

    def say(self, check: Check, code: str, *, stands: Any = "", should: Any = "", **place: Any) -> None:
        """There is a difference; ``place``: fields of :class:`Difference`."""
        self.counts[check] += 1
        place = {name: value for name, value in place.items() if _is_place(name, value)}
        if len(self.told[check]) < TOLD_MAX:
            self.told[check].append(Difference(code=code, stands=_short(stands), should=_short(should), **place))


def _is_place(name: str, value: Any) -> bool:
    """Whether it is one: somebody may have written anything."""
    if name in ("aggregate", "account"):
        return isinstance(value, str) and (name == "aggregate" or is_account(value))
    return isinstance(value, int) and value >= (name != "leaf")


def is_account(name: str) -> bool:
    """Whether there is such an account."""
    return re.fullmatch(ACCOUNT, name) is not None


def _short(what: Any) -> str:
    text = str(what)
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"
