"""Several acts in one request: in order, up to the first refusal, and safe to repeat."""

from pathlib import Path
from typing import Any

import pytest

from api.matches import acts
from tests.conformance.description_check import Description
from tests.support.match_client import HANDS, Table
from tests.support.service_in_memory import Client, client_of

DEAL = {"act": "deal", "seat": 0, "hands": HANDS}
PASS = {"act": "bid", "seat": 0, "bid": "pass"}
VOID = {"act": "void"}
SWEDISH = {"Accept-Language": "sv", "X-Request-Id": "same-for-both"}


def send(table: Table, who: int | str | None, *batch: dict[str, Any], **headers: str) -> Any:
    return table.post("/acts/batch", {"acts": batch}, who, **headers)


def test_each_is_answered_as_if_it_were_sent_alone(table: Table) -> None:
    other = Table(table.client)
    answer = send(table, 0, DEAL, {"act": "report", "seat": 0, "accused": 1, "fault": "exposed_card"})
    assert answer.status_code == 200, answer.text
    alone = [other.post("/acts", DEAL, 0), other.send("report", 0, accused=1, fault="exposed_card")]
    body = answer.json()
    assert (body["refused"], body["replayed"]) == (None, 0)
    for one, sent in zip(body["done"], alone, strict=True):
        assert one["version"] == sent.json()["version"]
        topics = [(event["number"], event["event"]) for event in one["events"]]
        assert topics == [(event["number"], event["event"]) for event in sent.json()["events"]]
    assert answer.headers["ETag"] == alone[-1].headers["ETag"] == f'"{table.version()}"'
    assert "Idempotency-Replayed" not in answer.headers


def test_it_stops_at_the_first_refusal_and_tries_nothing_after_it(table: Table) -> None:
    bids = [{"act": "bid", "seat": 0, "bid": bid} for bid in ("2", "3")]
    answer = send(table, 0, DEAL, *bids, **SWEDISH)
    assert answer.status_code == 200
    assert answer.headers["Content-Language"] == "sv"
    body = answer.json()
    assert len(body["done"]) == 1
    assert body["refused"]["index"] == 1
    alone = table.post("/acts", bids[0], 0, **SWEDISH)
    assert alone.json()["status"] == 422
    assert body["refused"]["problem"] == alone.json() | {"instance": f"{table.path}/acts/batch#request=same-for-both"}
    assert table.version() == body["done"][-1]["version"]


def test_if_the_first_is_refused_nothing_is_done(table: Table) -> None:
    version = table.version()
    answer = send(table, 0, PASS, DEAL)
    assert (answer.status_code, answer.json()["done"], answer.json()["refused"]["index"]) == (200, [], 0)
    assert "ETag" not in answer.headers
    assert table.version() == version, "the second, which may be done, is not done after it"


def test_repeated_it_goes_on_where_it_stopped(either_client: Client) -> None:
    """Runs on either store."""
    table = Table(either_client)
    key = {"Idempotency-Key": "k"}
    first = send(table, 0, DEAL, PASS, **key).json()
    assert first["refused"]["index"] == 1, "others bid before the dealer"
    again = send(table, 0, DEAL, PASS, **key)
    assert (again.json()["done"], again.json()["replayed"]) == (first["done"], 1)
    assert again.headers["Idempotency-Replayed"] == "true"
    table.bid("pass", "2")
    then = send(table, 0, DEAL, PASS, **key)
    assert (then.json()["replayed"], then.json()["refused"]) == (1, None)
    assert "Idempotency-Replayed" not in then.headers, "the second was done now"
    last = send(table, 0, DEAL, PASS, **key)
    assert (last.json()["done"], last.json()["replayed"]) == (then.json()["done"], 2)
    alone = table.post("/acts", PASS, 0, **{"Idempotency-Key": "k/1"})
    assert alone.headers["Idempotency-Replayed"] == "true", "that is its key"


def test_another_batch_under_the_same_key_stops_where_it_differs(table: Table) -> None:
    key = {"Idempotency-Key": "k"}
    send(table, 0, DEAL, **key)
    body = send(table, 0, DEAL | {"hands": HANDS[::-1]}, **key).json()
    assert (body["done"], body["refused"]["problem"]["type"]) == ([], "/problems/key-reused")


def test_if_match_holds_for_the_first(table: Table) -> None:
    version = table.version()
    stale = send(table, 0, DEAL, **{"If-Match": f'"{version + 1}"'})
    assert (stale.status_code, stale.json()["type"]) == (412, "/problems/stale")
    now = {"If-Match": f'"{version}"', "Idempotency-Key": "k"}
    report = {"act": "report", "seat": 0, "accused": 1, "fault": "exposed_card"}
    assert send(table, 0, DEAL, report, **now).json()["refused"] is None
    assert send(table, 0, DEAL, report, **now).json()["replayed"] == 2, "a repeat is answered though the tag is stale"


def test_all_of_a_batch_is_one_s_own(table: Table) -> None:
    version = table.version()
    for who, status, batch in [
        (0, 403, [DEAL, {"act": "bid", "seat": 1, "bid": "2"}]),
        (0, 403, [DEAL, VOID]),
        ("official", 403, [VOID, DEAL]),
        (None, 401, [DEAL]),
    ]:
        assert send(table, who, *batch).status_code == status
    assert table.version() == version


def test_the_official_s(table: Table) -> None:
    table.deal()
    answer = send(table, "official", VOID, {"act": "abandon"})
    assert [one["events"][0]["event"]["topic"] for one in answer.json()["done"]] == ["deal/voided", "match/abandoned"]


def test_a_text_that_harms_is_refused_as_described(table: Table) -> None:
    """The body is refused before any act is tried."""
    answer = send(table, "official", VOID, {"act": "abandon", "reason": "two\nlines"})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/harmful-character")
    Description().answered("POST", f"{table.path}/acts/batch", 422, answer.headers, answer.content)


def test_how_many(table: Table) -> None:
    for batch in [], [VOID] * (acts.BATCH_MAX + 1), [{"act": "void", "seat": 1}]:
        answer = send(table, "official", *batch)
        assert (answer.status_code, answer.json()["type"]) == (400, "/problems/unreadable")
    table.deal()
    body = send(table, "official", *[VOID] * acts.BATCH_MAX).json()
    assert (len(body["done"]), body["refused"]["problem"]["type"]) == (1, "/problems/nothing-dealt")


def test_a_slow_service_says_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is up after the first act. If not even the first act is done, the answer is 503, as in any call."""
    with client_of(f"sqlite:///{tmp_path}/knacka.db") as client:
        table = Table(client)
        key, report = {"Idempotency-Key": "k"}, {"act": "report", "seat": 0, "accused": 1, "fault": "exposed_card"}
        monkeypatch.setattr(acts, "BATCH_SECONDS", 0.0)
        response = send(table, 0, DEAL, report, **key)
        assert (response.status_code, len(response.json()["done"])) == (200, 1)
        assert (response.json()["refused"]["index"], response.json()["refused"]["problem"]["type"]) == (
            1,
            "/problems/busy",
        )
        monkeypatch.undo()
        whole = send(table, 0, DEAL, report, **key).json()
        assert (len(whole["done"]), whole["replayed"], whole["refused"]) == (2, 1, None)
        table.client.app.state.service.desk.close()
        none = send(table, 0, report)
        assert (none.status_code, none.headers["Retry-After"]) == (503, "1")
