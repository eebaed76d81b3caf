"""A club table: officials hear what the events cannot decide, and a ruling corrects the protocol."""

from typing import Any

from tests.demo.client import ENGLISH, expect
from tests.demo.sheet import CASE, PLAYERS
from tests.demo.table import SEATS, Table


class Club(Table):
    """A match with closed hands that officials attend."""

    def _ask(self, call: str, token: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a call on the case, and return the case after it."""
        case: dict[str, Any] = self.client.post(f"{self.path}/knocks{call}", body, token, self._as_seen() | ENGLISH)
        self.version = case["version"]
        return case

    # Lines of the sheet

    def _do_closed(self, dealer: str) -> None:
        self._in, self._tricks = list(PLAYERS), 0
        self.do("deal", dealer, counts=[6] * len(PLAYERS))
        print(f"  {dealer} deals. The hands stay closed: a card is known when it is played.")

    def _do_case(self, player: str, accused: str, offence: str, *note: str) -> None:
        seat = SEATS[player]
        body = {"seat": seat, "accused": SEATS[accused], "offence": offence, "note": " ".join(note)}
        case = self._ask("", self._tokens[seat], body)
        expect("the case", (case["case"], case["status"], case["rule"]), (CASE, "pending", "J1"))
        print(f"  {player} knocks: “{case['note']}”\n    {case['why']}")

    def _do_states(self, player: str, says: str, *text: str) -> None:
        seat = SEATS[player]
        body = {"seat": seat, "agrees": says == "agrees", "text": " ".join(text)}
        case = self._ask(f"/{CASE}/statements", self._tokens[seat], body)
        expect("the status after a statement", case["status"], "pending")
        expect("the statement as the others see it", self.get(f"/knocks/{CASE}")["statements"][-1]["text"], "")
        print(f"  {player} states: “{case['statements'][-1]['text']}”")

    def _do_rules(self, official: str, verdict: str, standard: str, rule: str, *reason: str) -> None:
        before = self.get()["points"]
        body = {"verdict": verdict, "standard": standard, "rule": rule, "reason": " ".join(reason)}
        case = self._ask(f"/{CASE}/ruling", self._officials[official], body)
        status = "final" if case["appeals"] else "ruled"
        expect("the ruling", (case["verdict"], case["rule"], case["status"]), (verdict, rule, status))
        appeal = "Final" if case["appeal_until"] is None else "Open to an appeal"
        print(f"  {official} rules ({standard.replace('_', ' ')}): “{case['rulings'][-1]['reason']}”")
        print(f"    {case['why']} {appeal} (J7).")
        if (after := self.get()["points"]) != before:
            was, now = (", ".join(map(str, points)) for points in (before, after))
            print(f"    The line is scored again (J9): {was} becomes {now}")

    def _do_appeals(self, player: str, *text: str) -> None:
        seat = SEATS[player]
        case = self._ask(f"/{CASE}/appeal", self._tokens[seat], {"seat": seat, "text": " ".join(text)})
        expect("the status after an appeal", case["status"], "appealed")
        print(f"  {player} appeals (J7): “{case['appeals'][-1]['text']}”")
