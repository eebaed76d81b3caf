"""The log is signed at intervals, each checkpoint once, and never with two histories, although processes may
crash."""

import random
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import httpx
import pytest

from api.maintenance.doctor import problems
from api.maintenance.verify import verify
from api.runtime.checkpoint_file import CheckpointFile, file_for
from api.runtime.projections import Projections
from api.runtime.signer import Signer
from projections.follow.engine import engine_for_writes
from projections.follow.follow import engine_for, rebuild
from projections.follow.projection import apply_page
from projections.log import Log
from referee.log.facts import LogSigned
from referee.log.notes import Checkpoint, checkpoint_in, signed_note
from referee.log.tree import TILE_WIDTH
from referee.store.command import Busy, Stale
from referee.store.desk import Desk
from referee.store.log import LOG_ID
from referee.store.store import Referee, construct
from tests.log.bundle_checks import KEY, LATER, SOON, followed, played, sign
from tests.projections.filled_log import reader
from tests.support.match_client import Table
from tests.support.projection_progress import caught_up
from tests.support.random_matches import opened, play_out
from tests.support.running_service import running
from tests.support.service_in_memory import client_of


class Parts(NamedTuple):
    referee: Referee
    desk: Desk
    books: Projections
    signer: Signer
    kept: CheckpointFile

    def play(self, acts: int = 5) -> UUID:
        """Return a match whose rows the projection has applied."""
        match = opened(self.desk, deal_ritual=False)
        list(play_out(self.desk, match, acts))
        caught_up(self.books)
        return match

    def look(self) -> bool:
        """Let the signer look at the log once."""
        caught_up(self.books)
        return self.signer.sign(at_once=False)


@contextmanager
def parts(url: str, file: Path | None, seconds: float = 3600.0) -> Iterator[Parts]:
    """Yield the parts of a signer whose thread has not begun."""
    with construct(url) as referee:
        books = Projections(referee, url)
        desk = Desk(referee, committed=lambda _: books.follower.wake())
        kept = CheckpointFile(file)
        signer = Signer(books, desk, [KEY], kept, seconds=seconds)
        books.start()
        try:
            yield Parts(referee, desk, books, signer, kept)
        finally:
            signer.close()
            desk.close()
            books.close()


def signatures(url: str) -> list[tuple[Any, LogSigned]]:
    """Return the signed checkpoints, after a check against the tree calculated from all rows."""
    with construct(url) as referee:
        history = referee.history(LOG_ID)
        engine = engine_for(url)
        rebuild(reader(referee), engine, projection := Log())
        found = []
        with engine.connect() as connection:
            size = projection.size(connection)
            for recorded in history[1:]:
                event = recorded.event
                assert isinstance(event, LogSigned)
                assert event.size < size, "its own row is behind what it signs"
                assert projection.tree(connection, event.size).root().hex() == event.root
                true = checkpoint_in(event.note)
                assert event.note == signed_note(true, [KEY])
                assert (true.size, true.root.hex()) == (event.size, event.root)
                found.append((recorded.at, event))
        engine.dispose()
    assert all(one.size < other.size for (_, one), (_, other) in pairwise(found))
    return found


