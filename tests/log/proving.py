"""Bundles of matches that were really played, and ``openapi/verify.py`` as anybody would run it: as that process does
it, or as a process."""

import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from api.service import Service
from referee.asked import Correct
from referee.log.notes import SigningKey
from referee.proceedings.corrections import Why
from referee.store.command import Command
from tests.api.club import ClubTable, seated
from tests.api.serving import ROOT
from tests.api.table import KORTOXEN, Table
from tests.caught_up import caught_up
from tests.run_here import run_here

ORIGIN = "cards.example/log"
KEY, LATER, STRANGER = (SigningKey(ORIGIN, bytes([number]) * 32) for number in (1, 2, 3))
SOON = 30.0


class Checked(NamedTuple):
    """What verify.py said, and its exit code."""

    code: int
    lines: list[str]


VERIFIER = ROOT / "openapi" / "verify.py"


def arguments(place: Path, bundle: bytes, vkey: str, old: str | None) -> list[str]:
    """What it is started with."""
    file = place / "bundle.json"
    file.write_bytes(bundle)
    if old is None:
        return [str(file), vkey]
    kept = place / "old.note"
    kept.write_bytes(old.encode())
    return [str(file), vkey, str(kept)]


def checked(place: Path, bundle: bytes, vkey: str = KEY.vkey, old: str | None = None) -> Checked:
    """What verify.py says of a bundle."""
    code, said = run_here(VERIFIER, arguments(place, bundle, vkey, old))
    return Checked(code, said.splitlines())


def checked_alone(place: Path, bundle: bytes, vkey: str = KEY.vkey, old: str | None = None) -> Checked:
    """The same of a process of its own, which finds nothing that is ours."""
    command = [sys.executable, "-I", str(VERIFIER), *arguments(place, bundle, vkey, old)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return Checked(done.returncode, done.stdout.splitlines())


def sign(client: Any) -> str:
    """Has the log signed as it stands now; the checkpoint."""
    service: Service = client.app.state.service
    assert service.signer is not None
    followed(client)
    service.signer.sign_now()
    answer = client.get("/v1/log/checkpoint")
    assert answer.status_code == 200, answer.text
    note: str = answer.text
    return note


def played(client: Any, deals: int = 2, **opening: Any) -> Table:
    """A match in which so many deals were scored, and which goes on; the house deals."""
    while True:  # who declares rödskägg may end it
        table = Table(client, **{"dealing": "house", **opening})
        for number in range(deals):
            table.finish_deal(seed=number)
        if table.get().json()["phase"] != "over":
            return table


SHEET = {
    "act": "result",
    "bids": [[0, 1], [1, "pass"], [2, "pass"]],
    "tricks": [0, 1, 2, 2, 2, 2],
    "exits": [[1, 2]],
}
"""Seat 1 goes home: it had one point left, as the match was opened."""


class PaidMatch(NamedTuple):
    """A club's match for money, which member 2 has won."""

    id: str
    tokens: list[str]

    def get(self, client: Any, path: str, token: str) -> Any:
        return client.get(f"/v1/matches/{self.id}{path}", headers={"Authorization": f"Bearer {token}"})


def won(club: ClubTable, **opening: Any) -> PaidMatch:
    """A match of members 1, 2 and 3 for money, entered as its score sheet has it."""
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
    """An official strikes its only deal: nobody has won it any more."""
    service: Service = client.app.state.service
    correct = Correct(why=Why(rule="B11", reason=""), strike=(1,))
    service.desk.submit(Command(id=UUID(match.id), actor="official", request=correct)).result(30)


def followed(client: Any) -> None:
    """Waits until the books have all."""
    service: Service = client.app.state.service
    caught_up(service.books)


class Audited(NamedTuple):
    """A club whose books were closed twice, and its matches."""

    club: ClubTable
    matches: list[PaidMatch]


def audited(client: Any) -> Audited:
    """In the second closing a match of the first is struck, and an entry of it is taken back."""
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
    """Bundles, and the older checkpoint that each is said to extend, if it is."""

    bundles: list[tuple[bytes, str | None]]

    def broken(self, chance: Random) -> tuple[str, bytes, str | None]:
        """One of them, with one thing wrong, and what that is."""
        bundle, old = chance.choice(self.bundles)
        how = chance.choice(list(WAYS))
        return how, WAYS[how](bundle, chance), old


def flipped(bundle: bytes, chance: Random) -> bytes:
    place, bit = chance.randrange(len(bundle)), chance.randrange(8)
    return bundle[:place] + bytes([bundle[place] ^ 1 << bit]) + bundle[place + 1 :]


def cut(bundle: bytes, chance: Random) -> bytes:
    return bundle[: chance.randrange(len(bundle))]


def _edited(edit: Any) -> Any:
    """That done to its rows, its settlements or its entries."""

    def edited(bundle: bytes, chance: Random) -> bytes:
        read = msgspec.json.decode(bundle)
        what = chance.choice([name for name in ("rows", "settlements", "entries") if len(read[name] or ()) > 1])
        before = deepcopy(read[what])
        while read[what] == before:
            read[what] = edit(deepcopy(before), chance)
        if what != "rows" or chance.random() < 0.5:
            return msgspec.json.encode(read)
        # As who knows what a count is for would do it, unless that is all that tells of the end.
        if len(read["rows"]) >= len(before):
            read["count"] = len(read["rows"])
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
    """A part of one row in another."""
    one, other = chance.sample(rows, 2)
    part = chance.choice(list(one))
    one[part] = other[part]
    return rows


def _left_out(rows: list[Any], chance: Random) -> list[Any]:
    del rows[chance.randrange(len(rows))]
    return rows


def _one_more(rows: list[Any], chance: Random) -> list[Any]:
    """A number somewhere is one more."""
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


def deleted(bundle: bytes, place: int) -> bytes:
    """Without a row, and nothing else done."""
    read = msgspec.json.decode(bundle)
    del read["rows"][place]
    return msgspec.json.encode(read)


def not_found(bundled: Bundled, tries: int, seed: int, place: Path) -> list[str]:
    """What verify.py has taken for proved, of so many bundles with one thing wrong."""
    missed = []
    for number in range(tries):
        how, bundle, old = bundled.broken(Random(f"{seed} {number}"))
        code, lines = checked(place, bundle, old=old)
        if code != 1 or not lines[-1].startswith("NOT PROVED: "):
            missed.append(f"seed {seed}, try {number}: {how}: {lines}")
    return missed


def bundles_of(client: Any) -> Bundled:
    """Of matches of several games: what they came to, all rows of a deal, with an older checkpoint and without."""
    first = played(client)
    old = sign(client)
    size = int(old.split("\n")[1])
    second = played(client, ruleset="kalabrias", options={}, enforcement="refuse")
    sign(client)
    found: list[tuple[bytes, str | None]] = []
    for table, who, asked in (
        (first, 0, "?"),
        (first, "official", "?deal=1&"),
        (first, "official", "?deal=2&"),
        (second, 1, "?"),
        (second, "official", "?deal=1&"),
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
