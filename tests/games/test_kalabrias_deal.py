"""Kalabrias: the cards, the deal and the dealer (E1-E4, E14, E47, E49-E52)."""

from typing import Any

import pytest
from msgspec.structs import replace

from referee.acts import Abandon, Bella, Bid, Close, Deal, Declare, Exchange, Knock, Play, Reply, Respond, Score, Void
from referee.cards import cards_of, clockwise, shuffled
from referee.events import CardDrawn, Dealt, DealVoided, FirstDealerDrawn, KnockDismissed
from referee.games.kalabrias import RULESET
from referee.games.kalabrias.facts import LaterCardsDealt
from referee.games.kalabrias.ranks import ALL, PACK, RANKS
from referee.refusals import AgainstTheRules, MatchOver, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.visibility import as_seen_by
from tests.games.kalabrias_table import Table, hands, opened, table
from tests.support.match_driver import P1, P2, P3, P4

TWO = hands("|", "S9")
FIRST = tuple(hand[:6] for hand in TWO)
REST = tuple(hand[6:] for hand in TWO)


def waiting(**match: Any) -> Any:
    """Return a table in which trumps are made, and the later cards are not yet dealt."""
    t = table(**match)
    t.do(Deal(seat=P2, hands=FIRST, turn_up="S9"))
    t.do(Bid(seat=P1, bid="take"))
    return t


@pytest.mark.rule("E1", "E47", "E49", "E-O29")
class TestPlayers:
    """The game is for two; three or four can play, too."""

    @pytest.mark.parametrize("players", [2, 3, 4])
    def test_two_to_four_can_play(self, players: int):
        t = table(players=players, dealing="house")
        t.do(Deal(seat=t.dealer))
        assert t.seen().cards_left == (6,) * players
        assert (RULESET.players_min, RULESET.players_max) == (2, 4)

    def test_opponents(self):
        two, three, four = (table(players=players).state.table for players in (2, 3, 4))
        assert two.opponents(P2) == (P1,)
        assert three.opponents(P2) == (P3, P1)
        assert four.opponents(P2) == (P3, P1)

    def test_the_match_goes_on_clockwise(self):
        t = table(players=3, dealing="house", dealer=P3)
        dealers = []
        for _ in range(4):
            dealers.append(t.dealer)
            t.do(Deal(seat=t.dealer))
            t.calls("pass pass take").played_out()
        assert dealers == [P3, P1, P2, P3]

    @pytest.mark.parametrize("dealing", ["house", "table"])
    def test_a_first_dealer_who_is_not_named_is_drawn(self, dealing: str):
        t = Table(replace(opened(players=3, dealing=dealing), first_dealer=None))
        drawn = t.happened(CardDrawn)
        lowest = min(RANKS.index(event.card[1]) for event in drawn[-3:])
        (first,) = t.happened(FirstDealerDrawn)
        assert t.dealer == first.seat
        assert lowest == min(RANKS.index(event.card[1]) for event in drawn if event.seat == first.seat)
        assert cards_of(event.card for event in drawn) & ~ALL == 0


class TestOpening:
    """Matches that cannot be opened."""

    @pytest.mark.rule("E52")
    def test_partners_have_one_score(self):
        table(players=4, points=(100, 50, 100, 50))
        with pytest.raises(AgainstTheRules) as caught:
            table(players=4, points=(100, 50, 90, 50))
        assert (caught.value.code, caught.value.rule) == ("partners_share_points", "E52")

    @pytest.mark.rule("E42")
    def test_points_are_not_negative(self):
        with pytest.raises(AgainstTheRules) as caught:
            table(points=(-1, 0))
        assert (caught.value.code, caught.value.rule) == ("points_not_negative", "E42")

    @pytest.mark.rule("E46", "E-O20")
    def test_no_seat_has_won_before_it_begins(self):
        table(points=(500, 500))
        table(players=4, points=(500, 500, 500, 500))
        for points in ((500, 499), (10, 620)):
            with pytest.raises(AgainstTheRules) as caught:
                table(points=points)
            assert (caught.value.code, caught.value.rule) == ("target_reached", "E46")


