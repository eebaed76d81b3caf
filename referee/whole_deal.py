"""A deal entered whole: what a score sheet tells is done act by act, as it would have been at the table.

One refusal refuses all of it, and says where in the result it rests (``facts.at``, a JSON pointer).
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from referee.acts import Result
from referee.officials.events.tally import ResultEntered
from referee.refusals import AgainstTheRules, Refused
from referee.requests import Request
from referee.ruleset import Moment, Script
from referee.visibility import Event

Taking = Callable[[Any, Request, Moment], tuple[tuple[Event, ...], Any]]


def told_as(kind: type[msgspec.Struct], result: Result) -> Any:
    """The result as its game tells it; refuses what the game does not know, and what it cannot do without."""
    told = {name: value for name in result.__struct_fields__ if (value := getattr(result, name)) != _USUAL[name]}
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for name, value in told.items():
        if name not in fields:
            raise AgainstTheRules("not_in_the_result", None, at=f"/{name}", allowed=tuple(fields))
        try:
            told[name] = msgspec.convert(value, fields[name].type, from_attributes=True)
        except msgspec.ValidationError:
            raise AgainstTheRules("told_otherwise", None, at=f"/{name}") from None
    for name, field in fields.items():
        if field.required and name not in told:
            raise AgainstTheRules("missing_in_the_result", None, at=f"/{name}")
    return kind(**told)


_USUAL = {field.name: field.default for field in msgspec.structs.fields(Result)}


def entering(
    kind: type[msgspec.Struct], script: Callable[[Any, Any], Script], take: Taking
) -> Callable[[Any, Result, Moment], tuple[Event, ...]]:
    """The decision on a result of a game: all events of the acts that it stands for, or the first refusal."""

    def entered(state: Any, result: Result, moment: Moment) -> tuple[Event, ...]:
        events: tuple[Event, ...] = (ResultEntered(result=result),)
        doing, after = script(state, told_as(kind, result)), None
        while True:
            try:
                at, request = doing.send(after)
            except StopIteration:
                return events
            try:
                news, after = take(
                    state if after is None else after, request, replace(moment, version=moment.version + len(events))
                )
            except Refused as refused:
                refused.facts["at"] = at
                raise
            events += news

    return entered
