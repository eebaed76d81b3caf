"""Rödskägg (Kortoxen): each option changes one thing and nothing else."""

from typing import Any

import msgspec
import pytest

from referee.acts import Bid, Cut, Deal, KeepCards, KnockForCards, PickUp, Play, RequestCards
from referee.cards import PACK
from referee.events import Dealt, PlayEnded, TrickTaken
from referee.games._rodskagg.facts import HandKept, HandRequested, MisdealFound, NewHands
from referee.games.rodskagg_kortoxen import RULESET
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn, WrongPhase
from referee.visibility import Event, as_seen_by
from tests.games.rodskagg import Table, table, tricks
from tests.support.match_driver import P1, P2, P3, P4, deal

DEFAULTS = {
    "rodskagg_defenders_score": "none",
    "rodskagg_stop_at_first_loss": True,
    "forgotten_question_others_free": True,
    "uncontested_tricks": "to_declarer",
    "honour_redeal": False,
    "max_players": 8,
    "bid_cap_by_score": False,
    "knock_window": "deal_end",
    "false_knock_penalty": 0,
    "wrong_cut_penalty_to": "cutter",
    "fold_question_by": "declarer",
    "overshoot": "bounce",
    "exact_zero": True,
    "zero_tie_fallback": "earliest_zero",
    "money_negative": "zero",
    "deal_ritual": True,
    "question_grace_seconds": 0,
}
OTHERWISE: list[tuple[str, Any]] = [
    ("rodskagg_defenders_score", "one_per_trick"),
    ("rodskagg_stop_at_first_loss", False),
    ("forgotten_question_others_free", False),
    ("uncontested_tricks", "void"),
    ("max_players", 4),
    ("bid_cap_by_score", True),
    ("knock_window", "next_trick"),
    ("false_knock_penalty", 5),
    ("wrong_cut_penalty_to", "dealer"),
    ("overshoot", "negative"),
    ("exact_zero", False),
    ("money_negative", "absolute"),
    ("money_negative", "signed"),
]
"""Values that change nothing in an ordinary deal."""


def ordinary_deal(**options: Any) -> Table:
    t = table(**options).dealt("3 1 3 3 | 2 3").bid("2 pass 3 pass")
    return t.tricks(4).asks(P3, "fold play").tricks(2)


class TestAllOptions:
    """The options are those of the rulebook, and an ordinary deal is the same with and without them."""

    def test_the_defaults_are_those_of_the_rulebook(self):
        assert msgspec.to_builtins(RULESET.options()) == DEFAULTS

    @pytest.mark.parametrize(
        "wrong", [{"jokers": True}, {"overshoot": "none"}, {"false_knock_penalty": 3}, {"question_grace_seconds": 61}]
    )
    def test_there_are_no_others(self, wrong: dict[str, Any]):
        with pytest.raises(msgspec.ValidationError):
            table(**wrong)

    @pytest.mark.parametrize(("option", "value"), OTHERWISE)
    def test_an_ordinary_deal_is_the_same(self, option: str, value: Any):
        assert [recorded.event for recorded in ordinary_deal(**{option: value}).history[1:]] == [
            recorded.event for recorded in ordinary_deal().history[1:]
        ]

    def test_every_option_says_which_rule_it_answers(self):
        for field in msgspec.inspect.type_info(RULESET.options).fields:
            assert field.type.extra_json_schema["description"].startswith("B"), field.name


@pytest.mark.rule("B65")
class TestDefendersScore:
    """rodskagg_defenders_score: no player takes off a point after rödskägg, or the opponents do for their tricks."""

    @pytest.mark.parametrize(("value", "p2"), [("none", 12), ("one_per_trick", 11)])
    def test_the_trick_that_breaks_it(self, value: str, p2: int):
        t = table(rodskagg_defenders_score=value).dealt("1 2 1 1 | 1 1").declares(P1, "rodskagg").tricks(2)
        assert t.points == (17, p2, 12, 12)

    @pytest.mark.rule("B-O35")
    def test_it_can_lead_to_zero(self):
        t = table(rodskagg_defenders_score="one_per_trick", points=(9, 1, 8, 8))
        t.dealt("1 2 1 1 | 1 1").declares(P1, "rodskagg").tricks(2)
        assert t.won is not None
        assert (t.won.seat, t.won.by) == (P2, "zero")


