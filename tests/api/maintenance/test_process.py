"""The service as a process: killed, and maintained from the command line."""

import signal
import threading
import time
from itertools import cycle
from pathlib import Path

import httpx
import pytest

from referee.store.store import construct
from tests.support.match_client import Table
from tests.support.paths import ROOT
from tests.support.running_service import knacka, running


class TestKilled:
    def test_killed_it_loses_nothing_that_was_answered(self, store_url: str) -> None:
        answered: dict[str, int] = {}

        def play(address: str, stop: threading.Event) -> None:
            with httpx.Client(base_url=address) as client:
                try:
                    table = Table(client, dealing="house")
                    acts = cycle((("deal", 0), ("void", None)))
                    while not stop.is_set():
                        answered[table.id] = table.done(*next(acts))["version"]
                except httpx.TransportError:
                    return

        with running(store_url) as process:
            stop = threading.Event()
            players = [threading.Thread(target=play, args=(process.address, stop)) for _ in range(4)]
            for player in players:
                player.start()
            until = time.monotonic() + 20  # a loaded machine may need long for the first answer
            while not answered and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.5)
            process.end(signal.SIGKILL, 5)
            stop.set()
            for player in players:
                player.join()
        assert answered
        with running(store_url) as process:
            for match_id, version in answered.items():
                page = httpx.get(f"{process.address}/v1/matches/{match_id}").json()
                assert page["version"] >= version
                protocol = httpx.get(f"{process.address}/v1/matches/{match_id}/protocol").json()
                assert protocol["version"] == page["version"]
            assert process.end(signal.SIGTERM, 10) in (0, -signal.SIGTERM)
        match_id = next(iter(answered))
        verified = knacka("verify", match_id, KNACKA_DATABASE_URL=store_url)
        assert verified.returncode == 0
        assert "no differences" in verified.stdout


class TestFiles:
    def test_the_store_is_its_owners_alone(self, tmp_path: Path) -> None:
        with running(f"sqlite:///{tmp_path}/knacka.db") as process, httpx.Client(base_url=process.address) as client:
            table = Table(client)
            assert table.get("/protocol").status_code == 200
            modes = {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()}
        assert modes.keys() >= {
            f"{name}.db{end}" for name in ("knacka", "knacka-books") for end in ("", "-shm", "-wal")
        }
        assert set(modes.values()) == {"0o600"}

    def test_a_file_that_other_users_may_open_is_reported(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/knacka.db"
        assert knacka("rebuild", KNACKA_DATABASE_URL=url).stderr == ""
        books = tmp_path / "knacka-books.db"
        books.chmod(0o640)
        body = knacka("rebuild", KNACKA_DATABASE_URL=url).stderr
        assert f"{books} can be opened by other users of this machine: chmod 600 {books}" in body
        assert "knacka.db" not in body


class TestCommandLine:
    def test_a_book_is_rebuilt(self, sqlite_url: str) -> None:
        done = knacka("rebuild", "protocols", KNACKA_DATABASE_URL=sqlite_url)
        assert (done.returncode, done.stdout) == (0, "protocols rebuilt to position 0\n")
        assert knacka("rebuild", "pots", KNACKA_DATABASE_URL=sqlite_url).stdout == "pots rebuilt to position 0\n"
        whole = knacka("rebuild", KNACKA_DATABASE_URL=sqlite_url)
        assert whole.stdout == "protocols, cases, matches, pots, ledger, log rebuilt to position 0\n"
        assert knacka("rebuild", "all", KNACKA_DATABASE_URL=sqlite_url).stdout == whole.stdout
        wrong = knacka("rebuild", "cookbook", KNACKA_DATABASE_URL=sqlite_url)
        assert wrong.returncode == 2
        assert (
            wrong.stderr
            == "unknown projection 'cookbook': name one of protocols, cases, matches, pots, ledger, log\n"
        )

    @pytest.mark.parametrize("match", ["x", "00000000-0000-0000-0000-000000000000"])
    def test_there_is_nothing_to_verify_of_a_match_there_is_not(self, sqlite_url: str, match: str) -> None:
        construct(sqlite_url).close()  # `knacka verify` creates no store
        done = knacka("verify", match, KNACKA_DATABASE_URL=sqlite_url)
        assert done.returncode == 2
        assert match in done.stderr

    @pytest.mark.parametrize(
        ("name", "value", "says"),
        [
            ("KNACKA_PORT", "many", "KNACKA_PORT: Expected `int`, got `str`"),
            ("KNACKA_LOG_LEVEL", "loud", "KNACKA_LOG_LEVEL: Invalid enum value 'loud'"),
            ("KNACKA_DATABASE_URL", "mysql://x", "KNACKA_DATABASE_URL: unknown store 'mysql'"),
            ("KNACKA_CACHE_MEGABYTES", "0", "KNACKA_CACHE_MEGABYTES: Expected `int` >= 1"),
        ],
    )
    def test_a_setting_that_cannot_be_is_named(self, name: str, value: str, says: str) -> None:
        done = knacka("serve", **{name: value})
        assert done.returncode == 2
        assert done.stderr.startswith(says)


def test_the_description_of_the_interface_is_up_to_date() -> None:
    done = knacka("openapi")
    assert done.returncode == 0
    kept = Path(ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8")
    assert done.stdout == kept, "make openapi"
