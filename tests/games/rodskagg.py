"""A match of Rödskägg at a real table, for tests: given, when, then, in the words of the worked examples."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from referee.acts import Act, Announce, Answer, Ask, Bid, Deal, KeepCards, Knock, Play, Score
from referee.events import DealScored, Event, MatchOpened, MatchWon, Viewer
from referee.games import RULESETS
from referee.refusals import Refused
from referee.ruleset import Moment

NOW = datetime(2026, 1, 1, tzinfo=UTC)
P1, P2, P3, P4, P5, P6, P7, P8 = range(8)


class Match:
    """A match in memory: what was done, what came of it, and how it stands."""

    def __init__(
        self,
        ruleset: str,
        points: tuple[int, ...] = (12, 12, 12, 12),
        *,
        dealer: int | None = P4,
        enforcement: str = "refuse",
        dealing: str = "table",
        luck: int = 0,
        **options: Any,
    ) -> None:
        self.rules = RULESETS[ruleset]
        self.opened = MatchOpened(
            ruleset=ruleset,
            edition=1,
            options=msgspec.to_builtins(msgspec.convert(options, self.rules.options)),
            players=tuple(f"P{seat + 1}" for seat in range(len(points))),
            dealing=dealing,  # type: ignore[arg-type]
            enforcement=enforcement,  # type: ignore[arg-type]
            points=points,
            first_dealer=dealer,
            tokens=(),
            official="",
        )
        self.rules.opening(self.opened)
        self.state: Any = self.rules.start(self.opened)
        self.events: list[Event] = [self.opened]
        self.now, self.luck = NOW, luck
        self.board: list[dict[int, str]] = []
        self._stand(self.rules.begin(self.state, self.moment))

    @property
    def moment(self) -> Moment:
        return Moment(len(self.events), self.now, f"seed {self.luck} {len(self.events)}")

    def _stand(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self.events.append(event)
            self.state = self.rules.evolve(self.state, event, len(self.events))

    def do(self, *acts: Act | Knock) -> "Match":
        """Each of the acts is accepted."""
        for act in acts:
            self._stand(self.rules.decide(self.state, act, self.moment))
        return self

    def refused(self, act: Act | Knock, rule: str | None, code: str | None = None) -> Refused:
        """The act is refused by this rule, and nothing has happened."""
        with pytest.raises(Refused) as caught:
            self.rules.decide(self.state, act, self.moment)
        assert caught.value.rule == rule, caught.value.code
        assert code is None or caught.value.code == code
        return caught.value

    def wait(self, seconds: int) -> "Match":
        self.now += timedelta(seconds=seconds)
        return self

    def legal(self, viewer: Viewer) -> tuple[Act, ...]:
        return self.rules.legal(self.state, viewer)

    def view(self, viewer: Viewer) -> Any:
        return self.rules.view(self.state, viewer)

    def of(self, kind: type[Event]) -> list[Any]:
        """All events of a kind, in order."""
        return [event for event in self.events if type(event) is kind]

    @property
    def phase(self) -> str:
        return str(self.view("spectator").phase)

    @property
    def line(self) -> DealScored:
        """The last line of the protocol."""
        line: DealScored = self.of(DealScored)[-1]
        return line

    @property
    def points(self) -> tuple[int, ...]:
        points: tuple[int, ...] = self.state.table.points
        return points

    @property
    def won(self) -> tuple[int | None, str] | None:
        """Who has won and how, when the match is over."""
        last = self.events[-1]
        return (last.seat, last.by) if isinstance(last, MatchWon) else None

    # The stages of a deal

    def deal(self, tricks: str = "1 1 1 1 | 1 1", stock: bool = False) -> "Match":
        """Deals hands in which everybody follows suit throughout and the tricks go as said."""
        table = self.state.table
        self.board = board(tricks, table.playing)
        given = [tuple(trick[seat] for trick in self.board) for seat in table.playing]
        hands = tuple(
            given[table.playing.index(seat)] if seat in table.playing else () for seat in range(table.seats)
        )
        left = tuple(card for card in self.rules.pack if card not in {card for hand in given for card in hand})
        return self.do(Deal(seat=table.dealer, hands=hands, stock=left if stock else None))

    def keep(self) -> "Match":
        """Nobody asks for new cards."""
        while self.phase == "exchanging":
            self.do(KeepCards(seat=self.state.to_speak[0]))
        return self

    def bid(self, calls: str) -> "Match":
        """``"2 pass 3 pass"``, in the order in which they speak."""
        self.keep()
        for call in calls.split():
            bid: Any = int(call) if call.isdigit() else call
            self.do(Bid(seat=self.state.to_speak[0], bid=bid))
        return self

    def trick(self, *, announce: bool = True) -> "Match":
        """One trick as the board has it; what must be announced first is announced."""
        number = len(self.state.won)
        self.announce(announce)
        for _ in range(len(self.state.order)):
            seat = self.state.turn
            self.do(Play(seat=seat, card=self.board[number][seat]))
        return self

    def announce(self, announce: bool = True) -> "Match":
        """Whoever owes it says that he is near zero."""
        playing = getattr(self.state, "play", self.state)
        for seat in getattr(playing, "owed", ()) if announce else ():
            self.do(Announce(seat=seat, what="near_zero"))
        return self

    def tricks(self, many: int, *, announce: bool = True) -> "Match":
        for _ in range(many):
            self.trick(announce=announce)
        return self

    def ask(self, answers: str = "") -> "Match":
        """The declarer asks; ``"P2 play"`` or ``"P2"`` for those who go along, the others fold."""
        self.do(Ask(seat=self.state.contract.declarer))
        while self.phase == "playing" and self.state.question.pending:
            seat = self.state.question.pending[0]
            along = f"P{seat + 1}" in answers
            self.do(Answer(seat=seat, answer="play" if along else "fold"))
        return self

    def play_deal(
        self,
        bids: str,
        tricks: str,
        *,
        join: str = "",
        ask: bool = True,
        announce: bool = True,
    ) -> "Match":
        """A whole deal; ``join``: who goes along when asked. Under ``penalise`` it is scored at the end."""
        self.deal(tricks)
        if bids:
            self.bid(bids)
        while self.phase == "playing":
            if ask and len(self.state.won) == 4 and not self.state.trick and self.due("ask"):
                self.ask(join)
            else:
                self.trick(announce=announce)
        if self.phase == "played":
            self.announce(announce)
        if self.phase == "played":
            self.do(Score(seat=self.state.table.playing[0]))
        return self

    def due(self, act: str) -> bool:
        return act in self.view("spectator").due


def board(tricks: str, seats: tuple[int, ...]) -> list[dict[int, str]]:
    """A card for each seat in each trick, all of one suit, the winner's highest: ``"3 1 3 3 | 2 3"``."""
    winners = [int(seat) - 1 for seat in re.findall(r"\d", tricks)]
    winners += [winners[-1]] * (6 - len(winners))
    many = len(seats)
    a_suit = 13 // many
    cards: list[dict[int, str]] = []
    for number, winner in enumerate(winners):
        suit, block = "SHDC"[number // a_suit], number % a_suit
        ranks = "AKQJT98765432"[block * many : (block + 1) * many]
        others = [seat for seat in seats if seat != winner]
        cards.append(
            {winner: suit + ranks[0], **{seat: suit + rank for seat, rank in zip(others, ranks[1:], strict=True)}}
        )
    return cards
