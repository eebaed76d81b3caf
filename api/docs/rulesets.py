"""Serves the games, with their options and rules."""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal

from litestar import get
from msgspec import Meta

from api.access.access import check_authorization
from api.docs.rule_texts import RuleShown, rule_shown
from api.http.describe import LANGUAGE, described, link
from api.http.params import RuleId, RulesetKey
from api.http.problems import Problem
from api.http.replies import Fixed, Reply, encode
from api.http.routes import controller_of
from api.http.ruleset_schemas import options_schema, result_schema
from api.matches.schemas import RulesetSeen
from api.runtime.call import ApiCall
from referee import rulebook, wire_types
from referee.games import RULESETS
from referee.rulebook import PROCEDURE
from referee.ruleset import Ruleset
from referee.sentences import Language
from referee.value import Value


class SeatRange(Value):
    """The number of players that a game allows."""

    min: wire_types.Count
    max: wire_types.Count


class RulesetShown(Value):
    """A game that can be refereed. ``version`` is its edition; a match keeps the edition with which it was opened.

    ``options`` is a JSON Schema. ``x-rules`` of an option lists the rules and open points that the option decides.
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
    """JSON Schema for the fields of the act `result` other than `act`; null: the game has no such act."""
    acts: wire_types.Codes
    offences: wire_types.Codes


class RulesShown(Value):
    """The numbered rules of a game or of the officials, in our own words, and the readings of points that the source
    leaves open."""

    ruleset: Annotated[
        str,
        Meta(
            title="Rulebook",
            description=f"The key of a game, or `{PROCEDURE}` for the rules of officials in all games.",
            extra_json_schema={"enum": [*RULESETS, PROCEDURE]},
        ),
    ]
    source: wire_types.Sentence
    title: wire_types.Sentence
    language: Literal["en", "sv"]
    rules: Annotated[tuple[RuleShown, ...], wire_types.at_most(wire_types.RULES_MAX)]
    readings: Annotated[tuple[RuleShown, ...], wire_types.at_most(wire_types.RULES_MAX)]


def ruleset_named(name: str) -> Ruleset:
    """Return the ruleset with this key. Raises ``Problem`` (404 no_such_ruleset)."""
    if name not in RULESETS:
        raise Problem("no_such_ruleset", ruleset=name, allowed=list(RULESETS))
    return RULESETS[name]


def rulebook_named(name: str) -> str:
    """Return ``name``. Raises ``Problem`` (404 no_such_ruleset) unless it is the key of a rulebook."""
    return name if name == PROCEDURE else ruleset_named(name).key


def _ruleset_shown(language: Language, name: str) -> RulesetShown:
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


def _all_rulesets_shown(language: Language) -> list[RulesetShown]:
    return [_ruleset_shown(language, name) for name in RULESETS]


def _rules_shown(language: Language, name: str) -> RulesShown:
    book = rulebook.load(name)
    return RulesShown(
        ruleset=name,
        source=book.source,
        title=getattr(book.title, language),
        language=language,
        rules=tuple(rule_shown(entry, language) for entry in book.rules),
        readings=tuple(rule_shown(entry, language) for entry in book.readings),
    )


def _rule_by_id(language: Language, name: str, rule_id: str) -> RuleShown:
    """Return a rule or reading of a rulebook. Raises ``Problem`` (404 no_such_rule)."""
    try:
        entry = rulebook.load(name).rule(rule_id)
    except KeyError:
        raise Problem("no_such_rule", ruleset=name, rule_id=rule_id) from None
    return rule_shown(entry, language)


@cache
def _fixed(body: Callable[..., object], language: Language, *names: str) -> Fixed:
    """Return ``body(language, *names)`` as a JSON answer."""
    return Fixed(encode(body(language, *names)), headers={"Content-Language": language, "Vary": "Accept-Language"})


@get(
    "/rulesets",
    operation_id="list_rulesets",
    summary="List the games",
    description="Returns all games, each with its options as a JSON Schema.",
    operation_class=described(
        gives=Annotated[tuple[RulesetShown, ...], wire_types.at_most(wire_types.GAMES_MAX)],
        headers=("Content-Language",),
        takes=(LANGUAGE,),
    ),
)
async def list_rulesets(request: ApiCall) -> Reply:
    check_authorization(request)
    return _fixed(_all_rulesets_shown, request.language).reply(request)


@get(
    "/rulesets/{ruleset:str}",
    operation_id="get_ruleset",
    summary="Get a game with its options",
    description="Returns a game: its title, the number of players, the pack, the acts, the offences, and the options "
    "with their defaults and the rule or open point that each decides. 404 `no-such-ruleset` for an unknown key.",
    operation_class=described(
        gives=RulesetShown,
        headers=("Content-Language",),
        takes=(LANGUAGE,),
        errors=(404,),
        links={"rules": link("list_rules", ruleset="$response.body#/ruleset")},
    ),
)
async def get_ruleset(request: ApiCall, ruleset: RulesetKey) -> Reply:
    check_authorization(request)
    return _fixed(_ruleset_shown, request.language, ruleset_named(ruleset).key).reply(request)


@get(
    "/rulesets/{ruleset:str}/rules",
    operation_id="list_rules",
    summary="List the rules of a game",
    description="Returns the numbered rules in our own words, and the readings of points that the source leaves "
    f"open. `{PROCEDURE}` has the rules of officials (J1 and following). 404 `no-such-ruleset` for an unknown key.",
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
async def list_rules(request: ApiCall, ruleset: RulesetKey) -> Reply:
    check_authorization(request)
    return _fixed(_rules_shown, request.language, rulebook_named(ruleset)).reply(request)


@get(
    "/rulesets/{ruleset:str}/rules/{rule_id:str}",
    operation_id="get_rule",
    summary="Get a rule of a game",
    description="Returns a rule or a reading by its id, such as `B42` or `B-O2`, as refusals and rulings cite it. "
    "404 `no-such-rule` if the game has no such rule.",
    operation_class=described(gives=RuleShown, headers=("Content-Language",), takes=(LANGUAGE,), errors=(404,)),
)
async def get_rule(request: ApiCall, ruleset: RulesetKey, rule_id: RuleId) -> Reply:
    check_authorization(request)
    return _fixed(_rule_by_id, request.language, rulebook_named(ruleset), rule_id).reply(request)


CALLS = controller_of("/v1", [list_rulesets, get_ruleset, list_rules, get_rule], tags=["Rulesets"])
