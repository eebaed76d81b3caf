"""Examples of the calls about clubs: found a club, send every kind of act, and read every resource."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from api.access.codes import CODES
from api.access.keys import make_key_text
from referee.clubs.keys import KEY_DAYS
from referee.invitations import INVITATION_DAYS
from tests.conformance.recorded_calls import OfClub, Recording

FOUNDING = {
    "name": "Knackarna",
    "currencies": ["SEK"],
    "timezone": "Europe/Stockholm",
    "founder": {"name": "Anna Andersson"},
}
EVENING = "2026-01-02"
"""Day of all acts in the examples, by the stand-in clock."""
IBAN = "SE45 5000 0000 0583 9825 7466"
"""Example from the IBAN registry."""
DAYS = 100
"""Days until the issued keys expire."""
WRONG_HEADERS = {
    401: {"Authorization": "Basic QW5uYTo="},
    406: {"Accept": "image/png"},
    412: {"If_Match": '"99"'},
    415: {"Content_Type": "text/plain"},
}
"""Headers of the calls that fail with each status."""


class Club:
    """A club, with the keys of its members and programs."""

    def __init__(self, client: Recording, moment: Any) -> None:
        self.client, self._moment = client, moment
        client.name = "example"
        _, made = client.ask("POST", "/v1/clubs", "", FOUNDING)
        self.id, self.path, self.key = made["id"], f"/v1/clubs/{made['id']}", made["key"]["secret"]
        self._own_id = UUID(bytes=sha256(b"Knackarna").digest()[:16], version=4)
        client.stand_ins[self.id] = str(self._own_id)
        client.stand_ins[f"{datetime.now(UTC):%Y-%m-%d}"] = EVENING
        client.stand_ins[EVENING] = EVENING
        self._stands_for(made["key"])
        client.stand_ins[made["key"]["expires_at"]] = moment(int(KEY_DAYS.total_seconds()))
        until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=DAYS)
        self._until = until.isoformat().replace("+00:00", "Z")
        client.stand_ins[self._until] = moment(DAYS * 86400)
        self._does_all()
        self._reads_all()

    def _stands_for(self, key: Any) -> None:
        random = sha256(f"{key['id']} {key['secret'] == self.key}".encode()).digest()
        self.client.stand_ins[key["secret"]] = make_key_text(self._own_id, key["id"], random)

    def _does_all(self) -> None:
        member = self._does("join", name="Berit Bengtsson")["member"]
        self._does("rename", member=member, name="Berit Borg")
        scopes = {"scopes": ["play", "self"], "expires_at": self._until}
        self.players = self._invited(member, **scopes)
        board = self._does("issue_key", app="Scoreboard", scopes=["read"], expires_at=self._until)["key"]
        rotated = self._of_key("rotate_key", board["id"], overlap_seconds=3600)
        self.screen = self._does("issue_key", app="Screen", scopes=["read"], expires_at=self._until)["key"]
        self._stands_for(self.screen)
        self.client.stand_ins[board["secret"]] = make_key_text(self._own_id, board["id"], sha256(b"board").digest())
        self._stands_for(rotated["key"])
        self.client.stand_ins[rotated["events"][0]["event"]["until"]] = self._moment(3600)
        self._of_key("revoke_key", board["id"])
        self._does("set", payout_limit=50000, keep_years=0)
        self._does("open_evening", on=EVENING, season="2025/26")
        self._does("close_evening", evening=1)
        self._does("set_club_payee", swish="123 123 45 67")
        self._does("set_payee", self.players["secret"], swish="070-123 45 67", iban=IBAN)
        self._pays()
        gone = self._does("join", name="Cesar Carlsson")["member"]
        self._does("leave", member=gone)
        self._looks_first(gone)
        digest = self._does("erase", member=gone)["events"][0]["event"]["texts"]
        self.client.stand_ins[digest] = sha256(b"erased").hexdigest()
        self._plays()

    def _plays(self) -> None:
        """Open a match for money between Berit and Dag, and agree to its stakes as Berit."""
        evening = self._does("open_evening", on=EVENING, season="2025/26")["evening"]
        opening = {
            "ruleset": "kalabrias",
            "players": [{"member": 2}, {"member": 3}],
            "options": {"money": "difference"},
            "stakes": {"currency": "SEK", "unit": 10},
            "club": self.id,
            "evening": evening,
        }
        self.match = OfClub(self.client, "a match for money", self.key, opening)
        path = self.match.path
        self.client.ask("POST", f"{path}/acts", self.players["secret"], {"act": "agree_stakes", "seat": 0})
        self.client.name = "a club's match for money"
        self.client.ask("GET", f"{path}/settlement", self.key)

    def _looks_first(self, gone: int) -> None:
        erasing = msgspec.json.encode({"act": "erase", "member": gone})
        answer, said = self.client.raw("POST", f"{self.path}/acts?preview=true", self.key, erasing)
        self.client.name = "preview"
        self.client.keep("POST", f"{self.path}/acts", answer.status, "application/json", msgspec.json.decode(said))
        self.client.name = "example"

    def _pays(self) -> None:
        """Send every act about money. The founder is one treasurer, Dag is the other."""
        other = self._does("join", name="Dag Dahl")["member"]
        until = {"expires_at": self._until}
        treasurer = self._invited(other, scopes=["treasury"], **until)
        self._does("opening", account="cash", amount=100000)
        self._does("deposit", member=2, amount=60000, via="bank", evening=1)
        self._does("fee", member=2, amount=2500, evening=1)
        self._does("payout", member=2, amount=1000, via="cash")
        self._does("set", payout_limit=1500)
        waits = self._does("payout", member=2, amount=1000, via="cash")["proposal"]
        self._does("confirm", treasurer["secret"], proposal=waits)
        waits = self._does("pay", self.players["secret"], payer=1, payee=2, amount=450)["proposal"]
        self._does("confirm", proposal=waits)
        waits = self._does("pay", payer=1, payee=2, amount=450)["proposal"]
        self._does("decline", proposal=waits)
        self._does("reverse", entry=3)
        self._does("pay", self.players["secret"], payer=2, payee=1, amount=200)
        digest = self._does("close_books", label="2025")["events"][0]["event"]["digest"]
        self.client.stand_ins[digest] = sha256(b"2025").hexdigest()

    def _invited(self, member: int, **fields: Any) -> Any:
        """Return the key of a member who has redeemed an invitation."""
        invitation = self._does("issue_key", member=member, **fields)["invitation"]
        code, until = invitation["code"], invitation["expires_at"]
        self.client.stand_ins[code] = CODES.make_text(self._own_id, "", sha256(b"%d" % member).digest())
        self.client.stand_ins[until] = self._moment(INVITATION_DAYS * 86400)
        self.client.name = "a key of a club"
        for method in ("GET", "POST"):
            _, body = self.client.ask(method, f"/v1/invitations/{code}")
        self._stands_for(body["key"])
        return body["key"]

    def _does(self, act: str, key: str = "", **fields: Any) -> Any:
        return self._sends(key or self.key, {"act": act, **fields})

    def _sends(self, key: str, act: dict[str, Any]) -> Any:
        answer, done = self.client.ask("POST", f"{self.path}/acts", key, act)
        assert answer.status == 201, done
        return done

    def _of_key(self, act: str, key: str, **fields: Any) -> Any:
        return self._sends(self.key, {"act": act, "key": key, **fields})

    def _reads_all(self) -> None:
        self.client.name = "example"
        calls = ("members", "evenings", "keys", "standings?season=2025/26&fresh=true")
        for path in (self.path, *(f"{self.path}/{call}" for call in calls), "/v1/key"):
            self.client.ask("GET", path, self.key)
        _, said = self.client.raw("GET", f"{self.path}/plan", self.key)
        for place, one in enumerate(msgspec.json.decode(said)["payments"]):  # the club is in their ids
            self.payment = one["id"]
            self.client.stand_ins[one["id"]] = sha256(f"payment {place}".encode()).hexdigest()[:16]
        for what in (
            "proposals",
            "closings",
            "accounts",
            "accounts/member:2/statement",
            "journal",
            "plan",
            "export/json",
            "standings",
            "audit",
        ):
            self.client.ask("GET", f"{self.path}/{what}", self.key)
        self.client.ask("GET", f"{self.path}/plan/{self.payment}", self.key)
        written = {
            "accounts/member:2/statement": ("text/csv", "text/html"),
            "audit": ("text/html",),
            "export/csv": ("text/csv",),
            f"plan/{self.payment}": ("image/svg+xml",),
            "export/hledger": ("text/plain",),
        }
        for what, media_types in written.items():
            for media_type in media_types:
                answer, said = self.client.raw("GET", f"{self.path}/{what}", self.key, Accept=media_type)
                assert answer.status == 200, said
                self.client.keep("GET", f"{self.path}/{what}", 200, media_type, said.decode())

    def provoked(self, method: str, template: str, status: int, unknown: str) -> bytes:
        """Return the answer to a call about the club that fails with this status."""
        given = {"club": self.id, "account": "member:2", "kind": "csv", "payment": self.payment}
        path, call = template.format(**given), template.rpartition("/")[2]
        asked: Any = FOUNDING if call == "clubs" else {"act": "join", "name": "Elsa"}
        if call == "matches":
            asked = {"ruleset": "kalabrias", "players": [{"member": 1}, {"member": 2}], "evening": 1, "club": self.id}
        content = msgspec.json.encode(asked) if method == "POST" else None
        if call == "bundle":
            path += "?closing=1"
        if status == 413:
            content = b" " * 2_000_000
        elif method != "GET":
            content = self._wrong_body(call, status, {**asked, "club": unknown}) or content
        url = path.replace(self.id, unknown) if status == 404 and call != "matches" else path
        url += self._wrong_query(method, call, status, "&" if "?" in path else "?")
        token = self._wrong_credential(method, call, status)
        _, said = self.client.raw(method, url, token, content, **WRONG_HEADERS.get(status, {}))
        return said

    @staticmethod
    def _wrong_body(call: str, status: int, elsewhere: dict[str, Any]) -> bytes | None:
        """Return the body that makes a call fail with this status. ``elsewhere``: the body for an unknown club."""
        body: Any = None
        match status:
            case 400:
                return b'{"act": "join"}'
            case 404 if call == "matches":
                body = elsewhere
            case 409 if call != "matches":  # its evening is closed
                body = {"act": "close_evening", "evening": 1}
            case 422 if call == "clubs":
                body = {**FOUNDING, "timezone": "Europe/Knislinge"}
            case 422 if call != "standings":
                body = {"act": "leave", "member": 99}
        return None if body is None else msgspec.json.encode(body)

    @staticmethod
    def _wrong_query(method: str, call: str, status: int, also: str) -> str:
        """Return the query that makes a call fail with this status. ``also`` is the sign before it."""
        if status == 422 and call == "standings":
            return "?ruleset=whist"
        if method != "GET":
            return ""
        return {400: f"{also}nonsense=1", 409: f"{also}min_version=999999999", 422: "?currency=NOK"}.get(status, "")

    def _wrong_credential(self, method: str, call: str, status: int) -> str:
        """Return the credential of a call that fails with this status."""
        if status == 403:
            return str((self.screen if method == "GET" else self.players)["secret"])
        return "" if status == 401 or call == "clubs" else self.key
