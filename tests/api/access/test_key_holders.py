"""Keys of a club in its matches, and tokens of a scribe and a watcher: their views, their rights and their end."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import httpx
import pytest
from msgspec.structs import replace

from api.access.caller import SPECTATOR
from api.access.clubs import KeyHolder
from api.access.keys import make_key_text
from api.access.principals import caller_by_key, caller_by_token
from api.runtime.aggregate_reader import club_of, match_of
from api.runtime.service import Service
from referee.acts import Deal, Knock
from referee.clubs.commands import RotateKey
from referee.events import Visibility
from referee.store.desk import Desk
from referee.store.store import construct
from tests.api.http.test_problems import problem
from tests.support.databases import Postgres, empty_database
from tests.support.match_client import HANDS
from tests.support.random_matches import play_out
from tests.support.running_service import served, sse
from tests.support.service_in_memory import Client
from tests.support.stored_clubs import Club, Placed, hashed

PATIENCE_SECONDS = 12
BID = {"act": "bid", "seat": 0, "bid": "3"}
RULING = {"verdict": "dismissed", "standard": "balance_of_probabilities", "rule": "B42", "reason": "Nobody saw it"}


class Room(NamedTuple):
    """A service, a club, and a match of its members 2 to 4."""

    client: Any
    club: Club
    match: Placed

    def get(self, path: str, shown: str | None = None, **headers: str) -> httpx.Response:
        answer: httpx.Response = self.client.get(self.match.path + path, headers=bearer(shown) | headers)
        return answer

    def post(self, path: str, body: Any, shown: str) -> httpx.Response:
        answer: httpx.Response = self.client.post(self.match.path + path, json=body, headers=bearer(shown))
        return answer

    def actors(self) -> list[Any]:
        """Return the actors of the last events."""
        return [one["actor"] for one in self.get("/events", self.match.tokens["official"]).json()["events"]]


def ends(club: Club, key: str, how: str) -> None:
    """End a key soon, by revocation or rotation. A key that expires needs no act."""
    if how == "revoked":
        club.revoke(key)
    elif how == "rotated":
        name = key[26:28]
        club.do(RotateKey(key=name, overlap_seconds=2, hash=hashed(make_key_text(club.id, name))))


def bearer(shown: str | None) -> dict[str, str]:
    return {} if shown is None else {"Authorization": f"Bearer {shown}"}


def room_of(client: Client, visibility: Visibility = "club", **opening: Any) -> Room:
    app: Any = client.app
    service: Service = app.state.service
    club = Club(service.desk)
    return Room(client, club, Placed(service.desk, club.opened(visibility, players=3, **opening)))


@pytest.fixture
def room(client: Client) -> Room:
    room = room_of(client)
    room.match.act(Deal(seat=0, hands=tuple(map(tuple, HANDS))))
    return room


class TestSees:
    def test_an_auditor_a_spectator_s_of_a_running_deal(self, room: Room) -> None:
        auditor, looker = room.club.key("audit"), room.club.key("read")
        paths = ("", "/events", "/events?limit=2", "/replay?at=4", "/knocks", "/protocol")
        for path in paths:
            assert room.get(path, auditor).content == room.get(path, looker).content
        assert b"SA" not in room.get("/events", auditor).content

    def test_an_auditor_sees_the_official_s_view_of_a_finished_deal(self, room: Room) -> None:
        public_to = 0
        for outcome in play_out(room.match.desk, room.match.id, 200):
            if public_to := match_of(outcome.aggregate).public_to:
                break
        assert public_to, "a deal has been scored"
        auditor, official = room.club.key("audit"), room.match.tokens["official"]
        looker = room.club.key("read")
        seen_by = {who: room.get("/events?limit=1000", who).json()["events"] for who in (auditor, official, looker)}
        assert seen_by[auditor][:public_to] == seen_by[official][:public_to] != seen_by[looker][:public_to]
        assert seen_by[auditor][public_to:] == seen_by[looker][public_to:]
        now = {who: room.get(f"/replay?at={public_to}", who).json() for who in (auditor, official)}
        assert now[auditor] == now[official]

    @pytest.mark.parametrize("who", ["scribe", "watcher"])
    def test_a_scribe_and_a_watcher_what_a_spectator_sees(self, room: Room, who: str) -> None:
        looker = room.club.key("read")
        for path in ("", "/events", "/replay?at=4"):
            assert room.get(path, room.match.tokens[who]).content == room.get(path, looker).content

    def test_a_key_of_a_member_shows_the_hand_of_the_member(self, room: Room) -> None:
        key = room.club.key("play", member=3)
        assert room.get("", key).content == room.get("", room.match.tokens[1]).content
        assert set(room.get("", key).json()["hand"]) == set(HANDS[1])

    def test_a_ticket_what_the_key_sees(self, room: Room) -> None:
        ticket = room.post("/tickets", None, room.club.key("officiate")).json()["ticket"]
        assert room.client.head(f"{room.match.path}/events/stream?ticket={ticket}").status_code == 200
        gone = room.club.key("officiate")
        ticket = room.post("/tickets", None, gone).json()["ticket"]
        room.club.revoke(gone)
        problem(room.get(f"/events/stream?ticket={ticket}"), 401, "ticket-unknown")

    def test_an_invalid_ticket_does_not_reveal_a_match(self, room: Room) -> None:
        path = "/events/stream?ticket=" + "x" * 43
        problem(room.get(path), 404, "no-such-match")
        problem(room.get(f"{path}&after=1000"), 404, "no-such-match")

    def test_a_token_of_the_match_or_a_key_of_its_club_shows_the_names(self, client: Client) -> None:
        room = room_of(client, "public")
        match = match_of(room.match.desk.get(room.match.id))
        callers = [
            caller_by_token(match, hashed(room.match.tokens[who])) for who in (0, "official", "scribe", "watcher")
        ]
        callers += [
            caller_by_key(match, holder_of(room.club, key)) for key in (room.club.key("read"), room.club.founder)
        ]
        assert [one is not None and one.knows_names(match) for one in callers] == [True] * 6
        other = Club(room.match.desk)
        stranger = caller_by_key(match, holder_of(other, other.founder))
        assert stranger is not None
        assert not stranger.knows_names(match)
        assert not SPECTATOR.knows_names(match)


def holder_of(club: Club, key: str) -> KeyHolder:
    """Return the holder of this key."""
    found = club_of(club.desk.get(club.id))
    name = key[26:28]
    own = found.state.key(name)
    assert own is not None
    return KeyHolder(found, name, own, hashed(key), own.expires_at)


class TestDoes:
    def test_a_key_that_officiates_acts_under_its_own_name(self, room: Room) -> None:
        key = room.club.key("officiate")
        assert room.post("/acts", {"act": "void"}, key).status_code == 201
        assert room.actors()[-1] == f"key:{key[26:28]}"

    @pytest.mark.rule("J3")
    def test_a_key_that_officiates_rules_on_a_case(self, client: Client) -> None:
        room = room_of(client)
        room.match.act(Deal(seat=0, counts=(6, 6, 6)))
        room.match.do("seat:0", Knock(seat=0, accused=1, offence="revoke"))
        key = room.club.key("officiate")
        assert room.get("/knocks/1/file", key).json()["form"]["yours"] is True
        answer = room.post("/knocks/1/ruling", RULING, key)
        assert answer.status_code == 201, answer.text
        assert answer.json()["rulings"][0]["official"] == f"key:{key[26:28]}"

    def test_a_member_plays_with_their_own_key(self, room: Room) -> None:
        key = room.club.key("play", member=3)
        assert room.post("/acts", BID | {"seat": 1}, key).status_code == 201
        assert room.actors()[-1] == "seat:1"

    def test_a_scribe_writes_for_all_seats_under_its_own_name(self, room: Room) -> None:
        scribe = room.match.tokens["scribe"]
        assert room.post("/acts", BID | {"seat": 1}, scribe).status_code == 201
        assert room.post("/acts", {"act": "bid", "seat": 2, "bid": "pass"}, scribe).status_code == 201
        assert room.actors()[-2:] == ["scribe", "scribe"]
        knock = {"seat": 2, "accused": 0, "offence": "misdeal"}
        assert room.post("/knocks", knock, scribe).status_code == 201

    def test_a_scribe_says_nothing_for_anyone(self, room: Room) -> None:
        entry = {"seat": 0, "offence": "misclick"}
        problem(room.post("/knocks", entry, room.match.tokens["scribe"]), 403, "for-seats")

    def test_a_scribe_does_nothing_if_the_server_deals(self, client: Client) -> None:
        """The refusals of its acts would reveal the cards of the seats."""
        room = room_of(client, dealing="house")
        deal = {"act": "deal", "seat": 0}
        problem(room.post("/acts", deal, room.match.tokens["scribe"]), 403, "only-looks-on")
        assert room.post("/acts", deal, room.match.tokens[0]).status_code == 201

    def test_a_key_that_opens_matches_replaces_a_lost_scribe(self, room: Room) -> None:
        key = room.club.key("open")
        token = room.post("/tokens", {"role": "scribe"}, key).json()["token"]
        assert room.post("/acts", BID | {"seat": 1}, token).status_code == 201
        assert f"key:{key[26:28]}" in room.actors()
        problem(room.post("/acts", {"act": "void"}, key), 403, "scope-missing")

    def test_a_key_replaces_no_scribe_in_a_match_in_which_its_member_plays(self, room: Room) -> None:
        problem(room.post("/tokens", {"role": "scribe"}, room.club.key("open", member=2)), 403, "only-looks-on")

    def test_a_refused_attempt_is_stored_with_the_name_of_the_key(self, room: Room) -> None:
        """J12: The attempt names the key."""
        key = room.club.key("officiate")
        problem(room.post("/acts", BID, key), 403, "for-seats")
        (kept,) = room.get("/attempts", key).json()["items"]
        assert (kept["actor"], kept["problem"]) == (f"key:{key[26:28]}", "/problems/for-seats")

    def test_a_refusal_names_the_missing_scope(self, room: Room) -> None:
        answer = room.post("/acts", BID, room.club.key("read", "audit"))
        problem(answer, 403, "scope-missing")
        assert answer.json()["facts"] == {"needs": "play", "has": ["audit", "read"]}


ENDED = {"revoked": "key-revoked", "expired": "key-expired", "rotated": "key-expired"}


class TestEnds:
    @pytest.mark.parametrize("path", ["/v1/rulesets", "/v1/matches", f"/v1/matches/{UUID(int=1)}", "/v1/cases"])
    def test_two_authorizations_identify_no_caller(self, http: httpx.Client, path: str) -> None:
        headers = [("Authorization", f"Bearer {token}") for token in ("one", "another")]
        problem(http.get(path, headers=headers), 400, "two-authorizations")

    def test_a_token_that_begins_as_a_key_does_is_a_token(self, room: Room) -> None:
        token = f"knk_{'a' * 39}"
        opened = replace(room.club.opened("public"), club=None, members=())
        match = Placed(room.match.desk, opened)
        assert room.client.get(match.path, headers=bearer(token)).json()["type"] == "/problems/token-unknown"

    @pytest.mark.parametrize("overlap", [0, 1000])
    def test_both_secrets_of_a_key_are_good_while_they_overlap(self, room: Room, overlap: int) -> None:
        old = room.club.key("read")
        name = old[26:28]
        new = make_key_text(room.club.id, name)
        room.club.do(RotateKey(key=name, overlap_seconds=overlap, hash=hashed(new)))
        assert room.get("", new).status_code == 200
        if overlap:
            assert room.get("", old).status_code == 200
        else:
            problem(room.get("", old), 401, "key-expired")

    @pytest.mark.parametrize("how", ["revoked", "expired", "rotated"])
    def test_a_long_poll_ends_with_the_key_in_every_process(self, elsewhere: Room, how: str) -> None:
        """The wait is longer than the test's patience."""
        key = elsewhere.club.key("read", lasts=timedelta(seconds=3 if how == "expired" else 1000))
        first = elsewhere.get("", key)
        tag, after = first.headers["etag"], first.json()["version"]
        elsewhere.client.timeout = PATIENCE_SECONDS
        with ThreadPoolExecutor() as pool:
            waiting = [
                pool.submit(elsewhere.get, "?wait=25", key, **{"If-None-Match": tag}),
                pool.submit(elsewhere.get, f"/events?after={after}&wait=25", key),
            ]
            ends(elsewhere.club, key, how)
            for one in waiting:
                problem(one.result(), 401, ENDED[how])

    @pytest.mark.parametrize("how", ["revoked", "expired", "rotated"])
    def test_a_stream_ends_with_the_key_in_every_process(self, elsewhere: Room, how: str) -> None:
        """The key ends in a different process. The stream ends before the next event of the match, and before the
        next check of the connection."""
        key = elsewhere.club.key("read", lasts=timedelta(seconds=3 if how == "expired" else 1000))
        path = f"{elsewhere.match.path}/events/stream?after=3"
        with elsewhere.client.stream("GET", path, headers=bearer(key)) as response:
            sent = sse(response)
            assert next(sent) == {"retry": "1000"}
            assert next(sent)["topic"] == "state"
            ends(elsewhere.club, key, how)
            assert [json.loads(one["data"])["reason"] for one in sent] == ["token_ended"], "it is not kept open"
        problem(elsewhere.get("", key), 401, ENDED[how])

    def test_that_of_another_goes_on(self, elsewhere: Room) -> None:
        key, other = elsewhere.club.key("read"), elsewhere.club.key("read")
        path = f"{elsewhere.match.path}/events/stream?after=3"
        with elsewhere.client.stream("GET", path, headers=bearer(key)) as response:
            sent = sse(response)
            assert (next(sent), next(sent)["topic"]) == ({"retry": "1000"}, "state")
            elsewhere.club.revoke(other)
            elsewhere.match.act(Deal(seat=0, counts=(6, 6, 6)))
            assert next(sent)["topic"] == "deal/dealt"


@pytest.fixture(scope="module")
def two_processes(postgres: Postgres) -> Iterator[tuple[str, Desk]]:
    """Yield the address of a service, and a desk on the same store, as in a different process."""
    with empty_database(postgres) as url, served(url) as address, construct(url) as referee:
        desk = Desk(referee)
        yield address, desk
        desk.close()


@pytest.fixture
def elsewhere(two_processes: tuple[str, Desk]) -> Iterator[Room]:
    """Yield a service, with a club and a match that a different process has written."""
    address, desk = two_processes
    club = Club(desk)
    with httpx.Client(base_url=address, timeout=30) as client:
        room = Room(client, club, Placed(desk, club.opened("club", players=3)))
        while client.get("/health/ready").json()["follower_lag"]:
            time.sleep(0.01)  # otherwise the opening of the match would wake the waiting requests
        yield room
