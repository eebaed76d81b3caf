"""Drawing for the deal, cutting, dealing, the formula, picking up, and new hands (B13-B27, B-O20)."""

from msgspec.structs import replace

from referee import acts, phases
from referee.cards import ALL, BIT, texts_of
from referee.events import Breach, CardDrawn, Dealt, Event, FirstDealerDrawn, Reported
from referee.games._rodskagg import dealing, facts, new_hands, ritual
from referee.games._rodskagg.dealing import HAND, Cards, forehand_first, highest
from referee.games.rodskagg_kortoxen.states import (
    Auction,
    Drawing,
    Exchanging,
    PickingUp,
    Played,
    Playing,
    Table,
    Undealt,
    deal_of,
)
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn, WrongPhase
from referee.ruleset import Moment

FIVE_UP = 5
"""What an error costs (B11)."""


def closes_after(table: Table, tricks: int) -> int | None:
    """After how many complete tricks it is too late to knock (B-O2); ``None``: when the deal is scored."""
    return tricks if table.options.knock_window == "next_trick" and tricks <= HAND else None


def breach(table: Table, offence: str, seat: int, rule: str, tricks: int, *shown_by: int, payer: int) -> Breach:
    """An offence that costs five, to be knocked for until ``tricks`` tricks are complete."""
    return Breach(
        offence=offence,
        seat=seat,
        rule=rule,
        payer=payer,
        points=FIVE_UP,
        closes_after=closes_after(table, tricks),
        shown_by=shown_by,
    )


# Drawing for the first deal


def draw(state: Drawing, act: acts.Draw, moment: Moment) -> tuple[Event, ...]:
    """B14-B15, B-O24: the contenders draw clockwise; among those level for the highest card again."""
    if act.seat != (turn := state.contenders[len(state.drawn)]):
        raise OutOfTurn("out_of_turn", "B14", turn=turn)
    if act.card is None:
        raise AgainstTheRules("card_needed", "B14")
    if act.card in (card for _, card in state.drawn):
        raise NoSuchCard("card_seen", "B4", card=act.card)
    return (CardDrawn(seat=act.seat, card=act.card),)


def drawn(state: Drawing, moment: Moment) -> tuple[Event, ...]:
    """B14-B15: the highest card deals; in house dealing the referee draws for everybody."""
    if state.table.house:
        drawn, dealer = dealing.draws(state.contenders, moment.seed)
        return *(CardDrawn(seat=seat, card=card) for seat, card in drawn), FirstDealerDrawn(seat=dealer, rule="B15")
    if len(state.drawn) < len(state.contenders):
        return ()
    return (FirstDealerDrawn(seat=highest(state.drawn)[0], rule="B15"),)


def card_drawn(state: Drawing, event: CardDrawn, number: int) -> Drawing:
    """The state after a card was drawn."""
    drawn = (*state.drawn, (event.seat, event.card))
    if len(drawn) == len(state.contenders) and len(highest(drawn)) > 1:
        return replace(state, contenders=highest(drawn), drawn=())
    return replace(state, drawn=drawn)


# Cutting and dealing


def cut(state: Undealt | PickingUp, act: acts.Cut, moment: Moment) -> tuple[Event, ...]:
    """B16-B17, B-O6: only the dealer may cut; anybody else who does can be knocked for it."""
    table = state.table
    if isinstance(state, PickingUp) and not state.found:
        raise WrongPhase("already_dealt", "B16")
    if not table.options.deal_ritual:
        raise WrongPhase("no_ritual", "B16")
    if act.seat == table.dealer:
        if state.cut:
            raise WrongPhase("already_cut", "B16")
        return (facts.CardsCut(seat=act.seat),)
    if not table.penalise:
        raise AgainstTheRules("only_dealer_cuts", "B16", dealer=table.dealer)
    payer = act.seat if table.options.wrong_cut_penalty_to == "cutter" else table.dealer
    return (facts.CardsCut(seat=act.seat, breaches=(breach(table, "wrong_cut", act.seat, "B17", 1, payer=payer),)),)


def cards_cut(state: Undealt | PickingUp, event: facts.CardsCut, number: int) -> Undealt | PickingUp:
    """The state after a cut."""
    by_dealer = state.cut or event.seat == state.table.dealer
    return replace(state, table=phases.reported(state, event, number).table, cut=by_dealer)


