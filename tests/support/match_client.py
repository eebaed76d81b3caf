"""A match played over HTTP, with its tokens, and the calls that tests make most."""

import random
from typing import Any

import httpx

KORTOXEN = "rodskagg-kortoxen"
HANDS = [
    ["SA", "SK", "SQ", "H2", "H3", "D4"],
    ["S2", "S3", "HA", "HK", "D5", "D6"],
    ["S4", "S5", "H4", "H5", "DA", "CK"],
]
"""Three hands for a real table. Any spade in them can be led."""


def topics_of(events: list[dict[str, Any]]) -> list[str]:
    """Return the topics of events in an answer."""
    return [one["event"]["topic"] for one in events]


class Table:
    """A match and its tokens. ``client`` has the methods of an httpx client."""

    def __init__(self, client: Any, **opening: Any) -> None:
        body = {
            "ruleset": KORTOXEN,
            "players": [{"name": name} for name in ("Anna", "Berit", "Cesar")],
            "first_dealer": 0,
            "options": {"deal_ritual": False},
            "dealing": "table",
            "enforcement": "penalise",
            "adjudication": None,
        } | opening
        answer = client.post("/v1/matches", json=body)
        assert answer.status_code == 201, answer.text
        self.client, self.opened = client, answer.json()
        self.id = self.opened["id"]
        self.path = f"/v1/matches/{self.id}"
        self.tokens: dict[int | str, str] = {seat["seat"]: seat["token"] for seat in self.opened["seats"]}
        self.tokens["official"] = self.opened["official_token"]
        self.tokens |= {one["actor"]: one["token"] for one in self.opened["officials"]}

    def bearer(self, who: int | str | None) -> dict[str, str]:
        return {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}

    def get(self, path: str = "", who: int | str | None = None, **headers: str) -> httpx.Response:
        answer: httpx.Response = self.client.get(self.path + path, headers=self.bearer(who) | headers)
        return answer

    def post(self, path: str, body: Any, who: int | str | None, **headers: str) -> httpx.Response:
        answer: httpx.Response = self.client.post(self.path + path, json=body, headers=self.bearer(who) | headers)
        return answer

    def send(self, act: str, seat: int | None, **fields: Any) -> httpx.Response:
        """Send an act with the token of its seat, or the official's token if it has no seat."""
        body = {"act": act, **({} if seat is None else {"seat": seat}), **fields}
        return self.post("/acts", body, "official" if seat is None else seat)

    def done(self, act: str, seat: int | None, **fields: Any) -> dict[str, Any]:
        answer = self.send(act, seat, **fields)
        assert answer.status_code == 201, answer.text
        done: dict[str, Any] = answer.json()
        return done

    def deal(self, hands: list[list[str]] = HANDS, dealer: int = 0) -> None:
        self.done("deal", dealer, hands=hands)

    def bid(self, *bids: str, first: int = 1) -> None:
        for place, bid in enumerate(bids):
            self.done("bid", (first + place) % len(self.opened["seats"]), bid=bid)

    def play(self, *cards: str, first: int) -> None:
        for place, card in enumerate(cards):
            self.done("play", (first + place) % len(self.opened["seats"]), card=card)

    def version(self) -> int:
        version: int = self.get().json()["version"]
        return version

    def finish_deal(self, seed: int = 0, acts: int = 100) -> None:
        """Send random legal acts until a deal is scored. No seat bids rödskagg, which can end the match."""
        chance = random.Random(seed)
        deal = self.get().json()["deal"]
        for _ in range(acts):
            state = self.get().json()
            if state["deal"] != deal or state["phase"] == "over":
                return
            legal = [act for seat in state["active"] for act in self.get("/legal-acts", seat).json()]
            wanted = [
                act for act in legal if act["act"] not in ("knock_out", "take_back") and act.get("bid") != "rodskagg"
            ]
            act = chance.choice(wanted or legal)
            if act == {"act": "deal", "seat": act["seat"]} and state["dealing"] == "table":
                act["hands"] = HANDS
            answer = self.post("/acts", act, act["seat"])
            assert answer.status_code == 201, answer.text
        raise AssertionError("the deal was never scored")

    def finish(self, seed: int = 0) -> None:
        """Play until the match is over."""
        for turn in range(200):
            if self.get().json()["phase"] == "over":
                return
            self.finish_deal(seed + turn)
        raise AssertionError("the match was never won")
