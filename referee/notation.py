"""A deal as plain text: what was on the table, everything that was done in order, and what came of it.

``openapi/notation.md`` describes the form. It is the same for all games: a word for each kind of act, never for a
ruleset. Nothing here reads a clock or a file.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import groupby, product
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from referee.acts import AnyAct, Deal, Knock, Play, Request, RequestCards, act_name
from referee.cards import PACK, RANKS
from referee.events import (
    CardDrawn,
    Dealing,
    DealScored,
    Dealt,
    Enforcement,
    Event,
    FirstDealerDrawn,
    KnockDismissed,
    KnockUpheld,
    MatchOpened,
    MatchWon,
    PenaltyImposed,
    Recorded,
    Stakes,
)
from referee.games import RULESETS
from referee.refusals import Refused
from referee.ruleset import Moment, Ruleset


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The table before the deal. Tuples go by seat; ``points`` (and ``pot``) as the protocol has them."""

    ruleset: str
    players: tuple[str, ...]
    dealer: int
    points: tuple[int, ...]
    source: str = ""
    """Where the deal comes from, for the reader."""
    number: int = 1
    """Which deal of its match it was."""
    options: dict[str, Any] = {}
    """Those that differ from their default."""
    enforcement: Enforcement = "refuse"
    dealing: Dealing = "table"
    stakes: Stakes | None = None
    pot: int | None = None
    """What lay in the pot before the deal; ``None`` in games that have none."""
    halves: bool = False
    """Points count halves of a point."""
    out: tuple[int, ...] = ()
    """Seats that are out of the match."""
    among: tuple[int, ...] = ()
    """The only seats that play this deal, where it is a duel."""


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What was said to a knock. ``points`` are the ``payer``'s; ``None``: the knock cost nothing."""

    verdict: Literal["upheld", "dismissed"]
    rule: str
    payer: int | None = None
    points: int = 0


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was done, by whom, and the ruling if it was a knock."""

    actor: int | Literal["official"]
    act: Request
    ruling: Ruling | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The line in the protocol. ``won``: the seats that won the match by it, and ``by`` how."""

    kind: str
    points: tuple[int, ...]
    tricks: tuple[int, ...]
    declarer: int | None = None
    contract: int | str | None = None
    pot: int | None = None
    halves: bool = False
    out: tuple[int, ...] = ()
    won: tuple[int, ...] = ()
    by: str = ""


class DealText(msgspec.Struct, frozen=True, kw_only=True):
    """A finished deal."""

    header: Header
    acts: tuple[Done, ...]
    result: Result


