"""Declarations in a double and a single pot, generalrams, and the turned-up trump (D22-D47)."""

import pytest

from referee.acts import Bid, Exchange
from referee.events import PlayEnded
from referee.games.rams_english.states import DeclarationsClosed, Declared, TurnUpTaken
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn, WrongPhase
from tests.games.rams_table import Table
from tests.support.match_driver import P1, P2, P3, P4, P5, P6


def double(players: int = 4, **kwargs: object) -> Table:
    """Return a table with five in the pot; the last seat deals."""
    t = Table(players, pot=5, points=(-5, *(0,) * (players - 1)), **kwargs)
    t.deal()
    return t


def single(players: int = 4, **kwargs: object) -> Table:
    """Return a table with an empty pot."""
    t = Table(players, **kwargs)
    t.deal()
    return t


def order(t: Table) -> tuple[int, ...]:
    """Return the seats that play."""
    closed = t.history[-1].event
    assert isinstance(closed, DeclarationsClosed)
    return closed.order


# Double pot


@pytest.mark.rule("D22", "D23", "D24", "D29")
def test_in_a_double_pot_forehand_chooses_first():
    t = double()
    assert t.seen(P1).more["single"] is False
    assert t.words(P1) == {"join", "lie_down", "widow", "generalrams"}
    assert t.words(P2) == set()
    t.say("join")
    assert t.words(P2) == {"join", "lie_down", "widow", "generalrams"}


@pytest.mark.rule("D28")
def test_each_speaks_once_in_turn():
    t = double()
    t.refused(Bid(seat=P2, bid="join"), code="out_of_turn", rule="D28", kind=OutOfTurn)
    t.say("join")
    t.refused(Bid(seat=P1, bid="lie_down"), code="already_spoken", rule="D28", kind=OutOfTurn)
    t.refused(Bid(seat=P3, bid="generalrams"), code="out_of_turn", rule="D28", kind=OutOfTurn)
    t.refused(Bid(seat=P2, bid="3"), code="no_such_declaration", rule="D24", kind=AgainstTheRules)
    t.refused(Bid(seat=P2, bid="pass"), code="no_such_declaration", rule="D24", kind=AgainstTheRules)
    t.say("join join join")
    t.refused(Bid(seat=P1, bid="join"), code="declarations_over", rule="D28", kind=WrongPhase)


@pytest.mark.rule("D25", "D40", "D-O19", "D48")
def test_a_player_who_lies_down_keeps_the_cards_and_sits_out():
    t = double()
    hand = t.seen(P1).hand
    t.say("lie_down join")
    assert t.seen(P1).hand == hand
    t.say("lie_down join")
    assert order(t) == (P2, P4)
    assert t.to_act == (P2,)
    assert t.seen(P1).cards_left == (5, 5, 5, 5)


@pytest.mark.rule("D26", "D27", "D24", "D4")
def test_a_player_who_takes_the_widow_has_joined():
    t = Table(4, pot=5)
    t.deal("SA SK SQ SJ ST", widow="HA HK HQ HJ HT", turn_up="C7")
    taken = t.say("widow")
    assert taken == (Declared(seat=P1, word="widow", hand=("HT", "HJ", "HQ", "HK", "HA")),)
    assert set(t.seen(P1).hand or ()) == {"HA", "HK", "HQ", "HJ", "HT"}
    t.refused(Bid(seat=P1, bid="lie_down"), code="already_spoken", rule="D28", kind=OutOfTurn)
    t.refused(Bid(seat=P1, bid="widow"), code="already_spoken", rule="D28", kind=OutOfTurn)
    t.say("lie_down join lie_down")
    assert order(t) == (P1, P3)
    assert set(t.cards(P1)) == {"HA", "HK", "HQ", "HJ", "HT"}


@pytest.mark.rule("D30")
def test_when_the_widow_is_taken_one_joins_or_lies_down():
    t = double()
    t.say("widow")
    assert t.words(P2) == {"join", "lie_down", "generalrams"}  # D-O27
    t.refused(Bid(seat=P2, bid="widow"), code="widow_taken", rule="D30", kind=AgainstTheRules)


