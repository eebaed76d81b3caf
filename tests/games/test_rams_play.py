"""The play of the cards, and faults that are not refused (D3, D48-D58, D68, D-O24, D-O26)."""

import pytest

from referee.acts import Cut, Knock, Play, Report, Score
from referee.cards import BIT, SUIT, cards_of, texts_of
from referee.events import CardPlayed, PlayEnded, TrickTaken
from referee.games.rams_english.play import beats_best, broken_rule, playable_cards
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.visibility import as_seen_by
from tests.games.rams_table import Table
from tests.support.match_driver import P1, P2, P3, P4

CLUBS = SUIT["C"]


def three(*hands: str, words: str = "join join join", turn_up: str = "C7", **kwargs: object) -> Table:
    """Return a table of three: clubs are trumps, P3 has dealt and P1 leads."""
    t = Table(3, **kwargs)
    t.deal(*hands, turn_up=turn_up)
    t.say(words)
    return t


def duty(hand: str, led: str, best: str, trumps: str = "C") -> set[str]:
    """Return the cards that a hand may play when ``led`` was led and ``best`` is the best card so far."""
    return set(texts_of(playable_cards(cards_of(hand.split()), SUIT[led], BIT[best], SUIT[trumps])))


# The lead


@pytest.mark.rule("D48", "D14", "D-O19")
def test_the_nearest_in_play_left_of_the_dealer_leads():
    t = Table(4, pot=5)
    t.deal()
    t.say("lie_down join join join")
    card = t.hand(P1)[0]
    t.refused(Play(seat=P1, card=card), code="not_in_play", rule="D14", kind=NotInPlay)
    t.refused(Play(seat=P3, card=t.hand(P3)[0]), code="not_on_lead", rule="D48", kind=OutOfTurn)
    t.plays(t.hand(P2)[0])
    t.refused(Play(seat=P4, card=t.hand(P4)[0]), code="out_of_turn", rule="D14", kind=OutOfTurn)


@pytest.mark.rule("D49")
def test_in_generalrams_the_announcer_leads():
    t = three(words="join generalrams join")
    t.refused(Play(seat=P1, card=t.hand(P1)[0]), code="not_on_lead", rule="D49", kind=OutOfTurn)
    t.plays(t.hand(P2)[0])


@pytest.mark.rule("D57", "D3")
def test_the_winner_of_a_trick_leads_to_the_next():
    t = three("S7 S8 S9 H7 H8", "SA SK HA HK DA", "ST SJ HT HJ DT")
    taken = t.plays("S7 SA SJ").made[-1]
    assert taken == TrickTaken(seat=P2, trick=1)
    t.refused(Play(seat=P1, card="S8"), code="not_on_lead", rule="D57", kind=OutOfTurn)
    events = t.plays("HA HJ H7 SK ST S8 HK HT H8 DA DT S9").made
    assert PlayEnded(kind="played") in events
    assert t.line.tricks == (0, 5, 0)


# Cards that may be played


@pytest.mark.rule("D50")
def test_follow_suit():
    assert duty("S7 S8 H8 C8 D8", "S", "SQ") == {"S7", "S8"}


@pytest.mark.rule("D51")
def test_trump_when_one_cannot_follow():
    assert duty("H8 C8 C9 D8 D9", "S", "SQ") == {"C8", "C9"}


@pytest.mark.rule("D52", "D53")
def test_head_the_trick_when_one_can():
    assert duty("S7 SK SA H8", "S", "SQ") == {"SK", "SA"}
    assert duty("C8 CT CQ H8", "S", "C9") == {"CT", "CQ"}
    assert duty("C8 CT CQ H8", "C", "C9") == {"CT", "CQ"}


@pytest.mark.rule("D53", "D-O20")
def test_a_player_who_cannot_overtrump_trumps_low_and_a_trumped_suit_is_just_followed():
    assert duty("C8 C9 H8 D8", "S", "CT") == {"C8", "C9"}
    assert duty("S7 SA C8 H8", "S", "CT") == {"S7", "SA"}


@pytest.mark.rule("D54")
def test_with_neither_any_card():
    assert duty("H8 HA D8", "S", "SQ") == {"H8", "HA", "D8"}
    assert duty("H8 HA D8", "C", "CQ") == {"H8", "HA", "D8"}
    assert set(texts_of(playable_cards(cards_of(["H8", "C8"]), 0, 0, CLUBS))) == {"H8", "C8"}


