"""Kalabrias with closed hands: the referee has only the numbers of cards, and the cards that were shown."""

from random import Random
from typing import Any

import pytest

from referee.acts import Bella, Deal, Declare, Exchange, Play, Respond
from referee.events import Dealt
from referee.games.kalabrias.facts import LaterCardsDealt, SequenceAnswered, SequenceShown
from referee.refusals import AgainstTheRules, NoSuchCard, WrongPhase
from referee.visibility import as_seen_by
from tests.games.kalabrias_table import Closed, table
from tests.support.match_driver import P1, P2, P3, P4


class TestCards:
    """Each card is in the pack once, and the turned-up card is in no hand."""

    def test_counts_only(self):
        c = Closed("|")
        (dealt,), (later,) = c.t.happened(Dealt), c.t.happened(LaterCardsDealt)
        assert (dealt.hands, dealt.counts, later.hands, later.counts) == (None, (6, 6), None, (3, 3))
        assert c.t.seen("official").hands is None
        assert c.t.seen(P1).hand is None
        assert c.t.seen(P1).cards_left == (9, 9)
        assert as_seen_by(later, P1, False) == later

    @pytest.mark.rule("E-O32")
    def test_the_later_cards_are_closed_too(self):
        t = table().closed()
        t.calls("take")
        t = table().closed()
        t.do(t.legal(P1)[0])
        t.refused(Deal(seat=P2, hands=((), ())), rule="E-O32", code="dealt_as_before")
        t.refused(Deal(seat=P2, counts=(3, 2)), rule="E14", code="wrong_later_cards")

    @pytest.mark.rule("E2")
    def test_a_card_seen_cannot_be_played_again(self):
        c = Closed("|").says("none none")
        assert len(c.t.cards(P1)) == 31
        c.play(1)
        (trick,) = c.t.seen().trick or ()
        refusal = c.t.refused(Play(seat=P2, card=trick["card"]), rule="E2", kind=NoSuchCard, code="card_seen")
        assert refusal.facts == {"card": trick["card"]}
        c.t.refused(Play(seat=P2, card="S9"), rule="E2", kind=NoSuchCard, code="card_seen")
        assert len(c.t.cards(P2)) == 30

    @pytest.mark.rule("E51")
    def test_the_declarer_of_four_has_the_turn_up(self):
        c = Closed("|||").says("none none none none")
        assert [("S9" in c.t.may_hold(seat)) for seat in range(4)] == [True, False, False, False]

    @pytest.mark.rule("E51")
    @pytest.mark.parametrize("seed", range(5))
    def test_the_seat_that_took_the_turn_up_plays_it_at_last(self, seed: int):
        c, chance = Closed("|||").says("none none none none"), Random(seed)
        while c.t.turn != P1 or len(c.t.winners) < 7:
            c.t.plays(chance.choice([card for card in c.t.cards(c.t.turn) if card != "S9"]))
        assert c.t.cards(P1) == ["S9"]
        for card in c.t.may_hold(P1) - {"S9"}:
            c.t.refused(Play(seat=P1, card=card), rule="E51", kind=NoSuchCard, code="turn_up_still_held")
        c.t.plays("S9")

    @pytest.mark.rule("E29", "E30")
    def test_duties_are_for_the_players(self):
        c = Closed("HT | ").says("none none")
        c.t.plays("HT D7")
        assert c.t.turn == P1

    def test_a_deal_can_be_played_and_scored(self):
        c = Closed("|")
        c.says("none none").play()
        assert sum(c.t.line.detail["card_points"]) == sum(c.t.points) > 10


