"""Kalabrias: bella and the seven of trumps (E18, E26-E27)."""

import pytest

from referee.acts import Bella, Exchange
from referee.games.kalabrias.facts import BellaDeclared, SevenExchanged
from referee.refusals import AgainstTheRules, WrongPhase
from tests.games.kalabrias_table import declaring, hands, table
from tests.games.test_kalabrias_declarations import sequence_points
from tests.support.match_driver import P1, P2


class TestBella:
    """King and queen of trumps."""

    @pytest.mark.rule("E18", "E26")
    def test_declared(self):
        t = declaring("SK SQ | ")
        assert Bella(seat=P1) in t.legal(P1)
        assert Bella(seat=P2) not in t.legal(P2)
        assert t.do(Bella(seat=P1)) == (BellaDeclared(seat=P1),)
        assert Bella(seat=P1) not in t.legal(P1)
        assert t.seen("spectator").more["bella"] == (P1,)
        assert t.played_out().line.detail["bella_points"] == [20, 0]

    @pytest.mark.rule("E26")
    def test_not_declared(self):
        assert declaring("SK SQ | ").played_out().line.detail["bella_points"] == [0, 0]

    @pytest.mark.rule("E-O1")
    def test_its_points(self):
        assert declaring("SK SQ | ", bella_points=40).bella(P1).played_out().line.detail["bella_points"] == [40, 0]

    @pytest.mark.rule("E18")
    @pytest.mark.parametrize("cards", ["SK | SQ", "HK HQ | ", " | SK SQ"])
    def test_both_cards_in_one_hand(self, cards: str):
        declaring(cards).refused(Bella(seat=P1), rule="E18", kind=AgainstTheRules, code="no_bella")

    @pytest.mark.rule("E26")
    def test_only_once(self):
        t = declaring("SK SQ | ").bella(P1)
        t.refused(Bella(seat=P1), rule="E26", kind=AgainstTheRules, code="bella_declared")

    @pytest.mark.rule("E18")
    def test_not_before_all_cards_are_out(self):
        t = table().dealt(hands("SK SQ | ", "S9"), "S9")
        t.refused(Bella(seat=P1), rule="E18", kind=WrongPhase)

    @pytest.mark.rule("E27", "E-O15", "E-O39")
    def test_until_the_end_of_the_trick_of_the_second_card(self):
        full = hands("SK SQ DA DT | SA SJ", "S9")
        t = table().dealt(full, "S9").calls("take").says("none none").plays("SQ SA")
        assert Bella(seat=P1) in t.legal(P1)
        t.plays("SJ SK")
        t.refused(Bella(seat=P1), rule="E27", kind=AgainstTheRules, code="bella_too_late")
        t = table().dealt(full, "S9").calls("take").says("none none").plays("SQ SA SJ")
        t.bella(P1).plays("SK")
        assert t.played_out().line.detail["bella_points"] == [20, 0]

    @pytest.mark.rule("E27", "E-O15")
    def test_while_the_second_card_lies_there(self):
        full = hands("SK SQ SA SJ | S7 S8", "S9")
        t = table().dealt(full, "S9").calls("take").says("none none").plays("SK S7 SQ")
        assert t.legal(P1) == (Bella(seat=P1),)
        t.bella(P1)

    @pytest.mark.rule("E-O15", "E-O39")
    def test_or_only_until_the_first(self):
        full = hands("SK SQ SA SJ | S7 S8", "S9")
        t = table(bella_deadline="first_card").dealt(full, "S9").calls("take").says("none none").plays("SK")
        assert t.legal(P1) == (Bella(seat=P1),)
        t.plays("S7")
        t.refused(Bella(seat=P1), rule="E27", kind=AgainstTheRules, code="bella_after_first_card")
        assert Bella(seat=P1) not in t.legal(P1)

    @pytest.mark.rule("E-O39")
    def test_with_the_first_of_three(self):
        full = hands("SK SQ SA SJ | S7 S8 | HA", "S9")
        strict = table(players=3, bella_deadline="first_card").dealt(full, "S9").calls("take").says("none none none")
        strict.plays("SK").plays(strict.cards(P2)[0])
        strict.refused(Bella(seat=P1), rule="E27", code="bella_after_first_card")


@pytest.mark.rule("E-O16")
class TestTheSevenOfTrumps:
    """The exchange for the turned-up card, by the option."""

    def test_exchanged(self):
        t = declaring("S7 | ", trump_seven_exchange=True)
        assert Exchange(seat=P1, card="S7") in t.legal(P1)
        assert t.do(Exchange(seat=P1, card="S7")) == (SevenExchanged(seat=P1, card="S7", turn_up="S9"),)
        assert "S9" in (t.seen(P1).hand or ())
        assert "S7" not in (t.seen(P1).hand or ())
        assert t.seen(P2).more["turn_up"] == "S7"
        t.refused(Exchange(seat=P1, card="S9"), rule="E-O16", code="seven_only")
        t.played_out()

    def test_it_counts_in_sequences(self):
        t = declaring("S7 SA SK | ", turn_up="SQ", trump_seven_exchange=True)
        t.do(Exchange(seat=P1, card="S7"))
        assert t.words(P1) == ["small", "none"]
        assert sequence_points(t.says("small enough")) == [20, 0]

    def test_before_one_has_declared(self):
        t = declaring("S7 | ", trump_seven_exchange=True).says("none")
        t.refused(Exchange(seat=P1, card="S7"), rule="E-O16", kind=AgainstTheRules, code="seven_only")
        t = declaring(" | S7 ", trump_seven_exchange=True).says("none")
        t.do(Exchange(seat=P2, card="S7"))

    def test_not_in_the_middle_of_an_answer(self):
        t = declaring("HQ HJ HT | DQ DJ DT S7", trump_seven_exchange=True).says("small")
        assert Exchange(seat=P2, card="S7") in t.legal(P2)
        t.says("equal")
        assert t.legal(P2) == ()
        t.refused(Exchange(seat=P2, card="S7"), rule="E-O16", code="seven_only")

    @pytest.mark.parametrize(
        ("cards", "card", "calls", "turn_up"),
        [
            ("S8 | ", "S8", "take", "S9"),
            ("S8 | S7", "S7", "take", "S9"),
            ("S7 H7 | ", "H7", "pass pass H", "S9"),
            ("S7 | ", "S7", "pass pass H", "S9"),
            ("S8 | ", "S7", "take", "S7"),
        ],
    )
    def test_nothing_else(self, cards: str, card: str, calls: str, turn_up: str):
        t = declaring(cards, turn_up=turn_up, calls=calls, trump_seven_exchange=True)
        t.refused(Exchange(seat=P1, card=card), rule="E-O16", kind=AgainstTheRules, code="seven_only")
        assert not any(isinstance(act, Exchange) for act in t.legal(P1))

    def test_not_with_four(self):
        t = declaring("S7 | | | ", trump_seven_exchange=True)
        t.refused(Exchange(seat=P1, card="S7"), rule="E-O16", kind=AgainstTheRules, code="no_exchange")

    def test_not_if_it_is_not_played(self):
        t = declaring("S7 | ")
        t.refused(Exchange(seat=P1, card="S7"), rule="E-O16", kind=AgainstTheRules, code="no_exchange")
        t.says("none none")
        t.refused(Exchange(seat=P1, card="S7"), rule="E-O16", kind=WrongPhase)