@pytest.mark.rule("E2")
class TestThePack:
    """32 cards, seven to ace."""

    def test_the_cards(self):
        assert len(PACK) == len(set(PACK)) == 32
        assert {card[1] for card in PACK} == set("789TJQKA")
        assert RULESET.pack == PACK

    @pytest.mark.parametrize("card", ["S2", "H6"])
    def test_a_low_card_is_not_in_it(self, card: str):
        t = table()
        low = ((card, *FIRST[0][1:]), FIRST[1])
        refusal = t.refused(Deal(seat=P2, hands=low, turn_up="S9"), rule="E2", kind=NoSuchCard, code="not_in_pack")
        assert refusal.facts == {"cards": [card]}
        t.refused(Deal(seat=P2, hands=FIRST, turn_up=card), rule="E2", code="not_in_pack")

    def test_each_card_is_in_it_once(self):
        t = table()
        twice = (FIRST[0], (FIRST[0][0], *FIRST[1][1:]))
        refusal = t.refused(Deal(seat=P2, hands=twice, turn_up="S9"), rule="E2", kind=NoSuchCard, code="card_twice")
        assert refusal.facts == {"cards": [FIRST[0][0]]}
        t.refused(Deal(seat=P2, hands=FIRST, turn_up=FIRST[1][0]), rule="E2", code="card_twice")
        t.refused(Deal(seat=P2, hands=FIRST, turn_up="S9", stock=("S9",)), rule="E2", code="card_twice")

    @pytest.mark.parametrize("card", [FIRST[1][0], "S9"])
    def test_a_later_card_was_not_dealt_before(self, card: str):
        t = waiting()
        refusal = t.refused(
            Deal(seat=P2, hands=((card, *REST[0][1:]), REST[1])), rule="E2", kind=NoSuchCard, code="card_elsewhere"
        )
        assert refusal.facts == {}


class TestFirstCards:
    """Six each, and one turned up."""

    @pytest.mark.rule("E3", "E50")
    @pytest.mark.parametrize("counts", [(5, 6), (6, 7), (9, 9)])
    def test_six_each(self, counts: tuple[int, ...]):
        wrong = tuple(hand[:count] for hand, count in zip(TWO, counts, strict=True))
        table().refused(Deal(seat=P2, hands=wrong, turn_up="S9"), rule="E3", code="six_cards_to_each")
        table().refused(Deal(seat=P2, counts=counts, turn_up="S9"), rule="E3", code="six_cards_to_each")

    @pytest.mark.rule("E3")
    def test_one_hand_for_each_seat(self):
        table(players=3).refused(Deal(seat=P3, hands=FIRST, turn_up="S9"), rule="E3", code="one_hand_a_seat")

    @pytest.mark.rule("E4")
    def test_one_card_is_turned_up(self):
        t = table()
        t.refused(Deal(seat=P2, hands=FIRST), rule="E4", code="turn_up_needed")
        t.do(Deal(seat=P2, hands=FIRST, turn_up="S9"))
        for viewer in (P1, P2, "spectator", "official"):
            assert t.seen(viewer).more["turn_up"] == "S9"

    @pytest.mark.rule("E-O29")
    def test_the_dealer_deals(self):
        t = table()
        t.refused(Deal(seat=P1, hands=FIRST, turn_up="S9"), rule="E-O29", kind=OutOfTurn, code="not_dealer")
        assert t.legal(P2) == (Deal(seat=P2),)
        for viewer in (P1, P3, "spectator"):
            assert t.legal(viewer) == ()
        assert t.legal("official") == (Abandon(),)

    def test_hands_or_counts(self):
        t = table()
        t.refused(Deal(seat=P2, turn_up="S9"), rule=None, code="hands_or_counts")
        t.refused(Deal(seat=P2, hands=FIRST, counts=(6, 6), turn_up="S9"), rule=None, code="hands_or_counts")
        t.refused(Deal(seat=P2, counts=(6, 6), turn_up="S9", stock=("S7",)), rule=None, code="stock_needs_hands")
        t.refused(Deal(seat=P2, hands=FIRST, turn_up="S9", widow=("S7",)), rule=None, code="no_widow")

    def test_the_house_deals_by_itself(self):
        t = table(dealing="house")
        for told in ({"hands": FIRST}, {"counts": (6, 6)}, {"turn_up": "S9"}, {"stock": ("S9",)}):
            t.refused(Deal(seat=P2, **told), rule=None, code="house_deals")

    @pytest.mark.rule("E-O4")
    @pytest.mark.parametrize("players", [2, 3, 4])
    def test_packets_of_three_from_forehand(self, players: int):
        t = table(players=players, dealing="house", dealer=P2)
        (dealt,) = t.do(Deal(seat=P2))
        assert isinstance(dealt, Dealt)
        assert dealt.seed is not None
        assert dealt.hands is not None
        pack, order = shuffled(dealt.seed, ALL), clockwise(2 % players, players)
        packets = [pack[place : place + 3] for place in range(0, 6 * players, 3)]
        for place, seat in enumerate(order):
            assert dealt.hands[seat] == packets[place] + packets[players + place]
        assert dealt.turn_up == pack[6 * players]


