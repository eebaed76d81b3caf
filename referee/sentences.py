"""Sentences in English and Swedish, made from codes, facts and the templates in ``sentences.toml``."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any, Literal

import msgspec

from referee.actors import Actor, place_of, seat_of
from referee.events import KnockDismissed, KnockUpheld
from referee.value import Value
from referee.vocabulary import INSTALLED

Language = Literal["en", "sv"]


class Text(Value, forbid_unknown_fields=True):
    en: str
    sv: str

    def in_(self, language: Language) -> str:
        return self.sv if language == "sv" else self.en


class RefusalText(Text, forbid_unknown_fields=True):
    """A short title, and a sentence about the error and its remedy."""

    title: Text


class OffenceText(Value, forbid_unknown_fields=True):
    """An offence as a noun, and as a clause with a verb in the past."""

    name: Text
    did: Text


class Texts(Value, forbid_unknown_fields=True):
    refusals: dict[str, RefusalText]
    phases: dict[str, Text]
    offences: dict[str, OffenceText]
    rulings: dict[str, Text]
    kinds: dict[str, Text]
    wins: dict[str, Text]


def _texts() -> Texts:
    """Return all texts.

    Raises ``ImportError`` if an installed game's text cannot be used, or if two texts of one code differ.
    """
    texts: dict[str, dict[str, Any]] = msgspec.toml.decode((files("referee") / "sentences.toml").read_bytes())
    origins: dict[tuple[str, str], str] = {}
    for package, words in INSTALLED.items():
        try:
            msgspec.convert({**words.texts, "rulings": {}}, Texts)
        except msgspec.ValidationError as error:
            raise ImportError(f"A text in words.toml of the package {package} cannot be used: {error}") from None
        for name, code, text in ((name, *item) for name, own in words.texts.items() for item in own.items()):
            if code not in texts[name]:
                texts[name][code], origins[name, code] = text, package
            elif texts[name][code] != text:
                raise ImportError(
                    f"The package {package} and {origins.get((name, code), 'the kernel')} have different texts in "
                    f"{name} for {code}. Use the same text, or a different code."
                )
    return msgspec.convert(texts, Texts)


TEXTS = _texts()

_FIELD = re.compile(r"\{(\w+)(?::([^{}:]*):([^{}:]*))?\}")
_SLOT = re.compile(r"\[([^][]*)\]|" + _FIELD.pattern)

_SEATS = {"asker", "awaited", "dealer", "pending", "seat", "turn", "winner"}
_JOINED_BY_AND = {"awaited", "cards", "cases", "currencies", "deals", "pending", "scopes"}
"""Facts joined by "and"; other lists are joined by "or"."""
_SEAT = Text(en="seat", sv="plats")
_AND = Text(en="and", sv="och")
_OR = Text(en="or", sv="eller")
_REFEREE = Text(en="the referee, for it was agreed", sv="domaren, eftersom man var överens")
_HOLDER = Text(en="the official with key {key}", sv="funktionären med nyckel {key}")
_WORDS_BY_CODE = {
    "rodskagg": Text(en="rödskägg", sv="rödskägg"),
    "join": Text(en="join", sv="gå med"),
    "lie_down": Text(en="lie down", sv="lägga sig"),
    "widow": Text(en="take the widow", sv="ta den extra handen"),
    "generalrams": Text(en="announce generalrams", sv="annonsera generalrams"),
    "pay": Text(en="pay the dealer", sv="betala givaren"),
    "take": Text(en="take", sv="ta"),
    "redeal": Text(en="new deal", sv="omgiv"),
    "S": Text(en="spades", sv="spader"),
    "H": Text(en="hearts", sv="hjärter"),
    "D": Text(en="diamonds", sv="ruter"),
    "C": Text(en="clubs", sv="klöver"),
    "upheld": Text(en="upheld", sv="bifallen"),
    "dismissed": Text(en="dismissed", sv="ogillad"),
    "ruled": Text(en="ruled on", sv="avgjort"),
    "withdrawn": Text(en="withdrawn", sv="återkallat"),
    "final": Text(en="final", sv="slutgiltigt"),
}
_NUMBERS = Text(
    en="one two three four five six seven eight nine ten eleven twelve",
    sv="en två tre fyra fem sex sju åtta nio tio elva tolv",
)


def fact_names(template: str) -> set[str]:
    """Return the names of the facts that a template can show."""
    return {field[1] for field in _FIELD.finditer(template)}


def filled(template: str, facts: Mapping[str, str]) -> str:
    """Return the template with each ``{fact}`` or ``{fact:one:more}`` replaced; a missing fact becomes "…".

    ``[a|b]`` becomes the first choice whose facts are all given, or nothing.
    """

    def put(slot: re.Match[str]) -> str:
        if slot[2]:
            return _counted(facts.get(slot[2], "…"), slot[3], slot[4])
        choices = (choice for choice in slot[1].split("|") if fact_names(choice) <= facts.keys())
        return _FIELD.sub(lambda field: _counted(facts[field[1]], field[2], field[3]), next(choices, ""))

    return _SLOT.sub(put, template)


def _counted(fact: str, one: str | None, more: str | None) -> str:
    """Return ``one`` for the fact "1", else ``more``, with the fact for ``#``. Without these return the fact."""
    words = one if fact == "1" else more
    return fact if words is None else words.replace("#", fact)


