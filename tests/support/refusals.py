"""The refusals that the source of the referee makes, read from its syntax trees, with an example of each.

The conformance matches have many of them, with the rule and the facts that a client gets. Of the others the source
names the rule.

``python -m tests.support.refusals > api/docs/refusals.toml`` writes the list that the service reads.
"""

import ast
import json
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import referee
from referee.games import RULESETS
from referee.games.rodskagg_kortoxen.states import CITES
from referee.refusals import Refused, WrongPhase
from referee.requests import Request
from referee.visibility import Event
from tests.conformance.replay import Direct, Refusal, matches, play

assert RULESETS, "the games are loaded, and with them the refusals of their own"


class Use(NamedTuple):
    """A place in the source that makes a refusal."""

    code: str
    kind: type[Refused]
    facts: frozenset[str]
    place: str
    rule: str | None = None
    """The rule that the source names. ``None``: it names none, or chooses one when it runs."""


def _kinds(kind: type[Refused] = Refused) -> Iterator[type[Refused]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


def _codes(node: ast.expr, assigned: dict[str, list[ast.expr]], place: str) -> set[str]:
    """The literals that an expression can be; a variable of the function is followed to what it is given."""
    match node:
        case ast.Constant(str() as code):
            return {code}
        case ast.IfExp(_, one, other):
            return _codes(one, assigned, place) | _codes(other, assigned, place)
        case ast.Name(name) | ast.Subscript(ast.Name(name)) if name in assigned:
            return {code for value in assigned[name] for code in _codes(value, assigned, place)}
        case ast.Dict(values=values):  # a table, in which one of them is looked up
            return {code for value in values for code in _codes(value, assigned, place)}
    raise ValueError(f"{place}: cannot tell which codes {ast.unparse(node)} stands for")


def _rule(node: ast.expr | None) -> str | None:
    """Return the rule that an expression names, if it can be read. Names of ``cites`` are rules of Kortoxen."""
    match node:
        case ast.Constant(str() as rule):
            return rule
        case ast.Attribute(ast.Name("cites" | "CITES") | ast.Attribute(attr="cites"), name):
            found = getattr(CITES, name, None)
            return found if isinstance(found, str) else None
        case ast.BoolOp(values=values):
            return next(filter(None, map(_rule, values)), None)
        case ast.IfExp(_, one, other):
            return _rule(one) or _rule(other)
    return None


def _called(node: ast.expr) -> str:
    """The last name of what is called."""
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
    return ""


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Every call, and the innermost function around it."""
    left: deque[tuple[ast.AST, ast.AST]] = deque([(tree, tree)])
    while left:
        node, scope = left.popleft()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            scope = node
        if isinstance(node, ast.Call):
            yield node, scope
        left.extend((child, scope) for child in ast.iter_child_nodes(node))


def uses(source: str, file: str) -> Iterator[Use]:
    """Every refusal that a source file makes. Raises ``ValueError`` where its code cannot be read."""
    kinds = {kind.__name__: kind for kind in _kinds()}
    tree = ast.parse(source)
    for call, scope in _calls(tree):
        called, arguments = _called(call.func), call.args
        if called == "refuse" and arguments:  # a decision that only refuses: the kind, then the code
            called, arguments = _called(arguments[0]), arguments[1:]
        kind = kinds.get(called)
        if kind is None:
            continue
        assigned: dict[str, list[ast.expr]] = {}
        for node in (*tree.body, *ast.walk(scope)):
            match node:
                case ast.Assign([ast.Name(name)], value) | ast.NamedExpr(ast.Name(name), value):
                    assigned.setdefault(name, []).append(value)
        place = f"{file}:{call.lineno}"
        given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        first = arguments[0] if arguments else given.get("code")
        if first is None:
            raise ValueError(f"{place}: a refusal without a code")
        facts = frozenset(given) - {"code", "rule"}
        rule = _rule(arguments[1] if len(arguments) > 1 else given.get("rule"))
        for code in sorted(_codes(first, assigned, place)):
            yield Use(code, kind, facts, place, rule)


def all_uses() -> list[Use]:
    """Every refusal that the referee makes."""
    top = Path(referee.__file__).parent
    return [
        use
        for path in sorted(top.rglob("*.py"))
        for use in uses(path.read_text("utf-8"), path.relative_to(top.parent).as_posix())
    ]


def gathered(found: list[Use]) -> dict[str, Use]:
    """The uses by code, in alphabetical order, each with the facts that any of them gives.

    Raises ``ValueError`` if a code goes by two classes.
    """
    by_code: dict[str, Use] = {}
    for use in found:
        first = by_code.setdefault(use.code, use)
        if first.kind is not use.kind:
            raise ValueError(
                f"{use.code} is {first.kind.__name__} at {first.place} and {use.kind.__name__} at {use.place}"
            )
        by_code[use.code] = first._replace(facts=first.facts | use.facts, rule=first.rule or use.rule)
    return dict(sorted(by_code.items()))


class _Noting(Direct):
    """A match in memory that notes the first refusal of each code."""

    def __init__(self, given: dict[str, Any], noted: dict[str, Refused]) -> None:
        super().__init__(given)
        self._noted = noted

    def _do(self, request: Request) -> tuple[Event, ...]:
        try:
            return self.table.do(request)
        except Refused as refused:
            self._noted.setdefault(refused.code, refused)
            raise Refusal(refused.rule, isinstance(refused, WrongPhase)) from None


def played() -> dict[str, Refused]:
    """Return the first refusal of each code in the conformance matches."""
    noted: dict[str, Refused] = {}
    for ruleset in RULESETS:
        for given in matches(ruleset):
            play(_Noting(given, noted), given)
    return noted


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def as_toml(found: dict[str, Use], examples: dict[str, Refused]) -> str:
    """Return the refusals as ``api/docs/refusals.toml`` has them."""
    lines = ["# The refusals of the referee by code: the class that is raised, the names of its facts, and the rule"]
    lines += [
        "# and facts of an example: of a conformance match if it has the refusal, else the rule from the source."
    ]
    lines += ["# Generated by `python -m tests.support.refusals`; do not edit.", ""]
    for code, use in found.items():
        row: dict[str, Any] = {"kind": use.kind.__name__, "facts": sorted(use.facts)}
        example = examples.get(code)
        if rule := use.rule if example is None else example.rule:
            row["rule"] = rule
        if example is not None:
            row["example"] = msgspec.to_builtins(example.facts)
        lines.append(f"{code} = {_toml(row)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(as_toml(gathered(all_uses()), played()))
