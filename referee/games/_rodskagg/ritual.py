"""The ritual of the deal: the cut, the formula, picking up, and a misdeal found (B16-B27, B-O7, B-O8, C10, C60).

What a sister holds of it are its :class:`Customs`, which every function here is told.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from referee.acts import Cut, Deal, KnockForCards, PickUp, Report
from referee.cards import texts_of
from referee.events import Breach, Dealt, Reported
from referee.games._rodskagg import dealing
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.dealing import HAND, DealtCards
from referee.games._rodskagg.facts import CardsCut, KnockedForCards, MisdealFound, PickedUp
from referee.offences import noted, with_ledger
from referee.phases import Table
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.value import Value
from referee.visibility import Event

T = TypeVar("T", bound=Table)


class Undealt(Value, Generic[T], tag="undealt"):
    """The dealer is to deal."""

    table: T
    cut: bool = False


class PickingUp(Value, Generic[T], tag="picking_up"):
    """The cards lie before the seats."""

    table: T
    cards: DealtCards
    picked: tuple[int, ...] = ()
    misdealt: bool = False
    """Somebody has a wrong number of cards, as the referee knows."""
    found: bool = False
    """And everybody knows it."""
    cut: bool = False
    """For the deal that comes after the misdeal."""


Before = Undealt[Any] | PickingUp[Any]


class Customs(Value):
    """What a sister holds of the ritual."""

    cites: Cites
    held: Callable[[Any], bool]
    """Whether it is held at this table; where only the tally is kept no acts tell of it."""
    price: Callable[[Any, str], int]
    """What an offence costs at this table; 0: it is refused."""
    breach: Callable[..., Breach]
    """Table, offence, seat, tricks until it is too late, events that show it, and the ``rule`` if it has several."""
    may_misdeal: Callable[[Any], bool]
    """Whether a wrong number of cards may be dealt, to be found on picking up."""
    keeps_stock: Callable[[Any], bool]
    """Whether the stock is needed."""
    hands_up: Callable[[Any, DealtCards], Any]
    """The phase when all have taken up their cards."""


def told(table: Any, customs: Customs) -> bool:
    """Whether there are acts of the ritual."""
    return customs.held(table) and not table.tally


def already_dealt(state: Before) -> bool:
    """B27: no second deal, unless everybody knows that the cards are wrong."""
    return isinstance(state, PickingUp) and not state.found


def cut(state: Before, act: Cut, moment: Moment, customs: Customs) -> tuple[Event, ...]:
    """B16-B17, B-O6, C10: only the dealer may cut; anybody else who does can be knocked for it."""
    table, rule = state.table, customs.cites.cut
    if already_dealt(state):
        raise WrongPhase("already_dealt", rule)
    if not told(table, customs):
        raise WrongPhase("no_ritual", rule)
    if act.seat == table.dealer:
        if state.cut:
            raise WrongPhase("already_cut", rule)
        return (CardsCut(seat=act.seat),)
    if not customs.price(table, "wrong_cut"):
        raise AgainstTheRules("only_dealer_cuts", rule, dealer=table.dealer)
    return (CardsCut(seat=act.seat, breaches=(wrong_cut(table, act.seat, customs),)),)


def wrong_cut(table: Any, seat: int, customs: Customs) -> Breach:
    """B-O6, C60: whose offence a wrong cut is: of who cut, or of the dealer, who let it happen."""
    if table.options.wrong_cut_penalty_to == "cutter":
        return customs.breach(table, "wrong_cut", seat, 1)
    return replace(customs.breach(table, "wrong_cut", table.dealer, 1), by=seat)


def cards_cut(state: Before, event: CardsCut, number: int) -> Any:
    """The state after a cut."""
    return noted(replace(state, cut=state.cut or event.seat == state.table.dealer), event.breaches, number)


def deal(state: Before, act: Deal, moment: Moment, customs: Customs) -> tuple[Event, ...]:
    """B13, B18-B19, B27, C9-C12: the dealer gives six cards each; after a misdeal the same dealer again."""
    table, cites = state.table, customs.cites
    if already_dealt(state):
        raise WrongPhase("already_dealt", cites.dealer)
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", cites.dealer, dealer=table.dealer)
    breaches: tuple[Breach, ...] = ()
    if isinstance(state, PickingUp) and not state.cards.formula and table.dealer not in state.picked:  # B25
        breaches = misdeal_breach(state, customs)
    return dealing.dealt(
        table,
        act,
        moment.seed,
        cites,
        keeps_stock=customs.keeps_stock(table),
        face_up=not told(table, customs),
        may_be_wrong=customs.may_misdeal(table),
        breaches=breaches,
    )


def dealt(state: Before, event: Dealt, number: int, customs: Customs) -> Any:
    """The state when the cards are out."""
    table = replace(state.table, ledger=state.table.ledger.dealt(event.breaches, number))
    cards = dealing.cards_dealt(event, number, table)
    misdealt = event.counts != dealing.six_each(table)
    if told(table, customs) or misdealt:
        return PickingUp(table=table, cards=cards, misdealt=misdealt)
    return customs.hands_up(table, cards)


def knock_for_cards(state: PickingUp[Any], act: KnockForCards, moment: Moment, customs: Customs) -> tuple[Event, ...]:
    """B20-B22, B-O7, C60: the dealer says it, once, and before he takes up his own cards."""
    dealer, rule = state.table.dealer, customs.cites.formula
    if not told(state.table, customs):
        raise WrongPhase("no_ritual", rule)
    if act.seat != dealer:
        raise AgainstTheRules("only_dealer_says_it", rule, dealer=dealer)
    if state.cards.formula:
        raise WrongPhase("already_said", rule)
    if dealer in state.picked:
        raise AgainstTheRules("formula_too_late", customs.cites.formula_late)
    return (KnockedForCards(seat=act.seat),)


def knocked_for_cards(state: PickingUp[T], event: KnockedForCards, number: int) -> PickingUp[T]:
    """The state after the formula."""
    return replace(state, cards=replace(state.cards, formula=number))


def pick_up(state: PickingUp[Any], act: PickUp, moment: Moment, customs: Customs) -> tuple[Event, ...]:
    """B22-B27, C60: nobody takes up cards before the formula; who does can be knocked for it.

    The dealer also owns up to a misdeal.
    """
    table, cards, seat, cites = state.table, state.cards, act.seat, customs.cites
    if not told(table, customs):
        raise WrongPhase("no_ritual", cites.picking_up)
    if seat in state.picked:
        raise WrongPhase("already_picked_up", cites.picking_up)
    breaches: tuple[Breach, ...] = ()
    if not cards.formula:
        if not customs.price(table, "early_pick_up"):
            raise AgainstTheRules(
                "before_the_formula", cites.formula_late if seat == table.dealer else cites.picking_up
            )
        own_up = state.misdealt and seat == table.dealer
        if own_up and not table.ledger.has("misdeal", seat, cards.event):  # reported already (B-O5)
            breaches += misdeal_breach(state, customs)
        if not table.ledger.has("early_pick_up", seat, cards.event):
            rule = cites.own_pick_up if own_up else cites.early_pick_up
            breaches += (customs.breach(table, "early_pick_up", seat, 1, cards.event, rule=rule),)
    hand = texts_of(cards.hands[seat]) if cards.known else None
    return (PickedUp(seat=seat, hand=hand, breaches=breaches),)


def misdeal_breach(state: Any, customs: Customs) -> tuple[Breach, ...]:
    """B25, C60: the dealer who forgot the formula pays for the misdeal."""
    table = state.table
    if not customs.held(table) or not customs.price(table, "misdeal"):
        return ()
    return (customs.breach(table, "misdeal", table.dealer, 1, state.cards.event),)


def misdeal_seen(state: PickingUp[Any], moment: Moment, customs: Customs) -> tuple[Event, ...]:
    """B27, B-O33: whoever takes up a wrong number of cards sees it; hands that are up at once all see."""
    if not state.misdealt or state.found:
        return ()
    looking = state.picked[-1:] if told(state.table, customs) else state.table.playing
    wrong = [seat for seat in looking if state.cards.counts[seat] != HAND]
    return (MisdealFound(seat=wrong[0], rule=customs.cites.misdeal),) if wrong else ()


def picked_up(state: PickingUp[Any], event: PickedUp, number: int, customs: Customs) -> Any:
    """The state after a seat took up its cards; when all have, the bidding opens (B-O37)."""
    picked = (*state.picked, event.seat)
    state = noted(replace(state, picked=picked), event.breaches, number)
    if len(picked) < len(state.table.playing) or state.misdealt:
        return state
    return customs.hands_up(state.table, state.cards)


def misdeal_found(state: Any, event: MisdealFound, number: int) -> PickingUp[Any]:
    """The state when everybody knows that the cards are wrong: the same dealer deals again (B27).

    A breach before the misdeal stays punishable in the deal that is dealt again (B-O41, C-O38).
    """
    ledger = state.table.ledger.misdealt(getattr(state, "played", 0))
    state = noted(with_ledger(state, ledger), event.breaches, number)
    if isinstance(state, PickingUp):
        return replace(state, misdealt=True, found=True)
    return PickingUp(table=state.table, cards=state.cards, picked=state.table.playing, misdealt=True, found=True)


# Reports of what the cards cannot show


def reported(state: Any, act: Report, cites: Cites) -> Reported:
    """A report that may be made: at a real table, of somebody who is there."""
    if state.table.house:
        raise AgainstTheRules("house_sees", None)
    if act.accused not in state.table.active:
        raise AgainstTheRules("not_in_match", cites.accused, seat=act.accused)
    return Reported(seat=act.seat, accused=act.accused, fault=act.fault)


def misdeal_reported(state: Any, act: Report, customs: Customs) -> MisdealFound:
    """B27, B-O33: a wrong number that the referee cannot see; the dealer pays who forgot the formula."""
    table = state.table
    by_dealer = not isinstance(state, PickingUp) or (table.dealer in state.picked and not state.misdealt)
    breaches = misdeal_breach(state, customs) if by_dealer and not state.cards.formula else ()
    return MisdealFound(seat=act.accused, rule=customs.cites.misdeal, breaches=breaches)


def neglected(state: Any, act: Report, customs: Customs) -> Breach:
    """A wrong cut or an early pick-up that was seen, in its window, as long as the acts themselves do not tell."""
    table, accused, cites = state.table, act.accused, customs.cites
    if table.tally:
        return _neglect_told(table, act, customs)
    if act.fault == "wrong_cut":
        if accused == table.dealer:
            raise AgainstTheRules("dealer_may_cut", cites.cut)
        if not isinstance(state, Undealt | PickingUp) or already_dealt(state):
            raise AgainstTheRules("acts_tell", cites.wrong_cut)
        return wrong_cut(table, accused, customs)
    if not isinstance(state, PickingUp) or state.cards.formula or accused in state.picked:
        raise AgainstTheRules("acts_tell", cites.early_pick_up)
    return customs.breach(table, "early_pick_up", accused, 1)


def _neglect_told(table: Any, act: Report, customs: Customs) -> Breach:
    """B24, B26, B-O6: where no acts tell of the ritual; who cut need not be said where the dealer pays for it."""
    accused, dealer, cites = act.accused, table.dealer, customs.cites
    if act.fault == "early_pick_up":
        own_up = accused == dealer and table.ledger.has("misdeal", dealer, 0)
        rule = cites.own_pick_up if own_up else cites.early_pick_up
        return customs.breach(table, "early_pick_up", accused, 1, rule=rule)
    if accused != dealer:
        return wrong_cut(table, accused, customs)
    if table.options.wrong_cut_penalty_to == "cutter":
        raise AgainstTheRules("dealer_may_cut", cites.cut)
    return customs.breach(table, "wrong_cut", dealer, 1)
