"""Reads all files that answers need at the start: later, file descriptors may run out."""

from api.clubs.zones import zones
from api.docs import guide_pages, pages, problem_list
from referee import rulebook
from referee.games import RULESETS


def preload() -> None:
    for ruleset in (*RULESETS, rulebook.PROCEDURE):
        rulebook.load(ruleset)
    zones()
    guide_pages.preload()
    pages.preload()
    problem_list.preload()
