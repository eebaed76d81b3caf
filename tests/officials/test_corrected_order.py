"""Kortoxen: the order in which players come to zero survives corrections and lifted penalties (B71, B-O12)."""

from typing import Any

import pytest

from referee.acts import Answer, Ask, Bid, Deal, Knock, KnockOut, Score, Trick
from referee.events import MatchWon, Stakes
from referee.officials.events.corrections import Ended
from referee.requests import Appeal, OpenCase
from tests.officials.hearing import Hearing
from tests.officials.line_corrections import all_agree, correction, folds, result, wrong
from tests.support.match_driver import seats_and

ANNA, BO, CECILIA = range(3)
BIDS = seats_and("bid", [ANNA, "2"], [BO, "pass"], [CECILIA, "pass"])
RIGHT: dict[str, Any] = {
    "bids": BIDS,
    "tricks": [ANNA, BO, BO, ANNA, CECILIA, CECILIA],
    "answers": [{"seat": CECILIA, "answer": "play"}],
    "exits": seats_and("after", [BO, 3], [ANNA, 4]),
}
"""A deal from 2, 2 and 9 points: Bo comes to zero with the third trick and Anna with the fourth."""
WRONG: dict[str, Any] = {
    **RIGHT,
    "tricks": [ANNA, BO, ANNA, BO, CECILIA, CECILIA],
    "exits": seats_and("after", [ANNA, 3], [BO, 4]),
}
NO_EXITS: dict[str, Any] = {"exits": []}


def opened(**match: Any) -> Hearing:
    """Open a match of three for money, in which two may come to zero in the first deal."""
    stakes = Stakes(currency="SEK", unit=100)
    match = {"dealing": "tally", "points": (2, 2, 9), "stakes": stakes, **match}
    return Hearing(players=3, first_dealer=CECILIA, **match)


def won(hearing: Hearing) -> Any:
    """Return the winner, the rule and the payments."""
    last = hearing.history[-1].event
    end: MatchWon | Ended | None = last if isinstance(last, MatchWon) else correction(hearing).won
    return end and (end.seat, end.rule, end.settlement)


class TestASheetThatIsCorrected:
    """A sheet was entered as if Anna had come to zero first."""

    @pytest.fixture(params=["tally", "table"])
    def scored(self, request: pytest.FixtureRequest) -> Hearing:
        hearing = opened(dealing=request.param)
        if request.param == "tally":
            hearing.ask(result(WRONG), "official")
            assert won(hearing) == (ANNA, "B71", (700, 0, -700))
        else:
            hearing.deal(counts=(6, 6, 6)).play()
        return hearing

    @pytest.mark.rule("B71")
    def test_entered_correctly_the_first_exit_knock_wins(self) -> None:
        hearing = opened()
        hearing.ask(result(RIGHT), "official")
        assert won(hearing) == (BO, "B71", (0, 700, -700))

    @pytest.mark.rule("B71", "J2")
    def test_the_first_exit_knock_wins_after_an_agreement(self, scored: Hearing) -> None:
        wrong(scored, RIGHT)
        all_agree(scored)
        assert won(scored) == (BO, "B71", (0, 700, -700))
        folds(scored)

    @pytest.mark.rule("B71", "J9")
    def test_the_first_exit_knock_wins_after_a_ruling(self, scored: Hearing) -> None:
        wrong(scored, RIGHT)
        scored.rule("upheld", rule="J9")
        assert won(scored) == (BO, "B71", (0, 700, -700))

    @pytest.mark.rule("B-O12", "J9")
    def test_without_exit_knocks_the_earliest_zero_wins(self, scored: Hearing) -> None:
        wrong(scored, {**RIGHT, **NO_EXITS})
        scored.rule("upheld", rule="J9")
        assert won(scored) == (BO, "B-O12", (0, 700, -700))

    @pytest.mark.rule("J9")
    def test_its_line_names_the_ruling_and_the_correction(self, scored: Hearing) -> None:
        """The correction is the event that records all facts of the script."""
        knock = {"seat": 0, "accused": 2, "offence": "revoke", "after": 5}
        wrong(scored, {**RIGHT, "knocks": [knock]})
        scored.rule("upheld", rule="J9")
        last = len(scored.history)
        (line,) = correction(scored).lines
        assert line.score is not None
        assert [(one.seat, one.points, one.rule, one.events) for one in line.score.entries] == [
            (CECILIA, 5, "B42", (last - 1, last)),
            (ANNA, -2, "B58", (last,)),
            (BO, -2, "B58", (last,)),
            (CECILIA, -2, "B58", (last,)),
        ]

    @pytest.mark.rule("J9", "B68")
    def test_its_script_names_no_event_after_itself(self, scored: Hearing) -> None:
        """Bo does not knock for the exit in time, and another player knocks."""
        knock = {"seat": 0, "accused": 1, "offence": "exit_knock", "after": 4}
        wrong(scored, {**RIGHT, "exits": [{"seat": ANNA, "after": 4}], "knocks": [knock]})
        scored.rule("upheld", rule="J9")
        named = [number for one in correction(scored).scripts for fact in one.events for number in names(fact.event)]
        assert set(named) == {len(scored.history)}


