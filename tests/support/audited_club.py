"""A club with everything that an audit checks, in a store that a test can edit."""

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Self
from uuid import UUID

import msgspec

from api.money.audit_report import Audit, DifferenceSeen, audit_books
from api.money.audit_texts import sentence
from api.personal_data.names import Names, names_file
from api.runtime.projections import Projections
from api.runtime.service import Service
from projections.audit.tree import Checkpoint
from referee.events import PenaltyImposed
from referee.log.facts import LogSigned
from referee.log.tree import HASH_BEFORE_FIRST, leaf_hash
from referee.officials.events.corrections import Why
from referee.officials.rescoring import script
from referee.requests import Correct
from referee.store.command import Command
from referee.store.log import LOG_ID
from referee.store.store import construct, settings_for
from tests.log.bundle_checks import sign
from tests.support.club_client import ClubTable, seated
from tests.support.edited_stores import Editor
from tests.support.match_client import Table
from tests.support.match_driver import seats_and
from tests.support.projection_progress import caught_up

KRONA = {"currency": "SEK", "unit": 100}
SHEET = {
    "bids": seats_and("bid", [0, "1"], [1, "pass"], [2, "pass"]),
    "tricks": [0, 1, 2, 2, 2, 2],
    "exits": [{"seat": 1, "after": 2}],
}
"""Seat 0 takes one trick, seat 1 takes the second, goes home and wins, and seat 2 takes four."""
NOTE = "She had a heart and said no"


class Played(Table):
    """A club's match for money, played as a tally."""

    def __init__(self, club: ClubTable, *, evening: int | None = 1, **opening: Any) -> None:
        self.client = club.client
        body = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"member": member} for member in (2, 1, 3)],
            "dealing": "tally",
            "first_dealer": 2,
            "stakes": KRONA,
            "opening": {"points": [2, 1, 5]},
            "adjudication": {},
            "club": club.id,
            "evening": evening,
        } | opening
        answer = club.client.post("/v1/matches", json=body, headers=club.bearer("founder"))
        assert answer.status_code == 201, answer.text
        self.opened = answer.json()
        self.id, self.path = self.opened["id"], f"/v1/matches/{self.opened['id']}"
        given = {seat["seat"]: seat["token"] for seat in self.opened["seats"]}
        self.tokens: dict[int | str, str] = seated(club.client, self.id) if None in given.values() else given
        self.tokens["official"] = self.opened["official_token"]

    def ends(self) -> None:
        """Enter the only deal, with which seat 1 wins the match."""
        answer = self.post("/acts", {"act": "result", **SHEET}, 0)
        assert answer.status_code == 201, answer.text


class Kept(NamedTuple):
    """The club in the store, its matches (won, corrected, unfinished), and the number of events of each."""

    club: UUID
    won: UUID
    corrected: UUID
    open: UUID
    ends: dict[UUID, int]


def filled(client: Any) -> Kept:
    """Fill a store: members join and leave, matches are played, one is corrected, payments need one or two persons,
    books are closed twice, and the log is signed."""
    club, service = ClubTable(client), client.app.state.service
    for name in ("Berit <b>Borg</b>", "Cesar", "Dag"):
        club.join(name)
    club.issue("berit", "play", "self", member=2)
    club.issue("cesar", "treasury", "self", member=3)
    club.issue("auditor", "audit")
    for member, swish in ((2, "0701740605"), (2, "0701740606"), (4, "0701740607")):
        club.done("set_payee", member=member, swish=swish)
    club.done("open_evening", on="2026-11-22", season="2026/27")
    club.done("opening", account="cash", amount=100000)
    club.done("deposit", member=2, amount=60000, via="bank", evening=1)
    won = Played(club)
    won.ends()
    Played(club).done("abandon", None, reason=NOTE)
    _journal(club)  # the match is entered
    club.done("close_books", label="2026")
    club.done("set", payout_limit=1500)
    club.done("payout", member=2, amount=1000, via="cash")
    waits = club.done("payout", member=2, amount=1000, via="cash")["proposal"]
    club.done("confirm", "cesar", proposal=waits)
    corrected = Played(club, opening={"points": [3, 1, 6]})
    corrected.ends()
    _correct(service, UUID(corrected.id))
    waits = club.done("reverse", entry=_entry_of(club, won.id))["proposal"]
    club.done("confirm", "cesar", proposal=waits)
    club.done("fee", member=3, amount=2500, evening=1)
    club.done("reverse", entry=_last(club))
    club.done("close_books", label="2027")
    club.done("leave", member=4)
    club.done("erase", member=4)
    waits = club.done("pay", "berit", payer=2, payee=3, amount=200)["proposal"]
    club.done("confirm", "cesar", proposal=waits)
    club.done("deposit", member=3, amount=500, via="cash")
    club.done("pay", "berit", payer=2, payee=3, amount=300)
    under_way = Played(club)
    sign(client)
    caught_up(service.projections)  # the signature is a row as well
    ids = UUID(club.id), UUID(won.id), UUID(corrected.id), UUID(under_way.id)
    ends = {one: service.referee.rows(one)[-1].originator_version for one in ids}
    return Kept(*ids, ends)


def _correct(service: Service, match_id: UUID) -> None:
    """Correct a match: its last seat gets one more point, and pays for it."""
    asked = Correct(why=Why(rule="B42"), scripts=(script(1, [PenaltyImposed(seat=2, points=1, rule="B42")]),))
    service.desk.submit(Command(id=match_id, actor="official", request=asked)).result(30)


def _journal(club: ClubTable) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = club.get("/journal?fresh=true&limit=1000").json()["items"]
    return entries


def _entry_of(club: ClubTable, match_id: str) -> int:
    number: int = next(one["number"] for one in _journal(club) if one["cause"].startswith(match_id))
    return number


