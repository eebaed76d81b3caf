"""Find the games: modules of this package with a ``RULESET``, and packages in the entry-point group ``knacka.games``.

A package of a different distribution also contains its rulebook, ``<key>.toml``, and may contain its own words,
``words.toml`` (:mod:`referee.vocabulary`)::

    [project.entry-points."knacka.games"]
    plump = "plump"
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, Union, get_args

import msgspec

from referee import rulebook
from referee.acts import Act, AnyAct
from referee.requests import Request
from referee.ruleset import Ruleset
from referee.vocabulary import INSTALLED_PACKAGES


def _own_modules() -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules(__path__):
        yield importlib.import_module(f"{__name__}.{info.name}")


def _installed_modules() -> Iterator[ModuleType]:
    """Yield the modules of other distributions. Raises ``ImportError`` if one has a game without its rulebook."""
    for package in INSTALLED_PACKAGES:
        module = importlib.import_module(package)
        rulebook.add(package)
        try:
            rulebook.load(module.RULESET.key)
        except KeyError as missing:
            raise ImportError(
                f"The package {package} has no file {module.RULESET.key}.toml, the rulebook of its game. "
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
PACKAGES: tuple[str, ...] = (__name__, *INSTALLED_PACKAGES)
"""Packages in which all types that only one game has are defined."""


def _acts() -> tuple[type[Act], ...]:
    """Return the types of all acts, those of installed games last. Raises ``ImportError`` if two have one name."""
    kinds: tuple[type[Act], ...] = (*get_args(AnyAct), *(kind for rules in RULESETS.values() for kind in rules.acts))
    by_name: dict[object, type[Act]] = {}
    for kind in kinds:
        name = kind.__struct_config__.tag
        if by_name.setdefault(name, kind) is not kind:
            raise ImportError(f"Two games have different acts with the name {name}.")
    return tuple(by_name.values())


ACTS: tuple[type[Act], ...] = _acts()
if TYPE_CHECKING:
    ActOfAnyGame: TypeAlias = Act
else:
    ActOfAnyGame = Union[ACTS]  # noqa: UP007
REQUESTS: Any = (*ACTS, *(kind for kind in get_args(Request) if kind is not Act))
request_of: Callable[[bytes], Request] = msgspec.json.Decoder(Union[REQUESTS]).decode  # noqa: UP007
"""Decodes a stored request to a match."""
