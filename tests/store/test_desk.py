"""The commit queue over both stores: in order, all or nothing, once, and readable again."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from eventsourcing.persistence import IntegrityError, OperationalError, StoredEvent

from referee.actors import actor_at, actor_of
from referee.acts import Bid, Deal, Knock
from referee.events import DealScored
from referee.games import request_of
from referee.refusals import OutOfTurn, Refused
from referee.store.acts import KeyedAct
from referee.store.aggregate import fold
from referee.store.answer import Answer
from referee.store.command import Busy, Command, KeyReused, OpenedByAnother, Stale
from referee.store.desk import Desk, digest_of
from referee.store.rows import row_hash
from referee.store.store import Loaded, Referee, UnknownAggregate, construct, settings_for
from tests.support.edited_stores import differences
from tests.support.random_matches import legal_acts, opened, opening, play_out, send
from tests.support.store_faults import held, taking_nothing


def broken_at(url: str, match_id: UUID) -> set[int]:
    """Return the numbers of events that do not name the hash of the row before them."""
    return {one.event for one in differences(url, match_id) if one.what.startswith("the chain is broken before it")}


class TestStored:
    """An answered act is stored, in order, and the rows contain the whole state of the match."""

    def test_a_match_loaded_again_is_the_match_that_was_played(self, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk, deal_ritual=False)
        for outcome in play_out(desk, match_id, 120):
            assert referee.history(match_id)[-1] == outcome.events[-1]
        played = desk.get(match_id)
        assert played.play.table.deal > 1, "deals were scored, so that there is a snapshot"
        assert referee.load(match_id).aggregate == played
        assert fold(None, referee.history(match_id)) == played

    def test_a_scored_deal_leaves_a_snapshot_so_that_loading_reads_only_what_came_after(
        self, desk: Desk, referee: Referee
    ) -> None:
        match_id = opened(desk, deal_ritual=False, enforcement="refuse")
        outcomes = list(play_out(desk, match_id, 200))
        scored = [
            outcome.aggregate.version
            for outcome in outcomes
            if any(isinstance(recorded.event, DealScored) for recorded in outcome.events)
        ]
        desk.close()
        assert referee.snapshots is not None
        kept = referee.snapshots.recorder.select_events(match_id)
        assert all(
            version >= number for version, number in zip((k.originator_version for k in kept), scored, strict=True)
        )

    def test_each_row_names_the_hash_of_the_row_before(self, store_url: str, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk)
        list(play_out(desk, match_id, 30))
        assert differences(store_url, match_id) == ()
        head = referee.load(match_id).head
        assert head == row_hash(referee.rows(match_id)[-1])

    def test_the_first_row_of_an_act_holds_what_was_asked(self, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk, deal_ritual=False, first_dealer=None)
        for outcome in play_out(desk, match_id, 60):
            first, *rest = referee.history(match_id, after=outcome.aggregate.version - len(outcome.events))
            assert first.request is not None
            assert digest_of(first.request) == first.digest
            assert [one.request for one in rest if one.request] == []
            assert actor_of(request_of(first.request)) == first.actor
        begun = [one for one in referee.history(match_id) if one.digest == referee.history(match_id)[0].digest]
        assert len(begun) > 1, "the first dealer was drawn"
        assert all(one.request is None for one in begun)

    def test_a_row_changed_afterwards_breaks_the_chain(self, sqlite_url: str) -> None:
        with construct(sqlite_url) as referee:
            desk = Desk(referee)
            match_id = opened(desk)
            list(play_out(desk, match_id, 10))
            desk.close()
            with referee.factory.datastore.transaction(commit=True) as cursor:
                cursor.execute(
                    'UPDATE stored_events SET state = CAST(replace(CAST(state AS TEXT), \'"at":"20\', \'"at":"19\')'
                    " AS BLOB) WHERE originator_id = ? AND originator_version = 4",
                    (match_id.hex,),
                )
        assert broken_at(sqlite_url, match_id) == {5}

    @pytest.mark.parametrize(("other", "later", "holds"), [(False, 0, True), (True, 0, False), (False, 1, False)])
    def test_rows_copied_to_another_match_or_number_break_the_chain(
        self, sqlite_url: str, tmp_path: Path, other: bool, later: int, holds: bool
    ) -> None:
        """The whole history in a different store: unchanged, under a different id, and with each row's number one
        higher."""
        with construct(sqlite_url) as referee:
            desk = Desk(referee)
            match_id = opened(desk)
            list(play_out(desk, match_id, 10))
            desk.close()
            rows = referee.rows(match_id)
        copied = uuid4() if other else match_id
        with construct(f"sqlite:///{tmp_path}/copy.db") as copy:
            copy.recorder.insert_events(
                [StoredEvent(copied, row.originator_version + later, row.topic, row.state) for row in rows]
            )
        numbers = {row.originator_version + later for row in rows[1:]}
        assert broken_at(f"sqlite:///{tmp_path}/copy.db", copied) == (set() if holds else numbers)

    def test_an_unknown_match_is_said_to_be_unknown(self, desk: Desk) -> None:
        with pytest.raises(UnknownAggregate):
            desk.get(uuid4())
        with pytest.raises(UnknownAggregate):
            send(desk, uuid4(), Deal(seat=0))


class TestInOrder:
    """Many requests, one transaction; several of one match build on one another."""

    def test_a_refusal_stores_nothing_and_the_next_right_act_works(self, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk, deal_ritual=False)
        with pytest.raises(Refused):
            send(desk, match_id, Bid(seat=1, bid="2"))
        assert len(referee.rows(match_id)) == 1
        assert send(desk, match_id, Deal(seat=0)).aggregate.version == 2

    def test_waiting_requests_are_decided_in_the_order_of_arrival(self, desk: Desk) -> None:
        match_id = opened(desk, deal_ritual=False)
        acts = [Deal(seat=0), Bid(seat=1, bid="1"), Bid(seat=2, bid="2"), Bid(seat=0, bid="1"), Bid(seat=0, bid="3")]
        futures: list[Answer] = [
            desk.submit(Command(id=match_id, actor=actor_at(act.seat), request=act)) for act in acts
        ]
        done = [error_of(future) or future.result().aggregate.version for future in futures]
        assert [done[0], done[1], done[2], done[4]] == [2, 3, 4, 6]
        assert isinstance(done[3], Refused)
        assert done[3].rule == "B34"

    def test_if_match_names_the_version_that_is_meant(self, desk: Desk) -> None:
        match_id = opened(desk, deal_ritual=False)
        with pytest.raises(Stale) as stale:
            send(desk, match_id, Deal(seat=0), expected=7)
        assert stale.value.version == 1
        assert send(desk, match_id, Deal(seat=0), expected=1).aggregate.version == 2

    def test_closing_finishes_what_waits(self, referee: Referee) -> None:
        desk = Desk(referee)
        futures = [desk.submit(Command(id=uuid4(), actor="official", request=opening())) for _ in range(300)]
        desk.close()
        assert all(future.done and error_of(future) is None for future in futures)

    def test_a_request_that_comes_while_the_desk_closes_is_refused(self, referee: Referee) -> None:
        desk = Desk(referee)
        own_ids = desk._own_ids

        def close_then_name() -> str:
            desk.close()
            return own_ids()

        desk._own_ids = close_then_name
        with pytest.raises(Busy):
            desk.submit(Command(id=uuid4(), actor="official", request=opening()))

    def test_however_much_waits_at_once_is_stored(self, desk: Desk) -> None:
        """PostgreSQL would never acknowledge hundreds of kilobytes of rows in a pipeline."""
        long = msgspec.structs.replace(opening(players=8), players=("n" * 80,) * 8, tokens=("t" * 64,) * 8)
        commands = [Command(id=uuid4(), actor="official", request=long) for _ in range(600)]
        futures = [desk.submit(command) for command in commands]
        assert all(future.result(60).aggregate.version == 1 for future in futures)

    def test_a_caller_that_goes_away_before_its_turn_spoils_nothing(self, desk: Desk) -> None:
        commands = [Command(id=uuid4(), actor="official", request=opening()) for _ in range(50)]
        futures = [desk.submit(command) for command in commands]
        gone = {place for place, future in enumerate(futures) if place % 3 == 0 and future.cancel()}
        assert all(future.result(30) for place, future in enumerate(futures) if place not in gone)


class TestOnce:
    """An act with a key counts once, however often it is sent."""

    def test_a_repeat_gets_the_first_answer(self, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk, deal_ritual=False)
        first = send(desk, match_id, Deal(seat=0), key="a")
        send(desk, match_id, Bid(seat=1, bid="1"))
        again = send(desk, match_id, Deal(seat=0), key="a")
        assert again.repeated
        assert again.events == first.events
        assert len(referee.rows(match_id)) == 3

    def test_a_repeat_in_the_same_transaction_too(self, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk, deal_ritual=False)
        command = Command(id=match_id, actor="seat:0", request=Deal(seat=0), key="a")
        outcomes = [future.result(30) for future in [desk.submit(command) for _ in range(5)]]
        assert [outcome.repeated for outcome in outcomes] == [False, True, True, True, True]
        assert all(outcome.events == outcomes[0].events for outcome in outcomes)

    def test_a_repeat_is_recognised_by_another_process(self, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk, deal_ritual=False)
        first = send(desk, match_id, Deal(seat=0), key="a")
        other = Desk(referee)
        again = send(other, match_id, Deal(seat=0), key="a")
        other.close()
        assert again.repeated
        assert again.events == first.events

    def test_the_key_of_another_act_is_refused(self, desk: Desk) -> None:
        match_id = opened(desk, deal_ritual=False)
        send(desk, match_id, Deal(seat=0), key="a")
        send(desk, match_id, Bid(seat=1, bid="1"), key="a")  # another seat's key is its own
        with pytest.raises(KeyReused):
            send(desk, match_id, Bid(seat=1, bid="2"), key="a")

    def test_a_knock_too(self, desk: Desk) -> None:
        match_id = opened(desk, deal_ritual=False)
        knock = Command(id=match_id, actor="seat:1", request=Knock(seat=1, accused=0), key="k")
        first, again = desk.submit(knock).result(30), desk.submit(knock).result(30)
        assert again.events == first.events


class Looking(Referee):
    """A real store that counts its reads of newer rows and its transactions."""

    name = Referee.name
    looks = 0
    inserts = 0

    def newer_rows(self, known: Iterable[Loaded]) -> dict[UUID, list[StoredEvent]]:
        self.looks += 1
        return super().newer_rows(known)

    def insert(
        self, rows: Sequence[StoredEvent], acts: Sequence[KeyedAct], known: Iterable[Loaded] = ()
    ) -> dict[UUID, list[StoredEvent]]:
        self.inserts += 1
        return super().insert(rows, acts, known)


def error_of(answer: Answer) -> Exception | None:
    """Return the error with which the desk refused a request, ``None`` if it accepted it."""
    try:
        answer.result(30)
    except Exception as error:
        return error
    return None


def together(desk: Desk, store_url: str, *commands: Command) -> list[Exception | None]:
    """Have these decided in one batch, after a request that waits for the store. Return the error of each."""
    with held(store_url):
        (first,) = openings(1)
        desk.submit(first)
        while desk.waiting:
            time.sleep(0.001)
        futures = [desk.submit(command) for command in commands]
    return [error_of(future) for future in futures]


def openings(number: int) -> list[Command]:
    return [Command(id=uuid4(), actor="official", request=opening()) for _ in range(number)]


class TestAtNoCostForOthers:
    """Repeats and refused requests of one caller cause no second decision for others."""

    @pytest.mark.parametrize("at_hand", [True, False])
    def test_an_opening_by_the_key_of_another(self, store_url: str, desk: Desk, at_hand: bool) -> None:
        taken = uuid4()
        command = Command(id=taken, actor="official", request=opening(), key=str(taken))
        with Looking(env=settings_for(store_url)) as looking:
            other = Desk(looking)
            (other if at_hand else desk).submit(command).result(30)
            before = looking.inserts
            raised = together(other, store_url, msgspec.structs.replace(command, actor="key:k3"), *openings(10))
            other.close()
            assert [type(one) for one in raised] == [OpenedByAnother] + [type(None)] * 10
            assert looking.inserts - before <= (2 if at_hand else 3), "the one that holds the store up is one of them"

    def test_an_act_that_would_be_taken_once_more(self, store_url: str) -> None:
        with Looking(env=settings_for(store_url)) as looking:
            desk = Desk(looking)
            match_id = opened(desk, deal_ritual=False)
            knock = Command(id=match_id, actor="seat:1", request=Knock(seat=1, accused=0), key="k")
            desk.submit(knock).result(30)
            before = looking.inserts
            assert together(desk, store_url, knock, *openings(10)) == [None] * 11
            desk.close()
            assert looking.inserts - before == 2, "the one that holds the store up is one of them"
            assert len(looking.rows(match_id)) == 2


class TestTogether:
    """Several processes over one store: one commits first, and no act is lost or counted twice."""

    def test_two_desks_take_turns_without_a_gap(self, store_url: str, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk, players=4)
        other = Desk(referee)
        for turn in range(60):
            act = legal_acts(referee.load(match_id).aggregate)[0]
            send(desk if turn % 3 else other, match_id, act)
        other.close()
        numbers = [row.originator_version for row in referee.rows(match_id)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) > 40
        assert differences(store_url, match_id) == ()

    def test_requests_of_others_in_the_same_batch_survive_a_conflict(self, desk: Desk, referee: Referee) -> None:
        contested, quiet = opened(desk, deal_ritual=False), opened(desk, deal_ritual=False)
        other = Desk(referee)
        other.get(contested)
        send(desk, contested, Deal(seat=0))  # unknown to the other desk
        futures = [
            other.submit(Command(id=contested, actor="seat:1", request=Knock(seat=1, accused=0))),
            other.submit(Command(id=quiet, actor="seat:0", request=Deal(seat=0))),
            other.submit(Command(id=contested, actor="seat:0", request=Knock(seat=0, accused=1), expected=1)),
        ]
        done = [error_of(future) for future in futures]
        other.close()
        assert done[:2] == [None, None]
        assert isinstance(done[2], Stale)
        assert [row.originator_version for row in referee.rows(contested)] == [1, 2, 3]
        assert [row.originator_version for row in referee.rows(quiet)] == [1, 2]

    def test_nothing_is_refused_for_an_old_state(self, desk: Desk) -> None:
        """A process that has not seen the deal yet reads again before it refuses the act for want of one."""
        match_id = opened(desk, deal_ritual=False)
        other = Desk(desk.referee)
        other.get(match_id)
        send(desk, match_id, Deal(seat=0))
        assert send(other, match_id, Bid(seat=1, bid="1")).aggregate.version == 3
        with pytest.raises(Refused):
            send(other, match_id, Bid(seat=1, bid="2"))
        other.close()

    def test_rows_of_other_processes_are_read_with_the_write(self, store_url: str, desk: Desk) -> None:
        """Reading newer rows costs no extra query, unless a refusal must be certain."""
        moved, wrong, quiet = (opened(desk, deal_ritual=False) for _ in range(3))
        looking = Looking(env=settings_for(store_url))
        other = Desk(looking)
        for match_id in (moved, wrong, quiet):
            other.get(match_id)
        for match_id in (moved, wrong):
            send(desk, match_id, Deal(seat=0))

        def acted(*acts: tuple[UUID, Bid | Deal]) -> list[Exception | None]:
            commands = [Command(id=one, actor=actor_at(act.seat), request=act) for one, act in acts]
            return together(other, store_url, *commands)

        assert acted((moved, Bid(seat=1, bid="1")), (quiet, Deal(seat=0))) == [None, None]
        assert looking.looks == 0
        (refused,) = acted((wrong, Bid(seat=2, bid="1")))
        assert isinstance(refused, OutOfTurn), "the refusal uses the stored state"
        assert looking.looks == 1
        other.close()
        looking.close()

    def test_an_act_decided_on_an_old_state_is_decided_again(self, desk: Desk, referee: Referee) -> None:
        match_id = opened(desk, deal_ritual=False)
        send(desk, match_id, Deal(seat=0))
        other = Desk(referee)
        other.get(match_id)
        knock = Knock(seat=2, accused=0)
        desk.submit(Command(id=match_id, actor="seat:2", request=knock)).result(30)
        outcome = send(other, match_id, Bid(seat=1, bid="1"))
        other.close()
        assert outcome.aggregate.version == 4


class LostAcknowledgement(Referee):
    """A real store whose answer to the next commit is lost on the way back, as when a connection drops."""

    losing: type[Exception] | None = None

    def construct_recorder(self) -> Any:
        recorder = super().construct_recorder()
        insert = recorder.insert_events

        def insert_and_lose(rows: Sequence[StoredEvent], **kwargs: Any) -> Any:
            ids = insert(rows, **kwargs)
            if self.losing is not None:
                error, self.losing = self.losing, None
                raise error("the acknowledgement was lost")
            return ids

        recorder.insert_events = insert_and_lose
        return recorder


@pytest.mark.parametrize("error", [IntegrityError, OperationalError])
@pytest.mark.parametrize("key", [None, "a"])
def test_an_act_that_counted_is_never_refused(store_url: str, error: type[Exception], key: str | None) -> None:
    """The library tries again after a lost connection and meets its own rows: identical rows are ours."""
    with LostAcknowledgement(env=settings_for(store_url)) as referee:
        desk = Desk(referee)
        match_id = opened(desk, deal_ritual=False)
        referee.losing = error
        outcome = send(desk, match_id, Deal(seat=0), key=key)
        assert outcome.aggregate.version == 2
        assert [row.originator_version for row in referee.rows(match_id)] == [1, 2]
        assert send(desk, match_id, Bid(seat=1, bid="1")).aggregate.version == 3
        referee.losing = error
        new = uuid4()
        opening_again = desk.submit(Command(id=new, actor="official", request=opening())).result(30)
        assert opening_again.aggregate.version == 1
        desk.close()


class TestStoreFails:
    """An act when the store refuses it, or does not confirm it."""

    def test_a_failure_of_the_store_is_shown_until_a_write_succeeds(self, desk: Desk, store_url: str) -> None:
        match_id = opened(desk, deal_ritual=False)
        assert desk.failed is None
        with taking_nothing(store_url):
            with pytest.raises(Busy):
                send(desk, match_id, Deal(seat=0))
            assert desk.failed is not None
            assert desk.failed[1] in ("no space left on device", "malformed JSON"), "and no row"
        assert send(desk, match_id, Deal(seat=0)).aggregate.version == 2
        assert desk.failed is None

    def test_busy_seconds_counts_the_time_of_waiting(self, desk: Desk, store_url: str) -> None:
        until = time.monotonic() + 30
        with held(store_url):
            opening_sent = desk.submit(Command(id=uuid4(), actor="official", request=opening()))
            while desk.busy_seconds < 0.05:
                assert time.monotonic() < until
                time.sleep(0.001)
        opening_sent.result(30)
        while desk.busy_seconds:
            assert time.monotonic() < until
            time.sleep(0.001)
