"""J8-J10: a correction is one event between two deals, and later lines hang on it as they hung on the deal."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from referee.acts import Abandon, Close, Correct, Cut, Draw, Play, Score, Void
from referee.events import (
    Adjudication,
    CardDrawn,
    DealScored,
    DealVoided,
    Entry,
    Event,
    MatchWon,
    PenaltyImposed,
    PlayEnded,
    Recorded,
    Reported,
)
from referee.games._rodskagg.facts import DuelCalled, LeadDrawn
from referee.officials import attended as attended_by
from referee.officials.recast import recast, script
from referee.proceedings.corrections import ProtocolCorrected, Script, Why, amended, as_they_count
from referee.refusals import AgainstTheRules, Refused, WrongPhase
from referee.ruleset import Moment, Ruleset
from tests import given
from tests.games.rams_table import Table as Rams
from tests.games.rodskagg import Table, fem, table
from tests.given import P1, P2, P3, P4
from tests.played import deal_of, opening
from tests.sixth.high_card import RULESET as SIXTH

OFFICIALS = Adjudication(officials=("Maja",))


def attended(ruleset: str = "rodskagg-kortoxen", **match: Any) -> Table:
    """A table that officials attend to."""
    return table(ruleset, **{"adjudication": OFFICIALS, "enforcement": "penalise", **match})


def quiet(**match: Any) -> Table:
    """Kortoxen without cutting and picking up."""
    return attended(deal_ritual=False, **match)


def ask(t: given.Table, *scripts: Script, strike: tuple[int, ...] = (), **more: Any) -> tuple[Event, ...]:
    """What a correction makes; it has happened."""
    request = Correct(why=Why(rule="B42", reason="seen by all"), scripts=scripts, strike=strike, **more)
    match, before = t.match, t.version
    moment = Moment(before, t.at, "seed", "official", tuple(t.history))
    events, standing = match.procedure.take(match.standing, request, moment)
    for event in events:
        t.record(event, "official", request if event is events[0] else None)
    assert t.match.standing == standing, "what take gives is what folding gives"
    t.state = standing.play
    return events


def corrected(t: given.Table, *scripts: Script, **more: Any) -> ProtocolCorrected:
    """The same, where nothing follows."""
    (event,) = ask(t, *scripts, **more)
    assert isinstance(event, ProtocolCorrected)
    return event


def refused(t: given.Table, *scripts: Script, **more: Any) -> Refused:
    """The refusal of a correction; nothing has happened."""
    before = len(t.history)
    with pytest.raises(Refused) as caught:
        ask(t, *scripts, **more)
    assert len(t.history) == before
    return caught.value


def won(event: ProtocolCorrected) -> tuple[str, str, int | None] | None:
    """By what, by which rule and by whom the match is won after it."""
    return event.won and (event.won.by, event.won.rule, event.won.seat)


def five(seat: int, deal: int, points: int = 5) -> Script:
    """A penalty that is found late, or one that is lifted."""
    return script(deal, [PenaltyImposed(seat=seat, points=points, rule="B42")])


def told_by(t: given.Table, deal: int = 1) -> Script:
    """The deal as it was played at another table, from its cards to the end of its play."""
    events = t.events
    first = next(place for place, one in enumerate(events) if one.TOPIC in ("deal/dealt", "pot/staked"))
    last = next(place for place, one in enumerate(events) if isinstance(one, PlayEnded))
    return script(deal, events[first : last + 1], whole=True)


def lines(t: given.Table) -> list[tuple[int, ...]]:
    """The points after each line as it counts, struck or not."""
    return [line.points for line in as_they_count(t.history).values()]


class TestAnew:
    """J9: the deal is scored anew with what was found, and so is every line after it."""

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
    def test_it_is_not_five_more_where_somebody_bounced(self):
        """P1 stands at 1, takes three tricks and bounces to 2; with five on the deal before he comes to 3."""
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

    def test_a_deal_may_be_told_anew(self):
        """The sheet had the tricks of another deal."""
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        second = tuple(after - before for before, after in zip(t.line.before, t.line.points, strict=True))
        other = quiet().play_deal("2 pass pass pass", "1 1 3 3 | 3 3")
        event = corrected(t, told_by(other))
        assert lines(t)[0] == other.points
        assert lines(t)[1] == tuple(map(sum, zip(other.points, second, strict=True)))
        assert event.lines[0].score.tricks == other.line.tricks  # type: ignore[union-attr]

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
    """J9: what was won by a wrong number is not won, and what would have been won is."""

    def won(self) -> Table:
        """P1 comes to zero in the second deal."""
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
        event = corrected(t, told_by(other))
        assert won(event) == ("zero", "B70", P1)
        assert (event.struck, event.points) == ((2, 3), other.points)
        assert (t.phase, t.seen().winner) == ("over", P1)

    def test_what_was_struck_counts_again_when_nobody_has_won_by_it(self):
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
    """J8, J9: between two deals, and for so long after the end of the match."""

    def test_not_while_a_deal_is_under_way(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").dealt("1")
        refusal = refused(t, five(P3, 1))
        assert (refusal.code, refusal.rule, type(refusal)) == ("deal_under_way", "J9", WrongPhase)
        t.do(Void())
        corrected(t, five(P3, 1))

    def test_nor_before_the_deal_is_scored(self):
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

    def test_not_where_nobody_attends(self):
        t = quiet(adjudication=None).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        assert refused(t, five(P3, 1)).code == "not_attended"


class TestWhatHangs:
    """J9: a line whose end hung on the number counts no more, but an official has to say so."""

    @pytest.mark.rule("B78")
    def test_a_deal_that_an_exit_knock_broke_off(self):
        t = quiet(points=(3, 12, 12, 12), exact_zero=False).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.dealt("1 2 2 3 | 3 3").bid("2 pass pass pass").tricks(1).knocks_out(P1)
        assert (t.line.kind, t.phase) == ("knocked_out", "over")
        refusal = refused(t, five(P1, 1))
        assert (refusal.code, refusal.rule, refusal.facts) == ("line_hangs", "J9", {"deals": (2,)})
        event = corrected(t, five(P1, 1), strike=(2,))
        assert (event.struck, event.strike, event.won, t.phase) == ((2,), (2,), None, "undealt")
        assert t.dealer == P1, "it is dealt again"

    def test_but_not_where_he_stood_at_zero_all_the_same(self):
        t = quiet(points=(3, 12, 12, 12), exact_zero=False).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.dealt("1 2 2 3 | 3 3").bid("2 pass pass pass").tricks(1).knocks_out(P1)
        assert won(corrected(t, five(P2, 1))) == ("exit_knock", "B77", P1)

    @pytest.mark.rule("C55")
    def test_a_deal_that_zero_ended_at_once(self):
        """P1 is at zero with the first trick of the second deal; with a trick less in the first he is not."""
        first, points = "2 0 0 0", (3, 12, 12, 12)

        def at(wanted: str) -> Table:
            t = attended("rodskagg-catsatcards", points=points, enforcement="refuse", exact_tricks_for_all=True)
            return t.play_deal(first, wanted)

        t, other = at("1 1 2 3 | 2 3"), at("1 2 2 3 | 2 3")
        t.play_deal("2 0 0 1", "1 2 2 3 | 2 3")
        assert t.line.kind == "zero_at_once"
        assert refused(t, told_by(other)).facts == {"deals": (2,)}
        assert corrected(t, told_by(other), strike=(2,)).struck == (2,)

    @pytest.mark.rule("C55")
    def test_and_one_that_zero_should_have_ended(self):
        def at(wanted: str) -> Table:
            t = attended(
                "rodskagg-catsatcards", points=(3, 12, 12, 12), enforcement="refuse", exact_tricks_for_all=True
            )
            return t.play_deal("2 0 0 0", wanted)

        t, other = at("1 2 2 3 | 2 3"), at("1 1 2 3 | 2 3")
        t.play_deal("2 0 0 1", "1 2 2 3 | 2 3")
        assert t.line.kind == "ordinary"
        assert refused(t, told_by(other)).facts == {"deals": (2,)}

    @pytest.mark.rule("C55")
    def test_nor_does_zero_win_with_five_found_late(self):
        t = attended(
            "rodskagg-catsatcards", points=(2, 12, 12, 12), fem_opp=True, exact_tricks_for_all=True, deal_ritual=False
        )
        t.play_deal("2 0 0 0", "1 1 2 3 | 2 3")
        assert t.line.kind == "zero_at_once"
        assert refused(t, five(P1, 1)).facts == {"deals": (1,)}
        assert won(corrected(t, five(P2, 1))) == ("zero_at_once", "C55", P1)

    def alga(self, wanted: str, join: str) -> Table:
        """P1 and P2 are two from zero."""
        t = attended("rodskagg-alga", points=(2, 2, 12, 12), enforcement="refuse")
        return t.play_deal("2 pass pass pass", wanted, join=join)

    @pytest.mark.rule("A55")
    def test_a_duel_that_would_not_have_been(self):
        t, other = self.alga("1 1 2 2 | 3 4", "P3 P4"), self.alga("1 3 3 2 | 4 4", "P4")
        assert t.happened(DuelCalled)[-1].seats == (P1, P2)
        t.play_deal("2 pass", "2 2 2 2 | 1 1")
        assert t.won_by == (P2, "duel")
        assert refused(t, told_by(other)).facts == {"deals": (2,)}
        event = corrected(t, told_by(other), strike=(2,))
        assert (event.duel, event.carried, event.struck, event.won) == ((), {"duel": False}, (2,), None)
        assert (t.dealer, t.in_deal) == (P1, (P1, P2, P3, P4))

    @pytest.mark.rule("A52")
    def test_nor_where_one_of_them_has_won_alone(self):
        """Then it is struck like all that comes after a match is won."""
        t, other = self.alga("1 1 2 2 | 3 4", "P3 P4"), self.alga("1 1 2 3 | 3 4", "P4")
        t.play_deal("2 pass", "2 2 2 2 | 1 1")
        event = corrected(t, told_by(other))
        assert (won(event), event.struck) == (("zero", "A52", P1), (2,))

    @pytest.mark.rule("A56")
    def test_deals_after_a_duel_that_should_have_been(self):
        t, other = self.alga("1 3 3 2 | 4 4", "P4"), self.alga("1 1 2 2 | 3 4", "P3 P4")
        t.play_deal("2 pass pass pass", "2 2 3 3 | 4 4", join="P4")
        assert refused(t, told_by(other)).facts == {"deals": (2,)}
        event = corrected(t, told_by(other), strike=(2,))
        assert (event.duel, event.carried, event.fresh) == ((P1, P2), {"duel": True}, True)
        assert (t.dealer, t.in_deal) == (P1, (P1, P2))
        t.play_deal("2 pass", "2 2 2 2 | 1 1")
        assert t.won_by == (P2, "duel")

    def test_what_was_struck_counts_again_when_it_is_told_anew(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        points = t.points
        first = t.happened(DealScored)[0].points
        event = corrected(t, strike=(2,))
        assert (event.struck, t.points, event.lines) == ((2,), first, ())
        assert (t.dealer, event.next_deal) == (t.line.dealer, 3), "the deal is dealt again, with a number of its own"
        again = Script(deal=2, events=told_by_second(t).events, whole=True)
        event = corrected(t, again)
        assert (event.struck, t.points) == ((), points)


def told_by_second(t: Table) -> Script:
    """The second deal as it was played here."""
    events = t.events
    places = [place for place, one in enumerate(events) if one.TOPIC == "deal/dealt"]
    ends = [place for place, one in enumerate(events) if isinstance(one, PlayEnded)]
    return script(2, events[places[1] : ends[1] + 1], whole=True)


@pytest.mark.rule("B63")
class TestElimination:
    """J9: who was dealt in stays so; elimination counts from the next deal."""

    def lost(self) -> Table:
        """P1 bids rödskägg and loses it."""
        return quiet().play_deal("rodskagg", "2")

    def test_who_is_out_after_all_is_not_dealt_in_again(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        event = corrected(t, told_by(self.lost()))
        assert event.eliminated == (P1,)
        assert [line.eliminated for line in event.lines] == [(P1,), (P1,)]
        changed = event.lines[1].points[P1] - event.lines[1].before[P1]
        assert changed == t.line.points[P1] - t.line.before[P1], "what he wrote while he played stands"
        assert P1 not in t.in_deal
        t.play_deal("2 pass pass", "3 3 2 4 | 3 2")
        assert t.line.before[P1] == t.line.points[P1]

    def test_who_is_in_after_all_is_dealt_in_again(self):
        t = self.lost().play_deal("2 pass pass", "3 3 2 4 | 3 2")
        other = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        event = corrected(t, told_by(other))
        assert event.eliminated == ()
        assert t.in_deal == (P1, P2, P3, P4)
        assert event.lines[1].points[P1] == event.lines[1].before[P1], "he sat out the second deal"


@pytest.mark.rule("D15", "D70")
class TestRams:
    """What the seats win or lose, the pot loses or wins, also when it is found later."""

    def played(self) -> Rams:
        t = Rams(enforcement="penalise", adjudication=OFFICIALS)
        for _ in range(3):
            t.deal()
            t.say("join join join join")
            while t.phase == "playing":
                t.do(next(act for act in t.legal(t.turn) if isinstance(act, Play)))
            if t.phase == "played":
                t.do(Score(seat=P1))
        return t

    def fault(self, t: Rams, deal: int) -> Script:
        """A fault that was seen in a deal, as a report would have made it."""
        stake = t.state.table.stake
        breach = {"offence": "exposed_card", "seat": P2, "rule": "D68", "payer": P2, "points": stake}
        reported = Reported(seat=P1, accused=P2, fault="exposed_card")
        made = script(deal, [reported])
        return Script(
            deal=deal,
            events=(
                type(made.events[0])(topic="fault/reported", event={**made.events[0].event, "breaches": [breach]}),
            ),
        )

    def test_points_and_pot_together_stay(self):
        t = self.played()
        event = corrected(t, self.fault(t, 1))
        assert sum(event.points) + (event.pot or 0) == 0
        assert all(sum(line.points) + (line.pot or 0) == 0 for line in event.lines)
        assert any(entry.rule == "D70" and entry.seat == P2 for entry in event.lines[0].score.entries)  # type: ignore[union-attr]

    def test_a_session_that_was_closed_is_closed_with_the_new_numbers(self):
        t = self.played()
        t.do(Close())
        event = corrected(t, self.fault(t, 1))
        assert event.won is not None
        assert (event.won.by, event.won.rule) == ("closed", "D-O18")
        assert sum(event.points) + (event.pot or 0) == 0
        assert sum(event.won.shares) == event.won.pot_before - (event.pot or 0)
        assert t.phase == "over"


@pytest.mark.rule("C48")
class TestBeforeADuel:
    """A duel that a correction calls begins as any other."""

    def played(self, wanted: str) -> Table:
        t = fem(points=(12, 2, 2, 12), adjudication=OFFICIALS)
        return t.play_deal("2 0 0 0", wanted)

    def test_the_lead_is_drawn(self):
        t, other = self.played("1 1 2 3 | 2 2"), self.played("1 1 2 3 | 2 3")
        assert other.happened(DuelCalled)[0].seats == (P2, P3)
        event = corrected(t, told_by(other))
        assert (event.duel, event.carried["duel"], event.carried["lead"]) == ((P2, P3), True, None)
        assert t.phase == "drawing"
        assert set(t.to_act) <= {P2, P3}

    def test_by_the_house_where_it_deals(self):
        t, other = self.played("1 1 2 3 | 2 2"), self.played("1 1 2 3 | 2 3")
        match, request = t.match, Correct(why=Why(rule="C26"), scripts=(told_by(other),))
        table = msgspec.structs.replace(t.state.table, house=True)
        house = msgspec.structs.replace(match.standing, play=msgspec.structs.replace(t.state, table=table))
        moment = Moment(t.version, t.at, "seed", "official", tuple(t.history))
        (event, *cards, lead), after = match.procedure.take(house, request, moment)
        assert isinstance(event, ProtocolCorrected)
        assert after.play.table.lead == lead.seat
        assert {type(card) for card in cards} == {CardDrawn}
        assert {card.seat for card in cards} == {P2, P3}
        assert isinstance(lead, LeadDrawn)

    def test_anew_where_it_was_called_off_and_is_called_again(self):
        t, other = self.played("1 1 2 3 | 2 3"), self.played("1 1 2 3 | 2 2")
        for card in ("SA", "S2"):
            t.do(Draw(seat=t.turn, card=card))
        was = told_by(t)
        corrected(t, told_by(other))
        assert (t.phase, t.in_deal) == ("undealt", (P1, P2, P3, P4))
        corrected(t, was)
        assert t.phase == "drawing"
        assert recast(t.rules, t.history).state == t.state

    def test_what_was_knocked_up_before_it_stands(self):
        t, other = self.played("1 1 2 3 | 2 2"), self.played("1 1 2 3 | 2 3")
        t.stand((PenaltyImposed(seat=P4, points=5, rule="C60"),), "official")
        corrected(t, told_by(other))
        for card in ("SA", "S2"):
            t.do(Draw(seat=t.turn, card=card))
        t.dealt("2 2 2 2 | 2 2").tricks(6).score()
        assert t.line.penalties == (0, 0, 0, 5)
        points = t.points
        event = corrected(t, five(P1, 1))
        assert t.points == (points[P1] + 5, *points[P2:])
        assert event.lines[-1].score is None, "nothing else has changed on its line"


class TestBeforeADeal:
    """What was done for the next deal counts, unless somebody else deals it now."""

    def cut(self) -> Table:
        t = attended().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.do(Cut(seat=P1))
        return t

    @pytest.mark.rule("B16")
    def test_a_cut_stands(self):
        t = self.cut()
        event = corrected(t, five(P3, 1))
        assert (event.fresh, t.state.cut) == (False, True)
        assert recast(t.rules, t.history).state == t.state

    @pytest.mark.rule("B16", "B63")
    def test_but_not_that_of_who_is_out(self):
        t = self.cut()
        event = corrected(t, told_by(attended().play_deal("rodskagg", "2")))
        assert (event.fresh, t.dealer, t.state.cut) == (True, P2, False)
        assert recast(t.rules, t.history).state == t.state

    @pytest.mark.rule("B15")
    def test_who_was_drawn_for_the_first_deal_deals_it_again_when_it_is_struck(self):
        t = quiet(dealer=None)
        t.do(*(Draw(seat=seat, card=card) for seat, card in enumerate(("S2", "S3", "SA", "S4"))))
        assert t.dealer == P3
        t.play_deal("2 pass pass pass", "4 4 1 2 | 4 1")
        corrected(t, strike=(1,))
        assert t.dealer == P3
        assert t.points == t.opening.points


@pytest.mark.parametrize("points", [(12, 12, 12, 12), (40, 3, 12, 12)])
def test_a_line_is_told_by_what_is_otherwise(points: tuple[int, ...]):
    t = (
        quiet(points=points)
        .play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        .play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
    )
    before = as_they_count(t.history)
    event = corrected(t, five(P3, 1))
    assert [amended(before[one.event], one) for one in event.lines] == list(as_they_count(t.history).values())


@pytest.mark.rule("C-O23")
class TestVoided:
    """Penalties of a deal that was voided stand on a line of their own, which follows like any other."""

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

    def test_it_is_struck_where_the_match_was_won_before(self):
        t = self.voided()
        other = fem(points=(12, 12, 12, 12), deal_ritual=False, adjudication=OFFICIALS)
        other.play_deal("rodskagg 0 0 0", "1 1 1 1 | 1 1")
        assert other.won_by == (P1, "redbeard")
        event = corrected(t, told_by(other))
        assert won(event) == ("redbeard", "C41", P1)
        assert (event.struck, event.points) == ((2,), other.points)


def test_an_abandoned_match_that_was_won_before_is_won():
    t = quiet(points=(3, 12, 12, 12)).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
    t.dealt("2 2 1 3 | 2 3").do(Abandon(reason="too late in the evening"))
    event = corrected(t, five(P2, 1))
    assert event.won is not None
    assert (event.won.by, event.won.rule, event.won.event) == ("abandoned", "", t.version - 1)
    other = quiet(points=(3, 12, 12, 12)).play_deal("2 pass pass pass", "1 1 1 3 | 3 3")
    assert won(corrected(t, told_by(other))) == ("zero", "B70", P1)


def test_a_game_that_scores_nothing_anew_says_so():
    with pytest.raises(WrongPhase) as refused:
        asked_of(SIXTH)
    assert refused.value.code == "not_in_this_game"


def asked_of(rules: Ruleset) -> None:
    """A correction asked of a match of any game that has just been opened."""
    match = opening(players=3, adjudication=OFFICIALS)
    game = msgspec.structs.replace(match, ruleset=rules.key, options={"target": 3}, points=(0, 0, 0))
    procedure = attended_by(rules)
    history = (Recorded(UUID(int=1), 1, given.NOON, "official", "", "", "", game),)
    moment = Moment(1, given.NOON, "seed", "official", history)
    procedure.take(procedure.start(game), Correct(why=Why(rule="H5"), strike=(1,)), moment)
