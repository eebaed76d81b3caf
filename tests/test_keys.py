"""The text of a key: what it names, and that it is whole."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.access.keys import LENGTH_MAX, Named, make_key_text, parse_key
from api.access.secret_form import checksum

CLUB = UUID("b6a3e3c2-97d0-4f0d-8f31-0d1f0e4a9c11")


def test_a_text_written_once_stays_as_it_is():
    """Programs that look for secrets know the form."""
    assert make_key_text(CLUB, "k3", bytes(range(32))) == (
        "knk_5YdV51oH2nveYcoA5othbdk3_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf4eYT8v"
    )


@given(st.uuids(), st.integers(1, 99_999))
def test_a_key_names_its_club_and_itself(club: UUID, number: int):
    key = f"k{number}"
    text = make_key_text(club, key)
    assert parse_key(text) == Named(club, key)
    assert len(text) <= LENGTH_MAX


def test_no_two_are_the_same():
    assert make_key_text(CLUB, "k1") != make_key_text(CLUB, "k1")


@given(st.integers(0, len(make_key_text(CLUB, "k1")) - 1), st.characters(min_codepoint=33, max_codepoint=126))
def test_one_character_changed_makes_none_of_it(place: int, character: str):
    text = make_key_text(CLUB, "k1", b"7" * 32)
    changed = text[:place] + character + text[place + 1 :]
    assert changed == text or parse_key(changed) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "knk_",
        "knk_k3_",
        "official",
        "é" * 78,
        make_key_text(CLUB, "k1", b"7" * 32)[:-1],
        make_key_text(CLUB, "k1", b"7" * 32) + "0",
    ],
)
def test_an_invalid_key_names_no_club(text: str):
    assert parse_key(text) is None


def test_more_than_an_id_can_be_names_nothing():
    """22 digits of 62 can write more than 128 bits."""
    text = f"knk_{'z' * 22}k1_{'0' * 43}"
    assert parse_key(text + checksum(text)) is None
