"""The file of a case as one document for who rules on it: what is agreed and what is not, what happened and when, the
rules, earlier rulings on them, and a form with prices."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from importlib.resources import files
from typing import Any

import msgspec

from api.access.caller import Caller
from api.cases.case import Case
from api.docs.rule_texts import RuleShown, rule_shown
from api.http.problems import Document, document_of_refusal, rule_page
from api.matches.schemas import EventSeen, RulesetSeen, Seated, event_seen, seated
from projections.cases import Listed
from referee import rulebook, sentences, wire_types
from referee.actors import Actor, officials
from referee.events import DealScored
from referee.officials import remedies, state
from referee.officials.events.cases import CaseRuled
from referee.refusals import Refused
from referee.requests import RemedySent, Ruling
from referee.ruleset import Moment
from referee.sentences import Language, Text
from referee.store.match import Match
from referee.value import OffenceText, Points, RuleId, Seat, Standard, Time, Value, Verdict, Version
from referee.visibility import Recorded, Viewer

FOR_FORM = ("J3", "J4", "J7")
"""By which an official rules."""
ARTICLES = ("digest", "prev", "request")
"""What an event is proved by, which no file needs."""


class Words(Value, forbid_unknown_fields=True):
    """The words of a file, by code."""

    claims: dict[str, Text]
    words: dict[str, Text]
    statuses: dict[str, Text]
    verdicts: dict[str, Text]
    standards: dict[str, Text]


WORDS = msgspec.toml.decode((files("api.docs") / "case_page.toml").read_bytes(), type=Words)
"""``case_page.toml`` is for a translator to read and change."""


class Fact(Value):
    """Something that is said in a case, and who says so."""

    text: wire_types.Sentence
    """It, in the language of the answer."""
    said_by: wire_types.Many[Actor]
    """Who says so: seats, or an official who opened the case."""
    denied_by: wire_types.Seats
    """The seats that say it was not so."""
    events: wire_types.Events
    """Those that who says so has named."""


class Facts(Value):
    """What is said in a case, by what the seats said last: what opened it, and which events bear on it."""

    agreed: wire_types.Many[Fact]
    """What both sides say: who would pay, or of a wrong line all other seats, with who opened it (J2)."""
    disputed: wire_types.Many[Fact]
    """What somebody denies."""
    unanswered: wire_types.Many[Fact]
    """What one side says, and the other has not answered."""


class Happened(Value):
    """An event of the deal that the case is about, or of the case."""

    event: EventSeen
    """It, as the caller may see it."""
    of_case: bool
    """Whether it is part of the case."""
    named_by: wire_types.Many[Actor]
    """Who has named it in the case."""
    href: wire_types.Path
    """Where it stands among the events of the match."""
    replay: wire_types.Path
    """The match as it stood after it."""


class RuleCited(RuleShown, kw_only=True):
    """A rule that the case or its form cites, in the language of the answer."""

    href: wire_types.Path
    """Where it can be read."""


class EarlierRuling(Value):
    """The last ruling of an official in an earlier case."""

    match: wire_types.MatchId
    case: wire_types.CaseNumber
    ruleset: RulesetSeen
    opened_at: Time
    """When that case was opened."""
    official: Actor | None
    """Which of the officials of that match ruled."""
    verdict: Verdict
    """Whether who opened it was right."""
    standard: Standard
    """How sure the facts were."""
    rule: RuleId
    """What it is based on."""
    offence: OffenceText | None
    """What was done, or was not; null: it was about a line of the protocol."""
    penalty: wire_types.WholePoints
    """By how many points it was punished."""
    reason: wire_types.Text
    """Why, in the official's own words; empty: none given, or not told before the deal is over."""
    href: wire_types.Path
    """Its file."""


class Price(Value):
    """What the game asks for an offence in the deal under way."""

    offence: OffenceText
    name: wire_types.Sentence
    """It, in the language of the answer."""
    rule: RuleId
    """The rule that it is against."""
    payer: Seat
    """Who would pay."""
    penalty: wire_types.WholePoints
    """How many points; of what falls due with the score, how many then."""


class Outcome(Value):
    """What a verdict would come to if it were given now. Nothing of it is stored."""

    verdict: Verdict
    """Whether who opened it is right."""
    offence: OffenceText | None
    """The one that the case names; null: it is about a line of the protocol."""
    payer: Seat | None
    """Who would pay; null: nobody."""
    penalty: wire_types.WholePoints
    """How many points `payer` would pay; 0: none."""
    change: wire_types.BySeat[Points]
    """By seat, how the points would change at once, with those of the deal under way."""
    refused: Document | None
    """Why it could not be given now; null: it could."""


class RulingForm(Value):
    """What an official needs to rule, with prices."""

    action: wire_types.Path
    """Where the ruling is sent."""
    yours: bool
    """Whether the caller may give it: nobody rules twice on a case (J7), but for his own error (J10)."""
    outcomes: wire_types.Many[Outcome]
    """What each verdict would cost whom."""
    prices: wire_types.Many[Price]
    """In a deal that is not scored, each offence with its price: the official may find another one. Empty: it is."""


