"""All attackers at once stop no honest client: each attack is refused as expected.

``make soak`` has it for a minute, with bounds for the time that acts take. See :mod:`tests.benchmarks.attackers`.
"""

from tests.benchmarks.attackers import ATTACKS, CUT, KEYS, OF_ONE_CLUB, Honest, Outcome, Statuses, attacked, wrong
from tests.support.running_service import running

SECONDS = 5.0
READS = 60
"""Reads per minute that a club has: few, so that its keys soon want more."""
DEALS = 64
"""Deals of the long match."""


def test_honest_clients_are_served_while_all_attack(sqlite_url: str) -> None:
    with running(sqlite_url, KNACKA_LIMIT_LOOPBACK="true", KNACKA_READS_PER_MINUTE=str(READS)) as service:
        outcome = attacked(service.port, SECONDS, DEALS)
    assert wrong(outcome, SECONDS, READS) == []
    assert sum(outcome.beside.statuses.values()) >= len(ATTACKS), "the honest clients have played"


def test_each_wrong_outcome_is_found() -> None:
    """The check itself finds an unexpected answer to an attack, a refused act, and a missing health answer."""
    fine = Honest([0.1], Statuses({201: 9}), [0.1], Statuses({200: 9}))
    answers = {
        name: Statuses({next(iter(scenario.required_statuses or scenario.allowed_statuses)): 1})
        for name, scenario in ATTACKS.items()
    }

    def found(beside: Honest, **otherwise: Statuses) -> list[str]:
        return wrong(Outcome(fine, beside, answers | otherwise), SECONDS, READS)

    assert found(fine) == []
    for name in ATTACKS:
        assert found(fine, **{name: Statuses()}), name
        assert found(fine, **{name: answers[name] + Statuses({500: 1})}), name
    for name in OF_ONE_CLUB:
        assert found(fine, **{name: Statuses({200: 2 * READS + KEYS, 429: 9})}), name
    assert found(fine._replace(statuses=Statuses({201: 9, 503: 1})))
    assert found(fine._replace(health=Statuses({200: 9, CUT: 1})))
