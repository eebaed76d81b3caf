"""Break every condition of the games and their kernel once, and show the changes that no test notices: ``make
mutants``.

At most two in a hundred may pass unnoticed. Each of them is named in ``equivalent_mutants.toml``, with the reason why
the game does not change.

mutmut changes the code: a comparison is reversed or moved by one, ``and`` and ``or`` are swapped, a ``not`` is
removed or added, a case of a ``match`` is left out. All tests are collected and run once, to record which test
executes which line. Each change is then made in a process of its own, forked from the one with everything in memory.
There the tests that execute the line run, the quickest first, until one fails. Random deals are left out: a test that
names the rule shall find a broken rule. So are slow tests that check nothing else.
"""

import argparse
import gc
import os
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.machinery import SourceFileLoader
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import MutationVisitor
from mutmut.mutation.mutators import operator_keywords, operator_match, operator_remove_unary_ops, operator_swap_op
from mutmut.mutation.pragma_handling import IgnoredCode

ROOT = Path(__file__).parents[2]
GAMES = "referee/games"
KERNEL = "referee/phases.py"
TESTS = ("tests/games", "tests/officials", "tests/test_golden.py", "tests/conformance/test_directly.py")
LEFT_OUT = ("playout", "random", "the_house_dealt", "lost_in_writing", "over_http", "trying_every_act")
KNOWN = Path(__file__).with_name("equivalent_mutants.toml")
MAY_SURVIVE_SHARE = 0.02
MEMORY_BYTES = 4 << 30


class Mutant(NamedTuple):
    """A change: its place, the lines that differ, and its function."""

    file: str
    line: int
    function: str
    code: str
    change: str
    source: str
    """The whole function without its decorators; the whole file if it is not in a function."""
    defined: int
    """Line at which the function begins; 0 outside a function."""
    passed: range
    """Lines of the condition: a test that executes none of them cannot notice the change."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.file, self.function, self.code, self.change


# What is changed


def bare(node: cst.BaseExpression) -> bool:
    """Return whether a condition can only be reversed as a whole."""
    negated = isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)
    return not negated and not isinstance(node, cst.Comparison | cst.BooleanOperation)


def conditions(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the conditions of a node."""
    if isinstance(node, cst.If | cst.While | cst.IfExp | cst.CompIf):
        yield node.test
    elif isinstance(node, cst.MatchCase) and node.guard:
        yield node.guard
    elif isinstance(node, cst.BooleanOperation):
        yield node.left
        if not isinstance(node.right, cst.Tuple | cst.Dict | cst.BaseNumber | cst.BaseString):
            yield node.right


def turned_round(node: cst.ComparisonTarget) -> Iterable[cst.ComparisonTarget]:
    """Yield the comparison reversed; mutmut only moves it by one."""
    reversed_operators: dict[type[cst.BaseCompOp], Any] = {
        cst.LessThan: cst.GreaterThanEqual,
        cst.LessThanEqual: cst.GreaterThan,
        cst.GreaterThan: cst.LessThanEqual,
        cst.GreaterThanEqual: cst.LessThan,
    }
    if other := reversed_operators.get(type(node.operator)):
        yield node.with_changes(operator=other())


class Conditions(MutationVisitor):
    """mutmut's search for what can be changed, for conditions only, but also in properties."""

    OPERATORS: tuple[tuple[type[cst.CSTNode], Any], ...] = (
        (cst.BooleanOperation, operator_swap_op),
        (cst.ComparisonTarget, operator_swap_op),
        (cst.ComparisonTarget, turned_round),
        (cst.BaseCompOp, operator_keywords),
        (cst.UnaryOperation, operator_remove_unary_ops),
        (cst.Match, operator_match),
    )

    def __init__(self) -> None:
        super().__init__(self.OPERATORS, IgnoredCode(set(), set(), set()))
        self.bare: dict[cst.CSTNode, None] = {}
        self.headers: list[cst.CSTNode] = []
        self.header_of: dict[int, cst.CSTNode] = {}

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Assert | cst.Annotation | cst.Decorator)

    def _create_mutations(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not):
            return
        before = len(self.mutations)
        super()._create_mutations(node)
        self.bare |= {operand: None for operand in conditions(node) if bare(operand)}
        if node in self.bare:
            opened: Any = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            self._operators: tuple[tuple[type[cst.CSTNode], Any], ...] = (
                (cst.CSTNode, lambda _: [cst.UnaryOperation(cst.Not(), opened)]),
            )
            super()._create_mutations(node)
            self._operators = self.OPERATORS
        for mutation in self.mutations[before:]:
            self.header_of[id(mutation)] = self.headers[-1]

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.headers.append(header(node) or (self.headers[-1] if self.headers else node))
        visited: bool = super().on_visit(node)
        return visited

    def on_leave(self, original_node: cst.CSTNode) -> None:
        self.headers.pop()
        super().on_leave(original_node)


