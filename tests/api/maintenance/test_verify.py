"""``knacka verify`` proves the stored rows: it names every change by hand, on either database."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from api.cli import main
from api.maintenance import verify as verification
from api.maintenance.raw_store import POSITIONS, SET_ASIDE, StoreReader
from referee.store.desk import Desk
from referee.store.log import LOG_ID
from referee.store.store import construct
from tests.log.bundle_checks import KEY, sign
from tests.support.club_client import ClubTable
from tests.support.databases import Postgres, empty_database, keep_rows, put_rows_back
from tests.support.edited_stores import Editor, Matches, differences, fill, said
from tests.support.match_client import Table
from tests.support.random_matches import play_out
from tests.support.service_in_memory import client_of

UNUSED_BIT = bytes.maketrans(b"AQgw", b"BRhx")
"""Sets the last bit of the last base64 character of 16 bytes. No byte uses that bit."""


@pytest.fixture(scope="module")
def postgres_kept(postgres: Postgres, matches: Matches) -> Iterator[str]:
    """Yield the URL of a database with such a store, and with a second copy of all its rows."""
    with empty_database(postgres) as url:
        fill(url, matches)
        keep_rows(url)
        yield url


@pytest.fixture
def postgres_editor(postgres_kept: str) -> Iterator[Editor]:
    """Yield an editor of that database. Its rows are restored afterwards, which is faster than a copy of the
    database."""
    yield Editor(postgres_kept)
    put_rows_back(postgres_kept)


@pytest.fixture
def match_id(matches: Matches) -> UUID:
    """Return the id of the match that is edited."""
    return matches.ids[0]


@pytest.fixture
def last(matches: Matches) -> int:
    """Return the number of the last event of that match."""
    return max(row.originator_version for row in matches.rows if row.originator_id == matches.ids[0])


def numbers(matches: Matches, topic: str) -> list[int]:
    """Return the numbers of the events of this topic in the match that is edited."""
    rows = [row for row in matches.rows if row.originator_id == matches.ids[0]]
    return [row.originator_version for row in rows if row.topic == topic]


def event(**fields: Any) -> Callable[[bytes], bytes]:
    """Return a function that changes fields of the event in a row."""

    def changed(state: bytes) -> bytes:
        row = json.loads(state)
        row["event"] |= fields
        return json.dumps(row, separators=(",", ":")).encode()

    return changed


def aggregate(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    """Return a function that changes the aggregate in a snapshot."""

    def changed(state: bytes) -> bytes:
        row = json.loads(state)
        change(row["aggregate"])
        return json.dumps(row, separators=(",", ":")).encode()

    return changed


def names(url: str, match_id: UUID, number: int, what: str) -> None:
    """Assert that ``knacka verify`` exits with 1 and names this fault, with the match and the event, and no other
    match."""
    code, lines = said(url)
    assert code == 1
    place = f"match {match_id}: event {number}: " if number else f"match {match_id}: "
    assert [line for line in lines if line.startswith(place) and re.search(what, line)], "\n".join(lines)
    # The log has the rows of all matches.
    others = [line for line in lines[:-1] if not line.startswith("projection log: ")]
    assert all(line.startswith(f"match {match_id}: ") for line in others), "\n".join(lines)


class TestUnchangedStores:
    def test_matches_of_all_games_hold(self, store_url: str, all_games: Matches) -> None:
        fill(store_url, all_games)
        events = len(all_games.rows)
        whole = f"5 matches: {events} events, no differences: chain, decisions, snapshots and projections agree"
        assert said(store_url) == (0, [whole])
        assert {row.originator_id for row in all_games.snapshots} == set(all_games.ids)

    def test_invitations_that_seats_made_and_redeemed_hold(self, store_url: str) -> None:
        with client_of(store_url) as client:
            table = Table(client)
            for who in (1, "official"):
                for wanted in ({"seat": 1}, {"role": "scribe"}) if who == "official" else ({"seat": 1},):
                    code = table.post("/invitations", wanted, who).json()["code"]
                    taken = client.post(f"/v1/invitations/{code}")
                    assert taken.status_code == 201, taken.text
                    table.tokens[taken.json()["seat"]] = taken.json()["token"]
        assert said(store_url)[0] == 0

    def test_books_may_be_behind_or_not_there(self, store_url: str, matches: Matches) -> None:
        fill(store_url, matches, books=False)
        assert said(store_url)[0] == 0

    def test_nothing_is_created_or_changed(self, sqlite_url: str, tmp_path: Path, matches: Matches) -> None:
        with pytest.raises(FileNotFoundError, match=f"there is no file {tmp_path}/knacka.db"):
            said(sqlite_url)
        assert list(tmp_path.iterdir()) == []
        fill(sqlite_url, matches)
        before = {path.name: path.read_bytes() for path in tmp_path.glob("*.db")}
        assert said(sqlite_url)[0] == 0
        assert {path.name: path.read_bytes() for path in tmp_path.glob("*.db")} == before

    def test_progress_is_reported_periodically(
        self, editor: Editor, matches: Matches, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(verification, "PROGRESS_SECONDS", 0)
        lines: list[str] = []
        assert verification.verify(editor.url, None, lines.append, lines.append) == 0
        assert re.fullmatch(r"2 matches, \d+ events, \d+ a second: 0 differences", lines[-2])

    def test_acts_may_be_done_while_it_reads(
        self, editor: Editor, match_id: UUID, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Books and snapshots are read before the rows, so acts in between only add rows."""
        read = StoreReader.pages_of_rows

        def pages_of_rows(stored: StoreReader, aggregate_id: str) -> Any:
            with construct(editor.url) as referee:
                desk = Desk(referee)
                list(play_out(desk, UUID(aggregate_id), 20))
                desk.close()
            return read(stored, aggregate_id)

        monkeypatch.setattr(StoreReader, "pages_of_rows", pages_of_rows)
        assert differences(editor.url, match_id) == ()


