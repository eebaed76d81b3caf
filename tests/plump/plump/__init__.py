"""Plump for two to five: each player bids a number of tricks, and scores for exactly as many (P1-P13).

The game is not part of the service. It has an act, a bid, a fault and a result field that no other game has.
"""

from typing import Any

from msgspec.structs import replace

from referee import offences, phases
from referee.acts import Act, Bid, Deal, Play, Report, Trick
from referee.cards import BIT, PACK, SUIT, cards_of, clockwise, shuffled, texts_of
from referee.events import Breach, CardPlayed, DealScored, Dealt, Entry, MatchOpened, MatchWon, Reported, TrickTaken
from referee.interned_acts import play_acts
from referee.phases import match_view, options_of, table_of
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment, Script, Shown
from referee.tricks import seats_and_cards
from referee.value import with_item
from referee.visibility import Event, Viewer

from .states import (
    Auction,
    Detail,
    FingersCompared,
    FingersShown,
    LateFingersLifted,
    More,
    Options,
    Played,
    Playing,
    Result,
    ShowFingers,
    Showing,
    State,
    Table,
    TricksBid,
    Undealt,
    cards_each,
    deals_of,
)


def start(opened: MatchOpened) -> State:
    return Undealt(table=table_of(Table, opened, options=options_of(Options, opened)))


def order(table: Table) -> tuple[int, ...]:
    """P4, P-O1: Return the seats from the dealer's left to the dealer."""
    return clockwise((table.dealer + 1) % table.seats, table.seats)


# The deal


def deal(state: Undealt, act: Deal, moment: Moment) -> tuple[Event, ...]:
    """P2-P3: Deal the cards. Refuses a seat that is not the dealer, and wrong hands."""
    table, each = state.table, cards_each(state.table)
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", "P3", dealer=table.dealer)
    hands, seed = act.hands, None
    if table.house or table.tally:
        if act != Deal(seat=act.seat):
            raise AgainstTheRules("house_deals" if table.house else "cards_not_entered", None)
        if table.house:
            pack, seed = shuffled(moment.seed), moment.seed
            hands = tuple(pack[seat * each : (seat + 1) * each] for seat in range(table.seats))
    elif hands is None:
        raise AgainstTheRules("hands_or_counts", None, seats=table.seats)
    elif tuple(map(len, hands)) != (each,) * table.seats:
        raise AgainstTheRules("one_hand_a_seat", "P2", seats=table.seats)
    elif len({card for hand in hands for card in hand}) != each * table.seats:
        raise NoSuchCard("card_twice", "P1")
    counts = (each,) * table.seats
    return (Dealt(deal=table.deal, dealer=act.seat, hands=hands, counts=counts, seed=seed, face_up=True),)


def dealt(state: Undealt, event: Dealt, number: int) -> Auction | Showing:
    hands = tuple(map(cards_of, event.hands or ()))
    if state.table.options.bidding == "fingers":
        return Showing(table=state.table, hands=hands, shown=(None,) * state.table.seats)
    return Auction(table=state.table, hands=hands)


# The bids


def allowed_bids(state: Auction) -> tuple[int, ...]:
    """P4-P5: Return the numbers that the next seat may bid."""
    each = cards_each(state.table)
    last = len(state.bids) == state.table.seats - 1
    return tuple(number for number in range(each + 1) if not last or sum(state.bids) + number != each)