class TestWhenItSigns:
    def test_new_rows_are_signed_and_the_checkpoint_is_stored(self, store_url: str, tmp_path: Path) -> None:
        with parts(store_url, tmp_path / "note") as log:
            assert not log.look(), "no row is new"
            log.play()
            assert log.look()
            assert log.kept.read() == checkpoint_in(signatures(store_url)[-1][1].note)
            log.play()
            assert not log.look(), "not so soon again"
            assert log.signer.sign(at_once=True), "a request can ask for a signature"
        assert len(signatures(store_url)) == 2

    def test_a_signature_alone_is_not_signed_again(self, store_url: str, tmp_path: Path) -> None:
        with parts(store_url, tmp_path / "note", seconds=0) as log:
            log.play()
            assert log.look()
            assert [log.look() for _ in range(3)] == [False] * 3
            log.play()
            assert [log.look() for _ in range(3)] == [True, False, False]
        assert len(signatures(store_url)) == 2

    def test_a_row_before_a_signature_that_the_tree_does_not_have_yet_is_signed(
        self, sqlite_url: str, tmp_path: Path
    ) -> None:
        """The row was stored while the signature under way was made."""
        with parts(sqlite_url, tmp_path / "note", seconds=0) as log:
            log.play()
            assert log.look()
            match = log.play()
            log.books.follower.close()
            list(play_out(log.desk, match, 1))
            assert log.signer.sign(at_once=True), "the rows before that one"
            at = log.books.follower.positions()[log.books.tree.name]
            page = reader(log.referee)(at, log.books.head() - at - 1)
            with engine_for_writes(log.books.engine).begin() as connection:
                apply_page(connection, log.books.tree, log.books.tree.key, at, page, False)
            assert log.signer.sign(at_once=True)

    def test_a_row_beside_the_signature_is_signed_with_what_comes_next(self, sqlite_url: str, tmp_path: Path) -> None:
        """A row stored between the look and the signature is never lost: the size shows it."""
        with parts(sqlite_url, tmp_path / "note", seconds=0) as log:
            match = log.play()
            submit = log.desk.submit

            def late(command: Any) -> Any:
                log.desk.submit = submit
                list(play_out(log.desk, match, 1, seed=9))
                return submit(command)

            log.look()
            log.play(2)
            log.desk.submit = late
            assert log.look()
            log.play(2)
            assert log.look()
        assert len(signatures(sqlite_url)) == 3

    def test_without_a_key_nothing_is_signed(self, sqlite_url: str) -> None:
        with client_of(sqlite_url) as client:
            Table(client)
            assert client.app.state.service.signer is None
            said = client.get("/v1/log").json()
            assert said == {"origin": None, "vkeys": [], "signed": None}
            assert client.get("/v1/log/checkpoint").json()["type"] == "/problems/log-unsigned"