class TestRows:
    def test_an_edited_row(self, editor: Editor, match_id: UUID, matches: Matches) -> None:
        number = numbers(matches, "card/played")[3]
        editor.edit(match_id, number, event(card="C2"))
        names(editor.url, match_id, number, 'today\'s rules decide differently: card is "C2", not ')
        names(editor.url, match_id, number + 1, f"chain is broken before it: .* hash of event {number}")

    def test_the_last_row(self, editor: Editor, match_id: UUID, last: int) -> None:
        """No later row has the hash of the last row, but its request determines its event."""
        editor.edit(match_id, last, lambda row: re.sub(rb'"card":"[^"]+"}$|"seat":\d', b'"seat":7', row, count=1))
        names(editor.url, match_id, last, "today's rules|cannot be decided again")

    def test_a_changed_request_of_the_last_row_is_found(
        self, editor: Editor, match_id: UUID, last: int, matches: Matches
    ) -> None:
        number = max(
            row.originator_version
            for row in matches.rows
            if b'"request"' in row.state and row.originator_id == match_id
        )
        editor.edit(match_id, number, lambda row: row.replace(b'"seat":', b'"seat": ', 1))
        names(editor.url, match_id, number, "digest")

    def test_a_changed_actor_of_the_last_act_is_found(self, editor: Editor, match_id: UUID, matches: Matches) -> None:
        number = numbers(matches, "card/played")[-1]
        editor.delete(match_id, number + 1, 10_000)
        editor.edit(match_id, number, lambda row: re.sub(rb'"actor":"seat:\d"', b'"actor":"seat:6"', row))
        names(editor.url, match_id, number, r"seat:6 did an act of seat:\d")

    @pytest.mark.parametrize("fields", [{"seed": None}, {"hands": [["SA"], ["SK"], ["SQ"]]}, {"seed": "another"}])
    def test_the_cards_of_the_last_deal(
        self, editor: Editor, match_id: UUID, matches: Matches, fields: dict[str, Any]
    ) -> None:
        number = numbers(matches, "deal/dealt")[-1]
        editor.delete(match_id, number + 1, 10_000)
        editor.edit(match_id, number, event(**fields))
        names(editor.url, match_id, number, "today's rules decide differently: (seed|hands)")

    def test_a_field_that_the_referee_does_not_write_is_found(
        self, editor: Editor, match_id: UUID, last: int
    ) -> None:
        editor.edit(match_id, last, event(remark="psst"))
        names(editor.url, match_id, last, "its row holds data that the referee does not write")

    def test_renumbered_rows(self, editor: Editor, match_id: UUID) -> None:
        for old, new in ((7, 10_000), (8, 7), (10_000, 8)):
            editor.renumber(match_id, old, new)
        for number in (7, 8, 9):
            names(editor.url, match_id, number, "the chain is broken before it")

    def test_a_last_row_with_a_later_number(self, editor: Editor, match_id: UUID, last: int) -> None:
        editor.renumber(match_id, last, last + 5)
        names(editor.url, match_id, last + 5, f"follows event {last - 1}: events {last} to {last + 4} are missing")

    def test_a_history_copied_under_another_id(self, editor: Editor, match_id: UUID, last: int) -> None:
        other = uuid4()
        columns = "originator_version, topic, state"
        place = f"INSERT INTO {{events}} (originator_id, {columns})"
        where = "WHERE originator_id = ? ORDER BY originator_version"
        editor.run(
            f"{place} SELECT {'?' if editor.sqlite else '?::uuid'}, {columns} FROM {{events}} {where}",
            other,
            match_id,
        )
        assert {one.event for one in differences(editor.url, other) if "chain" in one.what} == set(range(2, last + 1))
        assert differences(editor.url, match_id) == ()
        assert said(editor.url)[0] == 1

    @pytest.mark.parametrize("first", [1, 6])
    def test_deleted_rows(self, editor: Editor, match_id: UUID, first: int) -> None:
        editor.delete(match_id, first, 6)
        where = "the history begins with it: events 1 to 6 are" if first == 1 else "it follows event 5: event 6 is"
        names(editor.url, match_id, 7, f"{where} missing")

    def test_deleted_last_acts(self, editor: Editor, match_id: UUID, matches: Matches, last: int) -> None:
        """The remaining rows are correct, but a snapshot and the books have later events."""
        snapshot = max(row.originator_version for row in matches.snapshots if row.originator_id == match_id)
        editor.delete(match_id, 30, last)
        names(editor.url, match_id, snapshot, "it has a snapshot, but the event does not exist")
        names(editor.url, match_id, last, "projection protocols has it, but the event does not exist")

    def test_half_an_act(self, editor: Editor, match_id: UUID, matches: Matches) -> None:
        number = numbers(matches, "trick/taken")[-1]
        editor.delete(match_id, number, 10_000)
        names(editor.url, match_id, number - 1, "today's rules also make trick/taken from the request")

    def test_an_appended_row(self, editor: Editor, match_id: UUID, last: int) -> None:
        columns = "originator_id, topic, state"
        editor.run(
            f"INSERT INTO {{events}} (originator_version, {columns}) SELECT originator_version + 1, {columns}"
            " FROM {events} WHERE originator_id = ? AND originator_version = ?",
            match_id,
            last,
        )
        names(editor.url, match_id, last + 1, "the chain is broken before it")

    @pytest.mark.parametrize(
        ("row", "says"),
        [
            (b"", "Input data was truncated"),
            (b'{"at": 1', "cannot be read"),
            (
                b'{"v":2,"at":"2026-01-01T00:00:00Z","actor":"seat:0","act":"~","digest":"","prev":"",'
                b'"salt":"AAECAwQFBgcICQoLDA0ODw==","event":{"seat":"x"}}',
                r"\$\.event",
            ),
        ],
    )
    def test_a_row_that_cannot_be_read(self, editor: Editor, match_id: UUID, row: bytes, says: str) -> None:
        editor.edit(match_id, 9, lambda _: row)
        names(editor.url, match_id, 9, f"its row cannot be read: .*{says}|its row {says}")

    @pytest.mark.parametrize(
        ("salt", "says"),
        [
            (None, "Object missing required field `salt`"),
            (b"null", "Expected `bytes`, got `null`"),
            (b'""', "Expected `bytes` of length >= 16"),
            (b'"AAECAwQFBgcICQoLDA0O"', "Expected `bytes` of length >= 16"),
            (b'"AAECAwQFBgcICQoLDA0ODxA="', "Expected `bytes` of length <= 16"),
            (b'"000102030405060708090a0b0c0d0e0f"', "Expected `bytes` of length <= 16"),
            (b'"AAECAwQFBgcICQoLDA0OD_=="', "Invalid base64"),
        ],
    )
    def test_a_row_without_a_salt_of_16_bytes(
        self, editor: Editor, match_id: UUID, salt: bytes | None, says: str
    ) -> None:
        put = b"" if salt is None else b'"salt":' + salt + b","
        editor.edit(match_id, 9, lambda row: re.sub(rb'"salt":"[^"]*",', put, row))
        names(editor.url, match_id, 9, f"its row cannot be read: {says}")

    def test_a_row_with_a_different_salt(self, editor: Editor, match_id: UUID) -> None:
        editor.edit(match_id, 9, lambda row: re.sub(rb'"salt":"[^"]*"', b'"salt":"AAECAwQFBgcICQoLDA0ODw=="', row))
        names(editor.url, match_id, 10, "the chain is broken before it")

    def test_a_salt_that_is_written_differently(self, editor: Editor, match_id: UUID) -> None:
        """Base64 has unused bits after 16 bytes. The referee leaves them zero."""
        editor.edit(match_id, 9, lambda row: re.sub(rb"[AQgw]==", lambda end: end[0].translate(UNUSED_BIT), row))
        names(editor.url, match_id, 9, "its row holds data that the referee does not write")

    def test_a_topic_that_no_one_knows(self, editor: Editor, match_id: UUID) -> None:
        editor.run(
            "UPDATE {events} SET topic = 'match/lost' WHERE originator_id = ? AND originator_version = 9", match_id
        )
        names(editor.url, match_id, 9, "its row cannot be read: there is no topic match/lost")

    def test_a_row_that_was_written_as_text(self, sqlite_editor: Editor, match_id: UUID) -> None:
        sqlite_editor.run(
            "UPDATE {events} SET state = CAST(state AS TEXT) WHERE originator_id = ? AND originator_version = 9",
            match_id,
        )
        names(sqlite_editor.url, match_id, 9, "its row is stored as text")

    @pytest.mark.parametrize("name", ["no id", "ABCDEF0123456789ABCDEF0123456789"])
    def test_rows_under_what_is_no_id(self, sqlite_editor: Editor, name: str) -> None:
        sqlite_editor.run("INSERT INTO {events} VALUES (?, 1, 'match/opened', x'00')", name)
        code, lines = said(sqlite_editor.url)
        assert (code, lines[0]) == (1, f"id {name!r}: it has rows, but is not the id of a match or club")
        assert "2 matches and 1 of no known kind: " in lines[-1]


