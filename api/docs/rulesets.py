"""The games, their options and their numbered rules."""

from functools import cache
from typing import Annotated, Any, Literal

from litestar import get
from msgspec import Meta

from api.access.access import anybody
from api.docs.rule_texts import RuleShown, rule_shown
from api.http.describe import LANGUAGE, described, link
from api.http.headers import Req, header, language_of
from api.http.params import RuleId, RulesetKey
from api.http.problems import Problem
from api.http.replies import Fixed, Reply, encode
from api.http.routes import routed
from api.http.ruleset_schemas import options_schema, result_schema
from api.matches.schemas import RulesetSeen
from referee import rulebook, wire_types
from referee.games import RULESETS
from referee.rulebook import PROCEDURE
from referee.ruleset import Ruleset
from referee.sentences import Language
from referee.value import Value


class SeatRange(Value):
    """How many may play."""

    min: wire_types.Count
    max: wire_types.Count


class RulesetShown(Value):
    """A game that can be refereed. ``version`` is its edition, which a match keeps.

    ``options`` is a JSON Schema in which ``x-rules`` names the rules and open points that each option decides.
    """

    ruleset: RulesetSeen
    title: wire_types.Sentence
    source: wire_types.Sentence
    edition: wire_types.Edition
    version: wire_types.Edition
    seats: SeatRange
    start_points: wire_types.WholePoints
    pack: wire_types.Cards
    options: dict[str, Any]
    result: dict[str, Any] | None
    """What the act `result` tells in this game, beside `act`: a JSON Schema; null: no deal is entered whole."""
    acts: wire_types.Codes
    offences: wire_types.Codes


class RulesShown(Value):
    """The numbered rules of a game in our own words, and how open points are read; or those of the officials."""

    ruleset: Annotated[
        str,
        Meta(
            title="Rulebook",
            description=f"The key of a game, or `{PROCEDURE}`: what officials go by in all of them.",
            extra_json_schema={"enum": [*RULESETS, PROCEDURE]},
        ),
    ]
    source: wire_types.Sentence
    title: wire_types.Sentence
    language: Literal["en", "sv"]
    rules: Annotated[tuple[RuleShown, ...], wire_types.at_most(wire_types.RULES_MAX)]
    readings: Annotated[tuple[RuleShown, ...], wire_types.at_most(wire_types.RULES_MAX)]


def ruleset_named(name: str) -> Ruleset:
    """The ruleset of this key; 404 if there is none."""
    if name not in RULESETS:
        raise Problem("no_such_ruleset", ruleset=name, allowed=list(RULESETS))
    return RULESETS[name]


def rulebook_named(name: str) -> str:
    """The key of a rulebook; 404 if there is none."""
    return name if name == PROCEDURE else ruleset_named(name).key


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
        result=result_schema(name),
        acts=tuple(str(act.__struct_config__.tag) for act in ruleset.acts),
        offences=ruleset.offences,
    )


@cache
def _rules(name: str, language: Language) -> RulesShown:
    book = rulebook.load(name)
    return RulesShown(
        ruleset=name,
        source=book.source,
        title=getattr(book.title, language),
        language=language,
        rules=tuple(rule_shown(entry, language) for entry in book.rules),
        readings=tuple(rule_shown(entry, language) for entry in book.readings),
    )


def _in_language(body: Any, language: Language) -> Fixed:
    return Fixed(encode(body), headers={"Content-Language": language, "Vary": "Accept-Language"})


@cache
def _all_in(language: Language) -> Fixed:
    return _in_language([_shown(name, language) for name in RULESETS], language)


@cache
def _ruleset_in(name: str, language: Language) -> Fixed:
    return _in_language(_shown(name, language), language)


@cache
def _rules_in(name: str, language: Language) -> Fixed:
    return _in_language(_rules(name, language), language)


@cache
def _rule_in(name: str, rule_id: str, language: Language) -> Fixed:
    try:
        entry = rulebook.load(name).rule(rule_id)
    except KeyError:
        raise Problem("no_such_rule", ruleset=name, rule_id=rule_id) from None
    return _in_language(rule_shown(entry, language), language)


@get(
    "/rulesets",
    operation_id="list_rulesets",
    summary="All games",
    description="Each game that can be refereed, with its options as a JSON Schema.",
    operation_class=described(
        gives=Annotated[tuple[RulesetShown, ...], wire_types.at_most(wire_types.GAMES_MAX)],
        headers=("Content-Language",),
        takes=(LANGUAGE,),
    ),
)
async def list_rulesets(request: Req) -> Reply:
    """All games."""
    anybody(request)
    return _all_in(language_of(header(request, b"accept-language"))).reply(request)


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
    anybody(request)
    return _ruleset_in(ruleset_named(ruleset).key, language_of(header(request, b"accept-language"))).reply(request)


@get(
    "/rulesets/{ruleset:str}/rules",
    operation_id="list_rules",
    summary="The rules of a game",
    description="The numbered rules in our own words, and how the points that the source leaves open are read. The "
    f"rules that officials go by, J1 and on, are those of `{PROCEDURE}`.",
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
    anybody(request)
    return _rules_in(rulebook_named(ruleset), language_of(header(request, b"accept-language"))).reply(request)


@get(
    "/rulesets/{ruleset:str}/rules/{rule_id:str}",
    operation_id="get_rule",
    summary="One rule",
    description="A rule or a reading by its id, such as `B42` or `B-O2`: what a refusal or a ruling cites.",
    operation_class=described(gives=RuleShown, headers=("Content-Language",), takes=(LANGUAGE,), errors=(404,)),
)
async def get_rule(request: Req, ruleset: RulesetKey, rule_id: RuleId) -> Reply:
    """One rule."""
    anybody(request)
    key, language = rulebook_named(ruleset), language_of(header(request, b"accept-language"))
    return _rule_in(key, rule_id, language).reply(request)


CALLS = routed("/v1", [list_rulesets, get_ruleset, list_rules, get_rule], tags=["Rulesets"])
