"""A cursor is text that only the service makes. Any other text is refused with 400 or is harmless, on both stores."""

import json
from base64 import urlsafe_b64encode
from typing import Any
from uuid import UUID
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from projections.cursors import cursor_of
from tests.api.cases.test_cases import ANNA, REVOKE, TWO, ask, attended
from tests.api.http.test_problems import problem
from tests.conformance.description_check import resolved
from tests.support.club_client import ClubTable
from tests.support.paths import ROOT
from tests.support.service_in_memory import Client

CONTRACT = json.loads((ROOT / "openapi" / "openapi.json").read_text())
LISTS = {
    calls["get"]["operationId"]: path
    for path, calls in CONTRACT["paths"].items()
    if "get" in calls
    and any(resolved(CONTRACT, one)["name"] == "cursor" for one in calls["get"].get("parameters", ()))
}
"""Paths of the calls that take a cursor, by operation id."""
SOME_ID = UUID(int=1)
TIMES = (
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-14:00",
    "9999-12-31T23:59:59.999999Z",
    "2026-01-01T00:00:00",
    "0000-01-01T00:00:00Z",
)
NUMBERS = (0, -1, 10**9, 10**9 + 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 10**30, -(2**70), 1e300, 1.5, True, None)
TEXTS = ("", "x", "\0", "é", "😀", "x" * 2000)
CRAFTED = (
    *((time, SOME_ID) for time in TIMES),
    *((time, SOME_ID, 1) for time in TIMES),
    *(("2026-01-01T00:00:00Z", SOME_ID, number) for number in NUMBERS),
    *((number,) for number in NUMBERS),
    *((text, text) for text in TEXTS),
    *((text,) for text in TEXTS),
    (),
    ("SEK", "cash", "more"),
    ({"a": 1},),
)
"""Places that the service did not give, in cursors of its form."""


def cursor_with(body: bytes) -> str:
    """Return a cursor of the service's form around any bytes."""
    return urlsafe_b64encode(crc32(body).to_bytes(4) + body).decode()


BODIES = (
    b"",
    b"[NaN]",
    b"[Infinity]",
    b"[1e999]",
    b"[" + b"9" * 1000 + b"]",
    b"[" * 1000,
    b"[" * 1000 + b"]" * 1000,
    b'["SEK","\\ud800"]',
    b'["SEK","\xed\xa0\x80"]',
    b'["SEK","\x00"]',
    b'["SEK","\\u0000"]',
    b"\xff\xfe",
    b"null",
    b"{}",
    b"[1] ",
)


class Lists:
    """A club and a match with a case, and the lists of both."""

    def __init__(self, client: Client) -> None:
        club, match = ClubTable(client), attended(client, TWO)
        club.join("Berit")
        club.done("open_evening", on="2026-11-22", season="2026/27")
        club.done("deposit", member=2, amount=100, via="cash")
        ask(match, "", ANNA, REVOKE)
        self.client, self.keys = client, {"match": match.tokens["official"], "club": club.keys["founder"]}
        self.ids = {"{match}": match.id, "{club}": club.id, "{account}": "cash"}

    def get(self, operation: str, **query: Any) -> Any:
        path = LISTS[operation]
        key = self.keys["club" if "club" in path else "match"]
        for name, value in self.ids.items():
            path = path.replace(name, value)
        return self.client.get(path, params=query, headers={"Authorization": f"Bearer {key}"})


@pytest.fixture(scope="module", params=["client", "postgres_client"])
def lists(request: pytest.FixtureRequest) -> Lists:
    return Lists(request.getfixturevalue(request.param))


def refused_or_harmless(lists: Lists, operation: str, cursor: str) -> None:
    answer = lists.get(operation, cursor=cursor)
    assert answer.status_code in (200, 400), (operation, cursor, answer.text)
    if answer.status_code == 400:
        problem(answer, 400, "bad-cursor")


def test_each_list_has_a_first_page(lists: Lists) -> None:
    assert len(LISTS) >= 12
    for operation in LISTS:
        assert lists.get(operation).status_code == 200, operation


@pytest.mark.parametrize("operation", LISTS)
def test_a_crafted_cursor(lists: Lists, operation: str) -> None:
    for place in CRAFTED:
        refused_or_harmless(lists, operation, cursor_of(*place))
    for body in BODIES:
        refused_or_harmless(lists, operation, cursor_with(body))


@pytest.mark.parametrize("time", [TIMES[0], TIMES[2]])
def test_a_time_beyond_the_calendar(lists: Lists, time: str) -> None:
    problem(lists.get("list_matches", cursor=cursor_of(time, SOME_ID)), 400, "bad-cursor")
    problem(lists.get("list_cases", cursor=cursor_of(time, SOME_ID, 1)), 400, "bad-cursor")


@pytest.mark.parametrize("number", [-1, 2**31, 2**63, 10**30, -(2**70)])
def test_a_number_that_no_row_has(lists: Lists, number: int) -> None:
    place = ("2026-01-01T00:00:00Z", SOME_ID, number)
    problem(lists.get("list_cases", cursor=cursor_of(*place)), 400, "bad-cursor")


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes() | st.uuids()
PLACES = st.lists(SCALARS, max_size=3).map(lambda place: cursor_of(*place))
NUMBERED = st.integers().map(cursor_of)
TIMED = st.tuples(st.datetimes(timezones=st.timezones(no_cache=False)), st.uuids(), st.integers()).flatmap(
    lambda place: st.sampled_from([cursor_of(*place), cursor_of(*place[:2])])
)
CODED = st.binary().map(cursor_with)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(cursor=st.text() | PLACES | NUMBERED | TIMED | CODED)
def test_any_text_as_a_cursor(lists: Lists, cursor: str) -> None:
    for operation in LISTS:
        refused_or_harmless(lists, operation, cursor)
