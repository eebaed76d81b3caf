"""Plays the lines of the sheet by calls, and compares every answer with its line."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.demo.client import ENGLISH, NONE, SWEDISH, Client, expect
from tests.demo.sheet import PLAYERS

SEATS = {name: seat for seat, name in enumerate(PLAYERS)}


class Table:
    """Plays a match, and prints what happens."""

    def __init__(self, client: Client, opening: Mapping[str, Any]) -> None:
        self.client = client
        made = client.post("/v1/matches", opening)
        self.path = f"/v1/matches/{made['id']}"
        self.version: int = made["version"]
        self.official: str = made["official_token"]
        self._tokens = [seat["token"] for seat in made["seats"]]
        self._officials = {one["name"]: one["token"] for one in made["officials"]}
        self._hands: dict[str, list[str]] = {}
        self._in = list(PLAYERS)
        self._trick: list[str] = []
        self._tricks = 0
        self.verdicts: list[str] = []
        self.winner: dict[str, Any] | None = None

    # Calls

    def get(self, path: str = "", token: str | None = None, headers: Mapping[str, str] = NONE) -> Any:
        """Return the JSON at a path of this match, at the version of the last act or later."""
        mark = "&" if "?" in path else "?"
        return self.client.get(f"{self.path}{path}{mark}min_version={self.version}", token, headers)

    def do(self, act: str, player: str, **fields: Any) -> list[dict[str, Any]]:
        """Do an act of a player, and return its events. Their numbers must follow the last ones."""
        seat = SEATS[player]
        body = {"act": act, "seat": seat, **fields}
        done = self.client.post(f"{self.path}/acts", body, self._tokens[seat], self._as_seen())
        numbers = [event["number"] for event in done["events"]]
        expect("the numbers of events", numbers, list(range(self.version + 1, done["version"] + 1)))
        self.version = done["version"]
        return [event["event"] for event in done["events"]]

    def _as_seen(self) -> dict[str, str]:
        """Return the header by which the service refuses an act if the match has other events since."""
        return {"If-Match": f'"{self.version}"'}

    # Lines of the sheet

    def play(self, sheet: str) -> None:
        """Play a deal."""
        for line in sheet.strip().splitlines():
            name, *words = line.split()
            getattr(self, f"_do_{name}")(*words)

    def _do_say(self, *words: str) -> None:
        print(" ", *words)

    def _do_hand(self, player: str, *cards: str) -> None:
        self._hands[player] = list(cards)

    def _do_dealer(self, dealer: str) -> None:
        self._in, self._tricks = list(PLAYERS), 0
        self.do("cut", dealer)
        self.do("deal", dealer, hands=[self._hands[player] for player in PLAYERS])
        expect("what a seat sees before it takes up its cards", self._hand(dealer), None)
        self.do("knock_for_cards", dealer)
        for player in _from(dealer):
            self.do("pick_up", player)
            expect(f"{player}'s hand", self._hand(player), set(self._hands[player]))
        print(f'  {dealer} cuts, deals, and knocks: "Knack för kort och felgiv!" All take up their cards.')

    def _hand(self, player: str) -> set[str] | None:
        hand = self.get(token=self._tokens[SEATS[player]])["hand"]
        return None if hand is None else set(hand)

    def _do_bids(self, *words: str) -> None:
        events: list[dict[str, Any]] = []
        for player, bid in _pairs(words):
            events = self.do("bid", player, bid=bid)
        print("  bids    " + ", ".join(f"{player} {bid}" for player, bid in _pairs(words)))
        for won in (event for event in events if event["topic"] == "auction/won"):
            print(f"  {PLAYERS[won['seat']]} plays for {won['contract']}")

    def _do_refused(self, player: str, bid: str, rule: str) -> None:
        seat = SEATS[player]
        body = {"act": "bid", "seat": seat, "bid": bid}
        problem = self.client.post(f"{self.path}/acts", body, self._tokens[seat], status=422)
        expect("the rule of the refusal", problem["rule"], rule)
        expect("the version after a refusal", self.get()["version"], self.version)
        print(f"  refused {player} {bid}: {problem['detail']} ({rule})")

    def _do_lead(self, player: str, card: str) -> None:
        self.do("play", player, card=card)
        self._trick = [card]

    def _do_trick(self, leader: str, *words: str) -> None:
        *cards, winner = words
        order = [player for player in _from(leader) if player in self._in]
        events: list[dict[str, Any]] = []
        for player, card in list(zip(order, cards, strict=True))[len(self._trick) :]:
            events = self.do("play", player, card=card)
        self._trick, self._tricks = [], self._tricks + 1
        taken = next((event for event in events if event["topic"] == "trick/taken"), {})
        expect("who took the trick", (taken.get("trick"), taken.get("seat")), (self._tricks, SEATS[winner]))
        played = ", ".join(f"{player} {card}" for player, card in zip(order, cards, strict=True))
        print(f"  trick {self._tricks} {played}: {winner}")

    def _do_ask(self, *words: str) -> None:
        declarer = PLAYERS[self.get()["declarer"]]
        (asked,) = self.do("ask", declarer)
        expect("who is asked", [PLAYERS[seat] for seat in asked["of"]], [player for player, _ in _pairs(words)])
        for player, answer in _pairs(words):
            self.do("answer", player, answer=answer)
            if answer == "fold":
                self._in.remove(player)
        said = {"play": "goes along", "fold": "folds"}
        print(f"  {declarer} asks: " + ", ".join(f"{player} {said[answer]}" for player, answer in _pairs(words)))

    def _do_out(self, player: str) -> None:
        knocked, *_ = self.do("knock_out", player)
        expect("that the exit knock is valid", knocked["valid"], True)
        print(f'  {player} stands at 0 and knocks: "Knack för min utgång!"')

    def _do_knock(self, player: str, accused: str, offence: str, rule: str) -> None:
        seat = SEATS[player]
        body = {"seat": seat, "accused": SEATS[accused], "offence": offence}
        case = self.client.post(f"{self.path}/knocks", body, self._tokens[seat], self._as_seen() | ENGLISH)
        self.version = case["version"]
        if rule == "-":
            ruled, wanted = (case["verdict"], case["reason"], case["fine"]), ("dismissed", "nothing", 5)
        else:
            ruled, wanted = (case["verdict"], case["rule"], case["penalty"]), ("upheld", rule, 5)
        expect("the ruling", ruled, wanted)
        self.verdicts.append(case["verdict"])
        swedish = self.get(f"/knocks/{case['case']}", headers=SWEDISH)
        print(f"  {player} knocks!\n    {case['why']}\n    {swedish['why']}")

    def _do_score(self, *points: str) -> None:
        scored, *after = self.do("score", PLAYERS[self.get()["dealer"]])
        expect("the points", scored["points"], list(map(int, points)))
        print("  " + "; ".join(_sum(scored, seat) for seat in range(len(PLAYERS))))
        for event in (event for event in after if event["topic"] == "match/won"):
            self.winner = event

    def _do_winner(self, player: str, rule: str) -> None:
        won = self.winner or {}
        expect("the winner", (won.get("seat"), won.get("rule")), (SEATS[player], rule))
        expect("the end of the match", self.get()["phase"], "over")


def _from(player: str) -> tuple[str, ...]:
    """Return all players clockwise from this one."""
    seat = SEATS[player]
    return PLAYERS[seat:] + PLAYERS[:seat]


def _pairs(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    return zip(words[::2], words[1::2], strict=True)


def _sum(scored: dict[str, Any], seat: int) -> str:
    """Return as text the points of a seat before, the changes with their rules, and the points after."""
    entries = [f" {entry['points']:+} ({entry['rule']})" for entry in scored["entries"] if entry["seat"] == seat]
    return f"{PLAYERS[seat]} {scored['before'][seat]}{''.join(entries)} = {scored['points'][seat]}"