class Unreadable(ValueError):
    """A text that is not a deal: the ``line``, counted from 1, what is wrong in it, and what would be right."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


# Words: how an act is told

WIDTH = 10
"""A word begins its line and takes this many columns."""
ITEMS_MAX = 8
"""Calls to a line."""


class _Word(NamedTuple):
    """How a kind of act is told: the word its line begins with, and the token after the player."""

    line: str
    tell: Callable[[Any], str]
    read: Callable[[str], dict[str, Any] | None]


def _only(token: str, **fields: Any) -> tuple[Callable[[Any], str], Callable[[str], dict[str, Any] | None]]:
    return lambda act: token, lambda text: dict(fields) if text == token else None


def _field(name: str, *tokens: Any) -> tuple[Callable[[Any], str], Callable[[str], dict[str, Any] | None]]:
    """A field that holds one of these values, told as it stands."""
    told = {str(token): token for token in tokens}
    return lambda act: str(getattr(act, name)), lambda text: {name: told[text]} if text in told else None


def _values(kind: str, name: str) -> tuple[Any, ...]:
    """The values that a field of an act may have."""
    info = msgspec.inspect.type_info(_KINDS[kind])
    assert isinstance(info, msgspec.inspect.StructType)
    found: list[Any] = []

    def collect(one: Any) -> None:
        if isinstance(one, msgspec.inspect.Metadata):
            collect(one.type)
        elif isinstance(one, msgspec.inspect.UnionType):
            for inner in one.types:
                collect(inner)
        elif isinstance(one, msgspec.inspect.LiteralType):
            found.extend(one.values)
        elif isinstance(one, msgspec.inspect.IntType):
            found.extend(range(one.ge or 0, (one.le or 0) + 1))

    collect(next(field.type for field in info.fields if field.name == name))
    return tuple(found)


_KINDS: dict[str, Any] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyAct)}
_CARD_TEXTS = frozenset(PACK)


def _cards_in(text: str) -> tuple[str, ...] | None:
    if text == "-":
        return ()
    cards = tuple(text.split("+"))
    return cards if _CARD_TEXTS.issuperset(cards) else None


def _cards(cards: tuple[str, ...]) -> str:
    return "+".join(cards) or "-"


def _with_cards(
    word: str, field: str, none: str | None
) -> tuple[Callable[[Any], str], Callable[[str], dict[str, Any] | None]]:
    """Cards after a word; ``none`` when they are not told."""

    def tell(act: Any) -> str:
        cards = getattr(act, field)
        return none if cards is None and none is not None else f"{word} {_cards(cards)}"

    def read(text: str) -> dict[str, Any] | None:
        if text == none:
            return {}
        cards = _cards_in(text.removeprefix(f"{word} ")) if text.startswith(f"{word} ") else None
        return None if cards is None else {field: cards}

    return tell, read


def _tell_declare(act: Any) -> str:
    told = []
    if act.sequence is not None:
        told.append(act.sequence)
    if act.top is not None:
        told.append(act.top)
    if act.trumps is not None:
        told.append("trumps" if act.trumps else "plain")
    if act.cards is not None:
        told.append(f"shows {_cards(act.cards)}")
    return " ".join(told) or "shows"


def _read_declare(text: str) -> dict[str, Any] | None:
    fields: dict[str, Any] = {}
    words = text.split(" ")
    while words:
        word = words.pop(0)
        if word in ("small", "large", "none"):
            fields["sequence"] = word
        elif len(word) == 1 and word in RANKS:
            fields["top"] = word
        elif word in ("trumps", "plain"):
            fields["trumps"] = word == "trumps"
        elif word == "shows" and text == "shows":
            return {}
        elif word == "shows" and words and (cards := _cards_in(words.pop(0))) is not None:
            fields["cards"] = cards
        else:
            return None
    return fields


def _card_if_told(act: Any) -> str:
    return act.card or "draws"


def _read_card_if_told(text: str) -> dict[str, Any] | None:
    return {} if text == "draws" else _read_card(text)


def _read_card(text: str) -> dict[str, Any] | None:
    return {"card": text} if text in _CARD_TEXTS else None


def _card(act: Any) -> str:
    return str(act.card)


def _tell_report(act: Any) -> str:
    return f"on P{act.accused + 1} {act.fault}"


def _read_report(text: str) -> dict[str, Any] | None:
    found = re.fullmatch(r"on P([1-8]) (\w+)", text)
    if found is None or found[2] not in _values("report", "fault"):
        return None
    return {"accused": int(found[1]) - 1, "fault": found[2]}


def _tell_void(act: Any) -> str:
    return _json(act.reason) if act.reason else ""


def _read_void(text: str) -> dict[str, Any] | None:
    return {"reason": _read_json(text)} if text else {}


WORDS: dict[str, _Word] = {
    "draw": _Word("draw", _card_if_told, _read_card_if_told),
    "cut": _Word("cut", *_only("")),
    "knock_for_cards": _Word("formula", *_only("")),
    "pick_up": _Word("picks up", *_only("")),
    "request_cards": _Word("cards", *_with_cards("asks", "cards", "asks")),
    "keep_cards": _Word("cards", *_only("keeps")),
    "discard": _Word("cards", *_with_cards("throws", "cards", None)),
    "bid": _Word("bids", *_field("bid", *_values("bid", "bid"))),
    "reply": _Word("new deal", lambda act: "yes" if act.agree else "no", lambda text: {"agree": text == "yes"}),
    "declare": _Word("sequence", _tell_declare, _read_declare),
    "respond": _Word("sequence", *_field("answer", "better", "equal", "enough")),
    "bella": _Word("bella", *_only("")),
    "ask": _Word("question", *_only("asks")),
    "remind": _Word("question", *_only("reminds")),
    "answer": _Word("question", *_field("answer", "play", "fold")),
    "announce": _Word("announces", *_field("what", "near_zero", "thanks")),
    "knock_out": _Word("exit", *_only("")),
    "exchange": _Word("exchange", _card, _read_card),
    "play": _Word("trick", _card, _read_card),
    "report": _Word("report", _tell_report, _read_report),
    "score": _Word("score", *_only("")),
    "void": _Word("void", _tell_void, _read_void),
    "close": _Word("close", *_only("")),
}
"""Every act but ``deal``, which has lines of its own."""

_BY_LINE: dict[str, tuple[str, ...]] = {
    line: tuple(name for name, word in WORDS.items() if word.line == line)
    for line in dict.fromkeys(word.line for word in WORDS.values())
}
_OFFICIALS = tuple(name for name, kind in _KINDS.items() if "seat" not in kind.__struct_fields__)


# Writing


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _line(word: str, rest: str) -> str:
    return f"{word:<{WIDTH}}{rest}".rstrip(" ")


def _number(points: int, halves: bool) -> str:
    if not halves or points % 2 == 0:
        return str(points // 2 if halves else points)
    return f"{'-' if points < 0 else ''}{abs(points) // 2}½"


def _scores(points: tuple[int, ...], halves: bool) -> str:
    told = "  ".join(f"P{seat + 1} {_number(number, halves)}" for seat, number in enumerate(points))
    return f"{told}  in halves" if halves else told


def _seats(seats: tuple[int, ...]) -> str:
    return " ".join(f"P{seat + 1}" for seat in seats)


def _by(done: Done) -> str:
    """Who did it, where that is not the seat of the act itself."""
    seat = getattr(done.act, "seat", "official")
    if seat == done.actor:
        return ""
    return " (official)" if isinstance(done.actor, str) else f" (P{done.actor + 1})"


def _header_lines(header: Header) -> Iterator[str]:
    yield _line("game", header.ruleset)
    if header.source:
        yield _line("source", header.source)
    if header.number != 1:
        yield _line("number", str(header.number))
    for name, value in sorted(header.options.items()):
        yield _line("option", f"{name} {_json(value)}")
    yield _line("errors", header.enforcement)
    yield _line("dealing", header.dealing)
    if header.stakes is not None:
        yield _line("stakes", f"{header.stakes.unit} {header.stakes.currency}")
    yield _line("players", " ".join(map(_json, header.players)))
    if header.out:
        yield _line("out", _seats(header.out))
    if header.among:
        yield _line("duel", _seats(header.among))
    yield _line("dealer", f"P{header.dealer + 1}")
    yield _line("before", _scores(header.points, header.halves))
    if header.pot is not None:
        yield _line("pot", str(header.pot))


def _deal_lines(done: Done) -> Iterator[str]:
    act = done.act
    assert isinstance(act, Deal)
    yield _line("deal", f"P{act.seat + 1}{_by(done)}")
    for seat, hand in enumerate(act.hands or ()):
        yield _line(f"  P{seat + 1}", " ".join(hand) or "-")
    if act.counts is not None:
        yield _line("  counts", " ".join(map(str, act.counts)) or "-")
    if act.stock is not None:
        yield _line("  stock", " ".join(act.stock) or "-")
    if act.widow is not None:
        yield _line("  widow", " ".join(act.widow) or "-")
    if act.turn_up is not None:
        yield _line("  turn-up", act.turn_up)


def _knock_line(done: Done) -> str:
    knock, ruling = done.act, done.ruling
    assert isinstance(knock, Knock)
    told = f"P{knock.seat + 1} on P{knock.accused + 1}"
    if knock.offence is not None:
        told += f" {knock.offence}"
    told += _by(done)
    if ruling is not None:
        told += f": {ruling.verdict} by {ruling.rule}"
        if ruling.payer is not None:
            told += f", P{ruling.payer + 1} up {ruling.points}"
    if knock.note:
        told += f" {_json(knock.note)}"
    return _line("knock", told)


def _item(done: Done) -> str:
    name = act_name(done.act)
    player = "" if name in _OFFICIALS else f"P{done.act.seat + 1}"  # type: ignore[union-attr]
    return " ".join(filter(None, (player, WORDS[name].tell(done.act)))) + _by(done)


def _labelled(acts: tuple[Done, ...]) -> Iterator[tuple[tuple[int, str], Done]]:
    """Each act with the line that it stands in: a new one for each trick, and whenever something else is done."""
    place, last, trick, played = 0, "", 0, set[int]()
    for done in acts:
        if isinstance(done.act, Deal):
            trick, played = 0, set()
        if isinstance(done.act, Play):
            if trick == 0 or done.act.seat in played:
                trick, played = trick + 1, set()
            played.add(done.act.seat)
            label = f"trick {trick}"
        else:
            name = act_name(done.act)
            label = WORDS[name].line if name in WORDS else name
        alone = label in ("deal", "knock", "void", "close")
        place += alone or label != last
        last = label
        yield (place, label), done


def _act_lines(acts: tuple[Done, ...]) -> Iterator[str]:
    for (_, label), group in groupby(_labelled(acts), key=lambda pair: pair[0]):
        dones = [done for _, done in group]
        if label == "deal":
            yield from _deal_lines(dones[0])
        elif label == "knock":
            yield _knock_line(dones[0])
        else:
            items = [_item(done) for done in dones]
            for first in range(0, len(items), ITEMS_MAX):
                yield _line(label, "  ".join(items[first : first + ITEMS_MAX]))


def _result_lines(result: Result) -> Iterator[str]:
    told = result.kind
    if result.declarer is not None:
        told += f" by P{result.declarer + 1}"
    if result.contract is not None:
        told += f" {result.contract}"
    yield _line("result", told)
    yield _line("tricks", _scores(result.tricks, False))
    yield _line("after", _scores(result.points, result.halves))
    if result.pot is not None:
        yield _line("pot", str(result.pot))
    if result.out:
        yield _line("out", _seats(result.out))
    if result.by:
        yield _line("won", f"{_seats(result.won)} by {result.by}".strip())


def write(deal: DealText) -> str:
    """The text of a deal."""
    lines = (*_header_lines(deal.header), "", *_act_lines(deal.acts), "", *_result_lines(deal.result))
    return "\n".join(lines) + "\n"


# Reading


class _Lines:
    """The lines of a text, with the one at hand."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.at = 0

    @property
    def number(self) -> int:
        return min(self.at, len(self.lines) - 1) + 1

    def word(self) -> str | None:
        """What the next line begins with."""
        if self.at >= len(self.lines):
            return None
        return self.lines[self.at][:WIDTH].rstrip(" ")

    def take(self) -> str:
        """The rest of the next line."""
        self.at += 1
        return self.lines[self.at - 1][WIDTH:]

    def wrong(self, message: str, back: int = 1) -> Unreadable:
        """The complaint about the line just taken."""
        return Unreadable(max(self.at - back, 0) + 1, message)

    def must(self, word: str) -> str:
        """The rest of a line that has to come now."""
        if self.word() != word:
            raise Unreadable(self.number, f"a line {word!r} should stand here")
        return self.take()

    def may(self, word: str) -> str | None:
        """The rest of the next line, if it is this one."""
        return self.take() if self.word() == word else None

    def blank(self) -> None:
        """An empty line."""
        if self.at >= len(self.lines) or self.lines[self.at]:
            raise Unreadable(self.number, "an empty line should stand here")
        self.at += 1


