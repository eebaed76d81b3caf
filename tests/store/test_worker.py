"""The process for long matches: its results, and work during which it dies, hangs or is ended."""

import os
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fcntl import ioctl
from pathlib import Path
from termios import TIOCOUTQ
from typing import Any
from uuid import uuid4

import pytest

from referee.refusals import InvitationOver, Refused
from referee.requests import Correct
from referee.store import aside
from referee.store.command import Busy
from referee.store.damaged import DamagedRow
from referee.store.desk import Desk
from referee.store.store import Referee, UnknownAggregate
from referee.store.worker import Worker
from referee.store.working import NICENESS
from tests.store.test_corrections import FIVE, scored
from tests.store.test_decisions_beside_the_writer import another_token, asked
from tests.store.worker_tasks import MATCH, damaged, filled, niceness_of, pid_of, refused, slept, unsendable
from tests.support.edited_stores import differences
from tests.support.paths import ROOT
from tests.support.stopped_process import stop

SECONDS_MAX = 30


def is_gone(pid: int) -> bool:
    """Return whether a process has ended, and been waited for."""
    return not Path(f"/proc/{pid}").exists()


def until(holds: Callable[[], Any]) -> Any:
    """Return the condition's final value."""
    deadline = time.monotonic() + SECONDS_MAX
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


@pytest.fixture
def worker(referee: Referee) -> Iterator[Worker]:
    worker = Worker(referee.env)
    yield worker
    worker.close()


class TestWork:
    def test_it_is_done_in_a_process_of_its_own_with_a_lower_priority(self, worker: Worker) -> None:
        assert worker.pid is None, "it starts when it is needed"
        assert worker(pid_of) == worker.pid != os.getpid()
        assert worker(niceness_of) == min(19, os.nice(0) + NICENESS)
        assert worker(pid_of) == worker.pid, "it stays"

    def test_it_reads_what_has_been_stored_since_it_started(self, worker: Worker, desk: Desk) -> None:
        worker(pid_of)
        match_id = scored(desk, 1)
        version = desk.get(match_id).version
        assert worker(Referee.history, match_id) == desk.referee.history(match_id)
        assert worker(Referee.replay, match_id, version) == desk.get(match_id)

    def test_an_error_in_the_worker_is_raised_in_the_caller(self, worker: Worker) -> None:
        with pytest.raises(InvitationOver) as refusal:
            worker(refused)
        told = refusal.value
        assert (told.code, told.rule, told.facts, told.status) == (
            "invitation_over",
            "J1",
            {"seat": 2, "until": 3},
            "state",
        )
        with pytest.raises(DamagedRow, match=r"event 3 of .* cannot be read: no JSON") as damage:
            worker(damaged)
        assert (damage.value.aggregate_id, damage.value.number, damage.value.fault) == (MATCH, 3, "unreadable")
        with pytest.raises(UnknownAggregate):
            worker(Referee.replay, uuid4(), 1)
        assert worker(pid_of)

    def test_a_result_that_cannot_be_sent_is_named(self, worker: Worker) -> None:
        with pytest.raises(TypeError, match=r"lock object.* cannot be sent"):
            worker(unsendable)
        assert worker(pid_of)

    def test_its_memory_is_bounded(self, worker: Worker) -> None:
        pid = worker(pid_of)
        with pytest.raises(MemoryError):
            worker(filled)
        assert worker(pid_of) != pid, "what it could not complete may hold memory"
        assert is_gone(pid)


class TestEnd:
    def test_killed_at_work_it_is_started_again(self, worker: Worker, tmp_path: Path) -> None:
        pid = worker(pid_of)
        with ThreadPoolExecutor() as threads:
            work = threads.submit(worker, slept, SECONDS_MAX, tmp_path / "at work")
            until((tmp_path / "at work").exists)
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(Busy):
                work.result(SECONDS_MAX)
        assert worker(pid_of) != pid

    def test_killed_between_two_pieces_of_work_nothing_fails(self, worker: Worker) -> None:
        pid = worker(pid_of)
        os.kill(pid, signal.SIGKILL)
        until(lambda: worker.pid is None)
        assert worker(pid_of) != pid

    @pytest.mark.parametrize("stopped", [False, True])
    def test_one_that_hangs_is_ended(self, referee: Referee, stopped: bool) -> None:
        worker = Worker(referee.env, seconds=SECONDS_MAX)
        pid = worker(pid_of)
        worker._seconds = 0.3
        if stopped:
            stop(pid)
        with pytest.raises(Busy):
            worker(slept, SECONDS_MAX)
        assert is_gone(pid)
        worker._seconds = SECONDS_MAX
        assert worker(pid_of) != pid
        worker.close()

    def test_work_does_not_wait_long_for_its_turn(self, referee: Referee, tmp_path: Path) -> None:
        worker = Worker(referee.env, seconds=SECONDS_MAX)
        with ThreadPoolExecutor() as threads:
            work = threads.submit(worker, slept, 2, tmp_path / "at work")
            until((tmp_path / "at work").exists)
            worker._seconds = 0.1
            with pytest.raises(Busy):
                worker(pid_of)
            assert work.result(SECONDS_MAX) == "slept", "the work under way goes on"
        worker.close()

    def test_closed_it_gives_up_what_it_does(self, worker: Worker, tmp_path: Path) -> None:
        with ThreadPoolExecutor() as threads:
            work = threads.submit(worker, slept, SECONDS_MAX, tmp_path / "at work")
            until((tmp_path / "at work").exists)
            pid = worker.pid
            waits = threads.submit(worker, pid_of)
            began = time.monotonic()
            worker.close()
            assert time.monotonic() - began < SECONDS_MAX / 2
            for one in (work, waits):
                assert isinstance(one.exception(SECONDS_MAX), Busy)
        assert pid is not None
        assert is_gone(pid)
        with pytest.raises(Busy):
            worker(pid_of)
        assert worker.pid is None

    def test_without_work_it_is_ended_after_a_while(self, referee: Referee) -> None:
        worker = Worker(referee.env, idle_seconds=0.2)
        pid = worker(pid_of)
        until(lambda: is_gone(pid))
        assert worker(pid_of) != pid
        worker.close()

    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_to_the_whole_group_does_not_end_it(self, worker: Worker, sent: signal.Signals) -> None:
        pid = worker(pid_of)
        os.kill(pid, sent)
        assert worker(pid_of) == pid

    def test_it_does_not_outlive_a_service_that_is_killed(self, sqlite_url: str, tmp_path: Path) -> None:
        file = tmp_path / "at work"
        source = (
            "from pathlib import Path\n"
            "from referee.store.store import construct\n"
            "from referee.store.worker import Worker\n"
            "from tests.store.worker_tasks import slept\n"
            f"Worker(construct({sqlite_url!r}).env)(slept, 300, Path({str(file)!r}))\n"
        )
        service = subprocess.Popen([sys.executable, "-c", source], cwd=ROOT)
        try:
            pid = int(until(lambda: file.exists() and file.read_text()))
            assert not is_gone(pid)
        finally:
            service.kill()
            service.wait()
        until(lambda: is_gone(pid) or " Z " in Path(f"/proc/{pid}/stat").read_text())


