"""Drawing, cutting, dealing, the ritual of Fem Opp, and replacement cards (C6-C15, C57-C60)."""

from msgspec.structs import replace

from referee.acts import Discard, Draw, KeepCards, Report, RequestCards
from referee.cards import BIT, HONOURS, cards_of
from referee.events import Breach, FirstDealerDrawn
from referee.games._rodskagg import dealing, reports, ritual
from referee.games._rodskagg.dealing import HAND, DealtCards, Drawing, forehand_first
from referee.games._rodskagg.facts import CardGiven, CardsThrown, HandKept, LeadDrawn
from referee.games._rodskagg.ritual import Customs, PickingUp, Undealt
from referee.games.rodskagg_catsatcards.states import CITES, Auction, Played, Playing, Table, deal_of
from referee.refusals import AgainstTheRules, NoSuchCard, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following
from referee.visibility import Event

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


def breach(table: Table, offence: str, seat: int, tricks: int, *shown_by: int, rule: str | None = None) -> Breach:
    """An offence to be knocked for until ``tricks`` tricks are complete (C61, C-O12)."""
    windowed = table.options.knock_window == "next_trick" and tricks <= HAND and not table.tally  # C-O36
    return Breach(
        offence=offence,
        seat=seat,
        rule=rule or RULE[offence],
        payer=seat,
        points=price(table, offence),
        closes_after=tricks if windowed else None,
        shown_by=shown_by,
    )


# Drawing for the first deal, and for the lead in a duel


def draw(state: Drawing[Table], act: Draw, moment: Moment) -> tuple[Event, ...]:
    """C7-C8, C48, C-O9, C-O31: the contenders draw clockwise; among those level for the highest card again."""
    return dealing.draw(state, act, CITES, "C48" if state.table.duel else "C7")


def drawn(state: Drawing[Table], moment: Moment) -> tuple[Event, ...]:
    """C7-C8, C48: who drew highest, when all have; in house dealing the referee draws for everybody."""
    cards, first = dealing.drawn_highest(state, moment.seed)
    if first is None:
        return ()
    return *cards, LeadDrawn(seat=first) if state.table.duel else FirstDealerDrawn(seat=first, rule="C8")


def lead_drawn(state: Drawing[Table], event: LeadDrawn, number: int) -> Undealt[Table]:
    """The state when it is known who leads in the duel."""
    return Undealt(table=replace(state.table, lead=event.seat))


# The ritual of Fem Opp


def _hands_up(table: Table, cards: DealtCards) -> Auction | Playing:
    """C16; in a duel there is no bidding (C47) and the lead was drawn (C48)."""
    if not table.duel:
        return Auction(
            table=table,
            cards=cards,
            to_speak=forehand_first(table.dealer, table.playing, table.seats),
            stock_left=len(BIT) - HAND * len(table.playing),
        )
    assert table.tally or table.lead is not None, "the lead is drawn before the deal"
    return Playing(
        table=table,
        cards=cards,
        contract=None,
        order=table.playing,
        after=following(table.playing, table.seats),
        turn=table.playing[0] if table.lead is None else table.lead,
        tricks=(0,) * table.seats,
    )


CUSTOMS = Customs(
    cites=CITES,
    held=has_ritual,
    price=price,
    breach=breach,
    may_misdeal=lambda table: table.penalise and table.options.fem_opp and not table.duel,  # C-O23, C-O31
    keeps_stock=lambda table: table.options.honour_redeal and not table.duel,
    hands_up=_hands_up,
)


# Reports of what the cards cannot show

Seen = Undealt[Table] | PickingUp[Table] | Auction | Playing | Played


def report(state: Seen, act: Report, moment: Moment) -> tuple[Event, ...]:
    """C59, C-O23: a report stands as seen; a knock makes it count. A misdeal with closed hands is dealt again, if it
    comes before the number is settled by the play (B-O33)."""
    reported = ritual.reported(state, act, CITES)
    if act.fault in ("misdeal", "wrong_count"):
        if isinstance(state, Undealt) or (isinstance(state, PickingUp) and state.found):
            raise WrongPhase("nothing_dealt", "C12")
        if isinstance(state, Played):
            raise reports.too_late(CITES)
        reports.check_misdeal(state.table, state.cards, state if isinstance(state, Playing) else None, act, CITES)
        return reported, ritual.misdeal_reported(state, act, CUSTOMS)
    dealt = 0 if isinstance(state, Undealt) else state.cards.event
    deal = deal_of(state) if act.fault in ("revoke", "near_zero") else None
    tricks = len(deal.won) if deal else 0
    error = reports.counted(state.table, act, _reported_error(state, act), dealt, tricks, "C-O23")
    return (replace(reported, breaches=(error,)),)


def _reported_error(state: Seen, act: Report) -> Breach:
    """C60-C61: an error of the ritual, in its window, as long as the acts themselves do not tell."""
    table = state.table
    neglect = act.fault in ("early_pick_up", "wrong_cut") and has_ritual(table)
    told = act.fault in ("revoke", "near_zero") and table.tally and not isinstance(state, Undealt)
    if not (neglect or told) or not price(table, act.fault):
        raise WrongPhase("nothing_to_punish", "C60")
    return breach(table, act.fault, act.accused, HAND) if told else ritual.neglected(state, act, CUSTOMS)


# Replacement cards


def may_keep(state: Auction, seat: int) -> bool:
    """C13, C-O32: before the first bid, a hand without a card above ten, and not content yet."""
    if state.calls or state.table.duel or state.table.tally or state.holder not in (None, seat) or seat in state.kept:
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
    has_stock = state.table.options.honour_redeal and not state.table.tally
    return AgainstTheRules("stock_empty" if has_stock else "no_replacement", "C13")


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
    """The state after the discard: six cards again.

    With closed hands the others may still play what was thrown: if it were refused them, they would know it.
    """
    away, cards = cards_of(event.cards), state.cards
    hands = tuple(hand & ~away if seat == event.seat else hand for seat, hand in enumerate(cards.hands))
    counts = tuple(count - event.count * (seat == event.seat) for seat, count in enumerate(cards.counts))
    return replace(
        state,
        cards=replace(cards, hands=hands, counts=counts),
        kept=(*state.kept, event.seat),
        holder=None,
        extra=0,
        thrown=state.thrown | away,
    )