def _read_json(text: str) -> Any:
    return json.loads(text)


def _read_number(text: str, halves: bool) -> int | None:
    found = re.fullmatch(r"(-?)(\d{1,9})(½?)", text)
    if found is None or (found[3] and not halves):
        return None
    number = int(found[2]) * (2 if halves else 1) + bool(found[3])
    return -number if found[1] else number


def _read_scores(lines: _Lines, text: str, seats: int) -> tuple[tuple[int, ...], bool]:
    halves = text.endswith("  in halves")
    items = text.removesuffix("  in halves").split("  ")
    right = "  ".join(f"P{seat + 1} n" for seat in range(seats))
    numbers = []
    for seat, item in enumerate(items):
        player, _, told = item.partition(" ")
        number = _read_number(told, halves)
        if player != f"P{seat + 1}" or number is None:
            raise lines.wrong(f"{item!r} should be the points of P{seat + 1}; the line has the form {right!r}")
        numbers.append(number)
    if len(numbers) != seats:
        raise lines.wrong(f"points for {seats} players should stand here: {right!r}")
    return tuple(numbers), halves


def _read_seat(lines: _Lines, text: str, seats: int) -> int:
    if re.fullmatch(r"P[1-8]", text) is None or int(text[1]) > seats:
        raise lines.wrong(f"{text!r} should be a player, P1 to P{seats}")
    return int(text[1]) - 1


