"""High Card for two to four: one card each, the highest takes a point, and the first to three has won.

A game that no part of the service knows of: what a module needs to be one, and no more. Rulebook H1-H6.
"""

from typing import Annotated, Any, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from referee.acts import Act, Deal, Play, Request, SeatAct, Void
from referee.cards import PACK, RANKS, SUITS, clockwise, left_of, shuffled
from referee.events import (
    CardPlayed,
    DealScored,
    Dealt,
    DealVoided,
    Entry,
    Event,
    MatchOpened,
    MatchWon,
    TrickTaken,
    Viewer,
)
from referee.refusals import AgainstTheRules, MatchOver, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.ruleset import Moment, Ruleset, Shown
from referee.value import Value


class Options(Value, forbid_unknown_fields=True):
    """The one thing that can be agreed."""

    target: Annotated[int, Meta(ge=1, le=100, description="H6: points that win the match.")] = 3


class CardsCompared(Event):
    """The cards were compared. A fact that only this game has."""

    TOPIC: ClassVar[str] = "high-card/compared"
    highest: str


class Table(Value):
    """What holds for the whole of a deal."""

    target: int
    house: bool
    points: tuple[int, ...]
    deal: int
    dealer: int

    @property
    def seats(self) -> int:
        """How many play."""
        return len(self.points)


class Undealt(Value, tag="undealt"):
    """The dealer is to deal."""

    table: Table


class Playing(Value, tag="playing"):
    """Each seat plays its card."""

    table: Table
    hands: tuple[str, ...]
    trick: tuple[tuple[int, str], ...] = ()

    @property
    def turn(self) -> int:
        """From the dealer's left."""
        return (self.table.dealer + 1 + len(self.trick)) % self.table.seats


class Over(Value, tag="over"):
    """The match is won."""

    table: Table
    winner: int


State = Undealt | Playing | Over


def opening(opened: MatchOpened) -> None:
    """H6: refuses a match that is won already."""
    if max(opened.points) >= opened.options["target"]:
        raise AgainstTheRules("match_is_over_already", "H6", points=opened.points)


def start(opened: MatchOpened) -> State:
    """The state of a match just opened; seat 0 deals if nobody was named (H2)."""
    return Undealt(
        table=Table(
            target=opened.options["target"],
            house=opened.dealing == "house",
            points=opened.points,
            deal=1,
            dealer=opened.first_dealer or 0,
        )
    )


def strength(card: str) -> tuple[int, int]:
    """H4: by rank, and of one rank by suit: spades, hearts, diamonds, clubs."""
    return RANKS.index(card[1]), -SUITS.index(card[0])


def decide(state: State, act: Request, moment: Moment) -> tuple[Event, ...]:
    """The events that an act makes, or a refusal."""
    if isinstance(state, Over):
        raise MatchOver("match_over", None, winner=state.winner)
    if isinstance(act, Void) and isinstance(state, Playing):
        return (DealVoided(deal=state.table.deal, reason=act.reason),)
    if not isinstance(act, SeatAct) or (type(act), type(state)) not in ((Deal, Undealt), (Play, Playing)):
        raise WrongPhase("wrong_phase", None, phase=str(type(state).__struct_config__.tag))
    if act.seat >= state.table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.seat)
    return _deal(state, act, moment) if isinstance(state, Undealt) else _play(state, act, moment)


def _deal(state: Undealt, act: Any, moment: Moment) -> tuple[Event, ...]:
    """H2-H3: one card each."""
    table = state.table
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", "H2", dealer=table.dealer)
    if table.house and act != Deal(seat=act.seat):
        raise AgainstTheRules("house_deals", None)
    hands = tuple((card,) for card in shuffled(moment.seed)[: table.seats]) if table.house else act.hands
    if hands is None:
        raise AgainstTheRules("hands_or_counts", None, seats=table.seats)
    cards = {card for hand in hands for card in hand}
    if tuple(map(len, hands)) != (1,) * table.seats or len(cards) != table.seats:
        raise AgainstTheRules("one_hand_a_seat", "H3", seats=table.seats)
    seed = moment.seed if table.house else None
    counts = (1,) * table.seats
    return (Dealt(deal=table.deal, dealer=act.seat, hands=hands, counts=counts, seed=seed, face_up=True),)


