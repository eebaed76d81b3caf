"""Reads at the start all files that answers need, because file descriptors may run out later."""

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
