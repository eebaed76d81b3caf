"""Converts Markdown to HTML, and to sections for a search."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import escape

from api.docs.call_ids import call_id


def _add_heading_links(state: StateCore) -> None:
    """Give each heading an id and, except the title, a link to itself."""
    taken: set[str] = set()
    for heading, inline in pairwise(state.tokens):
        if heading.type != "heading_open":
            continue
        text = text_without_html(inline)
        name = base = re.sub(r"[^\w]+", "-", text.lower()).strip("-")
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        heading.attrSet("id", name)
        if heading.tag != "h1" and inline.children is not None:
            link = Token("html_inline", "", 0)
            link.content = f' <a class="anchor" href="#{name}" aria-label="{escape(text)}">#</a>'
            inline.children.append(link)


def text_without_html(inline: Token) -> str:
    children = (one for one in inline.children or () if one.type != "html_inline")
    return "".join(" " if one.type == "softbreak" else one.content for one in children)


def _link_calls(state: StateCore) -> None:
    """Link code that names a call, such as `GET /v1/matches`. Works only after ``read_calls``."""
    for inline in state.tokens:
        linked: list[Token] = []
        inside = 0
        for token in inline.children or ():
            inside += token.nesting if token.type.startswith("link_") else 0
            name = call_id(token.content) if token.type == "code_inline" and not inside else None
            if name is None:
                linked.append(token)
            else:
                opening = Token("link_open", "a", 1, attrs={"href": f"/docs#{name}"})
                linked += opening, token, Token("link_close", "a", -1)
        inline.children = linked if inline.children else inline.children


_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_PARSER.core.ruler.push("heading_links", _add_heading_links)
_PARSER.core.ruler.push("call_links", _link_calls)


def to_html(markdown: str) -> str:
    """Return Markdown as HTML, with links at headings and calls. Raw HTML is escaped."""
    html: str = _PARSER.render(markdown)
    return html


class Section(NamedTuple):
    """A heading with the id ``name``, and the text below it."""

    name: str
    title: str
    text: str


def sections(markdown: str) -> Iterator[Section]:
    """Yield a page's sections without blocks of code. Without headings, the page is one section.

    Otherwise text before the first heading is dropped.
    """
    name, title, parts = "", "", list[str]()
    tokens = _PARSER.parse(markdown)
    for before, token in pairwise([Token("", "", 0), *tokens]):
        if token.type != "inline":
            continue
        if before.type == "heading_open":
            if title:
                yield Section(name, title, "\n".join(parts))
            name, parts = str(before.attrGet("id")), []
            title = text_without_html(token)
        else:
            parts.append(text_without_html(token))
    yield Section(name, title, "\n".join(parts))
