"""A service killed between any two steps: ``python -m tests.faults.steps URL NOTE [EVERY]``.

The service runs in a process that forks. In each copy a treasurer does the same acts, and the copy is killed one step
later than the one before. Steps are before and after: rows are stored; the ledger or the log's projection applies
them, and commits; a checkpoint is written. The next copy repeats the acts under the same keys and checks the result.
``EVERY``: kill at one step in this many. Prints the number of kills, and the faults.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from api.app import create_app
from api.runtime.service import Service
from api.settings import Settings
from referee.log.notes import SigningKey
from tests.faults.books_check import Seen, look
from tests.faults.treasurer import MATCH, SHEET
from tests.support.club_client import FOUNDING, in_days
from tests.support.projection_progress import caught_up
from tests.support.service_in_memory import Client

KEY = SigningKey("steps.example/log", bytes(32))
FOUND = 3
"""The exit code if a fault was found."""
Answers = dict[str, tuple[int, bytes]]
"""Answers by key."""


class Place(NamedTuple):
    """The store of the copies, and the files that they leave for one another."""

    url: str
    note: Path
    answers: Path


class Steps:
    """Counts steps, and kills its process at the given one."""

    def __init__(self, last: int) -> None:
        self._left = last

    def around(self, owner: Any, name: str) -> None:
        """Make a step before and a step after each call."""
        work: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            self._step()
            done = work(*args, **kwargs)
            self._step()
            return done

        setattr(owner, name, counted)

    def _step(self) -> None:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


class Turn:
    """The treasurer's acts, under keys of this turn."""

    def __init__(self, client: Client, place: Place, turn: int) -> None:
        self._client, self._place, self._turn = client, place, turn
        self._service: Service = client.app.state.service
        self._before = answers(place)
        self.wrong: list[str] = []
        founded = self._done("/v1/clubs", "founding-of-the-only-club", FOUNDING, None, of_all=True)
        self.club, self._secret = founded["id"], founded["key"]["secret"]

    def play(self) -> None:
        """Do all acts. Those done before get the same answers."""
        for name in ("Berit", "Cesar"):
            self._act(name, of_all=True, act="join", name=name)
        self._act("evening", of_all=True, act="open_evening", on=in_days(0)[:10], season="2026/27")
        self._act("deposit", act="deposit", member=2, amount=700, via="cash")
        keys = [self._secret, *map(self._key_of, (2, 3))]
        opening = MATCH | {"club": self.club, "evening": 1}
        made = self._done("/v1/matches", f"opening-of-match-{self._turn}", opening, self._secret)
        acts = f"/v1/matches/{made['id']}/acts"
        for seat, key in enumerate(keys):
            self._done(acts, f"agree-{seat}", {"act": "agree_stakes", "seat": seat}, key, of=made["id"])
        self._done(acts, "result", SHEET, keys[1], of=made["id"])
        self._act("payout", act="payout", member=2, amount=700, via="cash")
        self._act("close", act="close_books", label=f"turn {self._turn}")
        self._signed()
        self._act("fee", act="fee", member=3, amount=50)
        self._signed()

    def _key_of(self, member: int) -> str:
        """Return the key of a member, who redeems the invitation to it."""
        issuing = {
            "act": "issue_key",
            "scopes": ["play"],
            "expires_at": f"{in_days(30)[:10]}T00:00:00Z",
            "member": member,
        }
        path, key = f"/v1/clubs/{self.club}/acts", f"inviting-member-{member}"
        code = self._done(path, key, issuing, self._secret, of_all=True)["invitation"]["code"]
        taken = self._done(f"/v1/invitations/{code}", f"redeeming-of-member-{member}", None, None, of_all=True)
        secret: str = taken["key"]["secret"]
        return secret

    def _signed(self) -> None:
        signer = self._service.signer
        assert signer is not None
        signer.sign(at_once=True)
        if signer.trouble is not None:
            self.wrong.append(f"books: nothing is signed any more: {signer.trouble}")
        caught_up(self._service.projections)

    def _act(self, key: str, *, of_all: bool = False, **sent: Any) -> None:
        self._done(f"/v1/clubs/{self.club}/acts", key, sent, self._secret, of_all=of_all)

    def _done(
        self, path: str, key: str, sent: Any, secret: str | None, *, of_all: bool = False, of: str = ""
    ) -> dict[str, Any]:
        """Return the answer; ``of_all``: the key is the same in each turn."""
        key = key if of_all else f"{key}-{of or self._turn}"
        headers = {"Idempotency-Key": key} | ({} if secret is None else {"Authorization": f"Bearer {secret}"})
        answer = self._client.post(path, json=sent, headers=headers)
        told = answer.status_code, answer.content
        if self._before.setdefault(key, told) != told or told[0] != 201:
            self.wrong.append(f"answers: {path} under {key}: {told}, and before {self._before[key]}")
        with self._place.answers.open("ab") as file:
            file.write(msgspec.json.encode((key, *told)) + b"\n")
        caught_up(self._service.projections)
        said: dict[str, Any] = answer.json()
        return said


