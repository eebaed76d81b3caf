"""Writing a deal into the protocol, and the end of the match (B8, B58-B80)."""

from msgspec.structs import replace

from referee.acts import Score
from referee.cards import clockwise
from referee.events import DealScored, Entry, Event, MatchWon, PlayerEliminated
from referee.games._rodskagg.question import by_seat
from referee.games.rodskagg_kortoxen.deal import FIVE_UP
from referee.games.rodskagg_kortoxen.play import exit_owed
from referee.games.rodskagg_kortoxen.states import Over, Played, Playing, Table, Undealt
from referee.refusals import AgainstTheRules, WrongPhase
from referee.ruleset import Moment

RODSKAGG_KINDS = ("rodskagg_made", "rodskagg_failed")


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """B-O28: where offences stand, any seat in the deal writes it into the protocol."""
    if not state.table.penalise:
        raise WrongPhase("scored_by_itself", "B-O28")
    return scored(state)


def nothing_due(state: Played) -> bool:
    """B-O10, B-O28: no exit knock is owed before the deal is scored."""
    return state.kind != "number" or state.play is None or not exit_owed(state.play)


def scored(state: Played) -> tuple[Event, ...]:
    """The line of the deal, who is out, and who has won (B58-B77)."""
    table, play = state.table, state.play
    entries = tuple(_entries(state))
    points = list(table.points)
    for entry in entries:
        points[entry.seat] += entry.points
    failed = state.kind == "rodskagg_failed" and play is not None
    loser = play.contract.declarer if play is not None and failed else None
    out = tuple(seat for seat in range(table.seats) if seat not in table.active or seat == loser)
    line = DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind=state.kind,
        declarer=play.contract.declarer if play else None,
        contract=play.contract.bid if play else None,
        tricks=play.tricks if play else (0,) * table.seats,
        answers=answers(table, play),
        penalties=tuple(state.ledger.points(seat) for seat in range(table.seats)),
        before=table.points,
        points=tuple(points),
        entries=entries,
        eliminated=out,
    )
    events: list[Event] = [line]
    if loser is not None:
        events.append(PlayerEliminated(seat=loser, rule="B63"))
    if (won := winner(state, line)) is not None:
        seat, by, rule = won
        events.append(
            MatchWon(
                seat=seat,
                by=by,
                rule=rule,
                points=line.points,
                settlement=settlement(table, line.points, seat),
            )
        )
    return tuple(events)


def answers(table: Table, play: Playing | None) -> tuple[str | None, ...]:
    """By seat what was answered, if the question was put (B47-B51)."""
    if play is None or not play.question.event:
        return (None,) * table.seats
    return by_seat(play.question.answers, table.seats, table.active, play.contract.declarer)


def _entries(state: Played) -> list[Entry]:
    """Plus points first, then tricks, then the bounce (B72, B79, B-O15)."""
    table, play, ledger = state.table, state.play, state.ledger
    entries = [
        Entry(seat=penalty.seat, points=penalty.points, rule=penalty.rule, events=penalty.events)
        for penalty in ledger.penalties
    ]
    if play is None:
        return entries
    declarer = play.contract.declarer
    taken = {seat: tuple(event for who, event in play.won if who == seat) for seat in table.active}
    if state.kind == "number":
        entries += _plus_points(table, play, taken)
    if state.kind == "rodskagg_failed":
        lost = tuple(event for seat, event in play.won if seat != declarer)
        entries.append(Entry(seat=declarer, points=FIVE_UP, rule="B66", events=(play.contract.event, *lost)))
    for seat in table.active:
        counted = _counted(state, play, seat)
        if not counted:
            continue
        failed = seat == declarer and state.kind == "number" and counted < contracted(play)
        entries.append(Entry(seat=seat, points=-counted, rule="B60" if failed else "B58", events=taken[seat]))
        total = table.points[seat] + sum(entry.points for entry in entries if entry.seat == seat)
        if total < 0 and table.options.overshoot == "bounce":
            entries.append(Entry(seat=seat, points=-2 * total, rule="B72", events=taken[seat]))
    return entries


def contracted(play: Playing) -> int:
    """B39: the tricks that a number contract promises."""
    return play.contract.bid if isinstance(play.contract.bid, int) else 6


