"""The ritual of dealing (B16-B27, C10, C60): cutting, the dealer's formula that allows picking up, and misdeals.

Misdeals are wrong numbers of cards.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from referee.acts import Cut, Deal, KnockForCards, PickUp, Report
from referee.cards import texts_of
from referee.events import Breach, Dealt, Reported
from referee.games._rodskagg import dealing, reports
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.dealing import HAND_SIZE, DealtCards
from referee.games._rodskagg.facts import CardsCut, KnockedForCards, MisdealFound, PickedUp
from referee.offences import noted, with_ledger
from referee.phases import Table
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.value import Value
from referee.visibility import Event

T = TypeVar("T", bound=Table)


class Undealt(Value, Generic[T], tag="undealt"):
    table: T
    cut: bool = False
    """True if the dealer cut the pack."""


class PickingUp(Value, Generic[T], tag="picking_up"):
    """Cards lie face down, or a misdeal waits for the new deal."""

    table: T
    cards: DealtCards
    picked: tuple[int, ...] = ()
    misdealt: bool = False
    """True if a wrong number of cards is recorded."""
    found: bool = False
    """True if all players know of the misdeal."""
    cut: bool = False
    """True if the dealer cut for the next deal."""


BeforeBidding = Undealt[Any] | PickingUp[Any]


class RitualRules(Value):
    cites: CitedRules
    applies: Callable[[Any], bool]
    """Returns whether the table plays the ritual."""
    price: Callable[[Any, str], int]
    """Returns the points that an offence costs; 0 if it is free or refused."""
    breach: Callable[..., Breach]
    """Takes table, offence, seat, complete tricks at which the breach lapses, events that show it, and ``rule``."""
    may_misdeal: Callable[[Any], bool]
    """Returns whether wrong numbers of cards are accepted."""
    keeps_stock: Callable[[Any], bool]
    after_pick_up: Callable[[Any, DealtCards], Any]


def has_ritual_acts(table: Any, rules: RitualRules) -> bool:
    """Return whether cutting, the formula and picking up are acts here."""
    return rules.applies(table) and not table.tally


def already_dealt(state: BeforeBidding) -> bool:
    """Return whether the cards are dealt, and no misdeal is known to all (B27)."""
    return isinstance(state, PickingUp) and not state.found


def cut(state: BeforeBidding, act: Cut, moment: Moment, rules: RitualRules) -> tuple[Event, ...]:
    """Return the event of a cut, with a breach unless the dealer cuts (B16-B17, B-O6, C10).

    Raises: WrongPhase if no cut is possible, AgainstTheRules for a wrong cut that costs nothing.
    """
    table, rule = state.table, rules.cites.dealer_cuts
    if already_dealt(state):
        raise WrongPhase("already_dealt", rule)
    if not has_ritual_acts(table, rules):
        raise WrongPhase("no_ritual", rule)
    if act.seat == table.dealer:
        if state.cut:
            raise WrongPhase("already_cut", rule)
        return (CardsCut(seat=act.seat),)
    if not rules.price(table, "wrong_cut"):
        raise AgainstTheRules("only_dealer_cuts", rule, dealer=table.dealer)
    return (CardsCut(seat=act.seat, breaches=(wrong_cut(table, act.seat, rules),)),)


def wrong_cut(table: Any, seat: int, rules: RitualRules) -> Breach:
    """Return the breach of a cut; the option ``wrong_cut_penalty_to`` decides the payer (B-O6, C60)."""
    if table.options.wrong_cut_penalty_to == "cutter":
        return rules.breach(table, "wrong_cut", seat, 1)
    return replace(rules.breach(table, "wrong_cut", table.dealer, 1), by=seat)


def cards_cut(state: BeforeBidding, event: CardsCut, number: int) -> Any:
    return noted(replace(state, cut=state.cut or event.seat == state.table.dealer), event.breaches, number)


def deal(state: BeforeBidding, act: Deal, moment: Moment, rules: RitualRules) -> tuple[Event, ...]:
    """Return the event of a deal (B13, B18-B19, B27, C9-C12).

    A dealer who deals again without the formula or a pick-up commits a breach (B25).
    Raises: WrongPhase if the cards are dealt, OutOfTurn, AgainstTheRules or NoSuchCard for an impossible deal.
    """
    table, cites = state.table, rules.cites
    if already_dealt(state):
        raise WrongPhase("already_dealt", cites.dealer)
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", cites.dealer, dealer=table.dealer)
    breaches: tuple[Breach, ...] = ()
    if isinstance(state, PickingUp) and not state.cards.formula and table.dealer not in state.picked:
        breaches = misdeal_breach(state, rules)
    return dealing.deal_six_each(
        table,
        act,
        moment.seed,
        cites,
        keeps_stock=rules.keeps_stock(table),
        face_up=not has_ritual_acts(table, rules),
        may_be_wrong=rules.may_misdeal(table),
        breaches=breaches,
    )


def dealt(state: BeforeBidding, event: Dealt, number: int, rules: RitualRules) -> Any:
    """Return picking up if there is a ritual or misdeal, else the next phase."""
    table = replace(state.table, ledger=state.table.ledger.dealt(event.breaches, number))
    cards = dealing.cards_dealt(event, number, table)
    misdealt = event.counts != dealing.six_each(table)
    if has_ritual_acts(table, rules) or misdealt:
        return PickingUp(table=table, cards=cards, misdealt=misdealt)
    return rules.after_pick_up(table, cards)


def knock_for_cards(
    state: PickingUp[Any], act: KnockForCards, moment: Moment, rules: RitualRules
) -> tuple[Event, ...]:
    """Return the event of the dealer's formula (B20-B22, B-O7, C60).

    Raises: WrongPhase without ritual or if repeated, AgainstTheRules for other seats or after the dealer's pick-up.
    """
    dealer, rule = state.table.dealer, rules.cites.formula
    if not has_ritual_acts(state.table, rules):
        raise WrongPhase("no_ritual", rule)
    if act.seat != dealer:
        raise AgainstTheRules("only_dealer_says_it", rule, dealer=dealer)
    if state.cards.formula:
        raise WrongPhase("already_said", rule)
    if dealer in state.picked:
        raise AgainstTheRules("formula_too_late", rules.cites.formula_late)
    return (KnockedForCards(seat=act.seat),)


def knocked_for_cards(state: PickingUp[T], event: KnockedForCards, number: int) -> PickingUp[T]:
    return replace(state, cards=replace(state.cards, formula=number))


def pick_up(state: PickingUp[Any], act: PickUp, moment: Moment, rules: RitualRules) -> tuple[Event, ...]:
    """Return the event of a pick-up, with a breach before the formula (B22-B27, C60).

    The dealer's early pick-up makes a recorded misdeal a breach, too, unless it was reported (B-O5).
    Raises: WrongPhase if no pick-up is possible, AgainstTheRules if an early one costs nothing.
    """
    table, cards, seat, cites = state.table, state.cards, act.seat, rules.cites
    if not has_ritual_acts(table, rules):
        raise WrongPhase("no_ritual", cites.picking_up)
    if seat in state.picked:
        raise WrongPhase("already_picked_up", cites.picking_up)
    breaches: tuple[Breach, ...] = ()
    if not cards.formula:
        if not rules.price(table, "early_pick_up"):
            raise AgainstTheRules(
                "before_the_formula", cites.formula_late if seat == table.dealer else cites.picking_up
            )
        own_up = state.misdealt and seat == table.dealer
        if own_up and not table.ledger.has_breach("misdeal", seat, cards.event):
            breaches += misdeal_breach(state, rules)
        if not table.ledger.has_breach("early_pick_up", seat, cards.event):
            rule = cites.own_pick_up if own_up else cites.early_pick_up
            breaches += (rules.breach(table, "early_pick_up", seat, 1, cards.event, rule=rule),)
    hand = texts_of(cards.hands[seat]) if cards.known else None
    return (PickedUp(seat=seat, hand=hand, breaches=breaches),)


def misdeal_breach(state: Any, rules: RitualRules) -> tuple[Breach, ...]:
    """Return the dealer's breach of a misdeal; empty without ritual or if it costs nothing (B25, C60)."""
    table = state.table
    if not rules.applies(table) or not rules.price(table, "misdeal"):
        return ()
    return (rules.breach(table, "misdeal", table.dealer, 1, state.cards.event),)