def _read_seats(lines: _Lines, text: str | None, seats: int) -> tuple[int, ...]:
    return () if text is None else tuple(_read_seat(lines, one, seats) for one in text.split(" "))


def _one_of(lines: _Lines, text: str, right: tuple[str, ...]) -> Any:
    if text not in right:
        raise lines.wrong(f"{text!r} should be one of {', '.join(right)}")
    return text


def _read_int(lines: _Lines, text: str) -> int:
    number = _read_number(text, False)
    if number is None:
        raise lines.wrong(f"{text!r} should be a whole number")
    return number


def _read_options(lines: _Lines, rules: Ruleset) -> dict[str, Any]:
    known = tuple(sorted(rules.options.__struct_fields__))
    options: dict[str, Any] = {}
    while (text := lines.may("option")) is not None:
        name, _, value = text.partition(" ")
        _one_of(lines, name, known)
        try:
            options[name] = _read_json(value)
            msgspec.convert({name: options[name]}, rules.options)
        except ValueError as error:
            raise lines.wrong(f"the value of {name} cannot be read: {error}") from None
    return options


def _read_players(lines: _Lines, text: str) -> tuple[str, ...]:
    decoder, names, place = json.JSONDecoder(), [], 0
    while place < len(text):
        try:
            name, place = decoder.raw_decode(text, place)
        except ValueError:
            name = None
        if not isinstance(name, str):
            raise lines.wrong('the names should be in quotes: "Anna" "Bo"')
        names.append(name)
        place += 1
    if not 2 <= len(names) <= 8:
        raise lines.wrong("two to eight names in quotes should stand here")
    return tuple(names)


