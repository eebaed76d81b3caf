"""The words of the notation are read strictly: what is not one of them is unreadable, never taken for another."""

import pytest

from referee.notation.words import WORDS


@pytest.mark.parametrize(("text", "read"), [("yes", {"agree": True}), ("no", {"agree": False})])
def test_a_reply_to_a_proposed_new_deal(text: str, read: dict[str, bool]) -> None:
    assert WORDS["reply"].read(text) == read


@pytest.mark.parametrize("text", ["", "Yes", "maybe"])
def test_anything_else_is_no_reply(text: str) -> None:
    assert WORDS["reply"].read(text) is None
