"""What a ruling changes: points in the deal under way, the deal itself, and lines that stand in the protocol."""

from msgspec.structs import replace

from referee.acts import Void
from referee.events import Event, PenaltyImposed, Reported
from referee.officials.standing import Case, Standing
from referee.phases import Over
from referee.proceedings.cases import CaseRuled
from referee.refusals import WrongPhase
from referee.ruleset import Moment, Ruleset


def priced(rules: Ruleset, standing: Standing, offence: str, accused: int, sign: int = 1) -> tuple[Event, ...]:
    """J3: what the game asks for an offence in the deal under way, or with -1 what lifts it. May refuse."""
    if rules.priced is None:
        raise WrongPhase("not_in_this_game", "J3")
    return rules.priced(standing.play, offence, accused, sign)


def price(events: tuple[Event, ...]) -> tuple[int, int]:
    """Who pays by these events, and how many points."""
    imposed = events[0]
    if isinstance(imposed, PenaltyImposed):
        return imposed.seat, imposed.points
    assert isinstance(imposed, Reported), "a price is imposed, or falls due with the score"
    return imposed.breaches[0].payer, imposed.breaches[0].points


def in_its_deal(standing: Standing, case: Case) -> bool:
    """Whether the deal that a case is about can still be scored with it."""
    return case.deal > standing.docket.scored and not isinstance(standing.play, Over)


def changes(standing: Standing, case: Case, ruled: CaseRuled) -> bool:
    """Whether a ruling makes another price due than has been due so far."""
    was = case.offence if case.verdict == "upheld" else None
    now = ruled.offence if ruled.verdict == "upheld" else None
    return (case.verdict == "upheld") != (ruled.verdict == "upheld") or was != now


def in_points(rules: Ruleset, standing: Standing, case: Case, ruled: CaseRuled) -> tuple[Event, ...]:
    """What puts the price of a ruling on the deal under way, and lifts what was due before it."""
    events: tuple[Event, ...] = ()
    if case.penalty is not None and case.offence is not None and case.accused is not None:
        for event in priced(rules, standing, case.offence, case.accused, -1):
            if isinstance(event, PenaltyImposed) and case.payer is not None:
                event = replace(event, seat=case.payer, points=-case.penalty)
            events += (event,)
    if ruled.verdict == "upheld" and ruled.offence is not None and case.accused is not None:
        events += priced(rules, standing, ruled.offence, case.accused)
        if case.fine and isinstance(case.by, int):  # the knock was right after all
            events += (PenaltyImposed(seat=case.by, points=-case.fine, rule=ruled.rule),)
    return tuple([replace(one, case=case.case) if isinstance(one, PenaltyImposed) else one for one in events])


def voided(rules: Ruleset, standing: Standing, case: Case, moment: Moment) -> tuple[Event, ...]:
    """The deal under way counts for nothing."""
    if not in_its_deal(standing, case):
        raise WrongPhase("deal_is_over", "J9", deal=case.deal)
    return rules.decide(standing.play, Void(), moment)


def corrected(rules: Ruleset, standing: Standing, case: Case, ruled: CaseRuled, moment: Moment) -> tuple[Event, ...]:
    """J9: what a ruling changes in lines that stand in the protocol; the lines of this match stand."""
    raise WrongPhase("line_stands", "J9", deal=case.deal)