class TestTwoOfThem:
    def test_two_processes_sign_one_history_and_not_twice_in_the_time(
        self, postgres_url: str, tmp_path: Path
    ) -> None:
        seconds, files = 0.2, (tmp_path / "one", tmp_path / "other")
        with parts(postgres_url, files[0], seconds) as one, parts(postgres_url, files[1], seconds) as other:
            for log in (one, other):
                log.signer._look_seconds = 0.02
                log.signer.start()
            ends = time.monotonic() + 2
            while time.monotonic() < ends:
                one.play(2)
                other.play(2)
            heads = [log.kept.read() for log in (one, other)]
        found = signatures(postgres_url)
        assert len(found) >= 4
        for (before, _), (after, _) in pairwise(found):
            assert (after - before).total_seconds() >= seconds
        sizes = {event.size for _, event in found}
        assert all(head is not None and head.size >= max(sizes) - 200 for head in heads)

    def test_the_one_that_comes_too_late_signs_nothing(self, postgres_url: str, tmp_path: Path) -> None:
        with (
            parts(postgres_url, tmp_path / "one", 0) as one,
            parts(postgres_url, tmp_path / "other", 0) as other,
        ):
            one.play()
            assert one.look()
            caught_up(other.books)
            assert not other.look()
            one.play()
            both = threading.Barrier(2)
            for log in (one, other):
                caught_up(log.books)
                submit = log.desk.submit

                def at_once(command: Any, submit: Any = submit) -> Any:
                    both.wait(SOON)
                    return submit(command)

                log.desk.submit = at_once
            done: list[bool | type[Exception]] = []

            def look(log: Parts) -> None:
                try:
                    done.append(log.look())
                except (Stale, Busy) as error:
                    done.append(type(error))

            threads = [threading.Thread(target=look, args=[log]) for log in (one, other)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(map(str, done)) == [str(Stale), "True"]
        assert len(signatures(postgres_url)) == 2


class TestCrashes:
    @pytest.mark.parametrize("where", ["before the file", "before the record", "after the record"])
    def test_between_two_steps(
        self, store_url: str, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Rows without a signature are signed later, signed rows not twice, and the file is never behind."""

        class Fallen(BaseException):
            pass

        def fall(*_: Any, **__: Any) -> Any:
            raise Fallen

        with parts(store_url, tmp_path / "note", seconds=0) as log:
            log.play()
            assert log.look()
            log.play()
            if where == "before the file":
                monkeypatch.setattr(log.kept, "write", lambda note: None if "\n2\n" in note else fall())
            elif where == "before the record":
                monkeypatch.setattr(log.desk, "submit", fall)
            else:
                submit = log.desk.submit
                monkeypatch.setattr(log.desk, "submit", lambda command: (submit(command).result(), fall()))
            with pytest.raises(Fallen):
                log.look()
            monkeypatch.undo()
        recorded = len(signatures(store_url))
        assert recorded == (2 if where == "after the record" else 1)
        with parts(store_url, tmp_path / "note", seconds=0) as log:
            assert log.look() == (recorded == 1)
            assert log.signer.trouble is None
            assert log.kept.read() == checkpoint_in(signatures(store_url)[-1][1].note)
        assert len(signatures(store_url)) == 2

    def test_killed_at_any_moment(self, sqlite_url: str, tmp_path: Path) -> None:
        chance, file = random.Random(7), file_for(sqlite_url, "")
        assert file is not None
        settings = {"KNACKA_LOG_KEY": KEY.private_text, "KNACKA_LOG_SECONDS": "1"}
        for _ in range(4):
            with running(sqlite_url, **settings) as process, httpx.Client(base_url=process.address) as client:
                ends = time.monotonic() + 1 + chance.random()
                while time.monotonic() < ends:
                    Table(client)
                    time.sleep(0.05)
                process.end(signal.SIGKILL, 10)
        found = signatures(sqlite_url)
        assert len(found) >= 2
        for (before, _), (after, _) in pairwise(found):
            assert (after - before).total_seconds() >= 1
        kept = CheckpointFile(file).read()
        assert kept is not None
        assert kept.size >= found[-1][1].size
        said: list[str] = []
        assert verify(sqlite_url, None, said.append, said.append) == 0, said


class TestAnOlderBackup:
    def test_nothing_is_signed_on_it(self, sqlite_url: str, tmp_path: Path) -> None:
        """Readiness and doctor say so, until the newer store is back."""
        place, backup = Path(sqlite_url.removeprefix("sqlite:///")).parent, tmp_path / "backup"
        settings = {"log_key": KEY.private_text}
        environment = {"KNACKA_DATABASE_URL": sqlite_url, "KNACKA_LOG_KEY": KEY.private_text}
        with client_of(sqlite_url, **settings) as client:
            played(client, 1)
            sign(client)
            followed(client)
        stores = [file for file in place.iterdir() if file.name.startswith("knacka") and ".db" in file.name]
        backup.mkdir()
        for file in stores:
            shutil.copy2(file, backup)
        with client_of(sqlite_url, **settings) as client:
            played(client, 1)
            last = sign(client)
            followed(client)
            assert client.get("/health/ready").status_code == 200
        newer = tmp_path / "newer"
        newer.mkdir()
        assert not [problem for problem in problems(environment) if "checkpoint" in problem]
        for file in stores:
            shutil.move(file, newer)
        for file in backup.iterdir():
            shutil.copy2(file, place)
        assert [problem for problem in problems(environment) if "does not extend the checkpoint" in problem]
        with client_of(sqlite_url, **settings) as client:
            first = sign(client)
            ready = client.get("/health/ready", headers={"Accept-Language": "sv"})
            assert ready.status_code == 503
            (reason,) = ready.json()["facts"]["reasons"]
            assert (reason["code"], reason["size"]) == ("log_forked", checkpoint_in(last).size)
            played(client, 2)
            assert sign(client) == first, "not though it has become as long"
            assert client.get("/health/ready").status_code == 503
        for file in place.glob("knacka*.db*"):
            file.unlink()
        for file in newer.iterdir():
            shutil.move(file, place)
        with client_of(sqlite_url, **settings) as client:
            assert sign(client) == last
            assert client.get("/health/ready").status_code == 200
            played(client, 1)
            assert sign(client) != last

    def test_a_file_that_cannot_be_read_stops_it_too(self, sqlite_url: str, tmp_path: Path) -> None:
        file = tmp_path / "note"
        with parts(sqlite_url, file) as log:
            log.play()
            file.write_text("a checkpoint, perhaps")
            assert not log.look()
            assert log.signer.trouble == {"code": "log_note_unreadable", "kind": "ValueError"}
            file.unlink()
            assert log.look()
            assert log.signer.trouble is None

    def test_a_row_that_was_changed_after_it_was_signed_stops_it(self, sqlite_url: str) -> None:
        """The rebuilt projection of the log shows the change, also without the file."""
        with parts(sqlite_url, None) as log:
            log.play()
            assert log.look()
            with log.referee.recorder.datastore.transaction(commit=True) as cursor:
                cursor.execute("UPDATE stored_events SET state = replace(state, 'P2', 'P9') WHERE rowid = 1")
            log.books.rebuild("log")
            assert not log.signer.sign(at_once=True)
            assert log.signer.trouble is not None
            assert log.signer.trouble["code"] == "log_forked"


class TestTheFile:
    def test_an_older_note_does_not_take_the_place_of_a_newer(self, tmp_path: Path) -> None:
        kept = CheckpointFile(tmp_path / "note")
        notes = [signed_note(Checkpoint(origin=KEY.name, size=size, root=bytes(32)), [KEY]) for size in (3, 9, 7)]
        for note in notes:
            kept.write(note)
        found = kept.read()
        assert found is not None
        assert found.size == 9

    def test_the_checkpoint_file_follows_the_settings(self) -> None:
        assert file_for("sqlite:////data/knacka.db", "") == Path("/data/knacka-log.note")
        assert file_for("postgresql:///knacka", "") is None
        assert file_for("postgresql:///knacka", "/data/note") == Path("/data/note")

    def test_doctor_misses_one_that_was_deleted(self, sqlite_url: str) -> None:
        """Without the file a store that was restored to an older state would be signed again."""
        environment = {"KNACKA_DATABASE_URL": sqlite_url, "KNACKA_LOG_KEY": KEY.private_text}
        with client_of(sqlite_url, log_key=KEY.private_text) as client:
            Table(client)
            sign(client)
        file = file_for(sqlite_url, "")
        assert file is not None
        assert not [problem for problem in problems(environment) if str(file) in problem]
        file.unlink()
        assert [problem for problem in problems(environment) if f"{file} is missing" in problem]

    def test_on_postgresql_doctor_asks_for_one(self, postgres_url: str, tmp_path: Path) -> None:
        environment = {"KNACKA_DATABASE_URL": postgres_url, "KNACKA_LOG_KEY": KEY.private_text}
        with client_of(postgres_url):
            pass
        assert [problem for problem in problems(environment) if "set KNACKA_LOG_FILE" in problem]
        assert not list(problems({**environment, "KNACKA_LOG_FILE": str(tmp_path / "note")}))


def test_while_keys_change_both_sign(sqlite_url: str) -> None:
    with client_of(sqlite_url, log_key=LATER.private_text, log_key_old=KEY.private_text) as client:
        Table(client)
        note = sign(client)
        assert note == signed_note(checkpoint_in(note), (LATER, KEY))
        assert client.get("/v1/log").json()["vkeys"] == [LATER.vkey, KEY.vkey]


class TestVerify:
    """``knacka verify`` holds the tree and every checkpoint on record against the rows."""

    def said(self, url: str) -> tuple[int, list[str]]:
        lines: list[str] = []
        return verify(url, None, lines.append, lambda line: None), lines

    def test_a_signed_log_agrees_with_itself(self, store_url: str, tmp_path: Path) -> None:
        with parts(store_url, tmp_path / "note", seconds=0) as log:
            for _ in range(2):
                log.play(60)
                assert log.look()
            caught_up(log.books)
        assert self.said(store_url)[0] == 0

    def test_a_changed_tile_is_reported(self, sqlite_url: str) -> None:
        with parts(sqlite_url, None) as log:
            log.play()
            with log.books.engine.begin() as connection:
                connection.exec_driver_sql("UPDATE book_log_tiles SET hashes = zeroblob(length(hashes))")
        assert self.said(sqlite_url)[1][0].startswith("projection log: tile 0 of level 0 does not match the rows")

    @pytest.mark.parametrize("level", [0, 1])
    def test_a_missing_tile_is_reported(self, sqlite_url: str, level: int) -> None:
        """The projections continue, because they do not need the tile yet."""
        with parts(sqlite_url, None) as log:
            while log.books.head() <= TILE_WIDTH:
                log.play(100)
            with log.books.engine.begin() as connection:
                connection.exec_driver_sql(f"DELETE FROM book_log_tiles WHERE level = {level} AND number = 0")
            log.play(2)
        code, lines = self.said(sqlite_url)
        assert code == 1
        assert lines[0] == f"projection log: tile 0 of level {level} is missing: `knacka rebuild log`"

    def test_a_row_inserted_before_signed_rows_is_reported(self, sqlite_url: str) -> None:
        """Each match still agrees with itself: only the order of the log does not."""
        with parts(sqlite_url, None) as log:
            log.play()
            assert log.look()
            with log.referee.recorder.datastore.transaction(commit=True) as cursor:
                cursor.execute("UPDATE stored_events SET rowid = -rowid WHERE rowid <= 2")
                cursor.execute("UPDATE stored_events SET rowid = 3 + rowid WHERE rowid < 0")
            log.books.rebuild("log")
        code, lines = self.said(sqlite_url)
        assert code == 1
        assert lines[0].startswith("the checkpoint of ")