def deal(state: Undealt | PickingUp, act: acts.Deal, moment: Moment) -> tuple[Event, ...]:
    """B13, B18-B19, B27: the dealer gives six cards each, three and three; after a misdeal the same dealer again."""
    table = state.table
    if isinstance(state, PickingUp) and not state.found:
        raise WrongPhase("already_dealt", "B13")
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", "B13", dealer=table.dealer)
    forgotten = (
        isinstance(state, PickingUp)
        and table.options.deal_ritual
        and table.penalise
        and ritual.formula_forgotten(table.dealer, state.cards, state.picked)
    )
    breaches = (misdeal_breach(state),) if isinstance(state, PickingUp) and forgotten else ()
    if table.house:
        if act.hands is not None or act.counts is not None or act.stock is not None:
            raise AgainstTheRules("house_deals", None)
        return (replace(_house_deal(table, moment.seed), breaches=breaches),)
    counts = dealing.laid_out(act, table.seats, deal_rule="B18", pack_rule="B4")
    right = dealing.six_each(table.active, table.seats)
    to_nobody = any(count for seat, count in enumerate(counts) if seat not in table.active)  # B-O36
    if to_nobody or (counts != right and not table.penalise):
        raise AgainstTheRules("six_cards_each", "B18", counts=right)
    return (
        Dealt(
            deal=table.deal,
            dealer=table.dealer,
            hands=act.hands,
            counts=counts,
            each=HAND if counts != right else 0,
            stock=act.stock or (),
            face_up=not table.options.deal_ritual,
            breaches=breaches,
        ),
    )


def _house_deal(table: Table, seed: str) -> Dealt:
    """B18-B19: six each from the shuffled pack, in packets of three, beginning on the dealer's left."""
    order = forehand_first(table.dealer, table.active, table.seats)
    hands, stock = dealing.house_hands(order, table.seats, seed)
    return Dealt(
        deal=table.deal,
        dealer=table.dealer,
        hands=hands,
        counts=tuple(map(len, hands)),
        stock=stock if table.options.honour_redeal else (),
        seed=seed,
        face_up=not table.options.deal_ritual,
    )


def dealt(state: Undealt | PickingUp, event: Dealt, number: int) -> PickingUp | Exchanging | Auction:
    """The state when the cards are out."""
    table = replace(state.table, ledger=state.table.ledger.dealt(event.breaches, number))
    known = event.hands is not None
    hands = dealing.masks(event.hands, table.seats, ALL)
    cards = Cards(event=number, hands=hands, counts=event.counts, known=known, stock=event.stock)
    misdealt = any(event.counts[seat] != HAND for seat in table.active)
    if table.options.deal_ritual or misdealt:
        return PickingUp(table=table, cards=cards, misdealt=misdealt)
    return _hands_up(table, cards)


def _hands_up(table: Table, cards: Cards) -> Exchanging | Auction:
    if not table.options.honour_redeal:
        return _bidding(table, cards)
    to_speak = forehand_first(table.dealer, table.active, table.seats)
    return Exchanging(table=table, cards=cards, to_speak=to_speak, stock_left=len(BIT) - HAND * len(table.active))


def _bidding(table: Table, cards: Cards) -> Auction:
    """B29: forehand speaks first."""
    return Auction(table=table, cards=cards, to_speak=forehand_first(table.dealer, table.active, table.seats))


# The formula and picking up


def knock_for_cards(state: PickingUp, act: acts.KnockForCards, moment: Moment) -> tuple[Event, ...]:
    """B20-B22, B-O7: the dealer says it, once, and before he takes up his own cards."""
    table = state.table
    if not table.options.deal_ritual:
        raise WrongPhase("no_ritual", "B20")
    ritual.check_formula(act.seat, table.dealer, state.cards, state.picked, rule="B20", late_rule="B22")
    return (facts.KnockedForCards(seat=act.seat),)


def knocked_for_cards(state: PickingUp, event: facts.KnockedForCards, number: int) -> PickingUp:
    """The state after the formula."""
    return replace(state, cards=replace(state.cards, formula=number))


