"""Read the text of a deal, as :func:`write` returns it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from referee import actors
from referee.actors import Actor
from referee.acts import Deal as DealAct
from referee.acts import Knock
from referee.events import Stakes
from referee.games import RULESETS
from referee.notation.deals import Correction, Deal, Done, Header, Result, ResultWas, Ruling
from referee.notation.words import ACTS_BY_LINE_WORD, ACTS_WITHOUT_SEAT, CARD_TEXTS, KINDS, LINE_WORD_WIDTH, WORDS
from referee.notation.writing import DEAL_SEPARATOR, write
from referee.ruleset import Ruleset


class Unreadable(ValueError):
    """The text is not a deal. ``line`` counts from 1; ``message`` states the error and the right form."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line, self.message = line, message


class _Lines:
    """The lines of a text. ``at``: number of lines already read.

    The word of a line fills its first ``LINE_WORD_WIDTH`` characters.
    """

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.at = 0

    @property
    def number(self) -> int:
        """Number of the next line, or of the last, from 1."""
        return min(self.at, len(self.lines) - 1) + 1

    def word(self, after: int = 0) -> str | None:
        """Return the word of the next line or of one ``after`` lines later; ``None`` after the last line."""
        place = self.at + after
        return self.lines[place][:LINE_WORD_WIDTH].rstrip(" ") if place < len(self.lines) else None

    def take(self) -> str:
        """Move past the next line. Return its text after the word."""
        self.at += 1
        return self.lines[self.at - 1][LINE_WORD_WIDTH:]

    def error(self, message: str) -> Unreadable:
        """Return the error for the line read last."""
        return Unreadable(max(self.at, 1), message)

    def take_required(self, word: str) -> str:
        """Take the next line. Raises ``Unreadable`` unless it has this word."""
        if self.word() != word:
            raise Unreadable(self.number, f"expected a line {word!r}")
        return self.take()

    def take_optional(self, word: str) -> str | None:
        """Take the next line if it has this word; else return ``None``."""
        return self.take() if self.word() == word else None

    def section_follows(self, word: str) -> bool:
        """Return whether an empty line and one with this word follow."""
        return self.word() == "" and self.word(after=1) == word

    def take_blank(self) -> None:
        """Move past an empty line. Raises ``Unreadable`` if the next line is not empty."""
        if self.at >= len(self.lines) or self.lines[self.at]:
            raise Unreadable(self.number, "expected an empty line")
        self.at += 1


# Functions below that take ``lines`` raise ``Unreadable`` for a wrong text. ``_optional_…``: ``None`` if the line is
# missing.


def _read_number(text: str, halves: bool) -> int | None:
    """Return the number, doubled if ``halves``; ``None`` if the text is no number."""
    found = re.fullmatch(r"(-?)(\d{1,18})(½?)", text)
    if found is None or (found[3] and not halves):
        return None
    number = int(found[2]) * (2 if halves else 1) + bool(found[3])
    return -number if found[1] else number


def _read_scores(lines: _Lines, text: str, seats: int) -> tuple[tuple[int, ...], bool]:
    """Return the points by seat, and whether they count halves."""
    halves = text.endswith("  in halves")
    items = text.removesuffix("  in halves").split("  ")
    right = "  ".join(f"P{seat + 1} n" for seat in range(seats))
    numbers = []
    for seat, item in enumerate(items):
        player, _, points = item.partition(" ")
        number = _read_number(points, halves)
        if player != f"P{seat + 1}" or number is None:
            raise lines.error(f"{item!r} should be the points of P{seat + 1}; the line has the form {right!r}")
        numbers.append(number)
    if len(numbers) != seats:
        raise lines.error(f"expected points for {seats} players: {right!r}")
    return tuple(numbers), halves


def _read_seat(lines: _Lines, text: str, seats: int) -> int:
    if re.fullmatch(r"P[1-8]", text) is None or int(text[1]) > seats:
        raise lines.error(f"{text!r} should be a player, P1 to P{seats}")
    return int(text[1]) - 1


