"""Opening a match, the first dealer, the stake, the deal, and misdeals (D1-D21, D67)."""

import msgspec
import pytest

from referee.acts import Bid, Deal, Draw, Play, Report
from referee.cards import BIT, shuffled
from referee.events import CardDrawn, Dealt, FirstDealerDrawn, Reported
from referee.games.rams_english import RULESET
from referee.games.rams_english.states import IN_PACK, PACK, Staked
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.rulebook import load
from tests.games.rams_table import Table
from tests.support.match_driver import P1, P2, P3, P4, P6

# The game, the pack, the stake


@pytest.mark.rule("D1", "D2")
def test_three_to_five_play_or_six():
    assert (RULESET.players_min, RULESET.players_max) == (3, 6)
    for players in (3, 4, 5, 6):
        assert len(Table(players).points) == players


@pytest.mark.rule("D2", "D-O9")
def test_six_may_be_ruled_out():
    Table(5, six_players=False)
    with pytest.raises(AgainstTheRules) as refused:
        Table(6, six_players=False)
    assert (refused.value.code, refused.value.rule) == ("too_many_players", "D-O9")


@pytest.mark.rule("D5")
def test_it_says_which_rams_it_is():
    book = load("rams-english")
    assert "English" in book.title.en
    assert "engelska" in book.rule("D5").sv


@pytest.mark.rule("D6", "D7", "D8")
def test_the_pack_has_32_cards_ace_high_seven_low():
    assert len(PACK) == 32
    assert {card[1] for card in PACK} == set("789TJQKA")
    assert sorted((f"S{rank}" for rank in "AKQJT987"), key=BIT.__getitem__) == [f"S{rank}" for rank in "789TJQKA"]


@pytest.mark.rule("D9", "D10", "D15", "D-O17")
@pytest.mark.parametrize(("unit", "stake"), [(None, 5), (1, 5), (100, 500)])
def test_all_follows_from_what_a_trick_is_worth(unit: int | None, stake: int):
    t = Table(unit=unit)
    staked = t.deal()[0]
    assert staked == Staked(seat=P4, amount=stake, pot=stake, double=False)


@pytest.mark.rule("D-O23")
def test_a_match_is_taken_over_with_its_pot():
    t = Table(points=(5, -5, 0, -10), pot=10)
    staked = t.deal()[0]
    assert isinstance(staked, Staked)
    assert (staked.pot, staked.double) == (15, True)
    with pytest.raises(AgainstTheRules) as refused:
        Table(pot=-5)
    assert (refused.value.code, refused.value.rule) == ("pot_below_zero", "D-O23")


# The first dealer


@pytest.mark.rule("D11", "D12", "D13")
def test_cards_are_turned_up_clockwise_until_a_jack():
    t = Table(3, dealer=None)
    assert [t.legal(seat) for seat in range(3)] == [(Draw(seat=P1),), (), ()]  # which card is the table's to say
    for seat, card in ((P1, "SA"), (P2, "H7"), (P3, "DQ"), (P1, "CT")):
        assert t.do(Draw(seat=seat, card=card)) == (CardDrawn(seat=seat, card=card),)
    assert t.to_act == (P2,)
    assert t.do(Draw(seat=P2, card="SJ"))[1:] == (FirstDealerDrawn(seat=P2, rule="D13"),)
    assert t.to_act == (P2,)
    assert t.legal(P2) == (Deal(seat=P2),)


@pytest.mark.rule("D11", "D12", "D6", "D7")
def test_an_impossible_draw_for_the_deal_is_refused():
    t = Table(3, dealer=None)
    t.do(Draw(seat=P1, card="SA"))
    t.refused(Draw(seat=P3, card="H7"), code="out_of_turn", rule="D12", kind=OutOfTurn)
    t.refused(Draw(seat=P2), code="card_needed", rule="D11", kind=AgainstTheRules)
    t.refused(Draw(seat=P2, card="SA"), code="card_seen", rule="D6", kind=NoSuchCard)
    t.refused(Draw(seat=P2, card="S6"), code="not_in_pack", rule="D7", kind=NoSuchCard)
    t.refused(Deal(seat=P1), code="wrong_phase", rule="D14", kind=WrongPhase)


@pytest.mark.rule("D11", "D12", "D13")
def test_the_house_turns_cards_up_by_itself():
    for seed in "abcdef":
        t = Table(5, dealing="house", dealer=None, seed=seed)
        drawn = [recorded.event for recorded in t.history[1:-1]]
        *others, jack = drawn
        assert all(isinstance(event, CardDrawn) for event in drawn)
        assert [event.seat for event in drawn] == [place % 5 for place in range(len(drawn))]
        assert jack.card[1] == "J"
        assert not any(event.card[1] == "J" for event in others)
        assert t.history[-1].event == FirstDealerDrawn(seat=jack.seat, rule="D13")
        assert t.dealer == jack.seat


