"""What a ruling changes in a line that stands: the price of an offence, or the deal as it was (J2, J8-J10)."""

from typing import Any

import msgspec
import pytest

from referee.acts import Act, Appeal, Close, Deal, OpenCase, RemedySent, Result, Score, Void
from referee.events import Adjudication, DealScored
from referee.games.rams_english.states import FaultLifted
from referee.proceedings.cases import CaseRuled
from referee.proceedings.corrections import ProtocolCorrected, as_they_count
from referee.store.aggregate import fold
from tests.given import NOON
from tests.officials.correcting import bare
from tests.officials.hearing import TWO, Hearing
from tests.officials.sheets import SHEETS, X1, Body

BERIT, CESAR, DAG, ANNA = range(4)
GAMES = tuple(SHEETS)
OUT_BY_FIVE: Body = {
    "bids": [*X1["bids"][1:], [0, "pass"]],
    "tricks": [DAG] * 5,
    "answers": [[3, "fold"], [0, "fold"], [1, "play"]],
    "exits": [[DAG, 5]],
}
"""A second deal that DAG breaks off when he stood at five (B77-B78)."""
CORRECTED = ["case/ruled", "protocol/corrected"]


def result(body: Body) -> Result:
    """As it is sent."""
    return msgspec.convert(body, Result)


def tally(ruleset: str, *, terms: Adjudication = TWO, **opened: Any) -> Hearing:
    """A tally whose last seat deals."""
    players = SHEETS[ruleset].players
    return Hearing(ruleset, terms, players=players, dealing="tally", first_dealer=players - 1, **opened)


def entered(ruleset: str, body: Body, **opened: Any) -> Hearing:
    """The same with its first deal."""
    hearing = tally(ruleset, **opened)
    hearing.ask(result(body), "official")
    return hearing


def wrong(hearing: Hearing, body: Body, by: int = 0, deal: int = 1) -> None:
    """Somebody says that a line is wrong, and what is right."""
    hearing.ask(OpenCase(kind="entry", seat=by, deal=deal, result=result(body)))


def all_agree(hearing: Hearing, case: int = 1, by: int = 0) -> None:
    for seat in range(hearing.match.state.table.seats):
        if seat != by:
            hearing.says(seat, True, case=case)


def topics(hearing: Hearing) -> list[str]:
    """Of what the last request made."""
    return [event.TOPIC for event in hearing.said]


def lines(hearing: Hearing) -> list[Any]:
    """As they count, struck or not."""
    return [bare(line) for line in as_they_count(hearing.history).values()]


def correction(hearing: Hearing) -> ProtocolCorrected:
    """The last one."""
    return next(one.event for one in reversed(hearing.history) if isinstance(one.event, ProtocolCorrected))


def points(hearing: Hearing) -> tuple[int, ...]:
    """As they stand."""
    held: tuple[int, ...] = hearing.match.state.table.points
    return held


def folds(hearing: Hearing) -> None:
    """The match is the fold of its events from wherever one begins."""
    for cut in range(1, len(hearing.history)):
        head: Any = fold(None, hearing.history[:cut])
        kept = msgspec.json.decode(msgspec.json.encode(head.standing), type=head.procedure.state)
        assert kept == head.standing
        assert fold(msgspec.structs.replace(head, standing=kept), hearing.history[cut:]) == hearing.match