@pytest.mark.rule("D55", "D56", "D8")
def test_trumps_and_higher_cards_of_the_suit_head_the_trick():
    def takes(card: str, best: str) -> bool:
        return beats_best(BIT[card], BIT[best], CLUBS)

    assert takes("SA", "SK")
    assert not takes("ST", "SJ")
    assert not takes("HA", "S7")
    assert takes("C7", "SA")
    assert takes("CT", "C9")
    assert not takes("C8", "C9")


@pytest.mark.rule("D55", "D56")
def test_the_highest_trump_takes_the_trick():
    t = three("SA S8 S9 H7 H8", "C8 D7 D8 D9 H9", "C9 DA DK DQ HT")
    assert t.plays("SA C8 C9").made[-1] == TrickTaken(seat=P3, trick=1)


@pytest.mark.rule("D50", "D51", "D53", "D68")
def test_a_card_against_the_duties_is_refused_with_the_reason():
    t = three("SQ S8 S9 H7 H8", "SK S7 C8 D8 D9", "C9 CT HA HK HQ")
    t.plays("SQ")
    refusal = t.refused(Play(seat=P2, card="D8"), code="must_follow_suit", rule="D50", kind=AgainstTheRules)
    assert refusal.facts == {"allowed": ("SK",)}
    t.refused(Play(seat=P2, card="S7"), code="must_head", rule="D53", kind=AgainstTheRules)
    t.refused(Play(seat=P2, card="C8"), code="must_follow_suit", rule="D50", kind=AgainstTheRules)
    t.refused(Play(seat=P2, card="SA"), code="not_held", rule=None, kind=NoSuchCard)
    t.plays("SK")
    t.refused(Play(seat=P3, card="HA"), code="must_trump", rule="D51", kind=AgainstTheRules)
    t.plays("CT")
    t = three("S8 S9 H7 H8 H9", "C9 D8 D9 DT DJ", "C8 CT HA HK HQ")
    t.plays("S8 C9")
    t.refused(Play(seat=P3, card="C8"), code="must_head", rule="D53", kind=AgainstTheRules)


@pytest.mark.rule("D50", "D51", "D53")
def test_which_duty_is_broken():
    spades = SUIT["S"]

    def rule(hand: str, card: str) -> str:
        return broken_rule(cards_of(hand.split()), BIT[card], spades, CLUBS)

    assert rule("S7 SA D7", "D7") == "D50"
    assert rule("S7 SA D7", "S7") == "D53"
    assert rule("C8 CA D7", "C8") == "D53"
    assert rule("C8 CA D7", "D7") == "D51"


@pytest.mark.rule("D58", "D36")
def test_play_stops_when_the_generalrams_is_lost():
    t = three("SA S7 H7 H8 H9", "SK SQ HA HK HQ", "S8 S9 D7 D8 D9", words="generalrams join join")
    t.plays("SA SK S9")
    events = t.plays("S7 SQ S8").made
    assert events[1:3] == (TrickTaken(seat=P2, trick=2), PlayEnded(kind="generalrams_lost"))
    assert t.line.tricks == (1, 1, 0)


@pytest.mark.rule("D36", "D62")
def test_all_five_tricks_win_it():
    t = three("SA SK SQ SJ ST", "S7 H7 H8 H9 HT", "S8 D7 D8 D9 DT", words="generalrams join join", turn_up="CA")
    t.plays("SA S7 S8 SK H7 D7 SQ H8 D8 SJ H9 D9")
    assert PlayEnded(kind="generalrams_won") in t.plays("ST HT DT").made


# Faults that are not refused


@pytest.mark.rule("D68", "D-O24", "D-O16")
def test_if_faults_stand_they_are_hidden_until_the_deal_is_scored():
    t = three("SQ S8 S9 H7 H8", "SK S7 C8 D8 D9", "C9 CT HA HK HQ", enforcement="penalise")
    t.plays("SQ")
    (played,) = t.plays("D8").made
    assert isinstance(played, CardPlayed)
    (breach,) = played.breaches
    lead = len(t.history) - 1
    assert (breach.offence, breach.rule, breach.seat, breach.points) == ("revoke", "D50", P2, 5)
    assert breach.shown_by == (lead,)
    assert as_seen_by(played, P3, public=False) == CardPlayed(seat=P2, card="D8")
    assert t.seen(P3).breaches is None
    assert [shown["rule"] for shown in t.seen("official").breaches or ()] == ["D50"]
    (thrown, *_) = t.plays("HA").made
    assert isinstance(thrown, CardPlayed)
    assert [(breach.offence, breach.rule) for breach in thrown.breaches] == [("revoke", "D51")]
    assert t.winners[0] == P1  # the trick is not changed