def _read_header(lines: _Lines) -> Header:
    ruleset = _one_of(lines, lines.must("game"), tuple(RULESETS))
    source, number = lines.may("source") or "", lines.may("number")
    deal = 1 if number is None else _read_int(lines, number)
    options = _read_options(lines, RULESETS[ruleset])
    enforcement = _one_of(lines, lines.must("errors"), ("refuse", "penalise"))
    dealing = _one_of(lines, lines.must("dealing"), ("house", "table"))
    stakes = None
    if (text := lines.may("stakes")) is not None:
        unit, _, currency = text.partition(" ")
        stakes = Stakes(currency=currency, unit=_read_int(lines, unit))
    players = _read_players(lines, lines.must("players"))
    seats = len(players)
    out = _read_seats(lines, lines.may("out"), seats)
    among = _read_seats(lines, lines.may("duel"), seats)
    dealer = _read_seat(lines, lines.must("dealer"), seats)
    points, halves = _read_scores(lines, lines.must("before"), seats)
    pot = lines.may("pot")
    return Header(
        ruleset=ruleset,
        source=source,
        number=deal,
        options=options,
        enforcement=enforcement,
        dealing=dealing,
        stakes=stakes,
        players=players,
        dealer=dealer,
        points=points,
        halves=halves,
        pot=None if pot is None else _read_int(lines, pot),
        out=out,
        among=among,
    )


def _read_cards(lines: _Lines, text: str) -> tuple[str, ...]:
    cards = () if text == "-" else tuple(text.split(" "))
    for card in cards:
        if card not in _CARD_TEXTS:
            raise lines.wrong(f"{card!r} should be a card, suit then rank: SA, HT, D7; no cards are '-'")
    return cards


def _read_by(text: str) -> tuple[str, Any]:
    """The text without who did it, and who: ``None`` if that is the seat itself."""
    found = re.fullmatch(r"(.*?) \((official|P[1-8])\)", text)
    if found is None:
        return text, None
    return found[1], "official" if found[2] == "official" else int(found[2][1]) - 1


def _read_deal(lines: _Lines, seats: int) -> Done:
    player, actor = _read_by(lines.take())
    seat = _read_seat(lines, player, seats)
    hands: list[tuple[str, ...]] = []
    fields: dict[str, Any] = {}
    while (text := lines.may(f"  P{len(hands) + 1}")) is not None:
        hands.append(_read_cards(lines, text))
    if (text := lines.may("  counts")) is not None:
        fields["counts"] = () if text == "-" else tuple(_read_int(lines, one) for one in text.split(" "))
    for name in ("stock", "widow"):
        if (text := lines.may(f"  {name}")) is not None:
            fields[name] = _read_cards(lines, text)
    if (text := lines.may("  turn-up")) is not None:
        _read_cards(lines, text)
        fields["turn_up"] = text
    return Done(actor=seat if actor is None else actor, act=Deal(seat=seat, hands=tuple(hands) or None, **fields))


_KNOCK = re.compile(
    r"(P\d) on (P\d)(?: (\w+))?(?: \((official|P\d)\))?"
    r"(?:: (upheld|dismissed) by (\S+?)(?:, (P\d) up (\d+))?)?(?: (\".*\"))?"
)


