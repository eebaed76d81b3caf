"""A club's evening: three matches for money, the payments, the books as a file, and proofs of the record."""

import subprocess
import sys
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.demo.client import ENGLISH, Client, Unexpected, expect
from tests.demo.sheet import EVENING, NUMBERS, PLAYERS, SEASON
from tests.demo.tampering import bundle_changed, row_changed

VERIFY = Path(__file__).parents[2] / "openapi" / "verify.py"
PROOF_SECONDS = 30
LOOK_SECONDS = 0.2


class Evening:
    """Plays a club's evening, and prints what happens."""

    def __init__(self, client: Client) -> None:
        self.client = client
        founding = {
            "name": "Knackarna",
            "currencies": ["SEK"],
            "timezone": "Europe/Stockholm",
            "founder": {"name": PLAYERS[0]},
        }
        made = client.post("/v1/clubs", founding)
        self.path, self.key = f"/v1/clubs/{made['id']}", made["key"]["secret"]
        self.id: str = made["id"]
        for name in PLAYERS[1:]:
            self.done("join", name=name)
        for member, swish in enumerate(NUMBERS, 1):
            self.done("set_payee", member=member, swish=swish)
        self.keys = [self.key, *map(self._key_of, range(2, len(PLAYERS) + 1))]
        """The members' keys, by seat."""
        self.number: int = self.done("open_evening", on=date.today().isoformat(), season=SEASON)["evening"]

    def _key_of(self, member: int) -> str:
        """Return the key of a member, who redeems its invitation."""
        until = (datetime.now(UTC) + timedelta(days=30)).isoformat()
        invitation = self.done("issue_key", member=member, expires_at=until)["invitation"]
        secret: str = self.client.post(f"/v1/invitations/{invitation['code']}", {})["key"]["secret"]
        return secret

    def done(self, act: str, **fields: Any) -> dict[str, Any]:
        """Do an act of the club, and return the answer."""
        answer: dict[str, Any] = self.client.post(f"{self.path}/acts", {"act": act, **fields}, self.key)
        return answer

    def get(self, path: str) -> Any:
        """Return the JSON at a path of the club, after all acts so far."""
        mark = "&" if "?" in path else "?"
        return self.client.get(f"{self.path}{path}{mark}fresh=true", self.key)

    # The evening

    def play(self) -> None:
        """Play all matches of the sheet, and print the amounts of each."""
        for table, (title, match) in enumerate(EVENING.items(), 1):
            self._play(f"Table {table}: {title}", {"table": table, **match["opening"]}, match)

    def _play(self, title: str, opening: dict[str, Any], match: dict[str, Any]) -> None:
        of_the_club = {"club": self.id, "evening": self.number, "dealing": "tally", "adjudication": None}
        players = [{"member": member} for member in range(1, len(PLAYERS) + 1)]
        made = self.client.post("/v1/matches", {**of_the_club, "players": players, **opening}, self.key)
        path, official = f"/v1/matches/{made['id']}", made["official_token"]
        for seat, key in enumerate(self.keys):
            self.client.post(f"{path}/acts", {"act": "agree_stakes", "seat": seat}, key)
        for deal in match["deals"]:
            version = self.client.post(f"{path}/acts", deal, official)["version"]
        settled = self.client.get(f"{path}/settlement?min_version={version}", official)
        amounts = [seat["amount"] for seat in settled["seats"]]
        expect(f"the amounts of {title}", (settled["status"], amounts), ("final", match["amounts"]))
        expect("that all have agreed to the stakes", settled["counted"], "agreed")
        for seat in settled["seats"]:
            expect("that the lines add up", sum(line["amount"] for line in seat["lines"]), seat["amount"])
        print(f"  {title}")
        print(f"    {' | '.join(f'{name} {_kronor(amount)}' for name, amount in zip(PLAYERS, amounts, strict=True))}")
        paid = [
            f"{PLAYERS[one['from']]} {_kronor(one['amount'])} to {PLAYERS[one['to']]} ({one['rule']})"
            for one in settled["payments"]
        ]
        if paid:
            print(f"    {', '.join(paid)}")

    # The money

    def settle(self) -> None:
        """Print the plan of payments, with the code for each."""
        plan = self.get(f"/plan?evening={self.number}")
        owed = {one["account"]: one["balance"] for one in self.get(f"/accounts?evening={self.number}")["items"]}
        expect("that the books balance", sum(owed.values()), 0)
        payments = f"{plan['count']} payments, the fewest possible" if plan["minimal"] else plan["count"]
        print(f"The treasurer's plan: {payments}\n")
        for one in plan["payments"]:
            payer, payee = (_name(one[side]) for side in ("from", "to"))
            print(f"  {payer} pays {payee} {_kronor(one['amount'])}\n    Swish {one['swish']}")
            code = f"{self.path}/plan/{one['id']}?evening={self.number}"
            drawing = self.client.text(code, self.key, {"Accept": "image/svg+xml"})
            expect("the picture of the code", drawing.lstrip()[:4] in ("<svg", "<?xm"), True)
            for side, sign in (("from", 1), ("to", -1)):
                account = f"member:{one[side]}"
                owed[account] = owed.get(account, 0) - sign * one["amount"]
        members = [f"member:{member}" for member in range(1, len(PLAYERS) + 1)]
        expect("what members owe when all have paid", [owed.get(one, 0) for one in members], [0] * len(members))

    def export(self) -> None:
        """Print the books in the format of hledger and ledger."""
        journal = self.client.text(f"{self.path}/export/hledger?fresh=true&names=true", self.key)
        expect("how many entries the file has", journal.count(datetime.now(UTC).strftime("%Y-")) > len(EVENING), True)
        print("The books for hledger and ledger\n")
        print("\n".join(f"  {line}".rstrip() for line in journal.splitlines()))

    def close(self) -> None:
        """Close the books, and print the digest."""
        (closed,) = self.done("close_books", label=f"Evening {self.number}")["events"]
        closing = closed["event"]
        print(f"The books are closed through entry {closing['through']}: SHA-256 {closing['digest']}")

    # Proofs

    def prove(self) -> None:
        """Print a signed checkpoint, and the checks of the closing's bundle, unchanged and with a forged amount."""
        keys: list[str] = self.client.get("/v1/log")["vkeys"]
        bundle = self._bundle()
        print("The log is signed: a checkpoint for the wall\n")
        for line in self.client.text("/v1/log/checkpoint").splitlines():
            print(f"  {line}".rstrip())
        print("\nAny client can check the bundle of the closing, with only openapi/verify.py and openssl\n")
        code, said = _verify(bundle, " ".join(keys))
        expect("what a checker finds in the bundle", (code, said[-1].partition(":")[0]), (0, "entries"))
        print("\n".join(f"  {line}" for line in (said[0], "…", *said[-3:])))
        code, said = _verify(bundle_changed(bundle), " ".join(keys))
        expect("what a checker finds in a bundle that was tampered with", code, 1)
        print(f"  with nine kronor instead of one in a row:\n  {said[-1]}")

    def _bundle(self) -> str:
        """Return the bundle of the closing, as soon as a checkpoint covers all its rows."""
        deadline = time.monotonic() + PROOF_SECONDS
        while True:
            try:
                return self.client.text(f"{self.path}/bundle?closing=1", self.key)
            except Unexpected:
                if time.monotonic() > deadline:
                    raise
                time.sleep(LOOK_SECONDS)

    def _report(self) -> dict[str, Any]:
        report: dict[str, Any] = self.client.get(f"{self.path}/audit", self.key, ENGLISH)
        return report

    def audit(self, store: Path | None) -> None:
        """Print the audit, and again after a row of our own store was changed."""
        _print_audit("The audit", self._report(), wrong=False)
        if store is None:
            return
        row_changed(store)
        _print_audit("\nThe audit after that row was changed in the database", self._report(), wrong=True)


def _print_audit(title: str, report: dict[str, Any], *, wrong: bool) -> None:
    print(f"{title}\n")
    for check in report["checks"]:
        print(f"  {'ok ' if check['ok'] else 'NO '} {check['check']} ({check['count']})")
        for difference in check["differences"]:
            print(f"      {difference['text']}")
    expect("that the audit finds something", any(not check["ok"] for check in report["checks"]), wrong)


def _verify(bundle: str, keys: str) -> tuple[int, list[str]]:
    """Check a bundle with ``openapi/verify.py``. Return the exit code and the lines printed."""
    with TemporaryDirectory(prefix="knacka-demo-") as folder:
        written = Path(folder, "bundle.json")
        written.write_bytes(bundle.encode())
        command = [sys.executable, str(VERIFY), str(written), keys]
        ran = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
    return ran.returncode, ran.stdout.splitlines() or [ran.stderr]


def _name(node: int | None) -> str:
    return "The club" if node is None else PLAYERS[node - 1]


def _kronor(amount: int) -> str:
    return f"{amount / 100:.2f}"
