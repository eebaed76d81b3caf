"""Renders HTML pages and their content security policies."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from referee.sentences import Language, Text, filled

_TEMPLATES = Environment(
    loader=PackageLoader("api.docs"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def preload() -> None:
    """Read all templates and static files."""
    for name in _TEMPLATES.list_templates():
        _TEMPLATES.get_template(name)
    for file in (files("api.docs") / "static").iterdir():
        static_file(file.name)


@cache
def static_file(name: str) -> bytes:
    return (files("api.docs") / "static" / name).read_bytes()


def render(template: str, kind: str, language: str, title: str, **values: Any) -> bytes:
    """Return a page. All values are escaped, except ``Markup``.

    ``template``: a file of ``templates/`` that extends ``frame.html``. ``kind``: name of the style sheet.
    """
    style = Markup(static_file(f"{kind}.css").decode())
    page = _TEMPLATES.get_template(template).render(language=language, title=title, style=style, **values)
    return page.encode()


def render_text(language: str, title: str, body: str) -> bytes:
    """Return a page with ``body``, which must be safe HTML."""
    return render("text.html", "text", language, title, body=Markup(body))


def words_in(language: Language, texts: Mapping[str, Text]) -> Callable[..., str]:
    """Return a function that returns the text with a code, filled with keyword arguments."""

    def word(code: str, **values: object) -> str:
        return filled(texts[code].in_(language), {name: str(value) for name, value in values.items()})

    return word


@cache
def policy_of_kind(kind: str, *more: str) -> str:
    """Return the content security policy of the pages of a kind. ``more``: directives such as ``img-src 'self'``."""
    return policy_of(render("frame.html", kind, "", ""), *more)


def policy_of(page: bytes, *more: str) -> str:
    """Return the content security policy of a page. It allows the inline style. ``more``: further directives."""
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    known = b64encode(sha256(style).digest()).decode()
    return "; ".join(
        (
            "default-src 'none'",
            *more,
            f"style-src 'sha256-{known}'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
