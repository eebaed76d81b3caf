"""The file of a case."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from importlib.resources import files
from typing import Any

import msgspec

from api.access.caller import Caller, ViewerSeen, viewer_seen
from api.cases.case import Case
from api.docs.rule_texts import RuleShown, rule_shown
from api.http.problems import Document, document_of_refusal, rule_page
from api.matches.schemas import EventSeen, RulesetSeen, Seated, event_seen, seated_players
from projections.cases import Listed
from referee import rulebook, sentences, wire_types
from referee.actors import Actor, actor_at, officials
from referee.events import DealScored
from referee.officials import remedies, state
from referee.officials.events.cases import CaseRuled
from referee.refusals import Refused
from referee.requests import RemedySent, Ruling
from referee.ruleset import Moment
from referee.sentences import Language, Text
from referee.store.match import Match
from referee.store.store import Referee
from referee.store.whole import read_whole
from referee.value import OffenceText, Points, RuleId, Seat, Standard, Time, Value, Verdict, Version
from referee.visibility import Recorded, Viewer, with_act_numbers

FORM_RULES = ("J3", "J4", "J7")
HASH_FIELDS = ("digest", "prev")


class Words(Value, forbid_unknown_fields=True):
    """The texts of ``case_page.toml``, by code."""

    claims: dict[str, Text]
    words: dict[str, Text]
    statuses: dict[str, Text]
    verdicts: dict[str, Text]
    standards: dict[str, Text]


WORDS = msgspec.toml.decode((files("api.docs") / "case_page.toml").read_bytes(), type=Words)


class Fact(Value):
    """A claim in a case."""

    text: wire_types.Sentence
    """Claim as a sentence."""
    said_by: wire_types.Many[Actor]
    """Actors who support the claim."""
    denied_by: wire_types.Many[Actor]
    """Seats that deny the claim."""
    events: wire_types.Events
    """Events that the supporters named."""


class Facts(Value):
    """The claims in a case. The last statement or appeal of each seat counts."""

    agreed: wire_types.Many[Fact]
    """Claims that both sides support (J2)."""
    disputed: wire_types.Many[Fact]
    """Claims that a seat denies."""
    unanswered: wire_types.Many[Fact]
    """Claims that the other side has not answered."""


class Happened(Value):
    """An event in the timeline."""

    event: EventSeen
    """Event as the caller may see it."""
    of_case: bool
    """True if the event is part of the case."""
    named_by: wire_types.Many[Actor]
    """Seats that named the event."""
    href: wire_types.Path
    replay: wire_types.Path
    """Address of the match's state after the event."""


class RuleCited(RuleShown, kw_only=True):
    """A rule that the case or its form cites."""

    href: wire_types.Path


class EarlierRuling(Value):
    """An official's last ruling on a different case."""

    match: wire_types.MatchId
    case: wire_types.CaseNumber
    ruleset: RulesetSeen
    opened_at: Time
    official: Actor | None
    """Official who ruled."""
    verdict: Verdict
    standard: Standard
    rule: RuleId
    offence: OffenceText | None
    """Offence found or denied; null: the case was not about one."""
    penalty: wire_types.WholePoints
    reason: wire_types.Text
    href: wire_types.Path
    """Address of that case's file."""


class Price(Value):
    """The penalty for an offence in the deal under way."""

    offence: OffenceText
    name: wire_types.Sentence
    """Name of the offence."""
    rule: RuleId
    """Rule against the offence."""
    payer: Seat
    """Seat that would pay."""
    penalty: wire_types.WholePoints
    """Penalty, which counts at once or with the score."""


class Outcome(Value):
    """The consequences that a verdict would have now."""

    verdict: Verdict
    offence: OffenceText | None
    """Named offence; null: the case is not about one."""
    payer: Seat | None
    """Seat that would pay; null: none."""
    penalty: wire_types.WholePoints
    change: wire_types.BySeat[Points]
    """Immediate change of points by seat, including penalties in the deal under way."""
    refused: Document | None
    """Problem that refuses this verdict; null: it is possible."""


