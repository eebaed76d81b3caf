"""Drawing for the deal, the ritual of dealing, and reports of errors that only the table sees (B13-B27)."""

from msgspec.structs import replace

from referee.acts import Draw, Report
from referee.events import Breach, FirstDealerDrawn
from referee.games._rodskagg import auction, dealing, new_hands, reports, ritual
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.dealing import HAND_SIZE, DealtCards, Drawing
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.ritual import PickingUp, RitualRules, Undealt
from referee.games.rodskagg_kortoxen.states import CITES, Played, Playing, Table, play_or_outcome
from referee.refusals import AgainstTheRules, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

FIVE_UP = 5
"""Points that an error costs (B11)."""
RULE_BY_OFFENCE = {
    "wrong_cut": "B17",
    "early_pick_up": "B24",
    "misdeal": "B25",
    "fold_question": "B54",
    "exit_knock": "B68",
    "revoke": "B42",
    "exposed_card": "B11",
    "led_out_of_turn": "B11",
}


def price(table: Table, offence: str) -> int:
    """Return the points that each offence costs; 0 if errors are refused (B11)."""
    return FIVE_UP if table.penalise else 0


def breach(table: Table, offence: str, seat: int, tricks: int, *shown_by: int, rule: str | None = None) -> Breach:
    """Return a breach. If knocks have a time limit, it ends when ``tricks`` tricks are complete (B-O2)."""
    return Breach(
        offence=offence,
        seat=seat,
        rule=rule or RULE_BY_OFFENCE[offence],
        payer=seat,
        points=price(table, offence),
        closes_after=tricks if _knocks_are_limited(table) and tricks <= HAND_SIZE else None,
        shown_by=shown_by,
    )


def _knocks_are_limited(table: Table) -> bool:
    """Return whether knocks have a time limit before the score (B-O2, B-O40)."""
    return table.options.knock_window == "next_trick" and not table.tally


def draw(state: Drawing[Table], act: Draw, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a draw (B14-B15, B-O24). Raises what :func:`dealing.draw` raises."""
    return dealing.draw(state, act, CITES, "B14")


def drawing_result(state: Drawing[Table], moment: Moment) -> tuple[Event, ...]:
    """Return the house's draws and the event that names the first dealer; no event while seats must draw
    (B14-B15)."""
    cards, dealer = dealing.drawing_result(state, moment.seed)
    return () if dealer is None else (*cards, FirstDealerDrawn(seat=dealer, rule="B15"))


def _after_pick_up(table: Table, cards: DealtCards) -> Exchanging[Table] | Auction[Table]:
    """Return the exchange of hands if ``honour_redeal`` allows it; else, and in a tally, the auction (B29, B-O20)."""
    exchange = table.options.honour_redeal and not table.tally
    return new_hands.start_of_exchange(table, cards) if exchange else auction.start_of_auction(table, cards)


RITUAL = RitualRules(
    cites=CITES,
    applies=lambda table: table.options.deal_ritual,
    price=price,
    breach=breach,
    may_misdeal=lambda table: table.penalise,
    keeps_stock=lambda table: table.options.honour_redeal,
    after_pick_up=_after_pick_up,
)


Reportable = Undealt[Table] | PickingUp[Table] | Exchanging[Table] | Auction[Table] | Playing | Played


def report(state: Reportable, act: Report, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a report, with a breach or followed by a misdeal, a wrong number of cards (B-O33, B11).

    Raises: WrongPhase if the error is not punished or not possible now, AgainstTheRules in house dealing, or if it is
    unknown, reported already, shown by acts or cards, or not possible for the accused.
    """
    table, reported = state.table, ritual.reported(state, act, CITES)
    if act.fault in ("misdeal", "wrong_count"):
        return reported, ritual.misdeal_reported(state, act, RITUAL)
    if not table.penalise:
        raise WrongPhase("nothing_to_punish", "B12")
    dealt = 0 if isinstance(state, Undealt) else state.cards.event
    error = reports.new_error(table, act, _reported_error(state, act), dealt, _tricks_led(state), "B-O5")
    return (replace(reported, breaches=(error,)),)


def _tricks_led(state: Reportable) -> int:
    """Return the number of tricks begun: 0 before the play, then at least 1; in a tally the number entered."""
    deal = play_or_outcome(state)
    if deal is None or state.table.tally:
        return 0 if deal is None else len(deal.won)
    return max(1, len(deal.won) + (isinstance(state, Playing) and bool(state.trick)))


def _reported_error(state: Reportable, act: Report) -> Breach:
    """Return the reported breach (B11, B17, B24, B27, B42). Raises WrongPhase or AgainstTheRules if it may
    not be reported."""
    if act.fault in ("early_pick_up", "wrong_cut"):
        if not state.table.options.deal_ritual:
            raise WrongPhase("no_ritual", CITES.picking_up if act.fault == "early_pick_up" else CITES.dealer_cuts)
        return ritual.reported_breach(state, act, RITUAL)
    if act.fault not in RULE_BY_OFFENCE:
        raise AgainstTheRules("no_such_offence", "B11", allowed=tuple(RULE_BY_OFFENCE))
    if act.fault == "revoke" and not state.table.tally:
        raise AgainstTheRules("cards_tell", RULE_BY_OFFENCE["revoke"])
    if isinstance(state, Undealt):
        raise WrongPhase("nothing_dealt", "B27")
    deal = play_or_outcome(state)
    tricks = 1 + (deal.played if deal else 0) + (isinstance(state, Playing) and bool(state.trick))
    return breach(state.table, act.fault, act.accused, tricks)
