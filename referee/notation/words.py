"""The notation of acts: the word that begins a line, and the text of an act after the player."""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import msgspec

from referee.acts import AnyAct
from referee.cards import PACK, RANKS
from referee.games import ACTS, BY_PACKAGE
from referee.vocabulary import INSTALLED

LINE_WORD_WIDTH = 10
"""Columns for the word that begins a line."""


_Write = Callable[[Any], str]
_Read = Callable[[str], dict[str, Any] | None]
"""Returns the act's fields, without its seat. For a wrong text returns ``None`` or raises ``ValueError``."""
_Codec = tuple[_Write, _Read]
"""Functions that write and read the text of an act after the player."""


class _Word(NamedTuple):
    """The word that begins an act's line, and the act's :data:`_Codec`."""

    line: str
    write: _Write
    read: _Read


def to_json(value: Any) -> str:
    """Return a value as one line of JSON. Equal values give equal lines."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _fixed_text(fixed: str) -> _Codec:
    """Return the codec of an act without fields."""
    return lambda act: fixed, lambda text: {} if text == fixed else None


def _one_of(field: str, *values: Any) -> _Codec:
    """Return the codec of an act with only this field, which has one of these values."""
    by_text = {str(value): value for value in values}
    return lambda act: str(getattr(act, field)), lambda text: {field: by_text[text]} if text in by_text else None


def _allowed_values(act: str, field: str) -> tuple[Any, ...]:
    """Return the literals and whole numbers that a field of an act may have."""
    info = msgspec.inspect.type_info(KINDS[act])
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

    collect(next(one.type for one in info.fields if one.name == field))
    return tuple(found)


KINDS: dict[str, Any] = {str(kind.__struct_config__.tag): kind for kind in ACTS}
CARD_TEXTS = frozenset(PACK)


def _read_cards(text: str) -> tuple[str, ...] | None:
    if text == "-":
        return ()
    cards = tuple(text.split("+"))
    return cards if CARD_TEXTS.issuperset(cards) else None


def _write_cards(cards: tuple[str, ...]) -> str:
    return "+".join(cards) or "-"


def _word_and_cards(word: str, field: str, without_cards: str | None) -> _Codec:
    """Return the codec of an act with a word and cards.

    ``without_cards``: the whole text if ``field`` is ``None``; ``None`` if it never is.
    """

    def write(act: Any) -> str:
        cards = getattr(act, field)
        return without_cards if cards is None and without_cards is not None else f"{word} {_write_cards(cards)}"

    def read(text: str) -> dict[str, Any] | None:
        if text == without_cards:
            return {}
        cards = _read_cards(text.removeprefix(f"{word} ")) if text.startswith(f"{word} ") else None
        return None if cards is None else {field: cards}

    return write, read


def _write_declare(act: Any) -> str:
    words = []
    if act.sequence is not None:
        words.append(act.sequence)
    if act.top is not None:
        words.append(act.top)
    if act.trumps is not None:
        words.append("trumps" if act.trumps else "plain")
    if act.cards is not None:
        words.append(f"shows {_write_cards(act.cards)}")
    return " ".join(words) or "shows"


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
        elif word == "shows" and words and (cards := _read_cards(words.pop(0))) is not None:
            fields["cards"] = cards
        else:
            return None
    return fields


def _card_or(word: str) -> _Codec:
    """Return the codec of an act with a card or, without a card, this word."""
    return lambda act: act.card or word, lambda text: {} if text == word else _read_card(text)


def _read_card(text: str) -> dict[str, Any] | None:
    return {"card": text} if text in CARD_TEXTS else None


def _write_card(act: Any) -> str:
    return str(act.card)


def _write_report(act: Any) -> str:
    return f"on P{act.accused + 1} {act.fault}{' another' if act.another else ''}"


def _read_report(text: str) -> dict[str, Any] | None:
    found = re.fullmatch(r"on P([1-8]) (\w+)( another)?", text)
    if found is None or found[2] not in _allowed_values("report", "fault"):
        return None
    fields: dict[str, Any] = {"accused": int(found[1]) - 1, "fault": found[2]}
    return fields | {"another": True} if found[3] else fields


def _write_reason(act: Any) -> str:
    return to_json(act.reason) if act.reason else ""


def _read_reason(text: str) -> dict[str, Any] | None:
    return {"reason": msgspec.json.decode(text, type=str)} if text else {}


def _write_trick(act: Any) -> str:
    return "takes" if act.second is None else f"takes before P{act.second + 1}"


def _read_trick(text: str) -> dict[str, Any] | None:
    found = re.fullmatch(r"takes(?: before P([1-8]))?", text)
    return None if found is None else {"second": int(found[1]) - 1} if found[1] else {}


def _write_result(act: Any) -> str:
    return to_json({name: value for name, value in msgspec.to_builtins(act).items() if name != "act"})


def _json_object(text: str) -> dict[str, Any]:
    return msgspec.json.decode(text, type=dict[str, Any])


def _read_result(text: str) -> dict[str, Any] | None:
    result = msgspec.convert({"act": "result", **_json_object(text)}, KINDS["result"])
    return {name: getattr(result, name) for name in result.__struct_fields__}


WORDS: dict[str, _Word] = {
    "draw": _Word("draw", *_card_or("draws")),
    "cut": _Word("cut", *_fixed_text("")),
    "knock_for_cards": _Word("formula", *_fixed_text("")),
    "pick_up": _Word("picks up", *_fixed_text("")),
    "request_cards": _Word("cards", *_word_and_cards("asks", "cards", "asks")),
    "keep_cards": _Word("cards", *_fixed_text("keeps")),
    "discard": _Word("cards", *_word_and_cards("throws", "cards", None)),
    "bid": _Word("bids", *_one_of("bid", *_allowed_values("bid", "bid"))),
    "reply": _Word(
        "new deal",
        lambda act: "yes" if act.agree else "no",
        lambda text: {"yes": {"agree": True}, "no": {"agree": False}}.get(text),
    ),
    "declare": _Word("sequence", _write_declare, _read_declare),
    "respond": _Word("sequence", *_one_of("answer", "better", "equal", "enough")),
    "bella": _Word("bella", *_fixed_text("")),
    "ask": _Word("question", *_fixed_text("asks")),
    "remind": _Word("question", *_fixed_text("reminds")),
    "answer": _Word("question", *_one_of("answer", "play", "fold")),
    "announce": _Word("announces", *_one_of("what", "near_zero", "thanks")),
    "knock_out": _Word("exit", *_fixed_text("")),
    "exchange": _Word("exchange", *_card_or("takes")),
    "play": _Word("trick", _write_card, _read_card),
    "trick": _Word("trick", _write_trick, _read_trick),
    "result": _Word("sheet", _write_result, _read_result),
    "report": _Word("report", _write_report, _read_report),
    "score": _Word("score", *_fixed_text("")),
    "void": _Word("void", _write_reason, _read_reason),
    "close": _Word("close", *_fixed_text("")),
    "abandon": _Word("abandon", _write_reason, _read_reason),
}
"""Words of the acts of a deal, except ``deal`` and ``knock``."""


def _json_of(kind: Any) -> _Codec:
    """Return the codec of an installed game's act: its fields, except the seat, as JSON."""

    def write(act: Any) -> str:
        fields = {name: value for name, value in msgspec.to_builtins(act).items() if name not in ("act", "seat")}
        # The second of two spaces is escaped, because two spaces separate acts.
        return to_json(fields).replace("  ", " \\u0020") if fields else ""

    def read(text: str) -> dict[str, Any]:
        act = msgspec.convert({"seat": 0, **_json_object(text or "{}"), "act": kind.__struct_config__.tag}, kind)
        return {name: getattr(act, name) for name in kind.__struct_fields__ if name != "seat"}

    return write, read