class RulingForm(Value):
    """The form for an official's ruling."""

    action: wire_types.Path
    """Address for the ruling."""
    yours: bool
    """True if the caller may rule (J7, J10)."""
    outcomes: wire_types.Many[Outcome]
    """Consequences of each verdict."""
    prices: wire_types.Many[Price]
    """Price of each possible offence; empty if the deal is scored or no seat is accused."""


class CaseFile(Value):
    """A file of a case, as the caller may see it."""

    match: wire_types.MatchId
    version: Version
    ruleset: RulesetSeen
    viewer: ViewerSeen
    """Viewer whose view the caller gets."""
    made_at: Time
    """Time of the file."""
    players: wire_types.BySeat[Seated]
    officials: wire_types.Officials
    """Names of the officials."""
    case: Case
    """Case."""
    facts: Facts
    """Claims in the case."""
    timeline: wire_types.Many[Happened]
    """Events of the deal and the case, and those named in statements, in order."""
    rules: wire_types.Many[RuleCited]
    """Cited rules."""
    precedents: wire_types.Many[EarlierRuling]
    """Rulings on other cases by the rules of this case's rulings or price, at most 20, the latest first. Officials
    see those of all their matches, others those of this match."""
    form: RulingForm | None
    """Form; null: the caller is not an official, or the case does not wait for a ruling."""


def _facts_of(match: Match, case: Case, language: Language) -> Facts:
    """Return the claims, grouped by whether the other side supports them (J2)."""
    last = _support_by_actor(case)
    sayers = [actor for actor, agrees in last.items() if agrees]
    deniers = tuple(sorted(actor for actor, agrees in last.items() if not agrees))
    others = {actor_at(seat) for seat in range(len(match.opened.players))} - {case.by}
    paying = {actor_at(seat) for seat in (case.accused, case.payer) if seat is not None}
    met = bool(paying & set(sayers)) if case.kind == "offence" else others <= set(sayers)
    naming = _seats_by_named_event(case)
    claim = Fact(
        text=_claim_sentence(match, case, language),
        said_by=tuple(sayers),
        denied_by=deniers,
        events=tuple(sorted(number for number, names in naming.items() if set(names) & set(sayers))),
    )
    agreed, unanswered = [claim] if met and not deniers else [], [] if met or deniers else [claim]
    settled = bool(agreed)
    for number, names in sorted(naming.items()):
        text = sentences.sentence(WORDS.claims["event"].in_(language), {"event": str(number)})
        fact = Fact(text=text, said_by=names, denied_by=(), events=(number,))
        both = set(names) & set(sayers) and set(names) & set(deniers)
        (agreed if settled or both else unanswered).append(fact)
    return Facts(agreed=tuple(agreed), disputed=(claim,) if deniers else (), unanswered=tuple(unanswered))


def _support_by_actor(case: Case) -> dict[Actor, bool]:
    """Return, by actor, whether their last statement or appeal supports the claim."""
    said: list[tuple[int, Actor, bool]] = [(one.event, actor_at(one.seat), one.agrees) for one in case.statements]
    for appeal in case.appeals:
        if appeal.seat is not None:
            actor = actor_at(appeal.seat)
            against = next(ruling for ruling in reversed(case.rulings) if ruling.event < appeal.event)
            # An opener appeals against an upheld ruling only if the official did more than the opener asked for.
            said.append((appeal.event, actor, against.verdict == "dismissed" or actor == case.by))
    return {case.by: True} | {actor: agrees for _, actor, agrees in sorted(said, key=lambda one: one[0])}


def _claim_sentence(match: Match, case: Case, language: Language) -> str:
    """Return the opener's claim, or ``case.why`` if the accused or offence is missing."""
    facts, offence = {"deal": str(case.deal)}, case.named or case.offence
    if case.accused is not None and offence is not None:
        facts["accused"] = match.opened.players[case.accused]
        facts["did"] = sentences.TEXTS.offences[offence].did.in_(language)
    template = WORDS.claims.get(case.kind)
    if template is None or not sentences.fact_names(template.in_(language)) <= facts.keys():
        return case.why
    return sentences.sentence(template.in_(language), facts)