# Staking and dealing


@pytest.mark.rule("D14", "D16")
def test_the_deal_goes_round_and_each_dealer_stakes():
    t = Table(3)
    for dealer in (P3, P1, P2, P3):
        t.refused(Deal(seat=(dealer + 1) % 3), code="not_dealer", rule="D14", kind=OutOfTurn)
        staked = t.deal()[0]
        assert isinstance(staked, Staked)
        assert (staked.seat, staked.amount) == (dealer, 5)
        t.report(dealer, "misdeal")
    assert t.pot == 20


@pytest.mark.rule("D17", "D20", "D21")
def test_a_table_enters_the_hands_the_widow_and_the_turned_up_card():
    t = Table()
    dealt = t.deal("SA SK SQ SJ ST", widow="HA HK HQ HJ HT", turn_up="C7")[1]
    assert isinstance(dealt, Dealt)
    assert dealt.counts == (5, 5, 5, 5)
    assert dealt.widow == ("HA", "HK", "HQ", "HJ", "HT")
    view = t.seen(P1)
    assert set(view.hand or ()) == {"SA", "SK", "SQ", "SJ", "ST"}
    assert view.more is not None
    assert view.more["turn_up"] == "C7"
    assert "widow_cards" not in view.more


@pytest.mark.rule("D6", "D7", "D17", "D20", "D21")
def test_deals_that_cannot_be():
    t = Table()
    good = t.deal_of("SA SK SQ SJ ST")
    assert good.hands is not None
    four = (good.hands[0][:4], *good.hands[1:])
    twice = (good.hands[0], (*good.hands[1][:4], "SA"), *good.hands[2:])
    six = (("S6", *good.hands[0][1:]), *good.hands[1:])

    def but(**changes: object) -> Deal:
        return msgspec.structs.replace(good, **changes)

    t.refused(but(hands=four), code="five_cards_each", rule="D17", kind=AgainstTheRules)
    t.refused(but(widow=(good.widow or ())[:4]), code="five_cards_each", rule="D17", kind=AgainstTheRules)
    t.refused(but(hands=good.hands[:3]), code="one_hand_a_seat", rule="D17", kind=AgainstTheRules)
    t.refused(but(hands=twice), code="card_twice", rule="D6", kind=NoSuchCard)
    t.refused(but(turn_up="SA"), code="card_twice", rule="D6", kind=NoSuchCard)
    t.refused(but(hands=six), code="not_in_pack", rule="D7", kind=NoSuchCard)
    t.refused(but(turn_up=None), code="turn_up_needed", rule="D20", kind=AgainstTheRules)
    t.refused(but(widow=None), code="widow_goes_with_hands", rule="D17", kind=AgainstTheRules)
    t.refused(but(hands=None, counts=(5,) * 4), code="widow_goes_with_hands", rule="D17", kind=AgainstTheRules)
    t.refused(but(counts=(5,) * 4), code="hands_or_counts", rule=None, kind=AgainstTheRules)
    t.refused(but(hands=None, widow=None), code="hands_or_counts", rule=None, kind=AgainstTheRules)
    t.refused(but(stock=("D7",)), code="stock_not_used", rule="D21", kind=AgainstTheRules)
    t.refused(
        but(hands=None, widow=None, counts=(5, 5, 5, 4)), code="five_cards_each", rule="D17", kind=AgainstTheRules
    )
    t.do(good)
    t.refused(good, code="wrong_phase", rule="D14", kind=WrongPhase)


@pytest.mark.rule("D17", "D18", "D19", "D20")
@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_the_house_deals_three_and_two_the_widow_before_the_dealer(players: int):
    t = Table(players, dealing="house")
    dealt = t.do(Deal(seat=players - 1))[1]
    assert isinstance(dealt, Dealt)
    assert dealt.hands is not None
    assert dealt.seed is not None
    hands = [dealt.hands[seat] for seat in range(players - 1)]
    hands += [dealt.widow] if players == 6 else [dealt.widow, dealt.hands[-1]]
    assert all(len(hand) == 5 for hand in hands)
    pack = [card for hand in hands for card in hand[:3]] + [card for hand in hands for card in hand[3:]]
    again = Table(players, dealing="house").do(Deal(seat=players - 1))[1]
    assert again == dealt
    assert (*pack, dealt.turn_up) == shuffled(dealt.seed, IN_PACK)[: len(pack) + 1]


def test_the_house_needs_no_cards_and_sees_everything():
    t = Table(dealing="house")
    t.refused(Table().deal_of(), code="house_deals", rule=None, kind=AgainstTheRules)
    t.do(Deal(seat=P4))
    t.refused(Report(seat=P1, accused=P4, fault="misdeal"), code="house_sees", rule=None, kind=AgainstTheRules)


