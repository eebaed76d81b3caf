"""Drawing, the ritual of dealing in Fem Opp, and replacement cards (C6-C15, C57-C60)."""

from msgspec.structs import replace

from referee.acts import Discard, Draw, KeepCards, Report, RequestCards
from referee.cards import BIT, HONOURS, cards_of
from referee.events import Breach, FirstDealerDrawn
from referee.games._rodskagg import dealing, in_play, reports, ritual
from referee.games._rodskagg.dealing import HAND_SIZE, DealtCards, Drawing, forehand_first
from referee.games._rodskagg.facts import CardGiven, CardsThrown, HandKept, LeadDrawn
from referee.games._rodskagg.ritual import PickingUp, RitualRules, Undealt
from referee.games.rodskagg_catsatcards.states import CITES, Auction, Played, Playing, Table, play_or_outcome
from referee.refusals import AgainstTheRules, NoSuchCard, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

RULE_BY_OFFENCE = {
    "wrong_cut": "C10",
    "early_pick_up": "C60",
    "misdeal": "C60",
    "fold_question": "C30",
    "near_zero": "C49",
    "revoke": "C26",
}


def has_ritual(table: Table) -> bool:
    """Return whether the ritual applies: in Fem Opp with ``deal_ritual``, but not in a duel (C-O23, C-O31)."""
    return table.options.fem_opp and table.options.deal_ritual and not table.duel


def price(table: Table, offence: str) -> int:
    """Return the points that an offence costs; 0 if it is refused, or outside Fem Opp (C57-C60, C-O26)."""
    if not (table.penalise and table.options.fem_opp):
        return 0
    points: int = getattr(table.options.fem_opp_penalties, offence)
    return points


def breach(table: Table, offence: str, seat: int, tricks: int, *shown_by: int, rule: str | None = None) -> Breach:
    """Return a breach that the events ``shown_by`` show (C61, C-O12).

    With ``knock_window`` ``next_trick`` it lapses after ``tricks`` tricks, except in a tally.
    """
    windowed = table.options.knock_window == "next_trick" and tricks <= HAND_SIZE and not table.tally  # C-O36
    return Breach(
        offence=offence,
        seat=seat,
        rule=rule or RULE_BY_OFFENCE[offence],
        payer=seat,
        points=price(table, offence),
        closes_after=tricks if windowed else None,
        shown_by=shown_by,
    )


