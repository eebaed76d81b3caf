"""Counters for operators, in the text format of Prometheus."""

from collections import Counter
from collections.abc import Iterable, Mapping
from uuid import UUID

from referee.store.damaged import DamagedRow

DAMAGED_MAX = 100
"""Maximum number of damaged rows that the metrics name. The log names all."""
MEDIA_TYPE = "text/plain; version=0.0.4"


class Metrics:
    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        """Answers by method, route and status."""
        self.problems: Counter[str] = Counter()
        """Answers with a problem, by its code."""
        self.events = 0
        self.batches: Counter[int] = Counter()
        """Transactions by number of events, rounded up to one of :data:`BATCH_BOUNDS`; 0: above all bounds."""
        self.attempts: Counter[str] = Counter(dict.fromkeys(("stored", "counted", "dropped"), 0))
        self.damaged: set[tuple[UUID, int]] = set()
        """Aggregate and event number of rows that could not be read."""

    def note_damaged(self, row: DamagedRow) -> bool:
        """Note an unreadable row. Return False if it is already noted, or :data:`DAMAGED_MAX` rows are."""
        place = row.aggregate_id, row.number
        if place in self.damaged or len(self.damaged) >= DAMAGED_MAX:
            return False
        self.damaged.add(place)
        return True

    def count_transaction(self, events: int) -> None:
        self.events += events
        self.batches[next((bound for bound in BATCH_BOUNDS if events <= bound), 0)] += 1

    def count_answer(self, method: str, route: str, status: int, problem_code: str | None) -> None:
        self.requests[method, route, status] += 1
        if problem_code is not None:
            self.problems[problem_code] += 1


ATTEMPTS = "Refused attempts: stored as a row, counted in the next row of their kind, or dropped."
BATCH_BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def _metric_lines(name: str, kind: str, text: str, samples: Mapping[str, float]) -> Iterable[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples.items():
        yield f"{name}{labels} {value}"


Gauges = Mapping[str, tuple[str, float | Mapping[str, float]]]
"""Help text of each gauge, and its value or its values by labels."""


def exposition(metrics: Metrics, gauges: Gauges) -> str:
    requests = {
        f'{{method="{method}",route="{route}",status="{status}"}}': count
        for (method, route, status), count in sorted(metrics.requests.items())
    }
    problems = {f'{{code="{code}"}}': count for code, count in sorted(metrics.problems.items())}
    attempts = {f'{{became="{became}"}}': count for became, count in metrics.attempts.items()}
    lines = [
        *_metric_lines("knacka_requests_total", "counter", "Requests answered.", requests),
        *_metric_lines(
            "knacka_problems_total", "counter", "Requests answered with a problem, by its code.", problems
        ),
        *_metric_lines(
            "knacka_events_stored_total", "counter", "Events stored by this process.", {"": metrics.events}
        ),
        *_metric_lines("knacka_attempts_total", "counter", ATTEMPTS, attempts),
        "# HELP knacka_transaction_events Events stored in one transaction.",
        "# TYPE knacka_transaction_events histogram",
    ]
    total = 0
    for bound in BATCH_BOUNDS:
        total += metrics.batches[bound]
        lines.append(f'knacka_transaction_events_bucket{{le="{bound}"}} {total}')
    total += metrics.batches[0]
    lines += [
        f'knacka_transaction_events_bucket{{le="+Inf"}} {total}',
        f"knacka_transaction_events_sum {metrics.events}",
        f"knacka_transaction_events_count {total}",
    ]
    for name, (text, value) in gauges.items():
        lines += _metric_lines(f"knacka_{name}", "gauge", text, value if isinstance(value, Mapping) else {"": value})
    return "\n".join(lines) + "\n"