@pytest.mark.rule("D2", "D-O9")
def test_the_dealer_of_six_gets_no_cards_and_does_not_declare():
    t = Table(6)
    good = t.deal_of()
    assert good.hands is not None
    assert good.hands[P6] == ()
    t.refused(msgspec.structs.replace(good, hands=good.hands[:5]), code="one_hand_a_seat", rule="D17")
    to_the_dealer = (*good.hands[:4], good.hands[4][:4], good.hands[4][4:])
    t.refused(msgspec.structs.replace(good, hands=to_the_dealer), code="five_cards_each", rule="D17")
    t.do(good)
    assert t.to_act == (P1,)
    assert t.seen(P6).hand == ()
    assert t.seen(P1).cards_left == (5, 5, 5, 5, 5, 0)
    t.refused(Bid(seat=P6, bid="join"), code="out_of_turn", rule="D28", kind=OutOfTurn)


@pytest.mark.rule("D-O17", "D20")
def test_closed_hands_have_counts_and_a_turned_up_card():
    t = Table()
    dealt = t.closed_deal("SJ")[1]
    assert isinstance(dealt, Dealt)
    assert dealt.hands is None
    assert t.seen(P1).hand is None
    assert t.seen("official").hands is None


# Misdeals


@pytest.mark.rule("D67", "D-O10", "D-O26")
@pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
@pytest.mark.rule("D-X11")
def test_x11_a_misdeal_passes_the_deal_on_and_the_stake_stays(enforcement: str):
    t = Table(4, dealer=P2, enforcement=enforcement)
    t.deal()
    assert isinstance(t.report(P2, "misdeal")[0], Reported)
    assert t.line.kind == "misdeal"
    assert (t.change(), t.line.pot) == ((0, -5, 0, 0), 5)
    staked = t.deal()[0]
    assert staked == Staked(seat=P3, amount=5, pot=10, double=True)


@pytest.mark.rule("D67", "D68", "D-O26")
@pytest.mark.parametrize("words", ["widow join join", "widow join join join"])
def test_nothing_said_or_reported_in_a_misdeal_counts(words: str):
    t = Table(4, enforcement="penalise", pot=5, points=(-5, 0, 0, 0))
    t.closed_deal("C7")
    t.say(words)
    if words.endswith("join join join"):
        t.report(P2, "exposed_card", seat=P1)
    t.report(P4, "misdeal", seat=P1)
    assert (t.change(), t.line.pot, t.line.detail["faults"]) == ((0, 0, 0, -5), 10, {})
    assert (t.line.detail["active"], t.line.detail["widow"]) == ([], None)


@pytest.mark.rule("D-O10", "D67")
def test_the_stake_of_a_misdeal_may_be_returned():
    t = Table(4, misdeal_stake="returned", points=(0, 0, 0, -10), pot=10)
    t.closed_deal("C7")
    t.say("join widow")
    t.report(P4, "misdeal", seat=P3)
    assert (t.change(), t.line.pot_before, t.line.pot, t.line.entries) == ((0, 0, 0, 0), 10, 10, ())
    assert t.line.detail["widow"] is None
    assert t.dealer == P1


@pytest.mark.rule("D67", "D-O26")
def test_a_misdeal_is_the_dealers_and_is_found_before_the_first_lead():
    t = Table()
    t.refused(Report(seat=P1, accused=P4, fault="misdeal"), code="nothing_dealt", rule="D67", kind=WrongPhase)
    t.deal("SA SK SQ SJ ST", turn_up="C7")
    t.refused(
        Report(seat=P1, accused=P2, fault="misdeal"), code="only_dealer_misdeals", rule="D67", kind=AgainstTheRules
    )
    t.refused(Report(seat=P1, accused=P6, fault="misdeal"), code="no_such_seat", rule=None, kind=NotInPlay)
    t.refused(Report(seat=P1, accused=P2, fault="wrong_cut"), code="no_such_fault", rule="D68", kind=AgainstTheRules)
    t.say("join join join join")
    t.plays("SA")
    t.refused(Report(seat=P1, accused=P4, fault="misdeal"), code="misdeal_too_late", rule="D-O26", kind=WrongPhase)


@pytest.mark.rule("D-O26")
def test_with_known_hands_no_report_ends_a_deal_that_has_begun():
    t = Table()
    t.deal()
    for _ in range(4):
        t.say("join")
        for reporting in (P1, P2, P3, P4):
            t.refused(
                Report(seat=reporting, accused=P4, fault="misdeal"),
                code="hands_known",
                rule="D-O26",
                kind=AgainstTheRules,
            )
    assert t.phase == "playing"


@pytest.mark.rule("D67", "D-O26")
def test_a_misdeal_can_be_found_when_all_have_spoken():
    t = Table()
    t.closed_deal("C7")
    t.say("join join join join")
    t.report(P4, "misdeal")
    assert t.line.kind == "misdeal"
    t.refused(Play(seat=P1, card="SA"), code="wrong_phase", rule="D48", kind=WrongPhase)
