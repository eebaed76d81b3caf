"""Kalabrias: following suit, trumping, beating, and the points of tricks (E28-E41)."""

from itertools import combinations, permutations

import pytest

from referee.acts import Play
from referee.cards import BIT, SUIT, SUITS
from referee.events import CardPlayed, PlayEnded, TrickTaken
from referee.games.kalabrias.play import tricks_in_deal
from referee.games.kalabrias.ranks import BEATERS, CARD_POINTS, LAST_TRICK, PACK, POINTS
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn, WrongPhase
from tests.games.kalabrias_table import Table, declaring, hands, table
from tests.support.match_driver import P1, P2, P3, P4


def playing(text: str, **match: object) -> Table:
    """Return a table at the first lead: spades are trumps, P1 leads."""
    t = declaring(text, **match)
    return t.says("none " * len(t.points))


class TestTurns:
    """The lead, and the order of play."""

    @pytest.mark.rule("E28", "E-O19")
    @pytest.mark.parametrize("calls", ["take", "pass take"])
    def test_forehand_leads_and_not_the_declarer(self, calls: str):
        t = playing("HA | ", calls=calls)
        assert t.turn == P1
        t.refused(Play(seat=P2, card="HA"), rule="E28", kind=OutOfTurn, code="out_of_turn")

    @pytest.mark.rule("E28")
    def test_not_before_the_sequences_are_settled(self):
        t = declaring("HA | ")
        t.refused(Play(seat=P1, card="HA"), rule="E28", kind=WrongPhase)

    @pytest.mark.rule("E29", "E31")
    def test_the_winner_leads_to_the_next(self):
        t = playing("H7 | H8 | HA").plays("H7")
        t.refused(Play(seat=P3, card="HA"), rule="E29", kind=OutOfTurn)
        t.plays("H8")
        assert t.do(Play(seat=P3, card="HA")) == (CardPlayed(seat=P3, card="HA"), TrickTaken(seat=P3, trick=1))
        t.refused(Play(seat=P1, card="HA"), rule="E31", kind=OutOfTurn, code="out_of_turn")
        assert (t.turn, t.seen().tricks, t.seen().cards_left) == (P3, (0, 0, 1), (8, 8, 8))

    def test_only_cards_that_are_held(self):
        t = playing("H7 | H8")
        refusal = t.refused(Play(seat=P1, card="H8"), rule=None, kind=NoSuchCard, code="not_held")
        assert refusal.facts == {"card": "H8"}
        t.plays("H7 H8")
        t.refused(Play(seat=P2, card="H8"), rule=None, kind=NoSuchCard, code="not_held")

    @pytest.mark.rule("E32")
    @pytest.mark.parametrize(("players", "tricks"), [(2, 9), (3, 9), (4, 8)])
    def test_until_all_cards_are_played(self, players: int, tricks: int):
        t = playing("|" * (players - 1), enforcement="penalise").played_out()
        assert tricks_in_deal(players) == tricks == len(t.happened(TrickTaken))
        assert t.seen().cards_left == (0,) * players
        assert t.happened(PlayEnded) == [PlayEnded(kind="scored")]