def answers(place: Place) -> Answers:
    """Return the answers in earlier copies."""
    lines = place.answers.read_bytes().splitlines()
    found = [msgspec.json.decode(line, type=tuple[str, int, bytes]) for line in lines]
    return {key: (status, body) for key, status, body in found}


def closed(place: Place, club: str) -> dict[tuple[UUID, int], str]:
    """Return the digests of the closings in the answers."""
    said = [msgspec.json.decode(body) for _, body in answers(place).values()]
    events = [one["events"][0]["event"] for one in said if "closing" in one]
    return {(UUID(club), event["closing"]): event["digest"] for event in events}


def copy(place: Place, turn: int, last: int | None) -> list[str]:
    """Repeat the turn before, check, and play a turn up to the ``last`` step. Return the faults."""
    settings = Settings(
        database_url=place.url,
        log_key=KEY.private_text,
        log_file=str(place.note),
        log_seconds=86_400,
        log_level="error",
    )
    with Client(create_app(settings)) as client:
        wrong: list[str] = []
        if turn:
            again = Turn(client, place, turn - 1)
            again.play()
            seen = Seen()
            seen.closed = closed(place, again.club)
            entries, checkpoints = look(place.url, place.note, seen, lambda kind, how: wrong.append(f"{kind}: {how}"))
            wrong += again.wrong
            if entries < turn or not checkpoints:
                wrong.append(f"lost: {entries} entries and {checkpoints} checkpoints after {turn} turns")
        if last is not None and not wrong:
            service: Service = client.app.state.service
            steps = Steps(last)
            steps.around(service.referee.recorder, "store")
            steps.around(service.projections.ledger, "apply")
            steps.around(service.projections.tree, "apply")
            assert service.signer is not None
            steps.around(service.signer._file, "write")
            Turn(client, place, turn).play()
    return wrong


def forked(place: Place, turn: int, last: int | None) -> int:
    """Return the exit code of a copy, negative if it was killed."""
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            wrong = copy(place, turn, last)
            for how in wrong:
                print(f"{'at the end' if last is None else f'step {last}'}: before it, {how}", flush=True)
            code = FOUND if wrong else 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main(url: str, note: str, every: int = 1) -> int:
    """Return the exit code: 0 if no act was lost, done twice or left out."""
    with NamedTemporaryFile(prefix="knacka-answers-") as file:
        place = Place(url, Path(note), Path(file.name))
        for turn, last in zip(count(), count(1, every), strict=False):
            code = forked(place, turn, last)
            if code != -signal.SIGKILL:
                break
        if code == 0:
            code = forked(place, turn + 1, None)
    print(f"killed at {turn} steps" if code == 0 else f"a copy ended with {code}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