@pytest.mark.rule("D68", "D53", "D-O24")
def test_not_heading_is_a_fault():
    t = three("SQ S8 S9 H7 H8", "SK S7 C8 D8 D9", "C9 CT HA HK HQ", enforcement="penalise")
    t.plays("SQ")
    (played,) = t.plays("S7").made
    assert isinstance(played, CardPlayed)
    assert [(breach.offence, breach.rule) for breach in played.breaches] == [("not_heading", "D53")]


@pytest.mark.rule("D-O24")
def test_there_is_no_knocking_in_rams():
    for t in (Table(3), three(enforcement="penalise"), three()):
        t.refused(Knock(seat=P1, accused=P2), code="no_knocking", rule="D-O24", kind=WrongPhase)


@pytest.mark.rule("D-O24")
def test_any_seat_has_the_deal_scored():
    t = three("SA SK SQ SJ ST", "S7 H7 H8 H9 HT", "S8 D7 D8 D9 DT", turn_up="CA", enforcement="penalise")
    t.refused(Score(seat=P1), code="wrong_phase", rule="D-O24", kind=WrongPhase)
    t.plays("SA S7 S8 SK H7 D7 SQ H8 D8 SJ H9 D9 ST HT DT")
    assert [t.legal(seat) for seat in range(3)] == [(Score(seat=seat),) for seat in range(3)]
    assert t.to_act == (P1, P2, P3)
    t.refused(t.deal_of(), code="deal_not_scored", rule="D-O24", kind=WrongPhase)
    t.refused(Play(seat=P1, card="SA"), code="wrong_phase", rule="D48", kind=WrongPhase)
    assert t.score(P2).kind == "played"


@pytest.mark.rule("D68", "D-O26")
def test_an_exposed_card_is_reported_by_the_table():
    t = Table(4, enforcement="penalise", pot=5)
    t.deal()
    t.refused(Report(seat=P1, accused=P1, fault="exposed_card"), code="play_not_begun", rule="D68", kind=WrongPhase)
    t.say("join join lie_down join")
    t.refused(
        Report(seat=P1, accused=P3, fault="exposed_card"),
        code="accused_not_in_play",
        rule="D68",
        kind=AgainstTheRules,
    )
    (reported,) = t.report(P2, "exposed_card", seat=P3)
    assert as_seen_by(reported, P1, public=False).breaches == ()
    for fault in ("wrong_count", "led_out_of_turn"):
        t.report(P2, fault)
    breaches = t.seen("official").breaches or ()
    assert [(breach["offence"], breach["rule"]) for breach in breaches] == [
        ("exposed_card", "D68"),
        ("wrong_count", "D68"),
        ("led_out_of_turn", "D68"),
    ]


@pytest.mark.rule("D-O24", "D-O26")
def test_if_faults_are_refused_nothing_is_punished():
    t = three()
    t.refused(
        Report(seat=P1, accused=P2, fault="exposed_card"), code="nothing_to_punish", rule="D-O24", kind=WrongPhase
    )


@pytest.mark.rule("D14", "D-O26")
def test_a_lead_out_of_turn_is_refused_in_both_enforcements():
    for enforcement in ("refuse", "penalise"):
        t = three(enforcement=enforcement)
        t.refused(Play(seat=P2, card=t.hand(P2)[0]), code="not_on_lead", rule="D48", kind=OutOfTurn)


def test_acts_of_other_games_and_of_unknown_seats_are_refused():
    t = three()
    t.refused(Cut(seat=P1), code="not_in_this_game", rule=None, kind=WrongPhase)
    t.refused(Play(seat=7, card="SA"), code="no_such_seat", rule=None, kind=NotInPlay)
    assert t.legal(7) == t.legal("spectator") == ()


def test_no_card_is_played_before_all_have_spoken():
    t = Table(3)
    t.refused(Play(seat=P1, card="SA"), code="wrong_phase", rule="D48", kind=WrongPhase)
    t.deal()
    t.refused(Play(seat=P1, card=t.hand(P1)[0]), code="play_not_begun", rule="D48", kind=WrongPhase)


# Closed hands


def closed(*, enforcement: str = "penalise", words: str = "join join join", **options: object) -> Table:
    """Return a table of three closed hands: clubs are trumps, P3 has dealt."""
    t = Table(3, enforcement=enforcement, **options)
    t.closed_deal("C7")
    t.say(words)
    return t


