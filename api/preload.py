"""Reads the files that answers need at the start, so that no answer fails for lack of a descriptor."""

from importlib.resources import files

from api.clubs.zones import zones
from api.docs.pages import static
from referee import rulebook
from referee.games import RULESETS


def preload() -> None:
    for ruleset in (*RULESETS, rulebook.PROCEDURE):
        rulebook.load(ruleset)
    zones()
    for file in (files("api.docs") / "static").iterdir():
        static(file.name)
