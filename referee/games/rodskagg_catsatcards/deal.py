"""Drawing, cutting, dealing, the ritual of Fem Opp, and replacement cards (C6-C15, C57-C60)."""

from msgspec.structs import replace

from referee.acts import Cut, Deal, Discard, Draw, KeepCards, KnockForCards, PickUp, Report, RequestCards
from referee.cards import ALL, BIT, HONOURS, cards_of, texts_of
from referee.events import Breach, CardDrawn, Dealt, Event, FirstDealerDrawn, Reported
from referee.games._rodskagg import dealing, ritual
from referee.games._rodskagg.dealing import HAND, Cards, forehand_first, highest
from referee.games._rodskagg.facts import (
    CardGiven,
    CardsCut,
    CardsThrown,
    HandKept,
    KnockedForCards,
    LeadDrawn,
    MisdealFound,
    PickedUp,
)
from referee.games.rodskagg_catsatcards.states import Auction, Drawing, PickingUp, Played, Playing, Table, Undealt
from referee.phases import noted
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following

RULE = {
    "wrong_cut": "C10",
    "early_pick_up": "C60",
    "misdeal": "C60",
    "fold_question": "C30",
    "near_zero": "C49",
    "revoke": "C26",
}
"""The rule that an offence neglects."""


def has_ritual(table: Table) -> bool:
    """C-O23, C-O31: in Fem Opp, but not in a duel."""
    return table.options.fem_opp and table.options.deal_ritual and not table.duel


def price(table: Table, offence: str) -> int:
    """C57-C60: what the offence costs; 0 where it cannot be punished, so that it is refused (C-O26)."""
    if not (table.penalise and table.options.fem_opp):
        return 0
    points: int = getattr(table.options.fem_opp_penalties, offence)
    return points


def breach(table: Table, offence: str, seat: int, tricks: int, *shown_by: int, payer: int | None = None) -> Breach:
    """An offence to be knocked for until ``tricks`` tricks are complete (C61, C-O12)."""
    windowed = table.options.knock_window == "next_trick" and tricks <= HAND
    return Breach(
        offence=offence,
        seat=seat,
        rule=RULE[offence],
        payer=seat if payer is None else payer,
        points=price(table, offence),
        closes_after=tricks if windowed else None,
        shown_by=shown_by,
    )


# Drawing for the first deal, and for the lead in a duel


def draw(state: Drawing, act: Draw, moment: Moment) -> tuple[Event, ...]:
    """C7-C8, C48, C-O9, C-O31: the contenders draw clockwise; among those level for the highest card again."""
    duel = state.table.duel
    if act.seat != (turn := state.contenders[len(state.drawn)]):
        raise OutOfTurn("out_of_turn", "C48" if duel else "C7", turn=turn)
    if act.card is None:
        raise AgainstTheRules("card_needed", "C48" if duel else "C7")
    if act.card in (card for _, card in state.drawn):
        raise NoSuchCard("card_seen", "C2", card=act.card)
    return (CardDrawn(seat=act.seat, card=act.card),)


def drawn(state: Drawing, moment: Moment) -> tuple[Event, ...]:
    """C7-C8, C48: who drew highest, when all have; in house dealing the referee draws for everybody."""
    by_itself: tuple[tuple[int, str], ...] = ()
    if state.table.house:
        by_itself, first = dealing.draws(state.contenders, moment.seed)
    elif len(state.drawn) == len(state.contenders):
        first = highest(state.drawn)[0]
    else:
        return ()
    cards = (CardDrawn(seat=seat, card=card) for seat, card in by_itself)
    return *cards, LeadDrawn(seat=first) if state.table.duel else FirstDealerDrawn(seat=first, rule="C8")


def card_drawn(state: Drawing, event: CardDrawn, number: int) -> Drawing:
    """The state after a card was drawn."""
    drawn = (*state.drawn, (event.seat, event.card))
    if len(drawn) == len(state.contenders) and len(highest(drawn)) > 1:
        return replace(state, contenders=highest(drawn), drawn=())
    return replace(state, drawn=drawn)


