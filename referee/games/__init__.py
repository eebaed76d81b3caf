"""The games. A module here that holds a ``RULESET`` is a game; nothing else has to know of it."""

import importlib
import pkgutil

from referee.ruleset import Ruleset


def _found() -> dict[str, Ruleset]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    rulesets = [module.RULESET for module in modules if hasattr(module, "RULESET")]
    return {ruleset.key: ruleset for ruleset in sorted(rulesets, key=lambda ruleset: ruleset.key)}


RULESETS: dict[str, Ruleset] = _found()