class TestClaims:
    """Claims are accepted until the cards disprove them."""

    @pytest.mark.rule("E-O33", "E19")
    def test_anything_can_be_said_that_can_be_true(self):
        c = Closed("|")
        assert c.t.words(P1) == ["small", "large", "none"]
        c.says("small")
        assert c.t.words(P2) == ["better", "equal", "enough"]
        c.says("equal")
        assert c.t.words(P1) == list("9TJQKA")
        c.t.refused(Declare(seat=P1, top="8"), rule="E21", kind=AgainstTheRules, code="not_the_top")
        c.says("A")
        assert c.t.words(P2) == ["equal", "enough"]
        c.t.refused(Respond(seat=P2, answer="better"), rule="E-O33", code="not_in_the_hand")
        c.says("equal")
        assert c.t.words(P1) == ["trumps", "plain"]
        c.says("plain")
        assert c.t.words(P2) == ["trumps", "plain"]

    @pytest.mark.rule("E16", "E21")
    def test_a_large_one(self):
        c = Closed("|").says("large")
        assert c.t.words(P2) == ["equal", "enough"]
        assert c.says("equal").t.words(P1) == list("TJQKA")
        c = Closed("|", longer_sequence_wins=True).says("large")
        assert c.t.words(P2) == ["better", "equal", "enough"]

    @pytest.mark.rule("E22", "E-O28")
    def test_a_top_that_was_said_to_be_higher(self):
        c = Closed("||").says("small equal J better equal")
        assert c.t.words(P2) == list("QKA")

    @pytest.mark.rule("E-O33")
    @pytest.mark.parametrize(
        ("text", "words", "points"),
        [
            ("HQ HJ HT | ", "small enough", [20, 0]),
            (" | HQ HJ HT", "small enough", [0, 0]),
            ("HQ HJ HT H9 | ", "large enough", [50, 0]),
            ("HQ HJ HT H9 | ", "small enough", [20, 0]),
            ("HQ HJ HT | ", "large enough", [0, 0]),
            ("HQ HJ HT | DK DQ DJ DT", "small better", [0, 50]),
            ("HQ HJ HT | DK DQ DJ", "small better", [0, 0]),
            ("HQ HJ HT | DK DQ DJ", "small equal Q better", [0, 20]),
            ("HQ HJ HT | DJ DT D9", "small equal Q better", [0, 0]),
            ("HQ HJ HT | DJ DT D9", "small equal Q enough", [20, 0]),
            ("HQ HJ HT | DJ DT D9", "small equal K enough", [0, 0]),
            ("HQ HJ HT | SQ SJ ST", "small equal Q equal plain trumps", [0, 20]),
            ("HQ HJ HT | DQ DJ DT", "small equal Q equal plain trumps", [0, 0]),
            ("HQ HJ HT | DQ DJ DT", "small equal Q equal plain plain", [0, 0]),
            ("SQ SJ ST | DQ DJ DT", "small equal Q equal trumps", [20, 0]),
        ],
    )
    def test_tried_when_the_deal_is_scored(self, text: str, words: str, points: list[int]):
        assert Closed(text).says(words).detail["sequence_points"] == points

    @pytest.mark.rule("E-O12", "E-O33")
    @pytest.mark.parametrize(
        ("text", "points"), [("HQ HJ HT | DQ DJ DT", [10, 10]), ("HQ HJ HT | DJ DT D9", [10, 0]), (" | ", [0, 0])]
    )
    def test_level_ones_too(self, text: str, points: list[int]):
        c = Closed(text, equal_sequences="ten_each").says("small equal Q equal plain plain")
        assert c.detail["sequence_points"] == points

    @pytest.mark.rule("E-O1", "E-O11", "E-O33")
    @pytest.mark.parametrize(
        ("text", "words", "options", "points"),
        [
            ("H7 H8 H9 HT HJ | ", "large enough", {"sequence_points": {"five": 100}}, [100, 0]),
            ("H8 H9 HT HJ | ", "large enough", {"sequence_points": {"five": 100}}, [50, 0]),
            ("D9 DT DJ DQ | H7 H8 H9 HT HJ", "large better", {"longer_sequence_wins": True}, [0, 50]),
            ("D9 DT DJ DQ | H8 H9 HT HJ", "large better", {"longer_sequence_wins": True}, [0, 0]),
            ("HQ HJ HT H9 D7 D8 D9 | ", "large enough", {"winner_scores_all_sequences": False}, [50, 0]),
        ],
    )
    def test_with_options(self, text: str, words: str, options: dict[str, Any], points: list[int]):
        assert Closed(text, **options).says(words).detail["sequence_points"] == points

    @pytest.mark.rule("E-O11")
    def test_a_better_top_of_equally_long_ones_is_of_five_if_that_was(self):
        texts = "D8 D9 DT DJ | H7 H8 H9 HT HJ | C8 C9 CT CJ CQ"
        c = Closed(texts, longer_sequence_wins=True).says("large better equal J better")
        assert [answer.five for answer in c.t.happened(SequenceAnswered)] == [True, False, True]
        assert c.detail["sequence_points"] == [0, 0, 50]