class CaseFile(Value):
    """The file of a case for who rules on it, as the caller may see it."""

    match: wire_types.MatchId
    version: Version
    ruleset: RulesetSeen
    viewer: Viewer
    """As whom the caller sees it."""
    made_at: Time
    """When it was put together."""
    players: wire_types.BySeat[Seated]
    officials: wire_types.Officials
    """The names of the officials, the first one first; empty: none attend to the match."""
    case: Case
    """What was said in it and ruled."""
    facts: Facts
    """What is agreed, and what is not."""
    timeline: wire_types.Many[Happened]
    """The events of the deal and of the case, in order."""
    rules: wire_types.Many[RuleCited]
    """Each rule that is cited."""
    precedents: wire_types.Many[EarlierRuling]
    """Earlier rulings by the same rules, the latest first: for an official of all matches that he sees, for a party
    of this one."""
    form: RulingForm | None
    """For an official while the case waits for a ruling; null: not the caller's, or it does not wait."""


# What is said


def facts_of(match: Match, case: Case, language: Language) -> Facts:
    """J2: Return what both sides say, what a seat denies, and what is not answered."""
    last = _said_last(case)
    sayers = [actor for actor, agrees in last.items() if agrees]
    deniers = tuple(sorted(actor for actor, agrees in last.items() if not agrees and isinstance(actor, int)))
    others = {seat for seat in range(len(match.opened.players)) if seat != case.by}
    paying = {seat for seat in (case.accused, case.payer) if seat is not None}
    met = others <= set(sayers) if case.kind == "entry" else bool(paying & set(sayers))
    naming = named(case)
    claim = Fact(
        text=_claim(match, case, language),
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


def _said_last(case: Case) -> dict[Actor, bool]:
    """Return for each actor whether it said the claim is true, last. An appeal denies what was upheld, and repeats
    what was dismissed."""
    said: list[tuple[int, Actor, bool]] = [(one.event, one.seat, one.agrees) for one in case.statements]
    for appeal in case.appeals:
        if appeal.seat is not None:
            against = next(ruling for ruling in reversed(case.rulings) if ruling.event < appeal.event)
            said.append((appeal.event, appeal.seat, against.verdict == "dismissed"))
    return {case.by: True} | {actor: agrees for _, actor, agrees in sorted(said, key=lambda one: one[0])}


def _claim(match: Match, case: Case, language: Language) -> str:
    """What was said by who opened the case."""
    facts, offence = {"deal": str(case.deal)}, case.named or case.offence
    if case.accused is not None and offence is not None:
        facts["accused"] = match.opened.players[case.accused]
        facts["did"] = sentences.TEXTS.offences[offence].did.in_(language)
    template = WORDS.claims.get(case.kind)
    if template is None or not sentences.fields(template.in_(language)) <= facts.keys():
        return case.why
    return sentences.sentence(template.in_(language), facts)


def named(case: Case) -> dict[int, tuple[Actor, ...]]:
    """The events that were named in a case, and by whom."""
    found: dict[int, list[Actor]] = {}
    for said in case.statements:
        for number in said.events:
            if said.seat not in found.setdefault(number, []):
                found[number].append(said.seat)
    return {number: tuple(names) for number, names in found.items()}


# What happened


def _deal(case: Case, history: Sequence[Recorded]) -> tuple[int, int]:
    """The deal that a case is about: the event before its first, be it the opening, and its last one."""
    scores = [(one.originator_version, one.event.deal) for one in history if isinstance(one.event, DealScored)]
    own = [number for number, deal in scores if deal == case.deal and number < case.event]
    last = own[-1] if own else next((number for number, _ in scores if number > case.event), len(history))
    return max((number for number, _ in scores if number < min(last, case.event)), default=1), last


def timeline_of(match: Match, case: Case, history: Sequence[Recorded], caller: Caller) -> tuple[Happened, ...]:
    """The events of the deal that a case is about, and those of the case."""
    before, last = _deal(case, history)
    naming = named(case)

    def happened() -> Iterator[Happened]:
        for one in history:
            number, of_case = one.originator_version, getattr(one.event, "case", None) == case.case
            if not (before < number <= last or of_case or number in naming):
                continue
            told_of = event_seen(one, caller, number <= match.public_to)
            fields = {name: value for name, value in told_of.items() if name not in ARTICLES}
            yield Happened(
                event=EventSeen(**fields | {"event": msgspec.to_builtins(told_of["event"])}),
                of_case=of_case,
                named_by=naming.get(number, ()),
                href=f"/v1/matches/{match.id}/events?after={number - 1}&limit=1",
                replay=f"/v1/matches/{match.id}/replay?at={number}",
            )

    return tuple(happened())


# The form


def form_of(
    match: Match, number: int, history: Sequence[Recorded], actor: Actor, language: Language, at: datetime
) -> RulingForm | None:
    """J3: what each verdict would cost whom, by the game's own prices; ``None`` where no ruling is awaited."""
    docket = match.docket
    if docket is None or docket.terms is None:
        return None
    case = docket.case(number)
    if not case.is_open:
        return None
    # Whoever rules, it costs the same: priced for one who may.
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
    asked = Ruling(
        case=case.case,
        verdict=verdict,
        standard="beyond_reasonable_doubt",  # with it a ruling may be given at any time (J8)
        rule="J3",
        remedy=RemedySent(result=case.result if verdict == "upheld" else None),
    )
    before = _standing(match, match.state)
    try:
        events, after = match.procedure.take(match.standing, asked, moment)
    except Refused as refused:
        told_of = document_of_refusal(refused, f"/v1/matches/{match.id}/knocks/{case.case}/ruling", language)
        nothing = (0,) * len(before)
        return Outcome(verdict=verdict, offence=case.offence, payer=None, penalty=0, change=nothing, refused=told_of)
    ruled = events[0]
    assert isinstance(ruled, CaseRuled), "a ruling begins with what was ruled"
    now = _standing(match, after.play)
    return Outcome(
        verdict=verdict,
        offence=case.offence,
        payer=ruled.payer,
        penalty=ruled.penalty,
        change=tuple(new - old for old, new in zip(before, now, strict=True)),
        refused=None,
    )


def _standing(match: Match, state: Any) -> tuple[float, ...]:
    """By seat, the points with those of the deal under way."""
    shown = match.rules.view(state, "official")
    penalties = shown.penalties or (0,) * len(shown.points)
    return tuple(points + penalty for points, penalty in zip(shown.points, penalties, strict=True))


def _prices(match: Match, case: state.Case, language: Language) -> Iterator[Price]:
    if case.accused is None or not remedies.is_in_its_deal(match.standing, case):
        return
    for offence in match.rules.offences:
        with suppress(Refused):  # which is not possible now, or costs nothing
            payer, points, rule = remedies.price(match.rules, match.state, offence, case.accused)
            name = sentences.offence(offence, language)
            yield Price(offence=offence, name=name, rule=rule, payer=payer, penalty=points)


# Put together


class Draft(Value):
    """A file without what other matches tell."""

    match: Match
    case: Case
    facts: Facts
    timeline: tuple[Happened, ...]
    form: RulingForm | None
    cited: tuple[str, ...]
    """The rules by which it was ruled, or would be."""


def draft(
    match: Match,
    case: Case,
    history: Sequence[Recorded],
    caller: Caller,
    language: Language,
    at: datetime,
) -> Draft:
    """All that the match itself tells of a case. May take the processor for long: a ruling on a deal that is over
    scores it anew."""
    official = caller.viewer == "official"
    form = form_of(match, case.case, history, caller.acting, language, at) if official else None
    offence = case.offence or case.named
    prices = () if form is None else form.prices
    cited = [one.rule for one in case.rulings] + [one.rule for one in prices if one.offence == offence]
    return Draft(
        match=match,
        case=case,
        facts=facts_of(match, case, language),
        timeline=timeline_of(match, case, history, caller),
        form=form,
        cited=tuple(dict.fromkeys(cited)),
    )


def file_of(
    drafted: Draft, earlier: Iterable[tuple[Listed, CaseRuled]], viewer: Viewer, language: Language, at: datetime
) -> CaseFile:
    """The whole file."""
    match, form = drafted.match, drafted.form
    terms = match.opened.adjudication
    more = () if form is None else (*(one.rule for one in form.prices), *FOR_FORM)
    cited = dict.fromkeys((drafted.case.rule, *drafted.cited, *more))
    return CaseFile(
        match=str(match.id),
        version=match.version,
        ruleset=match.opened.ruleset,
        viewer=viewer,
        made_at=at,
        players=seated(match),
        officials=() if terms is None else terms.officials,
        case=drafted.case,
        facts=drafted.facts,
        timeline=drafted.timeline,
        rules=tuple(_rules(match, cited, language)),
        precedents=tuple(_earlier(*one) for one in earlier),
        form=form,
    )


def _rules(match: Match, cited: Iterable[str], language: Language) -> Iterator[RuleCited]:
    for rule in cited:
        for key in (match.opened.ruleset, rulebook.PROCEDURE):
            with suppress(KeyError):
                shown = rule_shown(rulebook.load(key).rule(rule), language)
                yield RuleCited(**msgspec.structs.asdict(shown), href=rule_page(rule) or f"/v1/rulesets/{key}/rules")


def _earlier(one: Listed, ruled: CaseRuled) -> EarlierRuling:
    return EarlierRuling(
        match=str(one.match),
        case=one.case,
        ruleset=one.ruleset,
        opened_at=one.opened_at,
        official=ruled.official,
        verdict=ruled.verdict,
        standard=ruled.standard,
        rule=ruled.rule,
        offence=ruled.offence,
        penalty=ruled.penalty,
        reason=ruled.reason,
        href=f"/v1/matches/{one.match}/knocks/{one.case}/file",
    )
