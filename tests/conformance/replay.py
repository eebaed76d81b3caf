"""Play a conformance match step by step and compare every refusal, ruling and score.

:class:`Direct` plays in memory. ``test_over_http.py`` has a :class:`Player` over HTTP. ``README.md`` describes the
form of the matches.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, TypedDict

import msgspec

from referee.acts import AnyAct, Knock
from referee.events import DealScored, KnockDismissed, KnockUpheld, MatchClosed, MatchWon, PenaltyImposed, Stakes
from referee.refusals import Refused, WrongPhase
from referee.requests import Request
from referee.visibility import Event, Recorded
from tests.support.match_driver import Table
from tests.support.random_matches import opening

HERE = Path(__file__).parent
ENDS = ("winner", "by", "points", "settlement", "final_pot", "shares", "pot", "balances")
"""Fields of the end of a match that are compared if the match expects them."""


def matches(ruleset: str) -> Iterator[dict[str, Any]]:
    """Yield the conformance matches of a ruleset."""
    with (HERE / f"{ruleset}.jsonl").open(encoding="utf-8") as lines:
        yield from map(as_sent, map(msgspec.json.decode, lines))


def as_sent(given: dict[str, Any]) -> dict[str, Any]:
    """Return the match with its bids in the form of the API: text, and objects instead of pairs."""
    for step in given["steps"]:
        for body in (step.get("body", {}), *step.get("acts", ())):
            if "bid" in body:
                body["bid"] = str(body["bid"])
        book = step.get("book", {})
        if book.get("contract") is not None:
            book["contract"] = str(book["contract"])
        if "bids" in book:
            book["bids"] = [{"seat": seat, "bid": str(bid)} for seat, bid in book["bids"]]
    return given


class Refusal(Exception):
    """A step was refused, by ``rule`` if any; ``phase``: because of the phase of the match."""

    def __init__(self, rule: str | None, phase: bool) -> None:
        super().__init__(rule)
        self.rule, self.phase = rule, phase


class TakenOver(TypedDict, total=False):
    """The points and the pot of a match taken over from paper."""

    points: tuple[int, ...]
    pot: int


class Player(Protocol):
    """A way to play a match: in memory or over HTTP."""

    def act(self, actor: int | str, body: dict[str, Any]) -> None:
        """Send an act. Raises :class:`Refusal` if it is refused."""

    def knock(self, actor: int | str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a knock; return ``verdict``, ``rule``, ``penalty`` and ``payer``. Raises :class:`Refusal`."""

    def legal(self, actor: int | str) -> list[dict[str, Any]]:
        """Return the legal acts of an actor."""

    def line(self) -> dict[str, Any] | None:
        """Return the last line of the protocol, or None."""

    def end(self) -> dict[str, Any] | None:
        """Return the winner and the reason, or the shares of the pot; None if the match is not over."""


class Direct:
    """A match in memory, played only through decide and evolve."""

    def __init__(self, given: dict[str, Any]) -> None:
        names = ("ruleset", "players", "dealing", "enforcement", "first_dealer")
        self.table = Table(
            opening(
                **{name: given[name] for name in names},
                **msgspec.convert(given["opening"] or {}, TakenOver),
                stakes=msgspec.convert(given["stakes"], Stakes | None),
                **given["options"],
            )
        )

    @property
    def history(self) -> list[Recorded]:
        """Recorded events of the match."""
        return self.table.history

    def _do(self, request: Request) -> tuple[Event, ...]:
        try:
            return self.table.do(request)
        except Refused as refused:
            raise Refusal(refused.rule, isinstance(refused, WrongPhase)) from None

    def act(self, actor: int | str, body: dict[str, Any]) -> None:
        self._do(msgspec.convert(body, AnyAct))

    def knock(self, actor: int | str, body: dict[str, Any]) -> dict[str, Any]:
        ruling, *imposed = self._do(msgspec.convert(body, Knock))
        if isinstance(ruling, KnockUpheld):
            return {"verdict": "upheld", "rule": ruling.rule, "penalty": ruling.penalty, "payer": ruling.payer}
        assert isinstance(ruling, KnockDismissed)
        fine = imposed[0] if imposed else None
        if isinstance(fine, PenaltyImposed):
            return {"verdict": "dismissed", "penalty": fine.points, "payer": fine.seat}
        return {"verdict": "dismissed"}

    def legal(self, actor: int | str) -> list[dict[str, Any]]:
        viewer: Any = actor
        return [msgspec.to_builtins(act) for act in self.table.legal(viewer)]

    def line(self) -> dict[str, Any] | None:
        lines = self.table.happened(DealScored)
        return msgspec.to_builtins(lines[-1]) if lines else None

    def end(self) -> dict[str, Any] | None:
        last = self.table.events[-1]
        if isinstance(last, MatchClosed):
            return {
                "final_pot": last.pot_before,
                "shares": list(last.shares),
                "pot": last.pot,
                "balances": list(last.points),
                "settlement": None if last.settlement is None else list(last.settlement),
            }
        if not isinstance(last, MatchWon):
            return None
        return {
            "winner": last.seat,
            "winners": list(last.seats) or [last.seat],
            "by": last.by,
            "points": list(last.points),
            "settlement": None if last.settlement is None else list(last.settlement),
        }