class TestSnapshots:
    @pytest.fixture
    def taken(self, matches: Matches, match_id: UUID) -> int:
        """Return the number of the event of the last snapshot."""
        return max(row.originator_version for row in matches.snapshots if row.originator_id == match_id)

    def test_its_points(self, editor: Editor, match_id: UUID, taken: int) -> None:
        def change(kept: dict[str, Any]) -> None:
            kept["state"]["table"]["points"][0] += 1

        editor.edit(match_id, taken, aggregate(change), "{snapshots}")
        otherwise = r"its snapshot differs: state.table.points\[0\] is \d+, not \d+"
        names(editor.url, match_id, taken, otherwise)

    def test_its_officials_token(self, editor: Editor, match_id: UUID, taken: int) -> None:
        def change(kept: dict[str, Any]) -> None:
            kept["opened"]["official"] = "0" * 64

        editor.edit(match_id, taken, aggregate(change), "{snapshots}")
        names(editor.url, match_id, taken, "its snapshot differs: opened.official is ")

    def test_its_hash(self, editor: Editor, match_id: UUID, taken: int) -> None:
        editor.edit(
            match_id,
            taken,
            lambda row: re.sub(rb'"head":"[^"]+"', b'"head":"' + b"0" * 64 + b'"', row),
            "{snapshots}",
        )
        names(editor.url, match_id, taken, "its snapshot names a hash that is not the row's")

    def test_one_that_cannot_be_read(self, editor: Editor, match_id: UUID, taken: int) -> None:
        editor.edit(match_id, taken, lambda row: row[:100], "{snapshots}")
        names(editor.url, match_id, taken, "its snapshot cannot be read")

    def test_one_of_nothing(self, editor: Editor, match_id: UUID) -> None:
        other = uuid4()
        editor.run("UPDATE {snapshots} SET originator_id = ? WHERE originator_id = ?", other, match_id)
        assert {one.what for one in differences(editor.url, other)} == {
            "it has a snapshot, but the event does not exist"
        }
        assert said(editor.url)[0] == 1

    def test_one_of_another_release_is_of_no_use_and_not_wrong(
        self, editor: Editor, match_id: UUID, taken: int
    ) -> None:
        editor.edit(match_id, taken, lambda row: re.sub(rb'"shape":"[^"]+"', b'"shape":"0123"', row), "{snapshots}")
        code, lines = said(editor.url)
        assert code == 0
        assert lines[0] == "1 snapshots are of a different release and are not used"


