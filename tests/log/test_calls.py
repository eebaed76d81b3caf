"""The calls of the log: who gets which answer, and with which proofs."""

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.log import bundle as bundle_call
from api.log.bundle_schemas import RULED
from api.runtime.service import Service
from referee.log.notes import checkpoint_in
from referee.officials.events.corrections import Why
from referee.requests import Correct
from referee.store.command import Command
from referee.store.log import LOG_ID
from tests.log.bundle_checks import KEY, ORIGIN, checked, played, sign
from tests.support.match_client import HANDS, Table
from tests.support.service_in_memory import Client, client_of


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    url = f"sqlite:///{tmp_path_factory.mktemp('signed')}/knacka.db"
    with client_of(url, log_key=KEY.private_text, log_seconds=3600) as client:
        yield client


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("/problems/")


def topics_in(bundle: Any) -> list[str]:
    return [row["topic"] for row in bundle["rows"]]


class TestLog:
    def test_the_log_names_its_signer_and_the_signed_size(self, client: Client):
        Table(client)
        size = checkpoint_in(sign(client)).size
        said = client.get("/v1/log").json()
        assert (said["origin"], said["vkeys"], said["signed"]) == (KEY.name, [KEY.vkey], size)

    def test_it_shows_no_activity_between_two_checkpoints(self, client: Client):
        Table(client)
        sign(client)

        def shown() -> tuple[bytes, dict[str, str]]:
            answer = client.get("/v1/log")
            return answer.content, {name: value for name, value in answer.headers.items() if "ratelimit" not in name}

        before = shown()
        Table(client)
        assert shown() == before

    def test_the_checkpoint_is_for_all_and_is_known_again(self, client: Client):
        Table(client)
        sign(client)
        answer = client.get("/v1/log/checkpoint")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        again = client.get("/v1/log/checkpoint", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")

    def test_sizes_that_were_not_signed_are_refused(self, client: Client):
        Table(client)
        size = checkpoint_in(sign(client)).size
        for asked in (f"from={size + 1}", f"from=1&to={size + 1}", "from=2&to=1"):
            answer = client.get(f"/v1/log/consistency?{asked}")
            assert problem(answer) == (404, "no-such-size"), asked
            assert answer.json()["facts"] == {"size": size}
        for asked in ("", "from=0", "from=x", "to=1"):
            assert client.get(f"/v1/log/consistency?{asked}").status_code == 400, asked
        assert problem(client.get("/v1/log/consistency?from_=1")) == (400, "unknown-parameter")
        assert client.get(f"/v1/log/consistency?from={size}").json() == {"from": size, "to": size, "proof": []}

    def test_the_log_is_no_match(self, client: Client):
        sign(client)
        for path in ("", "/events", "/protocol", "/bundle", "/events/1/proof"):
            assert problem(client.get(f"/v1/matches/{LOG_ID}{path}")) == (404, "no-such-match"), path


class TestProof:
    def test_it_is_that_of_the_bundle(self, client: Client):
        table = played(client, 1)
        note = sign(client)
        bundle = table.get("/bundle", "official").json()
        for row in bundle["rows"]:
            answer = table.get(f"/events/{row['version']}/proof", "official")
            lines = ["c2sp.org/tlog-proof@v1", f"index {row['index']}", *row["proof"], "", note]
            assert answer.text == "\n".join(lines)

    def test_only_officials_get_proofs_of_a_deal_under_way(self, client: Client):
        table = Table(client)
        table.deal()
        table.bid("2")
        sign(client)
        for who in (0, 1, 2, None):
            assert table.get("/events/1/proof", who).status_code == 200
            for event in (2, 3):
                assert problem(table.get(f"/events/{event}/proof", who)) == (409, "not-open-yet")
        assert table.get("/events/3/proof", "official").status_code == 200

    def test_rows_after_the_checkpoint_are_not_signed_yet(self, client: Client):
        table = Table(client)
        sign(client)
        table.deal()
        assert problem(table.get("/events/2/proof", "official")) == (409, "not-signed-yet")
        assert problem(table.get("/events/3/proof", "official")) == (404, "no-such-event")
        other = Table(client)
        assert problem(other.get("/events/1/proof", 0)) == (409, "not-signed-yet")
        assert problem(other.get("/bundle", 0)) == (409, "not-signed-yet")


class TestBundle:
    def test_all_rows_from_which_nothing_is_hidden(self, client: Client, tmp_path: Path):
        table = played(client, 2)
        sign(client)
        for who in (0, "official"):
            answer = table.get("/bundle", who)
            bundle = answer.json()
            (one,) = bundle["aggregates"]
            last = len(bundle["rows"])
            assert bundle["about"] == {"kind": "match", "id": table.id, "closing": None}
            assert (one["id"], one["ranges"]) == (table.id, [{"first": 1, "last": last}])
            assert one["statement"].startswith(f"{ORIGIN}\nlast row\n{table.id}\n{last}\n")
            assert [row["version"] for row in bundle["rows"]] == list(range(1, last + 1))
            assert topics_in(bundle).count("deal/scored") == 2
            assert checked(tmp_path, answer.content).code == 0
        assert problem(table.get("/bundle")) == (403, "for-the-match")

    def test_a_bundle_states_only_the_number_of_rows_of_a_deal_under_way(self, client: Client, tmp_path: Path):
        table = played(client, 1)
        table.done("deal", table.get().json()["dealer"])
        sign(client)
        answer = table.get("/bundle", "official")
        last = answer.json()["rows"][-1]
        assert last["topic"] == "deal/scored"
        more = table.version() - last["version"]
        code, lines = checked(tmp_path, answer.content)
        gap = f"NOT SHOWN: the bundle shows the rows of {table.id} up to {last['version']}; the log has {more} more"
        assert (code, lines[-1]) == (3, gap)

    def test_one_with_too_many_rows(self, client: Client, monkeypatch: pytest.MonkeyPatch):
        table = played(client, 1)
        sign(client)
        monkeypatch.setattr(bundle_call, "ROWS_MAX", 3)
        answer = table.get("/bundle", 0)
        assert problem(answer) == (409, "bundle-too-large")
        assert answer.json()["facts"] == {"count": table.version(), "most": 3}

    @pytest.mark.parametrize("dealing", ["house", "table"])
    def test_no_one_gets_a_row_of_a_deal_under_way(self, client: Client, dealing: str):
        """Not the officials either: of a shuffle that was committed to they are not to know the seed (and what they
        may know they read in the events)."""
        table = Table(client, dealing=dealing)
        if dealing == "house":
            table.done("deal", 0)
        else:
            table.deal(HANDS)
        table.bid("2")
        sign(client)
        for who in (0, "official"):
            assert topics_in(table.get("/bundle", who).json()) == ["match/opened"]

    def test_a_seed_that_is_committed_to_is_in_no_bundle_before_its_deal_is_over(self, client: Client):
        fair = {"dealing": "house", "shuffle": "committed", "entropy_seconds": 0}
        table = Table(client, ruleset="kalabrias", options={}, **fair)
        sign(client)
        rows = table.get("/bundle", "official").json()["rows"]
        assert [row["version"] for row in rows] == [1]
        for seat in range(3):
            table.done("entropy", seat, hex="0" * 32)
        table.finish_deal()
        sign(client)
        rows = table.get("/bundle", "official").json()["rows"]
        committed = [row for row in rows if row["topic"] == "shuffle/committed"]
        assert len(committed) == 1, "that of the next deal is not there"
        assert b'"seed"' in b64decode(committed[0]["state"])

    def test_a_correction_is_for_officials(self, client: Client, tmp_path: Path):
        """The row of a correction contains the officials' request."""
        table = played(client, 1, adjudication={})
        correct = Correct(why=Why(rule="B11", reason="as agreed"), strike=(1,))
        service: Service = client.app.state.service
        service.desk.submit(Command(id=UUID(table.id), actor="official", request=correct)).result(30)
        sign(client)
        official, party = (table.get("/bundle", who) for who in ("official", 0))
        assert topics_in(official.json())[-1] in RULED
        assert checked(tmp_path, official.content).code == 0
        assert topics_in(party.json()) == topics_in(official.json())[:-1]
        code, lines = checked(tmp_path, party.content)
        assert (code, lines[-1].endswith("; the log has 1 more")) == (3, True)

    def test_its_size_may_not_be_one_that_is_to_come(self, client: Client):
        table = Table(client)
        size = checkpoint_in(sign(client)).size
        assert problem(table.get(f"/bundle?from={size + 1}", 0)) == (404, "no-such-size")
        assert table.get(f"/bundle?from={size}", 0).json()["consistency"] == {"from": size, "proof": []}


def test_on_either_database(store_url: str, tmp_path: Path):
    with client_of(store_url, log_key=KEY.private_text, log_file=str(tmp_path / "note")) as client:
        table = played(client, 1)
        first = sign(client)
        played(client, 1)
        sign(client)
        answer = table.get(f"/bundle?from={checkpoint_in(first).size}", 0)
        assert checked(tmp_path, answer.content, old=first).code == 0