@pytest.mark.rule("D31", "D32", "D-O7")
def test_the_player_on_the_dealers_right_joins_or_pays():
    t = double()
    t.refused(Bid(seat=P1, bid="pay"), code="nothing_to_buy_off", rule="D31", kind=AgainstTheRules)
    t.say("lie_down lie_down")
    assert t.words(P3) == {"join", "widow", "generalrams", "pay"}
    t.refused(Bid(seat=P3, bid="lie_down"), code="must_join_or_pay", rule="D31", kind=AgainstTheRules)
    events = t.say("pay")
    assert events[:2] == (Declared(seat=P3, word="pay"), PlayEnded(kind="paid"))
    assert t.line.kind == "paid"
    assert t.change() == (0, 0, -5, 0)
    assert t.why(P3) == [(-5, "D31")]
    assert t.why(P4) == [(-5, "D15"), (5, "D31")]
    assert t.line.pot == 10
    assert t.dealer == P1
    t.deal()
    assert t.seen(P1).more["single"] is False


@pytest.mark.rule("D31", "D-O7")
@pytest.mark.parametrize("word", ["join", "widow", "generalrams"])
def test_taking_the_widow_or_a_generalrams_is_joining(word: str):
    t = double()
    t.say(f"lie_down lie_down {word}")
    assert P3 in t.more["joined"]


@pytest.mark.rule("D31", "D-O8")
def test_the_second_of_three_has_a_duty_only_if_forehand_lies_down():
    t = double(3)
    t.say("lie_down")
    assert t.words(P2) == {"join", "widow", "generalrams", "pay"}
    t = double(3)
    t.say("join")
    assert t.words(P2) == {"join", "lie_down", "widow", "generalrams"}


@pytest.mark.rule("D33", "D-O21")
def test_the_dealer_must_join_when_one_has():
    t = double()
    t.say("lie_down join lie_down")
    assert t.words(P4) == {"join", "widow", "generalrams"}
    t.refused(Bid(seat=P4, bid="lie_down"), code="last_must_join", rule="D33", kind=AgainstTheRules)
    t.refused(Bid(seat=P4, bid="pay"), code="nothing_to_buy_off", rule="D31", kind=AgainstTheRules)
    t.say("join")
    assert order(t) == (P2, P4)


@pytest.mark.rule("D34")
def test_the_dealer_may_lie_down_when_two_have_joined():
    t = double()
    t.say("join join lie_down lie_down")
    assert order(t) == (P1, P2)


@pytest.mark.rule("D-O9", "D31", "D33")
def test_the_last_of_six_to_speak_has_the_duty_of_the_dealer():
    t = double(6)
    t.say("lie_down lie_down lie_down")
    assert t.words(P4) == {"join", "widow", "generalrams", "pay"}
    t.say("join")
    assert t.words(P5) == {"join", "widow", "generalrams"}
    t.say("join")
    assert order(t) == (P4, P5)
    t.refused(Exchange(seat=P6, card="SA"), code="dealer_not_in_play", rule="D46", kind=AgainstTheRules)
    t = double(6)
    t.say("lie_down lie_down lie_down pay")
    assert t.change() == (0, 0, 0, -5, 0, 0)
    assert t.why(P6) == [(-5, "D15"), (5, "D31")]


# Generalrams


@pytest.mark.rule("D35", "D36", "D37", "D49")
def test_a_generalrams_brings_everyone_in():
    t = double()
    t.say("lie_down generalrams")
    assert t.words(P3) == {"join", "widow"}
    t.refused(Bid(seat=P3, bid="lie_down"), code="all_must_join", rule="D37", kind=AgainstTheRules)
    t.refused(Bid(seat=P3, bid="pay"), code="all_must_join", rule="D37", kind=AgainstTheRules)
    t.refused(Bid(seat=P3, bid="generalrams"), code="already_announced", rule="D38", kind=AgainstTheRules)
    t.refused(Bid(seat=P1, bid="generalrams"), code="already_announced", rule="D38", kind=AgainstTheRules)
    closed = t.say("join join")[-1]
    assert closed == DeclarationsClosed(order=(P1, P2, P3, P4), leader=P2, announcer=P2, rule="D49")
    assert t.more["announcer"] == P2


