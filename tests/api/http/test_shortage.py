"""A service without free file descriptors, memory or threads: its answers, and that it recovers."""

import asyncio
import resource
import threading

import httpx
import pytest

from api.http.threads import Threads
from referee.store.command import Busy
from tests.support.club_client import FOUNDING, found
from tests.support.match_client import Table
from tests.support.running_service import limited, running

PAGES = (
    "/docs",
    "/docs/guides/client.md",
    "/problems",
    "/problems/bid-too-low",
    "/v1/rulesets",
    "/v1/rulesets/kalabrias",
)


class TestNoFileCanBeOpened:
    def test_a_refusal_still_names_its_rule(self, sqlite_url: str) -> None:
        with running(sqlite_url) as process, httpx.Client(base_url=process.address) as client:
            table = Table(client, dealing="house")
            with limited(process, resource.RLIMIT_NOFILE, 0):
                refused = table.send("bid", 1, bid="2")
            assert (refused.status_code, refused.json().get("rule")) == (409, "B28"), refused.text

    def test_a_club_in_any_timezone_is_founded_now_or_later(self, sqlite_url: str) -> None:
        """Otherwise a list of timezones that was read without file descriptors would stay empty."""
        body = FOUNDING | {"timezone": "Asia/Tokyo"}
        with running(sqlite_url) as process, httpx.Client(base_url=process.address) as client:
            client.get("/health/live")
            with limited(process, resource.RLIMIT_NOFILE, 0):
                assert found(client, body).status_code in (201, 503)
            assert found(client, body).status_code == 201

    @pytest.mark.parametrize("media_type", ["*/*", "text/html, */*;q=0.1"])
    def test_each_page_is_answered(self, sqlite_url: str, media_type: str) -> None:
        headers = {"Accept": media_type}
        with (
            running(sqlite_url) as process,
            httpx.Client(base_url=process.address, headers=headers, timeout=30) as client,
        ):
            client.get("/health/live")
            with limited(process, resource.RLIMIT_NOFILE, 0):
                answers = {page: client.get(page).status_code for page in PAGES}
        assert answers == dict.fromkeys(PAGES, 200)

    def test_the_description_is_answered_later(self, sqlite_url: str) -> None:
        """The service reads its files with the first request for it."""
        with running(sqlite_url) as process, httpx.Client(base_url=process.address, timeout=30) as client:
            client.get("/health/live")
            with limited(process, resource.RLIMIT_NOFILE, 0):
                refused = client.get("/openapi.json")
            assert refused.status_code == 503, refused.text
            assert "retry-after" in refused.headers
            assert client.get("/openapi.json").status_code == 200


def test_a_call_for_which_no_thread_can_be_started_takes_no_place() -> None:
    calls, usual = Threads("short", 1, waiting=0), threading.stack_size()

    async def call() -> int:
        return await calls(int, "7")

    threading.stack_size(2**46)  # more than the machine can map
    try:
        with pytest.raises(Busy):
            asyncio.run(call())
    finally:
        threading.stack_size(usual)
    assert asyncio.run(call()) == 7