class TestDuties:
    """The cards that may be played to a lead."""

    @pytest.mark.rule("E29")
    def test_follow_suit(self):
        t = playing("HT | H7 HK SA DA").plays("HT")
        assert set(t.cards(P2)) >= {"H7", "HK"}
        assert all(card[0] == "H" for card in t.cards(P2))
        refusal = t.refused(Play(seat=P2, card="SA"), rule="E29", kind=AgainstTheRules, code="must_follow_suit")
        assert refusal.facts["allowed"] == tuple(t.cards(P2))
        t.refused(Play(seat=P2, card="DA"), rule="E29", code="must_follow_suit")

    @pytest.mark.rule("E29")
    def test_a_plain_lead_need_not_be_beaten(self):
        assert {"H7", "HK"} <= set(playing("HT | H7 HK HA").plays("HT").cards(P2))

    @pytest.mark.rule("E29")
    def test_otherwise_trump(self):
        full = hands("HT HA HK H9 H8 | S7 SK DA DQ DT D8 CA CQ CT", "S9")
        t = table().dealt(full, "S9").calls("take").says("none none").plays("HT")
        assert t.cards(P2) == ["S7", "SK"]
        refusal = t.refused(Play(seat=P2, card="DA"), rule="E29", kind=AgainstTheRules, code="must_trump")
        assert refusal.facts == {"allowed": ("S7", "SK")}

    @pytest.mark.rule("E29")
    def test_otherwise_anything(self):
        t = playing("SJ SA ST SK SQ S8 S7 | DA D7").plays("SJ")
        assert len(t.cards(P2)) == 9

    @pytest.mark.rule("E30")
    def test_beat_a_trump_if_able(self):
        t = playing("SA | S7 S8 SJ").plays("SA")
        assert t.cards(P2) == ["SJ"]
        refusal = t.refused(Play(seat=P2, card="S7"), rule="E30", kind=AgainstTheRules, code="must_beat_trump")
        assert refusal.facts == {"allowed": ("SJ",)}

    @pytest.mark.rule("E30")
    def test_the_nine_must_beat_the_ace(self):
        t = playing("SA | S7 S9", turn_up="S8").plays("SA")
        assert t.cards(P2) == ["S9"]

    @pytest.mark.rule("E29", "E30")
    def test_if_not_follow_with_any(self):
        t = playing("SJ | S7 SA HA").plays("SJ")
        assert {"S7", "SA"} <= set(t.cards(P2))
        t.refused(Play(seat=P2, card="HA"), rule="E29", code="must_follow_suit")

    @pytest.mark.rule("E30", "E-O18")
    def test_the_highest_so_far_is_to_be_beaten_even_the_partners(self):
        t = playing("S7 SJ S9 | S8 | SA SQ | SK ST", turn_up="HA", calls="pass pass pass pass S").plays("S7 S8")
        assert t.cards(P3) == ["SQ", "SA"]
        t.plays("SA")
        assert set(t.cards(P4)) >= {"SK", "ST"}
        t = playing("SA S9 | S8 | SJ S7 | SK", turn_up="HA", calls="pass pass pass pass S").plays("SA S8")
        assert t.cards(P3) == ["SJ"]

    @pytest.mark.rule("E-O17", "E30")
    @pytest.mark.parametrize("must", [False, True])
    def test_overtrumping(self, must: bool):
        """P2 trumps hearts; P3 has no hearts either, one trump above that and one below."""
        text = "HA HK HT H9 H8 | S8 DA DK DJ D9 CA CK CJ C9 | SA S7 DQ DT D8 CQ CT C8 C7"
        t = table(players=3, must_overtrump=must).dealt(hands(text, "S9"), "S9").calls("take").says("none none none")
        t.plays("HA S8")
        assert t.cards(P3) == (["SA"] if must else ["S7", "SA"])
        if must:
            refusal = t.refused(Play(seat=P3, card="S7"), rule="E30", kind=AgainstTheRules, code="must_overtrump")
            assert refusal.facts == {"allowed": ("SA",)}
            t.refused(Play(seat=P3, card="DQ"), rule="E29", code="must_trump")

    @pytest.mark.rule("E-O17")
    def test_a_trump_that_cannot_overtrump_is_still_owed(self):
        text = "HA HK HT H9 H8 | SJ DA DK DJ D9 CA CK CJ C9 | SA S7 DQ DT D8 CQ CT C8 C7"
        t = table(players=3, must_overtrump=True).dealt(hands(text, "S9"), "S9").calls("take").says("none none none")
        assert t.plays("HA SJ").cards(P3) == ["S7", "SA"]