def _read_seats(lines: _Lines, text: str | None, seats: int) -> tuple[int, ...]:
    return () if text is None else tuple(_read_seat(lines, one, seats) for one in text.split(" "))


def _check_one_of(lines: _Lines, text: str, allowed: tuple[str, ...]) -> Any:
    if text not in allowed:
        raise lines.error(f"{text!r} should be one of {', '.join(allowed)}")
    return text


def _read_int(lines: _Lines, text: str) -> int:
    number = _read_number(text, False)
    if number is None:
        raise lines.error(f"{text!r} should be a whole number")
    return number


def _optional_int(lines: _Lines, word: str) -> int | None:
    text = lines.take_optional(word)
    return None if text is None else _read_int(lines, text)


def _optional_scores(lines: _Lines, word: str, seats: int) -> tuple[int, ...] | None:
    text = lines.take_optional(word)
    return None if text is None else _read_scores(lines, text, seats)[0]


def _read_options(lines: _Lines, rules: Ruleset) -> dict[str, Any]:
    known = tuple(sorted(rules.options.__struct_fields__))
    options: dict[str, Any] = {}
    while (text := lines.take_optional("option")) is not None:
        name, _, value = text.partition(" ")
        _check_one_of(lines, name, known)
        try:
            options[name] = json.loads(value)
            msgspec.convert({name: options[name]}, rules.options)
        except ValueError as error:
            raise lines.error(f"the value of {name} cannot be read: {error}") from None
    return options


def _read_carried(lines: _Lines) -> dict[str, Any]:
    carried: dict[str, Any] = {}
    while (text := lines.take_optional("carried")) is not None:
        name, _, value = text.partition(" ")
        try:
            carried[name] = json.loads(value)
        except ValueError:
            raise lines.error(f"{text!r} should be a name and its value as JSON: 'carry 14'") from None
    return carried


def _read_players(lines: _Lines, text: str) -> tuple[str, ...]:
    decoder, names, place = json.JSONDecoder(), [], 0
    while place < len(text):
        try:
            name, place = decoder.raw_decode(text, place)
        except ValueError:
            name = None
        if not isinstance(name, str):
            raise lines.error('the names should be in quotes: "Anna" "Bo"')
        names.append(name)
        place += 1
    if not 2 <= len(names) <= 8:
        raise lines.error("expected two to eight names in quotes")
    return tuple(names)


def _read_header(lines: _Lines) -> Header:
    ruleset = _check_one_of(lines, lines.take_required("game"), tuple(RULESETS))
    source, number = lines.take_optional("source") or "", _optional_int(lines, "number")
    options = _read_options(lines, RULESETS[ruleset])
    enforcement = _check_one_of(lines, lines.take_required("errors"), ("refuse", "penalise"))
    dealing = _check_one_of(lines, lines.take_required("dealing"), ("house", "table", "tally"))
    stakes = None
    if (text := lines.take_optional("stakes")) is not None:
        unit, _, currency = text.partition(" ")
        stakes = Stakes(currency=currency, unit=_read_int(lines, unit))
    players = _read_players(lines, lines.take_required("players"))
    seats = len(players)
    out = _read_seats(lines, lines.take_optional("out"), seats)
    among = _read_seats(lines, lines.take_optional("duel"), seats)
    dealer = _read_seat(lines, lines.take_required("dealer"), seats)
    points, halves = _read_scores(lines, lines.take_required("before"), seats)
    return Header(
        ruleset=ruleset,
        source=source,
        number=1 if number is None else number,
        options=options,
        enforcement=enforcement,
        dealing=dealing,
        stakes=stakes,
        players=players,
        dealer=dealer,
        points=points,
        halves=halves,
        pot=_optional_int(lines, "pot"),
        out=out,
        among=among,
        carried=_read_carried(lines),
    )


def _read_cards(lines: _Lines, text: str) -> tuple[str, ...]:
    cards = () if text == "-" else tuple(text.split(" "))
    for card in cards:
        if card not in CARD_TEXTS:
            raise lines.error(f"{card!r} should be a card, suit then rank: SA, HT, D7; no cards are '-'")
    return cards