@pytest.mark.rule("D38")
@pytest.mark.rule("D-X13")
def test_x13_the_round_goes_on_for_the_widow_alone():
    t = double()
    t.say("lie_down generalrams")
    closed = t.say("widow")[-1]
    assert isinstance(closed, DeclarationsClosed)  # no word is left
    assert (closed.order, closed.leader) == ((P1, P2, P3, P4), P2)
    assert any(isinstance(act, Exchange) for act in t.legal(P4))  # D47
    assert t.cards(P1) == []
    t.plays(min(t.cards(P2)))
    t.plays(min(t.cards(P3)))
    t.plays(min(t.cards(P4)))
    assert t.cards(P1) != []


@pytest.mark.rule("D39", "D-O6", "D38")
def test_the_widows_taker_may_announce_after_a_look():
    t = double()
    t.say("widow")
    assert t.words(P1) == {"generalrams"}
    closed = t.say("P1:generalrams")[-1]
    assert isinstance(closed, DeclarationsClosed)
    t = double()
    t.say("generalrams")
    t.refused(Bid(seat=P1, bid="widow"), code="already_spoken", rule="D28", kind=OutOfTurn)


@pytest.mark.rule("D35", "D-O4")
def test_generalrams_until_the_next_player_speaks():
    t = double()
    t.say("join")
    assert t.words(P1) == {"generalrams"}
    t.say("lie_down")
    assert t.words(P1) == t.words(P2) == set()
    t.refused(Bid(seat=P1, bid="generalrams"), code="too_late_to_announce", rule="D35", kind=OutOfTurn)
    t.refused(Bid(seat=P2, bid="generalrams"), code="too_late_to_announce", rule="D35", kind=OutOfTurn)
    t.say("join P3:generalrams join")
    assert order(t) == (P1, P2, P3, P4)


@pytest.mark.rule("D-O4")
def test_the_last_to_speak_may_announce_until_the_lead():
    t = double()
    t.say("join join lie_down join")
    assert order(t) == (P1, P2, P4)
    assert t.words(P4) == {"generalrams"}
    t.refused(Bid(seat=P2, bid="generalrams"), code="too_late_to_announce", rule="D35", kind=OutOfTurn)
    t.say("P4:generalrams")
    assert order(t) == (P1, P2, P3, P4)
    assert t.to_act == (P4,)
    t.refused(Bid(seat=P4, bid="generalrams"), code="already_announced", rule="D38", kind=AgainstTheRules)


@pytest.mark.rule("D-O4")
def test_an_exchange_or_the_lead_ends_the_time_for_it():
    t = double()
    t.say("join join lie_down join")
    t.exchange(t.hand(P4)[0])
    assert t.words(P4) == set()
    t.refused(Bid(seat=P4, bid="generalrams"), code="too_late_to_announce", rule="D35", kind=OutOfTurn)
    t = double()
    t.say("join join lie_down join")
    t.plays(min(t.cards(P1)))
    assert t.words(P4) == set()
    t.refused(Bid(seat=P4, bid="generalrams"), code="declarations_over", rule="D28", kind=WrongPhase)


@pytest.mark.rule("D-O4")
def test_with_late_generalrams_all_who_joined_may_announce_until_the_lead():
    t = double(late_generalrams=True)
    t.say("join lie_down")
    assert t.words(P1) == {"generalrams"}
    assert t.words(P2) == set()
    t.refused(Bid(seat=P2, bid="generalrams"), code="too_late_to_announce", rule="D35", kind=OutOfTurn)
    t.say("widow join")
    t.exchange(t.hand(P4)[0])
    assert [seat for seat in range(4) if t.words(seat)] == [P1, P3, P4]
    t.say("P1:generalrams")
    assert order(t) == (P1, P2, P3, P4)
    assert t.words(P3) == set()
    assert not any(isinstance(act, Exchange) for act in t.legal(P4))  # the dealer has exchanged


@pytest.mark.rule("D-O5", "D38")
def test_an_option_lets_players_who_lay_down_take_the_widow():
    t = double()
    t.say("lie_down lie_down generalrams join")
    assert order(t) == (P1, P2, P3, P4)
    t = double(passers_may_take_widow=True)
    t.say("lie_down lie_down generalrams join")
    assert t.words(P1) == {"join", "widow"}
    t.say("join")
    assert t.words(P2) == {"join", "widow"}
    t.say("widow")
    assert order(t) == (P1, P2, P3, P4)
    assert t.more["widow"] == P2


