"""Draw the packages and their imports into ARCHITECTURE.md: ``python -m tests.support.structure``."""

import ast
import sys
from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- The picture below is made by `make describe`. -->\n", "<!-- End of the picture. -->"
TOPS = ("referee", "projections", "api")
SPLIT = {"referee", "api"}
"""Packages whose folders are drawn one by one."""
EVENTS = "referee.officials.events"
ELSEWHERE = {
    "api": "api/settings",
    "api.log_lines": "api/settings",
    "api.settings": "api/settings",
    "api.startup": "api/settings",
    EVENTS: "referee",
}
"""Modules that are drawn in a different box than their folder: what a start needs, and the events of all layers."""
LABELS = {
    "api": "api: cli, app, server",
    "api/settings": "api: settings, startup",
    "referee": "referee: events, acts, phases, officials/events",
}


def modules() -> dict[str, Path]:
    """Return the product's modules by dotted name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for top in TOPS
        for path in sorted(ROOT.glob(f"{top}/**/*.py"))
    }


def box_of(module: str) -> str:
    """Return the box in which a module is drawn: its folder below the package, or the package."""
    if module.startswith(EVENTS):
        module = EVENTS
    if module in ELSEWHERE:
        return ELSEWHERE[module]
    top, *rest = module.split(".")
    folder = ROOT / top / rest[0] if rest else ROOT / top
    return f"{top}/{rest[0]}" if top in SPLIT and rest and folder.is_dir() else top


def imports_of(path: Path, known: Iterable[str]) -> set[str]:
    """Return the modules of the product that a file imports anywhere in it."""
    known, found = set(known), set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in names}
    return found & known


def arrows() -> dict[str, set[str]]:
    """Return for each box the boxes that it imports."""
    known = modules()
    drawn: dict[str, set[str]] = {}
    for name, path in known.items():
        box = box_of(name)
        drawn.setdefault(box, set()).update({box_of(used) for used in imports_of(path, known)} - {box})
    return drawn


def reduced(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows without those that a longer way implies. Raises ``CycleError`` if there is a circle."""
    reach: dict[str, set[str]] = {}
    kept: dict[str, set[str]] = {}
    for box in TopologicalSorter(graph).static_order():
        direct = graph.get(box, set())
        beyond = set().union(*(reach[one] for one in direct))
        reach[box] = direct | beyond
        kept[box] = direct - beyond
    return kept


def picture() -> str:
    """Return the picture as a block of Mermaid."""
    kept = reduced(arrows())
    lines = [f'  {_id(box)}["{LABELS.get(box, box)}"]' for box in sorted(kept)]
    lines += [f"  {_id(box)} --> {_id(used)}" for box in sorted(kept) for used in sorted(kept[box])]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"]) + "\n"


def _id(box: str) -> str:
    return box.replace("/", "_")


def with_picture(page: str) -> str:
    """Return the page with the present picture between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{PAGE.name} needs the lines {BEGIN.strip()!r} and {END!r}")
    return f"{before}{BEGIN}{picture()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_picture(PAGE.read_text()))
    sys.exit(0)
