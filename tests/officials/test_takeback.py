"""J11: the last act is taken back if it has shown no player anything, and all others agree."""

from contextlib import closing
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from projections import pots, protocols
from referee import notation
from referee.actors import actor_at
from referee.acts import (
    Bid,
    Cut,
    Deal,
    Discard,
    Entropy,
    Exchange,
    KeepCards,
    Knock,
    KnockForCards,
    KnockOut,
    PickUp,
    Report,
    RequestCards,
    TakeBack,
    Void,
)
from referee.admission import IssueToken
from referee.cards import PACK
from referee.events import Adjudication, DealScored, PenaltyImposed, TokenMade
from referee.games import RULESETS
from referee.officials import takeback
from referee.officials.events.corrections import lines_as_corrected
from referee.officials.events.takeback import ActTakenBack, TakeBackAsked
from referee.officials.rescoring import rescore, script
from referee.officials.state import status_at
from referee.refusals import Refused
from referee.requests import OpenCase, Statement
from referee.ruleset import Moment
from referee.store.aggregate import fold
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.store import construct
from referee.visibility import as_seen_by
from tests.games.rodskagg import NO_ACE_NOR_COURT
from tests.officials.attended_match import TAKES_BACK, Attending
from tests.officials.random_corrections import bare
from tests.support.edited_stores import differences
from tests.support.match_driver import NOON, deal
from tests.support.random_matches import deal_of, opened, opening, send

KORTOXEN = "rodskagg-kortoxen"
pytestmark = [pytest.mark.rule("J11")]

HANDS = deal("SA SK SQ SJ ST S9 | HA HK HQ HJ HT H9 | DA DK DQ DJ DT D9 | CA CK CQ CJ CT C9")
DIGITS = "5f0c3a91d2e84b7706b1a4c9e3d85f20"
HOUSE = {"ruleset": KORTOXEN, "deal_ritual": False}


def bidding(**kwargs: Any) -> Attending:
    """Return a match in which the cards are dealt, seat 1 has bid two, and seat 2 bids next."""
    table = Attending(**(HOUSE | kwargs))
    table.do(Deal(seat=0), Bid(seat=1, bid="2"))
    return table


def back(seat: int) -> TakeBack:
    return TakeBack(seat=seat)


class TestAllAgree:
    def test_the_last_to_agree_takes_it_back(self) -> None:
        table = bidding()
        before = table.match.play
        table.do(Bid(seat=2, bid="3"))
        number = table.version
        assert table.do(back(2)) == (TakeBackAsked(seat=2, first=number, last=number),)
        table.do(back(0), back(1))
        assert table.match.play.to_speak[0] == 3, "the act counts until all seats have agreed"
        agreement, done = table.do(back(3))
        assert agreement == TakeBackAsked(seat=3, first=number, last=number)
        assert done == ActTakenBack(case=1, first=number, last=number, seat=2)
        assert like(table.match.play, before)
        table.do(Bid(seat=2, bid="pass"))

    def test_a_seat_asks_only_for_its_own_act(self) -> None:
        table = bidding()
        assert table.refused(back(2), "not_your_act").facts == {"seat": 1}

    def test_a_seat_agrees_once(self) -> None:
        table = bidding()
        table.do(back(1), back(3))
        assert table.refused(back(1), "take_back_asked").facts == {"pending": (0, 2)}
        assert table.refused(back(3), "take_back_asked").facts == {"pending": (0, 2)}

    def test_another_act_withdraws_the_asking(self) -> None:
        table = bidding()
        table.do(back(1), back(2), Bid(seat=2, bid="pass"))
        assert table.match.docket.last.asked == ()
        table.refused(back(3), "not_your_act")
        table.do(back(2), back(0), back(1), back(3))
        assert table.match.play.to_speak[0] == 2, "that act, and not the one before it"

    def test_only_one_act(self) -> None:
        table = bidding()
        table.do(Bid(seat=2, bid="pass"), *map(back, (2, 0, 1, 3)))
        table.refused(back(1), "nothing_to_take_back")

    def test_an_eliminated_seat_is_not_asked(self) -> None:
        table = bidding()
        play = table.match.play
        state = replace(play, table=replace(play.table, active=(0, 1, 2)))
        state = replace(table.match.state, play=state)
        assert takeback.seats_to_agree(state) == (0, 1, 2)
        with pytest.raises(Refused, match="eliminated"):
            takeback.take_back(table.match.rules, state, back(3), table.moment(3))
        assert takeback.take_back_acts(state, 3) == ()

    def test_no_such_seat(self) -> None:
        bidding().refused(back(4), "no_such_seat", None)

    def test_a_take_back_is_offered_to_seats_that_may_ask(self) -> None:
        table = bidding()

        def offered() -> list[int]:
            return [seat for seat in range(4) if back(seat) in table.match.legal(seat)]

        assert offered() == [1]
        assert back(1) not in table.match.legal("official")
        table.do(back(1))
        assert offered() == [0, 2, 3]
        table.do(back(2))
        assert offered() == [0, 3]


