"""Tables as CSV files that a spreadsheet can open."""

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO

SPLITS = r"(?:^|(?<=[,;\t\r\n]))"
"""Places where a program may begin a cell."""
IGNORED_BEFORE_FORMULA = '"\\s\x00-\x1f\u200b-\u200f\u2060\ufeff'
"""Characters before a formula that a program may ignore."""
FORMULA = re.compile(rf"{SPLITS}(?=[{IGNORED_BEFORE_FORMULA}]*[=+\-@＝＋－＠])|^(?=[\t\r\n])")
"""Places where a formula could begin. Excel also accepts the full-width signs."""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV (RFC 4180) with texts and dates in quotes. ``None`` is an empty text.

    No program that separates cells by comma, semicolon or tab reads a text as a formula.
    """
    file = StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([_cell(cell) for cell in row] for row in (columns, *rows))
    return file.getvalue()


def _cell(cell: object) -> object:
    if cell is None:
        return ""
    return FORMULA.sub("'", cell) if isinstance(cell, str) else cell