@pytest.mark.rule("D-O5")
def test_players_who_lay_down_are_asked_after_a_late_generalrams():
    t = double(passers_may_take_widow=True)
    t.say("lie_down join join join P4:generalrams")
    assert t.words(P1) == {"join", "widow"}
    t.say("join")
    assert order(t) == (P1, P2, P3, P4)
    assert t.to_act == (P4,)


@pytest.mark.rule("D-O3", "D37")
def test_a_sixth_player_stays_out_of_a_generalrams():
    t = double(6)
    t.say("lie_down generalrams join join join")
    assert order(t) == (P1, P2, P3, P4, P5)


# Single pot


@pytest.mark.rule("D41", "D42", "D43", "D44", "D45", "D-O27")
def test_in_a_single_pot_all_join():
    t = single()
    assert t.seen(P1).more["single"] is True
    assert t.words(P1) == {"join", "widow", "generalrams"}
    t.refused(Bid(seat=P1, bid="lie_down"), code="single_pot", rule="D43", kind=AgainstTheRules)
    t.refused(Bid(seat=P1, bid="pay"), code="single_pot", rule="D43", kind=AgainstTheRules)
    t.say("widow")
    assert t.words(P2) == {"join", "generalrams"}
    t.say("join join join")
    assert order(t) == (P1, P2, P3, P4)


@pytest.mark.rule("D42", "D41", "D61")
def test_the_pot_after_a_settled_deal_is_single_again():
    t = Table(4)
    everybody_but_one = t.play_out(lambda winners: len(set(winners)) == 3, "join join join join")
    assert everybody_but_one.pot == 5
    t = Table(4)
    assert t.play_out(lambda winners: len(set(winners)) == 4, "join join join join").pot == 0
    t.deal()
    assert t.seen(P1).more["single"] is True


# The turned-up trump


@pytest.mark.rule("D46", "D-O22")
def test_the_dealer_exchanges_a_card_for_the_turned_up_one():
    t = Table()
    t.deal("", "", "", "SA SK SQ SJ ST", turn_up="C7")
    t.refused(Exchange(seat=P4, card="ST"), code="wrong_phase", rule="D46", kind=WrongPhase)
    t.say("join join join join")
    t.refused(Exchange(seat=P1, card="SA"), code="only_dealer_exchanges", rule="D46", kind=AgainstTheRules)
    t.refused(Exchange(seat=P4, card="C7"), code="not_held", rule="D46", kind=NoSuchCard)
    t.refused(Exchange(seat=P4, card="C2"), code="not_in_pack", rule="D7", kind=NoSuchCard)
    assert {act.card for act in t.legal(P4) if isinstance(act, Exchange)} == {"SA", "SK", "SQ", "SJ", "ST"}
    assert t.exchange("ST") == (TurnUpTaken(seat=P4, card="C7", laid="ST"),)
    assert set(t.seen(P4).hand or ()) == {"SA", "SK", "SQ", "SJ", "C7"}
    t.refused(Exchange(seat=P4, card="SJ"), code="already_exchanged", rule="D46", kind=AgainstTheRules)


@pytest.mark.rule("D46", "D-O22")
def test_after_the_first_lead_it_is_too_late():
    t = Table()
    t.deal()
    t.say("join join join join")
    t.plays(min(t.cards(P1)))
    t.refused(Exchange(seat=P4, card=t.hand(P4)[0]), code="exchange_too_late", rule="D-O22", kind=WrongPhase)
    assert not any(isinstance(act, Exchange) for act in t.legal(P4))


@pytest.mark.rule("D46")
def test_a_dealer_who_lies_down_may_not():
    t = double()
    t.say("join join join lie_down")
    t.refused(Exchange(seat=P4, card=t.hand(P4)[0]), code="dealer_not_in_play", rule="D46", kind=AgainstTheRules)


@pytest.mark.rule("D47")
def test_with_the_widow_or_made_to_play_the_dealer_may():
    t = double()
    t.say("join join join widow")
    widow = t.hand(P4)
    t.exchange(widow[0])
    t = double(late_generalrams=True)
    t.say("join join join lie_down P1:generalrams")
    t.exchange(t.hand(P4)[0])
    assert isinstance(t.events[-1], TurnUpTaken)