def names(fact: dict[str, Any]) -> list[int]:
    """Return the events that a fact of a script and its breaches name."""
    shown = [number for breach in fact.get("breaches", ()) for number in breach.get("shown_by", ())]
    return [*shown, *fact.get("rests_on", ())]


class TestAPenaltyThatIsLifted:
    """Bo came to zero first, and then got five points by a ruling that is overturned."""

    def at_zero(self, **match: Any) -> Hearing:
        """Return a match in which Bo comes to zero with the third trick, and has knocked for the exit."""
        hearing = opened(**match)
        hearing.ask(Deal(seat=CECILIA))
        for seat, bid in ((ANNA, "2"), (BO, "pass"), (CECILIA, "pass")):
            hearing.ask(Bid(seat=seat, bid=bid))
        for seat in (ANNA, BO, BO):
            hearing.ask(Trick(seat=seat))
        hearing.ask(KnockOut(seat=BO))
        return hearing

    def ruled(self) -> Hearing:
        """Return a match in which an official has ruled that Bo revoked."""
        hearing = self.at_zero()
        hearing.ask(OpenCase(kind="offence", accused=BO, offence="revoke"), "official")
        hearing.rule("upheld", rule="B42")
        assert hearing.up == (0, 5, 0)
        return hearing

    def play_on(self, hearing: Hearing) -> None:
        """Let Anna come to zero, too, and score the deal."""
        hearing.ask(Trick(seat=ANNA))
        hearing.ask(KnockOut(seat=ANNA))
        hearing.ask(Ask(seat=ANNA))
        hearing.ask(Answer(seat=CECILIA, answer="play"))
        for _ in range(2):
            hearing.ask(Trick(seat=CECILIA))
        hearing.ask(Score(seat=ANNA))

    @pytest.mark.rule("B71", "B-O12", "J7")
    def test_lifted_in_the_deal_it_counts_as_never_imposed(self) -> None:
        hearing = self.ruled()
        hearing.ask(Appeal(case=1, seat=BO))
        hearing.rule("dismissed", by="official:2", rule="J4")
        assert hearing.up == (0, 0, 0)
        self.play_on(hearing)
        assert won(hearing) == (BO, "B71", (0, 700, -700))

    @pytest.mark.rule("B71", "B-O12", "J9")
    def test_lifted_after_the_score_it_counts_as_never_imposed(self) -> None:
        hearing = self.ruled()
        self.play_on(hearing)
        assert won(hearing) == (ANNA, "B70", (1200, -500, -700))
        hearing.ask(Appeal(case=1, seat=BO))
        hearing.rule("dismissed", by="official:2", rule="J4")
        assert won(hearing) == (BO, "B71", (0, 700, -700))
        folds(hearing)

    @pytest.mark.rule("B71", "B-O12", "B-O3", "J7")
    def test_the_fine_for_a_knock_that_was_right_counts_as_never_imposed(self) -> None:
        hearing = self.at_zero(false_knock_penalty=5)
        hearing.ask(Knock(seat=BO, accused=CECILIA, offence="fold_question"))
        assert hearing.up == (0, 5, 0)
        hearing.ask(Appeal(case=1, seat=BO))
        hearing.rule("upheld", by="official:2", rule="B54")
        assert hearing.up == (0, 0, 5)
        self.play_on(hearing)
        assert won(hearing) == (BO, "B71", (0, 1200, -1200))

    @pytest.mark.rule("B71", "B-O11")
    def test_one_that_stands_puts_the_exit_off(self) -> None:
        hearing = self.ruled()
        self.play_on(hearing)
        assert won(hearing) == (ANNA, "B70", (1200, -500, -700))
