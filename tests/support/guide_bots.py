"""The bots of the guides at a match: two processes that know its address, their seat and their token."""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.support.failing_proxy import Proxy

ENDED = ([0, 0], "over")
"""Result of :func:`play` if both bots play their match to its end."""
SECONDS_MAX = 120
OPENING = {
    "ruleset": "kalabrias",
    "players": [{"name": "Anna"}, {"name": "Bo"}],
    "options": {"target_score": 200},
}


def play(address: str, command: Sequence[str | Path]) -> tuple[list[int | None], str]:
    """Return the exit codes of the bots, and the phase of the match.

    The code is ``None`` for a bot that still runs when the other fails or the time is over.
    """
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


def goes_on(address: str, command: Sequence[str | Path]) -> bool:
    """Return whether a bot that waits for its turn takes it although its connections are cut meanwhile.

    The dealer is no bot, and the other seat has the first turn after the deal.
    """
    host, port = urlsplit(address).hostname or "", urlsplit(address).port or 0
    with Proxy((host, port)) as proxy, httpx.Client(base_url=f"{address}/v1/matches") as client:
        match = client.post("", json={**OPENING, "first_dealer": 0}).raise_for_status().json()
        dealer, other = match["seats"]
        through = f"http://{proxy.address[0]}:{proxy.address[1]}"
        bot = subprocess.Popen([*command, through, match["id"], str(other["seat"]), other["token"]])
        until = time.monotonic() + SECONDS_MAX

        def comes(is_so: Callable[[], bool]) -> bool:
            while not (so := is_so()) and bot.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            return so

        try:
            if not comes(lambda: proxy.accepted > 0):
                return False
            proxy.cut()
            token = {"Authorization": f"Bearer {dealer['token']}"}
            dealt = client.post(f"{match['id']}/acts", json={"act": "deal", "seat": 0}, headers=token)
            version = dealt.raise_for_status().json()["version"]
            return comes(lambda: client.get(match["id"]).json()["version"] > version)
        finally:
            bot.kill()
            bot.wait()
