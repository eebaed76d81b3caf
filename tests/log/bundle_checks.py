"""Bundles of matches that were really played, and ``openapi/verify.py`` run as a stranger runs it: in this process,
or in one of its own."""

import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest

from api.log.bundle_schemas import ranges_of
from api.runtime.service import Service
from referee.log.notes import SigningKey, checkpoint_in
from referee.officials.events.corrections import Why
from referee.requests import Correct
from referee.store.command import Command
from tests.support.club_client import ClubTable, seated
from tests.support.in_process_programs import run_here
from tests.support.match_client import KORTOXEN, Table
from tests.support.match_driver import seats_and
from tests.support.paths import ROOT
from tests.support.projection_progress import caught_up

ORIGIN = "cards.example/log"
KEY, LATER, STRANGER = (SigningKey(ORIGIN, bytes([number]) * 32) for number in (1, 2, 3))
SOON = 30.0


class Checked(NamedTuple):
    """The output of verify.py, and its exit code."""

    code: int
    lines: list[str]


VERIFIER = ROOT / "openapi" / "verify.py"


def arguments(place: Path, bundle: bytes, vkey: str, old: str | None) -> list[str]:
    """Return the arguments of verify.py."""
    file = place / "bundle.json"
    file.write_bytes(bundle)
    if old is None:
        return [str(file), vkey]
    kept = place / "old.note"
    kept.write_bytes(old.encode())
    return [str(file), vkey, str(kept)]


_run = subprocess.run
_exit_codes: dict[tuple[bytes, ...], int] = {}
"""Exit codes of openssl by its input."""


def _openssl(command: list[str], *, cwd: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run openssl once for each key, text and signature: most bundles of a test have the same signatures."""
    read = tuple((Path(cwd) / name).read_bytes() for name in ("key", "text", "signature"))
    if read not in _exit_codes:
        _exit_codes[read] = _run(command, cwd=cwd, **options).returncode
    return subprocess.CompletedProcess(command, _exit_codes[read])


def checked(place: Path, bundle: bytes, vkey: str = KEY.vkey, old: str | None = None) -> Checked:
    """Return the output of verify.py for a bundle."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", _openssl)
        code, said = run_here(VERIFIER, arguments(place, bundle, vkey, old))
    return Checked(code, said.splitlines())


