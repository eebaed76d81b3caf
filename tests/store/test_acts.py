"""Keyed acts are found without reading a match, by any process; rows of other processes are read once."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import UUID, uuid4

import pytest
from eventsourcing.persistence import StoredEvent

from referee.actors import actor_at
from referee.acts import Bid, Deal, Knock
from referee.games import request_of
from referee.refusals import Refused
from referee.store import postgres
from referee.store.aggregate import fold
from referee.store.command import Command, KeyReused, Outcome
from referee.store.desk import Desk
from referee.store.rows import HASH_BEFORE_FIRST, row_hash
from referee.store.store import Loaded, Referee, construct, settings_for
from tests.store.counting_store import Counting
from tests.support.random_matches import legal_acts, opened, send

KNOCK = Knock(seat=1, accused=0)
"""Without a reason it is dismissed, and may be made again, twenty times a seat and deal."""


@pytest.fixture
def other(referee: Counting) -> Iterator[Desk]:
    """Yield the desk of a different process."""
    desk = Desk(referee)
    yield desk
    desk.close()


def knock(desk: Desk, match_id: UUID, seat: int = 1, **command: Any) -> Outcome:
    request = Knock(seat=seat, accused=(seat + 2) % 3)
    return desk.submit(Command(id=match_id, actor=actor_at(seat), request=request, **command)).result(30)


def test_an_existing_store_is_opened_without_waiting_for_a_writer(sqlite_url: str) -> None:
    """``knacka verify`` opens a store beside the service."""
    construct(sqlite_url).close()
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        construct(sqlite_url).close()


class TestKeys:
    def test_a_keyed_act_on_a_long_match_reads_nothing(self, desk: Desk, other: Desk, referee: Counting) -> None:
        match_id = opened(desk, deal_ritual=False)
        for turn in range(54):
            knock(desk, match_id, turn % 3)
        other.get(match_id)
        referee.rows_read = 0
        assert not knock(other, match_id, key="first").repeated
        assert not knock(other, match_id, key="second").repeated
        assert referee.rows_read == 0

    def test_a_repeat_reads_the_rows_of_its_act_and_what_is_new(
        self, desk: Desk, other: Desk, referee: Counting
    ) -> None:
        match_id = opened(desk, deal_ritual=False)
        first = send(desk, match_id, Deal(seat=0), key="a")
        other.get(match_id)
        for turn in range(40):
            knock(desk, match_id, turn % 3)
        referee.rows_read = 0
        again = send(other, match_id, Deal(seat=0), key="a")
        assert again.repeated
        assert again.events == first.events
        assert referee.rows_read <= 2 * 40 + len(first.events)

    def test_a_repeat_that_the_rules_would_take_again_counts_once(self, desk: Desk, other: Desk) -> None:
        match_id = opened(desk, deal_ritual=False)
        send(desk, match_id, Deal(seat=0))
        first = knock(desk, match_id, key="k")
        other.get(match_id)  # it knows of the knock, but not of its key
        for again in (
            knock(other, match_id, key="k"),
            knock(other, match_id, key="k"),
            knock(desk, match_id, key="k"),
        ):
            assert again.repeated
            assert again.events == first.events
        assert other.get(match_id).version == first.aggregate.version

    def test_a_repeat_through_a_process_that_has_seen_nothing_counts_once(self, desk: Desk, other: Desk) -> None:
        match_id = opened(desk, deal_ritual=False)
        other.get(match_id)
        first = knock(desk, match_id, key="k")
        again = knock(other, match_id, key="k")
        assert again.repeated
        assert again.events == first.events

    def test_another_act_by_the_same_key_is_refused_also_if_the_rules_would_take_it(
        self, desk: Desk, other: Desk, referee: Counting
    ) -> None:
        match_id = opened(desk, deal_ritual=False)
        knock(desk, match_id, key="k")
        for at in (desk, other):
            with pytest.raises(KeyReused):
                at.submit(Command(id=match_id, actor="seat:1", request=Knock(seat=1, accused=2), key="k")).result(30)
        assert len(referee.rows(match_id)) == 2

    def test_a_repeat_is_known_before_if_match_is_looked_at(self, desk: Desk, other: Desk) -> None:
        match_id = opened(desk, deal_ritual=False)
        first = send(desk, match_id, Deal(seat=0), key="a", expected=1)
        for at in (desk, other):
            again = send(at, match_id, Deal(seat=0), key="a", expected=1)
            assert again.events == first.events

    def test_the_others_in_its_batch_are_answered(self, desk: Desk, other: Desk) -> None:
        ids = [opened(desk, deal_ritual=False) for _ in range(6)]
        for match_id in ids:
            knock(desk, match_id, key="k")
            other.get(match_id)
        futures = [other.submit(Command(id=match_id, actor="seat:1", request=KNOCK, key="k")) for match_id in ids[:2]]
        futures += [
            other.submit(Command(id=match_id, actor="seat:1", request=KNOCK, key="new")) for match_id in ids[2:]
        ]
        assert [future.result(30).repeated for future in futures] == [True] * 2 + [False] * 4

    def test_a_store_that_has_events_and_no_table_of_acts_gets_it(
        self, store_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A store may be restored from its events alone. An unreadable row blocks no other."""
        monkeypatch.setattr(postgres, "PAGE", 3)
        with Referee(env=settings_for(store_url)) as referee:
            desk = Desk(referee)
            match_id = opened(desk, first_dealer=None)
            keyed = [send(desk, match_id, legal_acts(desk.get(match_id))[0], key=f"{place}") for place in range(20)]
            knock(desk, match_id)
            desk.close()
            referee.recorder.insert_events([StoredEvent(uuid4(), 1, "card/played", b"\xff")])
            table = "stored_acts" if store_url.startswith("sqlite") else "referee_acts"
            everything = f"SELECT * FROM {table} ORDER BY originator_id, key"
            with referee.factory.datastore.transaction(commit=True) as cursor:
                cursor.execute(everything)
                before = [tuple(dict(row).values()) for row in cursor.fetchall()]
                cursor.execute(f"DROP TABLE {table}")
        assert len(before) == len(keyed)
        with Referee(env=settings_for(store_url)) as referee:
            with referee.factory.datastore.transaction(commit=False) as cursor:
                cursor.execute(everything)
                assert [tuple(dict(row).values()) for row in cursor.fetchall()] == before
            desk = Desk(referee)
            asked = keyed[3].events[0].request
            assert asked is not None
            again = send(desk, match_id, request_of(asked), key="3")
            assert again.repeated
            assert again.events == keyed[3].events
            desk.close()


