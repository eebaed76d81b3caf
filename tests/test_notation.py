"""The words of the notation, and who did something, are read strictly: what is not known is never guessed."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import actors, notation
from referee.actors import Actor
from referee.notation.words import WORDS


@pytest.mark.parametrize(("text", "read"), [("yes", {"agree": True}), ("no", {"agree": False})])
def test_a_reply_to_a_proposed_new_deal(text: str, read: dict[str, bool]) -> None:
    assert WORDS["reply"].read(text) == read


@pytest.mark.parametrize("text", ["", "Yes", "maybe"])
def test_anything_else_is_no_reply(text: str) -> None:
    assert WORDS["reply"].read(text) is None


PASSED_OUT = """\
game      rodskagg-alga
errors    refuse
dealing   table
players   "Anna" "Bo"
dealer    P2
before    P1 12  P2 12

void      "coffee" (official:2)
deal      P2 (scribe)
  counts  6 6
cards     P1 keeps (key:k3)  P2 keeps
knock     P1 on P2 (P2): dismissed by A1
bids      P1 pass (official)  P2 pass

result    passed_out
tricks    P1 0  P2 0
after     P1 12  P2 12
"""


def test_the_actor_for_a_player_is_written_and_read_back() -> None:
    deal = notation.parse(PASSED_OUT)
    assert [done.actor for done in deal.acts] == [
        "official:2",
        "scribe",
        "key:k3",
        "seat:1",
        "seat:1",
        "official",
        "seat:1",
    ]
    assert notation.write(deal) == PASSED_OUT


@pytest.mark.parametrize("actor", ["seat:0", "seat:7", "official", "official:2", "scribe", "key:k3"])
def test_an_actor_is_read_as_it_is_written(actor: Actor) -> None:
    assert actors.parse(actors.written(actor)) == actor


@pytest.mark.parametrize(
    "text", ["", "P0", "P9", "p1", "0", "official:0", "official:", "scribe:1", "key:", "seat:0", "Anna"]
)
def test_no_other_text_is_an_actor(text: str) -> None:
    with pytest.raises(ValueError, match="names no actor"):
        actors.parse(text)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        (8, "void      5"),
        (8, 'void      "coffee'),
        (12, 'knock     P1 on P2 (P2): dismissed by A1 "a"b"'),
        (12, "knock     P1 on P2 (P2): upheld by A1, P2 up " + "9" * 5000),
        (13, "sheet     P1 [1]"),
        (13, 'sheet     P1 {"tricks": 1}'),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: int, changed: str) -> None:
    lines = PASSED_OUT.split("\n")
    lines[line - 1] = changed
    with pytest.raises(notation.Unreadable) as raised:
        notation.parse("\n".join(lines))
    assert raised.value.line == line, raised.value


@given(
    st.integers(0, len(PASSED_OUT) - 1), st.sampled_from(['"', "[1]", "{}", "9" * 5000, "\\", "(", "P9", "½", "\n"])
)
def test_every_other_text_is_refused(place: int, inserted: str) -> None:
    changed = PASSED_OUT[:place] + inserted + PASSED_OUT[place:]
    with suppress(notation.Unreadable):
        assert notation.write(notation.parse(changed)) == changed