def _counted(state: Played, play: Playing, seat: int) -> int:
    """How many tricks a seat subtracts (B58, B60, B65, B-O34)."""
    if state.kind == "number":
        return play.tricks[seat]
    if state.kind == "knocked_out":
        return play.tricks[seat] if seat == _first_out(play) else 0
    if state.kind == "rodskagg_failed" and seat != play.contract.declarer:
        return play.tricks[seat] if state.table.options.rodskagg_defenders_score == "one_per_trick" else 0
    return 0


def _plus_points(table: Table, play: Playing, taken: dict[int, tuple[int, ...]]) -> list[Entry]:
    """B59, B61, B55: the contract failed; went along and took no trick."""
    declarer, question = play.contract.declarer, play.question
    entries = []
    if play.tricks[declarer] < contracted(play):
        shown = (play.contract.event, *taken[declarer])
        entries.append(Entry(seat=declarer, points=FIVE_UP, rule="B59", events=shown))
    if question.forgotten and table.options.forgotten_question_others_free:
        return entries
    for seat in play.order:
        if seat != declarer and not play.tricks[seat]:
            shown = tuple(event for who, _, event in question.answers if who == seat)
            entries.append(Entry(seat=seat, points=FIVE_UP, rule="B61", events=shown or (question.forgotten,)))
    return entries


def _first_out(play: Playing) -> int | None:
    """B77: who knocked for his exit, brought to zero by a trick."""
    knocked = [(event, seat) for seat, event in enumerate(play.exits.knocked) if event and play.exits.zero[seat]]
    return min(knocked)[1] if knocked else None


def winner(state: Played, line: DealScored) -> tuple[int, str, str] | None:
    """B62, B70-B71, B77, B-O12, B-O35, B-O36: seat, how and by which rule; ``None`` while the match goes on."""
    play, table = state.play, state.table
    if play is not None and state.kind == "rodskagg_made":
        return play.contract.declarer, "rodskagg", "B62"
    if play is not None and state.kind == "knocked_out":
        first = _first_out(play)
        assert first is not None, "a deal is broken off by an exit knock"
        return first, "exit_knock", "B77"
    left = tuple(seat for seat in range(table.seats) if seat not in line.eliminated)
    at_zero = [seat for seat in left if line.points[seat] == 0]
    if at_zero:
        nobody = (0,) * table.seats
        knocked = play.exits.knocked if play else nobody
        zero = play.exits.zero if play else nobody
        seating = clockwise((table.dealer + 1) % table.seats, table.seats)

        def first_home(seat: int) -> tuple[float, float, int]:
            return knocked[seat] or float("inf"), zero[seat] or float("inf"), seating.index(seat)

        best = min(at_zero, key=first_home)
        rule = "B70" if len(at_zero) == 1 else "B71" if knocked[best] else "B-O12" if zero[best] else "B-O35"
        return best, "zero", rule
    if len(left) == 1:
        return left[0], "last_standing", "B-O36"
    return None


def settlement(table: Table, points: tuple[int, ...], seat: int) -> tuple[int, ...] | None:
    """B74, B-O21, B-O22, B-O39: what each seat receives, in minor units; the losers pay the winner."""
    if table.stakes is None:
        return None
    received = [-_pays(score, table.options.money_negative) * table.stakes.unit for score in points]
    received[seat] = 0
    received[seat] = -sum(received)
    return tuple(received)


def _pays(score: int, money_negative: str) -> int:
    """B74, B-O21: the points that a loser pays for."""
    if score >= 0 or money_negative == "signed":
        return score
    return -score if money_negative == "absolute" else 0


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt:
    """The state between deals: the deal moves on clockwise among those left (B37, B-O36)."""
    table = state.table
    active = tuple(seat for seat in table.active if seat not in event.eliminated)
    seating = clockwise((event.dealer + 1) % table.seats, table.seats)
    dealer = next((seat for seat in seating if seat in active), event.dealer)
    table = replace(table, points=event.points, active=active, deal=table.deal + 1, dealer=dealer)
    return Undealt(table=table, ledger=state.ledger.closed())


def match_won(state: Undealt, event: MatchWon, number: int) -> Over:
    """The state when the match is over."""
    assert event.seat is not None, "somebody has won"
    return Over(table=state.table, ledger=state.ledger, winner=event.seat, by=event.by)


def must_score_first(state: Played) -> AgainstTheRules | WrongPhase:
    """What to say to an act that comes before the deal is scored."""
    if state.table.penalise:
        return WrongPhase("deal_not_scored", "B-O28")
    return AgainstTheRules("exit_knock_owed", "B67")
