"""The pictures and the table of settings in the documents are those that the code makes now."""

import re

from tests.support import settings_table
from tests.support.score_sheet import PICTURE, protocol, svg
from tests.support.structure import PAGE, ROOT, arrows, reduced, with_picture


def test_the_picture_of_the_structure_is_up_to_date():
    page = PAGE.read_text("utf-8")
    assert page == with_picture(page), "run: make describe"


def test_the_table_of_the_settings_is_up_to_date():
    page = settings_table.PAGE.read_text("utf-8")
    assert page == settings_table.with_table(page), "run: make describe"


def test_the_packages_have_no_circle():
    reduced(arrows())


def test_the_score_sheet_of_the_readme_is_up_to_date():
    assert PICTURE.read_text("utf-8") == svg(protocol()), "run: make describe"


def test_the_architecture_names_files_that_exist():
    named = set(re.findall(r"`((?:referee|projections|api|openapi|tests|deploy)/[\w/.]*)`", PAGE.read_text("utf-8")))
    assert {name for name in named if not (ROOT / name).exists()} == set()
