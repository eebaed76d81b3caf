"""High Card for two to four: one card each, the highest card takes a point, three points win the match.

The game is not part of the service. The module has only what a game needs. Rulebook H1-H6.
"""

from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from referee import phases
from referee.acts import Act, Deal, Play
from referee.cards import PACK, RANKS, SUITS, shuffled
from referee.events import CardPlayed, DealScored, Dealt, Entry, MatchOpened, MatchWon, TrickTaken
from referee.phases import Over, options_of, shown, table_of
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn
from referee.ruleset import Moment, Shown
from referee.tricks import in_order
from referee.value import Value
from referee.visibility import Event, Viewer


class Options(Value, forbid_unknown_fields=True):
    """Options of the game."""

    target: Annotated[int, Meta(ge=1, le=100, description="H6: points that win the match.")] = 3


class CardsCompared(Event):
    """The cards were compared. Only this game has this event."""

    TOPIC: ClassVar[str] = "high-card/compared"
    highest: str


class Table(phases.Table):
    """The part of the state that does not change during a deal."""

    target: int


class Undealt(Value, tag="undealt"):
    """The dealer must deal."""

    table: Table


class Playing(Value, tag="playing"):
    """Each seat plays its card, from the dealer's left."""

    table: Table
    hands: tuple[str, ...]
    trick: tuple[tuple[int, str], ...] = ()

    @property
    def turn(self) -> int:
        """Seat that plays next."""
        return (self.table.dealer + 1 + len(self.trick)) % self.table.seats


class Played(Value, tag="played"):
    """All cards are on the table."""

    table: Table
    winner: int
    shown: int
    """Number of the event that shows the winner."""


State = Undealt | Playing | Played | Over[Table]


def opening(opened: MatchOpened) -> None:
    """H6: Refuse a match that is already won."""
    if max(opened.points) >= options_of(Options, opened).target:
        raise AgainstTheRules("match_is_over_already", "H6", points=opened.points)


def start(opened: MatchOpened) -> State:
    """Return the first state of a match. Seat 0 deals if no first dealer was named (H2)."""
    return Undealt(table=table_of(Table, opened, target=options_of(Options, opened).target))


def deal(state: Undealt, act: Deal, moment: Moment) -> tuple[Event, ...]:
    """H2-H3: Deal one card to each seat. Refuses other hands, and a deal by a seat that is not the dealer."""
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


def play(state: Playing, act: Play, moment: Moment) -> tuple[Event, ...]:
    """H4: Play the card. Refuses a seat out of turn and a card that the seat does not hold."""
    if act.seat != state.turn:
        raise OutOfTurn("out_of_turn", "H4", turn=state.turn)
    if act.card != state.hands[act.seat]:
        raise NoSuchCard("not_held", None, card=act.card)
    return (CardPlayed(seat=act.seat, card=act.card),)


def strength(card: str) -> tuple[int, int]:
    """H4: Return a sort key: rank first, then suit (spades, hearts, diamonds, clubs)."""
    return RANKS.index(card[1]), -SUITS.index(card[0])


def compared(state: Playing, moment: Moment) -> tuple[Event, ...]:
    """H4: Return the highest card and the trick's winner when all have played."""
    if len(state.trick) < state.table.seats:
        return ()
    winner, highest = max(state.trick, key=lambda one: strength(one[1]))
    return CardsCompared(highest=highest), TrickTaken(seat=winner, trick=1)


def scored(state: Played, moment: Moment) -> tuple[Event, ...]:
    """H5-H6: Give a point for the highest card. A seat that reaches the target wins the match."""
    table, winner = state.table, state.winner
    points = tuple(points + (seat == winner) for seat, points in enumerate(table.points))
    line = DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind="scored",
        declarer=None,
        contract=None,
        tricks=tuple(int(seat == winner) for seat in range(table.seats)),
        answers=(None,) * table.seats,
        penalties=(0,) * table.seats,
        before=table.points,
        points=points,
        entries=(Entry(seat=winner, points=1, rule="H5", events=(state.shown,)),),
    )
    return (
        (line, MatchWon(seat=winner, by="target", rule="H6", points=points))
        if max(points) >= table.target
        else (line,)
    )


def dealt(state: Undealt, event: Dealt, number: int) -> Playing:
    """Return the state after the deal."""
    return Playing(table=state.table, hands=tuple(card for hand in event.hands or () for card in hand))


def card_played(state: Playing, event: CardPlayed, number: int) -> Playing:
    """Return the state after a card."""
    return replace(state, trick=(*state.trick, (event.seat, event.card)))


def trick_taken(state: Playing, event: TrickTaken, number: int) -> Played:
    """Return the state after the trick."""
    return Played(table=state.table, winner=event.seat, shown=number)


def to_act(state: State) -> tuple[int, ...]:
    """Return the seat that must act."""
    if isinstance(state, Undealt):
        return (state.table.dealer,)
    return (state.turn,) if isinstance(state, Playing) else ()


def to_deal(state: Undealt, seat: int) -> tuple[Act, ...]:
    """H2: Return the legal acts of a seat before the deal."""
    return (Deal(seat=seat),) if seat in to_act(state) else ()


def to_play(state: Playing, seat: int) -> tuple[Act, ...]:
    """H4: Return the legal acts of a seat during the play."""
    return (Play(seat=seat, card=state.hands[seat]),) if seat in to_act(state) else ()


def view(state: State, viewer: Viewer) -> Shown:
    """Return the parts of the state that this viewer may see."""
    if not isinstance(state, Playing):
        return shown(state, viewer, to_act=to_act(state))
    played = {seat for seat, _ in state.trick}
    hands = tuple(() if seat in played else (card,) for seat, card in enumerate(state.hands))
    return shown(
        state,
        viewer,
        to_act=to_act(state),
        hand=hands[viewer] if isinstance(viewer, int) and viewer < len(hands) else None,
        hands=hands if viewer == "official" else None,
        trick=in_order(state.trick),
    )


RULESET = phases.game(
    phases.Tables(
        decide={Undealt: {Deal: deal}, Playing: {Play: play}},
        rule_of={Deal: "H2", Play: "H4"},
        evolve={
            Dealt: dealt,
            CardPlayed: card_played,
            CardsCompared: phases.nothing_changes,
            TrickTaken: trick_taken,
        },
        follows={Playing: compared, Played: scored},
        offers={Undealt: to_deal, Playing: to_play},
        undealt=lambda table: Undealt(table=table),
        between_deals=(Undealt,),
        cites=phases.Cites(),
    ),
    key="high-card",
    edition=1,
    players_min=2,
    players_max=4,
    pack=PACK,
    start_points=0,
    options=Options,
    offences=(),
    events=(CardsCompared,),
    state=State,
    opening=opening,
    start=start,
    to_act=to_act,
    view=view,
)
