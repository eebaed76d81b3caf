"""The first dealer, the stake, the deal, misdeals and reported faults (D11-D21, D67-D68)."""

from itertools import chain

from msgspec.structs import replace

from referee.acts import Deal, Draw, Report
from referee.cards import BIT, SUIT_OF, cards_of, clockwise, shuffled
from referee.events import Breach, CardDrawn, Dealt, FirstDealerDrawn, PlayEnded, Reported
from referee.games.rams_english.states import (
    HAND_SIZE,
    IN_PACK,
    PACK,
    DealtCards,
    Declaring,
    Drawing,
    FaultLifted,
    Played,
    Playing,
    Staked,
    State,
    Table,
    Undealt,
)
from referee.offences import with_ledger
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def next_to_draw(state: Drawing) -> int:
    """Return the seat for which the next card is turned up (D12)."""
    return len(state.drawn) % state.table.seats


def draw(state: Drawing, act: Draw, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a card turned up for a seat (D11-D12).

    Raises: OutOfTurn for a seat not on turn, AgainstTheRules without a card, NoSuchCard for an impossible card.
    """
    if act.seat != (turn := next_to_draw(state)):
        raise OutOfTurn("out_of_turn", "D12", turn=turn)
    if act.card is None:
        raise AgainstTheRules("card_needed", "D11")
    check_in_pack((act.card,))
    if act.card in (card for _, card in state.drawn):
        raise NoSuchCard("card_seen", "D6", card=act.card)
    return (CardDrawn(seat=act.seat, card=act.card),)


def next_draw(state: Drawing, moment: Moment) -> tuple[Event, ...]:
    """Return the event of the first dealer after a jack, else of the house's next draw, or no event (D11-D13)."""
    if state.drawn and state.drawn[-1][1][1] == "J":
        return (FirstDealerDrawn(seat=state.drawn[-1][0], rule="D13"),)
    if not state.table.house:
        return ()
    return (CardDrawn(seat=next_to_draw(state), card=shuffled(moment.seed, IN_PACK)[len(state.drawn)]),)


def card_drawn(state: Drawing, event: CardDrawn, number: int) -> Drawing:
    return replace(state, drawn=(*state.drawn, (event.seat, event.card)))


_CARDS = frozenset(PACK)


def check_in_pack(cards: tuple[str, ...]) -> None:
    """Raise NoSuchCard for cards that are not in the pack (D6-D7)."""
    if not _CARDS.issuperset(cards):
        raise NoSuchCard("not_in_pack", "D7", cards=[card for card in cards if card not in _CARDS])


def seats_dealt_in(table: Table) -> tuple[int, ...]:
    """Return the seats that get cards, clockwise from forehand; of six seats not the dealer (D2, D14, D-O9)."""
    seating = clockwise((table.dealer + 1) % table.seats, table.seats)
    return seating[:-1] if table.seats == 6 else seating


def deal(state: Undealt, act: Deal, moment: Moment) -> tuple[Event, ...]:
    """Return the dealer's stake and the deal (D14-D21).

    Raises: OutOfTurn for any seat but the dealer, NoSuchCard or AgainstTheRules for impossible or needless cards.
    """
    table = state.table
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", "D14", dealer=table.dealer)
    staked = Staked(
        seat=table.dealer,
        amount=table.stake,
        pot=table.pot + table.stake,
        double=table.pot > 0,
    )
    if table.tally:
        return staked, _tally_deal(table, act)
    if not table.house:
        return staked, _table_deal(table, act)
    if act != Deal(seat=act.seat):
        raise AgainstTheRules("house_deals", None)
    return staked, _house_deal(table, moment.seed)


def _table_deal(table: Table, act: Deal) -> Dealt:
    """Return a deal at a real table: hands and widow, or counts only, and the turned-up card (D17, D20).

    Raises: NoSuchCard for an impossible card, AgainstTheRules for missing cards, wrong numbers or a stock (D21).
    """
    if (act.hands is None) == (act.counts is None):
        raise AgainstTheRules("hands_or_counts", None, seats=table.seats)
    if act.turn_up is None:
        raise AgainstTheRules("turn_up_needed", "D20")
    if (act.widow is None) != (act.hands is None):
        raise AgainstTheRules("widow_goes_with_hands", "D17")
    if act.stock is not None:
        raise AgainstTheRules("stock_not_used", "D21")
    texts = (*chain.from_iterable(act.hands or ()), *(act.widow or ()), act.turn_up)
    check_in_pack(texts)
    if len(texts) != len(set(texts)):
        raise NoSuchCard("card_twice", "D6", cards=sorted({card for card in texts if texts.count(card) > 1}))
    counts = tuple(map(len, act.hands)) if act.hands is not None else act.counts or ()
    if len(counts) != table.seats:
        raise AgainstTheRules("one_hand_a_seat", "D17", seats=table.seats)
    right = _right_counts(table)
    if counts != right or (act.widow is not None and len(act.widow) != HAND_SIZE):
        raise AgainstTheRules("five_cards_each", "D17", counts=right, widow=HAND_SIZE)
    return Dealt(
        deal=table.deal,
        dealer=table.dealer,
        hands=act.hands,
        counts=counts,
        widow=act.widow or (),
        turn_up=act.turn_up,
        face_up=True,
    )


def _right_counts(table: Table) -> tuple[int, ...]:
    """Return the right number of cards by seat (D2, D17)."""
    order = seats_dealt_in(table)
    return tuple([HAND_SIZE if seat in order else 0 for seat in range(table.seats)])


def _tally_deal(table: Table, act: Deal) -> Dealt:
    """Return a deal in a tally. Raises AgainstTheRules for cards or wrong counts (D17, D-O29)."""
    if (act.hands, act.stock, act.widow, act.turn_up) != (None,) * 4:
        raise AgainstTheRules("cards_not_entered", "D-O29")
    right = _right_counts(table)
    if act.counts not in (None, right):
        raise AgainstTheRules("five_cards_each", "D17", counts=right, widow=HAND_SIZE)
    return Dealt(deal=table.deal, dealer=table.dealer, counts=right, face_up=True)


def _house_deal(table: Table, seed: str) -> Dealt:
    """Return a deal by the house (D17-D20)."""
    order = seats_dealt_in(table)
    places: tuple[int | None, ...] = (*order, None) if table.dealer not in order else (*order[:-1], None, order[-1])
    pack, many = shuffled(seed, IN_PACK), len(places)
    twos = pack[3 * many :]
    given = {
        seat: pack[3 * place : 3 * place + 3] + twos[2 * place : 2 * place + 2] for place, seat in enumerate(places)
    }
    hands = tuple(given.get(seat, ()) for seat in range(table.seats))
    return Dealt(
        deal=table.deal,
        dealer=table.dealer,
        hands=hands,
        counts=tuple(map(len, hands)),
        widow=given[None],
        turn_up=pack[HAND_SIZE * many],
        seed=seed,
        face_up=True,
    )


def staked(state: Undealt, event: Staked, number: int) -> Undealt:
    return replace(state, staked=number)


def dealt(state: Undealt, event: Dealt, number: int) -> Declaring:
    """Return the state in which forehand speaks first (D24)."""
    table = state.table
    turn_up, known = event.turn_up, event.hands is not None
    unseen = 0 if turn_up is None else IN_PACK & ~BIT[turn_up]
    hands = tuple(map(cards_of, event.hands)) if event.hands is not None else (unseen,) * table.seats
    order = seats_dealt_in(table)
    dealing = DealtCards(
        staked=state.staked,
        order=order,
        known=known,
        widow=cards_of(event.widow),
        turn_up=turn_up or "",
        trumps=0 if turn_up is None else SUIT_OF[BIT[turn_up]],
    )
    return Declaring(table=table, dealing=dealing, hands=hands, to_speak=order)


OFFENCE_BY_RULE = {"D50": "revoke", "D51": "revoke", "D53": "not_heading"}


def report(state: Declaring | Playing | Played, act: Report, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a report and, after a misdeal, the end of the deal (D67-D68, D-O26).

    Raises: NotInPlay if the accused does not exist; AgainstTheRules if the service sees the fault itself, or the
    fault or the accused is impossible; WrongPhase if faults are refused, or it is too early or late.
    """
    table = state.table
    if table.house:
        raise AgainstTheRules("house_sees", None)
    if act.accused >= table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    reported = Reported(seat=act.seat, accused=act.accused, fault=act.fault)
    if act.fault == "misdeal":
        if isinstance(state, Played) or (isinstance(state, Playing) and not before_first_lead(state)):
            raise WrongPhase("misdeal_too_late", "D-O26")
        if act.accused != table.dealer:
            raise AgainstTheRules("only_dealer_misdeals", "D67", dealer=table.dealer)
        if state.dealing.known and not (isinstance(state, Declaring) and not state.said.calls):
            raise AgainstTheRules("hands_known", "D-O26")
        # because the state does not keep the report
        return reported, PlayEnded(kind="misdeal")
    if act.fault in ("early_pick_up", "wrong_cut", "near_zero"):
        raise AgainstTheRules("no_such_fault", "D68")
    if act.fault in OFFENCE_BY_RULE.values() and not table.tally:
        raise AgainstTheRules("shown_by_cards", "D-O26")
    if not table.penalise:
        raise WrongPhase("nothing_to_punish", "D-O24")
    if isinstance(state, Declaring):
        raise WrongPhase("play_not_begun", "D68")
    if act.accused not in seats_in_play(state):
        raise AgainstTheRules("accused_not_in_play", "D68", seat=act.accused)
    return (replace(reported, breaches=(fault_breach(table, act.fault, act.accused, "D68"),)),)


def seats_in_play(state: Playing | Played) -> tuple[int, ...]:
    return state.outcome.order if isinstance(state, Played) else state.order


SEEN_BY_THE_TABLE = ("exposed_card", "wrong_count", "led_out_of_turn")
RULE_OF_HIDDEN_FAULT = {"revoke": "D50", "not_heading": "D53"}


def unseen_faults(state: State) -> frozenset[str]:
    """Return the faults that only people at the table can see (D68, D-O26).

    Empty in a house match, before the play, and if faults are refused.
    """
    if state.table.house or not state.table.penalise or not isinstance(state, Playing | Played):
        return frozenset()
    return frozenset(SEEN_BY_THE_TABLE if state.dealing.known else (*SEEN_BY_THE_TABLE, *RULE_OF_HIDDEN_FAULT))


def fault_by_official(state: State, offence: str, accused: int, sign: int) -> tuple[Event, ...]:
    """Return the event that adds a fault or, if ``sign`` is -1, cancels it (D68-D70, D-O24).

    Raises: WrongPhase if the offence costs nothing or the play has not begun, AgainstTheRules if the accused is not
    in play.
    """
    if not state.table.penalise or offence not in (*SEEN_BY_THE_TABLE, *RULE_OF_HIDDEN_FAULT):
        raise WrongPhase("nothing_to_punish", "D-O24")
    if not isinstance(state, Playing | Played):
        raise WrongPhase("play_not_begun", "D68")
    if accused not in seats_in_play(state):
        raise AgainstTheRules("accused_not_in_play", "D68", seat=accused)
    if sign < 0:
        return (FaultLifted(accused=accused, fault=offence),)
    found = fault_breach(state.table, offence, accused, RULE_OF_HIDDEN_FAULT.get(offence, "D68"))
    return (Reported(seat=accused, accused=accused, fault=offence, breaches=(found,)),)


def fault_lifted(state: Playing | Played, event: FaultLifted, number: int) -> Playing | Played:
    """Return the state without the seat's last fault of this kind that no card proves."""
    lifted: Playing | Played = with_ledger(state, state.table.ledger.without_breach(event.fault, event.accused))
    return lifted


def fault_breach(table: Table, offence: str, seat: int, rule: str, *shown_by: int) -> Breach:
    """Return the breach for a fault. ``shown_by``: events that show it (D68-D70, D-O24)."""
    return Breach(offence=offence, seat=seat, rule=rule, payer=seat, points=table.stake, shown_by=shown_by)


def before_first_lead(state: Playing) -> bool:
    """Return whether no card has been played, and no trick entered (D-O22, D-O26)."""
    return not state.trick and not state.won
