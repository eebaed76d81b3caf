"""Write the examples of the description, taken from conformance matches played over HTTP.

``python -m tests.conformance.examples`` writes ``api/http/examples.json``. For each operation the file has the named
requests (``request``) and the named answers by status and media type. It has each problem once. Long lists are cut.
Ids, tokens, times and hashes differ each time. Stand-ins calculated from the match replace them, so the file changes
only if the requests or answers change.
"""

import json
import re
import sys
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import Any

from api.access.codes import CODES
from api.access.codes import PATTERN as CODE
from api.access.keys import PATTERN
from api.access.tickets import TICKET_SECONDS
from tests.conformance import log_examples
from tests.conformance.club_examples import Club
from tests.conformance.problem_examples import UNKNOWN, WrongAnswers, provoked
from tests.conformance.recorded_calls import (
    BEGUN,
    KORTOXEN,
    LISTS_MAX,
    NAMES,
    Heard,
    Kept,
    Opened,
    Recording,
    Watched,
    moment,
)
from tests.conformance.replay import matches, play
from tests.conformance.test_over_http import RULESETS
from tests.support.match_driver import seats_and
from tests.support.paths import ROOT
from tests.support.running_service import served

TARGET = ROOT / "api" / "http" / "examples.json"
DIGEST_LENGTH = 16
"""Hex digits in the id of a planned payment."""
DAY = r"\d{4}-\d\d-\d\d"
FRESH = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\dT[0-9:.]+Z"
    r"|\b[0-9a-f]{64}\b"
    r'|(?<=")[A-Za-z0-9_-]{43}(?=\\?")'
    rf"|\b{PATTERN}\b|\b{CODE}\b"
    rf"|(?<!\d){DAY}(?: [0-9:]+ UTC)?\b"
)
"""Values that differ each time: ids, times, hashes, tokens, keys and days."""


def new_in(given: dict[str, Any], kept: Kept) -> bool:
    """Return whether a match has a kind of act or knock that no earlier match had."""
    acts, knocks = kept.requests.get("send_act", {}), kept.requests.get("send_knock", {})
    return any(
        step["expect"] == "ok"
        and (
            (step["call"] == "acts" and step["body"]["act"] not in acts)
            or (step["call"] == "knocks" and step["body"].get("offence", "any offence") not in knocks)
        )
        for step in given["steps"]
    )


def play_all(client: Recording) -> dict[str, Watched]:
    """Play matches until each kind of act has been sent. Return the last match of each ruleset."""
    played: dict[str, Watched] = {}
    for ruleset in RULESETS:
        for given in matches(ruleset):
            if ruleset in played and not new_in(given, client.kept):
                continue
            match = played[ruleset] = Watched(client, given)
            faults = play(match, given)
            assert not faults, faults
            match.replace_what_is_fresh()
    return played


def read_all(client: Recording, played: dict[str, Watched]) -> None:
    """Read the rulesets, the lists, the health, and the books and texts of the matches."""
    client.name = "example"
    for path in ("/v1/rulesets", "/v1/matches", "/health/live", "/health/ready"):
        client.ask("GET", path)
    client.ask("GET", "/v1/rulesets/rodskagg-alga")
    client.ask("GET", "/v1/rulesets/rodskagg-alga/rules")
    client.ask("GET", "/v1/rulesets/rodskagg-alga/rules/A17")
    for ruleset, match in played.items():
        client.name = ruleset
        _, protocol = client.ask("GET", f"{match.path}/protocol")
        if protocol["lines"]:
            if ruleset in ("kalabrias", "rodskagg-kortoxen"):
                client.ask("GET", f"{match.path}/deals/{protocol['lines'][0]['deal']}")
            texts = {"deals/1": "text/plain", "protocol": "text/csv", "events": "application/x-ndjson"}
            for call, media_type in texts.items():
                answer, said = client.raw("GET", f"{match.path}/{call}", Accept=media_type)
                if answer.status == 200:
                    lines = said.decode().splitlines(keepends=True)
                    text = "".join(lines if call == "deals/1" else lines[:LISTS_MAX])
                    client.name = "example"
                    client.keep("GET", f"{match.path}/{call}", 200, media_type, text)
    rams = played["rams-english"]
    client.ask("GET", f"{rams.path}/pot")
    client.name = "rams-english"
    client.ask("GET", f"{rams.path}/settlement")
    client.name = "example"
    _, said = client.raw("GET", f"{rams.path}/pot", Accept="text/csv")
    client.keep("GET", f"{rams.path}/pot", 200, "text/csv", said.decode())
    for match in played.values():
        _, page = client.ask("GET", f"{match.path}/knocks")
        if page["items"]:
            client.ask("GET", f"{match.path}/knocks/1")
            break


