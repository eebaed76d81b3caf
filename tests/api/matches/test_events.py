"""The audit trail: pages, lines and streams, without a gap and without a repeat."""

import asyncio
import json
import threading
from hashlib import sha256
from itertools import islice, pairwise
from typing import Any

import httpx
import pytest

from api.matches.events import in_stream_thread, read_messages
from tests.support.match_client import HANDS, Table
from tests.support.running_service import sse

PATIENCE_SECONDS = 20
"""Seconds to wait for changes that are immediate on an idle machine."""


@pytest.fixture
def playing(http: httpx.Client) -> Table:
    table = Table(http)
    table.deal()
    table.bid("2", "pass", "3")
    return table


def state(table: Table, who: int | str | None = None) -> dict[str, Any]:
    """Return the state that a stream must send for the match now."""
    shown = table.get("", who).json()
    lines = table.get("/protocol", who).json()["lines"]
    fields = {name: shown[name] for name in ("version", "phase", "to_act", "due", "points")}
    data = {"topic": "state", **fields, "line": lines[-1]["deal"] if lines else None}
    return {"topic": "state", "data": data}


def read(event: dict[str, str]) -> dict[str, Any]:
    """Return an event of a stream with its data decoded."""
    return {**event, "data": json.loads(event["data"])}


def data(events: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Return the events in messages of a stream, without the topic that each message adds."""
    found = [json.loads(event["data"]) for event in events if "data" in event]
    return [{name: value for name, value in one.items() if name != "topic"} for one in found]


class TestPages:
    def test_pages_join_without_gap_or_repeat(self, playing: Table) -> None:
        whole = playing.get("/events").json()
        assert whole["next"] is None
        pages, after = [], 0
        while after is not None:
            page = playing.get(f"/events?after={after}&limit=2").json()
            pages += page["events"]
            after = page["next"]
        assert pages == whole["events"]
        assert [event["number"] for event in pages] == list(range(1, whole["version"] + 1))

    def test_after_the_last_there_is_nothing(self, playing: Table) -> None:
        version = playing.version()
        assert playing.get(f"/events?after={version}").json() == {
            "events": [],
            "acts": [],
            "next": None,
            "version": version,
        }

    def test_lines_are_the_same_events(self, playing: Table) -> None:
        for query in ("", "?after=1&limit=2"):
            answer = playing.get(f"/events{query}", 0, Accept="application/x-ndjson")
            assert answer.headers["content-type"] == "application/x-ndjson"
            page = playing.get(f"/events{query}", 0).json()
            assert [json.loads(line) for line in answer.text.splitlines()] == page["events"]

    def test_a_line_has_the_request_of_the_act_that_it_begins(self, playing: Table) -> None:
        page = playing.get("/events", "official").json()
        lines = playing.get("/events", "official", Accept="application/x-ndjson").text.splitlines()
        requests = {act["number"]: {"request": act["request"]} for act in page["acts"]}
        assert requests
        assert [*map(json.loads, lines)] == [event | requests.get(event["number"], {}) for event in page["events"]]

    def test_each_event_names_its_act_on_every_page(self, playing: Table) -> None:
        playing.play("SA", "S2", "S4", first=0)
        events = playing.get("/events").json()["events"]
        begun = sorted({event["act_number"] for event in events})
        assert begun[0] == 1
        assert [act["number"] for act in playing.get("/events", "official").json()["acts"]] == begun[1:]
        assert len(begun) < len(events), "an act has several events"
        for after in range(len(events)):
            assert playing.get(f"/events?after={after}&limit=2").json()["events"] == events[after : after + 2]

    def test_the_official_can_check_the_chain(self, playing: Table) -> None:
        events = playing.get("/events", "official").json()["events"]
        assert [event["prev"] for event in events] == ["0" * 64, *(event["hash"] for event in events[:-1])]
        assert all(len(event["hash"]) == len(sha256().hexdigest()) for event in events)

    def test_only_the_official_gets_hashes_of_hidden_rows(self, playing: Table) -> None:
        for who in (None, 0):
            for event in playing.get("/events", who).json()["events"]:
                assert event.keys() == {"number", "act_number", "at", "actor", "act", "event"}

    def test_the_official_sees_what_was_asked_and_no_one_else(self, playing: Table) -> None:
        playing.play("SA", "S2", "S4", first=0)
        knock = {"act": "knock", "seat": 0, "accused": 2, "note": "I saw it"}
        assert playing.post("/knocks", knock, 0).status_code == 201
        page = playing.get("/events", "official").json()
        topics = {event["number"]: event["event"]["topic"] for event in page["events"]}
        asked = {topics[act["number"]]: act["request"] for act in page["acts"]}
        assert asked["knock/dismissed"] == knock
        assert asked["card/played"] == {"act": "play", "seat": 2, "card": "S4"}
        assert asked["deal/dealt"] == {"act": "deal", "seat": 0, "hands": HANDS}
        assert asked.keys().isdisjoint({"match/opened", "auction/won", "trick/taken"}), (
            "these events followed automatically"
        )
        for who in (None, 0, 2):
            assert playing.get("/events", who).json()["acts"] == []
            assert b'"request"' not in playing.get("/events", who, Accept="application/x-ndjson").content


class TestState:
    """The stream says whose turn it is."""

    @pytest.mark.parametrize("who", [None, 1, "official"])
    def test_the_state_follows_the_stored_events_and_then_each_act(
        self, playing: Table, http: httpx.Client, who: int | str | None
    ) -> None:
        version = playing.version()
        with http.stream("GET", f"{playing.path}/events/stream", headers=playing.bearer(who)) as response:
            events = sse(response)
            assert next(events) == {"retry": "1000"}
            assert [int(event["id"]) for event in islice(events, version)] == list(range(1, version + 1))
            assert read(next(events)) == state(playing, who)
            for seat, card in enumerate(("SA", "S2", "S4")):
                playing.play(card, first=seat)
                before, version = version, playing.version()
                made = islice(events, version - before)
                assert [int(event["id"]) for event in made] == list(range(before + 1, version + 1))
                assert read(next(events)) == state(playing, who)
        assert version - before > 1, "the last of these acts made several events"

    def test_the_state_comes_first_if_there_are_no_new_events(self, playing: Table, http: httpx.Client) -> None:
        now = playing.version()
        for headers, query in (({"Last-Event-ID": str(now)}, ""), ({}, f"?after={now}")):
            with http.stream("GET", f"{playing.path}/events/stream{query}", headers=headers) as response:
                retry, first = islice(sse(response), 2)
            assert (retry, read(first)) == ({"retry": "1000"}, state(playing))

    @pytest.mark.parametrize(("page", "states"), [(500, 3), (2, 2)])
    def test_acts_that_are_read_together_each_get_a_state_unless_the_stream_has_fallen_behind(
        self, playing: Table, http: httpx.Client, monkeypatch: pytest.MonkeyPatch, page: int, states: int
    ) -> None:
        held, go_on = threading.Event(), threading.Event()

        async def later(call: Any, *args: Any) -> Any:
            if call is read_messages and not held.is_set():
                held.set()
                await asyncio.to_thread(go_on.wait, PATIENCE_SECONDS)
            return await in_stream_thread(call, *args)

        monkeypatch.setattr("api.matches.events.READ_MAX", page)
        monkeypatch.setattr("api.matches.events.in_stream_thread", later)
        version, expected = playing.version(), []
        with http.stream("GET", f"{playing.path}/events/stream?after={version}") as response:
            sent = sse(response)
            assert [event.get("topic") for event in islice(sent, 2)] == [None, "state"]
            playing.play("SA", first=0)
            assert held.wait(PATIENCE_SECONDS)
            expected.append(state(playing))
            playing.play("S2", first=1)
            expected.append(state(playing))
            playing.play("S4", first=2)
            expected.append(state(playing))
            go_on.set()
            got = [read(event) for event in islice(sent, playing.version() - version + states)]
        assert [one["data"]["number"] for one in got if "id" in one] == list(
            range(version + 1, playing.version() + 1)
        )
        assert [one for one in got if "id" not in one] == (expected if states == 3 else [expected[0], expected[2]])
        for before, one in pairwise(got):
            if "id" not in one:
                assert int(before["id"]) == one["data"]["version"], "it comes after the last event of its act"

    def test_the_last_one_says_that_the_match_is_over(self, http: httpx.Client) -> None:
        table = Table(http, dealing="house", opening={"points": [2, 2, 2]})
        table.finish()
        with http.stream("GET", f"{table.path}/events/stream") as response:
            *_, last, end = sse(response)
        assert read(last) == state(table)
        assert read(last)["data"]["phase"] == "over"
        assert read(end)["data"] == {"topic": "end", "reason": "match_over", "problem": None}


class TestStream:
    def test_stored_events_come_before_new_events(self, playing: Table, http: httpx.Client) -> None:
        version = playing.version()
        with http.stream("GET", f"{playing.path}/events/stream", headers=playing.bearer(1)) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            events = sse(response)
            assert next(events) == {"retry": "1000"}
            old = list(islice(events, version))
            assert next(events)["topic"] == "state"
            timer = threading.Timer(0.05, lambda: playing.play("SA", first=0))
            timer.start()
            new = next(events)
            timer.join()
        assert data(old) == playing.get("/events", 1).json()["events"][:version]
        assert (new["id"], new["topic"]) == (str(version + 1), "card/played")

    def test_it_is_resumed_without_gap_or_repeat(self, playing: Table, http: httpx.Client) -> None:
        got: list[dict[str, str]] = []
        with http.stream("GET", f"{playing.path}/events/stream") as response:
            got += islice((event for event in sse(response) if "id" in event), 3)
        playing.play("SA", "S2", "S4", first=0)
        for _ in range(3):
            headers = {"Last-Event-ID": got[-1]["id"]}
            with http.stream("GET", f"{playing.path}/events/stream?after=0", headers=headers) as response:
                got += islice((event for event in sse(response) if "id" in event), 2)
        ids = [int(event["id"]) for event in got]
        assert ids == list(range(1, len(ids) + 1))
        assert data(got) == playing.get("/events").json()["events"][: len(ids)]

    def test_many_listen_while_the_match_is_played_and_all_get_all(self, http: httpx.Client) -> None:
        table = Table(http, dealing="house", opening={"points": [2, 2, 2]})
        heard: list[list[int]] = [[], [], []]

        def listen(place: int) -> None:
            with http.stream("GET", f"{table.path}/events/stream", headers=table.bearer(place)) as response:
                heard[place] += [int(event["id"]) for event in sse(response) if "id" in event]

        listeners = [threading.Thread(target=listen, args=(place,)) for place in range(3)]
        for listener in listeners:
            listener.start()
        table.finish()
        for listener in listeners:
            listener.join(10)
            assert not listener.is_alive(), "the stream ends with the match"
        assert heard == [list(range(1, table.version() + 1))] * 3
        headers = {"Last-Event-ID": str(table.version())}
        assert http.get(f"{table.path}/events/stream", headers=headers).status_code == 204

    def test_a_silent_stream_is_kept_alive(
        self, playing: Table, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("api.matches.events.KEEP_ALIVE_SECONDS", 0.02)
        with http.stream("GET", f"{playing.path}/events/stream?after={playing.version()}") as response:
            lines = list(islice((line for line in response.iter_lines() if line), 5))
        assert lines[0] == "retry: 1000"
        assert lines[1].startswith('data: {"topic":"state"')
        assert lines[2:4] == [": keep-alive", ": keep-alive"]

    def test_a_listener_who_goes_away_is_forgotten(self, playing: Table, http: httpx.Client) -> None:
        with http.stream("GET", f"{playing.path}/events/stream") as response:
            next(sse(response))
        playing.play("SA", first=0)
        assert playing.get().status_code == 200


def test_hands_are_part_of_the_stream_only_for_their_holder(http: httpx.Client) -> None:
    table = Table(http)
    table.deal()
    for who, hands in ((None, [[], [], []]), (0, [HANDS[0], [], []]), ("official", HANDS)):
        with http.stream("GET", f"{table.path}/events/stream?after=1", headers=table.bearer(who)) as response:
            (dealt,) = data(list(islice(sse(response), 2)))
        assert dealt["event"].get("hands") == hands