class TestActsThatCanBeTakenBack:
    def test_an_act_that_showed_cards_to_its_seat_cannot_be_taken_back(self) -> None:
        table = Attending(ruleset=KORTOXEN, dealing="table")
        table.do(Cut(seat=0), Deal(seat=0, hands=HANDS))
        assert table.match.legal(0)[-1] == back(0), "the cards lie face down"
        table.do(KnockForCards(seat=0), PickUp(seat=1))
        table.refused(back(1), "seen_already")

    def test_an_act_with_closed_hands_can_be_taken_back(self) -> None:
        table = Attending(ruleset=KORTOXEN, dealing="table")
        table.do(Cut(seat=0), Deal(seat=0, counts=(6, 6, 6, 6)), KnockForCards(seat=0), PickUp(seat=1))
        assert table.match.legal(1)[-1] == back(1), "no seat has seen a card"

    def test_a_card_that_only_one_has_seen(self) -> None:
        table, chance = Attending(ruleset="rams-english", players=3), Random(0)
        while not (exchange := [act for act in table.legal() if isinstance(act, Exchange)]):
            table.do(chance.choice(table.legal()))
        (event,) = table.do(exchange[0])
        assert as_seen_by(event, event.seat, False) != as_seen_by(event, (event.seat + 1) % 3, False)
        table.refused(back(event.seat), "seen_already")

    @pytest.mark.rule("C15")
    @pytest.mark.parametrize("thrown", [(), ("S2",)], ids=["not told", "told"])
    def test_other_seats_do_not_learn_whether_discards_were_entered(self, thrown: tuple[str, ...]) -> None:
        """A closed hand need not name its discards, and the answers to other seats do not show whether it did."""
        table = Attending(ruleset="rodskagg-catsatcards", dealing="table", deal_ritual=False)
        table.do(Deal(seat=0, counts=(6, 6, 6, 6)), RequestCards(seat=1), Discard(seat=1, cards=thrown))
        for request in (back(2), OpenCase(kind="misclick", seat=2)):
            table.refused(request, "not_your_act")
        assert (back(1) in table.match.legal(1)) == (not thrown)

    def test_hands_that_are_up(self) -> None:
        table = Attending(**HOUSE, dealing="table")
        table.do(Deal(seat=0, hands=HANDS))
        table.refused(back(0), "seen_already")

    def test_a_deal_of_the_house_cannot_be_taken_back(self) -> None:
        table = Attending(**HOUSE)
        table.do(Deal(seat=0))
        table.refused(back(0), "seen_already")
        assert back(0) not in table.match.legal(0)

    def test_an_act_that_ends_a_deal_cannot_be_taken_back(self) -> None:
        table = bidding()
        table.do(Void())
        assert table.match.docket.last.seen
        table.refused(back(0), "seen_already")

    def test_before_anything_was_done(self) -> None:
        Attending(**HOUSE).refused(back(0), "nothing_to_take_back")

    def test_an_act_before_a_knock_cannot_be_taken_back(self) -> None:
        table = bidding()
        table.do(Knock(seat=3, accused=1))
        table.refused(back(1), "nothing_to_take_back")

    def test_in_a_match_that_is_over_nothing_is_taken_back(self) -> None:
        table = play_to_the_end()
        table.refused(back(0), "match_over", None)
        assert table.match.legal(0) == ()