def sentence(template: str, facts: Mapping[str, str]) -> str:
    """Return the filled template, beginning with a capital letter."""
    said = filled(template, facts)
    return said[:1].upper() + said[1:]


def _fact_text(name: str, fact: Any, language: Language) -> str:
    """Return a fact as text: "seat 2", a word, a time, or items joined by commas and "and" or "or"."""
    if isinstance(fact, Sequence) and not isinstance(fact, str):
        *most, last = (_fact_text(name, one, language) for one in fact)
        joint = (_AND if name in _JOINED_BY_AND else _OR).in_(language)
        return f"{', '.join(most)} {joint} {last}" if most else last
    if name in _SEATS:
        return f"{_SEAT.in_(language)} {fact}"
    if name == "phase" and fact in TEXTS.phases:
        return TEXTS.phases[fact].in_(language)
    if isinstance(fact, datetime):
        return str(msgspec.to_builtins(fact))  # because the API writes times so
    word = _WORDS_BY_CODE.get(fact) if isinstance(fact, str) else None
    return str(fact) if word is None else word.in_(language)


def _number_text(number: int, language: Language) -> str:
    words = _NUMBERS.in_(language).split()
    return words[number - 1] if 0 < number <= len(words) else str(number)


# Refusals


def title(code: str, language: Language) -> str:
    """Return a refusal's short title; for a code without text, the code as words."""
    text = TEXTS.refusals.get(code)
    return text.title.in_(language) if text else code.replace("_", " ").capitalize()


def refusal(code: str, facts: Mapping[str, Any], language: Language) -> str:
    """Return the sentence about the error and its remedy, without facts that are ``None`` or empty.

    If the code has no text, return its title.
    """
    text = TEXTS.refusals.get(code)
    if text is None:
        return f"{title(code, language)}."
    present = {name: fact for name, fact in facts.items() if fact is not None and fact != () and fact != []}
    return sentence(text.in_(language), {name: _fact_text(name, fact, language) for name, fact in present.items()})


# Rulings


def ruling(event: KnockUpheld | KnockDismissed, players: Sequence[str], language: Language, *, fine: int = 0) -> str:
    """Return a sentence with the ruling on a knock. ``players``: names. ``fine``: points that a dismissal costs."""

    def name(seat: int) -> str:
        return players[seat] if seat < len(players) else _fact_text("seat", seat, language)

    facts = {"seat": name(event.seat), "accused": name(event.accused), "rule": event.rule}
    if event.named is not None:
        facts["named"] = offence(event.named, language)
    if event.offence is not None:
        facts["did"] = TEXTS.offences[event.offence].did.in_(language)
    if isinstance(event, KnockUpheld):
        if event.penalty:
            facts["penalty"] = _number_text(event.penalty, language)
        if event.payer != event.accused:
            facts["payer"] = name(event.payer)
        return sentence(TEXTS.rulings["upheld"].in_(language), facts)
    if event.of is not None:
        facts["of"] = str(event.of)
    if fine:
        facts["fine"] = _number_text(fine, language)
    return sentence(TEXTS.rulings[event.reason].in_(language), facts)


CaseCode = Literal[
    "pending",
    "withdrawn",
    "case_upheld",
    "case_dismissed",
    "misclick_pending",
    "misclick_withdrawn",
    "misclick_overtaken",
    "misclick_upheld",
    "misclick_dismissed",
    "taken_back",
]
"""State of a case. ``misclick_…``: a case about a misclick. ``taken_back``: without a ruling."""


def case(
    code: CaseCode,
    players: Sequence[str],
    officials: Sequence[str],
    language: Language,
    *,
    by: Actor,
    rule: str,
    accused: int | None = None,
    offence: str | None = None,
    official: Actor | None = None,
    payer: int | None = None,
    penalty: int = 0,
    into_pot: bool = False,
) -> str:
    """Return a sentence with the claim of a case, and the ruling if one was made.

    ``by``: the opener. ``official``: the official who ruled; ``None``: the players agreed, or no ruling.
    ``into_pot``: the penalty goes into a pot (D70).
    """

    def name(actor: Actor) -> str:
        seat = seat_of(actor)
        if seat is not None:
            return players[seat]
        place = place_of(actor)
        return (
            filled(_HOLDER.in_(language), {"key": actor.removeprefix("key:")}) if place is None else officials[place]
        )

    facts = {"seat": name(by), "rule": rule}
    facts["official"] = _REFEREE.in_(language) if official is None else name(official)
    if accused is not None and offence is not None:
        facts |= {"accused": players[accused], "did": TEXTS.offences[offence].did.in_(language)}
    if penalty:
        facts["paid" if into_pot else "penalty"] = _number_text(penalty, language)
    if payer is not None and payer != accused:
        facts["payer"] = players[payer]
    return sentence(TEXTS.rulings[code].in_(language), facts)


# Texts of single codes: ``KeyError`` for an unknown code. Keep every text, because events may have its code.


def offence(code: str, language: Language) -> str:
    return TEXTS.offences[code].name.in_(language)


def kind(kind: str, language: Language) -> str:
    return TEXTS.kinds[kind].in_(language)


def win_text(by: str, language: Language) -> str:
    """Return the text that follows "Berit won" or "Berit vann"."""
    return TEXTS.wins[by].in_(language)
