"""No error costs twice, in any order of knocks, reports, rulings and agreements (B-O5, J1-J3, J7)."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from referee.acts import Deal, Knock, KnockOut, Offence, Play, Report
from referee.cards import BIT
from referee.events import CardPlayed, DealScored, TrickTaken
from referee.games._rodskagg.facts import AuctionWon
from referee.games.rams_english.payment import fault_events_by_seat
from referee.refusals import Refused
from referee.requests import Appeal, OpenCase, Request, Statement, Withdrawal
from tests.officials.hearing import Hearing
from tests.support.random_deals import RETOLD

DEALS = RETOLD // 5
"""Deals of each game."""
OFFICIALS = ("official", "official:2")
GAMES: dict[str, dict[str, Any]] = {
    "rodskagg-kortoxen": {},
    "rodskagg-catsatcards": {"fem_opp": True},
    "rams-english": {"fault_per_incident": True},
}
"""The games with offences, with their options."""
TOLD: dict[str, tuple[Offence, ...]] = {
    "rodskagg-kortoxen": ("exposed_card", "led_out_of_turn"),
    "rodskagg-catsatcards": (),
    "rams-english": ("exposed_card", "led_out_of_turn"),
}
"""Offences that only the table sees. In the games of Rödskägg closed hands also hide revokes."""


class Evening:
    """A deal with closed hands, whose cards the test knows, with the errors that are really made in it."""

    def __init__(self, ruleset: str, chance: Random) -> None:
        self.chance, self.ruleset = chance, ruleset
        self.hearing = Hearing(ruleset, enforcement="penalise", **GAMES[ruleset])
        self.errors: list[tuple[int, Offence, int]] = []
        """The errors: each a seat, an offence, and the number of the event that shows it or precedes it."""
        self.fresh: list[tuple[int, Offence]] = []
        """The errors of the trick under way, which can still be reported."""
        self.between_tricks = False
        self.met = Counter[str]()

    def deal(self) -> None:
        """Deal closed hands."""
        each = 5 if self.ruleset == "rams-english" else 6
        pack = list(self.hearing.match.rules.pack)
        self.chance.shuffle(pack)
        self.hands = [pack[seat * each : (seat + 1) * each] for seat in range(4)]
        turned = {"turn_up": pack[-1]} if self.ruleset == "rams-english" else {}
        self.hearing.deal(counts=(each,) * 4, **turned)

    def done(self, request: Request, actor: Any = None) -> bool:
        """Do a request, and check what must hold after it; return whether it was possible."""
        try:
            events = self.hearing.ask(request, actor)
        except Refused as refused:
            self.met[refused.code] += 1
            return False
        self.met.update(event.TOPIC for event in events)
        for event in events:
            if isinstance(event, AuctionWon) or (isinstance(event, CardPlayed) and self.between_tricks):
                self.fresh, self.between_tricks = [], False
            self.between_tricks |= isinstance(event, TrickTaken)
        return True

    def play(self) -> bool:
        """Do an act of the game, sometimes a revoke; return whether the deal continues."""
        match, chance = self.hearing.match, self.chance
        legal = [act for seat in range(4) for act in match.rules.legal(match.play, seat)]
        cards = [act for act in legal if isinstance(act, Play) and act.card in self.hands[act.seat]]
        if cards:
            seat, led = cards[0].seat, getattr(match.play, "led", 0)
            suit = [act for act in cards if BIT[act.card] & led]
            others = [act for act in cards if act not in suit]
            revokes = bool(suit and others) and "rodskagg" in self.ruleset and chance.random() < 0.5
            act: Any = chance.choice(others if revokes or not suit else suit)
            if not self.done(act):
                return False
            self.hands[seat].remove(act.card)
            if revokes:
                self.errors.append((seat, "revoke", len(self.hearing.history)))
            return True
        wanted = [act for act in legal if not isinstance(act, KnockOut | Deal | Play | Report)]
        wanted = [act for act in wanted if getattr(act, "bid", None) != "generalrams"]
        if not wanted or not self.done(chance.choice(wanted)):
            return False
        return not any(isinstance(one.event, DealScored) for one in self.hearing.history)

    def err(self) -> None:
        """Let a player commit an offence that only the table sees."""
        if TOLD[self.ruleset]:
            error = self.chance.randrange(4), self.chance.choice(TOLD[self.ruleset])
            self.errors.append((*error, len(self.hearing.history)))
            self.fresh.append(error)

    def say(self) -> None:
        """Send a knock, a report or a request in a case, about an error that was made."""
        chance, cases = self.chance, [case for case in self.hearing.cases if case.kind == "offence"]
        if not self.errors:
            return
        accused, offence, _ = chance.choice(self.errors)
        knocker = chance.choice([seat for seat in range(4) if seat != accused])
        match chance.randrange(8):
            case 0 | 1 | 2:
                named = offence if chance.random() < 0.7 else None
                self.done(Knock(seat=knocker, accused=accused, offence=named))
            case 3 if self.fresh:
                accused, offence = chance.choice(self.fresh)
                seat = chance.choice((accused, knocker if knocker != accused else accused))
                self.done(Report(seat=seat, accused=accused, fault=offence))  # type: ignore[arg-type]
            case 4:
                self.done(OpenCase(kind="offence", accused=accused, offence=offence), chance.choice(OFFICIALS))
            case _ if cases:
                self.hear(chance.choice(cases))

    def hear(self, case: Any) -> None:
        """Send a request in a case. Officials find only errors that were made."""
        chance = self.chance
        match chance.randrange(6):
            case 0:
                self.done(Statement(case=case.case, seat=case.accused, agrees=chance.random() < 0.5))
            case 1 if isinstance(case.by, int):
                self.done(Withdrawal(case=case.case, seat=case.by))
            case 2 if case.status == "ruled":
                self.done(Appeal(case=case.case, seat=chance.choice(case.parties)))
            case _:
                made = [one for one in self.errors if one[:2] == (case.accused, case.offence)]
                upheld = bool(made) and chance.random() < 0.6
                events = (chance.choice(made)[2],) if upheld and chance.random() < 0.5 else ()
                ruling = self.hearing.ruling("upheld" if upheld else "dismissed", case.case, events=events)
                self.done(ruling, chance.choice(OFFICIALS))

    def check(self) -> None:
        """Check that each player pays for at most the errors that this player made."""
        table = self.hearing.match.play.table
        made = Counter(accused for accused, *_ in self.errors)
        for seat in range(4):
            if self.ruleset == "rams-english":
                own = fault_events_by_seat(table).get(seat, [])
                shown = sum(
                    one.breach.seat == seat and one.breach.offence not in TOLD[self.ruleset]
                    for one in table.ledger.breaches
                )
                assert len(own) - shown <= made[seat], (self.errors, self.hearing.history)
            else:
                own_points = table.ledger.penalty_points(seat)
                acts = 5 * sum(
                    one.breach.seat == seat and one.breach.offence not in ("revoke", *TOLD[self.ruleset])
                    for one in table.ledger.breaches
                )
                assert own_points <= 5 * made[seat] + acts, (self.errors, self.hearing.history)


@pytest.mark.rule("B-O5", "J1", "J2", "J3", "J7")
@pytest.mark.parametrize("ruleset", GAMES)
def test_no_error_costs_twice(ruleset: str) -> None:
    met = Counter[str]()
    for number in range(DEALS):
        evening = Evening(ruleset, Random(f"incidents {ruleset} {number}"))
        evening.deal()
        goes_on = True
        while goes_on:
            goes_on = evening.play()
            if goes_on and evening.chance.random() < 0.1:
                evening.err()
            for _ in range(evening.chance.randrange(4) if goes_on else 0):
                evening.say()
                evening.check()
        met += evening.met
    assert min(met["case/ruled"], met["case/stated"], 10 * met["punished_already"]) > DEALS, met
