"""PostgreSQL is lost: the service reports it in time, recovers when it is back, and can be stopped meanwhile."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.support.failing_proxy import Proxy, target_of
from tests.support.match_client import HANDS, Table
from tests.support.running_service import running

SLACK = 3.0
"""Seconds allowed beyond the promised time, because the machine may be busy."""
KEY = {"Idempotency-Key": "the-deal"}


def deal(table: Table) -> httpx.Response:
    return table.post("/acts", {"act": "deal", "seat": 0, "hands": HANDS}, 0, **KEY)


def code_of(answer: httpx.Response) -> str:
    return str(answer.json()["type"]).removeprefix("/problems/")


def within(seconds: float, call: Any, *args: Any) -> httpx.Response:
    began = time.monotonic()
    answer: httpx.Response = call(*args)
    assert time.monotonic() - began < seconds + SLACK
    return answer


def test_a_lost_store_is_reported_and_found_again_and_does_not_block_the_process(postgres_url: str) -> None:
    """All open connections hang, and so do new ones."""
    with (
        Proxy(target_of(postgres_url)) as proxy,
        running(proxy.url(postgres_url)) as process,
        httpx.Client(base_url=process.address, timeout=30) as client,
    ):
        table, other = Table(client), Table(client)
        proxy.drop()
        with ThreadPoolExecutor() as threads:
            act = threads.submit(within, 5, deal, table)
            ready = threads.submit(within, 2, client.get, "/health/ready")
            lists = threads.submit(within, 6, client.get, "/v1/matches")
        # The problem depends on whether the request had already got an open connection.
        assert (act.result().status_code, code_of(act.result()) in {"outcome-unknown", "busy"}) == (503, True)
        assert act.result().headers["retry-after"]
        assert ready.result().status_code == 503
        assert "The store does not answer" in ready.result().json()["detail"]
        assert (lists.result().status_code, code_of(lists.result())) == (503, "store-away")
        assert within(5, deal, other).status_code == 503

        proxy.forward()
        back = time.monotonic()
        while (answer := deal(table)).status_code == 503:
            assert time.monotonic() - back < 2 + SLACK
            time.sleep(0.02)
        assert (answer.status_code, answer.json()["version"]) == (201, 2)
        assert "idempotency-replayed" not in answer.headers, "it was lost"
        while client.get("/health/ready").status_code == 503:
            assert time.monotonic() - back < 10 + SLACK
            time.sleep(0.02)

        proxy.drop()
        dropped = proxy.dropped
        with ThreadPoolExecutor() as threads:
            act = threads.submit(deal, other)
            while proxy.dropped == dropped:
                assert time.monotonic() - back < 60
                time.sleep(0.01)
            process.process.send_signal(signal.SIGTERM)
            process.process.wait(10 + SLACK)
        assert act.result().status_code == 503, "a waiting caller still gets an answer"