def _play(state: Playing, act: Any, moment: Moment) -> tuple[Event, ...]:
    """H4-H6: in turn; with the last card the deal is scored."""
    table, seat = state.table, act.seat
    if seat != state.turn:
        raise OutOfTurn("out_of_turn", "H4", turn=state.turn)
    if act.card != state.hands[seat]:
        raise NoSuchCard("not_held", None, card=act.card)
    played = CardPlayed(seat=seat, card=act.card)
    trick = (*state.trick, (seat, act.card))
    if len(trick) < table.seats:
        return (played,)
    winner, highest = max(trick, key=lambda one: strength(one[1]))
    shown = moment.version + 3
    points = tuple(points + (other == winner) for other, points in enumerate(table.points))
    line = DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind="scored",
        declarer=None,
        contract=None,
        tricks=tuple(int(other == winner) for other in range(table.seats)),
        answers=(None,) * table.seats,
        penalties=(0,) * table.seats,
        before=table.points,
        points=points,
        entries=(Entry(seat=winner, points=1, rule="H5", events=(shown,)),),
    )
    ended = (MatchWon(seat=winner, by="target", rule="H6", points=points),) if max(points) >= table.target else ()
    return played, CardsCompared(highest=highest), TrickTaken(seat=winner, trick=1), line, *ended


def evolve(state: Any, event: Event, number: int) -> State:
    """The state after event ``number``."""
    match event:
        case Dealt(hands=hands):
            return Playing(table=state.table, hands=tuple(card for hand in hands or () for card in hand))
        case CardPlayed(seat=seat, card=card):
            return replace(state, trick=(*state.trick, (seat, card)))
        case DealVoided():
            return Undealt(table=state.table)
        case DealScored(points=points):
            table = state.table
            dealer = left_of(table.dealer, table.seats)
            return Undealt(table=replace(table, points=points, deal=table.deal + 1, dealer=dealer))
        case MatchWon(seat=seat):
            return Over(table=state.table, winner=seat or 0)
    return state


def to_act(state: State) -> tuple[int, ...]:
    """The seat that is awaited."""
    if isinstance(state, Over):
        return ()
    return (state.turn if isinstance(state, Playing) else state.table.dealer,)


def legal(state: State, viewer: Viewer) -> tuple[Act, ...]:
    """What the viewer may do now."""
    if viewer == "official":
        return (Void(),) if isinstance(state, Playing) else ()
    if not isinstance(viewer, int) or viewer not in to_act(state):
        return ()
    return (Play(seat=viewer, card=state.hands[viewer]),) if isinstance(state, Playing) else (Deal(seat=viewer),)


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table = state.table
    hands = hand = trick = None
    if isinstance(state, Playing):
        trick, played = state.trick, {seat for seat, _ in state.trick}
        hands = tuple(() if seat in played else (card,) for seat, card in enumerate(state.hands))
        hand = hands[viewer] if isinstance(viewer, int) and viewer < table.seats else None
    return Shown(
        phase=str(type(state).__struct_config__.tag),
        deal=table.deal,
        dealer=table.dealer,
        to_act=to_act(state),
        active=clockwise(0, table.seats),
        points=table.points,
        penalties=(0,) * table.seats,
        hand=hand,
        hands=hands if viewer == "official" else None,
        trick=trick,
        winner=state.winner if isinstance(state, Over) else None,
    )


RULESET = Ruleset(
    key="high-card",
    edition=1,
    players_min=2,
    players_max=4,
    pack=PACK,
    start_points=0,
    options=Options,
    acts=(Deal, Play, Void),
    offences=(),
    events=(CardsCompared,),
    state=State,
    opening=opening,
    start=start,
    decide=decide,
    begin=lambda state, moment: (),
    evolve=evolve,
    to_act=to_act,
    legal=legal,
    view=view,
)
