"""Dealing, new hands, and a misdeal (A8-A16, A-O14, A-O17, A-O24)."""

from msgspec.structs import replace

from referee.acts import Deal, KeepCards, Report, RequestCards
from referee.cards import ALL, BIT
from referee.events import Dealt, Event, Reported
from referee.games._rodskagg import dealing, new_hands
from referee.games._rodskagg.dealing import HAND, Cards, forehand_first
from referee.games._rodskagg.facts import HandKept, HandRequested, MisdealFound, NewHands
from referee.games.rodskagg_alga.states import Auction, Exchanging, Played, Playing, Table, Undealt
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment


def deal(state: Undealt, act: Deal, moment: Moment) -> tuple[Event, ...]:
    """A8-A10, A25, A56: the dealer gives six cards each, three and three, to those who take part."""
    table = state.table
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", "A56" if table.duel else "A9", dealer=table.dealer)
    if table.house:
        if act.hands is not None or act.counts is not None or act.stock is not None:
            raise AgainstTheRules("house_deals", None)
        return (_house_deal(table, moment.seed),)
    counts = dealing.laid_out(act, table.seats, deal_rule="A9", pack_rule="A4")
    right = dealing.six_each(table.playing, table.seats)
    if counts != right:
        raise AgainstTheRules("six_cards_each", "A9", counts=right)
    return (
        Dealt(
            deal=table.deal,
            dealer=table.dealer,
            hands=act.hands,
            counts=counts,
            stock=act.stock or (),
            face_up=True,
        ),
    )


def _house_deal(table: Table, seed: str) -> Dealt:
    """A9-A10: six each from the shuffled pack, in packets of three, beginning on the dealer's left."""
    order = forehand_first(table.dealer, table.playing, table.seats)
    hands, stock = dealing.house_hands(order, table.seats, seed)
    return Dealt(
        deal=table.deal,
        dealer=table.dealer,
        hands=hands,
        counts=tuple(map(len, hands)),
        stock=stock if table.options.honour_redeal else (),
        seed=seed,
        face_up=True,
    )


def dealt(state: Undealt, event: Dealt, number: int) -> Exchanging | Auction:
    """The state when the cards are out."""
    table = state.table
    hands = dealing.masks(event.hands, table.seats, ALL)
    known = event.hands is not None
    cards = Cards(event=number, hands=hands, counts=event.counts, known=known, stock=event.stock)
    if not table.options.honour_redeal:
        return _bidding(table, cards)
    return Exchanging(
        table=table,
        cards=cards,
        to_speak=forehand_first(table.dealer, table.playing, table.seats),
        stock_left=len(BIT) - HAND * len(table.playing),
    )


def _bidding(table: Table, cards: Cards) -> Auction:
    """A18: forehand speaks first."""
    return Auction(table=table, cards=cards, to_speak=forehand_first(table.dealer, table.playing, table.seats))


# New hands


def _in_turn(state: Exchanging, seat: int) -> None:
    """A-O14, A-O24: clockwise from the dealer's left."""
    if seat != state.to_speak[0]:
        raise OutOfTurn("out_of_turn", "A-O14", turn=state.to_speak[0])


def request_cards(state: Exchanging, act: RequestCards, moment: Moment) -> tuple[Event, ...]:
    """A11-A12: a hand without ace or court card may be exchanged."""
    _in_turn(state, act.seat)
    new_hands.check_request(
        state.cards,
        act.seat,
        act.cards,
        house=state.table.house,
        asked=state.asked,
        thrown=state.thrown,
        stock_left=state.stock_left,
        rule="A11",
        pack_rule="A4",
    )
    return (HandRequested(seat=act.seat, cards=act.cards),)


def keep_cards(state: Exchanging, act: KeepCards, moment: Moment) -> tuple[Event, ...]:
    """A-O24: content with the hand; to ask is a right, not a duty."""
    _in_turn(state, act.seat)
    return (HandKept(seat=act.seat),)


def hand_requested(state: Exchanging, event: HandRequested, number: int) -> Exchanging:
    """The state after a seat asked for a new hand."""
    return replace(state, to_speak=state.to_speak[1:], asked=(*state.asked, (event.seat, event.cards or ())))


def hand_kept(state: Exchanging, event: HandKept, number: int) -> Exchanging | Auction:
    """The state after a seat kept its hand; when nobody asks any more the bidding opens."""
    left = state.to_speak[1:]
    if left or state.asked:
        return replace(state, to_speak=left)
    return _bidding(state.table, state.cards)


def new_hands_dealt(state: Exchanging, moment: Moment) -> tuple[Event, ...]:
    """A13, A15-A16, A-O24: the new hands, when everybody has spoken."""
    if state.to_speak:
        return ()
    seats, asked = state.table.seats, state.asked
    return (new_hands.dealt_anew(state.cards, seats, asked, state.thrown, state.stock_left, moment.seed),)


def hands_renewed(state: Exchanging, event: NewHands, number: int) -> Exchanging | Auction:
    """A14, A16: those who asked may ask again, unless the stock has run out."""
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


# A misdeal


def report(state: Exchanging | Auction | Playing | Played, act: Report, moment: Moment) -> tuple[Event, ...]:
    """A-O17: with closed hands a wrong number of cards is found by the table; the same dealer deals again."""
    table = state.table
    if table.house:
        raise AgainstTheRules("house_sees", None)
    if act.accused not in table.playing:
        raise AgainstTheRules("not_in_deal", "A-O17", seat=act.accused)
    if act.fault not in ("misdeal", "wrong_count"):
        raise WrongPhase("nothing_to_punish", "A-O26")
    if state.cards.known:
        raise AgainstTheRules("hands_known", "A9")
    reported = Reported(seat=act.seat, accused=act.accused, fault=act.fault)
    return reported, MisdealFound(seat=act.accused, rule="A-O17")


def misdeal_found(state: Exchanging | Auction | Playing | Played, event: MisdealFound, number: int) -> Undealt:
    """The state when the cards were wrong: nothing counts, the same dealer deals again."""
    return Undealt(table=state.table)
