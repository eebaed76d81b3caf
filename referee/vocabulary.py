"""The words (codes of bids, faults and so on) that installed games add to those of the kernel.

An installed game may have a file ``words.toml`` in its package. It is read before the package is imported, because
the kernel's types contain the words.
"""

from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec, module_from_spec
from keyword import iskeyword
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

ENTRY_POINT_GROUP = "knacka.games"
INSTALLED_PACKAGES: tuple[str, ...] = tuple(sorted({point.module for point in entry_points(group=ENTRY_POINT_GROUP)}))


Word = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_]{1,40}\Z")]
"""Code in requests, events, answers and the notation."""
FieldName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,39}\Z")]


class ResultField(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A field of the act `result`, which enters a whole deal. ``says``: description in English."""

    kind: Literal["flag", "seat", "seats", "count", "counts", "cards"]
    says: str


class Words(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The words that a game adds."""

    bids: tuple[Word, ...] = ()
    faults: tuple[Word, ...] = ()
    """Codes of faults that players report. Each is also in ``offences``."""
    due: tuple[Word, ...] = ()
    """Acts that may be due before the play goes on."""
    result: dict[FieldName, ResultField] = {}
    """Fields of the act `result`."""
    notation: dict[Word, str] = {}
    """Word that begins the line of an act in the notation, by the name of the act."""
    refusals: dict[Word, Any] = {}
    """Texts by code, as in the kernel's ``sentences.toml``. The fields below have the same form."""
    phases: dict[Word, Any] = {}
    offences: dict[Word, Any] = {}
    kinds: dict[Word, Any] = {}
    wins: dict[Word, Any] = {}

    def __post_init__(self) -> None:
        """Raise ``ValueError`` if ``offences`` lacks a fault, or a result field is `act` or a Python keyword."""
        if missing := set(self.faults) - self.offences.keys():
            raise ValueError(f"faults without a text in offences: {', '.join(sorted(missing))}")
        if reserved := [name for name in self.result if name == "act" or iskeyword(name)]:
            raise ValueError(f"result fields with a reserved name, choose another: {', '.join(reserved)}")

    @property
    def values(self) -> frozenset[str]:
        """Words that clients send or see as values, except codes of refusals."""
        tables = self.phases, self.offences, self.kinds, self.wins
        return frozenset((*self.bids, *self.faults, *self.due, *(code for table in tables for code in table)))

    @property
    def texts(self) -> dict[str, dict[str, Any]]:
        return {name: getattr(self, name) for name in ("refusals", "phases", "offences", "kinds", "wins")}


def _words_of(package: str) -> Words:
    """Return the words of an installed game without importing it. They are empty without the file.

    Raises ``ImportError`` if the package does not exist or the file cannot be used.
    """
    top, *inner = package.split(".")
    spec = find_spec(top)
    folder = None
    if spec is not None and spec.submodule_search_locations is not None:
        folder = files(module_from_spec(spec)).joinpath(*inner)
    if folder is None or not folder.is_dir():
        raise ImportError(f"An entry point of {ENTRY_POINT_GROUP} names {package}, which is no package.")
    file = folder / "words.toml"
    if not file.is_file():
        return Words()
    try:
        return msgspec.toml.decode(file.read_bytes(), type=Words)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ImportError(f"The file words.toml of the package {package} cannot be used: {error}") from None


INSTALLED: dict[str, Words] = {package: _words_of(package) for package in INSTALLED_PACKAGES}


def with_installed(own: tuple[str, ...], kind: Literal["bids", "faults", "due", "offences"]) -> tuple[str, ...]:
    """Return the kernel's ``own`` words and those of the installed games, each once."""
    return tuple(dict.fromkeys((*own, *(word for words in INSTALLED.values() for word in getattr(words, kind)))))