def play(player: Player, given: dict[str, Any]) -> list[str]:
    """Play the match; return a sentence for each disagreement in the first step that has one."""
    faults: list[str] = []
    for number, step in enumerate(given["steps"]):
        for fault in _step(player, step):
            faults.append(f"{given['ruleset']} {given['seed']} step {number} {json.dumps(step)[:300]}: {fault}")
        if faults:
            return faults
    end = given["end"]
    if end is not None:
        if "shares" in end:  # the official ends the session (D-O28)
            player.act("official", {"act": "close"})
        got = player.end()
        if got is None:
            return [f"{given['seed']}: the match should be over"]
        for name in ENDS:
            actual, expected = (
                got.get("winners" if name == "winner" and isinstance(end.get(name), list) else name),
                end.get(name),
            )
            if name == "points" and name in end:
                actual, expected = _sure(got["points"], end), _sure(end["points"], end)
            if name in end and actual != expected:
                faults.append(f"{given['seed']}: {name} is {actual}, expected {expected}")
    return faults


def _step(player: Player, step: dict[str, Any]) -> Iterator[str]:
    also = step.get("also", [])
    if step["call"] == "legal-acts":
        got = sorted(player.legal(step["as"]), key=str_of)
        if got != sorted(step["acts"], key=str_of):
            yield f"legal acts are {got}"
        return
    try:
        case = player.knock(step["as"], step["body"]) if step["call"] == "knocks" else None
        if case is None:
            player.act(step["as"], step["body"])
    except Refusal as refusal:
        if not _may_be_refused(step, refusal):
            yield f"refused by {refusal.rule}"
    else:
        if case is not None and "dismissed" in also and case["verdict"] == "dismissed":
            return
        if step["expect"] != "ok":
            yield "accepted"
        if case is not None:
            yield from _ruling(case, step)
    if "book" in step:
        yield from _book(player, step["book"])


def _may_be_refused(step: dict[str, Any], refusal: Refusal) -> bool:
    if step["expect"] == "ok":
        return bool(step.get("optional"))
    named = (step["expect"], *step.get("also", []))
    return "refused" in named or fits(refusal, named)


def _ruling(case: dict[str, Any], step: dict[str, Any]) -> Iterator[str]:
    for name in ("verdict", "penalty", "payer"):
        if name in step and case.get(name) != step[name]:
            yield f"{name} is {case.get(name)}"
    if "rule" in step and case["rule"] not in (step["rule"], *step.get("also", [])):
        yield f"rule is {case['rule']}"


def fits(refusal: Refusal, expected: tuple[str, ...]) -> bool:
    """Return whether the refusal is one of the expected ones. Ids that begin with ``x:`` have no rule."""
    return refusal.rule in expected or ("x:phase" in expected and refusal.phase) or "x:card" in expected


def _book(player: Player, book: dict[str, Any]) -> Iterator[str]:
    line = player.line()
    if line is None:
        yield "no line in the protocol"
        return
    line = {
        **line,
        **line.get("detail", {}),
        "balances": line["points"],
        "change": changes(line),
        "trump": line["contract"],
    }
    for name, value in book.items():
        if name == "unsure":
            continue
        got: Any = line.get(name)
        if name == "eliminated":
            got = sorted(line.get("eliminated", ()))
        if name in ("before", "points"):
            got, value = _sure(got, book), _sure(value, book)
        if msgspec.to_builtins(got) != value and json.dumps(got) != json.dumps(value):
            yield f"{name} is {got}, expected {value}"


def changes(line: dict[str, Any]) -> list[int]:
    """Return the change of each seat's points in a deal. Its entries must add up to it."""
    change = [after - before for before, after in zip(line["before"], line["points"], strict=True)]
    for seat, points in enumerate(change):
        assert points == sum(entry["points"] for entry in line["entries"] if entry["seat"] == seat)
    return change


def _sure(points: list[int], book: dict[str, Any]) -> list[int]:
    """Return the points of the seats that are compared."""
    return [number for seat, number in enumerate(points) if seat not in book.get("unsure", ())]


def str_of(body: dict[str, Any]) -> str:
    """Return a body as JSON with sorted fields."""
    return json.dumps(body, sort_keys=True)