class TestLaterCards:
    """After the auction each gets three cards; with four players two, and the declarer the turn-up."""

    @pytest.mark.rule("E14", "E-O32", "E-O26")
    def test_three_more_each(self):
        t = waiting()
        assert (t.phase, t.seen().due, t.legal(P2), t.legal(P1)) == ("later_cards", ("deal",), (Deal(seat=P2),), ())
        t.do(Deal(seat=P2, hands=REST))
        assert t.seen().cards_left == (9, 9)
        assert set(t.seen(P1).hand or ()) == set(TWO[0])
        three = table(players=3).dealt(hands("||", "S9"), "S9").calls("take")
        assert three.seen().cards_left == (9, 9, 9)
        assert len({card for hand in three.seen().hands or () for card in hand}) == 27

    @pytest.mark.rule("E14")
    def test_not_more_and_not_less(self):
        t = waiting()
        wrong = (REST[0][:2], REST[1])
        t.refused(Deal(seat=P2, hands=wrong), rule="E14", kind=AgainstTheRules, code="wrong_later_cards")
        t.refused(Deal(seat=P1, hands=REST), rule="E-O29", code="not_dealer")
        t.refused(Deal(seat=P2, hands=REST, turn_up="S7"), rule="E-O32", code="only_later_cards")
        t.refused(Deal(seat=P2, counts=(3, 3)), rule="E-O32", code="dealt_as_before")

    @pytest.mark.rule("E50", "E51", "E-O27")
    @pytest.mark.parametrize("declarer", [P1, P2, P3, P4])
    @pytest.mark.rule("E-X17")
    def test_four_players_have_eight_each(self, declarer: int):
        full = hands("|||", "S9", declarer=declarer)
        t = table(players=4).dealt(full, "S9")
        for _ in range(declarer):
            t.do(Bid(seat=t.turn, bid="pass"))
        t.do(Bid(seat=declarer, bid="take"))
        t.later()
        assert t.seen().cards_left == (8, 8, 8, 8)
        assert "S9" in (t.seen(declarer).hand or ())
        (later,) = t.happened(LaterCardsDealt)
        assert later.turn_up_to == declarer
        assert len({card for hand in t.seen().hands or () for card in hand}) == 32

    @pytest.mark.rule("E50")
    def test_four_players_and_the_wrong_number(self):
        full = hands("|||", "S9")
        t = table(players=4).dealt(full, "S9")
        t.do(Bid(seat=P1, bid="take"))
        wrong = (full[0][6:], full[1][6:], full[2][6:], ())
        t.refused(Deal(seat=P4, hands=wrong), rule="E50", code="wrong_later_cards")

    @pytest.mark.rule("E-O32")
    @pytest.mark.parametrize("players", [2, 3, 4])
    def test_a_stock_brings_them_by_themselves(self, players: int):
        cards = [card for card in PACK if card != "S9"]
        first = tuple(tuple(cards[6 * seat : 6 * seat + 6]) for seat in range(players))
        stock = tuple(cards[6 * players :])
        t = table(players=players, dealer=P1)
        needed = 7 if players == 4 else 3 * players
        t.refused(
            Deal(seat=P1, hands=first, turn_up="S9", stock=stock[: needed - 1]), rule="E-O32", code="stock_too_small"
        )
        t.do(Deal(seat=P1, hands=first, turn_up="S9", stock=stock))
        t.do(Bid(seat=P2, bid="take"))
        assert t.phase == "declaring"
        (later,) = t.happened(LaterCardsDealt)
        count = 1 if players == 4 else 3
        assert later.hands[P2] == stock[:count]
        after = P3 if players > 2 else P1
        assert later.hands[after] == stock[count:][: 2 if players == 4 else 3]

    @pytest.mark.rule("E-O32")
    @pytest.mark.parametrize("players", [2, 3, 4])
    def test_in_house_dealing_too(self, players: int):
        t = table(players=players, dealing="house")
        t.do(Deal(seat=t.dealer))
        t.do(Bid(seat=P1, bid="take"))
        assert t.phase == "declaring"
        assert t.seen().cards_left == ((8,) * 4 if players == 4 else (9,) * players)


