"""All prose of the project is plain English: no phrase of ``tests/support/prose.toml`` is in it."""

import pytest

from tests.support.prose import Text, findings, texts


def test_no_text_has_a_phrase_of_the_list():
    read = tuple(texts(["."]))
    assert {text.file.rpartition(".")[2] for text in read} == {"py", "toml", "md"}
    assert any(not text.is_docstring for text in read if text.file.endswith(".py"))
    found = [one for text in read for one in findings(text)]
    assert found == [], "\n".join(f"{one.file}:{one.line}: {one.phrase!r}: write {one.instead}" for one in found)


@pytest.mark.parametrize(
    ("words", "phrases"),
    [
        ("What the seat sees of it.", ["What"]),
        ("A7, A8: of the dealer's hand.", ["of "]),
        ("Return the rows, told by the store.", ["told"]),
        ("Return what is asked of the store.", ["what is asked"]),
        ("Return the member, whoever asks.", ["whoever"]),
        ("Return the row if it exists, else None.", []),
        ("A12: Return the player who leads.", []),
        ("Raise NotFound if there is no match ``what``.", []),
    ],
)
def test_a_phrase_is_found(words: str, phrases: list[str]):
    assert [one.phrase for one in findings(Text("a.py", 1, words, is_docstring=True))] == phrases