def _split_actor_note(text: str) -> tuple[str, Actor | None]:
    """Return the text without the note on its actor, and the actor; ``None``: there is no note."""
    found = re.fullmatch(rf"(.*?) \(({actors.WRITTEN})\)", text)
    return (text, None) if found is None else (found[1], actors.parse(found[2]))


def _read_deal(lines: _Lines, seats: int) -> Done:
    player, actor = _split_actor_note(lines.take())
    seat = _read_seat(lines, player, seats)
    hands: list[tuple[str, ...]] = []
    fields: dict[str, Any] = {}
    while (text := lines.take_optional(f"  P{len(hands) + 1}")) is not None:
        hands.append(_read_cards(lines, text))
    if (text := lines.take_optional("  counts")) is not None:
        fields["counts"] = () if text == "-" else tuple(_read_int(lines, one) for one in text.split(" "))
    for name in ("stock", "widow"):
        if (text := lines.take_optional(f"  {name}")) is not None:
            fields[name] = _read_cards(lines, text)
    if (text := lines.take_optional("  turn-up")) is not None:
        _read_cards(lines, text)
        fields["turn_up"] = text
    act = DealAct(seat=seat, hands=tuple(hands) or None, **fields)
    return Done(actor=actors.actor_at(seat) if actor is None else actor, act=act)


_KNOCK = re.compile(
    rf"(P\d) on (P\d)(?: (\w+))?(?: \(({actors.WRITTEN})\))?"
    r"(?:: (upheld|dismissed|pending) by (\S+?)(?:, (P\d) up (\d{1,18}))?)?(?: (\".*\"))?"
)


def _read_knock(lines: _Lines, seats: int) -> Done:
    found = _KNOCK.fullmatch(lines.take())
    if found is None:
        raise lines.error("a knock has the form 'P1 on P2 revoke: upheld by B11, P2 up 5'")
    seat, accused = (_read_seat(lines, found[place], seats) for place in (1, 2))
    ruling = None
    if found[5]:
        payer = _read_seat(lines, found[7], seats) if found[7] else None
        verdict = _check_one_of(lines, found[5], ("upheld", "dismissed", "pending"))
        ruling = Ruling(verdict=verdict, rule=found[6], payer=payer, points=int(found[8] or 0))
    fields = {"seat": seat, "accused": accused, "offence": found[3], "note": _read_json_text(lines, found[9])}
    try:
        knock = msgspec.convert(fields, Knock)
    except msgspec.ValidationError as error:
        raise lines.error(f"{found[3]!r} is no offence: {error}") from None
    actor = actors.parse(found[4]) if found[4] else actors.actor_at(seat)
    return Done(actor=actor, act=knock, ruling=ruling)


def _read_act(lines: _Lines, line_word: str, act_text: str, seats: int) -> Done:
    text, actor = _split_actor_note(act_text)
    names = ACTS_BY_LINE_WORD[line_word]
    fields: dict[str, Any] = {}
    if names[0] not in ACTS_WITHOUT_SEAT:
        player, _, text = text.partition(" ")
        fields["seat"] = _read_seat(lines, player, seats)
    for name in names:
        try:
            content = WORDS[name].read(text)
        except ValueError:
            content = None
        if content is not None:
            act = KINDS[name](**fields, **content)
            return Done(actor=actors.actor_of(act) if actor is None else actor, act=act)
    raise lines.error(f"{text!r} cannot be read after {line_word!r}; that line holds {', '.join(names)}")


def _read_acts(lines: _Lines, seats: int) -> Iterator[Done]:
    while word := lines.word():
        if word == "deal":
            yield _read_deal(lines, seats)
        elif word == "knock":
            yield _read_knock(lines, seats)
        else:
            line = "trick" if re.fullmatch(r"trick \d+", word) else word
            if line not in ACTS_BY_LINE_WORD:
                right = ", ".join(("deal", "knock", *ACTS_BY_LINE_WORD))
                raise Unreadable(lines.number, f"{word!r} should be one of {right}")
            rest = lines.take()
            items = [rest] if ACTS_BY_LINE_WORD[line][0] in ACTS_WITHOUT_SEAT else rest.split("  ")
            for item in items:
                yield _read_act(lines, line, item, seats)