@pytest.mark.rule("B64")
class TestStopAtFirstLoss:
    """rodskagg_stop_at_first_loss: play stops at the first trick of an opponent, or all six are played."""

    def test_it_stops(self):
        t = table().dealt("1 2 1 3 | 1 1").declares(P1, "rodskagg").tricks(2)
        assert t.line.tricks == (1, 1, 0, 0)

    def test_or_is_played_to_the_end(self):
        t = table(rodskagg_stop_at_first_loss=False).dealt("1 2 1 3 | 1 1").declares(P1, "rodskagg").tricks(5)
        assert t.happened(PlayEnded) == []
        t.tricks(1)
        assert (t.line.kind, t.line.tricks) == ("rodskagg_failed", (4, 1, 1, 0))
        assert t.points == (17, 12, 12, 12)

    def test_with_a_point_a_trick_for_the_others(self):
        t = table(rodskagg_stop_at_first_loss=False, rodskagg_defenders_score="one_per_trick")
        t.dealt("1 2 1 3 | 2 2").declares(P1, "rodskagg").tricks(6)
        assert t.points == (17, 9, 11, 12)


@pytest.mark.rule("B55", "B-O16", "B61")
class TestOthersFree:
    """forgotten_question_others_free: after a forgotten question the others risk nothing; or they do."""

    @pytest.mark.parametrize(("value", "p3"), [(True, 12), (False, 17)])
    @pytest.mark.parametrize("knocks", [True, False])
    def test_no_trick_and_no_question(self, value: bool, p3: int, knocks: bool):
        t = table(forgotten_question_others_free=value, enforcement="penalise").dealt("1 1 2 1 | 4 1")
        t.declares(P1, 3).tricks(5)
        if knocks:
            t.knock(P2, P1)
        t.tricks(1)
        assert t.score().points == (8 + 5 * knocks, 11, p3, 11)

    @pytest.mark.parametrize("value", [True, False])
    def test_a_question_that_was_put_is_as_ever(self, value: bool):
        t = table(forgotten_question_others_free=value).dealt("1 1 2 1 | 1 1").declares(P1, 3).tricks(4)
        t.asks(P1, "play fold").tricks(2)
        assert t.points == (7, 11, 17, 12)


@pytest.mark.rule("B-O25")
class TestUncontestedTricks:
    """uncontested_tricks: when all have folded the remaining tricks are the declarer's, or do not count."""

    @pytest.mark.parametrize(("value", "p1", "taken"), [("to_declarer", 6, 6), ("void", 8, 4)])
    def test_uncontested_tricks_follow_the_option(self, value: str, p1: int, taken: int):
        t = (
            table(uncontested_tricks=value)
            .dealt("1 1 1 1 | 1 1")
            .declares(P1, 4)
            .tricks(4)
            .asks(P1, "fold fold fold")
        )
        assert t.points == (p1, 12, 12, 12)
        assert len(t.happened(TrickTaken)) == taken

    def test_a_contract_of_five_needs_them(self):
        t = table(uncontested_tricks="void").dealt("1 1 1 1 | 1 1").declares(P1, 5).tricks(4)
        assert t.asks(P1, "fold fold fold").points[P1] == 12 + 5 - 4


NO_HONOUR = deal("S2 S3 S4 S5 S6 S7 | H2 H3 H4 H5 H6 H7 | SA SK SQ SJ ST S9 | D2 D3 D4 D5 D6 DA")
STOCK = tuple(card for card in PACK if all(card not in hand for hand in NO_HONOUR))