def _last(club: ClubTable) -> int:
    number: int = _journal(club)[-1]["number"]
    return number


class Auditor:
    """Audits a store by its rows and books. The books do not follow new rows."""

    def __init__(self, url: str) -> None:
        self._referee = construct(url)
        self._books = Projections(self._referee, url)
        self._names = Names(url, self._books.engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._names.close()
        self._books.engine.dispose()
        self._referee.close()

    def audit(self, club: UUID) -> Audit:
        books, last = self._books, None
        for row in self._referee.rows(LOG_ID):
            if row.topic == LogSigned.TOPIC:
                last = msgspec.json.decode(row.state)["event"]
        signed = None if last is None else Checkpoint(last["size"], last["root"])
        return audit_books(books, self._names, club, books.head(), signed, partial(sentence, language="en"), {})


def found(audit: Audit) -> dict[str, tuple[DifferenceSeen, ...]]:
    """Return the differences by check, without the checks that found none."""
    return {one.check: one.differences for one in audit.checks if not one.ok}


class Copy(Editor):
    """An editor over a copy of a SQLite store."""

    def __init__(self, original: Path, place: Path, kept: Kept) -> None:
        shutil.copytree(original, place, dirs_exist_ok=True)
        super().__init__(f"sqlite:///{place}/knacka.db")
        self.kept = kept

    def audit(self) -> Audit:
        with Auditor(self.url) as auditor:
            return auditor.audit(self.kept.club)

    def ledger(self, statement: str, *values: Any) -> None:
        """Change the tables of the ledger with one statement."""
        self.run(statement, *values, books=True)

    def names(self, statement: str, *values: Any) -> None:
        """Change the tables of names with one statement."""
        with closing(sqlite3.connect(names_file(self.url))) as connection, connection:
            connection.execute(statement, values)

    def rewritten(self, whose: UUID, number: int, *, at: str = "event", **fields: Any) -> None:
        """Change fields of an event, calculate the hash chain after it again, and rebuild the books: the attack of an
        editor who lacks only the key of the log."""
        rows = self.run(
            "SELECT originator_version, topic, state FROM {events} WHERE originator_id = ? ORDER BY 1", whose
        )
        head = HASH_BEFORE_FIRST
        for version, topic, state in rows:
            row = msgspec.json.decode(state)
            if version == number:
                (row[at] if at else row).update(fields)
            if version >= number:
                row["prev"] = head
                state = msgspec.json.encode(row)
                self.run(
                    "UPDATE {events} SET state = ? WHERE originator_id = ? AND originator_version = ?",
                    state,
                    whose,
                    version,
                )
            head = leaf_hash(str(whose), version, topic, bytes(state)).hex()
        self.rebuild()

    def put_back(self, rows: Sequence[Sequence[Any]]) -> None:
        """Restore the original rows."""
        file = settings_for(self.url)["SQLITE_DBNAME"]
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("DELETE FROM stored_events")
            columns = "rowid, originator_id, originator_version, topic, state"
            connection.executemany(f"INSERT INTO stored_events ({columns}) VALUES (?, ?, ?, ?, ?)", rows)

    def rebuild(self) -> None:
        """Rebuild the books of the ledger and the log."""
        with construct(self.url) as referee:
            books = Projections(referee, self.url)
            books.rebuild(books.ledger.name, books.tree.name)
            books.engine.dispose()

    def number_of(self, whose: UUID, topic: str, place: int = 0) -> int:
        """Return the number of one event of a topic."""
        rows = self.run(
            "SELECT originator_version FROM {events} WHERE originator_id = ? AND topic = ? ORDER BY 1", whose, topic
        )
        number: int = rows[place][0]
        return number


# Edits of one place


def flipped(editor: Editor, kept: Kept, chance: Random) -> str:
    """Flip a bit of a row."""
    whose, number = _some_row(kept, chance)
    place = chance.random()
    bit = 1 << chance.randrange(8)

    def change(state: bytes) -> bytes:
        at = int(place * len(state))
        return state[:at] + bytes([state[at] ^ bit]) + state[at + 1 :]

    editor.edit(whose, number, change)
    return f"a bit of event {number} of {whose}"


def deleted(editor: Editor, kept: Kept, chance: Random) -> str:
    whose, number = _some_row(kept, chance)
    editor.delete(whose, number, number)
    return f"event {number} of {whose}"


def swapped(editor: Editor, kept: Kept, chance: Random) -> str:
    """Swap the numbers of two rows."""
    whose, number = _some_row(kept, chance)
    other = chance.choice([one for one in range(1, kept.ends[whose] + 1) if one != number] or [number + 1])
    editor.renumber(whose, number, 100_000)
    editor.renumber(whose, other, number)
    editor.renumber(whose, 100_000, other)
    return f"events {number} and {other} of {whose}"


WAYS: tuple[Callable[[Editor, Kept, Random], str], ...] = (flipped, deleted, swapped)


def _some_row(kept: Kept, chance: Random) -> tuple[UUID, int]:
    whose = chance.choice(list(kept.ends))
    return whose, chance.randint(1, kept.ends[whose])


def not_found(original: Path, kept: Kept, tries: int, seed: int, place: Path) -> list[str]:
    """Edit the club's rows in one place, ``tries`` times, each time restored. Return the edits that were not
    found."""
    chance, missed, copy = Random(seed), [], Copy(original, place / "edited", kept)
    rows = copy.run("SELECT rowid, * FROM {events}")
    with Auditor(copy.url) as auditor:
        for _ in range(tries):
            what = chance.choice(WAYS)(copy, kept, chance)
            if auditor.audit(kept.club).ok:
                missed.append(what)
            copy.put_back(rows)
        assert auditor.audit(kept.club).ok, "what was there is put back"
    return missed
