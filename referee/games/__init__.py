"""Find the games: modules here with a ``RULESET``, and installed games, for example::

    [project.entry-points."knacka.games"]
    plump = "plump"

An installed game contains its rulebook, ``<key>.toml``, and may contain ``words.toml`` (:mod:`referee.vocabulary`).
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec

from referee import rulebook
from referee.acts import Act, AnyAct
from referee.requests import Request
from referee.ruleset import Ruleset
from referee.vocabulary import INSTALLED_PACKAGES


def _own_games() -> Iterator[tuple[str, Ruleset]]:
    """Yield module name and ruleset of each game here."""
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        if hasattr(module, "RULESET"):
            yield module.__name__, module.RULESET


def _installed_games() -> Iterator[tuple[str, Ruleset]]:
    """Yield package and ruleset of each installed game, and register its rulebook.

    Raises ``ImportError`` if a package has no ``RULESET``, or no usable rulebook.
    """
    for package in INSTALLED_PACKAGES:
        ruleset = getattr(importlib.import_module(package), "RULESET", None)
        if not isinstance(ruleset, Ruleset):
            raise ImportError(f"The package {package} has no RULESET. Make it with referee.phases.make_ruleset.")
        rulebook.add_package(package)
        try:
            rulebook.load(ruleset.key)
        except KeyError as missing:
            raise ImportError(
                f"The package {package} has no file {ruleset.key}.toml, the rulebook of its game. "
                "Name the file in the package data of its distribution."
            ) from missing
        except (msgspec.MsgspecError, ValueError) as error:
            raise ImportError(
                f"The file {ruleset.key}.toml of the package {package} cannot be used: {error}"
            ) from None
        yield package, ruleset


def _find_rulesets() -> dict[str, Ruleset]:
    """Return the rulesets by package, in order of their keys. Raises ``ImportError`` if two have the same key."""
    by_key: dict[str, tuple[str, Ruleset]] = {}
    for package, ruleset in (*_own_games(), *_installed_games()):
        first, _ = by_key.setdefault(ruleset.key, (package, ruleset))
        if first != package:
            raise ImportError(
                f"The packages {first} and {package} have games with the key {ruleset.key}. "
                "Remove one of them, or change its key."
            )
    return dict(by_key[key] for key in sorted(by_key))


BY_PACKAGE: dict[str, Ruleset] = _find_rulesets()
RULESETS: dict[str, Ruleset] = {rules.key: rules for rules in BY_PACKAGE.values()}


def _enumerations(*kinds: Any) -> Iterator[tuple[str, frozenset[Any]]]:
    """Yield title and values of each titled enumeration in these types and their fields."""
    waiting = list(kinds)
    for part in waiting:
        values = getattr(part, "__origin__", None)
        if get_origin(part) is Annotated and get_origin(values) is Literal:
            titles = [meta.title for meta in part.__metadata__ if isinstance(meta, msgspec.Meta)]
            yield from ((title, frozenset(get_args(values))) for title in titles if title is not None)
        elif is_typeddict(part) or (isinstance(part, type) and issubclass(part, msgspec.Struct)):
            waiting += get_type_hints(part, include_extras=True).values()
        else:
            waiting += get_args(part)


def _check_titles() -> None:
    """Raise ``ImportError`` if enumerations with the same title have different values."""
    own = [(package, rules) for package, rules in BY_PACKAGE.items() if package not in INSTALLED_PACKAGES]
    installed = [(package, BY_PACKAGE[package]) for package in INSTALLED_PACKAGES]
    by_title: dict[str, tuple[str, frozenset[Any]]] = {}
    for package, rules in (*own, *installed):
        for title, values in _enumerations(rules.options, rules.more, rules.detail, *rules.acts, *rules.events):
            first, known = by_title.setdefault(title, (package, values))
            if values != known:
                raise ImportError(
                    f"The packages {first} and {package} have different enumerations with the title {title}. "
                    "Begin the title with the name of the game."
                )


if INSTALLED_PACKAGES:
    _check_titles()

PACKAGES: tuple[str, ...] = (__name__, *INSTALLED_PACKAGES)
"""Packages with the types of single games."""


def _acts() -> tuple[type[Act], ...]:
    """Return the types of all acts. Raises ``ImportError`` if two have the same name or class name."""
    package_of: dict[type[Act], str] = {
        **{kind: package for package, rules in reversed(BY_PACKAGE.items()) for kind in rules.acts},
        **dict.fromkeys(get_args(AnyAct), "referee.acts"),
    }
    kinds = dict.fromkeys((*get_args(AnyAct), *(kind for rules in RULESETS.values() for kind in rules.acts)))
    by_name: dict[str, type[Act]] = {}
    for kind in kinds:
        for name in (f"name {kind.__struct_config__.tag}", f"class name {kind.__name__}"):
            first = by_name.setdefault(name, kind)
            if first is not kind:
                raise ImportError(
                    f"{package_of[first]} and {package_of[kind]} have different acts with the {name}. "
                    "Change one of them."
                )
    return tuple(kinds)


ACTS: tuple[type[Act], ...] = _acts()
if TYPE_CHECKING:
    ActOfAnyGame: TypeAlias = Act
else:
    ActOfAnyGame = Union[ACTS]  # noqa: UP007
REQUESTS: Any = (*ACTS, *(kind for kind in get_args(Request) if kind is not Act))
request_of: Callable[[bytes], Request] = msgspec.json.Decoder(Union[REQUESTS]).decode  # noqa: UP007
"""Decodes a stored request to a match."""
