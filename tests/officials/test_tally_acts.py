"""Deals of a tally in the three Rödskägg games: knocks for errors, and deals act by act."""

import pytest

from referee.acts import (
    Announce,
    Answer,
    Ask,
    Cut,
    Deal,
    Draw,
    KeepCards,
    Knock,
    KnockForCards,
    KnockOut,
    PickUp,
    Play,
    Report,
    RequestCards,
    Score,
    Trick,
)
from referee.events import KnockUpheld, PenaltyImposed, TrickTaken
from referee.games._rodskagg.facts import KnockedOut
from referee.refusals import NotInPlay
from referee.requests import Request
from referee.visibility import as_seen_by
from tests.games.rodskagg import penalising
from tests.officials.rodskagg_tallies import (
    ALGA,
    CATS,
    KORTOXEN,
    PASSED,
    SHEETS,
    SISTERS,
    at_the_question,
    points_after,
    refused,
    result,
    sent,
    tally,
)
from tests.officials.wrong_and_right_sheets import CX1, X1
from tests.support.match_driver import P1, P2, P3, P4, seats_and
from tests.support.random_tallies import line_of

# Knocks


@pytest.mark.rule("B11", "B12", "B-O40")
def test_a_knock_for_an_error_outside_the_tally_reports_it_first():
    match = tally()
    knock = {"seat": 0, "accused": 1, "offence": "revoke", "after": 5, "note": "klöver fanns"}
    events = match.do(result(**X1, knocks=[knock]))
    topics = [event.TOPIC for event in events]
    assert topics.index("fault/reported") == topics.index("knock/upheld") - 1
    (ruling,) = [event for event in events if isinstance(event, KnockUpheld)]
    assert (ruling.rule, ruling.payer, ruling.penalty, ruling.note) == ("B42", P2, 5, "klöver fanns")
    assert match.state.table.points == (11, 16, 8, 12)


@pytest.mark.rule("B-O3", "B-O32")
def test_a_knock_that_the_table_found_wrong_may_cost_a_fine():
    knock = {"seat": 0, "accused": 1, "offence": "revoke", "upheld": False}
    assert points_after(tally(), **X1, knocks=[knock]) == (11, 11, 8, 12)
    assert points_after(tally(false_knock_penalty=5), **X1, knocks=[knock]) == (16, 11, 8, 12)


@pytest.mark.rule("B-O27", "B-O31")
@pytest.mark.parametrize("fine", [0, 5])
def test_an_exit_knock_in_vain_is_entered_as_a_knock_on_oneself(fine: int):
    knock = {"seat": 0, "accused": 0, "offence": "exit_knock", "after": 4, "upheld": False}
    match = tally(false_knock_penalty=fine)
    events = match.do(result(**X1, knocks=[knock]))
    assert KnockedOut(seat=0, valid=False) in events
    assert match.state.table.points == (11 + fine, 11, 8, 12)