def header(node: cst.CSTNode) -> cst.CSTNode | None:
    """Return the part of a statement before its block; ``None`` for other nodes."""
    if isinstance(node, cst.If | cst.While):
        return node.test
    if isinstance(node, cst.For):
        return node.iter
    if isinstance(node, cst.Match):
        return node.subject
    if isinstance(node, cst.MatchCase):
        return node.guard or node.pattern
    return node if isinstance(node, cst.SimpleStatementLine) else None


def mutants(file: str, whole: bool = False) -> Iterator[Mutant]:
    """Yield all changes to a file. ``whole``: with the source of the file instead of one function."""
    wrapper = MetadataWrapper(cst.parse_module((ROOT / file).read_text()))
    visitor = Conditions()
    module = wrapper.visit(visitor)
    position = wrapper.resolve(PositionProvider)
    for mutation in visitor.mutations:
        outer = mutation.contained_by_top_level_function
        if not isinstance(outer, cst.FunctionDef) or whole:
            outer = None
        plain = outer.with_changes(decorators=(), leading_lines=()) if outer else module
        changed = plain.deep_replace(mutation.original_node, mutation.mutated_node)
        was, now = (module.code_for_node(node).splitlines() for node in (plain, changed))
        first, last, other_last = difference(was, now)
        at = position[visitor.header_of[id(mutation)]]
        yield Mutant(
            file,
            (position[outer].start.line if outer else 1) + first,
            outer.name.value if outer else "",
            joined(was[first:last]),
            joined(now[first:other_last]),
            "\n".join(now),
            position[outer.decorators[0] if outer.decorators else outer].start.line if outer else 0,
            range(at.start.line, at.end.line + 1),
        )


def difference(was: list[str], now: list[str]) -> tuple[int, int, int]:
    """Return the first line that differs, and the first equal line after it, in both texts."""
    first = next(number for number, (one, other) in enumerate(zip(was, now, strict=False)) if one != other)
    same = next(back for back, (one, other) in enumerate(zip(was[::-1], now[::-1], strict=False)) if one != other)
    same = min(same, len(was) - first, len(now) - first)
    return first, len(was) - same, len(now) - same


def joined(lines: Iterable[str]) -> str:
    return " ".join(line.strip() for line in lines)


# How it is tried


