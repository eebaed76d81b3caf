"""The checks of clubs' books and of checkpoints detect each fault."""

import shutil
from copy import deepcopy
from pathlib import Path

import pytest

from api.app import create_app
from api.settings import Settings
from projections.follow.projection import LIVE
from projections.ledger import Ledger
from referee.log.notes import Checkpoint, signed_note
from tests.faults import books_check
from tests.faults.books_check import Seen, look
from tests.faults.steps import KEY
from tests.log.bundle_checks import sign
from tests.support.club_client import ClubTable
from tests.support.edited_stores import Editor
from tests.support.service_in_memory import Client


class Store:
    """A store, and the faults found in it."""

    def __init__(self, folder: Path, seen: Seen) -> None:
        self.url, self.note, self.seen = f"sqlite:///{folder}/knacka.db", folder / "knacka.note", seen

    def found(self) -> list[str]:
        wrong: list[str] = []
        look(self.url, self.note, self.seen, lambda kind, how: wrong.append(f"{kind}: {how}"))
        return wrong


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Seen]:
    """Return a club with some entries and a closing, signed and without faults, and the record of its answers."""
    folder = tmp_path_factory.mktemp("kept")
    store = Store(folder, Seen())
    settings = Settings(database_url=store.url, log_key=KEY.private_text, log_file=str(store.note))
    with Client(create_app(settings)) as client:
        club = ClubTable(client)
        club.done("deposit", member=1, amount=500, via="cash")
        club.done("fee", member=1, amount=50)
        club.done("close_books", label="2026")
        sign(client)
        assert store.found() == []
    return folder, store.seen


@pytest.fixture
def store(kept: tuple[Path, Seen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a copy of that store, whose projections are no longer updated."""
    folder, seen = kept
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(books_check, "CATCH_UP_SECONDS", 0.0)
    return Store(tmp_path, deepcopy(seen))


@pytest.fixture
def editor(store: Store) -> Editor:
    return Editor(store.url)


def test_an_entry_that_is_not_there(store: Store, editor: Editor) -> None:
    editor.run(f"DELETE FROM {LIVE}{Ledger.key}_postings WHERE number = 2", books=True)
    assert store.found() == ["books: the ledger is not what its events make"]


def test_a_journal_that_is_another(store: Store, editor: Editor) -> None:
    store.seen.journals[next(iter(store.seen.journals))].reverse()
    assert [how.partition(":")[0] for how in store.found()] == ["books"]


def test_a_closing_that_was_answered_otherwise(store: Store) -> None:
    store.seen.closed[next(iter(store.seen.journals)), 1] = "0" * 64
    (found,) = store.found()
    assert found.startswith("lost: closing")


def test_a_checkpoint_of_other_rows(store: Store) -> None:
    store.note.write_text(signed_note(Checkpoint(origin=KEY.name, size=2, root=bytes(32)), (KEY,)))
    assert store.found() == [
        "books: the checkpoint of 2 rows is not of those that are stored",
        "lost: the last checkpoint is not in its file",
    ]


def test_a_checkpoint_that_is_not_on_record(store: Store) -> None:
    store.seen.notes.add("told to somebody")
    (found,) = store.found()
    assert found.startswith("lost: checkpoints were told that are not on record")


def test_a_posting_that_is_lost_or_entered_twice(store: Store) -> None:
    (club,) = store.seen.journals
    with books_check.construct(store.url) as referee:
        events = [one for one in referee.history(club) if one.event.TOPIC == "money/posted"]
    for posted, kind in ((events[:1], "twice"), ([*events, events[0]], "lost")):
        wrong: dict[str, str] = {}
        books_check._entered(dict(store.seen.journals), posted, Seen(), wrong.setdefault)
        assert wrong.keys() == {kind}