def _seats_by_named_event(case: Case) -> dict[int, tuple[Actor, ...]]:
    """Return, by event number, the seats that named the event in statements."""
    found: dict[int, list[Actor]] = {}
    for said in case.statements:
        for number in said.events:
            if (actor := actor_at(said.seat)) not in found.setdefault(number, []):
                found[number].append(actor)
    return {number: tuple(names) for number, names in found.items()}


def _bounds_of_deal(case: Case, history: Sequence[Recorded]) -> tuple[int, int]:
    """Return the numbers of the score before the case's deal (else 1) and of its own score (else the last event)."""
    scores = [(one.originator_version, one.event.deal) for one in history if isinstance(one.event, DealScored)]
    own = [number for number, deal in scores if deal == case.deal and number < case.event]
    last = own[-1] if own else next((number for number, _ in scores if number > case.event), len(history))
    return max((number for number, _ in scores if number < min(last, case.event)), default=1), last


def _timeline_of(match: Match, case: Case, history: Sequence[Recorded], caller: Caller) -> tuple[Happened, ...]:
    """Return the :attr:`~CaseFile.timeline`, without hashes."""
    before, last = _bounds_of_deal(case, history)
    naming = _seats_by_named_event(case)

    def happened() -> Iterator[Happened]:
        for one, act_number in with_act_numbers(history, 1):
            number, of_case = one.originator_version, getattr(one.event, "case", None) == case.case
            if not (before < number <= last or of_case or number in naming):
                continue
            shown = event_seen(one, caller, number <= match.public_to, act_number)
            fields = {name: value for name, value in shown.items() if name not in HASH_FIELDS}
            yield Happened(
                event=EventSeen(**fields | {"event": msgspec.json.decode(shown["event"])}),
                of_case=of_case,
                named_by=naming.get(number, ()),
                href=f"/v1/matches/{match.id}/events?after={number - 1}&limit=1",
                replay=f"/v1/matches/{match.id}/replay?at={number}",
            )

    return tuple(happened())


def form_of(
    match: Match, number: int, history: Sequence[Recorded], actor: Actor, language: Language, at: datetime
) -> RulingForm | None:
    """Return the form for case ``number`` (J3), or None if no official can rule on it now."""
    docket = match.docket
    if docket is None or docket.terms is None:
        return None
    case = docket.case(number)
    if not case.is_open:
        return None
    # An official who may rule replaces other callers, because the prices are equal.
    may = case.reopened or actor not in case.ruled_by
    free = actor if may else next(one for one in officials(len(case.ruled_by) + 1) if one not in case.ruled_by)
    moment = Moment(match.version, at, "", free, history, match.id)
    return RulingForm(
        action=f"/v1/matches/{match.id}/knocks/{number}/ruling",
        yours=may,
        outcomes=tuple(_outcome(match, case, verdict, moment, language) for verdict in ("upheld", "dismissed")),
        prices=tuple(_prices(match, case, language)),
    )


def _outcome(match: Match, case: state.Case, verdict: Verdict, moment: Moment, language: Language) -> Outcome:
    """Return the consequences of a verdict, or its refusal."""
    ruling = Ruling(
        case=case.case,
        verdict=verdict,
        standard="beyond_reasonable_doubt",  # because J8 allows this standard at any time
        rule="J3",
        remedy=RemedySent(result=case.result if verdict == "upheld" else None),
    )
    before = _points_with_penalties(match, match.play)
    try:
        events, after = match.procedure.take(match.state, ruling, moment)
    except Refused as refused:
        problem = document_of_refusal(refused, f"/v1/matches/{match.id}/knocks/{case.case}/ruling", language)
        nothing = (0,) * len(before)
        return Outcome(verdict=verdict, offence=case.offence, payer=None, penalty=0, change=nothing, refused=problem)
    recorded = events[0]
    assert isinstance(recorded, CaseRuled), "a ruling begins with what was ruled"
    now = _points_with_penalties(match, after.play)
    return Outcome(
        verdict=verdict,
        offence=case.offence,
        payer=recorded.payer,
        penalty=recorded.penalty,
        change=tuple(new - old for old, new in zip(before, now, strict=True)),
        refused=None,
    )