def lead_drawn(state: Drawing, event: LeadDrawn, number: int) -> Undealt:
    """The state when it is known who leads in the duel."""
    return Undealt(table=replace(state.table, lead=event.seat))


# Cutting and dealing


def cut(state: Undealt | PickingUp, act: Cut, moment: Moment) -> tuple[Event, ...]:
    """C10: the dealer cuts himself; anybody else who does can be knocked for it in Fem Opp."""
    table = state.table
    if isinstance(state, PickingUp) and not state.found:
        raise WrongPhase("already_dealt", "C10")
    if not has_ritual(table):
        raise WrongPhase("no_ritual", "C10")
    if act.seat == table.dealer:
        if state.cut:
            raise WrongPhase("already_cut", "C10")
        return (CardsCut(seat=act.seat),)
    if not price(table, "wrong_cut"):
        raise AgainstTheRules("only_dealer_cuts", "C10", dealer=table.dealer)
    payer = act.seat if table.options.wrong_cut_penalty_to == "cutter" else table.dealer
    return (CardsCut(seat=act.seat, breaches=(breach(table, "wrong_cut", act.seat, 1, payer=payer),)),)


def cards_cut(state: Undealt | PickingUp, event: CardsCut, number: int) -> Undealt | PickingUp:
    """The state after a cut."""
    by_dealer = state.cut or event.seat == state.table.dealer
    cut: Undealt | PickingUp = noted(replace(state, cut=by_dealer), event.breaches, number)
    return cut


def deal(state: Undealt | PickingUp, act: Deal, moment: Moment) -> tuple[Event, ...]:
    """C9-C12: the dealer gives six cards each, three and three; after a misdeal the same dealer again (C-O23)."""
    table = state.table
    if isinstance(state, PickingUp) and not state.found:
        raise WrongPhase("already_dealt", "C9")
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", "C9", dealer=table.dealer)
    breaches: tuple[Breach, ...] = ()
    if isinstance(state, PickingUp) and ritual.formula_forgotten(table.dealer, state.cards, state.picked):
        breaches = misdeal_breach(state)
    if table.house:
        if act.hands is not None or act.counts is not None or act.stock is not None:
            raise AgainstTheRules("house_deals", None)
        return (replace(_house_deal(table, moment.seed), breaches=breaches),)
    counts = dealing.laid_out(act, table.seats, deal_rule="C12", pack_rule="C2")
    right = dealing.six_each(table.playing, table.seats)
    to_nobody = any(count for seat, count in enumerate(counts) if seat not in table.playing)
    may_be_wrong = table.penalise and table.options.fem_opp and not table.duel  # C-O23, C-O31
    if to_nobody or (counts != right and not may_be_wrong):
        raise AgainstTheRules("six_cards_each", "C12", counts=right)
    dealt = Dealt(
        deal=table.deal,
        dealer=table.dealer,
        hands=act.hands,
        counts=counts,
        each=HAND if counts != right else 0,
        stock=act.stock or (),
        face_up=not has_ritual(table),
        breaches=breaches,
    )
    if counts == right or has_ritual(table):
        return (dealt,)
    wrong = next(seat for seat in table.playing if counts[seat] != HAND)
    return dealt, MisdealFound(seat=wrong, rule="C12")


def _house_deal(table: Table, seed: str) -> Dealt:
    """C11-C12: six each from the shuffled pack, in packets of three, beginning on the dealer's left."""
    order = forehand_first(table.dealer, table.playing, table.seats)
    hands, stock = dealing.house_hands(order, table.seats, seed)
    return Dealt(
        deal=table.deal,
        dealer=table.dealer,
        hands=hands,
        counts=tuple(map(len, hands)),
        stock=stock if table.options.honour_redeal and not table.duel else (),
        seed=seed,
        face_up=not has_ritual(table),
    )