class TestDesk:
    """J9: a correction of a long match, of which each match here is one."""

    @pytest.fixture(autouse=True)
    def _long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(aside, "LONG_FROM", 1)
        monkeypatch.setattr("referee.store.desk.LONG_FROM", 1)

    @staticmethod
    def stopped(desk: Desk) -> int:
        """Return the id of the process, which does nothing until it is sent SIGCONT."""
        pid = desk.run_on_history(1, pid_of)
        stop(pid)
        return pid

    @staticmethod
    def is_sent(desk: Desk) -> bool:
        """Return whether the pipe to the stopped process has work that it has not read."""
        pipe, unread = desk._worker._pipe, array("i", [0])
        assert pipe is not None
        ioctl(pipe.fileno(), TIOCOUTQ, unread)
        return unread[0] > 0

    def test_it_is_decided_in_the_process(self, store_url: str, desk: Desk) -> None:
        match_id = scored(desk, 1)
        outcome = asked(desk, match_id).result(SECONDS_MAX)
        assert desk.worker_pid is not None
        (recorded,) = outcome.events
        assert outcome.aggregate.play.table.points == recorded.event.points
        assert differences(store_url, match_id) == ()

    def test_a_refusal_comes_from_there(self, desk: Desk) -> None:
        with pytest.raises(Refused) as refusal:
            asked(desk, scored(desk, 1), Correct(why=FIVE.why, strike=(99,))).result(SECONDS_MAX)
        assert (refusal.value.code, refusal.value.rule) == ("no_such_line", "J9")
        assert refusal.value.facts == {"deals": (99,)}

    def test_it_is_decided_again_when_someone_has_acted(self, store_url: str, desk: Desk) -> None:
        match_id = scored(desk, 1)
        pid, version = self.stopped(desk), desk.get(match_id).version
        correction = asked(desk, match_id)
        until(lambda: self.is_sent(desk))
        meanwhile = asked(desk, match_id, another_token(1)).result(SECONDS_MAX)
        os.kill(pid, signal.SIGCONT)
        outcome = correction.result(SECONDS_MAX)
        assert outcome.aggregate.version == version + len(meanwhile.events) + 1
        assert outcome.aggregate.seating.seats[1] == another_token(1).hash
        assert differences(store_url, match_id) == ()

    def test_killed_during_a_decision_nothing_is_stored_and_the_desk_goes_on(
        self, store_url: str, desk: Desk
    ) -> None:
        match_id = scored(desk, 1)
        pid, version = self.stopped(desk), desk.get(match_id).version
        correction = asked(desk, match_id, key="once")
        until(lambda: self.is_sent(desk))
        assert asked(desk, match_id, another_token(1)).result(SECONDS_MAX).aggregate.version > version
        assert not correction.done
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(Busy):
            correction.result(SECONDS_MAX)
        version = desk.get(match_id).version
        again = asked(desk, match_id, key="once").result(SECONDS_MAX)
        assert (again.aggregate.version, again.repeated) == (version + 1, False)
        assert differences(store_url, match_id) == ()

    def test_a_desk_that_closes_does_not_wait_for_it(self, referee: Referee) -> None:
        desk = Desk(referee)
        match_id = scored(desk, 1)
        pid, version = self.stopped(desk), desk.get(match_id).version
        correction = asked(desk, match_id)
        until(lambda: self.is_sent(desk))
        began = time.monotonic()
        desk.close()
        assert time.monotonic() - began < SECONDS_MAX / 2
        with pytest.raises(Busy):
            correction.result(0)
        assert is_gone(pid)
        assert referee.load(match_id).aggregate.version == version
