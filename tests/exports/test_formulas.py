"""No text of a user becomes a formula in a spreadsheet, with whichever separator the file is opened.

Excel separates by the list separator of the system: in Sweden that is a semicolon.
"""

import csv as files
import re
from collections.abc import Callable
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from api.money import statements
from projections import pots, protocols
from projections.exports import tables
from tests.exports.journals import EXAMPLE
from tests.exports.spreadsheet import formulas
from tests.exports.tables import POT, PROTOCOL, STATEMENT

SEPARATORS = [",", ";", "\t"]
NUMBER = re.compile(r"-\d+(\.\d+)?")
FORMULA = tuple("=+-@＝＋－＠")
IN_FRONT = " \t\r\n\v\f\"'\xa0\u2003\u200b\u200e\ufeff"
"""A spreadsheet drops some of these in front of a formula."""
HARMLESS = ["Bo", "Bo-Inge", "a+b", "Swish; ref: 77 [jan]", "bo@klubben.se", "1=1", 'Bo "B", Jr', "", "2026-11-24"]
HARMFUL = [
    *(f"{sign}1+1" for sign in FORMULA),
    *(f"Bo;{sign}cmd|' /C calc'!A0" for sign in FORMULA),
    *(f"Bo{separator}=1+1" for separator in [*SEPARATORS, "\n", "\r"]),
    *(f"{front}=1+1" for front in IN_FRONT),
    *(f"Bo;{front}=1+1" for front in IN_FRONT),
    'Bo;"=1+1"',
    'Bo";"=1+1',
    '"=1+1',
    "Bo;;=1+1",
    "Bo; \t ; =1+1",
]


def journal(text: str) -> str:
    entries = tuple(replace(entry, text=text) for entry in EXAMPLE.entries)
    return tables.csv(replace(EXAMPLE, names=dict.fromkeys(EXAMPLE.names, text), entries=entries)).decode()


def statement(text: str) -> str:
    lines = tuple(replace(line, cause=text) for line in STATEMENT.items)
    return statements.csv(replace(STATEMENT, items=lines)).decode()


def protocol(text: str) -> str:
    return protocols.csv(replace(PROTOCOL, players=(text, *PROTOCOL.players[1:])))


def pot(text: str) -> str:
    return pots.csv(replace(POT, players=(text, *POT.players[1:])))


TABLES = [journal, statement, protocol, pot]
every_table = pytest.mark.parametrize("table", TABLES)


def cells(table: str, separator: str) -> list[str]:
    """Return the cells that a spreadsheet finds with this separator, and those of one that knows no quotes."""
    quoted = [cell for row in files.reader(StringIO(table, newline=""), delimiter=separator) for cell in row]
    return quoted + re.split(f"[{separator}\r\n]", table)


@every_table
@example("Bo;=1+1")
@given(
    st.one_of(
        st.sampled_from(HARMFUL),
        st.text(st.sampled_from([*FORMULA, *SEPARATORS, *IN_FRONT, "B", "1", "(", "!", "|"]), max_size=12),
    )
)
def test_no_cell_begins_as_a_formula(table: Callable[[str], str], text: str):
    for separator in SEPARATORS:
        for cell in cells(table(text), separator):
            begins = cell.strip(IN_FRONT.replace("'", ""))
            assert not begins.startswith(FORMULA) or NUMBER.fullmatch(begins), (separator, cell)


@every_table
@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stand_as_they_are(table: Callable[[str], str], text: str):
    assert any(text in cell for row in files.reader(StringIO(table(text), newline="")) for cell in row)


@every_table
def test_every_text_is_quoted_and_no_number_is(table: Callable[[str], str]):
    for cell in re.findall(r'(?:^|,)("(?:[^"]|"")*"|[^,\r\n]*)', table("Bo"), re.MULTILINE):
        assert re.fullmatch(r'"(?:[^"]|"")*"|-?\d+(\.\d+)?|', cell), cell


@pytest.mark.program("soffice")
@pytest.mark.parametrize("separator", SEPARATORS)
def test_libreoffice_finds_no_formula(separator: str):
    ours = [table(text) for table in TABLES for text in HARMFUL]
    quoted, formula = f'"Bo{separator}=2+2"{separator}2\r\n', f"Bo{separator}=1+1{separator}2\r\n"
    assert formulas([*ours, quoted, formula], separator) == ["=1+1"], "it finds only the one that is not ours"