class TestKeyedActs:
    def test_one_that_was_taken_away(self, editor: Editor, match_id: UUID) -> None:
        ((first,),) = editor.run("SELECT min(first) FROM {acts} WHERE originator_id = ?", match_id)
        editor.run("DELETE FROM {acts} WHERE originator_id = ? AND first = ?", match_id, first)
        names(editor.url, match_id, first, "its act has a key that is not stored")

    def test_a_key_with_other_events_is_found(self, editor: Editor, match_id: UUID) -> None:
        ((first,),) = editor.run("SELECT min(first) FROM {acts} WHERE originator_id = ?", match_id)
        editor.run("UPDATE {acts} SET last = last + 1 WHERE originator_id = ? AND first = ?", match_id, first)
        names(editor.url, match_id, first, "its act has a key that is not stored")

    def test_one_that_no_one_sent(self, editor: Editor, match_id: UUID) -> None:
        editor.run("INSERT INTO {acts} VALUES (?, ?, 2, 2)", match_id, b"0123456789abcdef")
        names(editor.url, match_id, 2, "a keyed act is stored for it, but its row has no such key")


class TestBooks:
    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (
                "UPDATE book_protocols_4_lines SET line = replace(line, '\"deal\":1', '\"deal\":9') WHERE match = ?",
                r"projection protocols: book_protocols_4_lines event \d+: line.deal is 9, not 1",
            ),
            (
                "UPDATE book_pots_4_sheets SET sheet = '{{' WHERE match = ?",
                "projection pots: book_pots_4_sheets: sheet cannot be read",
            ),
            (
                "UPDATE book_matches_3 SET status = 'over', winner = 9 WHERE match = ?",
                "projection matches: book_matches_3: winner is 9, not None",
            ),
            ("DELETE FROM book_protocols_4_lines WHERE match = ?", r"book_protocols_4_lines event \d+ is missing"),
            (
                "DELETE FROM book_matches_3_players WHERE match = ?",
                "book_matches_3_players name [0-9a-f]{64} is missing",
            ),
            ("DELETE FROM book_cases_4_matches WHERE match = ?", "projection cases does not have it"),
            (
                'INSERT INTO book_cases_4_entries (match, event, "case", at, topic, fact) '
                "VALUES (?, 9999, 1, '2026-01-01 12:00:00', 'case/withdrawn', '{{}}')",
                "book_cases_4_entries event 9999 does not follow from the events",
            ),
        ],
    )
    def test_a_changed_row_of_a_projection_is_found(
        self, editor: Editor, match_id: UUID, change: str, says: str
    ) -> None:
        editor.run(change, match_id, books=True)
        names(editor.url, match_id, 0, says)

    def test_one_that_missed_something(self, editor: Editor, match_id: UUID, last: int) -> None:
        editor.run("UPDATE book_protocols_4_sheets SET version = 12 WHERE match = ?", match_id, books=True)
        names(
            editor.url, match_id, last, "projection protocols has only event 12, though its position is past this one"
        )

    def test_one_that_set_a_match_aside(self, editor: Editor, match_id: UUID) -> None:
        kinds = "book text, match uuid, since timestamp, event bigint, error text"
        editor.run(f"CREATE TABLE IF NOT EXISTS {SET_ASIDE.name} ({kinds})", books=True)
        values = "'cases_4', ?, '2026-01-01 12:00:00', 12, '\"bad row\"'"
        editor.run(
            f"INSERT INTO {SET_ASIDE.name} (book, match, since, event, error) VALUES ({values})", match_id, books=True
        )
        names(editor.url, match_id, 12, "projection cases has set the match aside here: bad row")

    def test_one_that_knows_a_match_that_there_is_not(self, editor: Editor) -> None:
        other = uuid4()
        columns = "match, version, public_to, ruleset, officials, members, over, held_back"
        values = "?, 7, 0, '', '[]', '', false, false"
        editor.run(f"INSERT INTO book_cases_4_matches ({columns}) VALUES ({values})", other, books=True)
        names(editor.url, other, 7, "projection cases has it, but the event does not exist")

    def test_one_of_another_log(self, editor: Editor) -> None:
        editor.run(f"UPDATE {POSITIONS.name} SET position = 1000000 WHERE book = 'cases_4'", books=True)
        code, lines = said(editor.url)
        assert code == 1
        assert "projection cases is at position 1000000, but the log ends at " in lines[0]


