"""A club with a busy treasurer: money acts, matches for money that are won, and closings of the books."""

import asyncio
import time
from itertools import count
from typing import Any
from uuid import UUID

from referee.actors import actor_at
from tests.faults.books_check import Seen
from tests.faults.http_client import LOST
from tests.faults.play import Acknowledged, Ledger, Player
from tests.support.club_client import FOUNDING, in_days
from tests.support.match_driver import seats_and

MATCH: dict[str, Any] = {
    "ruleset": "rodskagg-kortoxen",
    "players": [{"member": member} for member in (1, 2, 3)],
    "first_dealer": 2,
    "dealing": "tally",
    "visibility": "public",
    "stakes": {"currency": "SEK", "unit": 100},
    "opening": {"points": [2, 1, 5]},
}
SHEET = {
    "act": "result",
    "bids": seats_and("bid", [0, "1"], [1, "pass"], [2, "pass"]),
    "tricks": [0, 1, 2, 2, 2, 2],
    "exits": [{"seat": 1, "after": 2}],
}
"""Seat 1 wins with the second trick."""
PLAN = ("deposit", "money_match", "pay", "payout", "fee", "reverse", "close_books")


class Treasurer(Player):
    """Does one thing after the other, and repeats each under its key until it is answered."""

    def __init__(self, port: int, ledger: Ledger, seed: str, go: asyncio.Event, follow: Any, seen: Seen) -> None:
        """``seen`` records the answers."""
        super().__init__(-1, port, ledger, f"{seed} treasurer", go, follow, 0.0)
        self._seen, self._club, self._keys, self._version = seen, "", dict[int, str](), 0
        self.timed = False

    async def play(self) -> None:
        """Act until cancelled."""
        with self._client:
            founding = {"Idempotency-Key": f"founding-{self._chance.getrandbits(64):x}"}
            founded = (await self._done("POST", "/v1/clubs", founding, FOUNDING)).said
            self._club, self._keys[1] = founded["id"], founded["key"]["secret"]
            for name in ("Berit", "Cesar"):
                await self._act(1, f"join-{name}", act="join", name=name)
            issued = {"scopes": ["treasury", "play", "self"], "expires_at": in_days(30), "member": 2}
            invited = await self._act(1, f"key-{self._club}", act="issue_key", **issued)
            redeeming = {"Idempotency-Key": f"redeeming-{self._club}"}
            taken = await self._done("POST", f"/v1/invitations/{invited['invitation']['code']}", redeeming, None)
            self._keys[2] = taken.said["key"]["secret"]
            issued = {"scopes": ["play"], "expires_at": in_days(30), "member": 3}
            invited = await self._act(1, f"third-key-{self._club}", act="issue_key", **issued)
            redeeming = {"Idempotency-Key": f"redeeming-third-{self._club}"}
            taken = await self._done("POST", f"/v1/invitations/{invited['invitation']['code']}", redeeming, None)
            self._keys[3] = taken.said["key"]["secret"]
            await self._act(1, "evening", act="open_evening", on=in_days(0)[:10], season="2026/27")
            for turn in count():
                for what in PLAN:
                    await self._rest()
                    await getattr(self, f"_{what}")(f"{turn}-{what}")
                    await self._look()

    async def _deposit(self, key: str) -> None:
        sent = {"member": self._chance.randint(1, 3), "amount": self._chance.randint(1, 500)}
        await self._act(1, key, act="deposit", via=self._chance.choice(("cash", "bank")), **sent)

    async def _fee(self, key: str) -> None:
        await self._act(1, key, act="fee", member=3, amount=self._chance.randint(1, 50))

    async def _payout(self, key: str) -> None:
        """Pay out what was paid in just before, so that no member is overpaid."""
        sent = {"member": 2, "amount": 700, "via": "bank"}
        await self._act(1, f"{key}-in", act="deposit", **sent)
        await self._act(1, key, True, act="payout", **sent)

    async def _pay(self, key: str) -> None:
        proposed = await self._act(1, key, act="pay", payer=1, payee=2, amount=self._chance.randint(1, 90))
        await self._act(2, f"{key}-confirmed", act="confirm", proposal=proposed["proposal"])

    async def _reverse(self, key: str) -> None:
        """Reverse one of the first entries, which may be reversed already."""
        await self._act(1, key, True, act="reverse", entry=self._chance.randint(1, 20))

    async def _close_books(self, key: str) -> None:
        told = await self._act(1, key, True, act="close_books", label=key)
        if "closing" in told:
            digest = told["events"][0]["event"]["digest"]
            if self._seen.closed.setdefault((UUID(self._club), told["closing"]), digest) != digest:
                self._ledger.found("twice", f"closing {told['closing']} was answered with another digest before")

    async def _money_match(self, key: str) -> None:
        """Play a match to its end, after the members have agreed to its stakes."""
        opening = self._bearer(1) | {"Idempotency-Key": f"opening-{self._club}-{key}"}
        made = (await self._done("POST", "/v1/matches", opening, MATCH | {"club": self._club, "evening": 1})).said
        self._ledger.told(made["id"], made["version"])
        self._path = f"/v1/matches/{made['id']}"
        for seat in range(3):
            agree = {"act": "agree_stakes", "seat": seat}
            headers = self._bearer(seat + 1) | {"Idempotency-Key": f"{key}-agreed-{seat}"}
            done = await self._done("POST", f"{self._path}/acts", headers, agree)
            self._acknowledged(made["id"], actor_at(seat), f"{key}-agreed-{seat}", done)
        headers = self._bearer(2) | {"Idempotency-Key": key}
        self._acknowledged(made["id"], "seat:1", key, await self._done("POST", f"{self._path}/acts", headers, SHEET))

    async def _act(self, who: int, key: str, may_refuse: bool = False, /, **sent: Any) -> dict[str, Any]:
        headers = self._bearer(who) | {"Idempotency-Key": key}
        answer = await self._done("POST", f"/v1/clubs/{self._club}/acts", headers, sent, may_refuse)
        said: dict[str, Any] = answer.said
        if answer.status == 201:
            told = Acknowledged(said["events"][0]["number"], said["version"])
            if sent["act"] != "issue_key":  # its key is not stored
                self._ledger.acts[self._club, f"key:k{who}", key] = told
            self._ledger.counts["money"] += 1
            if said["version"] <= self._version:
                self._ledger.found("answers", f"{key} answered {said['version']} after {self._version}")
            self._version, self.answered_at = said["version"], time.monotonic()
        return said

    async def _look(self) -> None:
        """Read the last checkpoint, which is public."""
        try:
            answer = await self._client.ask("GET", "/v1/log/checkpoint", {}, seconds=5)
        except LOST:
            return
        self._ledger.judge("GET /v1/log/checkpoint", answer)
        if answer.status == 200:
            self._seen.notes.add(answer.body.decode())

    def _bearer(self, member: int) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._keys[member]}"}