def _read_knock(lines: _Lines, seats: int) -> Done:
    found = _KNOCK.fullmatch(lines.take())
    if found is None:
        raise lines.wrong("a knock has the form 'P1 on P2 revoke: upheld by B11, P2 up 5'")
    seat, accused = (_read_seat(lines, found[place], seats) for place in (1, 2))
    ruling = None
    if found[5]:
        payer = _read_seat(lines, found[7], seats) if found[7] else None
        verdict = _one_of(lines, found[5], ("upheld", "dismissed"))
        ruling = Ruling(verdict=verdict, rule=found[6], payer=payer, points=int(found[8] or 0))
    told = {"seat": seat, "accused": accused, "offence": found[3], "note": _read_json(found[9]) if found[9] else ""}
    try:
        knock = msgspec.convert(told, Knock)
    except msgspec.ValidationError as error:
        raise lines.wrong(f"{found[3]!r} is no offence: {error}") from None
    actor: Any = seat if found[4] is None else "official" if found[4] == "official" else int(found[4][1]) - 1
    return Done(actor=actor, act=knock, ruling=ruling)


def _read_item(lines: _Lines, line: str, item: str, seats: int) -> Done:
    text, actor = _read_by(item) if item.startswith("P") else (item, None)
    names = _BY_LINE[line]
    fields: dict[str, Any] = {}
    if names[0] not in _OFFICIALS:
        player, _, text = text.partition(" ")
        fields["seat"] = _read_seat(lines, player, seats)
    for name in names:
        try:
            told = WORDS[name].read(text)
        except ValueError:
            told = None
        if told is not None:
            act = _KINDS[name](**fields, **told)
            return Done(actor=fields.get("seat", "official") if actor is None else actor, act=act)
    raise lines.wrong(f"{text!r} cannot be read after {line!r}; that line tells of {', '.join(names)}")


def _read_acts(lines: _Lines, seats: int) -> Iterator[Done]:
    while word := lines.word():
        if word == "deal":
            yield _read_deal(lines, seats)
        elif word == "knock":
            yield _read_knock(lines, seats)
        else:
            line = "trick" if re.fullmatch(r"trick \d+", word) else word
            if line not in _BY_LINE:
                right = ", ".join(("deal", "knock", *_BY_LINE))
                raise Unreadable(lines.number, f"{word!r} should be one of {right}")
            rest = lines.take()
            items = [rest] if line in _OFFICIALS else rest.split("  ")
            for item in items:
                yield _read_item(lines, line, item, seats)


def _read_result(lines: _Lines, seats: int) -> Result:
    found = re.fullmatch(r"(\w+)(?: by (P\d))?(?: (\w+))?", lines.must("result"))
    if found is None:
        raise lines.wrong("the result has the form 'played by P3 4'")
    told = found[3]
    contract = int(told) if told is not None and told.isdecimal() else told
    declarer = _read_seat(lines, found[2], seats) if found[2] else None
    tricks, _ = _read_scores(lines, lines.must("tricks"), seats)
    points, halves = _read_scores(lines, lines.must("after"), seats)
    pot = lines.may("pot")
    units = None if pot is None else _read_int(lines, pot)
    out = _read_seats(lines, lines.may("out"), seats)
    won, by = lines.may("won"), ""
    winners: tuple[int, ...] = ()
    if won is not None:
        who, _, by = won.rpartition("by ")
        winners = _read_seats(lines, who.rstrip(" ") or None, seats)
    return Result(
        kind=found[1],
        declarer=declarer,
        contract=contract,
        tricks=tricks,
        points=points,
        halves=halves,
        pot=units,
        out=out,
        won=winners,
        by=by,
    )


def parse(text: str) -> DealText:
    """The deal that a text tells of. :class:`Unreadable` unless it is written exactly as :func:`write` would."""
    lines = _Lines(text)
    header = _read_header(lines)
    seats = len(header.players)
    lines.blank()
    acts = tuple(_read_acts(lines, seats))
    lines.blank()
    deal = DealText(header=header, acts=acts, result=_read_result(lines, seats))
    written = write(deal).split("\n")
    for number, line in enumerate(lines.lines, 1):
        right = written[number - 1] if number <= len(written) else None
        if line != right:
            raise Unreadable(number, "nothing should stand here" if right is None else f"it should read {right!r}")
    if len(written) > len(lines.lines):
        raise Unreadable(len(lines.lines), "the last line should end with a line break")
    return deal


# From what was recorded