class TestOthers:
    def test_a_conflict_about_one_match_costs_the_others_nothing(
        self, desk: Desk, other: Desk, referee: Counting
    ) -> None:
        ids = [opened(desk, deal_ritual=False) for _ in range(8)]
        for match_id in ids:
            for turn in range(20):
                knock(desk, match_id, turn % 3)
            other.get(match_id)
        knock(desk, ids[0])  # unknown to the other desk
        referee.rows_read = 0
        futures = [other.submit(Command(id=match_id, actor="seat:1", request=KNOCK)) for match_id in ids]
        assert [future.result(30).aggregate.version for future in futures] == [23] + [22] * 7
        assert referee.rows_read <= 3, "the new row, and a look whether ours were stored"

    def test_a_desk_reads_only_the_new_rows_of_a_match_that_is_behind(
        self, desk: Desk, other: Desk, referee: Counting
    ) -> None:
        match_id = opened(desk, deal_ritual=False)
        for turn in range(30):
            knock(desk, match_id, turn % 3)
        other.get(match_id)
        now = knock(desk, match_id).aggregate
        assert other.cached(match_id) is not None
        other.mark_stored(match_id, now.version)
        assert other.cached(match_id) is None
        was = other.cached(match_id, allow_stale=True)
        assert was is not None
        assert was.version == now.version - 1
        referee.rows_read = 0
        assert other.get(match_id) == now
        assert other.cached(match_id) == now
        later = knock(desk, match_id).aggregate
        assert other.get(match_id, min_version=later.version) == later
        assert referee.rows_read == 2

    def test_a_match_whose_rows_do_not_continue_the_cached_ones_is_loaded_again(
        self, desk: Desk, referee: Counting
    ) -> None:
        """A store may be restored while a process runs, and the match continue differently."""
        match_id = opened(desk, deal_ritual=False)
        for _ in range(3):
            knock(desk, match_id)
        at_hand = Loaded(referee.replay(match_id, 2), "0" * 64)
        assert referee.after_rows(at_hand, referee.rows(match_id, after=2)) == referee.load(match_id)

    @pytest.mark.parametrize("keyed", [False, True])
    def test_acts_through_two_processes_at_random(
        self, desk: Desk, other: Desk, referee: Counting, keyed: bool
    ) -> None:
        chance = random.Random(5)
        ids = [opened(desk, players=4, points=(60,) * 4, deal_ritual=False) for _ in range(4)]
        for turn in range(120):
            match_id = chance.choice(ids)
            tame = [
                act for act in legal_acts(referee.load(match_id).aggregate) if getattr(act, "bid", 0) != "rodskagg"
            ]
            act = chance.choice(tame)
            key = {"key": f"{turn}"} if keyed else {}
            first = send(chance.choice([desk, other]), match_id, act, **key)
            assert not first.repeated
            if keyed and chance.random() < 0.3:
                again = send(chance.choice([desk, other]), match_id, act, **key)
                assert again.repeated
                assert again.events == first.events
        for match_id in ids:
            history = referee.history(match_id)
            assert [one.originator_version for one in history] == list(range(1, len(history) + 1))
            hashes = [HASH_BEFORE_FIRST, *map(row_hash, referee.rows(match_id))]
            assert [one.prev for one in history] == hashes[:-1]
            for at in (desk, other):
                with pytest.raises(Refused):  # which makes it look
                    send(at, match_id, Bid(seat=0, bid="77"))
                assert at.get(match_id) == fold(None, history)
