"""The bots of the guides at a match: two processes that know its address, their seat and their token."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

ENDED = ([0, 0], "over")
"""What :func:`play` comes to if both play their match to its end."""
SECONDS_MAX = 120
OPENING = {
    "ruleset": "kalabrias",
    "players": [{"name": "Anna"}, {"name": "Bo"}],
    "options": {"target_score": 200},
}


def play(address: str, command: Sequence[str | Path]) -> tuple[list[int | None], str]:
    """Their exit codes, ``None`` for one that has not ended when the other fails or there is no time left; and the
    phase of the match then."""
    with httpx.Client(base_url=address) as client:
        match = client.post("/v1/matches", json=OPENING).raise_for_status().json()
        bots = [
            subprocess.Popen([*command, address, match["id"], str(one["seat"]), one["token"]])
            for one in match["seats"]
        ]
        until = time.monotonic() + SECONDS_MAX
        try:
            while None in (codes := [bot.poll() for bot in bots]) and not any(codes) and time.monotonic() < until:
                time.sleep(0.05)
        finally:
            for bot in bots:
                bot.kill()
                bot.wait()
        return codes, client.get(f"/v1/matches/{match['id']}").json()["phase"]
