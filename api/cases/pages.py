"""The file of a case as an HTML page. Every text is escaped."""

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Any

from api.cases.case import RulingMade
from api.cases.documents import WORDS, CaseFile, EarlierRuling, Fact, Happened, Outcome, RulingForm
from api.docs.pages import framed
from api.http.replies import encode
from api.matches.schemas import EventSeen
from referee import rulebook, sentences
from referee.actors import Actor, is_official, place_of, seat_of
from referee.games import RULESETS
from referee.sentences import Language, Text


def page_of(file: CaseFile, language: Language) -> bytes:
    page = _Page(file, language)
    return framed("case", language, page.title, "\n".join(page.parts()))


def _in(name: str, inner: str, **attributes: str) -> str:
    """Return an element. ``inner`` is HTML."""
    attribute_text = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{attribute_text}>{inner}</{name}>"


def _quote(text: str) -> str:
    return _in("blockquote", escape(text)) if text else ""


def _list(items: Iterable[str]) -> str:
    return _in("ul", "".join(_in("li", item) for item in items))


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


class _Page:
    def __init__(self, file: CaseFile, language: Language) -> None:
        self.file, self.case, self.language = file, file.case, language
        # Payments lower a balance, penalty points raise the score.
        self.sign = -1 if RULESETS[file.ruleset].has_pot else 1
        game = getattr(rulebook.load(file.ruleset).title, language)
        facts = {"case": str(file.case.case), "game": game}
        self.title = sentences.sentence(WORDS.words["title"].in_(language), facts)

    def word(self, code: str, words: dict[str, Text] = WORDS.words) -> str:
        return escape(words[code].in_(self.language))

    def name(self, actor: Actor | None) -> str:
        if actor is None:
            return self.word("referee")
        seat = seat_of(actor)
        if seat is not None:
            return self.player(seat)
        place = place_of(actor) if is_official(actor) else None
        return escape(self.file.officials[place] if place is not None and place < len(self.file.officials) else actor)

    def player(self, seat: int) -> str:
        return escape(self.file.players[seat].name)

    def names(self, actors: Iterable[Actor]) -> str:
        return ", ".join(map(self.name, actors)) or "–"

    def time(self, at: datetime) -> str:
        at = at.astimezone(UTC)
        return _in("time", at.strftime("%Y-%m-%d %H:%M:%S UTC"), datetime=at.isoformat())

    def terms(self, **values: str) -> str:
        """Return the non-empty values with their terms."""
        pairs = (f"<dt>{self.word(code)}</dt><dd>{value}</dd>" for code, value in values.items() if value)
        return _in("dl", "".join(pairs))

    def part(self, code: str, inner: str) -> str:
        return _in("section", f'<h2 id="{code}">{self.word(code)}</h2>{inner}', **{"aria-labelledby": code})

    def table(self, heads: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "") -> str:
        """Return a table whose rows begin with their headings."""
        head = "".join(_in("th", self.word(code), scope="col") for code in heads)
        body = "".join(
            f'<tr><th scope="row">{first}</th>{"".join(_in("td", cell) for cell in rest)}</tr>'
            for first, *rest in rows
        )
        caption_html = _in("caption", caption) if caption else ""
        return _in("table", f"{caption_html}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>")

    def parts(self) -> Iterable[str]:
        """Yield the parts from top to bottom."""
        file = self.file
        yield _in("h1", escape(self.title))
        yield _in("p", escape(self.case.why))
        yield self.head()
        yield self.part("facts", "".join(map(self.facts, ("agreed", "disputed", "unanswered"))))
        yield self.part("statements", self.said())
        if self.case.rulings:
            yield self.part("rulings", _list(map(self.ruling, self.case.rulings)))
        yield self.part("rules", _list(map(self.rule, file.rules)))
        yield self.part("precedents", self.list_of(map(self.precedent, file.precedents)))
        if file.form is not None:
            yield self.part("form", self.form(file.form))
        yield self.part("timeline", _list(map(self.happened, file.timeline)))

    def head(self) -> str:
        file, case = self.file, self.case
        return self.terms(
            status=self.word(case.status, WORDS.statuses),
            appeal_until=self.time(case.appeal_until) if case.appeal_until else "",
            match=escape(file.match),
            deal="" if case.deal is None else str(case.deal),
            players=", ".join(map(self.player, range(len(file.players)))),
            officials=self.names(f"official:{place}" for place in range(1, len(file.officials) + 1)),
            made=f"{self.time(file.made_at)}, {self.word('version')} {file.version}",
        )

    def facts(self, code: str) -> str:
        found: tuple[Fact, ...] = getattr(self.file.facts, code)
        return f"<h3>{self.word(code)}</h3>{self.list_of(map(self.fact, found))}"

    def list_of(self, items: Iterable[str]) -> str:
        """Return a list, or a note that it is empty."""
        found = list(items)
        return _list(found) if found else _in("p", self.word("none"))

    def fact(self, fact: Fact) -> str:
        claim = f"{escape(fact.text)} {self.word('said_by')}: {self.names(fact.said_by)}."
        return f"{claim} {self.word('denied_by')}: {self.names(fact.denied_by)}." if fact.denied_by else claim

    def said(self) -> str:
        case = self.case
        items = [
            (case.event, f"{self.name(case.by)} {self.word('knocked')}. {self.claimed_result()}{_quote(case.note)}")
        ]
        for said in case.statements:
            what = self.word("joined" if said.knocked else "agrees" if said.agrees else "denies")
            events = f" {self.word('events')}: {_numbers(said.events)}." if said.events else ""
            items.append((said.event, f"{self.player(said.seat)} {what}.{events}{_quote(said.text)}"))
        for appeal in case.appeals:
            ruled = next(one for one in reversed(case.rulings) if one.event < appeal.event)
            who = self.name(ruled.official) if appeal.seat is None else self.player(appeal.seat)
            what = self.word("own_error" if appeal.seat is None else "appealed")
            items.append((appeal.event, f"{who} {what}.{_quote(appeal.text)}"))
        hidden = "" if self.file.viewer == "official" else _in("p", self.word("hidden"))
        return _list(text for _, text in sorted(items)) + hidden

    def claimed_result(self) -> str:
        result = self.case.result
        return "" if result is None else f"{self.word('result')}: {escape(encode(result).decode())}"

    def ruling(self, ruled: RulingMade) -> str:
        sure = "" if ruled.standard is None else f", {self.word(ruled.standard, WORDS.standards)}"
        cost = "" if ruled.payer is None else f" {self.player(ruled.payer)} {self.sign * ruled.penalty:+d}."
        events = f" {self.word('events')}: {_numbers(ruled.rests_on)}." if ruled.rests_on else ""
        verdict = (
            f"{self.word(ruled.verdict, WORDS.verdicts)}, {self.name(ruled.official)}, {escape(ruled.rule)}{sure}."
        )
        return f"{verdict}{cost}{events} {self.time(ruled.at)}{_quote(ruled.reason)}"

    def rule(self, rule: Any) -> str:
        return f"{_in('a', escape(rule.id), href=rule.href)} {escape(rule.text)}"

    def precedent(self, one: EarlierRuling) -> str:
        offence = "" if one.offence is None else f", {escape(sentences.offence(one.offence, self.language))}"
        link = _in("a", f"{self.word('case')} {one.case}, {self.word('match')} {escape(one.match)}", href=one.href)
        verdict = (
            f"{self.word(one.verdict, WORDS.verdicts)}, {escape(one.rule)}{offence}, {self.sign * one.penalty:+d}"
        )
        sure = self.word(one.standard, WORDS.standards)
        return f"{link}, {self.time(one.opened_at)}: {verdict}, {sure}.{_quote(one.reason)}"

    def happened(self, one: Happened) -> str:
        event, topic = one.event, one.event.event["topic"]
        values = (
            f"{name} {value if isinstance(value, str) else encode(value).decode()}"
            for name, value in _values_of(event)
        )
        naming = f" – {self.word('named_by')} {self.names(one.named_by)}" if one.named_by else ""
        what = f"{_in('span', escape(topic), class_='of-case') if one.of_case else escape(topic)}"
        replay = _in("a", f"{self.word('replay')} ({event.number})", href=one.replay)
        number = _in("a", str(event.number), href=one.href)
        who = self.name(event.actor)
        return f"{number}, {self.time(event.at)}: {what}, {who}: {escape('; '.join(values))}{naming}. {replay}"

    def form(self, form: RulingForm) -> str:
        outcomes = self.table(
            ("verdict", "would_cost"),
            ((self.box(self.word(one.verdict, WORDS.verdicts)), self.cost(one)) for one in form.outcomes),
        )
        prices = (
            (escape(one.name), self.player(one.payer), f"{self.sign * one.penalty:+d} ({escape(one.rule)})")
            for one in form.prices
        )
        priced = self.table(("offence", "payer", "points"), prices, self.word("prices")) if form.prices else ""
        sure = _list(self.box(self.word(code, WORDS.standards)) for code in WORDS.standards)
        blanks = "".join(
            f'<dt>{self.word(code)}</dt><dd class="blank"></dd>' for code in ("rule", "events", "reason", "signed")
        )
        return f"{outcomes}{priced}<h3>{self.word('standard')}</h3>{sure}{_in('dl', blanks)}"

    def cost(self, one: Outcome) -> str:
        """Return the cost of a verdict, or its refusal."""
        if one.refused is not None:
            return escape(f"{one.refused.title}. {one.refused.detail}")
        costs = [f"{self.player(seat)} {change:+g}" for seat, change in enumerate(one.change) if change]
        if not costs and one.payer is not None and one.penalty:
            costs = [f"{self.player(one.payer)} {self.sign * one.penalty:+d}"]
        return ", ".join(costs) or self.word("costs_nothing")

    def box(self, label: str) -> str:
        return f'<span class="box"></span>{label}'


def _values_of(event: EventSeen) -> Iterable[tuple[str, str]]:
    """Yield the fields of an event, without its case and empty ones."""
    for name, value in event.event.items():
        if name not in ("topic", "case") and value not in (None, "", (), [], {}):
            yield name, value if isinstance(value, str) else encode(value).decode()
