"""Prints the protocol as a table, the disputed moment and the winner."""

from collections.abc import Iterable
from typing import Any

from tests.demo.client import ENGLISH, SWEDISH, expect
from tests.demo.sheet import CASE, CORRECTED, DISPUTED, OPENING, PLAYERS
from tests.demo.table import Table

CELL = "{:>2} {:>4} {:>3} {:>3} {:>3}"
HEAD = CELL.format("tr", "ans", "pen", "chg", "=")
DEAL = "{:>4} {:8} {:>8}"
WON_BY = {"zero": "with exactly 0 points"}


def print_protocol(table: Table) -> None:
    """Print a line for each deal: tricks, answer, penalties, change and points by player. Add the replaced lines."""
    protocol = table.get("/protocol")
    expect("the version of the protocol", protocol["version"], table.version)
    print("The protocol (tr: tricks, ans: answer to the question, pen: penalties, chg: change, =: points)\n")
    _print_row(DEAL.format("", "", ""), (f"{name:^{len(HEAD)}}" for name in PLAYERS))
    _print_row(DEAL.format("deal", "declarer", "contract"), (HEAD for _ in PLAYERS))
    before = protocol["opening"]
    _print_row(DEAL.format("", "", "start"), (CELL.format("", "", "", "", points) for points in before))
    for line in protocol["lines"]:
        changed = [then + change for then, change in zip(before, line["change"], strict=True)]
        expect("points and change of a line", changed, line["points"])
        before = line["points"]
        first = DEAL.format(line["deal"], PLAYERS[line["declarer"]], line["contract"])
        _print_row(first, (_of_player(line, seat) for seat in range(len(PLAYERS))))
        for was in line["was"]:
            first = DEAL.format("was", f"case {was['case']}", was["rule"])
            _print_row(first, (_of_player(was["line"], seat) for seat in range(len(PLAYERS))))
    expect("the points of the protocol", before, protocol["points"])


def _print_row(first: str, cells: Iterable[str]) -> None:
    print(" | ".join((first, *cells)).rstrip())


def _of_player(line: dict[str, Any], seat: int) -> str:
    penalty, change = line["penalties"][seat], line["change"][seat]
    return CELL.format(
        line["tricks"][seat],
        line["answers"][seat] or "-",
        f"{penalty:+}" if penalty else "-",
        f"{change:+}" if change else "-",
        line["points"][seat],
    )


def print_corrected(table: Table) -> None:
    """Print the protocol of the club table, with the corrected line, the line before, and the correcting event."""
    print_protocol(table)
    protocol = table.get("/protocol")
    (line,) = protocol["lines"]
    expect("the cases that it was corrected in", [was["case"] for was in line["was"]], [CASE])
    was = line["was"][0]
    expect("the points as corrected", line["points"], list(CORRECTED))
    expect("the corrections", protocol["corrected"], [was["event"]])
    print(f"\n  corrected by event {was['event']}, case {was['case']} ({was['rule']}): “{was['reason']}”")


def print_dispute(table: Table) -> None:
    """Print the forgotten question: the moment before it, the moment with its open breach, and the case."""
    case = table.get(f"/knocks/{DISPUTED}", headers=ENGLISH)
    trick_four, lead = case["rests_on"]
    print("The disputed moment, as the official replays it\n")
    _print_before(table, trick_four, case["accused"])
    _print_moment(table, lead, case)
    _print_case(table, case)


def _print_before(table: Table, at: int, accused: int) -> None:
    then = table.get(f"/replay?at={at}", table.official)
    legal = [[act["act"] for act in acts] for acts in then["legal_acts"]]
    expect("what was due", then["due"], ["ask"])
    expect("what was legal", legal, [["ask"] if seat == accused else [] for seat in range(len(PLAYERS))])
    expect("breaches before the lead", then["breaches"], [])
    print(f"  replay?at={at}  deal {then['deal']}, {PLAYERS[then['declarer']]} plays for {then['contract']}")
    print(f"    tricks   {_by_player(then['tricks'])}")
    print(f"    hands    {_by_player([' '.join(hand) for hand in then['hands']])}")
    print(f"    due      {', '.join(then['due'])}")
    print(f"    legal    {_by_player([', '.join(acts) or '-' for acts in legal])}")
    print("    breaches none")


def _print_moment(table: Table, at: int, case: dict[str, Any]) -> None:
    then = table.get(f"/replay?at={at}", table.official)
    (breach,) = then["breaches"]
    wanted = {"offence": case["offence"], "seat": case["accused"], "rule": case["rule"], "event": at}
    expect("the open breach", {name: breach[name] for name in wanted}, wanted)
    legal = [[act.get("card", act["act"]) for act in acts] for acts in then["legal_acts"]]
    on_table = ", ".join(f"{PLAYERS[one['seat']]} {one['card']}" for one in then["trick"])
    print(f"  replay?at={at}  on the table: {on_table}")
    print(f"    to act   {', '.join(PLAYERS[seat] for seat in then['to_act'])}")
    print(f"    legal    {_by_player([' '.join(acts) or '-' for acts in legal])}")
    who, rule = PLAYERS[breach["seat"]], breach["rule"]
    print(f"    breaches {breach['offence']} by {who} ({rule}, {breach['points']} points, shown by event {at})")
    expect("what a player sees of breaches", table.get(f"/replay?at={at}")["breaches"], None)
    ruled = table.get(f"/replay?at={case['event']}", table.official)
    expect("breaches after the ruling", ruled["breaches"], [])


def _print_case(table: Table, case: dict[str, Any]) -> None:
    rule = f"/v1/rulesets/{OPENING['ruleset']}/rules/{case['rule']}"
    texts = [table.client.get(rule, headers=language)["text"] for language in (ENGLISH, SWEDISH)]
    print(f"  case {case['case']}, event {case['event']}: {PLAYERS[case['seat']]} knocked for {case['offence']}")
    print(f"    {case['why']}")
    print(f"    verdict  {case['verdict']}: {PLAYERS[case['payer']]} goes up {case['penalty']} by {case['rule']}")
    print(f"    {case['rule']:8} {texts[0]}\n{'':13}{texts[1]}")
    for number in case["rests_on"]:
        (event,) = table.get(f"/events?after={number - 1}&limit=1")["events"]
        facts = {"by": PLAYERS[event["event"]["seat"]], **event["event"]}
        shown = ", ".join(f"{name} {fact}" for name, fact in facts.items() if name not in ("seat", "topic"))
        print(f"    shown by event {number}, {facts['topic']}: {shown}")


def _by_player(values: list[Any]) -> str:
    return " | ".join(f"{name} {value}" for name, value in zip(PLAYERS, values, strict=True))


def print_winner(table: Table) -> None:
    """Print the winner and the amounts that each player gets or pays."""
    won = table.winner
    assert won is not None, "the sheet ends with a winner"
    expect("the settlement", sum(won["settlement"]), 0)
    paid = [f"{amount / 100:+.2f}" for amount in won["settlement"]]
    print(f"{PLAYERS[won['seat']]} wins {WON_BY[won['by']]} ({won['rule']}). In kronor: {_by_player(paid)}")