def dealt(state: Undealt | PickingUp, event: Dealt, number: int) -> PickingUp | Auction | Playing:
    """The state when the cards are out."""
    table = replace(state.table, ledger=state.table.ledger.dealt(event.breaches, number))
    hands, known = dealing.masks(event.hands, table.seats, ALL), event.hands is not None
    cards = Cards(event=number, hands=hands, counts=event.counts, known=known, stock=event.stock)
    misdealt = any(event.counts[seat] != HAND for seat in table.playing)
    if has_ritual(table) or misdealt:
        return PickingUp(table=table, cards=cards, misdealt=misdealt)
    return _hands_up(table, cards)


def _hands_up(table: Table, cards: Cards) -> Auction | Playing:
    """C16; in a duel there is no bidding (C47) and the lead was drawn (C48)."""
    if not table.duel:
        return Auction(
            table=table,
            cards=cards,
            to_speak=forehand_first(table.dealer, table.playing, table.seats),
            stock_left=len(BIT) - HAND * len(table.playing),
        )
    assert table.lead is not None, "the lead is drawn before the deal"
    return Playing(
        table=table,
        cards=cards,
        contract=None,
        order=table.playing,
        after=following(table.playing, table.seats),
        turn=table.lead,
        tricks=(0,) * table.seats,
    )


# The formula and picking up, in Fem Opp


def knock_for_cards(state: PickingUp, act: KnockForCards, moment: Moment) -> tuple[Event, ...]:
    """C60: the dealer says it, once, and before he takes up his own cards."""
    if not has_ritual(state.table):
        raise WrongPhase("no_ritual", "C60")
    ritual.check_formula(act.seat, state.table.dealer, state.cards, state.picked, rule="C60", late_rule="C60")
    return (KnockedForCards(seat=act.seat),)


def knocked_for_cards(state: PickingUp, event: KnockedForCards, number: int) -> PickingUp:
    """The state after the formula."""
    return replace(state, cards=replace(state.cards, formula=number))


def pick_up(state: PickingUp, act: PickUp, moment: Moment) -> tuple[Event, ...]:
    """C60: nobody takes up cards before the formula; who does can be knocked for it."""
    table, cards, seat = state.table, state.cards, act.seat
    if not has_ritual(table):
        raise WrongPhase("no_ritual", "C60")
    if seat in state.picked:
        raise WrongPhase("already_picked_up", "C60")
    offences = ritual.pick_up_offences(seat, table.dealer, cards, state.misdealt)
    if offences and not price(table, "early_pick_up"):
        raise AgainstTheRules("before_the_formula", "C60")
    breaches: tuple[Breach, ...] = ()
    for offence in offences:
        if state.table.ledger.has(offence, seat, cards.event):  # reported already (C-O23)
            continue
        if offence == "misdeal":
            breaches += misdeal_breach(state)
        else:
            breaches += (breach(table, offence, seat, 1, cards.event),)
    hand = texts_of(cards.hands[seat]) if cards.known else None
    picked_up = PickedUp(seat=seat, hand=hand, breaches=breaches)
    if ritual.finds_misdeal(seat, cards, state.misdealt, state.found):
        return picked_up, MisdealFound(seat=seat, rule="C12")
    return (picked_up,)


def misdeal_breach(state: PickingUp | Auction | Playing | Played) -> tuple[Breach, ...]:
    """C60: the dealer who forgot the formula pays for the misdeal; without the ritual there is none to forget."""
    table = state.table
    if not has_ritual(table) or not price(table, "misdeal"):
        return ()
    return (breach(table, "misdeal", table.dealer, 1, state.cards.event),)


def picked_up(state: PickingUp, event: PickedUp, number: int) -> PickingUp | Auction | Playing:
    """The state after a seat took up its cards; when all have, the bidding opens (C-O23)."""
    state = noted(replace(state, picked=(*state.picked, event.seat)), event.breaches, number)
    if len(state.picked) < len(state.table.playing) or state.misdealt:
        return state
    return _hands_up(state.table, state.cards)


