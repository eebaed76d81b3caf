"""Secrecy of cards: two matches that differ only in cards that a seat has not seen give it the same answers."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import httpx
import pytest

from tests.support.match_client import Table
from tests.support.running_service import sse

MINE = ["SA", "SK", "SQ", "H2", "H3", "D4"]
"""Hand of seat 0 in every match here."""
PAIRS = {
    "in hand": (
        [MINE, ["S2", "S3", "HA", "HK", "D5", "D6"], ["S4", "S5", "H4", "CK", "DA", "C2"]],
        [MINE, ["S2", "C9", "C8", "HK", "D5", "DA"], ["S4", "S5", "H4", "CK", "D6", "HT"]],
    ),
    # In the left match seat 2 revokes with the king of clubs on a spade. In the right match it has no spade.
    "a revoke": (
        [MINE, ["S2", "S3", "HA", "HK", "D5", "D6"], ["S4", "S5", "H4", "CK", "DA", "C2"]],
        [MINE, ["S2", "S3", "HA", "HK", "D5", "D6"], ["D2", "D3", "H4", "CK", "DA", "C2"]],
    ),
}


def blind(text: str, table: Table) -> str:
    """Return a text without the values that differ between any two matches: ids, tokens and times."""
    text = text.replace(table.id, "ID")
    for token in table.tokens.values():
        text = text.replace(token, "TOKEN")
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)


def streamed(table: Table, who: int | None) -> str:
    """Return everything that a stream sends up to now."""
    count = table.version()
    with table.client.stream("GET", f"{table.path}/events/stream", headers=table.bearer(who)) as response:
        return json.dumps(list(islice(sse(response), count + 2)))


VARYING = ("date", "content-length")
"""Headers that vary with the time. Times have a variable number of digits."""
WRONG: tuple[dict[str, Any], ...] = (
    {"act": "bid", "seat": 0, "bid": "6"},
    {"act": "play", "seat": 0, "card": "HA"},
    {"act": "play", "seat": 0, "card": "D4"},
    {"act": "deal", "seat": 0, "counts": [6, 6, 6]},
    {"act": "ask", "seat": 0},
    {"act": "answer", "seat": 0, "answer": "fold"},
    {"act": "knock_out", "seat": 0},
    {"act": "score", "seat": 0},
    {"act": "play", "seat": 1, "card": "HA"},
    {"act": "play", "seat": 0, "card": "X"},
)


def looks(table: Table) -> Iterator[tuple[str, str]]:
    """Yield every answer that seat 0 and a spectator can get now, and the refusals of seat 0's wrong acts."""
    for who in (0, None):
        pages = ["", "/events", "/knocks", "/protocol", "/deals/1", "/legal-acts", "/legal-acts?seat=1"]
        pages += [f"/replay?at={at}" for at in range(1, table.version() + 1)]
        for page in pages:
            answer = table.get(page, who)
            headers = {name: value for name, value in answer.headers.items() if name not in VARYING}
            yield f"{who} {page}", blind(f"{answer.status_code} {headers} {answer.text}", table)
        yield f"{who} lines", blind(table.get("/events", who, Accept="application/x-ndjson").text, table)
        yield f"{who} stream", blind(streamed(table, who), table)
    for body in WRONG:
        if (answer := table.post("/acts", body, 0, **{"If-Match": '"1"'})).status_code != 412:
            yield f"wrong {body}", blind(answer.text, table)
    for body in WRONG:
        if table.get().json()["to_act"] != [0]:
            yield f"refused {body}", blind(table.post("/acts", body, 0).text, table)


STEPS: dict[str, Callable[[Table], None]] = {
    "deal": lambda t: None,
    "bids": lambda t: t.bid("2", "pass", "3"),
    "lead": lambda t: t.play("SA", "S2", first=0),
    "discard": lambda t: t.play("CK", first=2),
}


@pytest.mark.parametrize("enforcement", ["penalise", "refuse"])
@pytest.mark.parametrize("pair", PAIRS)
def test_seats_and_spectators_see_the_same_bytes(http: httpx.Client, pair: str, enforcement: str) -> None:
    tables = [Table(http, enforcement=enforcement) for _ in PAIRS[pair]]
    for table, hands in zip(tables, PAIRS[pair], strict=True):
        table.deal(hands)
    for name, step in STEPS.items():
        if name == "discard" and (pair != "a revoke" or enforcement == "refuse"):
            continue
        for table in tables:
            step(table)
        left, right = (list(looks(table)) for table in tables)
        for (what, one), (_, other) in zip(left, right, strict=True):
            assert one == other, f"after {name}: {what}"


def test_a_knock_too_late_looks_like_one_for_nothing_until_the_deal_is_over(http: httpx.Client) -> None:
    tables = [Table(http, options={"deal_ritual": False, "knock_window": "next_trick"}) for _ in range(2)]
    for table, hands in zip(tables, PAIRS["a revoke"], strict=True):
        table.deal(hands)
        table.bid("2", "pass", "3")
        table.play("SA", "S2", "CK", first=0)
        table.play("SK", "S3", "C2", first=0)
        table.play("SQ", "D5", "DA", first=0)
    asked = [table.post("/knocks", {"seat": 0, "accused": 1, "offence": "revoke"}, 0) for table in tables]
    assert [answer.json()["reason"] for answer in asked] == ["nothing", "nothing"]
    left, right = (list(looks(table)) for table in tables)
    assert left == right


def test_a_wrong_token_gets_no_cards(http: httpx.Client) -> None:
    table = Table(http)
    table.deal(PAIRS["in hand"][0])
    for page in ("", "/events", "/replay?at=2", "/legal-acts?seat=1"):
        answer = http.get(table.path + page, headers={"Authorization": "Bearer nobody"})
        assert answer.status_code == 401
        assert "HK" not in answer.text