@pytest.mark.rule("B67", "B-O31")
def test_a_vain_exit_knock_of_a_seat_at_zero_is_refused():
    sheet = {
        "bids": [{"seat": 0, "bid": "2"}, *PASSED[1:]],
        "tricks": [1, 1, 0, 0, 3, 2],
        "answers": seats_and("answer", [2, "play"], [3, "play"]),
    }
    knock = {"seat": 1, "accused": 1, "offence": "exit_knock", "after": 2, "upheld": False}
    match = tally(points=(9, 2, 8, 8))
    refusal = refused(match, result(**sheet, knocks=[knock]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("ruling_differs", "B67", "/knocks/0")
    refusal = refused(match, result(**sheet, knocks=[knock | {"upheld": True}]))
    assert (refusal.code, refusal.facts["at"]) == ("knocks_on_oneself", "/knocks/0")


@pytest.mark.rule("B54", "B-O40")
def test_the_table_cannot_dismiss_what_the_tricks_show():
    knock = {"seat": 0, "accused": 2, "offence": "fold_question", "upheld": False}
    sheet = {**X1, "asked": False, "answers": [], "knocks": [knock]}
    refusal = refused(tally(), result(**sheet))
    assert (refusal.code, refusal.facts["at"], refusal.facts["verdict"]) == ("ruling_differs", "/knocks/0", "upheld")


@pytest.mark.rule("B-O2", "C61", "B-O40", "C-O36")
@pytest.mark.parametrize("key", [KORTOXEN, CATS])
def test_how_late_one_may_knock_is_the_tables_affair(key: str):
    sheet = {**SHEETS[key], "asked": False, "answers": []}
    accused = P3 if key == KORTOXEN else P1
    knock = {"seat": 3, "accused": accused, "offence": "fold_question"}
    options = {"knock_window": "next_trick"} | ({"fem_opp": True} if key == CATS else {})
    with_it = points_after(tally(key, **options), **sheet, knocks=[knock])
    assert with_it[accused] == points_after(tally(key, **options), **sheet)[accused] + 5


@pytest.mark.rule("C49", "C60", "C-O36")
def test_in_fem_opp_a_neglected_announcement_is_a_knock_like_any_other():
    match = tally(CATS, points=(12, 12, 4, 12), fem_opp=True)
    knock = {"seat": 0, "accused": 2, "offence": "near_zero", "after": 5}
    events = match.do(result(**CX1, knocks=[knock]))
    assert [event.rule for event in events if isinstance(event, KnockUpheld)] == ["C49"]
    assert match.state.table.points == (10, 11, 4 + 5 - 3, 12)


# Act by act


@pytest.mark.rule("B44", "B47", "B52")
def test_a_trick_is_anybodys_who_plays_on_once_all_have_answered():
    match = at_the_question()
    match.do(Ask(seat=P3), Answer(seat=P4, answer="fold"))
    assert refused(match, Trick(seat=P3)).code == "answers_pending"
    match.do(Answer(seat=P2, answer="play"))
    refusal = refused(match, Trick(seat=P4))
    assert isinstance(refusal, NotInPlay)
    assert (refusal.code, refusal.rule) == ("has_folded", "B52")
    events = match.do(Trick(seat=P2), Trick(seat=P3), Score(seat=P1))
    assert line_of(events)[0].points == (11, 11, 8, 12)


@pytest.mark.rule("B48", "B54")
def test_a_trick_passes_over_the_question_and_only_officials_see_it():
    match = at_the_question()
    (taken,) = match.do(Trick(seat=P2))
    assert isinstance(taken, TrickTaken)
    (breach,) = taken.breaches
    assert (breach.offence, breach.seat, breach.rule, breach.closes_after) == ("fold_question", P3, "B54", None)
    assert as_seen_by(taken, P1, False).breaches == ()
    assert as_seen_by(taken, "official", False) == taken
    upheld, fine = match.do(Knock(seat=P1, accused=P3))
    assert isinstance(upheld, KnockUpheld)
    assert upheld.rests_on[-1] == match.version - 2
    assert isinstance(fine, PenaltyImposed)


@pytest.mark.parametrize("key", SISTERS)
def test_the_listed_acts_need_no_cards_or_ritual(key: str):
    """The seats that may have taken the trick are awaited; no act asks for cards, a ritual or new hands."""
    match = tally(key, **({} if key == ALGA else {"deal_ritual": True}), honour_redeal=True)
    rules = match.rules
    assert rules.legal(match.state, P4) == (Deal(seat=P4),)
    match.do(Deal(seat=P4), *(sent({"act": "bid", **bid}) for bid in SHEETS[key]["bids"]))
    assert rules.to_act(match.state) == (P1, P2, P3, P4)
    for seat in range(4):
        assert rules.legal(match.state, seat) == (Trick(seat=seat),)
    assert rules.view(match.state, P1).hand is None


NO_PLACE = (
    Cut(seat=P4),
    KnockForCards(seat=P4),
    PickUp(seat=P1),
    RequestCards(seat=P1),
    KeepCards(seat=P1),
    Draw(seat=P1),
    Announce(seat=P1, what="near_zero"),
)


@pytest.mark.parametrize("act", NO_PLACE, ids=lambda act: type(act).__name__)
@pytest.mark.parametrize("key", SISTERS)
def test_there_is_no_ritual_and_no_new_hand(key: str, act: Request):
    match = tally(key, points=(1, 12, 12, 12), **({} if key == ALGA else {"deal_ritual": True}), honour_redeal=True)
    for _ in range(2):
        assert refused(match, act).code
        if match.state.__struct_config__.tag == "undealt":
            match.do(Deal(seat=P4))


@pytest.mark.parametrize("key", SISTERS)
def test_cards_are_never_entered(key: str):
    match = tally(key)
    hands = tuple(("SA",) * 6 for _ in range(4))
    assert refused(match, Deal(seat=P4, hands=hands)).code == "cards_not_entered"
    assert refused(match, Deal(seat=P4, counts=(6, 6, 6, 5))).code == "six_cards_each"
    match.do(Deal(seat=P4, counts=(6, 6, 6, 6)))
    match.do(*(sent({"act": "bid", **bid}) for bid in SHEETS[key]["bids"]))
    for seat in range(4):
        assert refused(match, Play(seat=seat, card="SA")).code == "tallied"
    assert refused(match, Trick(seat=P1, second=P2)).code == "second_not_entered"


@pytest.mark.rule("B42", "B-O40")
def test_a_revoke_is_reported_only_in_a_tally():
    match = at_the_question()
    (reported,) = match.do(Report(seat=P1, accused=P2, fault="revoke"))
    assert reported.breaches[0].rule == "B42"
    assert refused(match, Report(seat=P3, accused=P2, fault="revoke")).code == "already_reported"
    with_cards = penalising().dealt("3 1 3 3 | 2 3").bid("2 pass 3 pass")
    with_cards.refused(Report(seat=P1, accused=P2, fault="revoke"), rule="B42", code="cards_tell")


@pytest.mark.rule("B67")
def test_an_exit_in_vain_costs_what_the_table_agreed_act_by_act():
    match = at_the_question()
    match.do(KnockOut(seat=P1))
    assert match.state.exits.knocked == ()