def stream(client: Recording, match: Watched) -> None:
    """Keep the beginning and the end of a stream: an event, a state and the end."""
    at = match._version - 2
    _, said = client.raw("GET", f"{match.path}/events/stream?after={at}")
    begun, sent, *_, state, end, _ = said.decode().split("\n\n")
    client.name = "example"
    shown = "".join(f"{message}\n\n" for message in (begun, sent, state, end))
    client.keep("GET", f"{match.path}/events/stream", 200, "text/event-stream", shown)


def write(client: Recording, match: Watched, given: dict[str, Any]) -> None:
    """Send the requests that conformance matches lack: a batch, and those about tokens, tickets and invitations."""
    first = next(step for step in given["steps"] if step["call"] == "acts" and step["expect"] == "ok")
    client.name = "the second is refused"
    acts = {"acts": [first["body"], {"act": "score", "seat": first["body"]["seat"]}]}
    client.ask("POST", f"{match.path}/acts/batch", match.tokens[first["body"]["seat"]], acts)
    client.name = "example"
    _, ticket = client.ask("POST", f"{match.path}/tickets", match.tokens[0])
    match.stands_for(ticket["ticket"], "ticket")
    client.stand_ins[ticket["expires"]] = moment(TICKET_SECONDS)
    _, issued = client.ask("POST", f"{match.path}/tokens", match.tokens["official"], {"seat": 1})
    match.stands_for(issued["token"], "issued")
    _, own = client.ask("POST", "/v1/official-tokens")
    match.stands_for(own["token"], "an official's own")
    client.stand_ins[own["token_sha256"]] = sha256(client.stand_ins[own["token"]].encode()).hexdigest()
    _, invited = client.ask("POST", f"{match.path}/invitations", match.tokens["official"], {"seat": 2})
    match.code = invited["code"]
    client.stand_ins[match.code] = CODES.make_text(match.own_id, "", sha256(b"invited").digest())
    for method in ("GET", "POST"):
        _, taken = client.ask(method, f"/v1/invitations/{match.code}")
    match.stands_for(taken["token"], "invited")
    client.ask(
        "POST", f"{match.path}/acts", match.tokens["official"], {"act": "abandon", "reason": "Berit had to leave"}
    )


SHEET = {
    "act": "result",
    "bids": seats_and("bid", [0, "2"], [1, "pass"], [2, "3"], [3, "pass"]),
    "tricks": [2, 0, 2, 2, 1, 2],
    "answers": seats_and("answer", [3, "fold"], [1, "play"]),
}
"""Example B-X1."""


def tally(client: Recording) -> Opened:
    """Open a tally, enter a deal from its score sheet, and play the next deal up to its first trick."""
    match = Opened(client, "a tally", {**KORTOXEN, "dealing": "tally"})
    bids = [{"act": "bid", "seat": seat, "bid": "1" if seat == 1 else "pass"} for seat in (1, 2, 3, 0)]
    for act in (SHEET, {"act": "deal", "seat": 0}, *bids, {"act": "trick", "seat": 2}):
        match.ask("acts", 0, act)
    return match


def add(client: Recording) -> Opened:
    """Open a match with a committed shuffle, and add digits to it."""
    players = [{"name": name} for name in NAMES[:2]]
    opening = {"ruleset": "kalabrias", "players": players, "first_dealer": 0, "shuffle": "committed"}
    match = Opened(client, "a fair shuffle", opening)
    match.ask("acts", 0, {"act": "entropy", "seat": 0, "hex": "5f0c3a91d2e84b7706b1a4c9e3d85f20"})
    return match


