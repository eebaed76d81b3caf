"""Edge cases of the shared parts: level draws, new hands, closed hands, and fields that other seats see."""

from typing import Any

import pytest

from referee.acts import Deal, KnockForCards, PickUp, Play, RequestCards
from referee.events import Breach, CardDrawn, Dealt
from referee.games import RULESETS
from referee.games._rodskagg.facts import CardsThrown, HandRequested, MisdealFound, NewHands, PickedUp
from referee.ruleset import Moment
from referee.visibility import Event, as_seen_by
from tests.games.rodskagg import NO_ACE_NOR_COURT, SIX_EACH, misdealt, opened, penalising, table
from tests.support.match_driver import NOON, P1, P2, P3, P4

BREACH = Breach(offence="misdeal", seat=P4, rule="B25", payer=P4, points=5)


@pytest.mark.rule("B4", "B-O24", "C-O9")
@pytest.mark.parametrize("ruleset", ["rodskagg-kortoxen", "rodskagg-catsatcards"])
def test_players_with_the_same_rank_draw_other_cards(ruleset: str):
    rules = RULESETS[ruleset]
    state = rules.start(opened(ruleset, players=6, dealer=None, dealing="house"))
    draws = (rules.begin(state, Moment(1, NOON, f"luck {luck}")) for luck in range(100))
    drawn = next(
        cards for made in draws if len(cards := [event.card for event in made if isinstance(event, CardDrawn)]) > 6
    )
    assert len(set(drawn)) == len(drawn)


@pytest.mark.rule("B4", "B18")
def test_the_whole_pack_may_be_misdealt():
    t = penalising()
    t.do(Deal(seat=P4, counts=(13, 13, 13, 13)))
    assert t.phase == "picking_up"


@pytest.mark.rule("B-O20")
def test_a_stock_that_is_just_enough_is_not_shuffled_with_what_was_thrown_in():
    stock = ("SA", "HA", "DA", "CA", "SK", "HK")
    t = table(honour_redeal=True)
    t.do(Deal(seat=P4, hands=NO_ACE_NOR_COURT, stock=stock))
    t.do(KnockForCards(seat=P4))
    t.all_pick_up()
    t.do(RequestCards(seat=P1))
    while t.phase == "exchanging" and not t.happened(NewHands):
        t.do(next(act for act in t.legal(t.turn) if type(act) is not RequestCards))
    (new,) = t.happened(NewHands)
    assert (new.hands[P1], new.stock, new.seed) == (stock, (), None)


@pytest.mark.rule("B21", "B25")
def test_with_the_formula_said_the_new_deal_is_free():
    t = misdealt()
    t.do(KnockForCards(seat=P4))
    t.do(PickUp(seat=P3))
    t.do(Deal(seat=P4, hands=SIX_EACH))
    assert t.happened(Dealt)[-1].breaches == ()


@pytest.mark.rule("B25")
def test_a_dealer_who_has_owned_up_by_picking_up_does_not_pay_again_by_dealing():
    t = misdealt()
    t.do(PickUp(seat=P4))
    t.do(PickUp(seat=P3))
    t.do(Deal(seat=P4, hands=SIX_EACH))
    assert t.happened(Dealt)[-1].breaches == ()


@pytest.mark.rule("B42", "B-O26")
def test_with_closed_hands_who_follows_suit_claims_nothing():
    t = penalising().dealt(closed=True).declares(P1, 1)
    for card in ("SA", "S2", "S3", "S4", "SK", "S5", "S6", "S7"):
        t.do(Play(seat=t.turn, card=card))
    assert t.seen().breaches == ()


HAND = ("SA", "SK", "SQ", "SJ", "ST", "S9")


@pytest.mark.parametrize(
    ("event", "hidden"),
    [
        (PickedUp(seat=P2, hand=HAND, breaches=(BREACH,)), {"hand": None}),
        (HandRequested(seat=P2, cards=HAND), {"cards": None}),
        (CardsThrown(seat=P2, count=1, cards=("S2",)), {"cards": ()}),
        (MisdealFound(seat=P2, rule="B27", breaches=(BREACH,)), {}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_cards_are_their_holders_until_the_deal_is_over_and_breaches_the_officials(event: Event, hidden: Any):
    def shown(viewer: Any, public: bool) -> dict[str, Any]:
        told = as_seen_by(event, viewer, public)
        return {name: getattr(told, name) for name in (*hidden, "breaches") if hasattr(told, name)}

    everything = {name: getattr(event, name) for name in (*hidden, "breaches") if hasattr(event, name)}
    without = {"breaches": ()} if hasattr(event, "breaches") else {}
    assert shown("official", False) == shown("official", True) == everything
    assert shown(P2, False) == shown(P2, True) == shown(P1, True) == shown("spectator", True) == everything | without
    assert shown(P1, False) == shown("spectator", False) == hidden | without
