"""The pages of the rulebooks say what the rulebooks and the tests say."""

import pytest

from tests.support.rulebook_pages import BOOKS, PAGES, page


@pytest.mark.parametrize("ruleset", BOOKS)
def test_the_page_is_up_to_date(ruleset: str) -> None:
    written = (PAGES / f"{ruleset}.md").read_text(encoding="utf-8")
    assert written == page(ruleset), "run: python -m tests.support.rulebook_pages"


def test_no_page_is_left_over() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == set(BOOKS)