def _read_result(lines: _Lines, word: str, seats: int) -> Result:
    found = re.fullmatch(r"(\w+)(?: by (P\d))?(?: (\w+))?", lines.take_required(word))
    if found is None:
        raise lines.error("the result has the form 'played by P3 4'")
    declarer = _read_seat(lines, found[2], seats) if found[2] else None
    before, pot_before = _optional_scores(lines, "before", seats), _optional_int(lines, "pot from")
    tricks, _ = _read_scores(lines, lines.take_required("tricks"), seats)
    points, halves = _read_scores(lines, lines.take_required("after"), seats)
    pot, out = _optional_int(lines, "pot"), _read_seats(lines, lines.take_optional("out"), seats)
    who, _, by = (lines.take_optional("won") or "").rpartition("by ")
    winners = _read_seats(lines, who.rstrip(" ") or None, seats)
    return Result(
        kind=found[1],
        declarer=declarer,
        contract=found[3],
        tricks=tricks,
        points=points,
        halves=halves,
        pot=pot,
        out=out,
        won=winners,
        by=by,
        settlement=_optional_scores(lines, "settled", seats),
        before=before,
        pot_before=pot_before,
    )


_CORRECTION = re.compile(r"by (\S+)(?: in case ([1-9]\d{0,17}))?, event ([1-9]\d{0,17})(?: (\".*\"))?")


def _read_correction(lines: _Lines, text: str) -> Correction:
    found = _CORRECTION.fullmatch(text)
    if found is None:
        raise lines.error("a correction has the form 'by B42 in case 1, event 31 \"seen by all\"'")
    reason = _read_json_text(lines, found[4])
    return Correction(event=int(found[3]), rule=found[1], case=int(found[2]) if found[2] else None, reason=reason)


def _read_json_text(lines: _Lines, text: str | None) -> str:
    """Return a text that is written as a JSON string; empty without one."""
    try:
        return msgspec.json.decode(text, type=str) if text else ""
    except msgspec.DecodeError as error:
        raise lines.error(f"{text} is not a JSON string: {error}") from None


def _read_former_results(lines: _Lines, seats: int) -> Iterator[ResultWas]:
    while lines.section_follows("was"):
        lines.take_blank()
        result = _read_result(lines, "was", seats)
        yield ResultWas(result=result, by=_read_correction(lines, lines.take_required("ruled")))


def parse(text: str) -> Deal:
    """Return the deal in a text. Raises ``Unreadable`` unless :func:`write` returns exactly this text for it."""
    lines = _Lines(text)
    header = _read_header(lines)
    seats = len(header.players)
    lines.take_blank()
    acts = tuple(_read_acts(lines, seats))
    lines.take_blank()
    struck = lines.take_optional("struck")
    deal = Deal(
        header=header,
        acts=acts,
        struck=None if struck is None else _read_correction(lines, struck),
        result=_read_result(lines, "result", seats),
        was=tuple(_read_former_results(lines, seats)),
    )
    written = write(deal).split("\n")
    for number, line in enumerate(lines.lines, 1):
        right = written[number - 1] if number <= len(written) else None
        if line != right:
            raise Unreadable(number, "expected the end of the text" if right is None else f"expected {right!r}")
    if len(written) > len(lines.lines):
        raise Unreadable(len(lines.lines), "the last line should end with a line break")
    return deal


def parse_all(text: str) -> tuple[Deal, ...]:
    """Return the deals in a text, separated by lines of hyphens. Raises ``Unreadable``."""
    deals, line = [], 0
    *parts, last = text.split(f"\n{DEAL_SEPARATOR}\n")
    for part in (*(f"{part}\n" for part in parts), last):
        try:
            deals.append(parse(part))
        except Unreadable as wrong:
            raise Unreadable(line + wrong.line, wrong.message) from None
        line += part.count("\n") + 1
    return tuple(deals)