@pytest.mark.rule("B-O20")
class TestHonourRedeal:
    """honour_redeal: a hand without ace or court card may be exchanged before the bidding, until the stock is out."""

    def exchanging(self, stock: tuple[str, ...] | None = STOCK, **match: Any) -> Table:
        t = table(honour_redeal=True, **match)
        t.do(Deal(seat=P4, hands=NO_HONOUR, stock=stock))
        t.do(KnockForCards(seat=P4))
        return t.all_pick_up()

    def test_without_it_the_bidding_opens_at_once(self):
        assert table().dealt(NO_HONOUR).phase == "auction"

    def test_all_speak_from_the_dealers_left(self):
        t = self.exchanging()
        for seat in range(4):
            assert (t.phase, t.seen().to_act) == ("exchanging", (seat,))
            assert t.legal((seat + 1) % 4) == ()
            t.do(KeepCards(seat=seat))
        assert (t.phase, t.turn) == ("auction", P1)
        assert t.happened(NewHands) == []

    def test_no_one_speaks_out_of_turn(self):
        t = self.exchanging()
        t.refused(RequestCards(seat=P2), rule="B-O20", kind=OutOfTurn)
        t.refused(KeepCards(seat=P2), rule="B-O20", kind=OutOfTurn)

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_a_hand_with_an_honour_is_kept(self, enforcement: str):
        t = self.exchanging(enforcement=enforcement)
        t.do(KeepCards(seat=P1))
        t.do(KeepCards(seat=P2))
        assert t.legal(P3) == (KeepCards(seat=P3),)
        t.refused(RequestCards(seat=P3), rule="B-O20", kind=AgainstTheRules)
        t.do(KeepCards(seat=P3))
        assert t.legal(P4) == (KeepCards(seat=P4),)

    def test_no_bid_before_all_are_content(self):
        self.exchanging().refused(Bid(seat=P1, bid="1"), rule="B28", kind=WrongPhase)

    def test_new_cards_come_from_the_stock_in_packets_of_three(self):
        t = self.exchanging()
        assert t.do(RequestCards(seat=P1)) == (HandRequested(seat=P1),)
        t.do(RequestCards(seat=P2))
        t.do(KeepCards(seat=P3))
        events = t.do(KeepCards(seat=P4))
        new = events[-1]
        assert events[0] == HandKept(seat=P4)
        assert isinstance(new, NewHands)
        assert (new.seats, new.last, new.seed) == ((P1, P2), False, None)
        assert new.hands == (STOCK[0:3] + STOCK[6:9], STOCK[3:6] + STOCK[9:12], (), ())
        assert set(t.seen(P1).hand or ()) == set(STOCK[0:3] + STOCK[6:9])
        assert set(t.seen(P3).hand or ()) == set(NO_HONOUR[P3])

    def test_only_a_player_who_got_new_cards_may_ask_again(self):
        t = self.exchanging(stock=tuple(sorted(STOCK, key=lambda card: card[1] in "JQKA")))
        t.do(RequestCards(seat=P1))
        for seat in (P2, P3, P4):
            t.do(KeepCards(seat=seat))
        assert t.seen().to_act == (P1,)
        t.do(RequestCards(seat=P1))
        assert t.seen().to_act == (P1,)
        t.do(KeepCards(seat=P1))
        assert t.phase == "auction"

    def test_until_the_stock_has_run_out_once(self):
        """The stock has 28 cards: after four exchanges the thrown-in cards are shuffled, and no player may ask
        again."""
        t = self.exchanging(stock=tuple(sorted(STOCK, key=lambda card: card[1] in "JQKA")))
        low = [card for card in STOCK if card[1] not in "JQKA"]
        assert len(low) >= 12
        t.do(RequestCards(seat=P1))
        t.do(RequestCards(seat=P2))
        t.do(KeepCards(seat=P3))
        t.do(KeepCards(seat=P4))
        left = 28 - 12
        while t.phase == "exchanging":
            seat = t.turn
            asks = RequestCards(seat=seat) in t.legal(seat)
            events = t.do(RequestCards(seat=seat) if asks else KeepCards(seat=seat))
            for event in events:
                if isinstance(event, NewHands):
                    assert event.last == (left < 6 * len(event.seats))
                    left -= 6 * len(event.seats)
        self.all_different(t)

    @pytest.mark.parametrize("asking", [1, 2])
    def test_a_stock_too_small_is_filled_up_with_what_was_thrown_in(self, asking: int):
        """Eight at the table leave a stock of four."""
        low = [card for card in PACK if card[1] not in "JQKA"]
        cards = (*low[:12], *(card for card in PACK if card not in low[:12]))
        hands = tuple(cards[6 * seat : 6 * seat + 6] for seat in range(8))
        t = table(players=8, dealer=7, honour_redeal=True)
        t.do(Deal(seat=7, hands=hands, stock=cards[48:]))
        t.do(KnockForCards(seat=7))
        t.all_pick_up()
        came = ((*cards[48:], *cards[:2]), cards[2:8])
        t.refused(RequestCards(seat=0), rule="B-O20", kind=AgainstTheRules)
        for seat in range(8):
            events = t.do(RequestCards(seat=seat, cards=came[seat]) if seat < asking else KeepCards(seat=seat))
        new = events[-1]
        assert isinstance(new, NewHands)
        assert (new.last, (new.hands or ())[:asking]) == (True, came[:asking])
        assert t.phase == "auction"
        self.all_different(t)

    def all_different(self, t: Table) -> None:
        held = [card for hand in t.seen().hands or () for card in hand]
        assert len(held) == len(set(held)) == 6 * len(t.seen().active)

    def test_the_cards_received_can_be_named_with_the_request(self):
        t = self.exchanging(stock=None)
        t.refused(RequestCards(seat=P1), rule="B-O20", kind=AgainstTheRules)
        t.refused(RequestCards(seat=P1, cards=STOCK[:5]), rule="B-O20", kind=AgainstTheRules)
        for taken in (NO_HONOUR[P2][0], NO_HONOUR[P1][0]):
            t.refused(RequestCards(seat=P1, cards=(*STOCK[:5], taken)), rule="B4", kind=NoSuchCard)
        t.do(RequestCards(seat=P1, cards=STOCK[:6]))
        t.refused(RequestCards(seat=P2, cards=STOCK[5:11]), rule="B4", kind=NoSuchCard)
        for seat in (P2, P3, P4):
            t.do(KeepCards(seat=seat))
        assert set(t.seen(P1).hand or ()) == set(STOCK[:6])

    def test_no_one_else_sees_the_new_cards(self):
        t = self.exchanging()
        t.do(RequestCards(seat=P1))
        for seat in (P2, P3, P4):
            t.do(KeepCards(seat=seat))
        (new,) = t.happened(NewHands)
        for viewer in (P2, P3, "spectator"):
            assert not any(as_seen_by(new, viewer, False).hands)
            assert as_seen_by(new, viewer, False).stock == ()
        assert as_seen_by(new, P1, False).hands[P1] == new.hands[P1]

    def test_in_house_dealing(self):
        t = table(honour_redeal=True, dealing="house", players=6, dealer=P1)
        for _ in range(20):
            t.dealt()
            while t.phase == "exchanging":
                asks = RequestCards(seat=t.turn)
                t.do(asks if asks in t.legal(t.turn) else KeepCards(seat=t.turn))
            self.all_different(t)
            t.bid("pass pass pass pass pass pass")
        assert len(t.happened(NewHands)) > 3
        t.dealt().refused(RequestCards(seat=t.turn, cards=STOCK[:6]), rule=None)

    def test_with_closed_hands_the_referee_takes_the_players_word(self):
        t = table(honour_redeal=True).dealt(closed=True)
        assert t.legal(P1) == (KeepCards(seat=P1), RequestCards(seat=P1))
        t.refused(RequestCards(seat=P1, cards=STOCK[:6]), rule=None)
        for seat in (P1, P2, P3):
            t.do(RequestCards(seat=seat))
        assert t.do(RequestCards(seat=P4))[-1] == NewHands(seats=(P1, P2, P3, P4))
        t.do(RequestCards(seat=P1))
        for seat in (P2, P3, P4):
            t.do(KeepCards(seat=seat))
        assert t.happened(NewHands)[-1] == NewHands(seats=(P1,), last=True)
        assert t.phase == "auction"


