"""Reads the files that answers need when the service starts, so that no answer fails for lack of a descriptor."""

from importlib.resources import files

from api.clubs.zones import zones
from api.docs.pages import static
from referee import rulebook
from referee.games import RULESETS


def preload() -> None:
    """Read the rulebooks, the names of the timezones and the parts of the pages into memory."""
    for ruleset in (*RULESETS, rulebook.PROCEDURE):
        rulebook.load(ruleset)
    zones()
    for file in (files("api.docs") / "static").iterdir():
        static(file.name)