class TestWinning:
    """The card that takes the trick."""

    @pytest.mark.rule("E31", "E-O2")
    @pytest.mark.parametrize(
        ("option", "trumps", "plain"), [("ten_high", "J9ATKQ87", "ATKQJ987"), ("ten_low", "J9AKQT87", "AKQJT987")]
    )
    def test_the_rank_of_the_cards(self, option: str, trumps: str, plain: str):
        beaters = BEATERS[option]["S"]
        for order, suit in ((trumps, "S"), (plain, "H"), (plain, "D"), (plain, "C")):
            for high, low in combinations(order, 2):
                assert beaters[BIT[suit + low]] & BIT[suit + high]
                assert not beaters[BIT[suit + high]] & BIT[suit + low]

    @pytest.mark.rule("E31")
    def test_trumps_beat_plain_cards_and_other_suits_nothing(self):
        for trumps in SUITS:
            for one, other in permutations(PACK, 2):
                if one[0] != other[0]:
                    beats = BEATERS["ten_high"][trumps][BIT[one]] & BIT[other] != 0
                    assert beats == (other[0] == trumps)

    @pytest.mark.rule("E31")
    @pytest.mark.parametrize(
        ("cards", "winner"),
        [("HT HK", P1), ("HK HT", P2), ("H7 H8", P2), ("SA SJ", P2), ("S7 S8", P2), ("ST SA", P2)],
    )
    def test_the_better_card_takes_the_trick(self, cards: str, winner: int):
        first, second = cards.split()
        t = playing(f"{first} | {second}").plays(cards)
        assert t.happened(TrickTaken) == [TrickTaken(seat=winner, trick=1)]

    @pytest.mark.rule("E31", "E-O2")
    def test_ten_low(self):
        t = playing("HT | HK", trick_rank="ten_low").plays("HT HK")
        assert t.happened(TrickTaken)[0].seat == P2


class TestWorth:
    """The points of the cards, as in the printed source."""

    @pytest.mark.rule("E34", "E35", "E36", "E37", "E38", "E39", "E40", "E-O3")
    @pytest.mark.parametrize(
        ("rule", "rank", "trumps", "plain"),
        [
            ("E34, E40", "J", 20, 2),
            ("E35", "9", 14, 0),
            ("E36", "A", 11, 11),
            ("E37", "T", 10, 10),
            ("E38", "K", 4, 4),
            ("E39", "Q", 3, 3),
            ("E-O3", "8", 0, 0),
            ("E-O3", "7", 0, 0),
        ],
    )
    def test_each_card(self, rule: str, rank: str, trumps: int, plain: int):
        assert (CARD_POINTS["trumps"][rank], CARD_POINTS["plain"][rank]) == (trumps, plain)
        assert (POINTS["D"]["D" + rank], POINTS["D"]["C" + rank]) == (trumps, plain)

    @pytest.mark.rule("E33", "E41", "E-O3")
    def test_the_whole_pack(self):
        assert sum(CARD_POINTS["trumps"].values()) == 62
        assert 3 * sum(CARD_POINTS["plain"].values()) == 90
        assert all(sum(POINTS[suit].values()) + LAST_TRICK == 162 for suit in SUITS)
        assert SUIT["S"] & sum(BIT[card] for card in PACK) == sum(BIT["S" + rank] for rank in "789TJQKA")

    @pytest.mark.rule("E33", "E41")
    def test_tricks_and_the_last_one(self):
        t = playing("SJ S9 SA ST SK SQ S8 DA DT | DK", turn_up="S7")
        t.plays("SJ").plays(t.cards(P2)[0])
        second = t.happened(CardPlayed)[-1].card
        assert t.seen().more["card_points"] == (20 + POINTS["S"][second], 0)
        t.plays_high()
        assert t.line.tricks == (9, 0)
        played = sum(POINTS["S"][event.card] for event in t.happened(CardPlayed))
        assert t.line.detail["card_points"] == [played + 10, 0]
