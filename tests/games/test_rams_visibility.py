"""The visibility of cards in Rams (D20, D26, D46, D-O24)."""

import pytest

from referee.acts import Abandon, Close, Draw, Play
from referee.games.rams_english.states import Declared, TurnUpTaken
from referee.visibility import as_seen_by
from tests.games.rams_table import Table
from tests.support.match_driver import P1, P2, P3, P4, pairs


def more(t: Table, viewer: object) -> dict[str, object]:
    shown = t.seen(viewer).more
    assert shown is not None
    return shown


@pytest.mark.rule("D11", "D-O28")
def test_before_and_after_the_deals_there_is_only_the_pot():
    t = Table(3, dealer=None, pot=10)
    t.do(Draw(seat=P1, card="H9"))
    assert more(t, P1) == {"pot": 10, "drawn": [{"seat": P1, "card": "H9"}]}
    assert t.seen(P1).dealer is None
    assert t.legal("official") == (Close(), Abandon())
    t.do(Draw(seat=P2, card="HJ"))
    view = t.seen("spectator")
    assert (view.phase, view.dealer, view.to_act, view.more) == ("undealt", P2, (P2,), {"pot": 10})
    assert (view.hand, view.cards_left, view.bids) == (None, None, None)


@pytest.mark.rule("D20", "D26", "D46")
def test_the_view_shows_open_cards_and_hides_the_others():
    t = Table(4, pot=5)
    t.deal("SA SK SQ SJ ST", "", "", "CA CK CQ CJ CT", widow="HA HK HQ HJ HT", turn_up="C7")
    t.say("widow lie_down join join")
    t.exchange("CT")
    shown = more(t, P2)
    assert shown == {
        "pot": 10,
        "single": False,
        "turn_up": "C7",
        "joined": [P1, P3, P4],
        "lie_down": [P2],
        "widow": P1,
        "announcer": None,
        "exchanged": True,
        "in_play": [P1, P3, P4],
    }
    taken = next(r.event for r in t.history if isinstance(r.event, Declared))
    assert as_seen_by(taken, P1, public=False) == taken
    assert as_seen_by(taken, P2, public=False) == Declared(seat=P1, word="widow")
    assert as_seen_by(taken, "spectator", public=True) == taken
    swapped = next(r.event for r in t.history if isinstance(r.event, TurnUpTaken))
    assert as_seen_by(swapped, P4, public=False) == swapped
    assert as_seen_by(swapped, P1, public=False) == TurnUpTaken(seat=P4, card="C7")
    assert as_seen_by(swapped, P1, public=True) == as_seen_by(swapped, "official", public=False) == swapped


def test_officials_see_everything():
    t = Table(4)
    t.deal("SA SK SQ SJ ST", widow="HA HK HQ HJ HT", turn_up="C7")
    assert more(t, "official")["widow_cards"] == ["HT", "HJ", "HQ", "HK", "HA"]
    hands = t.seen("official").hands
    assert hands is not None
    assert hands[P1] == ("ST", "SJ", "SQ", "SK", "SA")
    assert t.seen("official").hand is None


@pytest.mark.rule("D35", "D38")
def test_bids_contract_and_declarer_are_shown():
    t = Table(3)
    t.deal()
    t.say("join generalrams")
    view = t.seen(P1)
    assert pairs(view.bids) == ((P1, "join"), (P2, "generalrams"))
    assert (view.contract, view.declarer, view.to_act) == ("generalrams", P2, (P3,))
    t.say("widow")
    t.plays(t.hand(P2)[0])
    view = t.seen(P1)
    assert view.cards_left == (5, 4, 5)
    assert (view.trick, view.tricks) == ([{"seat": P2, "card": t.history[-1].event.card}], (0, 0, 0))


@pytest.mark.rule("D-O4", "D-O24")
def test_a_fault_reported_before_a_late_generalrams_stands():
    t = Table(3, enforcement="penalise")
    t.deal()
    t.say("join join join")
    t.report(P1, "exposed_card")
    t.say("P3:generalrams")
    assert [breach["seat"] for breach in t.seen("official").breaches or ()] == [P1]
    t.do(Play(seat=P3, card=t.hand(P3)[0]))
    assert len(t.seen().breaches or ()) == 1
