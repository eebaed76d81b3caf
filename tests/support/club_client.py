"""A club over HTTP, with its keys, and the calls that tests make most."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx

from api.access.tokens import hash_of, new_token
from referee.actors import actor_at
from referee.admission import Invite, RedeemInvitation
from referee.store.command import Command
from referee.tokens import hash_in_match

FOUNDING: dict[str, Any] = {
    "name": "Knackarna",
    "currencies": ["SEK"],
    "timezone": "Europe/Stockholm",
    "founder": {"name": "Anna Åkesson-Ödmårk"},
}
OPERATOR = "the operator's own key, which nobody guesses"


def in_days(days: float) -> str:
    """Return the time this many days from now, in the form of a request."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def found(client: Any, body: Any = None, **headers: str) -> httpx.Response:
    answer: httpx.Response = client.post("/v1/clubs", json=FOUNDING if body is None else body, headers=headers)
    return answer


class ClubTable:
    """A new club. ``keys`` has the text of each key by name; ``client`` has the methods of an httpx client."""

    def __init__(self, client: Any) -> None:
        answer = found(client)
        assert answer.status_code == 201, answer.text
        self.client, self.made = client, answer.json()
        self.id, self.path = self.made["id"], f"/v1/clubs/{self.made['id']}"
        self.keys: dict[str, str] = {"founder": self.made["key"]["secret"]}

    def bearer(self, who: str | None) -> dict[str, str]:
        return {} if who is None else {"Authorization": f"Bearer {self.keys.get(who, who)}"}

    def get(self, path: str = "", who: str | None = "founder", **headers: str) -> httpx.Response:
        answer: httpx.Response = self.client.get(self.path + path, headers=self.bearer(who) | headers)
        return answer

    def act(self, act: str, who: str | None = "founder", headers: Any = None, **fields: Any) -> httpx.Response:
        answer: httpx.Response = self.client.post(
            f"{self.path}/acts", json={"act": act, **fields}, headers=self.bearer(who) | (headers or {})
        )
        return answer

    def done(self, act: str, who: str | None = "founder", **fields: Any) -> dict[str, Any]:
        answer = self.act(act, who, **fields)
        assert answer.status_code == 201, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def join(self, name: str) -> int:
        """Add a member; return the member's number."""
        number: int = self.done("join", name=name)["member"]
        return number

    def issue(self, name: str, *scopes: str, days: float = 30, **whose: Any) -> str:
        """Issue a key, store it under this name, and return its id. A key of another member is redeemed."""
        fields: dict[str, Any] = {"scopes": scopes} if scopes else {}
        done = self.done("issue_key", expires_at=in_days(days), **fields, **(whose or {"app": name}))
        if "invitation" in done:
            done = self.redeemed(done["invitation"]["code"])
        self.keys[name] = done["key"]["secret"]
        key_id: str = done["key"]["id"]
        return key_id

    def redeemed(self, code: str) -> dict[str, Any]:
        """Redeem an invitation; return the body of the answer."""
        answer = self.client.post(f"/v1/invitations/{code}")
        assert answer.status_code == 201, answer.text
        given: dict[str, Any] = answer.json()
        return given

    def itself(self, who: str) -> httpx.Response:
        """Read ``/v1/key`` with a key."""
        answer: httpx.Response = self.client.get("/v1/key", headers=self.bearer(who))
        return answer

    def names(self, who: str = "founder") -> list[str]:
        """Return the names of the members, by number."""
        return [member["name"] for member in self.get("/members", who).json()["items"]]


def seated(client: Any, match_id: str, seats: int = 3) -> dict[int | str, str]:
    """Return a token for each seat of a club's match, as if its members had redeemed their invitations, and so agreed
    to the stakes, in a different process."""
    desk, tokens = client.app.state.service.desk, dict[int | str, str]()
    for seat in range(seats):
        tokens[seat] = new_token()
        for request in (
            Invite(role="seat", seat=seat, hash=hash_of(f"code for {tokens[seat]}")),
            RedeemInvitation(invitation=seat + 1, hash=hash_in_match(UUID(match_id), hash_of(tokens[seat]))),
        ):
            desk.submit(Command(id=UUID(match_id), actor=actor_at(seat), request=request)).result(30)
    return tokens