def misdeal_found(state: PickingUp | Auction | Playing | Played, event: MisdealFound, number: int) -> PickingUp:
    """The state when everybody knows that the cards are wrong: the same dealer deals again."""
    state = noted(state, event.breaches, number)
    picked = state.picked if isinstance(state, PickingUp) else state.table.playing
    return PickingUp(table=state.table, cards=state.cards, picked=picked, misdealt=True, found=True)


# Reports of what the cards cannot show


def report(state: PickingUp | Auction | Playing | Played | Undealt, act: Report, moment: Moment) -> tuple[Event, ...]:
    """C59, C-O23: a report stands as seen; a knock makes it count. A misdeal with closed hands is dealt again."""
    table = state.table
    if table.house:
        raise AgainstTheRules("house_sees", None)
    if act.accused not in table.active:
        raise AgainstTheRules("not_in_match", "C42", seat=act.accused)
    reported = Reported(seat=act.seat, accused=act.accused, fault=act.fault)
    if act.fault in ("misdeal", "wrong_count"):
        if isinstance(state, Undealt) or (isinstance(state, PickingUp) and state.found):
            raise WrongPhase("nothing_dealt", "C12")
        if state.cards.known:
            raise AgainstTheRules("hands_known", "C12")
        by_dealer = not isinstance(state, PickingUp) or (table.dealer in state.picked and not state.misdealt)
        breaches = misdeal_breach(state) if by_dealer and not state.cards.formula else ()
        return reported, MisdealFound(seat=act.accused, rule="C12", breaches=breaches)
    error = _reported_error(state, act)
    if state.table.ledger.has(act.fault, act.accused, 0 if isinstance(state, Undealt) else state.cards.event):
        raise AgainstTheRules("already_reported", "C-O23")
    return (replace(reported, breaches=(error,)),)


def _reported_error(state: PickingUp | Auction | Playing | Played | Undealt, act: Report) -> Breach:
    """C60-C61: an error of the ritual, in its window, as long as the acts themselves do not tell."""
    table, accused = state.table, act.accused
    if act.fault not in ("early_pick_up", "wrong_cut") or not has_ritual(table) or not price(table, act.fault):
        raise WrongPhase("nothing_to_punish", "C60")
    if act.fault == "wrong_cut" and accused == table.dealer:
        raise AgainstTheRules("dealer_may_cut", "C10")
    cards_down = isinstance(state, PickingUp) and not state.cards.formula and accused not in state.picked
    undealt = isinstance(state, Undealt) or (isinstance(state, PickingUp) and state.found)
    if not (cards_down if act.fault == "early_pick_up" else undealt):
        raise AgainstTheRules("acts_tell", "C60")
    to_dealer = act.fault == "wrong_cut" and table.options.wrong_cut_penalty_to == "dealer"
    return breach(table, act.fault, accused, 1, payer=table.dealer if to_dealer else accused)


# Replacement cards


def may_keep(state: Auction, seat: int) -> bool:
    """C13, C-O32: before the first bid, a hand without a card above ten, and not content yet."""
    if state.calls or state.table.duel or state.holder not in (None, seat) or seat in state.kept:
        return False
    return not (state.cards.known and state.cards.hands[seat] & HONOURS)


def may_request(state: Auction, seat: int) -> bool:
    """C13-C14, C-O19, C-O32: the same, while there is a stock."""
    return state.table.options.honour_redeal and may_keep(state, seat) and state.stock_left > 0


def _no_replacement(state: Auction, seat: int) -> AgainstTheRules | WrongPhase:
    if state.calls:
        return WrongPhase("bidding_begun", "C13")
    if state.holder not in (None, seat):
        return WrongPhase("one_at_a_time", "C-O32", turn=state.holder)
    if seat in state.kept:
        return AgainstTheRules("content_already", "C13")
    if state.cards.known and state.cards.hands[seat] & HONOURS:
        return AgainstTheRules("has_card_above_ten", "C13")
    return AgainstTheRules("stock_empty" if state.table.options.honour_redeal else "no_replacement", "C13")