def take_back(client: Recording) -> Opened:
    """Open a match with take-backs, take back an act, and read the attempts."""
    players = [{"name": name} for name in NAMES[:3]]
    opening = {"ruleset": "rams-english", "players": players, "first_dealer": 0, "adjudication": {"take_back": True}}
    match = Opened(client, "the last act can be taken back", opening)
    match.ask("acts", 0, {"act": "deal", "seat": 0})
    match.ask("acts", 1, {"act": "bid", "seat": 1, "bid": "join"})
    match.ask("acts", 1, {"act": "take_back", "seat": 1})
    client.ask("POST", f"{match.path}/acts", match.tokens[0], {"act": "bid", "seat": 0, "bid": "join"})
    client.name = "out of turn"
    client.ask("GET", f"{match.path}/attempts", match.tokens["official"])
    return match


def examples() -> str:
    """Return the text of the file, made from a service that runs now."""
    with TemporaryDirectory() as path, served(f"sqlite:///{path}/knacka.db", wait_seconds=0.01) as address:
        client = Recording(address)
        played = play_all(client)
        read_all(client, played)
        stream(client, next(match for match in played.values() if match.end()))
        given = next(matches("rodskagg-kortoxen"))
        going = Watched(client, {**given, "enforcement": "refuse"}, "going on")
        written = Watched(client, given, "written to")
        write(client, written, given)
        over = next(match for match in played.values() if match.end())
        others = [going, written, tally(client), add(client), take_back(client), heard := Heard(client)]
        club = Club(client, moment)
        others.append(club.match)
        problems = list(provoked(client, going, heard, over, written.code, club))
        for match in others:
            match.replace_what_is_fresh()
        client.close()
    kept = client.kept
    client.stand_ins |= {str(one): str(one) for one in (log_examples.MATCH, log_examples.CLUB)}
    for operation, (media_type, said) in log_examples.answers(BEGUN).items():
        kept.answer(operation, 200, media_type, "example", said)
    for operation, problem in problems:
        kept.problem(operation, problem)
    operations = {
        name: {
            "request": kept.requests.get(name, {}),
            "answers": kept.answers.get(name, {}),
            "problems": kept.named.get(name, {}),
        }
        for name in sorted({*kept.requests, *kept.answers, *kept.named})
    }
    content = {"operations": operations, "problems": kept.problems}
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    fresh_ones = dict.fromkeys(one for one in FRESH.findall(text) if one not in client.stand_ins)
    for place, time in enumerate(sorted(one for one in fresh_ones if one[10:11] == "T")):
        client.stand_ins[time] = moment(30 * 60 * place)  # times of reads and attempts, which are no events
    for place, digest in enumerate(one for one in fresh_ones if len(one) == 64):
        client.stand_ins[digest] = sha256(f"beside the matches {place}".encode()).hexdigest()
    for planned, stand_in in client.stand_ins.items():
        if len(planned) == DIGEST_LENGTH:
            text = text.replace(planned, stand_in)
    days: dict[str, str] = {}  # from the earliest time of each day; close to midnight a run has two days
    for stand_in, time in sorted(
        (stand_in, time) for time, stand_in in client.stand_ins.items() if re.match(DAY, time)
    ):
        days.setdefault(time[:10], stand_in[:10])
    days |= {day: stand_in for day, stand_in in client.stand_ins.items() if re.fullmatch(DAY, day)}

    def known(found: re.Match[str]) -> str:
        fresh = found[0]
        if fresh == UNKNOWN or fresh in client.stand_ins:
            return client.stand_ins.get(fresh, fresh)
        assert re.match(DAY, fresh), fresh
        return days.get(fresh[:10], fresh[:10]) + (f" {BEGUN:%H:%M:%S} UTC" if fresh[10:] else "")

    return FRESH.sub(known, text)


def main() -> int:
    """Write the file. Return 1 if an answer has a wrong status."""
    try:
        TARGET.write_text(examples(), "utf-8")
    except WrongAnswers as wrong:
        print(f"{TARGET.name} is not changed:\n{wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