def put_in(mutant: Mutant, made_already: Mapping[int, list[FunctionType]]) -> None:
    """Replace the code of a function by the mutant, for all references to it and for its inner functions."""
    module = import_module(mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    made: dict[str, Any] = {}
    exec(compile(mutant.source, mutant.file, "exec"), vars(module), made)
    for function in functions(module):
        if (function.__name__, function.__code__.co_firstlineno) == (mutant.function, mutant.defined):
            code = made[mutant.function].__code__
            inner = {one.co_qualname: one for one in within(code)}
            for one in within(function.__code__):
                for closure in made_already.get(id(one), ()):
                    closure.__code__ = inner[one.co_qualname]
            function.__code__ = code
            return
    raise LookupError(f"{mutant.file}:{mutant.line}: no {mutant.function} to change")


def functions(module: Any) -> Iterator[FunctionType]:
    """Yield the functions and methods that a module defines."""
    for value in vars(module).values():
        for function in vars(value).values() if isinstance(value, type) else (value,):
            function = getattr(function, "fget", getattr(function, "__func__", function))
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function


def within(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects in a function, at any depth."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from within(one)


def by_code() -> dict[int, list[FunctionType]]:
    """Return all living functions by the id of their code."""
    found: dict[int, list[FunctionType]] = {}
    for one in gc.get_objects():
        if isinstance(one, FunctionType):
            found.setdefault(id(one.__code__), []).append(one)
    return found


class Trial:
    """The plugin that runs the tests once, and then those that come by each mutant."""

    def __init__(self, mutants: Sequence[Mutant], comes_by: coverage.Coverage) -> None:
        self.mutants, self.coverage = mutants, comes_by
        self.survivors: list[Mutant] = []
        self.when_loaded: list[Mutant] = []
        """Mutants in tables made when the module is loaded: those cannot be changed after that."""
        self.seconds: dict[str, float] = {}
        self.made_already: dict[int, list[FunctionType]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("not all tests can be collected")
        for item in session.items:
            self.coverage.switch_context(item.nodeid)
            before = time.process_time()
            if not passes(item):
                raise SystemExit(f"{item.nodeid} fails before anything is changed")
            self.seconds[item.nodeid] = time.process_time() - before
        self.coverage.stop()
        data = self.coverage.get_data()
        comes_by = {file: data.contexts_by_lineno(str(ROOT / file)) for file in {m.file for m in self.mutants}}
        items = {item.nodeid: item for item in session.items}
        self.made_already = by_code()
        gc.freeze()
        for mutant in self.mutants:
            names = {name for line in mutant.passed for name in comes_by[mutant.file].get(line, ())}
            if "" in names or not mutant.defined:
                self.when_loaded.append(mutant)
                continue
            self.try_out(mutant, [items[name] for name in sorted(names & set(items), key=self.seconds.__getitem__)])
        return True

    def try_out(self, mutant: Mutant, items: list[pytest.Item]) -> None:
        """Run these tests in a process with the mutant until one fails or the time is over."""
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            try:
                put_in(mutant, self.made_already)
            except BaseException:
                os._exit(2)
            for item in items:
                signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 5 * self.seconds[item.nodeid])
                if not passes(item):
                    os._exit(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == 2:
            raise SystemExit(f"{mutant} cannot be put in")
        if status == 0:
            self.survivors.append(mutant)


def loaded_with(file: str, number: int) -> None:
    """Load the file with this mutant from now on."""
    mutant = next(islice(mutants(file, whole=True), number, None))
    source, path, get_code = mutant.source, str(ROOT / file), SourceFileLoader.get_code

    def get_mutated(loader: SourceFileLoader, name: str) -> Any:
        return compile(source, path, "exec") if loader.path == path else get_code(loader, name)

    loader_type: Any = SourceFileLoader
    loader_type.get_code = get_mutated


def survives_loading(file: str, number: int) -> bool:
    """Return whether the tests of the game pass with this mutant in it from the start, each time in a new Python."""
    game = file.split("/")[2] if file.count("/") > 2 else ""
    command = [sys.executable, "-m", "tests.mutants", game, "--loaded", file, str(number)]
    try:
        return not subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False, timeout=600).returncode
    except subprocess.TimeoutExpired:
        return False


class Ruled:
    """The plugin that leaves out deals at random."""

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        dropped = {item for item in items if any(word in item.nodeid for word in LEFT_OUT)}
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]


def passes(item: pytest.Item) -> bool:
    """Return whether the test passes. Its failure is not printed."""
    state = item.session._setupstate
    try:
        state.setup(item)
        item.runtest()
    except BaseException:  # also what pytest itself raises
        return False
    finally:
        state.teardown_exact(None)
    return True


# Reports


def known() -> dict[tuple[str, str, str, str], str]:
    """Return the known changes without effect, each with its reason."""
    told = tomllib.loads(KNOWN.read_text()).get("mutant", ())
    return {(one["file"], one["function"], one["code"], one["change"]): one["why"] for one in told}


def report(files: Iterable[str], tried: Sequence[Mutant], survivors: Sequence[Mutant], few: float) -> bool:
    """Print the figures and the survivors. Return whether at most this share survived, and all by name."""
    reasons = known()
    unnamed = [mutant for mutant in survivors if mutant.key not in reasons]
    for mutant in survivors:
        print(f"{mutant.file}:{mutant.line} in {mutant.function}\n  - {mutant.code}\n  + {mutant.change}")
        print(f"  {'= ' + reasons[mutant.key] if mutant.key in reasons else '? not named in ' + KNOWN.name}")
    killed = [key for key in reasons if key[0] in files and key not in {mutant.key for mutant in survivors}]
    for file, function, code, _ in killed:
        print(f"{file} in {function}: no longer survives, or is no longer there: {code}")
    for file in files:
        of_file = Counter((mutant.file == file, mutant in survivors) for mutant in tried)
        print(f"{file:48} {of_file[True, False] + of_file[True, True]:5} {of_file[True, True]:4}")
    print(f"{len(tried)} changes, {len(survivors)} survive ({len(survivors) / max(len(tried), 1):.1%}),", end=" ")
    print(f"{len(unnamed)} without a name")
    return not unnamed and not killed and len(survivors) <= few * len(tried)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("game", nargs="?", default="", help="one folder of referee/games, or phases; otherwise all")
    parser.add_argument("--loaded", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    names = [part for part in asked.game.split("_") if part not in ("", "rodskagg", "phases")]
    arguments = ["-qx", "-p", "no:cacheprovider", "-k", " or ".join(names), *TESTS]
    if asked.loaded:
        loaded_with(asked.loaded[0], int(asked.loaded[1]))
        return int(pytest.main(arguments, [Ruled()]))
    folders = () if asked.game == "phases" else sorted((ROOT / GAMES / asked.game).rglob("*.py"))
    files = [str(path.relative_to(ROOT)) for path in folders] + [KERNEL] * (asked.game in ("", "phases"))
    tried = [mutant for file in files for mutant in mutants(file)]
    comes_by = coverage.Coverage(data_file=None, config_file=False, source=["referee.games", "referee.phases"])
    trial = Trial(tried, comes_by)
    comes_by.start()
    if pytest.main(arguments, [Ruled(), trial]):
        return 1
    for mutant in trial.when_loaded:
        number = [one for one in tried if one.file == mutant.file].index(mutant)
        if survives_loading(mutant.file, number):
            trial.survivors.append(mutant)
    few = 1 if asked.game else MAY_SURVIVE_SHARE  # one game has too few changes for a share
    return 0 if report(files, tried, trial.survivors, few) else 1


if __name__ == "__main__":
    sys.exit(main())