def need_not_say(state: Auction) -> bool:
    """Whether the referee can give the card: the stock was told, or with closed hands nobody says which it is."""
    return not state.cards.known or bool(state.cards.stock)


def request_cards(state: Auction, act: RequestCards, moment: Moment) -> tuple[Event, ...]:
    """C13-C14, C-O32: one card from the front of the stock, or the one received at a real table."""
    cards, seat = state.cards, act.seat
    if not may_request(state, seat):
        raise _no_replacement(state, seat)
    if act.cards is None:
        if not need_not_say(state):
            raise AgainstTheRules("cards_needed", "C14")
        return (CardGiven(seat=seat, card=cards.stock[0] if cards.known else None),)
    if state.table.house or not cards.known:
        raise AgainstTheRules("cards_not_wanted", None)
    if len(act.cards) != 1:
        raise AgainstTheRules("one_card_at_a_time", "C-O32")
    card = act.cards[0]
    if BIT[card] & (sum(cards.hands) | state.thrown):
        raise NoSuchCard("card_elsewhere", "C2")  # where, the seat may not know
    return (CardGiven(seat=seat, card=card),)


def keep_cards(state: Auction, act: KeepCards, moment: Moment) -> tuple[Event, ...]:
    """C14, C-O32: otherwise satisfied."""
    if state.holder == act.seat:
        raise WrongPhase("must_discard", "C15", count=state.extra)
    if not may_keep(state, act.seat):
        raise _no_replacement(state, act.seat)
    return (HandKept(seat=act.seat),)


def discard(state: Auction, act: Discard, moment: Moment) -> tuple[Event, ...]:
    """C15: out of play, down to six cards."""
    cards, seat = state.cards, act.seat
    if state.holder != seat:
        raise WrongPhase("nothing_to_discard", "C15")
    if not cards.known and not act.cards:
        return (CardsThrown(seat=seat, count=state.extra),)
    away = cards_of(act.cards)
    if len(act.cards) != state.extra or away.bit_count() != state.extra:
        raise AgainstTheRules("down_to_six", "C15", count=state.extra)
    if away & ~cards.hands[seat]:
        held = cards.hands[seat]
        raise NoSuchCard("not_held", None, card=next(card for card in act.cards if not BIT[card] & held))
    return (CardsThrown(seat=seat, count=state.extra, cards=act.cards),)


def card_given(state: Auction, event: CardGiven, number: int) -> Auction:
    """The state after one more card."""
    cards, hands, counts = state.cards, list(state.cards.hands), list(state.cards.counts)
    counts[event.seat] += 1
    if event.card is not None:
        hands[event.seat] |= BIT[event.card]
    cards = replace(
        cards,
        hands=tuple(hands),
        counts=tuple(counts),
        stock=tuple(card for card in cards.stock if card != event.card),
    )
    return replace(state, cards=cards, holder=event.seat, extra=state.extra + 1, stock_left=state.stock_left - 1)


def hand_kept(state: Auction, event: HandKept, number: int) -> Auction:
    """The state after a seat waived more cards."""
    return replace(state, kept=(*state.kept, event.seat))


def cards_thrown(state: Auction, event: CardsThrown, number: int) -> Auction:
    """The state after the discard: six cards again; with closed hands they are seen nowhere else."""
    away, cards = cards_of(event.cards), state.cards
    if cards.known:
        hands = tuple(hand & ~away if seat == event.seat else hand for seat, hand in enumerate(cards.hands))
    else:
        hands = tuple(hand & ~away for hand in cards.hands)
    counts = tuple(count - event.count * (seat == event.seat) for seat, count in enumerate(cards.counts))
    return replace(
        state,
        cards=replace(cards, hands=hands, counts=counts),
        kept=(*state.kept, event.seat),
        holder=None,
        extra=0,
        thrown=state.thrown | away,
    )