class TestKinds:
    """The report names matches, clubs and the log by their kind, even if they cannot be read."""

    @pytest.fixture
    def club(self, sqlite_editor: Editor) -> str:
        """Return the id of a club in a store with a signed log."""
        with client_of(sqlite_editor.url, log_key=KEY.private_text, log_seconds=3600) as client:
            club = ClubTable(client)
            club.join("Berit")
            sign(client)
        return str(club.id)

    def test_each_is_counted(self, sqlite_editor: Editor, club: str, match_id: UUID) -> None:
        code, lines = said(sqlite_editor.url)
        assert (code, lines[-1].partition(": ")[0]) == (0, "2 matches, 1 club and the log"), lines
        for one in (f"club {club}", f"log {LOG_ID}", f"match {match_id}"):
            assert said(sqlite_editor.url, one.split()[1])[1][-1].startswith(f"{one}: ")

    @pytest.mark.parametrize("kind", ["club", "log"])
    @pytest.mark.parametrize("number", [1, 2])
    def test_a_row_that_cannot_be_read(self, sqlite_editor: Editor, club: str, kind: str, number: int) -> None:
        """The row may be the first one or a later one."""
        whose = UUID(club) if kind == "club" else LOG_ID
        sqlite_editor.edit(whose, number, lambda row: row[:-1])
        code, lines = said(sqlite_editor.url)
        assert code == 1
        assert [line for line in lines if line.startswith(f"{kind} {whose}: event {number}: its row cannot be read")]
        assert lines[-1].startswith("2 matches, 1 club and the log: ")
        assert not [line for line in lines if line.startswith("match ")]

    def test_rows_of_which_the_first_is_gone(self, sqlite_editor: Editor, club: str) -> None:
        sqlite_editor.delete(UUID(club), 1, 1)
        assert f"club {club}: event 2: the history begins with it: event 1 is missing" in said(sqlite_editor.url)[1]

    def test_rows_that_no_one_knows(self, sqlite_editor: Editor, club: str) -> None:
        sqlite_editor.run("UPDATE {events} SET topic = 'guild/founded' WHERE originator_id = ?", UUID(club))
        lines = said(sqlite_editor.url)[1]
        assert f"id {club}: event 1: its row cannot be read: there is no topic guild/founded" in lines
        assert lines[-1].startswith("2 matches, the log and 1 of no known kind: ")


class TestCommand:
    def test_it_exits_by_what_it_finds(
        self,
        sqlite_editor: Editor,
        match_id: UUID,
        last: int,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setenv("KNACKA_DATABASE_URL", sqlite_editor.url)
        assert main(["verify"]) == 0
        assert capsys.readouterr().out.startswith("2 matches: ")
        sqlite_editor.edit(match_id, last, event(remark="psst"))
        assert main(["verify", str(match_id).upper()]) == 1
        said = capsys.readouterr().out.splitlines()
        assert said[0] == f"match {match_id}: event {last}: its row holds data that the referee does not write"

    def test_its_help_says_that_it_changes_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            main(["verify", "--help"])
        assert "changes nothing" in " ".join(capsys.readouterr().out.split())