def _add_words_of_installed_games() -> None:
    """Add to :data:`WORDS` the acts of installed games.

    Raises ``ImportError`` if an act has no valid line word, or that of a different act. Also raises it if a package
    has a word for an act not its own, or two packages have different words.
    """
    own: dict[str, str] = {}
    for package, words in INSTALLED.items():
        acts = set(BY_PACKAGE[package].acts) - set(get_args(AnyAct))
        if unknown := words.notation.keys() - {kind.__struct_config__.tag for kind in acts}:
            raise ImportError(
                f"[notation] in words.toml of the package {package} may have words only for acts of its own, not for "
                f"{', '.join(sorted(unknown))}."
            )
        for act, line in words.notation.items():
            if own.setdefault(act, line) != line:
                raise ImportError(
                    f"[notation] in words.toml of the package {package} has a different word for {act} than another "
                    f"installed game: {line!r} and {own[act]!r}."
                )
    taken = {"deal", "knock", *(word.line for word in WORDS.values())}
    for kind in ACTS[len(get_args(AnyAct)) :]:
        name = str(kind.__struct_config__.tag)
        line = own.get(name, name)
        if line in taken or re.fullmatch(f"[a-z][a-z ]{{0,{LINE_WORD_WIDTH - 2}}}", line) is None:
            raise ImportError(
                f"The act {name} needs a word of its own in [notation] of words.toml, of at most "
                f"{LINE_WORD_WIDTH - 1} small letters: {line!r} is longer, or a different act has it."
            )
        taken.add(line)
        WORDS[name] = _Word(line, *_json_of(kind))


_add_words_of_installed_games()

ACTS_BY_LINE_WORD: dict[str, tuple[str, ...]] = {
    line: tuple(name for name, word in WORDS.items() if word.line == line)
    for line in dict.fromkeys(word.line for word in WORDS.values())
}

ACTS_WITHOUT_SEAT = tuple(name for name, kind in KINDS.items() if "seat" not in kind.__struct_fields__)
