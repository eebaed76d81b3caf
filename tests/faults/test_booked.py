"""What is looked for in the books of clubs and in the checkpoints, is found."""

from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from api.app import create_app
from api.settings import Settings
from projections.follow.keeping import LIVE
from projections.ledger import Ledger
from referee.log.notes import Checkpoint, signed
from tests.api.club import ClubTable
from tests.edited import Editor
from tests.faults import booked
from tests.faults.booked import Seen, look
from tests.faults.steps import KEY


class Store:
    """A club with some entries and a closing, signed; and what is found of it."""

    def __init__(self, client: TestClient[Litestar], url: str, note: Path) -> None:
        self.url, self.note, self.seen = url, note, Seen()
        self.club = ClubTable(client)
        self.club.done("deposit", member=1, amount=500, via="cash")
        self.club.done("fee", member=1, amount=50)
        self.club.done("close_books", label="2026")
        assert client.app.state.service.signer.sign_now()
        assert self.found() == []

    def found(self) -> list[str]:
        wrong: list[str] = []
        look(self.url, self.note, self.seen, lambda kind, how: wrong.append(f"{kind}: {how}"))
        return wrong


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    url, note = f"sqlite:///{tmp_path}/knacka.db", tmp_path / "knacka.note"
    settings = Settings(database_url=url, log_key=KEY.written, log_file=str(note))
    with TestClient[Litestar](create_app(settings)) as client:
        monkeypatch.setattr(booked, "CATCH_UP_SECONDS", 5.0)
        made = Store(client, url, note)
    monkeypatch.setattr(booked, "CATCH_UP_SECONDS", 0.0)
    return made


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
    store.note.write_text(signed(Checkpoint(origin=KEY.name, size=2, root=bytes(32)), (KEY,)))
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
    with booked.construct(store.url) as referee:
        events = [one for one in referee.history(club) if one.event.TOPIC == "money/posted"]
    for posted, kind in ((events[:1], "twice"), ([*events, events[0]], "lost")):
        wrong: dict[str, str] = {}
        booked._entered(dict(store.seen.journals), posted, Seen(), wrong.setdefault)
        assert wrong.keys() == {kind}
