"""Edge cases of Alga: cards shown to each viewer, and the events that a penalty for going along in vain rests on."""

import pytest

from referee.acts import Deal
from referee.games._rodskagg.facts import QuestionAnswered
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4


def alga(**match: object) -> Table:
    return table("rodskagg-alga", **match)


def test_in_the_play_each_seat_sees_its_own_hand_and_officials_all():
    match = alga().dealt("1 2 3 4 | 1 2").bid("2 pass pass pass").trick()
    own = [match.seen(seat).hand for seat in range(4)]
    assert [len(hand) for hand in own] == [5, 5, 5, 5]
    assert match.seen("official").hands == tuple(own)
    for viewer in (P1, P2, P3, P4, "spectator"):
        assert match.seen(viewer).hands is None


def test_closed_hands_are_not_shown():
    match = alga()
    match.after(Deal(seat=P4, counts=(6, 6, 6, 6))).bid("2 pass pass pass")
    assert match.seen("official").hands is None
    assert match.seen(P1).hand is None


def test_an_ordinary_deal_has_no_further_fields():
    assert alga().dealt().bid("2 pass pass pass").seen(P1).more is None


@pytest.mark.rule("A44")
def test_answers_are_shown_from_the_question_on_and_points_rest_on_ones_own():
    match = alga().dealt("1 1 1 1 | 1 1").bid("2 pass pass pass").tricks(4)
    assert match.seen("spectator").answers is None
    match.ask("P2 P4")
    assert match.seen("spectator").answers is not None
    match.tricks(2)
    joined = {entry.seat: entry.events for entry in match.line.entries if entry.rule == "A44"}
    assert sorted(joined) == [P2, P4]
    for seat, events in joined.items():
        assert [match.event(number) for number in events] == [QuestionAnswered(seat=seat, answer="play")]