def pick_up(state: PickingUp, act: acts.PickUp, moment: Moment) -> tuple[Event, ...]:
    """B22-B27: nobody takes up cards before the formula; who does can be knocked for it."""
    table, cards, seat = state.table, state.cards, act.seat
    if not table.options.deal_ritual:
        raise WrongPhase("no_ritual", "B23")
    if seat in state.picked:
        raise WrongPhase("already_picked_up", "B23")
    offences = ritual.pick_up_offences(seat, table.dealer, cards, state.misdealt)
    if offences and not table.penalise:
        raise AgainstTheRules("before_the_formula", "B22" if seat == table.dealer else "B23")
    early = "B26" if "misdeal" in offences else "B24"
    breaches = tuple(
        misdeal_breach(state)
        if offence == "misdeal"
        else breach(table, offence, seat, early, 1, cards.event, payer=seat)
        for offence in offences
        if not table.ledger.has(offence, seat, cards.event)  # reported already (B-O5)
    )
    hand = texts_of(cards.hands[seat]) if cards.known else None
    return (facts.PickedUp(seat=seat, hand=hand, breaches=breaches),)


def misdeal_seen(state: PickingUp, moment: Moment) -> tuple[Event, ...]:
    """B27, B-O33: whoever takes up a wrong number of cards sees it; without the ritual the hands are up at once."""
    if not state.misdealt or state.found:
        return ()
    table = state.table
    looking = state.picked[-1:] if table.options.deal_ritual else table.active
    return tuple(facts.MisdealFound(seat=seat, rule="B27") for seat in looking if state.cards.counts[seat] != HAND)[
        :1
    ]


def misdeal_breach(state: PickingUp | Auction | Playing | Played | Exchanging) -> Breach:
    """B25: the dealer who forgot the formula pays for the misdeal."""
    dealer = state.table.dealer
    return breach(state.table, "misdeal", dealer, "B25", 1, state.cards.event, payer=dealer)


def picked_up(state: PickingUp, event: facts.PickedUp, number: int) -> PickingUp | Exchanging | Auction:
    """The state after a seat took up its cards; when all have, the bidding opens (B-O37)."""
    state = phases.reported(state, event, number)
    picked = (*state.picked, event.seat)
    if len(picked) < len(state.table.active) or state.misdealt:
        return replace(state, picked=picked)
    return _hands_up(state.table, state.cards)


def misdeal_found(
    state: PickingUp | Exchanging | Auction | Playing, event: facts.MisdealFound, number: int
) -> PickingUp:
    """The state when everybody knows that the cards are wrong (B27)."""
    table = phases.reported(state, event, number).table
    if isinstance(state, PickingUp):
        return replace(state, table=table, misdealt=True, found=True)
    return PickingUp(table=table, cards=state.cards, picked=table.active, misdealt=True, found=True)


# Reports of what the cards cannot show


def report(
    state: PickingUp | Exchanging | Auction | Playing | Played | Undealt, act: acts.Report, moment: Moment
) -> tuple[Event, ...]:
    """B-O33 and the errors of B11 that only the table sees: a report stands as seen; a knock makes it count.

    A reported misdeal with closed hands is a misdeal: the same dealer deals again, in both enforcements (B27).
    """
    table = state.table
    if table.house:
        raise AgainstTheRules("house_sees", None)
    if act.accused not in table.active:
        raise AgainstTheRules("not_in_match", "B63", seat=act.accused)
    reported = Reported(seat=act.seat, accused=act.accused, fault=act.fault)
    if act.fault in ("misdeal", "wrong_count"):
        return reported, _misdeal_reported(state, act)
    if not table.penalise:
        raise WrongPhase("nothing_to_punish", "B12")
    error = _reported_error(state, act)
    if table.ledger.has(act.fault, act.accused, _incident_began(state)):
        raise AgainstTheRules("already_reported", "B-O5")
    return (replace(reported, breaches=(error,)),)


def _incident_began(state: PickingUp | Exchanging | Auction | Playing | Played | Undealt) -> int:
    if isinstance(state, Undealt):
        return 0
    under_way = isinstance(state, Playing) and bool(state.trick)
    deal = deal_of(state)
    return ritual.incident_began(state.cards.event, deal.won if deal else (), under_way)


