"""Entry of a whole deal from a score sheet, as a series of acts."""

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

Take = Callable[[Any, Request, Moment], tuple[tuple[Event, ...], Any]]


def as_game_result(kind: type[msgspec.Struct], result: Result) -> Any:
    """Return the result as the game's type. Raises ``AgainstTheRules`` if a field is missing or not of the game."""
    given = {name: value for name in result.__struct_fields__ if (value := getattr(result, name)) != _DEFAULTS[name]}
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for name, value in given.items():
        if name not in fields:
            raise AgainstTheRules("not_in_the_result", None, at=f"/{name}", allowed=tuple(fields))
        given[name] = msgspec.convert(value, fields[name].type, from_attributes=True)
    for name, field in fields.items():
        if field.required and name not in given:
            raise AgainstTheRules("missing_in_the_result", None, at=f"/{name}")
    return kind(**given)


_DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(Result)}


def result_decision(
    kind: type[msgspec.Struct], script: Callable[[Any, Any], Script], take: Take
) -> Callable[[Any, Result, Moment], tuple[Event, ...]]:
    """Return a decision on results. It returns ``ResultEntered`` and the events of the acts in ``script``.

    It raises the first refusal. ``facts["at"]`` is a JSON pointer to the place in the result.
    """

    def entered(state: Any, result: Result, moment: Moment) -> tuple[Event, ...]:
        events: tuple[Event, ...] = (ResultEntered(result=result),)
        acts, after = script(state, as_game_result(kind, result)), None
        while True:
            try:
                at, request = acts.send(after)
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
