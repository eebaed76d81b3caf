"""Draw the README's score sheet from a tally played over HTTP: ``python -m tests.support.score_sheet``."""

import tempfile
from html import escape
from pathlib import Path
from typing import Any

import httpx

from tests.api.serving import served
from tests.given import seats_and

PICTURE = Path(__file__).parents[2] / "openapi" / "guides" / "score-sheet.svg"
PLAYERS = ("Anna", "Bo", "Cecilia", "David")
RESULTS: tuple[dict[str, Any], ...] = (
    {
        "bids": seats_and("bid", [0, "2"], [1, "pass"], [2, "3"], [3, "pass"]),
        "tricks": [2, 0, 2, 2, 1, 2],
        "answers": seats_and("answer", [3, "fold"], [1, "play"]),
    },
    {
        "bids": seats_and("bid", [1, "2"], [2, "pass"], [3, "pass"], [0, "pass"]),
        "tricks": [1, 1, 3, 2, 1, 0],
        "answers": [{"seat": 0, "answer": "play"}],
    },
    {
        "bids": seats_and("bid", [2, "2"], [3, "3"], [0, "pass"], [1, "pass"]),
        "tricks": [3, 0, 2, 2, 0, 3],
        "answers": [{"seat": 1, "answer": "fold"}],
    },
    {
        "bids": seats_and("bid", [3, "4"], [0, "pass"], [1, "pass"], [2, "pass"]),
        "tricks": [3, 3, 3, 3, 0, 3],
        "answers": seats_and("answer", [0, "play"], [1, "play"], [2, "fold"]),
        "knocks": [{"seat": 1, "accused": 0, "offence": "revoke"}],
    },
    {
        "bids": seats_and("bid", [0, "1"], [1, "2"], [2, "pass"], [3, "pass"]),
        "tricks": [1, 2, 2, 0, 1, 3],
        "answers": [{"seat": 3, "answer": "play"}],
    },
)
"""Five deals of Rödskägg (Kortoxen) as a table enters them: bids, the winner of each trick, answers and knocks."""

LEFT, COLUMN, TOP, ROW = 190, 150, 64, 46
FONT = "font-family='Georgia, serif'"


def protocol() -> dict[str, Any]:
    """Return the protocol of a match with these results, as the service gives it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(f"sqlite:///{folder}/knacka.db") as address,
        httpx.Client(base_url=address) as client,
    ):
        players = [{"name": name} for name in PLAYERS]
        opening = {"ruleset": "rodskagg-kortoxen", "dealing": "tally", "first_dealer": 3, "players": players}
        match = client.post("/v1/matches", json=opening).raise_for_status().json()
        client.headers["Authorization"] = f"Bearer {match['seats'][0]['token']}"
        version = 0
        for result in RESULTS:
            answer = client.post(f"/v1/matches/{match['id']}/acts", json={"act": "result", **result})
            version = answer.raise_for_status().json()["version"]
        read: dict[str, Any] = client.get(f"/v1/matches/{match['id']}/protocol?min_version={version}").json()
        return read


def svg(sheet: dict[str, Any]) -> str:
    """Return a protocol as a picture: a row for each deal, a column for each player, and the rule of each change."""
    width, height = LEFT + COLUMN * len(sheet["players"]) + 20, TOP + ROW * (len(sheet["lines"]) + 1) + 16
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' role='img'>",
        "<title>Score sheet</title>",
        f"<rect width='{width}' height='{height}' rx='8' fill='#fffdf5'/>",
    ]
    for seat, name in enumerate(sheet["players"]):
        parts.append(_text(LEFT + COLUMN * seat + 12, 38, name, size=20, weight="bold"))
    parts += _row(TOP, "at the start", [(str(points), "", False) for points in sheet["opening"]])
    for number, line in enumerate(sheet["lines"], 1):
        declarer = sheet["players"][line["declarer"]]
        cells = [_cell(line, seat) for seat in range(len(sheet["players"]))]
        parts += _row(TOP + ROW * number, f"{line['deal']}. {declarer} bids {line['contract']}", cells)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _cell(line: dict[str, Any], seat: int) -> tuple[str, str, bool]:
    """Return the points after a deal, the changes with their rules, and whether there is a penalty."""
    changes = [f"{one['points']:+d} {one['rule']}" for one in line["entries"] if one["seat"] == seat]
    return str(line["points"][seat]), ", ".join(changes).replace("-", "\N{MINUS SIGN}"), line["penalties"][seat] > 0


def _row(top: int, label: str, cells: list[tuple[str, str, bool]]) -> list[str]:
    right = LEFT + COLUMN * len(cells)
    parts = [f"<path d='M12 {top}H{right}' stroke='#c8c0a8'/>", _text(14, top + 29, label, size=15)]
    for seat, (points, changes, is_penalised) in enumerate(cells):
        left = LEFT + COLUMN * seat + 12
        parts.append(_text(left, top + 29, points, size=20))
        parts.append(_text(left + 32, top + 28, changes, size=12, fill="#b00020" if is_penalised else "#6b6350"))
    return parts


def _text(left: int, base: int, words: str, *, size: int, weight: str = "normal", fill: str = "#222") -> str:
    place = f"x='{left}' y='{base}' font-size='{size}' font-weight='{weight}' fill='{fill}'"
    return f"<text {place} {FONT}>{escape(words)}</text>"


if __name__ == "__main__":
    PICTURE.write_text(svg(protocol()), "utf-8")
