"""Rödskägg (Kortoxen): every error that can be knocked for, and deals in which it is made."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from referee.acts import Bid, Cut, Deal, PickUp, Play, Report
from referee.events import CardPlayed, Dealt, Reported, TrickTaken
from referee.games._rodskagg.facts import CardsCut, PickedUp
from referee.visibility import Event
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4


class Error(NamedTuple):
    """An error: how ``seat`` makes it in a deal by P1, the rule of its ruling, and the events that the ruling rests
    on."""

    offence: str
    seat: int
    rule: str
    rests_on: tuple[type[Event], ...]
    make: Callable[[Table], Any]


def early_pick_up(t: Table) -> None:
    t.dealt("2 2 1 2 | 2 2", ritual=False).do(PickUp(seat=P2))


def misdeal(t: Table) -> None:
    t.do(Deal(seat=P1, counts=tuple(6 + (seat == P2) if seat in t.seen().active else 0 for seat in range(4))))
    t.do(PickUp(seat=P1))


def fold_question(t: Table) -> None:
    t.dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(4).card()


def exit_knock(t: Table) -> None:
    t.dealt("3 3 2 1 | 2 1").declares(P2, 1).tricks(2).card()


def revoke(t: Table) -> None:
    t.dealt("2 2 1 2 | 2 2").declares(P2, 1).card()
    t.do(Play(seat=P3, card=t.plan.cards[1][P3]))


def reported(fault: Any) -> Callable[[Table], None]:
    def report(t: Table) -> None:
        t.dealt("2 2 1 2 | 2 2").declares(P2, 1).do(Report(seat=P1, accused=P2, fault=fault))

    return report


ERRORS = (
    Error("wrong_cut", P2, "B17", (CardsCut,), lambda t: t.do(Cut(seat=P2))),
    Error("early_pick_up", P2, "B24", (Dealt, PickedUp), early_pick_up),
    Error("misdeal", P1, "B25", (Dealt, PickedUp), misdeal),
    Error("fold_question", P2, "B54", (TrickTaken, CardPlayed), fold_question),
    Error("exit_knock", P3, "B68", (TrickTaken, CardPlayed), exit_knock),
    Error("revoke", P3, "B42", (CardPlayed, CardPlayed), revoke),
    Error("exposed_card", P2, "B11", (Reported,), reported("exposed_card")),
    Error("led_out_of_turn", P2, "B11", (Reported,), reported("led_out_of_turn")),
)
EVERY_ERROR = pytest.mark.parametrize("error", ERRORS, ids=[error.offence for error in ERRORS])


def fresh(**match: Any) -> Table:
    """Return a table where P1 deals and P3 needs two tricks to reach zero."""
    return table(points=(12, 12, 2, 12), dealer=P1, enforcement="penalise", **match)


def without_p4(**match: Any) -> Table:
    """Return a table where P4 is out and P1 deals."""
    t = table(points=(12, 12, 2, 12), dealer=P3, enforcement="penalise", **match)
    t.dealt("1 1 1 1 | 1 1").declares(P4, "rodskagg").tricks(1).score()
    assert t.dealer == P1
    return t


def after(error: Error, **match: Any) -> Table:
    """Return a table where the error has just been made."""
    t = fresh(**match)
    error.make(t)
    return t


def go_on(t: Table) -> None:
    """Make the next act within the rules. Forehand declares one trick, and all go along."""
    seat = t.turn
    if t.phase == "undealt" or Deal(seat=t.dealer) in t.legal(t.dealer):
        t.dealt("2 2 1 2 | 2 2", ritual=False)
    elif t.phase == "picking_up":
        t.do(PickUp(seat=next(seat for seat in t.seen().active if seat not in (t.seen().picked_up or ()))))
    elif t.phase == "auction":
        t.do(Bid(seat=seat, bid="pass" if t.seen().bids else "1"))
    else:
        t.do(t.legal(seat)[0])


def to_the_end(t: Table) -> Table:
    """Play within the rules until the deal can be scored."""
    while t.phase != "played":
        go_on(t)
    return t


def other(*seats: int) -> int:
    """Return a seat that is not listed."""
    return next(seat for seat in (P1, P2, P3) if seat not in seats)


def tricks_done(t: Table) -> int:
    return len(t.winners)


def revokes(t: Table) -> None:
    """Let P3 play a card of another suit while holding the suit led."""
    while t.turn != P3 or not t.seen().trick:
        go_on(t)
    follow = {act.card for act in t.legal(P3)}
    held = t.seen().hands
    assert held is not None
    t.do(Play(seat=P3, card=next(card for card in held[P3] if card not in follow)))
    assert "revoke" in {breach["offence"] for breach in t.seen().breaches or ()}
