"""The file of a case as an HTML page."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from api.cases.case import RulingMade
from api.cases.documents import WORDS, CaseFile, EarlierRuling, Fact, Outcome
from api.docs.pages import render, words_in
from api.http.replies import encode
from api.matches.schemas import EventSeen
from referee import rulebook, sentences
from referee.actors import Actor, is_official, place_of, seat_of
from referee.games import RULESETS
from referee.sentences import Language


def page_of(file: CaseFile, language: Language) -> bytes:
    page = _Page(file, language)
    game = getattr(rulebook.load(file.ruleset).title, language)
    title = page.word("title", case=file.case.case, game=game)
    return render(
        "case.html",
        "case",
        language,
        title,
        page=page,
        file=file,
        case=file.case,
        word=page.word,
        statuses=WORDS.statuses,
        verdicts=WORDS.verdicts,
        standards=WORDS.standards,
        in_utc=_in_utc,
    )


def _in_utc(at: datetime) -> datetime:
    return at.astimezone(UTC)


class _Page:
    """Sentences for the template, which escapes them."""

    def __init__(self, file: CaseFile, language: Language) -> None:
        self.file, self.case, self.language = file, file.case, language
        self.word = words_in(language, WORDS.words)
        # A payment lowers a balance, but a penalty raises a score.
        self.sign = -1 if RULESETS[file.ruleset].has_pot else 1

    def name(self, actor: Actor | None) -> str:
        """Return the name of an actor, or the actor if it has none; None: the referee."""
        if actor is None:
            return self.word("referee")
        seat = seat_of(actor)
        if seat is not None:
            return self.player(seat)
        place = place_of(actor) if is_official(actor) else None
        return self.file.officials[place] if place is not None and place < len(self.file.officials) else actor

    def player(self, seat: int) -> str:
        return self.file.players[seat].name

    def names(self, actors: Iterable[Actor]) -> str:
        """Return the names of actors; "–" without actors."""
        return ", ".join(map(self.name, actors)) or "–"

    @property
    def players(self) -> str:
        return ", ".join(player.name for player in self.file.players)

    @property
    def officials(self) -> str:
        return self.names(f"official:{place}" for place in range(1, len(self.file.officials) + 1))

    def points(self, penalty: int) -> str:
        """Return the change of the payer's points, with its sign."""
        return f"{self.sign * penalty:+d}"

    def claim(self, fact: Fact) -> str:
        """Return a claim, with the names of its supporters and deniers."""
        claim = f"{fact.text} {self.word('said_by')}: {self.names(fact.said_by)}."
        return f"{claim} {self.word('denied_by')}: {self.names(fact.denied_by)}." if fact.denied_by else claim

    def statements(self) -> Iterator[tuple[str, str]]:
        """Yield, for the knock, statements and appeals in order, a sentence and the quoted text or ""."""
        case = self.case
        found = [(case.event, f"{self.name(case.by)} {self.word('knocked')}. {self._claimed_result()}", case.note)]
        for said in case.statements:
            what = self.word("joined" if said.knocked else "agrees" if said.agrees else "denies")
            found.append((said.event, f"{self.player(said.seat)} {what}.{self._events(said.events)}", said.text))
        for appeal in case.appeals:
            ruled = next(one for one in reversed(case.rulings) if one.event < appeal.event)
            who = self.name(ruled.official) if appeal.seat is None else self.player(appeal.seat)
            what = self.word("own_error" if appeal.seat is None else "appealed")
            found.append((appeal.event, f"{who} {what}.", appeal.text))
        for _, text, quoted in sorted(found):
            yield text, quoted

    def _claimed_result(self) -> str:
        result = self.case.result
        return "" if result is None else f"{self.word('result')}: {encode(result).decode()}"

    def _events(self, numbers: Iterable[int]) -> str:
        text = ", ".join(map(str, numbers))
        return f" {self.word('events')}: {text}." if text else ""

    def ruling(self, ruled: RulingMade) -> str:
        sure = "" if ruled.standard is None else f", {WORDS.standards[ruled.standard].in_(self.language)}"
        cost = "" if ruled.payer is None else f" {self.player(ruled.payer)} {self.points(ruled.penalty)}."
        verdict = WORDS.verdicts[ruled.verdict].in_(self.language)
        return f"{verdict}, {self.name(ruled.official)}, {ruled.rule}{sure}.{cost}{self._events(ruled.rests_on)}"

    def precedent(self, earlier: EarlierRuling) -> str:
        offence = "" if earlier.offence is None else f", {sentences.offence(earlier.offence, self.language)}"
        verdict = WORDS.verdicts[earlier.verdict].in_(self.language)
        standard = WORDS.standards[earlier.standard].in_(self.language)
        return f"{verdict}, {earlier.rule}{offence}, {self.points(earlier.penalty)}, {standard}."

    def fields(self, event: EventSeen) -> str:
        """Return the fields of an event, without ``topic``, ``case`` and empty fields."""
        return "; ".join(
            f"{name} {value if isinstance(value, str) else encode(value).decode()}"
            for name, value in event.event.items()
            if name not in ("topic", "case") and value not in (None, "", (), [], {})
        )

    def cost(self, outcome: Outcome) -> str:
        """Return each player's change of points, else the payer's later penalty, or the refusal."""
        if outcome.refused is not None:
            return f"{outcome.refused.title}. {outcome.refused.detail}"
        costs = [f"{self.player(seat)} {change:+g}" for seat, change in enumerate(outcome.change) if change]
        if not costs and outcome.payer is not None and outcome.penalty:
            costs = [f"{self.player(outcome.payer)} {self.points(outcome.penalty)}"]
        return ", ".join(costs) or self.word("costs_nothing")
