"""Declares the parameters of several calls."""

from typing import Annotated, Any
from uuid import UUID

from litestar.params import PathParameter, QueryParameter

from referee.value import VERSION_MAX

NUMBER_MAX = 1_000_000_000
"""Maximum version or event number in a query. All databases store it."""

WAIT_MAX = 25
"""Maximum seconds of a wait. Proxies give up after 30 or 60 seconds."""
NUMBER: dict[str, Any] = {"minimum": 1, "maximum": VERSION_MAX}

MatchId = Annotated[
    UUID, PathParameter(name="match", description="The id of a match.", schema_extra={"maxLength": 36})
]
ClubId = Annotated[UUID, PathParameter(name="club", description="The id of a club.", schema_extra={"maxLength": 36})]
DealNumber = Annotated[int, PathParameter(description="The number of a deal, from 1.", schema_extra=NUMBER)]
CaseNumber = Annotated[
    int, PathParameter(name="knock", description="The number of a knock or a case, from 1.", schema_extra=NUMBER)
]
EventAsked = Annotated[int, PathParameter(description="The number of an event, from 1.", schema_extra=NUMBER)]
RULESET_KEY: dict[str, Any] = {"pattern": "^[a-z0-9-]+$", "maxLength": 64}
RulesetKey = Annotated[
    str, PathParameter(description="The key of a game, such as `rodskagg-kortoxen`.", schema_extra=RULESET_KEY)
]
OfRuleset = Annotated[str | None, QueryParameter(description="Only those of this game.", schema_extra=RULESET_KEY)]
Fresh = Annotated[bool, QueryParameter(description="Whether to wait for what was just stored.")]
RULE_ID: dict[str, Any] = {"pattern": "^[A-Z](-[A-Z])?[0-9]{1,3}$", "maxLength": 6}
RuleId = Annotated[
    str,
    PathParameter(description="The id of a rule or a reading, such as `B42` or `B-O2`.", schema_extra=RULE_ID),
]

MinVersion = Annotated[
    int,
    QueryParameter(
        ge=0,
        le=NUMBER_MAX,
        description="Wait briefly for the match to reach this version, to read what was just written. 409 if not.",
    ),
]
ClubMinVersion = Annotated[
    int,
    QueryParameter(
        ge=0,
        le=NUMBER_MAX,
        description="Wait briefly for the club to reach this version, to read what was just written. 409 if not.",
    ),
]
Wait = Annotated[
    int,
    QueryParameter(ge=0, le=WAIT_MAX, description="The longest wait for something new, in seconds."),
]
After = Annotated[int, QueryParameter(ge=0, le=NUMBER_MAX, description="Only events after this number.")]
