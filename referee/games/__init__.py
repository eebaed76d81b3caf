"""Find the games: modules of this package with a ``RULESET``, and packages in the entry-point group ``knacka.games``.

A package of a different distribution also contains its rulebook, ``<key>.toml``::

    [project.entry-points."knacka.games"]
    high-card = "high_card"
"""

import importlib
import pkgutil
from collections.abc import Iterator
from importlib.metadata import entry_points
from types import ModuleType

from referee import rulebook
from referee.ruleset import Ruleset

ENTRY_POINT_GROUP = "knacka.games"


def _own_modules() -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules(__path__):
        yield importlib.import_module(f"{__name__}.{info.name}")


def _installed_modules() -> Iterator[ModuleType]:
    """Yield the modules of other distributions. Raises ``ImportError`` if one has a game without its rulebook."""
    for point in entry_points(group=ENTRY_POINT_GROUP):
        module = importlib.import_module(point.module)
        rulebook.add(point.module)
        try:
            rulebook.load(module.RULESET.key)
        except KeyError as missing:
            raise ImportError(
                f"The package {point.module} has no file {module.RULESET.key}.toml, the rulebook of its game. "
                "Name the file in the package data of its distribution."
            ) from missing
        yield module


def _find_rulesets() -> dict[str, Ruleset]:
    rulesets: dict[str, Ruleset] = {}
    for module in (*_own_modules(), *_installed_modules()):
        if hasattr(module, "RULESET"):
            ruleset = module.RULESET
            assert rulesets.setdefault(ruleset.key, ruleset) is ruleset, f"two games have the key {ruleset.key}"
    return dict(sorted(rulesets.items()))


RULESETS: dict[str, Ruleset] = _find_rulesets()