def checked_alone(place: Path, bundle: bytes, vkey: str = KEY.vkey, old: str | None = None) -> Checked:
    """Return the output of verify.py for a bundle, from a process of its own that finds none of our modules."""
    command = [sys.executable, "-I", str(VERIFIER), *arguments(place, bundle, vkey, old)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return Checked(done.returncode, done.stdout.splitlines())


def sign(client: Any) -> str:
    """Sign the log in its present size. Return the checkpoint."""
    service: Service = client.app.state.service
    assert service.signer is not None
    followed(client)
    service.signer.sign(at_once=True)
    answer = client.get("/v1/log/checkpoint")
    assert answer.status_code == 200, answer.text
    note: str = answer.text
    return note


def played(client: Any, deals: int = 2, **opening: Any) -> Table:
    """Return a match with this many scored deals, which goes on; the house deals."""
    while True:  # who declares rödskägg may end it
        table = Table(client, **{"dealing": "house", **opening})
        for number in range(deals):
            table.finish_deal(seed=number)
        if table.get().json()["phase"] != "over":
            return table


SHEET = {
    "act": "result",
    "bids": seats_and("bid", [0, "1"], [1, "pass"], [2, "pass"]),
    "tricks": [0, 1, 2, 2, 2, 2],
    "exits": [{"seat": 1, "after": 2}],
}
"""Seat 1 leaves with the one point that it had at the opening."""


class PaidMatch(NamedTuple):
    """A club's match for money, which member 2 has won."""

    id: str
    tokens: list[str]

    def get(self, client: Any, path: str, token: str) -> Any:
        return client.get(f"/v1/matches/{self.id}{path}", headers={"Authorization": f"Bearer {token}"})


def won(club: ClubTable, **opening: Any) -> PaidMatch:
    """Return a match of members 1, 2 and 3 for money, entered from its score sheet."""
    body = {
        "ruleset": KORTOXEN,
        "players": [{"member": member} for member in (1, 2, 3)],
        "club": club.id,
        "evening": 1,
        "stakes": {"currency": "SEK", "unit": 100},
        "dealing": "tally",
        "first_dealer": 2,
        "options": {"deal_ritual": False},
        "enforcement": "penalise",
        "opening": {"points": [2, 1, 5]},
        "adjudication": {},
    } | opening
    opened = club.client.post("/v1/matches", json=body, headers=club.bearer("founder"))
    assert opened.status_code == 201, opened.text
    tokens = seated(club.client, opened.json()["id"])
    match = PaidMatch(opened.json()["id"], list(tokens.values()))
    bearer = {"Authorization": f"Bearer {match.tokens[0]}"}
    answer = club.client.post(f"/v1/matches/{match.id}/acts", json=SHEET, headers=bearer)
    assert answer.status_code == 201, answer.text
    return match


def struck(client: Any, match: PaidMatch) -> None:
    """Strike the only deal of a match, so that it has no winner any more."""
    service: Service = client.app.state.service
    correct = Correct(why=Why(rule="B11", reason=""), strike=(1,))
    service.desk.submit(Command(id=UUID(match.id), actor="official", request=correct)).result(30)


def followed(client: Any) -> None:
    """Wait until the projections have applied all rows."""
    service: Service = client.app.state.service
    caught_up(service.projections)


class Audited(NamedTuple):
    """A club whose books were closed twice, and its matches."""

    club: ClubTable
    matches: list[PaidMatch]


def audited(client: Any) -> Audited:
    """Return a club whose second closing strikes a match of the first and reverses an entry of it."""
    club = ClubTable(client)
    for name in ("Berit Borg", "Cesar"):
        club.join(name)
    for scope in ("audit", "treasury", "play"):
        club.issue(scope, scope, app=scope)
    club.done("open_evening", on="2026-11-22", season="2026/27")
    club.done("deposit", member=2, amount=80000, via="bank", evening=1)
    matches = [won(club), won(club)]
    club.done("fee", member=3, amount=2500)
    followed(client)
    club.done("close_books", label="first")
    struck(client, matches[0])
    matches.append(won(club))
    club.done("payout", member=2, amount=1000, via="cash")
    club.done("reverse", entry=4)
    followed(client)
    club.done("close_books", label="second")
    return Audited(club, matches)


class Bundled(NamedTuple):
    """Bundles, each with the older checkpoint that it must extend, if any."""

    bundles: list[tuple[bytes, str | None]]

    def broken(self, chance: Random) -> tuple[str, bytes, bytes, str | None]:
        """Return the kind of a change, a bundle, the changed bundle, and the earlier note, if any."""
        while True:
            bundle, old = chance.choice(self.bundles)
            how = chance.choice([*WAYS, *FORGERIES])
            if how in WAYS:
                return how, bundle, WAYS[how](bundle, chance), old
            other = chance.choice(self.bundles)[0]
            false = forged(how, bundle, other, chance)
            if false is not None:
                return how, bundle, false, old


def flipped(bundle: bytes, chance: Random) -> bytes:
    place, bit = chance.randrange(len(bundle)), chance.randrange(8)
    return bundle[:place] + bytes([bundle[place] ^ 1 << bit]) + bundle[place + 1 :]


def cut(bundle: bytes, chance: Random) -> bytes:
    return bundle[: chance.randrange(len(bundle))]


def _edited(edit: Any) -> Any:
    """Return the edit of a bundle's rows, settlements or entries."""

    def edited(bundle: bytes, chance: Random) -> bytes:
        read = msgspec.json.decode(bundle)
        named = ("aggregates", "rows", "settlements", "entries")
        what = chance.choice([name for name in named if len(read[name]) > 1])
        before = deepcopy(read[what])
        while read[what] == before:
            read[what] = edit(deepcopy(before), chance)
        return msgspec.json.encode(read)

    return edited


def _copied(rows: list[Any], chance: Random) -> list[Any]:
    rows.insert(chance.randrange(len(rows) + 1), deepcopy(chance.choice(rows)))
    return rows


def _swapped(rows: list[Any], chance: Random) -> list[Any]:
    one, other = chance.sample(range(len(rows)), 2)
    rows[one], rows[other] = rows[other], rows[one]
    return rows


def _passed_off(rows: list[Any], chance: Random) -> list[Any]:
    """Replace a part of one row by the same part of a different row."""
    one, other = chance.sample(rows, 2)
    part = chance.choice(list(one))
    one[part] = other[part]
    return rows


def _left_out(rows: list[Any], chance: Random) -> list[Any]:
    del rows[chance.randrange(len(rows))]
    return rows


def _one_more(rows: list[Any], chance: Random) -> list[Any]:
    """Add one to a number somewhere."""
    text = msgspec.json.encode(rows).decode()
    found = chance.choice(list(re.finditer(r"-?\d+", text)))
    changed: list[Any] = msgspec.json.decode(text[: found.start()] + str(int(found[0]) + 1) + text[found.end() :])
    return changed


WAYS: dict[str, Any] = {
    "a bit flipped": flipped,
    "cut off": cut,
    "a row copied": _edited(_copied),
    "rows in another order": _edited(_swapped),
    "a part of a row in another": _edited(_passed_off),
    "a number one more": _edited(_one_more),
    "one left out": _edited(_left_out),
}


# A forger who adapts the bundle's statements about its rows, and has other bundles


def mended(read: Any) -> Any:
    """Return the bundle with the ranges of its rows, and without aggregates that have no rows left."""
    for one in read["aggregates"]:
        numbers = [row["version"] for row in read["rows"] if row["id"] == one["id"]]
        one["ranges"] = msgspec.to_builtins(ranges_of(numbers))
    read["aggregates"] = [one for one in read["aggregates"] if one["ranges"]]
    return read


def without(bundle: bytes, *places: int) -> bytes:
    """Return a bundle without these rows, with its other numbers adapted."""
    read = msgspec.json.decode(bundle)
    read["rows"] = [row for place, row in enumerate(read["rows"]) if place not in places]
    return msgspec.json.encode(mended(read))


def _row_left_out(read: Any, other: Any, chance: Random) -> None:
    del read["rows"][chance.randrange(len(read["rows"]))]
    mended(read)


def _rows_left_out(read: Any, other: Any, chance: Random) -> None:
    first = chance.randrange(len(read["rows"]))
    del read["rows"][first : first + chance.randint(1, 40)]
    mended(read)


def _rows_of_a_topic_left_out(read: Any, other: Any, chance: Random) -> None:
    topic = chance.choice(read["rows"])["topic"]
    read["rows"] = [row for row in read["rows"] if row["topic"] != topic]
    mended(read)


def _end_cut_off(read: Any, other: Any, chance: Random) -> None:
    del read["rows"][-chance.randint(1, len(read["rows"]) - 1) :]
    mended(read)


def _beginning_cut_off(read: Any, other: Any, chance: Random) -> None:
    del read["rows"][: chance.randint(1, len(read["rows"]) - 1)]
    mended(read)


def _end_cut_off_without_statement(read: Any, other: Any, chance: Random) -> None:
    _end_cut_off(read, other, chance)
    for one in read["aggregates"]:
        one["statement"] = None


def _no_statement(read: Any, other: Any, chance: Random) -> None:
    chance.choice(read["aggregates"])["statement"] = None


def _null_section(read: Any, other: Any, chance: Random) -> None:
    read[chance.choice(list(read))] = None


def _no_section(read: Any, other: Any, chance: Random) -> None:
    del read[chance.choice(list(read))]


def _section_of_another(read: Any, other: Any, chance: Random) -> None:
    name = chance.choice(list(read))
    read[name] = other[name]


def _rows_of_another(read: Any, other: Any, chance: Random) -> None:
    known = {row["index"] for row in read["rows"]}
    more = [row for row in other["rows"] if row["index"] not in known]
    read["rows"] = sorted([*read["rows"], *more[: chance.randint(1, 9)]], key=lambda row: int(row["index"]))


def _another_beside_it(read: Any, other: Any, chance: Random) -> None:
    """Add all rows and signatures of the matches and clubs of another bundle. More rows of a match that the bundle
    already has would be true."""
    listed = {one["id"] for one in read["aggregates"]}
    more = {one["id"]: one for one in other["aggregates"] if one["id"] not in listed}
    if not more:
        return
    read["rows"] += [row for row in other["rows"] if row["id"] in more]
    read["rows"].sort(key=lambda row: int(row["index"]))
    read["aggregates"] += more.values()
    order = list(dict.fromkeys(row["id"] for row in read["rows"]))
    read["aggregates"].sort(key=lambda one: order.index(one["id"]))
    for name in ("settlements", "entries"):
        read[name] = read[name] + [one for one in other[name] if one not in read[name]]
    mended(read)


def _aggregate_left_out(read: Any, other: Any, chance: Random) -> None:
    read["aggregates"].pop(chance.randrange(len(read["aggregates"])))


def _aggregate_left_out_with_its_rows(read: Any, other: Any, chance: Random) -> None:
    whose = read["aggregates"].pop(chance.randrange(len(read["aggregates"])))["id"]
    read["rows"] = [row for row in read["rows"] if row["id"] != whose]
    read["settlements"] = [one for one in read["settlements"] if one["match"] != whose]
    read["entries"] = [one for one in read["entries"] if not one["cause"].startswith(whose)]


def _statement_of_another(read: Any, other: Any, chance: Random) -> None:
    chance.choice(read["aggregates"])["statement"] = chance.choice(other["aggregates"])["statement"]


def _other_range(read: Any, other: Any, chance: Random) -> None:
    one = chance.choice(chance.choice(read["aggregates"])["ranges"])
    one[chance.choice(("first", "last"))] += chance.choice((-1, 1))


def _split_range(read: Any, other: Any, chance: Random) -> None:
    ranges = chance.choice(read["aggregates"])["ranges"]
    one = ranges.pop()
    if one["first"] < one["last"]:
        ranges += [{"first": one["first"], "last": one["first"]}, {"first": one["first"] + 1, "last": one["last"]}]


def _about_another(read: Any, other: Any, chance: Random) -> None:
    name = chance.choice(("kind", "id", "closing"))
    read["about"][name] = other["about"][name]


def _other_closing(read: Any, other: Any, chance: Random) -> None:
    read["about"]["closing"] = (read["about"]["closing"] or 0) + 1


def _money_left_out(read: Any, other: Any, chance: Random) -> None:
    read[chance.choice(("settlements", "entries"))] = []


FORGERIES: dict[str, Any] = {
    forge.__name__.strip("_").replace("_", " "): forge
    for forge in (
        _row_left_out,
        _rows_left_out,
        _rows_of_a_topic_left_out,
        _end_cut_off,
        _beginning_cut_off,
        _end_cut_off_without_statement,
        _no_statement,
        _null_section,
        _no_section,
        _section_of_another,
        _rows_of_another,
        _another_beside_it,
        _aggregate_left_out,
        _aggregate_left_out_with_its_rows,
        _statement_of_another,
        _other_range,
        _split_range,
        _about_another,
        _other_closing,
        _money_left_out,
    )
}


def forged(how: str, bundle: bytes, other: bytes, chance: Random) -> bytes | None:
    """Return a forgery of a bundle, made by a forger who has another one too; ``None`` if it changed nothing, or
    equals the other one."""
    read = msgspec.json.decode(bundle)
    FORGERIES[how](read, msgspec.json.decode(other), chance)
    false = msgspec.json.encode(read)
    return None if false in (bundle, other) else false


NOT_SHOWN = "NOT SHOWN: "


def is_found(honest: Checked, false: Checked) -> bool:
    """Return whether a forgery is refused, or accepted as showing less than the honest bundle."""
    less = {line for line in false.lines if line.startswith(NOT_SHOWN)} - {*honest.lines}
    return (false.code == 1 and false.lines[-1].startswith("NOT PROVED: ")) or (false.code == 3 and bool(less))


def asks_for_proof(said: Checked, bundle: bytes, old: str | None) -> bool:
    """Return whether verify.py asks for the proof that a bundle lacks, from the size of the older checkpoint."""
    if old is None or said.code != 1 or said.lines[-1] != f"ask for the bundle with ?from={checkpoint_in(old).size}":
        return False
    return msgspec.json.decode(bundle).get("consistency") is None


def not_found(bundled: Bundled, tries: int, seed: int, place: Path) -> list[str]:
    """Return the wrong bundles that verify.py accepted, of ``tries`` bundles with a change."""
    missed, honest = [], dict[bytes, Checked]()
    for number in range(tries):
        how, bundle, false, old = bundled.broken(Random(f"{seed} {number}"))
        if bundle not in honest:
            honest[bundle] = checked(place, bundle, old=old)
            assert honest[bundle].code in (0, 3), honest[bundle].lines
        said = checked(place, false, old=old)
        if not (is_found(honest[bundle], said) or asks_for_proof(said, false, old)):
            missed.append(f"seed {seed}, try {number}: {how}: {said.lines}")
    return missed


def bundles_of(client: Any) -> Bundled:
    """Return bundles of matches and of closings, for parties and officials, with an older checkpoint and without."""
    first = played(client)
    old = sign(client)
    size = int(old.split("\n")[1])
    second = played(client, ruleset="kalabrias", options={}, enforcement="refuse")
    sign(client)
    found: list[tuple[bytes, str | None]] = []
    for table, who, asked in (
        (first, 0, "?"),
        (first, "official", "?"),
        (second, 1, "?"),
        (second, "official", "?"),
    ):
        for kept in (None, old):
            more = "" if kept is None else f"from={size}"
            answer = table.get(f"/bundle{asked}{more}", who)
            assert answer.status_code == 200, answer.text
            found.append((answer.content, kept))
    club, matches = audited(client)
    sign(client)
    for closing in (1, 2):
        for kept in (None, old):
            more = "" if kept is None else f"&from={size}"
            answer = club.get(f"/bundle?closing={closing}{more}", "audit")
            assert answer.status_code == 200, answer.text
            found.append((answer.content, kept))
    answer = matches[1].get(client, "/bundle", matches[1].tokens[0])
    assert answer.status_code == 200, answer.text
    return Bundled([*found, (answer.content, None)])
