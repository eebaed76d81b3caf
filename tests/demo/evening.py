"""A club's evening: three matches for money, who pays whom, the books as a file, and proof that all is as it was."""

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
    """A club with an evening under way. What happens is printed."""

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
        """The key of a member, who redeems the invitation to it."""
        until = (datetime.now(UTC) + timedelta(days=30)).isoformat()
        invitation = self.done("issue_key", member=member, expires_at=until)["invitation"]
        secret: str = self.client.post(f"/v1/invitations/{invitation['code']}", {})["key"]["secret"]
        return secret

    def done(self, act: str, **fields: Any) -> dict[str, Any]:
        """What comes of an act of the club."""
        told: dict[str, Any] = self.client.post(f"{self.path}/acts", {"act": act, **fields}, self.key)
        return told

    def get(self, path: str) -> Any:
        """Something of the club's books, as they stand after all that was done."""
        mark = "&" if "?" in path else "?"
        return self.client.get(f"{self.path}{path}{mark}fresh=true", self.key)

    # The evening

    def play(self) -> None:
        """All matches of the sheet, and what each comes to."""
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
        expect(f"what {title} comes to", (settled["status"], amounts), ("final", match["amounts"]))
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

    # What comes of it

    def settle(self) -> None:
        """Who pays whom, with the code for each payment."""
        plan = self.get(f"/plan?evening={self.number}")
        owed = {one["account"]: one["balance"] for one in self.get(f"/accounts?evening={self.number}")["accounts"]}
        expect("that the books balance", sum(owed.values()), 0)
        payments = f"{plan['count']} payments, and fewer will not do" if plan["minimal"] else plan["count"]
        print(f"The treasurer's plan: {payments}\n")
        for one in plan["payments"]:
            payer, payee = (_name(one[side]) for side in ("from", "to"))
            print(f"  {payer} pays {payee} {_kronor(one['amount'])}\n    Swish {one['swish']}")
            drawing = self.client.text(f"{self.path}/plan/{one['id']}.svg?evening={self.number}", self.key)
            expect("the picture of the code", drawing.lstrip()[:4] in ("<svg", "<?xm"), True)
            for side, sign in (("from", 1), ("to", -1)):
                account = f"member:{one[side]}"
                owed[account] = owed.get(account, 0) - sign * one["amount"]
        members = [f"member:{member}" for member in range(1, len(PLAYERS) + 1)]
        expect("what members owe when all have paid", [owed.get(one, 0) for one in members], [0] * len(members))

    def export(self) -> None:
        """The books as hledger and ledger read them."""
        journal = self.client.text(f"{self.path}/export/hledger?fresh=true&names=true", self.key)
        expect("how many entries the file has", journal.count(datetime.now(UTC).strftime("%Y-")) > len(EVENING), True)
        print("The books for hledger and ledger\n")
        print("\n".join(f"  {line}".rstrip() for line in journal.splitlines()))

    def close(self) -> None:
        """The books are closed."""
        (closed,) = self.done("close_books", label=f"Evening {self.number}")["events"]
        told = closed["event"]
        print(f"The books are closed through entry {told['through']}: SHA-256 {told['digest']}")

    # That it is on record

    def prove(self) -> None:
        """A signed checkpoint, the bundle of the closing, and what a stranger's program says of it: as it is, and
        with one amount changed."""
        keys: list[str] = self.client.get("/v1/log")["vkeys"]
        bundle = self._bundle()
        print("The log is signed: a checkpoint for the wall\n")
        for line in self.client.text("/v1/log/checkpoint").splitlines():
            print(f"  {line}".rstrip())
        print("\nAnybody checks the bundle of the closing, with openapi/verify.py and openssl alone\n")
        code, said = _verify(bundle, " ".join(keys))
        expect("what a checker finds in the bundle", (code, said[-1].partition(":")[0]), (0, "entries"))
        print("\n".join(f"  {line}" for line in (said[0], "…", *said[-3:])))
        code, said = _verify(bundle_changed(bundle), " ".join(keys))
        expect("what a checker finds in a bundle that was tampered with", code, 1)
        print(f"  with nine kronor for one in a row of it:\n  {said[-1]}")

    def _bundle(self) -> str:
        """The bundle of the closing, as soon as a checkpoint is of all its rows."""
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
        """All is recomputed from the rows: as they are, and, where the store is ours, when somebody was at them."""
        _print_audit("The audit", self._report(), wrong=False)
        if store is None:
            return
        row_changed(store)
        _print_audit("\nSomebody changes that row in the database. The audit then", self._report(), wrong=True)


def _print_audit(title: str, report: dict[str, Any], *, wrong: bool) -> None:
    print(f"{title}\n")
    for check in report["checks"]:
        print(f"  {'ok ' if check['ok'] else 'NO '} {check['check']} ({check['count']})")
        for difference in check["differences"]:
            print(f"      {difference['text']}")
    expect("that the audit finds something", any(not check["ok"] for check in report["checks"]), wrong)


def _verify(bundle: str, keys: str) -> tuple[int, list[str]]:
    """The exit code, and what is said of a bundle."""
    with TemporaryDirectory(prefix="knacka-demo-") as folder:
        written = Path(folder, "bundle.json")
        written.write_bytes(bundle.encode())
        command = [sys.executable, str(VERIFY), str(written), keys]
        ran = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
    return ran.returncode, ran.stdout.splitlines() or [ran.stderr]


def _name(node: int | str) -> str:
    return PLAYERS[node - 1] if isinstance(node, int) else "The club"


def _kronor(amount: int) -> str:
    return f"{amount / 100:.2f}"