def bid(state: Auction, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """P4-P5: Bid. Refuses a seat out of turn, and a number that the seat may not bid."""
    each, turn = cards_each(state.table), order(state.table)[len(state.bids)]
    if act.seat != turn:
        raise OutOfTurn("out_of_turn", "P4", turn=turn)
    if not act.bid.isdigit() or int(act.bid) > each:
        raise AgainstTheRules("more_than_the_cards", "P4", cards=each)
    if int(act.bid) not in allowed_bids(state):
        raise AgainstTheRules("total_comes_out", "P5", number=int(act.bid), cards=each)
    return (TricksBid(seat=act.seat, bid=act.bid),)


def bid_made(state: Auction, event: TricksBid, number: int) -> Auction | Playing:
    bids, seats = (*state.bids, int(event.bid)), order(state.table)
    if len(bids) < state.table.seats:
        return replace(state, bids=bids)
    return first_lead(state, tuple(bids[seats.index(seat)] for seat in range(state.table.seats)))


def show_fingers(state: Showing, act: ShowFingers, moment: Moment) -> tuple[Event, ...]:
    """P13: Show a number. Refuses a second number, and more tricks than cards."""
    if state.shown[act.seat] is not None:
        raise AgainstTheRules("fingers_shown", "P13", seat=act.seat)
    if act.number > cards_each(state.table):
        raise AgainstTheRules("more_than_the_cards", "P13", cards=cards_each(state.table))
    return (FingersShown(seat=act.seat, number=act.number),)


def fingers_shown(state: Showing, event: FingersShown, number: int) -> Showing:
    return replace(state, shown=with_item(state.shown, event.seat, event.number))


def compared(state: Showing, moment: Moment) -> tuple[Event, ...]:
    """P13: Return the numbers of all seats when the last has shown its own."""
    numbers = tuple(number for number in state.shown if number is not None)
    return (FingersCompared(shown=numbers),) if len(numbers) == state.table.seats else ()


def fingers_compared(state: Showing, event: FingersCompared, number: int) -> Playing:
    return first_lead(state, event.shown)


def first_lead(state: Auction | Showing, bids: tuple[int, ...]) -> Playing:
    """P6: Return the state before the first trick. ``bids`` are by seat."""
    turn = max(order(state.table), key=lambda seat: bids[seat])  # the first of several
    return Playing(table=state.table, hands=state.hands, bids=bids, turn=turn, tricks=(0,) * state.table.seats)


def report(state: Playing, act: Report, moment: Moment) -> tuple[Event, ...]:
    """P-O4: Report late fingers. Refuses it in house dealing, and after the first card."""
    if act.accused >= state.table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    if act.fault != "late_fingers" or state.table.house or state.table.options.bidding != "fingers":
        raise AgainstTheRules("no_such_fault", "P-O4")
    if any(state.tricks) or state.trick:
        raise WrongPhase("late_fingers_too_late", "P-O4")
    if act.accused in state.late:
        raise AgainstTheRules("already_reported", "P-O4")
    return (Reported(seat=act.seat, accused=act.accused, fault=act.fault, breaches=(late_fingers(act.accused),)),)


def late_fingers(seat: int) -> Breach:
    """P-O4: Return the breach of a seat that showed its fingers late. It costs a plump, and no points."""
    return Breach(offence="late_fingers", seat=seat, rule="P-O4", payer=seat, points=0)


def reported(state: Playing | Played, event: Reported, number: int) -> Playing | Played:
    noted: Playing | Played = offences.noted(state, event.breaches, number)
    return replace(noted, late=(*state.late, event.accused))


def unseen(state: State) -> frozenset[str]:
    """P-O4: Return the offences that may have happened without an event."""
    if state.table.house or state.table.options.bidding != "fingers" or not isinstance(state, Playing | Played):
        return frozenset()
    return frozenset({"late_fingers"})


def found_by_official(state: State, offence: str, accused: int, sign: int) -> tuple[Event, ...]:
    """P-O4: Return the event with which an official notes late fingers or, with ``sign`` -1, lifts them."""
    if offence not in unseen(state):
        raise WrongPhase("nothing_to_punish", "P-O4")
    if sign < 0:
        return (LateFingersLifted(seat=accused),)
    return (Reported(seat=accused, accused=accused, fault=offence, breaches=(late_fingers(accused),)),)


def lifted(state: Playing | Played, event: LateFingersLifted, number: int) -> Playing | Played:
    place = state.late.index(event.seat)
    without: Playing | Played = offences.with_ledger(
        state, state.table.ledger.without_breach("late_fingers", event.seat)
    )
    return replace(without, late=(*state.late[:place], *state.late[place + 1 :]))


# The tricks


def playable(state: Playing) -> int:
    """P7: Return the cards that the seat may play."""
    hand = state.hands[state.turn]
    follows = hand & SUIT[state.trick[0][1][0]] if state.trick else hand
    return follows or hand


def play(state: Playing, act: Play, moment: Moment) -> tuple[Event, ...]:
    """P7: Play the card. Refuses a seat out of turn, a card that is not held, and a revoke."""
    if state.table.tally:
        raise WrongPhase("tallied", None)
    if act.seat != state.turn:
        raise OutOfTurn("out_of_turn", "P7", turn=state.turn)
    if not BIT[act.card] & state.hands[act.seat]:
        raise NoSuchCard("not_held", None, card=act.card)
    if not BIT[act.card] & playable(state):
        raise AgainstTheRules("must_follow_suit", "P7", allowed=texts_of(playable(state)))
    return (CardPlayed(seat=act.seat, card=act.card),)


def card_played(state: Playing, event: CardPlayed, number: int) -> Playing:
    return replace(
        state,
        hands=with_item(state.hands, event.seat, state.hands[event.seat] & ~BIT[event.card]),
        trick=(*state.trick, (event.seat, event.card)),
        turn=(event.seat + 1) % state.table.seats,
    )


def trick_won(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """P8: Return the winner of the trick when all have played."""
    if len(state.trick) < state.table.seats:
        return ()
    suit = SUIT[state.trick[0][1][0]]
    winner, _ = max(state.trick, key=lambda one: BIT[one[1]] & suit)
    return (TrickTaken(seat=winner, trick=sum(state.tricks) + 1),)


def enter_trick(state: Playing, act: Trick, moment: Moment) -> tuple[Event, ...]:
    """P8: Enter the winner of a trick in a tally."""
    if not state.table.tally:
        raise WrongPhase("not_tallied", None)
    if act.second is not None:
        raise AgainstTheRules("second_not_entered", None)
    return (TrickTaken(seat=act.seat, trick=sum(state.tricks) + 1),)


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Playing | Played:
    tricks = with_item(state.tricks, event.seat, state.tricks[event.seat] + 1)
    if event.trick < cards_each(state.table):
        return replace(state, tricks=tricks, trick=(), turn=event.seat)
    return Played(table=state.table, bids=state.bids, tricks=tricks, late=state.late, shown=number)


# The score


def points(bid: int, tricks: int) -> tuple[int, str]:
    """P9-P11: Return the points of a seat, and the rule."""
    if bid != tricks:
        return 0, "P11"
    return (int(f"1{bid}"), "P9") if bid else (5, "P10")


def scored(state: Played, moment: Moment) -> tuple[Event, ...]:
    """Write the deal into the protocol."""
    return scored_again(state, moment.seed)


def scored_again(state: Any, seed: str) -> tuple[Event, ...]:
    """P9-P12, P-O2, P-O4: Return the line of a deal that is played. After the last deal the most points win."""
    table = state.table
    earned = [points(*pair) for pair in zip(state.bids, state.tricks, strict=True)]
    for seat in state.late:
        earned[seat] = 0, "P-O4"
    plumps = tuple(seat for seat, (gained, _) in enumerate(earned) if not gained)
    after = tuple(before + gained for before, (gained, _) in zip(table.points, earned, strict=True))
    line = DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind="scored",
        declarer=None,
        contract=None,
        tricks=state.tricks,
        answers=(None,) * table.seats,
        penalties=(0,) * table.seats,
        before=table.points,
        points=after,
        entries=tuple(
            Entry(seat=seat, points=gained, rule=rule, events=(state.shown,))
            for seat, (gained, rule) in enumerate(earned)
        ),
        detail=dict(Detail(tricks_bid=state.bids, plumps=plumps)),
    )
    if table.deal < deals_of(table):
        return (line,)
    best = tuple(seat for seat, total in enumerate(after) if total == max(after))
    return line, MatchWon(
        seat=best[0], by="most_points", rule="P12", points=after, seats=best if len(best) > 1 else ()
    )


def script(state: Undealt, result: Result) -> Script:
    """Yield the acts of a whole deal."""
    table = state.table
    now: Any = yield "", Deal(seat=table.dealer)
    if table.options.bidding == "fingers":
        if len(result.fingers) != table.seats:
            raise AgainstTheRules("one_count_a_seat", "P13", seats=table.seats, at="/fingers")
        for seat, number in enumerate(result.fingers):
            now = yield f"/fingers/{seat}", ShowFingers(seat=seat, number=number)
    else:
        for place, one in enumerate(result.bids):
            now = yield f"/bids/{place}", Bid(seat=one.seat, bid=one.bid)
    if not isinstance(now, Playing):
        raise AgainstTheRules("bids_missing", "P4", at="/bids")
    for place, fault in enumerate(result.faults):
        accuser = (fault.seat + 1) % table.seats
        now = yield f"/faults/{place}", Report(seat=accuser, accused=fault.seat, fault=fault.fault)
    for place, seat in enumerate(result.tricks):
        if not isinstance(now, Playing):
            raise AgainstTheRules("too_many_tricks", "P8", done=place, at=f"/tricks/{place}")
        now = yield f"/tricks/{place}", Trick(seat=seat)
    if isinstance(now, Playing):
        raise AgainstTheRules("tricks_missing", "P8", at="/tricks")


# What the seats may do and see


def to_act(state: State) -> tuple[int, ...]:
    """Return the seats that must act."""
    match state:
        case Undealt():
            return (state.table.dealer,)
        case Auction():
            return (order(state.table)[len(state.bids)],)
        case Showing():
            return tuple(seat for seat in order(state.table) if state.shown[seat] is None)
        case Playing():
            return order(state.table) if state.table.tally else (state.turn,)
    return ()


def acts_of(state: Any, seat: int) -> tuple[Act, ...]:
    """Return the legal acts of a seat whose turn it is."""
    match state:
        case Undealt():
            return (Deal(seat=seat),)
        case Auction():
            return tuple(Bid(seat=seat, bid=str(number)) for number in allowed_bids(state))
        case Showing():
            return tuple(ShowFingers(seat=seat, number=number) for number in range(cards_each(state.table) + 1))
    return (Trick(seat=seat),) if state.table.tally else play_acts(seat, playable(state))


def offered(state: Any, seat: int) -> tuple[Act, ...]:
    """Return the legal acts of a seat."""
    return acts_of(state, seat) if seat in to_act(state) else ()


def view(state: State, viewer: Viewer) -> Shown:
    """Return the parts of the state that this viewer may see."""
    more = More(cards_each=cards_each(state.table), shown=None)
    own: dict[str, Any] = {}
    if isinstance(state, Auction):
        bids = zip(order(state.table), state.bids, strict=False)
        own["bids"] = [{"seat": seat, "bid": str(number)} for seat, number in bids]
    if isinstance(state, Showing):
        more["shown"] = tuple(seat for seat, number in enumerate(state.shown) if number is not None)
        own["due"] = ("show_fingers",)
    if isinstance(state, Playing):
        own["bids"] = [{"seat": seat, "bid": str(state.bids[seat])} for seat in order(state.table)]
        own |= {"trick": seats_and_cards(state.trick), "tricks": state.tricks}
    if isinstance(state, Auction | Showing | Playing) and state.hands:
        hands = tuple(map(texts_of, state.hands))
        own["hand"] = hands[viewer] if isinstance(viewer, int) and viewer < len(hands) else None
        own["hands"] = hands if viewer == "official" else None
    return match_view(state, viewer, to_act=to_act(state), more=more, **own)


def _any_opening(opened: MatchOpened) -> None:
    """P1: Accept every opening: ten cards for each of five seats are fewer than 52."""


RULESET = phases.make_ruleset(
    phases.Tables(
        decide={
            Undealt: {Deal: deal},
            Auction: {Bid: bid},
            Showing: {ShowFingers: show_fingers},
            Playing: {Play: play, Trick: enter_trick, Report: report},
        },
        rule_of={Deal: "P3", Bid: "P4", ShowFingers: "P13", Report: "P-O4", Play: "P7", Trick: "P8"},
        evolve={
            Dealt: dealt,
            TricksBid: bid_made,
            FingersShown: fingers_shown,
            FingersCompared: fingers_compared,
            Reported: reported,
            LateFingersLifted: lifted,
            CardPlayed: card_played,
            TrickTaken: trick_taken,
        },
        follows={Showing: compared, Playing: trick_won, Played: scored},
        offers={Undealt: offered, Auction: offered, Showing: offered, Playing: offered},
        undealt=lambda table: Undealt(table=table),
        between_deals=(Undealt,),
        cites=phases.Cites(),
        result=Result,
        script=script,
    ),
    scored=scored_again,
    key="plump",
    edition=1,
    players_min=2,
    players_max=5,
    pack=PACK,
    start_points=0,
    options=Options,
    offences=("late_fingers",),
    events=(TricksBid, FingersShown, FingersCompared, LateFingersLifted),
    state=State,
    opening=_any_opening,
    start=start,
    to_act=to_act,
    view=view,
    more=More,
    detail=Detail,
    unseen=unseen,
    priced=found_by_official,
)