def of_history(opened: MatchOpened, history: tuple[Recorded, ...], deal: int) -> DealText:
    """A finished deal as it was recorded; ``history`` is the match from its first event.

    What the house dealt is told as if it had been dealt at a table. :class:`LookupError` if there is no such deal.
    """
    rules = RULESETS[opened.ruleset]
    ends = [place for place, one in enumerate(history) if isinstance(one.event, DealScored)]
    if not 1 <= deal <= len(ends):
        raise LookupError(f"deal {deal} is not finished")
    first, last = ends[deal - 2] + 1 if deal > 1 else 0, ends[deal - 1]
    before = history[ends[deal - 2]].event if deal > 1 else None
    state = rules.start(opened)
    for one in history[:first]:
        if not isinstance(one.event, MatchOpened):
            state = rules.evolve(state, one.event, one.originator_version)
    events = history[first : last + 1]
    acts, told = _acts_of(rules, state, events)
    score = events[-1].event
    assert isinstance(score, DealScored)
    won = next((one.event for one in history[last + 1 :] if isinstance(one.event, MatchWon | DealScored)), None)
    header = _header_of(opened, before if isinstance(before, DealScored) else None, score, told)
    return DealText(
        header=header,
        acts=_at_a_table(acts) if opened.dealing == "house" else tuple(done for done, _ in acts),
        result=_result_of(score, won if isinstance(won, MatchWon) else None),
    )


def _header_of(opened: MatchOpened, before: DealScored | None, score: DealScored, told: list[Event]) -> Header:
    usual = msgspec.to_builtins(msgspec.convert({}, RULESETS[opened.ruleset].options))
    duel = next((getattr(event, "seats", ()) for event in told if hasattr(event, "seats")), ())
    return Header(
        ruleset=opened.ruleset,
        number=score.deal,
        options={name: value for name, value in opened.options.items() if usual.get(name) != value},
        enforcement=opened.enforcement,
        stakes=opened.stakes,
        players=opened.players,
        dealer=score.dealer,
        points=score.before if before is None else before.points,
        halves=score.halves,
        pot=score.pot_before,
        out=before.eliminated if before is not None else (),
        among=duel,
    )


def _result_of(score: DealScored, won: MatchWon | None) -> Result:
    winners: tuple[int, ...] = ()
    if won is not None:
        winners = won.seats or (() if won.seat is None else (won.seat,))
    return Result(
        kind=score.kind,
        declarer=score.declarer,
        contract=score.contract,
        tricks=score.tricks,
        points=score.points,
        halves=score.halves,
        pot=score.pot,
        out=score.eliminated,
        won=winners,
        by="" if won is None else won.by,
    )


_Acts = list[tuple[Done, tuple[Event, ...]]]


def _acts_of(rules: Ruleset, state: Any, events: tuple[Recorded, ...]) -> tuple[_Acts, list[Event]]:
    """What was done, each with the events that it made; and what the referee told before anything was done."""
    acts: _Acts = []
    told: list[Event] = []
    place = 0
    while place < len(events):
        one = events[place]
        if isinstance(one.event, MatchOpened):
            place += 1
            continue
        found = _act_of(rules, state, events[place:])
        if found is None:
            told.append(one.event)
            if isinstance(one.event, FirstDealerDrawn):
                acts.clear()  # the header tells who deals
            elif isinstance(one.event, CardDrawn):
                acts.append((_drawn(one.event), (one.event,)))
            made = 1
        else:
            request, made = found
            group = tuple(recorded.event for recorded in events[place : place + made])
            acts.append((Done(actor=_actor(one), act=request, ruling=_ruling_of(group)), group))
            if any(isinstance(event, FirstDealerDrawn) for event in group):
                acts.clear()
        for recorded in events[place : place + made]:
            state = rules.evolve(state, recorded.event, recorded.originator_version)
        place += made
    return acts, told


def _drawn(event: CardDrawn) -> Done:
    """What the house drew, drawn by the seat itself."""
    return Done(actor=event.seat, act=_KINDS["draw"](seat=event.seat, card=event.card))


def _actor(recorded: Recorded) -> int | Literal["official"]:
    return "official" if isinstance(recorded.actor, str) else recorded.actor