class TestAWrongLine:
    """A deal of a tally was entered wrongly."""

    @pytest.mark.rule("J2", "J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_all_others_agree_and_it_counts_as_if_it_had_been_entered_so(self, ruleset: str) -> None:
        sheets = SHEETS[ruleset]
        hearing = entered(ruleset, sheets.wrong)
        was, before = lines(hearing), list(hearing.history)
        wrong(hearing, sheets.right)
        assert lines(hearing) == was, "saying so changes nothing"
        all_agree(hearing)
        assert topics(hearing) == ["case/stated", *CORRECTED]
        ruled, event = hearing.said[1], correction(hearing)
        assert isinstance(ruled, CaseRuled)
        assert (ruled.rule, ruled.standard, ruled.remedy.result) == ("J2", "agreed_facts", result(sheets.right))
        assert (event.case, event.deal, event.why.rule, event.points) == (1, 1, "J2", sheets.points)
        assert points(hearing) == sheets.points
        assert lines(hearing) == lines(entered(ruleset, sheets.right)) != was
        assert hearing.history[: len(before)] == before
        folds(hearing)

    @pytest.mark.rule("J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_later_deals_hang_on_it(self, ruleset: str) -> None:
        """The same sheet once more, told by who speaks first then."""
        sheets = SHEETS[ruleset]

        def second(hearing: Hearing) -> None:
            body = dict(sheets.right)
            if "bids" in body:
                body["bids"] = [*body["bids"][1:], [0, "join" if ruleset == "rams-english" else "pass"]]
                if ruleset == "rodskagg-catsatcards":
                    body["bids"] = [[1, 0], [2, 2], [3, 1], [0, 1]]
                    body["answers"] = [[3, "fold"]]
            hearing.ask(result(body), "official")

        hearing, at_once = entered(ruleset, sheets.wrong), entered(ruleset, sheets.right)
        second(hearing)
        second(at_once)
        wrong(hearing, sheets.right)
        all_agree(hearing)
        assert lines(hearing) == lines(at_once)
        assert points(hearing) == points(at_once)
        assert hearing.match.state.table.dealer == at_once.match.state.table.dealer

    @pytest.mark.rule("J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_what_does_not_add_up_is_refused_whole(self, ruleset: str) -> None:
        """By who opens the case, and in a remedy; the refusal is that of the act."""
        sheets = SHEETS[ruleset]
        hearing = entered(ruleset, sheets.wrong)
        cannot_be = result(sheets.cannot_be)
        by_act = tally(ruleset)
        with pytest.raises(Exception) as caught:  # noqa: PT011
            by_act.ask(cannot_be, "official")
        code, rule = caught.value.code, caught.value.rule  # type: ignore[attr-defined]
        opening = OpenCase(kind="entry", seat=0, deal=1, result=cannot_be)
        assert hearing.refused(opening, code, rule).facts["at"] == sheets.at
        wrong(hearing, sheets.right)
        before = len(hearing.history)
        ruling = hearing.ruling("upheld", rule="J9", remedy=RemedySent(result=cannot_be))
        assert hearing.refused(ruling, code, rule, "official").facts["at"] == sheets.at
        assert (len(hearing.history), hearing.status()) == (before, "pending")

    def test_what_no_such_game_tells(self) -> None:
        hearing = entered("kalabrias", SHEETS["kalabrias"].wrong)
        refusal = hearing.refused(
            OpenCase(kind="entry", seat=0, deal=1, result=result(X1)), "not_in_the_result", None
        )
        assert refusal.facts["at"] == "/bids"

    @pytest.mark.rule("J2", "J9")
    def test_while_a_deal_is_under_way_it_waits_and_is_then_ruled_by_itself(self) -> None:
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        wrong(hearing, sheets.right)
        hearing.ask(Deal(seat=BERIT))
        all_agree(hearing)
        assert topics(hearing) == ["case/stated"]
        assert hearing.status() == "pending"
        hearing.refused(hearing.ruling("upheld", rule="J9"), "deal_under_way", "J9", "official")
        hearing.ask(Void(), "official")
        assert topics(hearing) == ["deal/voided", *CORRECTED]
        assert points(hearing) == sheets.points
        folds(hearing)

    @pytest.mark.rule("J2", "J9")
    def test_with_the_score_of_the_deal_under_way(self) -> None:
        """What that came to is in it."""
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing, at_once = (entered("rodskagg-kortoxen", one) for one in (sheets.wrong, sheets.right))
        wrong(hearing, sheets.right)
        for one in (hearing, at_once):
            one.ask(Deal(seat=BERIT))
            while one.match.state.__struct_config__.tag != "played":
                one.play(acts=1)
        all_agree(hearing)
        for one in (hearing, at_once):
            one.ask(Score(seat=BERIT))
        assert topics(hearing)[-2:] == CORRECTED
        assert lines(hearing) == lines(at_once)

    @pytest.mark.rule("J3", "J9")
    def test_an_official_may_find_what_neither_said(self) -> None:
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        wrong(hearing, sheets.right)
        found = {**X1, "tricks": [2, 0, 2, 2, 2, 1]}
        hearing.rule("upheld", rule="B58", reason="Counted again", remedy=RemedySent(result=result(found)))
        assert lines(hearing) == lines(entered("rodskagg-kortoxen", found))
        assert (correction(hearing).why.rule, correction(hearing).why.reason) == ("B58", "Counted again")

    def test_upheld_with_no_more_said_who_opened_it_is_right(self) -> None:
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        wrong(hearing, sheets.right)
        hearing.rule("upheld", rule="J9")
        assert points(hearing) == sheets.points

    @pytest.mark.rule("J7", "J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_an_appeal_undoes_it_or_changes_it(self, ruleset: str) -> None:
        sheets = SHEETS[ruleset]
        for verdict, more, then in (
            ("dismissed", {}, sheets.wrong),
            ("upheld", {"remedy": RemedySent(result=result(sheets.wrong))}, sheets.wrong),
            ("upheld", {}, sheets.right),
        ):
            hearing = entered(ruleset, sheets.wrong)
            was = lines(hearing)
            wrong(hearing, sheets.right)
            all_agree(hearing)
            first = len(hearing.history)
            hearing.ask(Appeal(case=1, seat=1))
            hearing.rule(verdict, by="official:2", rule="J9", **more)
            if then is sheets.right:
                assert topics(hearing) == ["case/ruled"], "nothing changes"
                continue
            assert topics(hearing) == CORRECTED
            assert correction(hearing).replaces == first
            assert lines(hearing) == was
            folds(hearing)

    @pytest.mark.rule("J9")
    def test_one_case_is_undone_and_the_other_stands(self) -> None:
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        other = {**X1, "tricks": [2, 0, 2, 2, 2, 1]}
        for number, body in enumerate((sheets.right, other), 1):
            wrong(hearing, body)
            hearing.rule("upheld", case=number, rule="J9")
        now = lines(hearing)
        hearing.ask(Appeal(case=1, seat=1))
        hearing.rule("dismissed", case=1, by="official:2", rule="J9")
        assert lines(hearing) == now
        hearing.ask(Appeal(case=2, seat=1))
        hearing.rule("dismissed", case=2, by="official:2", rule="J9")
        assert lines(hearing) == lines(entered("rodskagg-kortoxen", sheets.wrong))

    @pytest.mark.rule("J9")
    def test_a_result_holds_all_that_came_before_its_cards(self) -> None:
        """A misdeal, and the knock for it, were written by mistake."""
        right = SHEETS["rodskagg-kortoxen"].right
        knock = {"seat": CESAR, "accused": ANNA, "offence": "misdeal"}
        hearing = entered("rodskagg-kortoxen", {**right, "knocks": [knock]}, deal_ritual=True)
        assert points(hearing)[ANNA] == 17
        wrong(hearing, right)
        all_agree(hearing, case=2)
        assert lines(hearing) == lines(entered("rodskagg-kortoxen", right, deal_ritual=True))
        folds(hearing)

    @pytest.mark.rule("B78", "J9")
    def test_what_is_undone_may_leave_a_later_deal_hanging(self) -> None:
        """DAG was at five when he knocked out; now he had six."""
        three = {**X1, "tricks": [2, 0, 2, 2, 1, 1]}
        hearing = entered("rodskagg-kortoxen", three, points=(12, 12, 9, 12), exact_zero=False)
        wrong(hearing, X1)
        hearing.rule("upheld", rule="J9")
        hearing.ask(result(OUT_BY_FIVE), "official")
        hearing.ask(Appeal(case=1, seat=CESAR))
        ruling = hearing.ruling("dismissed", rule="J9")
        assert hearing.refused(ruling, "line_hangs", "J9", "official:2").facts == {"deals": (2,)}
        hearing.rule("dismissed", by="official:2", rule="J9", remedy=RemedySent(strike=(2,)))
        assert points(hearing)[DAG] == 6
        folds(hearing)


class TestTheEnd:
    """DAG stands at four and takes four tricks."""

    def won(self) -> Hearing:
        hearing = entered("rodskagg-kortoxen", {**X1, "exits": [[DAG, 6]]}, points=(12, 12, 4, 12))
        assert [event.TOPIC for event in hearing.said][-1] == "match/won"
        wrong(hearing, {**X1, "tricks": [2, 0, 2, 2, 1, 1]})
        return hearing

    @pytest.mark.rule("J8", "J9")
    def test_what_was_won_by_a_wrong_line_is_open_again(self) -> None:
        hearing = self.won()
        hearing.rule("upheld", rule="J9")
        assert correction(hearing).won is None
        assert hearing.match.state.table.points[DAG] != 0
        assert hearing.match.rules.between_deals(hearing.match.state)
        assert not hearing.match.provisional(hearing.at)
        hearing.ask(Deal(seat=BERIT))
        folds(hearing)

    @pytest.mark.rule("J7", "J8")
    def test_and_won_again_on_appeal(self) -> None:
        hearing = self.won()
        hearing.rule("upheld", rule="J9")
        hearing.ask(Appeal(case=1, seat=DAG))
        hearing.wait(5).rule("dismissed", by="official:2", rule="J9")
        won = correction(hearing).won
        assert won is not None
        assert (won.by, won.seat) == ("zero", DAG)
        assert hearing.match.provisional(hearing.wait(29).at), "it ended with that"
        assert not hearing.match.provisional(hearing.wait(1).at)
        folds(hearing)

    @pytest.mark.rule("J8")
    def test_won_by_a_correction_it_is_provisional_from_then_on(self) -> None:
        hearing = entered("rodskagg-kortoxen", {**X1, "tricks": [2, 0, 2, 2, 1, 1]}, points=(12, 12, 4, 12))
        hearing.wait(100)
        wrong(hearing, {**X1, "exits": [[DAG, 6]]})
        hearing.rule("upheld", rule="J9")
        assert correction(hearing).won is not None
        assert hearing.match.provisional(hearing.wait(29).at)
        hearing.ask(Appeal(case=1, seat=DAG))
        hearing.wait(1)
        hearing.refused(hearing.ruling("dismissed", rule="J9"), "window_closed", "J8", "official:2")

    @pytest.mark.rule("J8")
    def test_in_time_or_beyond_doubt(self) -> None:
        hearing = self.won()
        hearing.wait(30)
        hearing.refused(hearing.ruling("upheld", rule="J9"), "window_closed", "J8", "official")
        all_agree(hearing)
        assert hearing.status() == "pending", "that all agree is too late, too"
        hearing.rule("upheld", rule="J9", standard="beyond_reasonable_doubt")
        assert topics(hearing) == CORRECTED

    @pytest.mark.rule("J8")
    def test_a_second_before_it(self) -> None:
        hearing = self.won()
        hearing.wait(30 - 1 / 60).rule("upheld", rule="J9")
        assert topics(hearing) == CORRECTED

    @pytest.mark.rule("J10")
    def test_an_official_opens_his_own_error(self) -> None:
        hearing = self.won()
        hearing.rule("upheld", rule="J9")
        hearing.ask(Appeal(case=1), "official")
        hearing.rule("dismissed", rule="J9")
        assert correction(hearing).won is not None


class TestAnOffence:
    """Kortoxen with closed hands: CESAR is said to have revoked."""

    @pytest.fixture
    def scored(self) -> Hearing:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        return hearing.play()

    def change(self, hearing: Hearing) -> tuple[int, ...]:
        """What stands otherwise than it was written."""
        written = [one.event for one in hearing.history if isinstance(one.event, DealScored)]
        now = points(hearing)
        return tuple(after - before for before, after in zip(written[-1].points, now, strict=True))

    @pytest.mark.rule("J3", "J9")
    def test_upheld_after_the_score(self, scored: Hearing) -> None:
        ruled, event = scored.rule("upheld", rule="B42", reason="Seen by Dag")
        assert isinstance(ruled, CaseRuled)
        assert isinstance(event, ProtocolCorrected)
        assert (ruled.payer, ruled.penalty) == (CESAR, 5)
        assert (event.case, event.why.rule, event.why.reason) == (1, "B42", "Seen by Dag")
        assert self.change(scored) == (0, 5, 0, 0)
        (line,) = event.lines
        assert line.score is not None
        number = len(scored.history)
        assert [(one.seat, one.points, one.events) for one in line.score.entries if one.rule == "B42"] == [
            (CESAR, 5, (number - 1, number))
        ]
        folds(scored)

    @pytest.mark.rule("J2", "J9")
    def test_who_pays_agrees_after_the_score(self, scored: Hearing) -> None:
        scored.says(CESAR, True)
        assert topics(scored) == ["case/stated", *CORRECTED]
        assert self.change(scored) == (0, 5, 0, 0)
        ruled = scored.said[1]
        assert isinstance(ruled, CaseRuled)
        assert (ruled.rule, ruled.payer, ruled.penalty) == ("B42", CESAR, 5)

    @pytest.mark.rule("J7", "J9")
    def test_dismissed_on_appeal_again(self, scored: Hearing) -> None:
        was = lines(scored)
        scored.rule("upheld", rule="B42")
        scored.ask(Appeal(case=1, seat=CESAR))
        scored.rule("dismissed", by="official:2", rule="J4")
        assert topics(scored) == CORRECTED
        assert lines(scored) == was
        scored.ask(Appeal(case=1), "official:2")
        scored.rule("upheld", by="official:2", rule="B42")
        assert self.change(scored) == (0, 5, 0, 0)
        folds(scored)

    @pytest.mark.rule("J7", "J9")
    def test_a_penalty_that_is_written_is_lifted(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        hearing.play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("dismissed", by="official:2", rule="J4")
        assert self.change(hearing) == (0, -5, 0, 0)
        assert correction(hearing).scripts[0].events[0].event["points"] == -5
        hearing.ask(Appeal(case=1), "official:2")
        hearing.rule("upheld", by="official:2", rule="B42")
        assert self.change(hearing) == (0, 0, 0, 0)
        folds(hearing)

    def test_what_it_confirms_changes_nothing(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        hearing.play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("upheld", by="official:2", rule="B42")
        assert topics(hearing) == ["case/ruled"]

    @pytest.mark.rule("J7", "J9")
    def test_another_offence_is_found_on_appeal(self, scored: Hearing) -> None:
        scored.rule("upheld", rule="B42")
        scored.ask(Appeal(case=1, seat=CESAR))
        scored.rule("upheld", by="official:2", offence="exposed_card", rule="B11")
        assert self.change(scored) == (0, 5, 0, 0)
        told = correction(scored).scripts[0].events
        assert [one.event["rule"] for one in told] == ["B11"]

    @pytest.mark.rule("J6", "J9")
    def test_the_fine_for_the_knock_is_lifted_with_it(self) -> None:
        hearing = Hearing(false_knock_penalty=5).deal()
        hearing.knock(BERIT, CESAR, "fold_question")
        hearing.play().ask(Appeal(case=1, seat=BERIT))
        hearing.rule("upheld", offence="revoke", rule="B42")
        assert self.change(hearing) == (-5, 5, 0, 0)
        hearing.ask(Appeal(case=1), "official")
        hearing.rule("dismissed", rule="J4")
        assert self.change(hearing) == (0, 0, 0, 0), "and is due again"

    @pytest.mark.rule("J10")
    def test_an_official_knocks_for_a_deal_that_is_over(self, scored: Hearing) -> None:
        scored.ask(OpenCase(kind="offence", accused=DAG, offence="exposed_card", deal=1), "official")
        assert scored.case.payer == DAG
        scored.rule("upheld", case=2)
        assert self.change(scored) == (0, 0, 5, 0)

    @pytest.mark.rule("J9")
    def test_a_result_stands_in_place_of_what_was_knocked_in_the_deal(self) -> None:
        """The line has the tricks that are told, and the price once."""
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        hearing.play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("upheld", by="official:2", rule="B42", remedy=RemedySent(result=result(X1)))
        assert points(hearing) == (11, 16, 8, 12)

    @pytest.mark.rule("B17", "J9")
    def test_but_not_of_what_was_knocked_before_the_cards(self) -> None:
        hearing = Hearing(deal_ritual=True)
        hearing.knock(BERIT, CESAR, "wrong_cut")
        hearing.rule("upheld", rule="B17")
        hearing.deal()
        for _ in range(4):
            hearing.play(acts=1)
        hearing.play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("upheld", by="official:2", rule="B17", remedy=RemedySent(result=result(X1)))
        assert points(hearing) == (11, 16, 8, 12)
        assert len(correction(hearing).scripts) == 1, "it is paid for"

    @pytest.mark.rule("J9")
    def test_nor_is_it_lifted_from_a_result_that_another_case_told(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        wrong(hearing.play(), X1)
        all_agree(hearing, case=2)
        assert points(hearing) == (11, 11, 8, 12), "a result tells the knocks, too"
        hearing.ask(Appeal(case=1, seat=CESAR))
        hearing.rule("dismissed", by="official:2", rule="J4")
        assert topics(hearing) == ["case/ruled"]
        assert points(hearing) == (11, 11, 8, 12)

    @pytest.mark.rule("J9")
    def test_a_line_is_struck_and_the_price_stays_as_it_is(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        hearing.play().deal().play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("upheld", by="official:2", rule="B42", remedy=RemedySent(strike=(2,)))
        event = correction(hearing)
        assert (event.scripts, event.struck) == ((), (2,))

    @pytest.mark.rule("B78", "J9")
    def test_a_later_deal_that_hangs_on_it_is_struck_only_by_name(self) -> None:
        hearing = entered("rodskagg-kortoxen", X1, points=(12, 12, 9, 12), exact_zero=False)
        hearing.ask(result(OUT_BY_FIVE), "official")
        assert topics(hearing)[-1] == "match/won"
        hearing.ask(OpenCase(kind="offence", accused=DAG, offence="revoke", deal=1), "official")
        ruling = hearing.ruling("upheld")
        assert hearing.refused(ruling, "line_hangs", "J9", "official").facts == {"deals": (2,)}
        hearing.says(DAG, True)
        assert hearing.status() == "pending", "nobody but an official strikes a line"
        hearing.ask(OpenCase(kind="offence", accused=DAG, offence="exposed_card", deal=2), "official")
        hearing.rule("upheld", remedy=RemedySent(strike=(2,)))
        assert (correction(hearing).struck, points(hearing)[DAG]) == ((2,), 10)
        refused = OpenCase(kind="entry", seat=BERIT, deal=2, result=result(OUT_BY_FIVE))
        assert hearing.refused(refused, "line_struck", "J9").facts == {"deal": 2}
        hearing.refused(hearing.ruling("upheld", case=2), "line_struck", "J9", "official")
        hearing.rule("dismissed", case=2, rule="J4")
        assert topics(hearing) == ["case/ruled"]
        hearing.ask(Appeal(case=1, seat=DAG))
        hearing.rule("dismissed", case=1, by="official:2", rule="J4")
        assert correction(hearing).struck == ()
        assert correction(hearing).won is not None
        folds(hearing)

    def test_a_remedy_for_a_deal_that_is_not_written(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        for remedy in (RemedySent(result=result(X1)), RemedySent(strike=(1,))):
            hearing.refused(hearing.ruling("upheld", remedy=remedy), "deal_not_scored", "J9", "official")


class TestCards:
    """A result may be told of a deal with cards as well: it is read as of a tally."""

    @pytest.mark.rule("J9")
    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    @pytest.mark.parametrize("dealing", ["house", "table"])
    def test_in_kortoxen(self, dealing: str, enforcement: str) -> None:
        hearing = Hearing(dealing=dealing, enforcement=enforcement, points=(50,) * 4)
        hearing.deal(**({} if dealing == "table" else {"hands": None})).play()
        wrong(hearing, X1)
        all_agree(hearing)
        assert points(hearing) == (49, 49, 46, 50)
        table = hearing.match.state.table
        assert (table.house, table.tally, table.penalise) == (dealing == "house", False, enforcement == "penalise")
        hearing.deal(**({} if dealing == "table" else {"hands": None})).play()
        assert hearing.match.state.table.deal == 3
        folds(hearing)

    @pytest.mark.rule("D-X1", "J9")
    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_in_rams(self, enforcement: str) -> None:
        hearing = Hearing("rams-english", enforcement=enforcement).deal(counts=(5,) * 4, turn_up="H7").play()
        wrong(hearing, SHEETS["rams-english"].right)
        all_agree(hearing)
        assert points(hearing) == (2, 1, 2, -10)
        assert hearing.match.state.table.pot == 5
        folds(hearing)

    @pytest.mark.rule("E-X1", "J9")
    def test_in_kalabrias(self) -> None:
        hearing = Hearing("kalabrias", players=2, first_dealer=1, dealing="house")
        hearing.ask(Deal(seat=1))
        for _ in range(100):
            acts: list[Act] = [act for seat in (0, 1) for act in hearing.match.rules.legal(hearing.match.state, seat)]
            if "deal/scored" in {event.TOPIC for event in hearing.ask(acts[0])}:  # type: ignore[arg-type]
                break
        wrong(hearing, SHEETS["kalabrias"].right)
        all_agree(hearing)
        assert points(hearing) == (78, 41)
        folds(hearing)


class TestRams:
    """Where a fault costs something without a knock: it is noted late, or lifted; and money is not lost."""

    def worth(self, hearing: Hearing) -> int:
        return sum(points(hearing)) + int(hearing.match.state.table.pot)

    @pytest.mark.rule("D70", "J9")
    def test_late_and_lifted_again(self) -> None:
        hearing = Hearing("rams-english").deal(counts=(5,) * 4, turn_up="H7").play()
        was, before = lines(hearing), points(hearing)
        accused = next(seat for seat in range(4) if hearing.match.docket is not None)
        hearing.ask(OpenCase(kind="offence", accused=accused, offence="exposed_card", deal=1), "official")
        hearing.rule("upheld", rule="D68")
        assert points(hearing) != before
        assert self.worth(hearing) == 0
        line = correction(hearing).lines[0].score
        assert line is not None
        assert "D70" in {one.rule for one in line.entries}
        hearing.ask(Appeal(case=1, seat=accused))
        hearing.rule("dismissed", by="official:2", rule="D68")
        assert lines(hearing) == was
        folds(hearing)

    @pytest.mark.rule("D70", "J9")
    def test_one_that_is_written_is_lifted(self) -> None:
        hearing = Hearing("rams-english").deal(counts=(5,) * 4, turn_up="H7").play(until="declarations/closed")
        one, accused = hearing.match.state.order[:2]
        hearing.knock(one, accused, "exposed_card")
        hearing.rule("upheld", rule="D68")
        hearing.play().ask(Appeal(case=1, seat=accused))
        hearing.rule("dismissed", by="official:2", rule="D68")
        (told,) = correction(hearing).scripts[0].events
        assert told.topic == FaultLifted.TOPIC
        line = correction(hearing).lines[0].score
        assert line is not None
        assert "D70" not in {one.rule for one in line.entries}
        assert self.worth(hearing) == 0


def test_a_game_without_a_price_has_none() -> None:
    hearing = entered("rodskagg-alga", X1)
    hearing.refused(
        OpenCase(kind="offence", accused=DAG, offence="revoke", deal=1), "not_in_this_game", "J3", "official"
    )


@pytest.mark.rule("J8")
def test_a_session_that_is_closed() -> None:
    """The pot is shared anew."""
    sheets = SHEETS["rams-english"]
    hearing, at_once = (entered("rams-english", body) for body in (sheets.wrong, sheets.right))
    for one in (hearing, at_once):
        one.ask(Close(), "official")
    wrong(hearing, sheets.right)
    all_agree(hearing)
    assert correction(hearing).points == points(at_once)
    assert hearing.match.provisional(NOON)