def _points_with_penalties(match: Match, play: Any) -> tuple[float, ...]:
    """Return the points by seat, including penalties in the deal under way."""
    shown = match.rules.view(play, "official")
    penalties = shown.penalties or (0,) * len(shown.points)
    return tuple(points + penalty for points, penalty in zip(shown.points, penalties, strict=True))


def _prices(match: Match, case: state.Case, language: Language) -> Iterator[Price]:
    """Yield the :attr:`~RulingForm.prices` of the form."""
    if case.accused is None or not remedies.awaits_score(match.state, case):
        return
    for offence in match.rules.offences:
        with suppress(Refused):  # the offence is impossible now or costs nothing
            payer, points, rule = remedies.price(match.rules, match.play, offence, case.accused)
            name = sentences.offence(offence, language)
            yield Price(offence=offence, name=name, rule=rule, payer=payer, penalty=points)


class Draft(Value):
    """The part of a file that is read from its match."""

    match: Match
    case: Case
    facts: Facts
    timeline: tuple[Happened, ...]
    form: RulingForm | None
    cited: tuple[str, ...]
    """Rules of the case's rulings, and of the price of its offence."""


def read_draft(referee: Referee, match: Match, case: Case, caller: Caller, language: Language, at: datetime) -> Draft:
    """Return the draft of a file.

    This may take long, because the form for a finished deal scores the deal again.
    """
    history = read_whole(referee, match.id, match.version)
    official = caller.viewer == "official"
    form = form_of(match, case.case, history, caller.required_actor, language, at) if official else None
    offence = case.offence or case.named
    prices = () if form is None else form.prices
    cited = [one.rule for one in case.rulings] + [one.rule for one in prices if one.offence == offence]
    return Draft(
        match=match,
        case=case,
        facts=_facts_of(match, case, language),
        timeline=_timeline_of(match, case, history, caller),
        form=form,
        cited=tuple(dict.fromkeys(cited)),
    )


def file_of(
    drafted: Draft, earlier: Iterable[tuple[Listed, CaseRuled]], viewer: Viewer, language: Language, at: datetime
) -> CaseFile:
    """``earlier``: rulings on other cases by the rules in ``drafted.cited``."""
    match, form = drafted.match, drafted.form
    terms = match.opened.adjudication
    more = () if form is None else (*(one.rule for one in form.prices), *FORM_RULES)
    cited = dict.fromkeys((drafted.case.rule, *drafted.cited, *more))
    return CaseFile(
        match=str(match.id),
        version=match.version,
        ruleset=match.opened.ruleset,
        viewer=viewer_seen(viewer),
        made_at=at,
        players=seated_players(match),
        officials=() if terms is None else terms.officials,
        case=drafted.case,
        facts=drafted.facts,
        timeline=drafted.timeline,
        rules=tuple(_rules_cited(match, cited, language)),
        precedents=tuple(_earlier_ruling(*one) for one in earlier),
        form=form,
    )


def _rules_cited(match: Match, cited: Iterable[str], language: Language) -> Iterator[RuleCited]:
    """Yield the rules of the game and the procedure with these ids. Omit unknown ids."""
    for rule in cited:
        for key in (match.opened.ruleset, rulebook.PROCEDURE):
            with suppress(KeyError):
                shown = rule_shown(rulebook.load(key).rule(rule), language)
                yield RuleCited(**msgspec.structs.asdict(shown), href=rule_page(rule) or f"/v1/rulesets/{key}/rules")


def _earlier_ruling(listed: Listed, ruled: CaseRuled) -> EarlierRuling:
    return EarlierRuling(
        match=str(listed.match),
        case=listed.case,
        ruleset=listed.ruleset,
        opened_at=listed.opened_at,
        official=ruled.official,
        verdict=ruled.verdict,
        standard=ruled.standard,
        rule=ruled.rule,
        offence=ruled.offence,
        penalty=ruled.penalty,
        reason=ruled.reason,
        href=f"/v1/matches/{listed.match}/knocks/{listed.case}/file",
    )
