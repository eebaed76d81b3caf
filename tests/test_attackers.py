"""All attackers at once stop nobody: each attack is refused as it should be, and honest clients notice nothing.

``make soak`` has it for a minute, with bounds for the time that acts take. See :mod:`tests.benchmarks.attackers`.
"""

from tests.api.serving import running
from tests.benchmarks.attackers import ATTACKS, CUT, Honest, Outcome, Statuses, attacked, wrong

SECONDS = 5.0
DEALS = 64
"""Deals of the long match."""


def test_honest_clients_are_served_while_all_attack(sqlite_url: str) -> None:
    with running(sqlite_url, KNACKA_LIMIT_LOOPBACK="true", KNACKA_READS_PER_MINUTE="60") as service:
        outcome = attacked(service.port, SECONDS, DEALS)
    assert wrong(outcome) == []
    assert sum(outcome.beside.statuses.values()) >= len(ATTACKS), "the honest clients have played"


def test_what_is_wrong_is_found() -> None:
    """The check itself: an attack that is answered otherwise, a refused act, and a health that was not told."""
    fine = Honest([0.1], Statuses({201: 9}), [0.1], Statuses({200: 9}))
    answers = {name: Statuses({next(iter(told.refused or told.may)): 1}) for name, told in ATTACKS.items()}
    assert wrong(Outcome(fine, fine, answers)) == []
    for name in ATTACKS:
        assert wrong(Outcome(fine, fine, answers | {name: Statuses()})), name
        assert wrong(Outcome(fine, fine, answers | {name: answers[name] + Statuses({500: 1})})), name
    assert wrong(Outcome(fine, fine._replace(statuses=Statuses({201: 9, 503: 1})), answers))
    assert wrong(Outcome(fine, fine._replace(health=Statuses({200: 9, CUT: 1})), answers))
