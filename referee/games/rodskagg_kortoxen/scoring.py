"""Writing a deal into the protocol, and the end of the match (B8, B58-B80)."""

from referee.acts import Act, Score
from referee.cards import clockwise
from referee.events import DealScored, Entry, Event, MatchWon, PlayerEliminated
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.line import answered_by, contracted, penalties, taken_by, written
from referee.games.rodskagg_kortoxen.deal import FIVE_UP
from referee.games.rodskagg_kortoxen.play import exit_owed
from referee.games.rodskagg_kortoxen.states import Outcome, Played, Table
from referee.refusals import AgainstTheRules, WrongPhase
from referee.ruleset import Moment


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """B-O28: where offences stand, any seat in the deal writes it into the protocol."""
    if not state.table.penalise:
        raise WrongPhase("scored_by_itself", "B-O28")
    return scored(state.table, state.outcome)


def must_score_first(state: Played, act: Act, moment: Moment) -> tuple[Event, ...]:
    """B67, B-O28: no new deal before this one is scored."""
    if state.table.penalise:
        raise WrongPhase("deal_not_scored", "B-O28")
    raise AgainstTheRules("exit_knock_owed", "B67")


def nothing_due(table: Table, deal: Outcome) -> bool:
    """B-O10, B-O28: no exit knock is owed before the deal is scored."""
    return deal.kind != "number" or not exit_owed(table, deal)


def follows(state: Played, moment: Moment) -> tuple[Event, ...]:
    """B-O28, B78: scored as soon as nothing is due, where nothing can be forgotten or the deal is broken off."""
    table, deal = state.table, state.outcome
    by_itself = deal.kind == "knocked_out" or not table.penalise
    return scored(table, deal) if by_itself and nothing_due(table, deal) else ()


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """The line of the deal, who is out, and who has won (B58-B77)."""
    contract = deal.contract
    loser = (contract.declarer,) if contract is not None and deal.kind == "rodskagg_failed" else ()
    line = written(table, deal, deal.kind, tuple(_entries(table, deal)), loser, {})
    out = tuple(PlayerEliminated(seat=seat, rule="B63") for seat in loser)
    if (won := winner(table, deal, line)) is None:
        return line, *out
    seat, by, rule = won
    settled = settlement(table, line.points, seat)
    return line, *out, MatchWon(seat=seat, by=by, rule=rule, points=line.points, settlement=settled)


def _entries(table: Table, deal: Outcome) -> list[Entry]:
    """Plus points first, then tricks, then the bounce (B72, B79, B-O15)."""
    entries = [*penalties(table.ledger)]
    contract = deal.contract
    if contract is None:
        return entries
    declarer = contract.declarer
    taken = {seat: taken_by(deal, seat) for seat in table.active}
    if deal.kind == "number":
        entries += _plus_points(table, deal, contract, taken)
    if deal.kind == "rodskagg_failed":
        lost = tuple(event for seat, event in deal.won if seat != declarer)
        entries.append(Entry(seat=declarer, points=FIVE_UP, rule="B66", events=(contract.event, *lost)))
    for seat in table.active:
        counted = _counted(table, deal, contract, seat)
        if not counted:
            continue
        failed = seat == declarer and deal.kind == "number" and counted < contracted(contract)
        entries.append(Entry(seat=seat, points=-counted, rule="B60" if failed else "B58", events=taken[seat]))
        total = table.points[seat] + sum(entry.points for entry in entries if entry.seat == seat)
        if total < 0 and table.options.overshoot == "bounce":
            entries.append(Entry(seat=seat, points=-2 * total, rule="B72", events=taken[seat]))
    return entries


def _counted(table: Table, deal: Outcome, contract: Contract, seat: int) -> int:
    """How many tricks a seat subtracts (B58, B60, B65, B-O34)."""
    match deal.kind:
        case "number":
            counts = True
        case "knocked_out":
            counts = seat == _first_out(deal)
        case "rodskagg_failed":
            counts = seat != contract.declarer and table.options.rodskagg_defenders_score == "one_per_trick"
        case _:
            counts = False
    return deal.tricks[seat] if counts else 0


def _plus_points(table: Table, deal: Outcome, contract: Contract, taken: dict[int, tuple[int, ...]]) -> list[Entry]:
    """B59, B61, B55: the contract failed; went along and took no trick."""
    declarer, question = contract.declarer, deal.question
    entries = []
    if deal.tricks[declarer] < contracted(contract):
        shown = (contract.event, *taken[declarer])
        entries.append(Entry(seat=declarer, points=FIVE_UP, rule="B59", events=shown))
    if question.forgotten and table.options.forgotten_question_others_free:
        return entries
    for seat in deal.order:
        if seat != declarer and not deal.tricks[seat]:
            shown = answered_by(deal, seat) or (question.forgotten,)
            entries.append(Entry(seat=seat, points=FIVE_UP, rule="B61", events=shown))
    return entries


def _first_out(deal: Outcome) -> int | None:
    """B77: who knocked for his exit, brought to zero by a trick."""
    knocked = [(event, seat) for seat, event in enumerate(deal.exits.knocked) if event and deal.exits.zero[seat]]
    return min(knocked)[1] if knocked else None


def winner(table: Table, deal: Outcome, line: DealScored) -> tuple[int, str, str] | None:
    """B62, B70-B71, B77, B-O12, B-O35, B-O36: seat, how and by which rule; ``None`` while the match goes on."""
    if deal.contract is not None and deal.kind == "rodskagg_made":
        return deal.contract.declarer, "rodskagg", "B62"
    if deal.kind == "knocked_out":
        first = _first_out(deal)
        assert first is not None, "a deal is broken off by an exit knock"
        return first, "exit_knock", "B77"
    left = tuple(seat for seat in range(table.seats) if seat not in line.eliminated)
    at_zero = [seat for seat in left if line.points[seat] == 0]
    if at_zero:
        knocked, zero = deal.exits.knocked, deal.exits.zero
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
