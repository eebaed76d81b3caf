"""J9: effects of a corrected line: later lines, eliminated players, duels, and the next deal."""

import msgspec
import pytest

from referee.acts import Close, Cut, Draw, Play, Score
from referee.cards import shuffled
from referee.events import CardDrawn, DealScored, PenaltyImposed, Reported
from referee.games._rodskagg.facts import DuelCalled, LeadDrawn
from referee.officials.events.corrections import ProtocolCorrected, Script, Why
from referee.officials.events.shuffle import ShuffleCommitted
from referee.officials.rescoring import rescore, script
from referee.officials.shuffle import shuffle_key
from referee.officials.state import Docket, Shuffle
from referee.requests import Correct
from referee.ruleset import Moment
from referee.visibility import Event
from tests.games.rams_table import Table as Rams
from tests.games.rodskagg import Table, fem
from tests.officials.correction_tables import (
    OFFICIALS,
    attended,
    corrected,
    five,
    quiet,
    refused,
    script_of_deal,
    script_of_second_deal,
    won,
)
from tests.support.match_driver import P1, P2, P3, P4


class TestDependentDeals:
    """J9: a line that depended on the number no longer counts, but an official must strike it."""

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

    def test_a_deal_does_not_depend_if_the_seat_still_stood_at_zero(self):
        t = quiet(points=(3, 12, 12, 12), exact_zero=False).play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.dealt("1 2 2 3 | 3 3").bid("2 pass pass pass").tricks(1).knocks_out(P1)
        assert won(corrected(t, five(P2, 1))) == ("exit_knock", "B77", P1)

    @pytest.mark.rule("C55")
    def test_a_deal_that_zero_ended_at_once(self):
        """P1 comes to zero with the first trick of the second deal; with a trick less in the first deal P1 does
        not."""
        first, points = "2 0 0 0", (3, 12, 12, 12)

        def at(wanted: str) -> Table:
            t = attended("rodskagg-catsatcards", points=points, enforcement="refuse", exact_tricks_for_all=True)
            return t.play_deal(first, wanted)

        t, other = at("1 1 2 3 | 2 3"), at("1 2 2 3 | 2 3")
        t.play_deal("2 0 0 1", "1 2 2 3 | 2 3")
        assert t.line.kind == "zero_at_once"
        assert refused(t, script_of_deal(other)).facts == {"deals": (2,)}
        assert corrected(t, script_of_deal(other), strike=(2,)).struck == (2,)

    @pytest.mark.rule("C55")
    def test_a_deal_that_zero_should_have_ended(self):
        def at(wanted: str) -> Table:
            t = attended(
                "rodskagg-catsatcards", points=(3, 12, 12, 12), enforcement="refuse", exact_tricks_for_all=True
            )
            return t.play_deal("2 0 0 0", wanted)

        t, other = at("1 2 2 3 | 2 3"), at("1 1 2 3 | 2 3")
        t.play_deal("2 0 0 1", "1 2 2 3 | 2 3")
        assert t.line.kind == "ordinary"
        assert refused(t, script_of_deal(other)).facts == {"deals": (2,)}

    @pytest.mark.rule("C55")
    def test_zero_does_not_win_with_five_points_found_late(self):
        t = attended(
            "rodskagg-catsatcards", points=(2, 12, 12, 12), fem_opp=True, exact_tricks_for_all=True, deal_ritual=False
        )
        t.play_deal("2 0 0 0", "1 1 2 3 | 2 3")
        assert t.line.kind == "zero_at_once"
        assert refused(t, five(P1, 1)).facts == {"deals": (1,)}
        assert won(corrected(t, five(P2, 1))) == ("zero_at_once", "C55", P1)

    def alga(self, wanted: str, join: str) -> Table:
        """Return a match of Alga in which P1 and P2 are two points from zero."""
        t = attended("rodskagg-alga", points=(2, 2, 12, 12), enforcement="refuse")
        return t.play_deal("2 pass pass pass", wanted, join=join)

    @pytest.mark.rule("A55")
    def test_a_duel_that_would_not_have_been(self):
        t, other = self.alga("1 1 2 2 | 3 4", "P3 P4"), self.alga("1 3 3 2 | 4 4", "P4")
        assert t.happened(DuelCalled)[-1].seats == (P1, P2)
        t.play_deal("2 pass", "2 2 2 2 | 1 1")
        assert t.won_by == (P2, "duel")
        assert refused(t, script_of_deal(other)).facts == {"deals": (2,)}
        event = corrected(t, script_of_deal(other), strike=(2,))
        assert (event.duel, event.carried, event.struck, event.won) == ((), {"duel": False}, (2,), None)
        assert (t.dealer, t.in_deal) == (P1, (P1, P2, P3, P4))

    @pytest.mark.rule("A52")
    def test_a_duel_is_struck_if_one_of_the_two_has_won_alone(self):
        """The duel is struck then, as all deals after a win."""
        t, other = self.alga("1 1 2 2 | 3 4", "P3 P4"), self.alga("1 1 2 3 | 3 4", "P4")
        t.play_deal("2 pass", "2 2 2 2 | 1 1")
        event = corrected(t, script_of_deal(other))
        assert (won(event), event.struck) == (("zero", "A52", P1), (2,))

    @pytest.mark.rule("A56")
    def test_deals_after_a_duel_that_should_have_been(self):
        t, other = self.alga("1 3 3 2 | 4 4", "P4"), self.alga("1 1 2 2 | 3 4", "P3 P4")
        t.play_deal("2 pass pass pass", "2 2 3 3 | 4 4", join="P4")
        assert refused(t, script_of_deal(other)).facts == {"deals": (2,)}
        event = corrected(t, script_of_deal(other), strike=(2,))
        assert (event.duel, event.carried, event.fresh) == ((P1, P2), {"duel": True}, True)
        assert (t.dealer, t.in_deal) == (P1, (P1, P2))
        t.play_deal("2 pass", "2 2 2 2 | 1 1")
        assert t.won_by == (P2, "duel")

    def test_a_struck_deal_counts_again_with_a_new_result(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        points = t.points
        first = t.happened(DealScored)[0].points
        event = corrected(t, strike=(2,))
        assert (event.struck, t.points, event.lines) == ((2,), first, ())
        assert (t.dealer, event.next_deal) == (t.line.dealer, 3), "the deal is dealt again, with a number of its own"
        again = Script(deal=2, events=script_of_second_deal(t).events, whole=True)
        event = corrected(t, again)
        assert (event.struck, t.points) == ((), points)


@pytest.mark.rule("B63")
class TestElimination:
    """J9: players who were dealt in stay so; elimination counts from the next deal."""

    def lost(self) -> Table:
        """Return a match in which P1 bids rödskägg and loses it."""
        return quiet().play_deal("rodskagg", "2")

    def test_a_player_eliminated_by_a_correction_gets_no_more_cards(self):
        t = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3").play_deal("2 pass pass pass", "2 2 1 3 | 2 3")
        event = corrected(t, script_of_deal(self.lost()))
        assert event.eliminated == (P1,)
        assert [line.eliminated for line in event.lines] == [(P1,), (P1,)]
        changed = event.lines[1].points[P1] - event.lines[1].before[P1]
        assert changed == t.line.points[P1] - t.line.before[P1], (
            "the points that the seat scored while it played count"
        )
        assert P1 not in t.in_deal
        t.play_deal("2 pass pass", "3 3 2 4 | 3 2")
        assert t.line.before[P1] == t.line.points[P1]

    def test_a_player_whose_elimination_is_corrected_gets_cards_again(self):
        t = self.lost().play_deal("2 pass pass", "3 3 2 4 | 3 2")
        other = quiet().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        event = corrected(t, script_of_deal(other))
        assert event.eliminated == ()
        assert t.in_deal == (P1, P2, P3, P4)
        assert event.lines[1].points[P1] == event.lines[1].before[P1], "the seat sat out the second deal"


@pytest.mark.rule("D15", "D70")
class TestRams:
    """Seats and pot add up to zero, also after a late fault."""

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
        """Return a script for a fault in a deal, as a report would have recorded it."""
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
        assert any(entry.rule == "D70" and entry.seat == P2 for entry in event.lines[0].score.entries)

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
    """A duel that a correction calls begins as any other duel."""

    def played(self, wanted: str) -> Table:
        t = fem(points=(12, 2, 2, 12), adjudication=OFFICIALS)
        return t.play_deal("2 0 0 0", wanted)

    def test_the_lead_is_drawn(self):
        t, other = self.played("1 1 2 3 | 2 2"), self.played("1 1 2 3 | 2 3")
        assert other.happened(DuelCalled)[0].seats == (P2, P3)
        event = corrected(t, script_of_deal(other))
        assert (event.duel, event.carried["duel"], event.carried["lead"]) == ((P2, P3), True, None)
        assert t.phase == "drawing"
        assert set(t.to_act) <= {P2, P3}

    def test_the_house_draws_after_a_correction_if_it_deals(self):
        t, other = self.played("1 1 2 3 | 2 2"), self.played("1 1 2 3 | 2 3")
        match, request = t.match, Correct(why=Why(rule="C26"), scripts=(script_of_deal(other),))
        table = msgspec.structs.replace(t.state.table, house=True)
        house = msgspec.structs.replace(match.state, play=msgspec.structs.replace(t.state, table=table))
        moment = Moment(t.version, t.at, "seed", "official", tuple(t.history))
        (event, *cards, lead), after = match.procedure.take(house, request, moment)
        assert isinstance(event, ProtocolCorrected)
        assert after.play.table.lead == lead.seat
        assert {type(card) for card in cards} == {CardDrawn}
        assert {card.seat for card in cards} == {P2, P3}
        assert isinstance(lead, LeadDrawn)

    def committed(self, seed: str, docket: Docket | None = None) -> tuple[tuple[Event, ...], Docket]:
        """Correct a match with a shuffle by commitment, with this outer seed; return the events and the docket."""
        t, other = self.played("1 1 2 3 | 2 2"), self.played("1 1 2 3 | 2 3")
        request = Correct(why=Why(rule="C26"), scripts=(script_of_deal(other),))
        table = msgspec.structs.replace(t.state.table, house=True)
        play = msgspec.structs.replace(t.state, table=table)
        docket = docket or msgspec.structs.replace(t.match.state.docket, shuffle=Shuffle(seconds=0))
        house = msgspec.structs.replace(t.match.state, play=play, docket=docket)
        moment = Moment(t.version, t.at, seed, "official", tuple(t.history))
        events, after = t.match.procedure.take(house, request, moment)
        return events, after.docket

    def test_as_the_house_has_committed_to(self):
        """The outer seed then has no effect: the house cannot choose the leader."""
        (event, committed, *cards, lead), docket = self.committed("seed")
        assert (type(event), type(committed), type(lead)) == (ProtocolCorrected, ShuffleCommitted, LeadDrawn)
        commitment = docket.shuffle.commitment
        t = self.played("1 1 2 3 | 2 2")
        number = t.version + 2
        key = shuffle_key(Moment(number, t.at, ""), commitment)
        order = shuffled(f"2:{number}:{key}")
        assert tuple(card.card for card in cards) == order[: len(cards)]
        drawn = {
            tuple(one for one in self.committed(seed, docket)[0] if isinstance(one, CardDrawn | LeadDrawn))
            for seed in ("seed", "another", "a third")
        }
        assert len(drawn) == 1
        assert drawn != {()}

    def test_a_preview_draws_no_cards_for_a_duel(self):
        """Otherwise an official could preview until the lead suits them."""
        assert not [one for one in self.committed("")[0] if isinstance(one, CardDrawn | LeadDrawn)]

    def test_again_after_it_was_called_off_and_is_called_again(self):
        t, other = self.played("1 1 2 3 | 2 3"), self.played("1 1 2 3 | 2 2")
        for card in ("SA", "S2"):
            t.do(Draw(seat=t.turn, card=card))
        was = script_of_deal(t)
        corrected(t, script_of_deal(other))
        assert (t.phase, t.in_deal) == ("undealt", (P1, P2, P3, P4))
        corrected(t, was)
        assert t.phase == "drawing"
        assert rescore(t.rules, t.history).state == t.state

    def test_penalties_before_the_corrected_deal_are_kept(self):
        t, other = self.played("1 1 2 3 | 2 2"), self.played("1 1 2 3 | 2 3")
        t.stand((PenaltyImposed(seat=P4, points=5, rule="C60"),), "official")
        corrected(t, script_of_deal(other))
        for card in ("SA", "S2"):
            t.do(Draw(seat=t.turn, card=card))
        t.dealt("2 2 2 2 | 2 2").tricks(6).score()
        assert t.line.penalties == (0, 0, 0, 5)
        points = t.points
        event = corrected(t, five(P1, 1))
        assert t.points == (points[P1] + 5, *points[P2:])
        assert event.lines[-1].score is None, "nothing else has changed on its line"


class TestBeforeADeal:
    """Acts for the next deal count, unless the dealer changes."""

    def cut(self) -> Table:
        t = attended().play_deal("2 pass pass pass", "1 1 2 3 | 2 3")
        t.do(Cut(seat=P1))
        return t

    @pytest.mark.rule("B16")
    def test_a_cut_stands(self):
        t = self.cut()
        event = corrected(t, five(P3, 1))
        assert (event.fresh, t.state.cut) == (False, True)
        assert rescore(t.rules, t.history).state == t.state

    @pytest.mark.rule("B16", "B63")
    def test_a_cut_by_an_eliminated_seat_does_not_stand(self):
        t = self.cut()
        event = corrected(t, script_of_deal(attended().play_deal("rodskagg", "2")))
        assert (event.fresh, t.dealer, t.state.cut) == (True, P2, False)
        assert rescore(t.rules, t.history).state == t.state

    @pytest.mark.rule("B15")
    def test_the_drawn_dealer_deals_again_if_the_first_deal_is_struck(self):
        t = quiet(dealer=None)
        t.do(*(Draw(seat=seat, card=card) for seat, card in enumerate(("S2", "S3", "SA", "S4"))))
        assert t.dealer == P3
        t.play_deal("2 pass pass pass", "4 4 1 2 | 4 1")
        corrected(t, strike=(1,))
        assert t.dealer == P3
        assert t.points == t.opening.points
