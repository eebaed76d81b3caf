"""Find phrases of prose that an English reader has to translate: ``python -m tests.support.prose [path …]``."""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("prose.toml")
SWEDISH = {"sv"}
SAID_IN_CODE = {"help", "description", "epilog", "summary", "title"}
"""Keyword arguments whose strings users read."""
LOGGED = {"debug", "info", "warning", "error", "exception", "critical"}


class Text(NamedTuple):
    """A piece of prose: its file, its first line, its words, and whether it is a docstring."""

    file: str
    line: int
    words: str
    is_docstring: bool = False


class Finding(NamedTuple):
    """A phrase that is on the list, with the words to write instead."""

    file: str
    line: int
    phrase: str
    instead: str


class _Phrase(NamedTuple):
    pattern: re.Pattern[str]
    at: str
    instead: str


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(LIST.read_text())


@cache
def _listed() -> tuple[tuple[_Phrase, ...], frozenset[tuple[str, str]]]:
    data = _data()
    phrases = tuple(
        _Phrase(re.compile(one["pattern"], re.IGNORECASE), one.get("at", "anywhere"), one["instead"])
        for one in data["phrase"]
    )
    return phrases, frozenset((one["file"], one["text"].lower()) for one in data.get("exception", ()))


def _in_python(file: str, source: str) -> Iterator[Text]:
    """Yield docstrings, comments, and the strings that users or operators read."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(ast.Constant(str() as words)):
                yield Text(file, node.lineno, words, is_docstring=True)
            case ast.keyword(arg=str() as name, value=ast.Constant(str() as words)) if name in SAID_IN_CODE:
                yield Text(file, node.value.lineno, words)
            case ast.Call(ast.Attribute(_, name), [ast.Constant(str() as words), *_]) if name in LOGGED:
                yield Text(file, node.lineno, words)
            case ast.Raise(ast.Call(_, [ast.Constant(str() as words), *_])):
                yield Text(file, node.lineno, words)
            case ast.Assert(_, ast.Constant(str() as words)):
                yield Text(file, node.lineno, words)
    if "#" in source:  # most files have no comment, and tokens take longer than the tree
        yield from _comments(file, source)


def _comments(file: str, source: str) -> Iterator[Text]:
    """Yield comments; lines of comment that follow one another are one text."""
    first, last, words = 0, 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            if words and line != last + 1:
                yield Text(file, first, words)
                words = ""
            first = first if words else line
            words, last = f"{words} {token.string.lstrip('# ')}", line
    if words:
        yield Text(file, first, words)


def _in_toml(file: str, source: str) -> Iterator[Text]:
    """Yield comments and the English strings."""

    def strings(value: object) -> Iterator[str]:
        match value:
            case str():
                yield value
            case list():
                for one in value:
                    yield from strings(one)
            case dict():
                for key, one in value.items():
                    if key not in SWEDISH:
                        yield from strings(one)

    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            yield Text(file, number, line.lstrip("# "))
    for words in strings(tomllib.loads(source)):
        head = words.split("\n", 1)[0][:40]
        number = next((number for number, line in enumerate(lines, 1) if head and head in line), 0)
        yield Text(file, number, words)


def _in_markdown(file: str, source: str) -> Iterator[Text]:
    """Yield paragraphs without their blocks of code."""
    source = re.sub(r"^(```|~~~).*?^\1", lambda found: "\n" * found[0].count("\n"), source, flags=re.M | re.S)
    source = re.sub(r"<sub>Shown by.*?</sub>", "", source)  # names of tests
    line = 1
    for paragraph in re.split(r"\n\s*\n", source):
        if paragraph.strip():
            yield Text(file, line, paragraph)
        line = line + paragraph.count("\n") + 2


READERS = {".py": _in_python, ".toml": _in_toml, ".md": _in_markdown}


def texts(paths: list[str]) -> Iterator[Text]:
    """Yield the prose of the tracked files below these paths."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *paths], capture_output=True, text=True, cwd=ROOT, check=True
    )
    for file in filter(None, listed.stdout.split("\0")):
        reader = READERS.get(Path(file).suffix)
        if reader is not None and ROOT / file != LIST and (ROOT / file).is_file():
            yield from reader(file, (ROOT / file).read_text())


def _plain(words: str) -> str:
    """Return prose without code, quotations and links."""
    words = re.sub(r"``.*?``|`[^`]*`|:\w+:`[^`]*`", "CODE", words, flags=re.S)
    words = re.sub(r"\"[^\"]*\"|“[^”]*”|<[^>]*>|\{[^}]*\}|\(https?:[^)]*\)", "CODE", words, flags=re.S)
    return re.sub(r"\s+", " ", words).strip()


_RULES = re.compile(r"^(?:(?:[A-J]-?O?\d+[A-Za-z]?(?:-[A-J]?-?O?\d+)?|CODE)(?:, | and |-|: |\. )?)+(?:: ?)?")


@cache
def _before_headless() -> frozenset[str]:
    """Return the words and marks after which a clause has no noun to refer to."""
    return frozenset(_data()["headless_after"])


@cache
def _any_phrase() -> re.Pattern[str]:
    """Return one pattern for all phrases that count anywhere: most texts have none, and are passed over quickly."""
    return re.compile(
        "|".join(f"(?:{one.pattern.pattern})" for one in _listed()[0] if one.at != "start"), re.IGNORECASE
    )


def findings(text: Text) -> Iterator[Finding]:
    """Yield the phrases of a text that are on the list and are no exception."""
    phrases, exceptions = _listed()
    plain = _plain(text.words)
    start = _RULES.sub("", plain) if text.is_docstring else ""
    if not _any_phrase().search(plain):
        phrases = tuple(one for one in phrases if one.at == "start")
    for phrase in phrases:
        if phrase.at == "start":
            found = [hit] if (hit := phrase.pattern.match(start)) else []
        elif phrase.at == "clause":
            found = [hit for hit in phrase.pattern.finditer(plain) if _is_headless(plain, hit.start())]
        else:
            found = list(phrase.pattern.finditer(plain))
        for hit in found:
            if (text.file, hit[0].lower()) not in exceptions:
                yield Finding(text.file, text.line, hit[0], phrase.instead)


def _is_headless(plain: str, at: int) -> bool:
    """Return whether the clause at this place follows no noun: it begins the text, or follows a verb."""
    before = re.findall(r"[\w']+|[.;:,(]", plain[:at])[-1:]
    return not before or before[0].lower() in _before_headless()


def main(paths: list[str]) -> int:
    """Print each finding and a count by phrase. Return the exit code."""
    found = [one for text in texts(paths or ["."]) for one in findings(text)]
    for one in found:
        print(f"{one.file}:{one.line}: “{one.phrase}”: write {one.instead}")
    for instead, count in Counter(one.instead for one in found).most_common():
        print(f"{count:6} {instead}", file=sys.stderr)
    print(len(found), "phrases", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