def _ruling_of(events: tuple[Event, ...]) -> Ruling | None:
    ruling = events[0]
    fine = next((event for event in events if isinstance(event, PenaltyImposed)), None)
    payer, points = (None, 0) if fine is None else (fine.seat, fine.points)
    if isinstance(ruling, KnockUpheld):
        return Ruling(verdict="upheld", rule=ruling.rule, payer=ruling.payer, points=ruling.penalty)
    if isinstance(ruling, KnockDismissed):
        return Ruling(verdict="dismissed", rule=fine.rule if fine else ruling.rule, payer=payer, points=points)
    return None


def _act_of(rules: Ruleset, state: Any, events: tuple[Recorded, ...]) -> tuple[Request, int] | None:
    """The act that makes these events now, and how many of them; ``None`` if they came by themselves."""
    first = events[0]
    seed = next((one.event.seed for one in events[:8] if getattr(one.event, "seed", None)), "")  # type: ignore[attr-defined]
    moment = Moment(first.originator_version - 1, first.at, seed)
    for request in _candidates(rules, state, first):
        try:
            made = rules.decide(state, request, moment)
        except Refused:
            continue
        if made and all(event == one.event for event, one in zip(made, events, strict=False)):
            return request, min(len(made), len(events))
    return None


def _candidates(rules: Ruleset, state: Any, first: Recorded) -> Iterator[Request]:
    """Acts that may have made an event: what was legal, then whatever its fields can be the fields of."""
    event, actor = first.event, first.actor
    if isinstance(event, KnockUpheld | KnockDismissed):
        named: Any = event.named
        yield Knock(seat=event.seat, accused=event.accused, offence=named, note=event.note)
        return
    seats = {seat for seat in (actor, getattr(event, "seat", None)) if isinstance(seat, int)}
    for viewer in (*seats, "official"):
        yield from rules.legal(state, viewer)  # type: ignore[arg-type, misc]
    dealt = next((one for one in (event, getattr(event, "dealt", None)) if isinstance(one, Dealt)), None)
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    for seat in sorted(seats | ({dealt.dealer} if dealt else set())):
        fields["seat"] = seat
        for kind in rules.acts:
            yield from _built(kind, fields)


def _built(kind: Any, fields: dict[str, Any]) -> Iterator[Any]:
    """Acts of a kind with the values of these fields: by name, else any that fits."""
    required, optional = [], []
    for field in msgspec.structs.fields(kind):
        if field.name == "seat":
            continue
        names = sorted(fields, key=lambda name: name != field.name)
        choices = [one for name in names for one in (fields[name], (fields[name],)) if _fits(one, field.type)]
        if field.required:
            required.append([(field.name, one) for one in choices])
        else:
            optional.append([(field.name, one) for one in choices])
    by_name = [(choice[0][0], fields[choice[0][0]]) for choice in optional if choice and choice[0][0] in fields]
    spare: list[list[tuple[str, Any]]] = [[], by_name, [(name, one) for name, one in by_name if name != "counts"]]
    spare += [[one for one in by_name if one[1]], [one for one in by_name if one[1] and one[0] != "counts"]]
    spare += [[one] for choice in optional for one in choice]
    seat = {"seat": fields["seat"]} if "seat" in kind.__struct_fields__ else {}
    for given in product(*required):
        for more in spare:
            yield kind(**seat, **dict(given), **dict(more))


def _fits(value: Any, kind: Any) -> bool:
    if value is None:
        return False
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _at_a_table(acts: _Acts) -> tuple[Done, ...]:
    """What the house dealt, told as a table would tell it: with the cards."""
    told: list[Done] = []
    for place, (done, events) in enumerate(acts):
        act = done.act
        dealt = next((event for event in events if isinstance(event, Dealt)), None)
        if isinstance(act, Deal) and dealt is not None:
            act = Deal(
                seat=act.seat,
                hands=dealt.hands,
                stock=dealt.stock or None,
                widow=dealt.widow or None,
                turn_up=dealt.turn_up,
            )
        elif isinstance(act, RequestCards):
            act = _received(act, acts[place:])
        told.append(msgspec.structs.replace(done, act=act))
    return tuple(told)


def _received(act: RequestCards, acts: _Acts) -> RequestCards:
    """With the cards that came, where they were not the next of the stock: that had run out and was shuffled anew."""
    for event in (event for _, events in acts for event in events):
        if getattr(event, "hands", None) is None or act.seat not in getattr(event, "seats", ()):
            continue
        if getattr(event, "seed", None) is not None:
            return RequestCards(seat=act.seat, cards=event.hands[act.seat])  # type: ignore[attr-defined]
        break
    return act