def draw(state: Drawing[Table], act: Draw, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a draw (C7-C8, C48, C-O9, C-O31). Raises OutOfTurn, AgainstTheRules or NoSuchCard."""
    return dealing.draw(state, act, CITES, "C48" if state.table.duel else "C7")


def drawing_result(state: Drawing[Table], moment: Moment) -> tuple[Event, ...]:
    """Return the house's draws and the event of the first dealer or a duel's leader; empty while seats must draw
    (C7-C8, C48)."""
    cards, first = dealing.drawing_result(state, moment.seed)
    if first is None:
        return ()
    return *cards, LeadDrawn(seat=first) if state.table.duel else FirstDealerDrawn(seat=first, rule="C8")


def lead_drawn(state: Drawing[Table], event: LeadDrawn, number: int) -> Undealt[Table]:
    return Undealt(table=replace(state.table, lead=event.seat))


def _after_pick_up(table: Table, cards: DealtCards) -> Auction | Playing:
    """Return the round of declarations; in a duel the play (C16, C47)."""
    if not table.duel:
        return Auction(
            table=table,
            cards=cards,
            to_speak=forehand_first(table.dealer, table.playing, table.seats),
            stock_left=len(BIT) - HAND_SIZE * len(table.playing),
        )
    assert table.tally or table.lead is not None, "the lead is drawn before the deal"
    return in_play.start_of_play(Playing, table, cards, table.playing[0] if table.lead is None else table.lead)


RITUAL = RitualRules(
    cites=CITES,
    applies=has_ritual,
    price=price,
    breach=breach,
    may_misdeal=lambda table: table.penalise and table.options.fem_opp and not table.duel,  # C-O23, C-O31
    keeps_stock=lambda table: table.options.honour_redeal and not table.duel,
    after_pick_up=_after_pick_up,
)


Reportable = Undealt[Table] | PickingUp[Table] | Auction | Playing | Played


def report(state: Reportable, act: Report, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a report with its breach or, for a wrong number of cards, a misdeal (C59, C-O23).

    Raises: WrongPhase if the error costs nothing or is impossible now, AgainstTheRules if the accused is out, the
    error is known or reported, or this seat may not report it.
    """
    reported = ritual.reported(state, act, CITES)
    if act.fault in ("misdeal", "wrong_count"):
        return reported, ritual.misdeal_reported(state, act, RITUAL)
    dealt = 0 if isinstance(state, Undealt) else state.cards.event
    deal = play_or_outcome(state) if act.fault in ("revoke", "near_zero") else None
    tricks = len(deal.won) if deal else 0
    error = reports.new_error(state.table, act, _reported_error(state, act), dealt, tricks, "C-O23")
    return (replace(reported, breaches=(error,)),)


def _reported_error(state: Reportable, act: Report) -> Breach:
    """Return the reported breach (C60-C61).

    Raises: WrongPhase if it costs nothing; also as :func:`ritual.reported_breach`.
    """
    table = state.table
    neglect = act.fault in ("early_pick_up", "wrong_cut") and has_ritual(table)
    from_tally = act.fault in ("revoke", "near_zero") and table.tally and not isinstance(state, Undealt)
    if not (neglect or from_tally) or not price(table, act.fault):
        raise WrongPhase("nothing_to_punish", "C60")
    return (
        breach(table, act.fault, act.accused, HAND_SIZE) if from_tally else ritual.reported_breach(state, act, RITUAL)
    )


def may_keep(state: Auction, seat: int) -> bool:
    """Return whether the seat may waive replacement cards (C13, C-O32)."""
    if state.calls or state.table.duel or state.table.tally or state.holder not in (None, seat) or seat in state.kept:
        return False
    return not (state.cards.known and state.cards.hands[seat] & HONOURS)


def may_request(state: Auction, seat: int) -> bool:
    """Return whether the seat may get a replacement card (C13-C14, C-O19, C-O32)."""
    return state.table.options.honour_redeal and may_keep(state, seat) and state.stock_left > 0


def _replacement_refusal(state: Auction, seat: int) -> AgainstTheRules | WrongPhase:
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


def may_leave_unnamed(state: Auction) -> bool:
    """Return whether a request may leave out the card: with closed hands or while the known stock lasts."""
    return not state.cards.known or bool(state.cards.stock)


def request_cards(state: Auction, act: RequestCards, moment: Moment) -> tuple[Event, ...]:
    """Return the event of one card given, from the stock or as named (C13-C14, C-O32).

    Raises: WrongPhase or AgainstTheRules if the seat gets no card or misnames it, NoSuchCard for a card elsewhere.
    """
    cards, seat = state.cards, act.seat
    if not may_request(state, seat):
        raise _replacement_refusal(state, seat)
    if act.cards is None:
        if not may_leave_unnamed(state):
            raise AgainstTheRules("cards_needed", "C14")
        return (CardGiven(seat=seat, card=cards.stock[0] if cards.known else None),)
    if state.table.house or not cards.known:
        raise AgainstTheRules("cards_not_wanted", None)
    if len(act.cards) != 1:
        raise AgainstTheRules("one_card_at_a_time", "C-O32")
    card = act.cards[0]
    if BIT[card] & (sum(cards.hands) | state.thrown):
        raise NoSuchCard("card_elsewhere", "C2")  # without the card, because its place is secret
    return (CardGiven(seat=seat, card=card),)


def keep_cards(state: Auction, act: KeepCards, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a waiver (C14, C-O32).

    Raises: WrongPhase or AgainstTheRules if the seat must discard, or unless :func:`may_keep`.
    """
    if state.holder == act.seat:
        raise WrongPhase("must_discard", "C15", count=state.extra)
    if not may_keep(state, act.seat):
        raise _replacement_refusal(state, act.seat)
    return (HandKept(seat=act.seat),)


def discard(state: Auction, act: Discard, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a discard (C15).

    Raises: WrongPhase if no discard is due, AgainstTheRules for a wrong number, NoSuchCard for cards not held.
    """
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
    return replace(state, kept=(*state.kept, event.seat))


def cards_thrown(state: Auction, event: CardsThrown, number: int) -> Auction:
    """Return the state after a discard. Other closed hands may still have the cards."""
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