def find_misdeal(state: PickingUp[Any], moment: Moment, rules: RitualRules) -> tuple[Event, ...]:
    """Return the event of a misdeal if a wrong number of cards is picked up or face up (B27, B-O33)."""
    if not state.misdealt or state.found:
        return ()
    looking = state.picked[-1:] if has_ritual_acts(state.table, rules) else state.table.playing
    wrong = [seat for seat in looking if state.cards.counts[seat] != HAND_SIZE]
    return (MisdealFound(seat=wrong[0], rule=rules.cites.misdeal),) if wrong else ()


def picked_up(state: PickingUp[Any], event: PickedUp, number: int, rules: RitualRules) -> Any:
    """Return the state after a pick-up: the next phase after the last, unless there is a misdeal (B-O37)."""
    picked = (*state.picked, event.seat)
    state = noted(replace(state, picked=picked), event.breaches, number)
    if len(picked) < len(state.table.playing) or state.misdealt:
        return state
    return rules.after_pick_up(state.table, state.cards)


def misdeal_found(state: Any, event: MisdealFound, number: int) -> PickingUp[Any]:
    """Return the state in which all know of the misdeal (B27). Earlier breaches stay (B-O41, C-O38)."""
    ledger = state.table.ledger.misdealt(getattr(state, "played", 0))
    state = noted(with_ledger(state, ledger), event.breaches, number)
    if isinstance(state, PickingUp):
        return replace(state, misdealt=True, found=True)
    return PickingUp(table=state.table, cards=state.cards, picked=state.table.playing, misdealt=True, found=True)


