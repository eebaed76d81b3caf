"""Reads and lists the guides, rulebooks and example programs."""

import ast
import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from api.docs.markdown import sections
from api.http.replies import HTML, JSON, PLAIN, encode
from referee import rulebook
from referee.games import RULESETS
from referee.rulebook import PROCEDURE, Reading, Rule
from referee.sentences import Language
from referee.value import Value

MARKDOWN = "text/markdown"
FIRST = ("first-match", "client", "errors", "conflicts", "following", "bot")
"""Guides to read first, in this order."""
OTHERS = ("notation.md", "verify.py", "shuffle.py")
BOOKS = (*RULESETS, PROCEDURE)
"""Rulebooks of the games and of the officials."""


class PageSection(Value):
    title: str
    address: str
    text: str


class GuidePage(Value):
    """A guide, rulebook or program, for the list and the search of pages."""

    kind: str
    title: str
    address: str
    summary: str
    sections: tuple[PageSection, ...]


@cache
def text_of(path: str) -> str:
    """Return the text of a file in ``openapi/``."""
    return (files("api.docs") / "openapi" / path).read_text("utf-8")


@cache
def guide_names() -> tuple[str, ...]:
    """Return the file names of texts and programs in ``openapi/guides/``: :data:`FIRST`, then by name."""

    def place(name: str) -> tuple[int, str]:
        stem = name.partition(".")[0]
        return (FIRST.index(stem) if stem in FIRST else len(FIRST), name)

    return tuple(sorted((name for name in _guide_files() if name.endswith((".md", ".py", ".ts"))), key=place))


@cache
def picture_names() -> frozenset[str]:
    """Return the file names of the guides' pictures (SVG)."""
    return frozenset(name for name in _guide_files() if name.endswith(".svg"))


def _guide_files() -> set[str]:
    return {file.name for file in (files("api.docs") / "openapi" / "guides").iterdir()}


def preload() -> None:
    """Cache all files except rulebooks."""
    for path in (*OTHERS, *(f"guides/{name}" for name in (*guide_names(), *picture_names()))):
        text_of(path)


def rulebook_markdown(key: str, language: Language) -> str:
    """Return the rules and readings of a rulebook, each below its id as a heading."""
    book = rulebook.load(key)
    entries: list[Rule | Reading] = [*book.rules, *book.readings]
    rules = "".join(f"\n## {entry.id}\n\n{getattr(entry, language)}\n" for entry in entries)
    return f"# {getattr(book.title, language)}\n\n`{key}`, {book.source}\n{rules}"


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.])\s", text.strip(), maxsplit=1)[0]


def _markdown_page(kind: str, path: str, markdown: str) -> GuidePage:
    """Return the page of a guide or rulebook. A rulebook has one section, without rules."""
    parts = list(sections(markdown))[: None if kind == "guide" else 1]
    title, address = parts[0].title, f"/docs/{path}"
    shown = tuple(
        PageSection(title=one.title, address=address if place == 0 else f"{address}#{one.name}", text=one.text)
        for place, one in enumerate(parts)
    )
    return GuidePage(kind=kind, title=title, address=address, summary=_first_sentence(parts[0].text), sections=shown)


def _program_page(path: str) -> GuidePage:
    """Return a program's page. Its text: the docstring or, outside Python, the first line."""
    source, name, address = text_of(path), path.rpartition("/")[2], f"/docs/{path}"
    about = ast.get_docstring(ast.parse(source)) if path.endswith(".py") else source.partition("\n")[0].lstrip("/ ")
    section = PageSection(title=name, address=address, text=about or "")
    return GuidePage(
        kind="program", title=name, address=address, summary=_first_sentence(section.text), sections=(section,)
    )


@cache
def pages() -> tuple[GuidePage, ...]:
    """Return all pages in English: guides, rulebooks, programs."""
    paths = [*(f"guides/{name}" for name in guide_names()), *OTHERS]
    texts = (_markdown_page("guide", path, text_of(path)) for path in paths if path.endswith(".md"))
    books = (_markdown_page("rulebook", f"rulebooks/{key}.md", rulebook_markdown(key, "en")) for key in BOOKS)
    return (*texts, *books, *(_program_page(path) for path in paths if not path.endswith(".md")))


def list_markdown(kinds: tuple[str, ...] = ("guide", "rulebook", "program")) -> str:
    """Return Markdown that lists links to the pages, by kind."""
    titles = {"guide": "Guides", "rulebook": "Rules", "program": "Programs"}
    return "\n".join(
        f"## {titles[kind]}\n\n"
        + "".join(f"- [{page.title}]({page.address}): {page.summary}\n" for page in pages() if page.kind == kind)
        for kind in kinds
    )


def llms_text() -> str:
    """Return the overview for language models (``/llms.txt``)."""
    return f"""\
# Knacka

> The referee and scorekeeper for Swedish knocking card games, as a REST service. Clients send every deal, bid, play
> and knock; the service checks them against the numbered rules and keeps the books.

## Interface

- [OpenAPI description](/openapi.json): every call, with examples; also as [YAML](/openapi.yaml)
- [Problem types](/problems): every error, with advice

{list_markdown()}"""


class Link(NamedTuple):
    href: str
    type: str


RELATIONS = {
    "service-desc": [Link("/openapi.json", JSON), Link("/openapi.yaml", "application/yaml")],
    "service-doc": [Link("/docs", HTML), Link("/llms.txt", PLAIN), Link("/docs/guides", HTML)],
    "status": [Link("/health/ready", JSON)],
}
"""First addresses that a client needs, by their relation to the API (RFC 8631)."""


def catalog() -> bytes:
    """Return the catalogue of this API (RFC 9727) as a link set (RFC 9264)."""
    links = {relation: [one._asdict() for one in of] for relation, of in RELATIONS.items()}
    return encode({"linkset": [{"anchor": "/v1", **links}]})