@pytest.mark.rule("E-O34", "E-O10")
class TestShowing:
    """The winner's and the partner's other sequences are shown before the second trick."""

    def test_another_of_the_winners(self):
        c = Closed("HQ HJ HT H9 D7 D8 D9 | ").says("large enough")
        assert Declare(seat=P1) in c.t.legal(P1)
        assert Declare(seat=P2) not in c.t.legal(P2)
        (shown,) = c.t.do(Declare(seat=P1, cards=("D7", "D8", "D9")))
        assert shown == SequenceShown(seat=P1, cards=("D7", "D8", "D9"))
        assert c.t.seen(P2).more["shown"] == [{"seat": P1, "cards": ("D7", "D8", "D9")}]
        assert c.detail["sequence_points"] == [70, 0]
        assert shown in [c.t.history[number - 1].event for number in c.t.line.entries[1].events]

    def test_not_shown_not_counted(self):
        assert Closed("HQ HJ HT H9 D7 D8 D9 | ").says("large enough").detail["sequence_points"] == [50, 0]

    def test_the_best_one_shown_counts_once(self):
        c = Closed("HQ HJ HT H9 | ").says("large enough")
        c.t.do(Declare(seat=P1, cards=("H9", "HT", "HJ", "HQ")))
        assert c.detail["sequence_points"] == [50, 0]

    def test_cards_that_another_plays_were_not_there(self):
        c = Closed("HQ HJ HT H9 | D7 D8 D9").says("large enough")
        c.t.do(Declare(seat=P1, cards=("D7", "D8", "D9")))
        assert c.detail["sequence_points"] == [50, 0]

    def test_after_the_first_trick_it_is_not_too_late(self):
        c = Closed("HQ HJ HT H9 D7 D8 D9 | ").says("large enough").play(2)
        c.t.do(Declare(seat=P1, cards=("D7", "D8", "D9")))
        assert c.detail["sequence_points"] == [70, 0]

    def test_after_the_lead_to_the_second_it_is(self):
        c = Closed("HQ HJ HT H9 D7 D8 D9 | ").says("large enough").play(3)
        shown = Declare(seat=P1, cards=("D7", "D8", "D9"))
        c.t.refused(shown, rule="E-O34", kind=AgainstTheRules, code="nothing_to_show")
        assert not any(isinstance(act, Declare) for act in c.t.legal(P1))
        c.play(1)
        c.t.refused(shown, rule="E-O34", code="nothing_to_show")

    @pytest.mark.rule("E15")
    @pytest.mark.parametrize("cards", ["D7 D8", "D7 D8 DT", "D7 D8 H9", "D7 D8 D9 D9", "D5 D6 D7"])
    def test_only_a_sequence(self, cards: str):
        c = Closed("HQ HJ HT H9 | ").says("large enough")
        shown = Declare(seat=P1, cards=tuple(cards.split()))
        c.t.refused(shown, rule="E15", kind=AgainstTheRules, code="no_sequence")

    def test_each_card_once(self):
        c = Closed("| D7 D8 D9", calls="pass take").says("none small")
        c.t.do(Declare(seat=P2, cards=("D7", "D8", "D9")))
        more = Declare(seat=P2, cards=("D8", "D9", "DT"))
        c.t.refused(more, rule="E-O10", kind=AgainstTheRules, code="already_shown")
        turned_up = Declare(seat=P2, cards=("S8", "S9", "ST"))
        c.t.refused(turned_up, rule="E2", kind=NoSuchCard, code="card_seen")

    def test_a_card_that_another_seat_has_shown_cannot_be_declared(self):
        full = "HQ HJ HT | D7 D8 D9 | CQ CJ CT | "
        c = Closed(full).says("small enough equal Q equal plain plain enough")
        c.t.do(Declare(seat=P1, cards=("HT", "HJ", "HQ")))
        again = Declare(seat=P3, cards=("HT", "HJ", "HQ"))
        c.t.refused(again, rule="E2", kind=NoSuchCard, code="card_seen")

    @pytest.mark.rule("E53", "E25")
    def test_the_partners(self):
        full = "HQ HJ HT | D7 D8 D9 | CA CK CQ CJ | "
        c = Closed(full).says("small enough better enough")
        c.t.refused(Declare(seat=P2, cards=("D7", "D8", "D9")), rule="E-O34", code="nothing_to_show")
        c.t.do(Declare(seat=P1, cards=("HQ", "HJ", "HT")))
        assert c.detail["sequence_points"] == [20, 0, 50, 0]
        c = Closed(full).says("none small better enough")
        c.t.refused(Declare(seat=P1, cards=("HQ", "HJ", "HT")), rule="E-O34", code="nothing_to_show")
        assert P4 not in c.t.playing.sequences.refrained

    @pytest.mark.rule("E-O10", "E-O34")
    @pytest.mark.parametrize(("all_count", "points"), [(True, [40, 0, 50, 0]), (False, [20, 0, 50, 0])])
    def test_of_the_partners_as_many_count_as_of_the_winners(self, all_count: bool, points: list[int]):
        c = Closed("HQ HJ HT D7 D8 D9 | | CA CK CQ CJ | ", winner_scores_all_sequences=all_count)
        c.says("small enough better enough")
        c.t.do(Declare(seat=P1, cards=("HQ", "HJ", "HT")))
        c.t.do(Declare(seat=P1, cards=("D7", "D8", "D9")))
        assert c.detail["sequence_points"] == points

    def test_no_seat_declared(self):
        c = Closed("D7 D8 D9 | ").says("none none")
        c.t.refused(Declare(seat=P1, cards=("D7", "D8", "D9")), rule="E-O34", code="nothing_to_show")
        c.t.refused(Declare(seat=P1, sequence="small"), rule="E19", kind=WrongPhase, code="declarations_over")


