"""J8-J10: a correction is one event between two deals, and the numbers of later lines follow from it."""

from datetime import timedelta
from uuid import UUID

import msgspec
import pytest

from referee.acts import Abandon, Void
from referee.events import DealScored, DealVoided, Entry, MatchWon, PenaltyImposed
from referee.officials.attended import procedure_of as attended_by
from referee.officials.events.corrections import Why, corrected_line, lines_as_corrected
from referee.refusals import AgainstTheRules, WrongPhase
from referee.requests import Correct
from referee.ruleset import Moment, Ruleset
from referee.visibility import Recorded
from tests.games.rodskagg import Table, fem
from tests.officials.correction_tables import OFFICIALS, corrected, five, lines, quiet, refused, script_of_deal, won
from tests.plump.plump import RULESET as PLUMP
from tests.support import match_driver
from tests.support.match_driver import P1, P2, P3, P4
from tests.support.random_matches import deal_of, opening


class TestScoredAgain:
    """J9: the deal is scored again with the new facts, and so is every later line."""

    def test_five_found_late_stand_on_the_line_of_their_deal(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        was = [line.points for line in t.happened(DealScored)]
        event = corrected(t, five(P3, 1))
        assert lines(t) == [(a, b, c + 5, d) for a, b, c, d in was]
        assert t.points == lines(t)[-1]
        first, second = event.lines
        assert first.score is not None
        number = t.version
        assert Entry(seat=P3, points=5, rule="B42", events=(number - 1, number)) in first.score.entries
        assert second.score is None, "its entries are what they were"
        assert (event.case, event.deal, event.why.rule) == (None, 1, "B42")

    @pytest.mark.rule("B72")
    def test_it_is_not_five_more_after_a_bounce(self):
        """P1 has 1, takes three tricks and bounces to 2; with five more on the deal before P1 comes to 3."""
        t = quiet(points=(3, 12, 12, 12)).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.play_deal("2 pass pass pass", "2 3 1 1 | 1 3")
        assert t.points[P1] == 2
        corrected(t, five(P1, 1))
        assert [line[P1] for line in lines(t)] == [6, 3]

    def test_a_penalty_is_lifted_in_the_same_way(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        before = t.points
        corrected(t, five(P3, 1))
        corrected(t, five(P3, 1, -5))
        assert t.points == before

    def test_a_deal_may_get_a_new_result(self):
        """The sheet had the tricks of a different deal."""
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        second = tuple(after - before for before, after in zip(t.line.before, t.line.points, strict=True))
        other = quiet().play_deal("2 pass pass pass", "1 1 3 3 | 3 3")
        event = corrected(t, script_of_deal(other))
        assert lines(t)[0] == other.points
        assert lines(t)[1] == tuple(map(sum, zip(other.points, second, strict=True)))
        assert event.lines[0].score.tricks == other.line.tricks

    def test_history_stays_as_it_was(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        before = list(t.history)
        corrected(t, five(P3, 1))
        assert t.history[:-1] == before

    def test_play_goes_on_from_the_new_numbers(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        dealer = t.dealer
        corrected(t, five(P3, 1))
        assert t.dealer == dealer
        t.play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        assert t.line.before == lines(t)[0]
        assert t.line.deal == 2
        assert deal_of(t.opening, t.history, 2).header.points == t.line.before, "and its record says so"

    def test_a_penalty_between_the_deals_stays(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.dealt().do(Void())
        t.stand((PenaltyImposed(seat=P4, points=5, rule="B11"),), "official")
        corrected(t, five(P3, 1))
        t.play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        assert t.line.penalties == (0, 0, 0, 5)


class TestTheEnd:
    """J9: a win by a wrong number is lifted, and a win by the right number counts."""

    def won(self) -> Table:
        """Return a match in which P1 comes to zero in the second deal."""
        t = quiet(points=(3, 12, 12, 12)).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        assert t.won_by == (P1, "zero")
        return t

    def test_not_won_any_more_it_is_open_again(self):
        t = self.won()
        event = corrected(t, five(P1, 1))
        assert event.won is None
        assert t.phase == "undealt"
        assert (t.dealer, event.next_deal) == (P2, 3), "the deal moves on as usual"
        t.play_deal("2 pass pass pass", "3 3 2 4 | 3 2")
        assert (t.line.deal, t.line.before[P1]) == (3, 5)

    def test_won_earlier_what_came_later_is_struck(self):
        t = quiet(points=(3, 12, 12, 12)).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.play_deal("2 pass pass pass", "2 2 3 4 | 2 3").play_deal("2 pass pass pass", "3 3 2 4 | 3 2")
        assert t.phase == "undealt"
        other = quiet(points=(3, 12, 12, 12)).play_deal("2 pass pass pass", "1 1 1 3 | 3 3")
        event = corrected(t, script_of_deal(other))
        assert won(event) == ("zero", "B70", P1)
        assert (event.struck, event.points) == ((2, 3), other.points)
        assert (t.phase, t.seen().winner) == ("over", P1)

    def test_a_struck_deal_counts_again_when_the_win_before_it_is_lifted(self):
        t = self.won()
        corrected(t, five(P1, 1))
        t.play_deal("2 pass pass pass", "3 3 2 4 | 3 2")
        points = t.points
        event = corrected(t, five(P1, 1, -5))
        assert won(event) == ("zero", "B70", P1)
        assert (event.struck, t.phase) == ((3,), "over")
        event = corrected(t, five(P1, 1))
        assert (event.struck, t.points, event.next_deal) == ((), points, 4)


class TestWhenItMayBe:
    """J8, J9: corrections are made between two deals, and for a time after the end of the match."""

    def test_not_while_a_deal_is_under_way(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").dealt("1")
        refusal = refused(t, five(P3, 1))
        assert (refusal.code, refusal.rule, type(refusal)) == ("deal_under_way", "J9", WrongPhase)
        t.do(Void())
        corrected(t, five(P3, 1))

    def test_not_before_the_deal_is_scored(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").dealt("2 2 1 3 | 2 3")
        t.bid("2 pass pass pass").tricks(4).ask().tricks(2)
        assert t.phase == "played"
        assert refused(t, five(P3, 1)).code == "deal_under_way"

    @pytest.mark.parametrize(("seconds", "late"), [(30 * 60 - 1, False), (30 * 60, True)])
    def test_until_the_correction_time_is_over(self, seconds: int, late: bool):
        t = TestTheEnd().won()
        t.wait(seconds)
        if not late:
            corrected(t, five(P2, 1))
            return
        refusal = refused(t, five(P2, 1))
        assert (refusal.code, refusal.rule) == ("window_closed", "J8")
        ended = next(one.at for one in t.history if isinstance(one.event, MatchWon))
        assert refusal.facts == {"until": ended + timedelta(minutes=30)}
        corrected(t, five(P2, 1), beyond_doubt=True)

    def test_the_time_does_not_begin_again_with_a_correction(self):
        t = TestTheEnd().won()
        t.wait(20 * 60)
        corrected(t, five(P2, 1))
        t.wait(10 * 60)
        assert refused(t, five(P2, 1)).code == "window_closed"

    def test_it_begins_when_a_match_that_was_open_again_ends(self):
        t = TestTheEnd().won()
        corrected(t, five(P1, 1))
        t.wait(40 * 60)
        corrected(t, five(P1, 1, -5))
        assert t.phase == "over"
        t.wait(30 * 60 - 1)
        corrected(t, five(P2, 1))

    def test_only_deals_that_have_a_line(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        for refusal in (refused(t, five(P1, 2), five(P1, 1)), refused(t, strike=(2,))):
            assert (refusal.code, refusal.rule, refusal.facts) == ("no_such_line", "J9", {"deals": (2,)})
            assert isinstance(refusal, AgainstTheRules)
        assert refused(t).facts == {"deals": ()}

    def test_not_in_a_match_without_officials(self):
        t = quiet(adjudication=None).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        assert refused(t, five(P3, 1)).code == "not_attended"


@pytest.mark.parametrize("points", [(12, 12, 12, 12), (40, 3, 12, 12)])
def test_a_correction_has_only_what_changes_in_a_line(points: tuple[int, ...]):
    t = (
        quiet(points=points)
        .play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        .play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
    )
    before = lines_as_corrected(t.history)
    event = corrected(t, five(P3, 1))
    assert [corrected_line(before[one.event], one) for one in event.lines] == list(
        lines_as_corrected(t.history).values()
    )


@pytest.mark.rule("C-O23")
class TestVoided:
    """Penalties of a voided deal have a line of their own, which is corrected as any other."""

    def voided(self) -> Table:
        t = fem(deal_ritual=False, adjudication=OFFICIALS).play_deal("2 0 0 0", "1 1 2 3 | 2 3")
        t.dealt("1 2 3 4 | 1 2").bid("2 0 0 0")
        t.stand((PenaltyImposed(seat=P4, points=5, rule="C60"),), "official")
        t.do(Void())
        return t

    def test_it_goes_on_from_the_new_numbers(self):
        t = self.voided()
        was = t.happened(DealVoided)[0]
        event = corrected(t, five(P2, 1))
        for now, before in ((event.lines[1].before, was.before), (event.lines[1].points, was.points)):
            assert now == tuple(points + 5 * (seat == P2) for seat, points in enumerate(before))
        assert t.points == event.lines[1].points == lines(t)[-1]

    def test_it_is_struck_if_the_match_was_won_before(self):
        t = self.voided()
        other = fem(points=(12, 12, 12, 12), deal_ritual=False, adjudication=OFFICIALS)
        other.play_deal("rodskagg 0 0 0", "1 1 1 1 | 1 1")
        assert other.won_by == (P1, "redbeard")
        event = corrected(t, script_of_deal(other))
        assert won(event) == ("redbeard", "C41", P1)
        assert (event.struck, event.points) == ((2,), other.points)


def test_an_abandoned_match_that_was_won_before_is_won():
    t = quiet(points=(3, 12, 12, 12)).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
    t.dealt("2 2 1 3 | 2 3").do(Abandon(reason="too late in the evening"))
    event = corrected(t, five(P2, 1))
    assert event.won is not None
    assert (event.won.by, event.won.rule, event.won.event) == ("abandoned", "", t.version - 1)
    other = quiet(points=(3, 12, 12, 12)).play_deal("2 pass pass pass", "1 1 1 3 | 3 3")
    assert won(corrected(t, script_of_deal(other))) == ("zero", "B70", P1)


def test_a_game_that_cannot_score_again_says_so():
    with pytest.raises(WrongPhase) as refused:
        asked_of(msgspec.structs.replace(PLUMP, scored=None))
    assert refused.value.code == "not_in_this_game"


def asked_of(rules: Ruleset) -> None:
    """Request a correction in a new match of a game."""
    match = opening(players=3, adjudication=OFFICIALS)
    game = msgspec.structs.replace(match, ruleset=rules.key, options={}, points=(0, 0, 0))
    procedure = attended_by(rules)
    history = (Recorded(UUID(int=1), 1, match_driver.NOON, "official", "", "", "", game),)
    moment = Moment(1, match_driver.NOON, "seed", "official", history)
    procedure.take(procedure.start(game), Correct(why=Why(rule="P9"), strike=(1,)), moment)