@pytest.mark.parametrize("ruleset", [KORTOXEN, "rodskagg-alga"])
class TestARequestForNewCards:
    """A request for new cards may be taken back only until another player has answered."""

    def asking(self, ruleset: str) -> Attending:
        """Return a match in which no seat has an ace or a court card, and seat 1 is the first that may ask for new
        cards."""
        ritual = {"deal_ritual": False} if ruleset == KORTOXEN else {}
        table = Attending(ruleset=ruleset, dealing="table", honour_redeal=True, **ritual)
        stock = tuple(card for card in PACK if not any(card in hand for hand in NO_ACE_NOR_COURT))
        table.do(Deal(seat=0, hands=NO_ACE_NOR_COURT, stock=stock))
        return table

    def test_before_another_has_answered_it_is_taken_back(self, ruleset: str) -> None:
        table = self.asking(ruleset)
        before = table.match.play
        table.do(RequestCards(seat=1), *map(back, (1, 0, 2)))
        (_, done) = table.do(back(3))
        assert isinstance(done, ActTakenBack)
        assert like(table.match.play, before)
        table.do(KeepCards(seat=1))

    @pytest.mark.parametrize("answer", [RequestCards(seat=2), KeepCards(seat=2)])
    def test_after_another_has_answered_it_stands(self, ruleset: str, answer: Any) -> None:
        table = self.asking(ruleset)
        table.do(RequestCards(seat=1), back(1), answer)
        assert back(1) not in table.match.legal(1)
        table.refused(back(1), "not_your_act")
        table.do(*map(back, (2, 0, 1, 3)))
        table.refused(back(1), "nothing_to_take_back")

    def test_when_the_new_cards_have_come_it_stands(self, ruleset: str) -> None:
        table = self.asking(ruleset)
        table.do(KeepCards(seat=1), KeepCards(seat=2), KeepCards(seat=3), RequestCards(seat=0))
        table.refused(back(0), "seen_already")


def play_to_the_end() -> Attending:
    table, chance = Attending(ruleset="rodskagg-alga", points=(3, 3, 3), players=3), Random(3)
    while acts := table.legal():
        table.do(chance.choice(acts))
    return table


class TestNumbersAndTokens:
    def test_a_case_has_the_next_number(self) -> None:
        table = bidding()
        table.do(Knock(seat=3, accused=1), Bid(seat=2, bid="pass"), *map(back, (2, 0, 1)))
        assert table.do(back(3))[-1].case == 2
        assert table.do(Knock(seat=3, accused=1))[0].case == 3

    def test_a_token_stays_replaced(self) -> None:
        table = bidding()
        table.do(IssueToken(seat=2, hash="b" * 64), actor="official")
        assert isinstance(table.events[-1], TokenMade)
        table.do(*map(back, (1, 0, 2, 3)))
        assert table.match.play.to_speak[0] == 1
        assert table.match.seating.seats[2] == "b" * 64

    def test_it_is_a_case_of_its_own_on_which_all_agreed(self) -> None:
        table = bidding()
        table.do(*map(back, (1, 0, 2, 3)))
        docket = table.match.docket
        assert docket is not None
        (case,) = docket.cases
        assert (case.case, case.by, case.kind, case.events) == (1, "seat:1", "misclick", (3,))
        assert (case.verdict, status_at(case, NOON)) == ("upheld", "final")

    def test_cases_stay(self) -> None:
        """A case waits as before, and statements made in it after the act still count."""
        table = Attending(**HOUSE, dealing="tally", enforcement="penalise")
        knock = Knock(seat=0, accused=2, offence="exposed_card")
        table.do(Deal(seat=0, counts=(6, 6, 6, 6)), knock, Bid(seat=1, bid="2"))
        table.do(Statement(case=1, seat=2, agrees=False), back(0))
        first, second = table.match.docket.cases
        assert (first.status, first.said, second.kind) == ("pending", ((2, False),), "misclick")
        assert table.match.play.to_speak[0] == 1
        table.do(Knock(seat=0, accused=3, offence="exposed_card"))
        assert [case.case for case in table.match.docket.cases] == [1, 2, 3]

    def test_a_report_that_a_case_rests_on_stands(self) -> None:
        table = Attending(**HOUSE, dealing="tally", enforcement="penalise")
        table.do(Deal(seat=0, counts=(6, 6, 6, 6)), Report(seat=0, accused=2, fault="exposed_card"))
        assert table.match.legal(0) == (back(0),)
        table.do(Knock(seat=0, accused=2, offence="exposed_card"))
        assert table.match.docket.case(1).events == (3,)
        table.refused(back(0), "nothing_to_take_back")

    def test_an_event_of_the_officials_that_changes_the_game_lets_the_act_stand(self) -> None:
        table = bidding()
        state = table.match.state
        play = state.play
        numbered = replace(play, table=replace(play.table, ledger=replace(play.table.ledger, cases=1)))
        assert takeback.with_last_act_checked(state, replace(state, play=numbered)).docket.last is not None, (
            "only a number"
        )
        poorer = replace(play, table=replace(play.table, points=(0, 0, 0, 0)))
        assert takeback.with_last_act_checked(state, replace(state, play=poorer)).docket.last is None