def _reported_error(state: PickingUp | Exchanging | Auction | Playing | Played | Undealt, act: acts.Report) -> Breach:
    """The error, in its window; the ritual's only as long as the acts themselves do not tell (B17, B24)."""
    table, accused = state.table, act.accused
    if act.fault in ("early_pick_up", "wrong_cut"):
        rule = "B24" if act.fault == "early_pick_up" else "B17"
        if not table.options.deal_ritual:
            raise WrongPhase("no_ritual", "B23" if rule == "B24" else "B16")
        if act.fault == "wrong_cut" and accused == table.dealer:
            raise AgainstTheRules("dealer_may_cut", "B16")
        cards_down = isinstance(state, PickingUp) and not state.cards.formula and accused not in state.picked
        undealt = isinstance(state, Undealt) or (isinstance(state, PickingUp) and state.found)
        if not (cards_down if rule == "B24" else undealt):
            raise AgainstTheRules("acts_tell", rule)
        to_dealer = rule == "B17" and table.options.wrong_cut_penalty_to == "dealer"
        return breach(table, act.fault, accused, rule, 1, payer=table.dealer if to_dealer else accused)
    if isinstance(state, Undealt):
        raise WrongPhase("nothing_dealt", "B27")
    deal = deal_of(state)
    tricks = 1 + (deal.played if deal else 0) + (isinstance(state, Playing) and bool(state.trick))
    return breach(table, act.fault, accused, "B11", tricks, payer=accused)


def _misdeal_reported(
    state: PickingUp | Exchanging | Auction | Playing | Played | Undealt, act: acts.Report
) -> facts.MisdealFound:
    """B27, B-O33: a wrong number that the referee cannot see; once cards are played, only by who holds it.

    Otherwise anybody could undo a deal that goes against him; an official may void it (B-O38).
    """
    table = state.table
    if isinstance(state, Undealt | Played) or (isinstance(state, PickingUp) and state.found):
        raise WrongPhase("nothing_dealt", "B27")
    if state.cards.known:
        raise AgainstTheRules("hands_known", "B18")
    if isinstance(state, Playing) and act.seat != act.accused:
        raise AgainstTheRules("only_who_holds_it", "B27")
    forgot = table.options.deal_ritual and not state.cards.formula
    by_dealer = not isinstance(state, PickingUp) or (table.dealer in state.picked and not state.misdealt)
    breaches = (misdeal_breach(state),) if forgot and by_dealer and table.penalise else ()
    return facts.MisdealFound(seat=act.accused, rule="B27", breaches=breaches)


# New hands (honour_redeal)


def _to_speak(state: Exchanging, seat: int) -> None:
    if seat != state.to_speak[0]:
        raise OutOfTurn("out_of_turn", "B-O20", turn=state.to_speak[0])


def request_cards(state: Exchanging, act: acts.RequestCards, moment: Moment) -> tuple[Event, ...]:
    """B-O20 (A11-A16): a hand without ace or court card may be exchanged."""
    _to_speak(state, act.seat)
    new_hands.check_request(
        state.cards,
        act.seat,
        act.cards,
        house=state.table.house,
        asked=state.asked,
        thrown=state.thrown,
        stock_left=state.stock_left,
        rule="B-O20",
        pack_rule="B4",
    )
    return (facts.HandRequested(seat=act.seat, cards=act.cards),)


def keep_cards(state: Exchanging, act: acts.KeepCards, moment: Moment) -> tuple[Event, ...]:
    """B-O20: content with the hand."""
    _to_speak(state, act.seat)
    return (facts.HandKept(seat=act.seat),)


def hand_requested(state: Exchanging, event: facts.HandRequested, number: int) -> Exchanging:
    """The state after a seat asked for a new hand."""
    return replace(state, to_speak=state.to_speak[1:], asked=(*state.asked, (event.seat, event.cards or ())))


def hand_kept(state: Exchanging, event: facts.HandKept, number: int) -> Exchanging | Auction:
    """The state after a seat kept its hand; when nobody asks any more the bidding opens."""
    left = state.to_speak[1:]
    if left or state.asked:
        return replace(state, to_speak=left)
    return _bidding(state.table, state.cards)


def new_hands_dealt(state: Exchanging, moment: Moment) -> tuple[Event, ...]:
    """B-O20 (A13, A15): the new hands, when everybody has spoken."""
    if state.to_speak:
        return ()
    seats, asked = state.table.seats, state.asked
    return (new_hands.dealt_anew(state.cards, seats, asked, state.thrown, state.stock_left, moment.seed),)


def hands_renewed(state: Exchanging, event: facts.NewHands, number: int) -> Exchanging | Auction:
    """The state when those who asked hold new cards; they may ask again unless the stock has run out (A14, A16)."""
    hands, thrown = new_hands.received(state.cards, event)
    cards = replace(state.cards, hands=hands, stock=event.stock if event.hands is not None else state.cards.stock)
    if event.last:
        return _bidding(state.table, cards)
    return replace(
        state,
        cards=cards,
        thrown=state.thrown | thrown,
        asked=(),
        to_speak=event.seats,
        stock_left=state.stock_left - HAND * len(event.seats),
    )