class TestBella:
    """King and queen of trumps, declared from a closed hand."""

    @pytest.mark.rule("E18", "E-O33")
    @pytest.mark.parametrize(("text", "points"), [("SK SQ | ", [20, 0]), ("SK | SQ", [0, 0])])
    def test_tried_when_the_deal_is_scored(self, text: str, points: list[int]):
        c = Closed(text).says("none none")
        c.t.bella(P1)
        assert c.detail["bella_points"] == points

    @pytest.mark.rule("E18", "E27")
    def test_not_when_the_cards_say_no(self):
        c = Closed("SK SQ SJ | S7 S8").says("none none")
        c.t.plays("SK S7")
        assert Bella(seat=P1) in c.t.legal(P1)
        c.t.refused(Bella(seat=P2), rule="E18", kind=AgainstTheRules, code="no_bella")
        c.t.plays("SQ S8")
        c.t.refused(Bella(seat=P1), rule="E27", code="bella_too_late")

    @pytest.mark.rule("E18")
    def test_not_when_one_of_them_lies_on_the_table(self):
        c = Closed("|", turn_up="SK").says("none none")
        c.t.refused(Bella(seat=P1), rule="E18", code="no_bella")


@pytest.mark.rule("E-O16")
def test_the_seven_of_trumps() -> None:
    c = Closed("S7 | ", trump_seven_exchange=True)
    assert Exchange(seat=P2, card="S7") in c.t.legal(P2)
    c.t.do(Exchange(seat=P1, card="S7"))
    c.t.refused(Exchange(seat=P2, card="S7"), rule="E-O16", code="seven_only")
    c.says("none none")
    assert "S9" in c.t.cards(P1)
    assert "S7" not in c.t.cards(P1)
    c.t.plays("S9")
    c.t.refused(Play(seat=P2, card="S7"), rule="E2", code="card_seen")
    assert c.t.may_hold(P2) <= set(c.t.rules.pack)


@pytest.mark.rule("E-O16")
def test_the_card_taken_for_the_seven_is_played_at_last() -> None:
    c = Closed("S7 | ", trump_seven_exchange=True)
    c.t.do(Exchange(seat=P1, card="S7"))
    c.says("none none")
    while c.t.turn != P1 or len(c.t.winners) < 8:
        c.t.plays(next(card for card in c.t.cards(c.t.turn) if card != "S9"))
    assert c.t.cards(P1) == ["S9"]
    c.t.refused(Play(seat=P1, card=min(c.t.may_hold(P2))), rule="E-O16", code="turn_up_still_held")
