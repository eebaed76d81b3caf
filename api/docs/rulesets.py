"""The games, their options and their numbered rules."""

from functools import cache
from typing import Any, Literal

from litestar import Router, get

from api.docs.options import options_schema
from api.http.describe import LANGUAGE, described, link
from api.http.headers import Req, header, language_of
from api.http.params import RuleId, RulesetKey
from api.http.problems import Problem
from api.http.replies import Reply, reply
from api.matches.shown import RulesetSeen
from referee import rulebook
from referee.games import RULESETS
from referee.rulebook import Reading, Rule
from referee.ruleset import Ruleset
from referee.sentences import Language
from referee.value import Value


class SeatRange(Value):
    """How many may play."""

    min: int
    max: int


class RulesetShown(Value):
    """A game that can be refereed. ``version`` is its edition, which a match keeps.

    ``options`` is a JSON Schema in which ``x-rules`` names the rules and open points that each option decides.
    """

    ruleset: RulesetSeen
    title: str
    source: str
    edition: int
    version: int
    seats: SeatRange
    start_points: int
    pack: tuple[str, ...]
    options: dict[str, Any]
    acts: tuple[str, ...]
    offences: tuple[str, ...]


class RuleShown(Value):
    """A rule of the source, or the reading of a point that it leaves open (``kind`` is ``reading``)."""

    id: str
    kind: str
    text: str
    options: tuple[str, ...]


class RulesShown(Value):
    """The numbered rules of a game in our own words, and how open points are read."""

    ruleset: RulesetSeen
    source: str
    title: str
    language: Literal["en", "sv"]
    rules: tuple[RuleShown, ...]
    readings: tuple[RuleShown, ...]


def ruleset_named(name: str) -> Ruleset:
    """The ruleset of this key; 404 if there is none."""
    if name not in RULESETS:
        raise Problem("no_such_ruleset", ruleset=name, allowed=list(RULESETS))
    return RULESETS[name]


@cache
def _shown(name: str, language: Language) -> RulesetShown:
    ruleset, book = RULESETS[name], rulebook.load(name)
    return RulesetShown(
        ruleset=name,
        title=getattr(book.title, language),
        source=book.source,
        edition=ruleset.edition,
        version=ruleset.edition,
        seats=SeatRange(min=ruleset.players_min, max=ruleset.players_max),
        start_points=ruleset.start_points,
        pack=ruleset.pack,
        options=options_schema(name),
        acts=tuple(str(act.__struct_config__.tag) for act in ruleset.acts),
        offences=ruleset.offences,
    )


def _rule(entry: Rule | Reading, language: Language) -> RuleShown:
    kind = entry.kind if isinstance(entry, Rule) else "reading"
    return RuleShown(id=entry.id, kind=kind, text=getattr(entry, language), options=entry.options)


@cache
def _rules(name: str, language: Language) -> RulesShown:
    book = rulebook.load(name)
    return RulesShown(
        ruleset=name,
        source=book.source,
        title=getattr(book.title, language),
        language=language,
        rules=tuple(_rule(entry, language) for entry in book.rules),
        readings=tuple(_rule(entry, language) for entry in book.readings),
    )


def _in_language(body: Any, language: Language) -> Reply:
    return reply(body, headers={"Content-Language": language, "Vary": "Accept-Language"})


@get(
    "/rulesets",
    operation_id="list_rulesets",
    summary="All games",
    description="Each game that can be refereed, with its options as a JSON Schema.",
    operation_class=described(gives=tuple[RulesetShown, ...], headers=("Content-Language",), takes=(LANGUAGE,)),
)
async def list_rulesets(request: Req) -> Reply:
    """All games."""
    language = language_of(header(request, b"accept-language"))
    return _in_language([_shown(name, language) for name in RULESETS], language)


@get(
    "/rulesets/{ruleset:str}",
    operation_id="get_ruleset",
    summary="One game",
    description="Title, how many may play, the pack, options with their defaults and the rule or open point that "
    "each answers, acts and offences.",
    operation_class=described(
        gives=RulesetShown,
        headers=("Content-Language",),
        takes=(LANGUAGE,),
        errors=(404,),
        links={"rules": link("list_rules", ruleset="$response.body#/ruleset")},
    ),
)
async def get_ruleset(request: Req, ruleset: RulesetKey) -> Reply:
    """One game."""
    language = language_of(header(request, b"accept-language"))
    return _in_language(_shown(ruleset_named(ruleset).key, language), language)


@get(
    "/rulesets/{ruleset:str}/rules",
    operation_id="list_rules",
    summary="The rules of a game",
    description="The numbered rules in our own words, and how the points that the source leaves open are read.",
    operation_class=described(
        gives=RulesShown,
        headers=("Content-Language",),
        takes=(LANGUAGE,),
        errors=(404,),
        links={
            "rule": link("get_rule", ruleset="$response.body#/ruleset", rule_id="$response.body#/rules/0/id"),
        },
    ),
)
async def list_rules(request: Req, ruleset: RulesetKey) -> Reply:
    """The rules of a game."""
    language = language_of(header(request, b"accept-language"))
    return _in_language(_rules(ruleset_named(ruleset).key, language), language)


@get(
    "/rulesets/{ruleset:str}/rules/{rule_id:str}",
    operation_id="get_rule",
    summary="One rule",
    description="A rule or a reading by its id, such as `B42` or `B-O2`: what a refusal or a ruling cites.",
    operation_class=described(gives=RuleShown, headers=("Content-Language",), takes=(LANGUAGE,), errors=(404,)),
)
async def get_rule(request: Req, ruleset: RulesetKey, rule_id: RuleId) -> Reply:
    """One rule."""
    key, language = ruleset_named(ruleset).key, language_of(header(request, b"accept-language"))
    try:
        entry = rulebook.load(key).rule(rule_id)
    except KeyError:
        raise Problem("no_such_rule", ruleset=key, rule_id=rule_id) from None
    return _in_language(_rule(entry, language), language)


ROUTER = Router("/v1", route_handlers=[list_rulesets, get_ruleset, list_rules, get_rule], tags=["Rulesets"])
