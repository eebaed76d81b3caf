"""Drawing for the deal, the ritual, and what only the table sees (B13-B27)."""

from msgspec.structs import replace

from referee.acts import Draw, Report
from referee.events import Breach, FirstDealerDrawn
from referee.games._rodskagg import auction, dealing, new_hands, reports, ritual
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.dealing import HAND, DealtCards, Drawing
from referee.games._rodskagg.facts import MisdealFound
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.ritual import Customs, PickingUp, Undealt
from referee.games.rodskagg_kortoxen.states import CITES, Played, Playing, Table, deal_of
from referee.refusals import AgainstTheRules, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

FIVE_UP = 5
"""What an error costs (B11)."""
RULE = {
    "wrong_cut": "B17",
    "early_pick_up": "B24",
    "misdeal": "B25",
    "fold_question": "B54",
    "exit_knock": "B68",
    "revoke": "B42",
    "exposed_card": "B11",
    "led_out_of_turn": "B11",
}
"""The rule that an offence breaks."""


def price(table: Table, offence: str) -> int:
    """B11: what an offence costs; 0 where it is refused."""
    return FIVE_UP if table.penalise else 0


def breach(table: Table, offence: str, seat: int, tricks: int, *shown_by: int, rule: str | None = None) -> Breach:
    """An offence, to be knocked for until ``tricks`` tricks are complete, or the deal is scored (B-O2)."""
    return Breach(
        offence=offence,
        seat=seat,
        rule=rule or RULE[offence],
        payer=seat,
        points=price(table, offence),
        closes_after=tricks if _has_window(table) and tricks <= HAND else None,
        shown_by=shown_by,
    )


def _has_window(table: Table) -> bool:
    """B-O2, B-O40: whether there is less time than until the score; from a score sheet nobody can tell."""
    return table.options.knock_window == "next_trick" and not table.tally


# Drawing for the first deal


def draw(state: Drawing[Table], act: Draw, moment: Moment) -> tuple[Event, ...]:
    """B14-B15, B-O24: the contenders draw clockwise; among those level for the highest card again."""
    return dealing.draw(state, act, CITES, "B14")


def drawn(state: Drawing[Table], moment: Moment) -> tuple[Event, ...]:
    """B14-B15: the highest card deals; in house dealing the referee draws for everybody."""
    cards, dealer = dealing.drawn_highest(state, moment.seed)
    return () if dealer is None else (*cards, FirstDealerDrawn(seat=dealer, rule="B15"))


# The ritual


def _hands_up(table: Table, cards: DealtCards) -> Exchanging[Table] | Auction[Table]:
    """B29, B-O20: the bidding, and before it new hands where they may be asked for."""
    anew = table.options.honour_redeal and not table.tally
    return new_hands.opened(table, cards) if anew else auction.opened(table, cards)


CUSTOMS = Customs(
    cites=CITES,
    held=lambda table: table.options.deal_ritual,
    price=price,
    breach=breach,
    may_misdeal=lambda table: table.penalise,
    keeps_stock=lambda table: table.options.honour_redeal,
    hands_up=_hands_up,
)


# Reports of what the cards cannot show

Seen = Undealt[Table] | PickingUp[Table] | Exchanging[Table] | Auction[Table] | Playing | Played


def report(state: Seen, act: Report, moment: Moment) -> tuple[Event, ...]:
    """B-O33 and the errors of B11 that only the table sees: a report stands as seen; a knock makes it count.

    A reported misdeal with closed hands is a misdeal: the same dealer deals again, in both enforcements (B27).
    """
    table, reported = state.table, ritual.reported(state, act, CITES)
    if act.fault in ("misdeal", "wrong_count"):
        return reported, _misdeal_reported(state, act)
    if not table.penalise:
        raise WrongPhase("nothing_to_punish", "B12")
    dealt = 0 if isinstance(state, Undealt) else state.cards.event
    error = reports.counted(table, act, _reported_error(state, act), dealt, _tricks_led(state), "B-O5")
    return (replace(reported, breaches=(error,)),)


def _tricks_led(state: Seen) -> int:
    """Return how many tricks of the deal have been led to, the first before its lead; in a tally, how many are
    entered."""
    deal = deal_of(state)
    if deal is None or state.table.tally:
        return 0 if deal is None else len(deal.won)
    return max(1, len(deal.won) + (isinstance(state, Playing) and bool(state.trick)))


def _reported_error(state: Seen, act: Report) -> Breach:
    """The error, in its window; the ritual's only as long as the acts themselves do not tell (B17, B24)."""
    if act.fault in ("early_pick_up", "wrong_cut"):
        if not state.table.options.deal_ritual:
            raise WrongPhase("no_ritual", CITES.picking_up if act.fault == "early_pick_up" else CITES.cut)
        return ritual.neglected(state, act, CUSTOMS)
    if act.fault not in RULE:
        raise AgainstTheRules("no_such_offence", "B11", allowed=tuple(RULE))
    if act.fault == "revoke" and not state.table.tally:
        raise AgainstTheRules("cards_tell", RULE["revoke"])
    if isinstance(state, Undealt):
        raise WrongPhase("nothing_dealt", "B27")
    deal = deal_of(state)
    tricks = 1 + (deal.played if deal else 0) + (isinstance(state, Playing) and bool(state.trick))
    return breach(state.table, act.fault, act.accused, tricks)


def _misdeal_reported(state: Seen, act: Report) -> MisdealFound:
    """B27, B-O33: a wrong number that the referee cannot see, until it is settled by the play."""
    if isinstance(state, Undealt) or (isinstance(state, PickingUp) and state.found):
        raise WrongPhase("nothing_dealt", "B27")
    if isinstance(state, Played):
        raise reports.too_late(CITES)
    reports.check_misdeal(state.table, state.cards, state if isinstance(state, Playing) else None, act, CITES)
    return ritual.misdeal_reported(state, act, CUSTOMS)