class TestVisibility:
    """A seat sees only its own cards and those on the table."""

    def test_first_and_later_cards(self):
        t = waiting()
        t.do(Deal(seat=P2, hands=REST))
        (dealt,), (later,) = t.happened(Dealt), t.happened(LaterCardsDealt)
        assert as_seen_by(dealt, P1, False).hands == (FIRST[0], ())
        assert as_seen_by(later, P1, False).hands == (REST[0], ())
        assert as_seen_by(later, "spectator", False).hands == ((), ())
        assert as_seen_by(later, "official", False) == as_seen_by(later, P1, True) == later
        assert t.seen(P1).hands is None
        assert t.seen("spectator").hand is None
        assert t.seen("official").hands is not None

    def test_viewers_see_the_turn_up_but_not_the_stock_or_the_seed(self):
        t = table(dealing="house")
        t.do(Deal(seat=P2))
        (dealt,) = t.happened(Dealt)
        told = as_seen_by(dealt, P1, False)
        assert (told.stock, told.seed, told.turn_up) == ((), None, dealt.turn_up)


class TestOutOfPlace:
    """Acts that are out of place: each refusal cites the rule of the act."""

    @pytest.mark.parametrize(
        ("act", "rule"),
        [
            (Bid(seat=P1, bid="take"), "E5"),
            (Reply(seat=P1, agree=True), "E11"),
            (Exchange(seat=P1, card="S7"), "E-O16"),
            (Declare(seat=P1, sequence="none"), "E19"),
            (Respond(seat=P1, answer="enough"), "E20"),
            (Bella(seat=P1), "E18"),
            (Play(seat=P1, card="S7"), "E28"),
            (Score(seat=P1), "E42"),
        ],
    )
    def test_before_the_deal(self, act: Any, rule: str):
        table().refused(act, rule=rule, kind=WrongPhase, code="wrong_phase")

    def test_dealing_again(self):
        t = table().dealt(TWO, "S9")
        t.refused(Deal(seat=P2, hands=FIRST, turn_up="S9"), rule="E3", kind=WrongPhase)

    def test_a_seat_that_is_not_there(self):
        table().refused(Deal(seat=P3), rule=None, kind=NotInPlay, code="no_such_seat")

    def test_an_act_of_another_game(self):
        table().refused(Close(), rule=None, kind=WrongPhase, code="not_in_this_game")

    def test_after_the_end(self):
        t = table(target_score=1)
        t.dealt(TWO, "S9").calls("take").played_out()
        assert t.phase == "over"
        t.refused(Deal(seat=t.dealer), rule=None, kind=MatchOver, code="match_over")
        t.refused(Void(), rule=None, kind=MatchOver)
        assert t.legal(P1) == t.legal("official") == ()
        assert t.seen().to_act == ()


@pytest.mark.rule("E-O30")
class TestNoOffences:
    """The game has no offence to knock for."""

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_a_knock_is_dismissed(self, enforcement: str):
        t = table(enforcement=enforcement)
        for case, phase in enumerate(("undealt", "auction", "declaring"), 1):
            assert t.phase == phase
            (ruling,) = t.do(Knock(seat=P1, accused=P2))
            assert isinstance(ruling, KnockDismissed)
            assert (ruling.case, ruling.reason, ruling.rule) == (case, "enforced", "E-O30")
            if phase == "undealt":
                t.dealt(TWO, "S9")
            elif phase == "auction":
                t.calls("take")
        assert RULESET.offences == ()

    def test_a_knock_by_or_on_a_seat_that_does_not_exist(self):
        t = table()
        t.refused(Knock(seat=P1, accused=P1), rule="E-O30", code="knocks_on_oneself")
        t.refused(Knock(seat=P1, accused=P4), rule=None, kind=NotInPlay, code="no_such_seat")
        t.refused(Knock(seat=P4, accused=P1), rule=None, kind=NotInPlay, code="no_such_seat")


class TestVoid:
    """An official can void the deal under way."""

    def test_the_same_dealer_deals_again(self):
        t = table()
        t.refused(Void(), rule=None, kind=WrongPhase, code="nothing_dealt")
        assert t.legal("official") == (Abandon(),)
        t.dealt(TWO, "S9").calls("take")
        assert t.legal("official") == (Void(), Abandon())
        assert t.do(Void(reason="spilt")) == (DealVoided(deal=1, reason="spilt"),)
        assert (t.phase, t.dealer, t.seen().deal) == ("undealt", P2, 1)
        t.dealt(TWO, "S9")