class TestDocketAfterATakeBack:
    """The docket's facts about the deal go back with the act; cases and the commitment do not."""

    def test_the_cards_were_not_dealt(self) -> None:
        table = Attending(**HOUSE, dealing="tally", enforcement="penalise")
        before = table.match.docket
        table.do(Deal(seat=0, counts=(6, 6, 6, 6)))
        assert table.match.docket.under_way
        table.do(back(0))
        assert of_the_play(table.match) == (before.reports, before.under_way, before.scored) == ((), False, 0)

    def test_nothing_was_reported(self) -> None:
        table = Attending(**HOUSE, dealing="tally", enforcement="penalise")
        table.do(Deal(seat=0, counts=(6, 6, 6, 6)), Bid(seat=1, bid="2"))
        before = of_the_play(table.match)
        table.do(Report(seat=2, accused=2, fault="exposed_card"))
        assert len(table.match.docket.reports) == 1
        table.do(back(2))
        assert of_the_play(table.match) == before == ((), True, 0)

    def test_the_house_stays_committed(self) -> None:
        table = Attending(ruleset=KORTOXEN, shuffle="committed")
        table.do(Entropy(seat=2, hex=DIGITS))
        committed = table.match.docket.shuffle
        table.do(Cut(seat=0))
        table.do(*map(back, (0, 1, 2, 3)))
        assert isinstance(table.events[-1], ActTakenBack)
        assert table.match.docket.shuffle == committed
        table.do(Cut(seat=0), Deal(seat=0))
        assert (table.match.docket.shuffle.commitment.dealt, committed.commitment.dealt) == (True, False)

    def test_digits_added_to_the_shuffle_are_not_taken_back(self) -> None:
        """Other seats have added after it; and the act before it counts."""
        table = Attending(ruleset=KORTOXEN, shuffle="committed")
        table.do(Cut(seat=0))
        assert table.match.legal(0)[-1] == back(0)
        table.do(Entropy(seat=2, hex=DIGITS))
        for seat in (0, 2):
            table.refused(back(seat), "nothing_to_take_back")
        assert table.match.docket.shuffle.commitment.entropy[2] == DIGITS

    def test_while_play_is_held_nothing_is_taken_back(self) -> None:
        table = bidding(adjudication=replace(TAKES_BACK, pending="hold"))
        table.do(OpenCase(kind="misclick", seat=1))
        assert table.refused(back(1), "held", "J5").facts == {"cases": (1,)}
        assert table.match.legal(1) == ()


class TestOpening:
    def test_only_if_errors_are_refused(self) -> None:
        with pytest.raises(Refused) as caught:
            takeback.check_opening(opening(adjudication=TAKES_BACK, enforcement="penalise"))
        assert (caught.value.code, caught.value.rule) == ("take_back_needs_refuse", "J11")
        takeback.check_opening(opening(adjudication=TAKES_BACK, enforcement="refuse"))
        takeback.check_opening(opening(adjudication=Adjudication(officials=("Maja",)), enforcement="penalise"))
        takeback.check_opening(opening(enforcement="penalise"))

    def test_not_if_it_was_not_asked_for(self) -> None:
        for adjudication in (Adjudication(officials=("Maja",)), None):
            table = bidding(adjudication=adjudication)
            table.refused(back(1), "no_taking_back")
            assert back(1) not in table.match.legal(1)
            assert table.match.before_request is None, "an act costs nothing there"

    def test_in_a_tally_no_seat_has_to_agree(self) -> None:
        table = Attending(**HOUSE, dealing="tally", enforcement="penalise")
        takeback.check_opening(table.opened)
        table.do(Deal(seat=0, counts=(6, 6, 6, 6)), Bid(seat=1, bid="2"), Bid(seat=2, bid="3"))
        assert table.match.legal(0) == (back(0),), "any seat may write"
        assert table.do(back(0)) == (ActTakenBack(case=1, first=4, last=4, seat=0),)
        assert table.match.play.to_speak[0] == 2