def reported(state: Any, act: Report, cites: CitedRules) -> Reported:
    """Return the event of a report. Raises AgainstTheRules in house dealing, or for an accused out of the match."""
    if state.table.house:
        raise AgainstTheRules("house_sees", None)
    if act.accused not in state.table.active:
        raise AgainstTheRules("not_in_match", cites.not_accusable, seat=act.accused)
    return Reported(seat=act.seat, accused=act.accused, fault=act.fault)


def misdeal_reported(state: Any, act: Report, rules: RitualRules) -> MisdealFound:
    """Return the event of a reported misdeal (B27, B-O33).

    It has a breach if the dealer picked up without the formula, unless the pick-up has it (B25).
    Raises: WrongPhase or AgainstTheRules if it may not be reported now.
    """
    table = state.table
    if isinstance(state, Undealt) or (isinstance(state, PickingUp) and state.found):
        raise WrongPhase("nothing_dealt", rules.cites.misdeal)
    reports.check_misdeal(state, act, rules.cites)
    by_dealer = not isinstance(state, PickingUp) or (table.dealer in state.picked and not state.misdealt)
    breaches = misdeal_breach(state, rules) if by_dealer and not state.cards.formula else ()
    return MisdealFound(seat=act.accused, rule=rules.cites.misdeal, breaches=breaches)


def reported_breach(state: Any, act: Report, rules: RitualRules) -> Breach:
    """Return the breach of a reported wrong cut or early pick-up (B17, B24, C60).

    Raises AgainstTheRules for the dealer's own cut, or if acts already show whether it happened.
    """
    table, accused, cites = state.table, act.accused, rules.cites
    if table.tally:
        return _tally_breach(table, act, rules)
    if act.fault == "wrong_cut":
        if accused == table.dealer:
            raise AgainstTheRules("dealer_may_cut", cites.dealer_cuts)
        if not isinstance(state, Undealt | PickingUp) or already_dealt(state):
            raise AgainstTheRules("acts_tell", cites.wrong_cut)
        return wrong_cut(table, accused, rules)
    if not isinstance(state, PickingUp) or state.cards.formula or accused in state.picked:
        raise AgainstTheRules("acts_tell", cites.early_pick_up)
    return rules.breach(table, "early_pick_up", accused, 1)


def _tally_breach(table: Any, act: Report, rules: RitualRules) -> Breach:
    """Return the reported breach (B24, B26, B-O6). Raises AgainstTheRules for the dealer's own cut if cutters pay."""
    accused, dealer, cites = act.accused, table.dealer, rules.cites
    if act.fault == "early_pick_up":
        own_up = accused == dealer and table.ledger.has_breach("misdeal", dealer, 0)
        rule = cites.own_pick_up if own_up else cites.early_pick_up
        return rules.breach(table, "early_pick_up", accused, 1, rule=rule)
    if accused != dealer:
        return wrong_cut(table, accused, rules)
    if table.options.wrong_cut_penalty_to == "cutter":
        raise AgainstTheRules("dealer_may_cut", cites.dealer_cuts)
    return rules.breach(table, "wrong_cut", dealer, 1)
