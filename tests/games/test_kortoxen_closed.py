"""Rödskägg (Kortoxen) with closed hands: the referee knows only the number of cards dealt, and the cards played."""

import pytest

from referee.acts import Play, Void
from referee.events import CardPlayed, Dealt
from referee.games._rodskagg.facts import PickedUp
from referee.refusals import NoSuchCard
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4

BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])


def closed(winners: str = "1 2 1 2 | 1 2", **match: str) -> Table:
    """Return a table where P1 declares one trick. Tricks are played in spades, hearts, diamonds, clubs, spades and
    hearts."""
    return table(**match).dealt(winners, closed=True).declares(P1, 1)


def meant(t: Table, seat: int, trick: int) -> str:
    """Return the card that a seat was dealt for this trick, counted from 1."""
    return t.plan.cards[trick - 1][seat]


def disproved(**match: str) -> Table:
    """Let P3 throw a heart on P1's spade, and in the second trick a spade on P2's heart."""
    t = closed(**match)
    for seat, trick in ((P1, 1), (P2, 1), (P3, 2), (P4, 1), (P1, 2), (P2, 2), (P3, 1)):
        t.do(Play(seat=seat, card=meant(t, seat, trick)))
    return t


@pytest.mark.rule("B4")
class TestCardsSeen:
    """A card is in the pack once, so no seat can play a card that has been seen."""

    @BOTH
    @pytest.mark.parametrize("seat", [P2, P3])
    def test_a_card_seen_is_refused(self, enforcement: str, seat: int):
        t = closed(enforcement=enforcement)
        t.card()
        if seat == P3:
            t.card()
        t.refused(Play(seat=seat, card=meant(t, P1, 1)), rule="B4", kind=NoSuchCard, code="card_seen")

    def test_any_card_not_seen_may_be_the_right_one(self):
        t = closed()
        assert len(t.legal(P1)) == 52
        t.tricks(1)
        assert len(t.legal(P1)) == 48
        t.do(Play(seat=P1, card="C2"))

    def test_the_play_needs_no_hands(self):
        t = closed("3 1 3 3 | 2 3").tricks(4).asks(P1, "play play").tricks(2)
        assert t.line.tricks == (1, 1, 4, 0)
        assert t.points == (11, 11, 8, 17)

    def test_no_one_is_shown_a_card_that_was_not_played(self):
        t = closed().tricks(1)
        for viewer in (*range(4), "spectator", "official"):
            seen = t.seen(viewer)
            assert seen.hand is None
            assert seen.hands is None
            assert seen.cards_left == (5, 5, 5, 5)
        assert [event.hands for event in t.happened(Dealt)] == [None]
        assert {event.hand for event in t.happened(PickedUp)} == {None}


@pytest.mark.rule("B42", "B-O26")
class TestDisproved:
    """A seat that does not follow suit claims to have no card of it. A later card of that suit shows the revoke."""

    @BOTH
    def test_a_player_may_say_to_have_none(self, enforcement: str):
        t = closed(enforcement=enforcement)
        t.card(), t.card()
        t.do(Play(seat=P3, card=meant(t, P3, 2)))
        assert t.seen().breaches == ()

    def test_before_it_is_shown_there_is_nothing_to_knock_for(self):
        t = closed(enforcement="penalise")
        t.card(), t.card()
        t.do(Play(seat=P3, card=meant(t, P3, 2)))
        t.dismissed(P1, P3, "revoke", reason="nothing")

    def test_a_card_of_the_suit_shows_it_and_it_costs_five_on_a_knock(self):
        t = disproved(enforcement="penalise")
        lead, thrown, shown = t.upheld(P1, P3, "revoke", rule="B42")
        cards = [event.card for event in (lead, thrown, shown) if isinstance(event, CardPlayed)]
        assert cards == [meant(t, P1, 1), meant(t, P3, 2), meant(t, P3, 1)]

    def test_it_is_punished_once(self):
        t = disproved(enforcement="penalise")
        t.upheld(P1, P3, "revoke", rule="B42")
        t.do(Play(seat=P4, card=meant(t, P4, 2)))
        t.tricks(2)
        t.asks(P1, "play play")
        t.do(Play(seat=P2, card=meant(t, P2, 5)))
        t.do(Play(seat=P3, card=meant(t, P3, 5)))
        t.dismissed(P1, P3, "revoke", reason="again")

    def test_two_throws_shown_by_one_card_are_two_revokes(self):
        t = closed("1 1 1 1 | 2 2", enforcement="penalise")
        for trick, third in ((1, 2), (5, 3)):
            for seat in range(4):
                t.do(Play(seat=seat, card=meant(t, seat, third if seat == P3 else trick)))
        for seat in range(P2, P2 + 2):
            t.do(Play(seat=seat, card=meant(t, seat, 6 if seat == P2 else 1)))
        t.upheld(P1, P3, "revoke", rule="B42")
        t.upheld(P1, P3, "revoke", rule="B42")
        t.dismissed(P1, P3, "revoke", reason="again")

    def test_a_card_of_another_suit_shows_nothing(self):
        t = closed(enforcement="penalise")
        for seat, trick in ((P1, 1), (P2, 1), (P3, 2), (P4, 1), (P1, 2), (P2, 2), (P3, 6)):
            t.do(Play(seat=seat, card=meant(t, seat, trick)))
        t.dismissed(P1, P3, "revoke", reason="nothing")

    def test_nor_does_a_card_of_another_player(self):
        t = disproved(enforcement="penalise")
        t.dismissed(P1, P2, "revoke", reason="nothing")
        t.dismissed(P1, P4, "revoke", reason="nothing")

    def test_the_tricks_stand(self):
        t = disproved(enforcement="penalise")
        t.do(Play(seat=P4, card=meant(t, P4, 2)))
        assert t.seen().tricks == (1, 1, 0, 0)
        assert t.turn == P2

    def test_if_errors_are_refused_it_is_noted_and_costs_nothing(self):
        t = disproved()
        (noted,) = t.history[-1].event.breaches
        assert (noted.offence, noted.seat, noted.rule, noted.points) == ("revoke", P3, "B42", 0)
        t.dismissed(P1, P3, "revoke", reason="enforced")
        assert t.penalties == (0, 0, 0, 0)

    def test_a_new_deal_forgets_what_was_said(self):
        t = closed(enforcement="penalise")
        t.card(), t.card()
        t.do(Play(seat=P3, card=meant(t, P3, 2)))
        t.do(Void())
        t.dealt("1 2 1 2 | 1 2", closed=True).declares(P1, 1).tricks(2)
        t.dismissed(P1, P3, "revoke", reason="nothing")