@pytest.mark.parametrize("ruleset", RULESETS)
def test_at_any_time_in_any_game(ruleset: str) -> None:
    """Random acts are taken back: the game returns to its former state, and no draw is undone.

    A second match has only the acts that count, and the texts of its deals are the same.
    """
    table, alone, chance = Attending(ruleset=ruleset), Attending(ruleset=ruleset), Random(11)
    taken = stands = 0
    for turn in range(150):
        if not (acts := table.legal()):
            break
        act, before, seed = chance.choice(acts), table.match, f"seed {stands}"
        made = table.do(act, seed=seed)
        if takeback.take_back_acts(table.match.state, act.seat):
            moment = Moment(before.version, NOON, "another seed", actor_at(act.seat))
            assert before.procedure.take(before.state, act, moment)[0] == made, "chance had no part in it"
            if turn % 3 == 0:
                others = [seat for seat in table.match.play.table.active if seat != act.seat]
                table.do(*map(back, (act.seat, *others)))
                assert like(table.match.play, before.play)
                assert of_the_play(table.match) == of_the_play(before)
                taken += 1
                continue
        stands += 1
        alone.do(act, seed=seed)
    assert taken > 10
    assert fold(None, table.history) == table.match, "folded as a whole it is the same"
    undone = [event for event in table.events if isinstance(event, ActTakenBack)]
    assert [event.case for event in undone] == list(range(1, taken + 1))
    deals = sum(isinstance(event, DealScored) for event in table.events)
    assert deals, "some were scored"
    rescored, rules = rescore(table.match.rules, table.history), table.match.rules
    assert rescored.lines == lines_as_corrected(table.history), "scoring again gives the recorded lines"
    assert like(rescored.state, table.match.play)
    late = script(1, (PenaltyImposed(seat=0, points=5, rule="J9"),))
    corrected, other = (rescore(rules, one.history, (late,), (), 10_000) for one in (table, alone))
    assert [bare(line) for line in corrected.lines.values()] == [bare(line) for line in other.lines.values()]
    assert (len(corrected.struck), corrected.dependent) == (len(other.struck), other.dependent)
    for number in range(1, 1 + deals):
        assert text_of(table, number) == text_of(alone, number)


def like(state: Any, before: Any) -> bool:
    """Return whether two states of the game are equal, apart from the number of the last case."""
    return bool(replace_ledger(state, cases=before.table.ledger.cases) == before)


def replace_ledger(state: Any, **changes: Any) -> Any:
    return replace(state, table=replace(state.table, ledger=replace(state.table.ledger, **changes)))


def of_the_play(match: Match) -> tuple[Any, ...]:
    """Return the parts of the docket that follow from the play."""
    docket = match.docket
    assert docket is not None
    return docket.reports, docket.under_way, docket.scored


def text_of(table: Attending, number: int) -> str:
    return notation.write(deal_of(table.opened, table.history, number))


def test_the_books_forget_what_lay_in_the_pot() -> None:
    """The stake of Rams goes into the pot with the deal; when the deal is taken back it leaves the pot."""
    table = Attending(ruleset="rams-english", dealing="table", players=3)
    table.do(Deal(seat=0, counts=(5, 5, 5), turn_up="SA"))
    pot = pot_of(table)
    assert pot.pending
    table.do(*map(back, (0, 1, 2)))
    assert pot_of(table).pending == ()
    table.do(Deal(seat=0, counts=(5, 5, 5), turn_up="HA"))
    assert [one.units for one in pot_of(table).pending] == [one.units for one in pot.pending]


def pot_of(table: Attending) -> Any:
    pot = None
    for recorded in table.history:
        pot = pots.after_event(pot, recorded)
    return pot


def test_the_protocol_forgets_what_an_act_cost() -> None:
    """A false "knack för min utgång" costs points at once (B-O31): in a tally it may have been written by mistake."""
    table = Attending(**HOUSE, dealing="tally", enforcement="penalise", false_knock_penalty=5)
    table.do(Deal(seat=0, counts=(6, 6, 6, 6)), Bid(seat=1, bid="2"), *(Bid(seat=s, bid="pass") for s in (2, 3, 0)))
    table.do(KnockOut(seat=2))

    def pending() -> list[int]:
        sheet = None
        for recorded in table.history:
            sheet = protocols.after_event(sheet, recorded)
        assert sheet is not None
        return [one.points for one in sheet.pending]

    assert pending() == [5]
    table.do(back(2))
    assert pending() == []
    assert table.match.rules.view(table.match.play, 0).penalties == (0, 0, 0, 0)


def test_stores_keep_what_an_act_can_be_taken_back_to(store_url: str) -> None:
    """A snapshot in between, a second process, and the verification of the rows."""
    with construct(store_url) as referee, closing(Desk(referee)) as desk, closing(Desk(referee)) as other:
        match_id = opened(desk, adjudication=TAKES_BACK, enforcement="refuse", deal_ritual=False)
        for act in (Deal(seat=0), Bid(seat=1, bid="2"), back(1)):
            send(desk, match_id, act)
        before = referee.replay(match_id, at=desk.get(match_id).version - 2)
        referee.take_snapshots([referee.load(match_id)])
        loaded = referee.load(match_id)
        assert loaded.kept == loaded.aggregate.version
        assert loaded.aggregate == desk.get(match_id)
        send(other, match_id, back(0))
        after = send(other, match_id, back(2)).aggregate
        assert like(after.play, before.play)
        assert referee.load(match_id).aggregate == fold(None, referee.history(match_id)) == after
    assert differences(store_url, match_id) == ()