def shown(t: Table) -> list[tuple[str, int]]:
    """Return rule and points of the faults on record."""
    return [(breach["rule"], breach["points"]) for breach in t.seen("official").breaches or ()]


@pytest.mark.rule("D-O24", "D50", "D51", "D53")
@pytest.mark.parametrize(
    ("cards", "rule"),
    [
        ("SA H7 S8 SK S7", "D50"),  # P2 had a spade after all
        ("SA H7 S8 SK C8", "D51"),  # P2 had a trump
        ("SJ S7 S8 HJ H7", None),
        ("SJ S7 S8 SA SK", "D53"),  # P2 could have headed the jack; P1 leads, having won
        ("SJ C9 C8 H7 CA", "D53"),  # P3 could have overtrumped; P2 won and leads
        ("SJ C9 S8 H7 S9 SA", None),  # a trumped suit need not be headed
        ("C9 H7 C8 CT CA", "D50"),  # when trumps are led, not to play one is not to follow suit
    ],
)
def test_with_closed_hands_later_cards_show_a_fault(cards: str, rule: str | None):
    t = closed()
    t.plays(cards)
    assert shown(t) == ([] if rule is None else [(rule, 5)])
    if rule:
        last = t.history[-1].event
        assert isinstance(last, CardPlayed)
        assert len(last.breaches[0].shown_by) == 2  # the lead, and the card that claimed otherwise


@pytest.mark.rule("D-O24")
def test_if_faults_are_refused_a_shown_one_costs_nothing():
    t = closed(enforcement="refuse")
    t.plays("SA H7 S8 SK S7")
    assert shown(t) == [("D50", 0)]
    t.plays("S9 SQ HT H8 HJ HQ H9 SJ ST D7")
    assert t.line.detail["faults"] == {}


@pytest.mark.rule("D6", "D7", "D46")
def test_with_closed_hands_a_card_is_seen_once():
    t = closed()
    t.refused(Play(seat=P1, card="C7"), code="card_seen", rule="D6", kind=NoSuchCard)
    t.refused(Play(seat=P1, card="C6"), code="not_in_pack", rule="D7", kind=NoSuchCard)
    t.exchange("SA")
    assert "C7" in t.may_hold(P3)
    t.plays("H7")
    t.refused(Play(seat=P2, card="H7"), code="card_seen", rule="D6", kind=NoSuchCard)
    t.plays("H8")
    t.refused(Play(seat=P3, card="SA"), code="card_seen", rule="D6", kind=NoSuchCard)
    t.plays("C7")


@pytest.mark.rule("D46")
def test_the_last_card_of_a_closed_hand_is_the_turned_up_card_that_the_dealer_took():
    t = closed()
    t.exchange("SA")
    t.plays("HA H7 H8 HK H9 HT HQ HJ D7 DA D8 D9 DK DT")
    assert [act.card for act in t.legal(P3) if isinstance(act, Play)] == ["C7"]
    t.refused(Play(seat=P3, card="S9"), code="turn_up_still_held", rule="D46", kind=NoSuchCard)
    t.plays("C7")


@pytest.mark.rule("D46")
def test_the_last_card_may_be_any_unseen_one_after_the_turned_up_card_was_played():
    t = closed()
    t.exchange("SA")
    t.plays("HA H7 C7 H8 HK H9 HQ HJ HT DA D8 D9 DK DT")
    assert len([act for act in t.legal(P3) if isinstance(act, Play)]) > 1
    t.plays("S9")


@pytest.mark.rule("D46")
def test_a_dealer_who_did_not_exchange_may_have_any_last_card():
    t = closed()
    t.plays("HA H7 H8 HK H9 HT HQ HJ D7 DA D8 D9 DK DT S9")
    assert t.happened(PlayEnded)[-1].kind == "played"


@pytest.mark.rule("D26", "D30")
def test_with_closed_hands_the_widow_stays_closed():
    t = closed(words="widow join join")
    declared = next(r.event for r in t.history if type(r.event).__name__ == "Declared")
    assert declared.hand is None


@pytest.mark.rule("D-O15", "D-O24")
def test_a_fault_of_the_announcer_ends_play_with_the_trick():
    t = closed(words="generalrams join join")
    t.plays("SA S8 S9 SK ST SJ")
    assert len(t.winners) == 2
    t.report(P1, "exposed_card", seat=P2)
    t.plays("H7 D7")
    assert t.plays("D8").made[-1] == PlayEnded(kind="generalrams_lost")