@pytest.mark.rule("B17", "B-O6")
class TestWrongCutPenaltyTo:
    """wrong_cut_penalty_to: the offender is the player who cut, or the dealer who allowed it."""

    @pytest.mark.parametrize(("value", "offender", "other"), [("cutter", P3, P4), ("dealer", P4, P3)])
    def test_the_option_decides_who_is_accused_of_a_wrong_cut_and_pays(self, value: str, offender: int, other: int):
        t = table(wrong_cut_penalty_to=value, enforcement="penalise")
        t.do(Cut(seat=P3))
        t.dismissed(P1, other, "wrong_cut", reason="nothing")
        t.upheld(P1, offender, "wrong_cut", rule="B17", payer=offender)


@pytest.mark.rule("B-O12")
def test_zero_tie_fallback_has_one_value():
    with pytest.raises(msgspec.ValidationError):
        table(zero_tie_fallback="latest_zero")
    assert table(zero_tie_fallback="earliest_zero").phase == "undealt"


@pytest.mark.rule("B16", "B20", "B23", "B27")
class TestDealRitual:
    """deal_ritual: cutting, the formula and picking up are acts; or the cards are up as soon as they are dealt."""

    def test_without_it_hands_are_up_at_once(self):
        t = table(deal_ritual=False)
        t.do(Deal(seat=P4, hands=NO_HONOUR))
        assert t.phase == "auction"
        (dealt,) = t.happened(Dealt)
        assert dealt.face_up
        assert as_seen_by(dealt, P1, False).hands == (NO_HONOUR[P1], (), (), ())
        assert as_seen_by(dealt, "spectator", False).hands == ((), (), (), ())

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_without_it_there_is_no_cut_no_formula_and_no_picking_up(self, enforcement: str):
        t = table(deal_ritual=False, enforcement=enforcement)
        assert t.legal(P4) == (Deal(seat=P4),)
        t.refused(Cut(seat=P4), rule="B16", kind=WrongPhase)
        t.refused(Cut(seat=P1), rule="B16", kind=WrongPhase)
        t.do(Deal(seat=P4, hands=NO_HONOUR))
        t.refused(KnockForCards(seat=P4), rule="B20", kind=WrongPhase)
        t.refused(PickUp(seat=P1), rule="B23", kind=WrongPhase)

    def test_without_it_a_misdeal_is_seen_at_once_and_costs_nothing(self):
        t = table(deal_ritual=False, enforcement="penalise")
        seven = (*NO_HONOUR[:3], (*NO_HONOUR[3], "CA"))
        events: tuple[Event, ...] = t.do(Deal(seat=P4, hands=seven))
        assert events[-1] == MisdealFound(seat=P4, rule="B27")
        t.refused(Bid(seat=P1, bid="1"), rule="B27", kind=WrongPhase)
        t.refused(PickUp(seat=P1), rule="B23", kind=WrongPhase)
        t.refused(KnockForCards(seat=P4), rule="B20", kind=WrongPhase)
        t.do(Deal(seat=P4, hands=NO_HONOUR))
        t.dismissed(P1, P4, reason="nothing")
        assert t.phase == "auction"

    def test_the_play_is_the_same(self):
        plan = tricks("3 1 3 3 | 2 3")
        without, with_it = (ordinary_deal(deal_ritual=ritual) for ritual in (False, True))
        assert plan.hands == without.plan.hands
        assert without.points == with_it.points == (11, 11, 8, 12)

    def test_with_it_a_deal_begins_face_down(self):
        t = table()
        t.do(Deal(seat=P4, hands=NO_HONOUR))
        (dealt,) = t.happened(Dealt)
        assert as_seen_by(dealt, P1, False).hands is None
        t.refused(Play(seat=P1, card="S2"), rule="B41", kind=WrongPhase)
