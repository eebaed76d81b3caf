"""Kalabrias: deals are played with cards and entered as counted at the table, with the same lines."""

import pytest

from referee.acts import Act, Bid, Declare, Knock, Respond, Result, SequenceEntered
from referee.cards import SUITS, cards_of
from referee.events import CardPlayed, DealScored, MatchOpened, TrickTaken
from referee.games.kalabrias.facts import SequencesCompared
from referee.games.kalabrias.ranks import RANKS, runs
from referee.visibility import Event
from tests.officials.tally_comparison import PlayedWithCards, written
from tests.support.random_deals import RETOLD, card_points

LEVEL = {"equal_sequences": "ten_each"}
"""An option that seldom has an effect."""


class Talkative(PlayedWithCards):
    """A table that seldom asks for a new deal, and declares its sequences."""

    def some_act(self) -> Act | Knock | None:
        act = super().some_act()
        quiet = isinstance(act, Declare) and act.sequence == "none"
        quiet |= isinstance(act, Respond) and act.answer == "enough"
        quiet |= isinstance(act, Bid) and act.bid == "redeal"
        return super().some_act() if quiet and self.chance.random() < 0.8 else act


def written_down(opened: MatchOpened, deal: list[tuple[int, Event]]) -> Result:
    """Return the result that a table would count after the play."""
    events = [event for _, event in deal]
    line = next(event for event in events if isinstance(event, DealScored))
    if line.kind != "scored":
        return Result(kind=line.kind)
    hands, taken, points = ([0 for _ in opened.players] for _ in range(3))
    trick: set[str] = set()
    for event in events:
        if isinstance(event, CardPlayed):
            trick.add(event.card)
            hands[event.seat] |= cards_of([event.card])
        elif isinstance(event, TrickTaken):
            taken[event.seat] += 1
            points[event.seat] += card_points(trick, line.contract) - 10
            last, trick = event.seat, set()
    points[last] += 10
    said = next(event for event in events if isinstance(event, SequencesCompared))
    declared = [seat for seat, worth in enumerate(line.detail["bella_points"]) if worth]
    return Result(
        declarer=line.declarer,
        trumps=line.contract,
        taken=tuple(taken),
        card_points=tuple(points),
        sequences=sequences(opened, line, said, hands) or None,
        bella=declared[0] if declared else None,
    )


def sequences(
    opened: MatchOpened, line: DealScored, said: SequencesCompared, hands: list[int]
) -> tuple[SequenceEntered, ...]:
    """Return the sequences that count, the best first; if equal ones score ten each, one of each of their seats."""
    brought, best = line.detail["sequence_points"], said.seat
    if best is None or not any(brought):
        return ()
    seats = [best, *(seat for seat, points in enumerate(brought) if points and seat != best)]
    side = {best, (best + 2) % 4} if len(hands) == 4 else {best}
    if len(hands) == 3 and opened.options["three_player_side_sequences"] and best != line.declarer:
        side = {0, 1, 2} - {line.declarer}
    all_of_them: bool = opened.options["winner_scores_all_sequences"]
    if opened.options["equal_sequences"] == "ten_each" and not set(said.level) <= side:
        seats, all_of_them = [best, *said.level], False
    trumps = str(line.contract)
    return tuple(one for seat in seats for one in of_hand(seat, hands[seat], trumps, opened, all_of_them=all_of_them))


def of_hand(seat: int, hand: int, trumps: str, opened: MatchOpened, *, all_of_them: bool) -> list[SequenceEntered]:
    """Return the sequences of a hand in full length, or only the best."""
    longest = 5 if opened.options["longer_sequence_wins"] else 4
    worths = opened.options["sequence_points"]
    five = worths["large"] if worths["five"] is None else worths["five"]
    worth = {3: worths["small"], 4: worths["large"], 5: five}
    found = [
        ((min(length, longest), top, suit == trumps), worth[min(length, 5)], length)
        for suit in SUITS
        for length, top in runs(hand, suit)
    ]
    if not all_of_them:
        found = [max(found)]
    return [
        SequenceEntered(seat=seat, cards=length, top=RANKS[top], trumps=in_trumps)
        for (_, top, in_trumps), _, length in found
    ]


@pytest.mark.rule("E24", "E33", "E41", "E42", "E53", "E-O41")
def test_the_same_lines_as_with_cards() -> None:
    met = written("kalabrias", 2 * RETOLD, written_down, closed=False, played=Talkative, tempting=LEVEL)
    assert met["written"] == 2 * RETOLD
    assert all(met[f"kind:{kind}"] for kind in ("scored", "passed_out", "redeal")), met
    assert all(met[rule] for rule in ("E18", "E20", "E45", "E48", "E53", "E-O12", "E-O25", "E-O36")), met
