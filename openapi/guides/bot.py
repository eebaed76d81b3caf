"""Plays one seat at random: python bot.py http://127.0.0.1:8000 MATCH SEAT TOKEN (needs httpx)."""

import json
import random
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import httpx

BUSY = (429, 503)


def states(client: httpx.Client, match: str) -> Iterator[dict[str, Any]]:
    """What the stream says of whose turn it is, after a break from where it broke off, until the match is over."""
    last = "0"
    while True:
        try:
            with client.stream("GET", f"{match}/events/stream", headers={"Last-Event-ID": last}) as stream:
                if stream.status_code == 204:
                    return
                name = data = ""
                for line in stream.iter_lines():
                    field, _, value = line.partition(": ")
                    if field == "id":
                        last = value
                    elif field == "event":
                        name = value
                    elif field == "data":
                        data = value
                    elif not line and name == "state":
                        yield json.loads(data)
        except httpx.TransportError:
            continue


def play(base: str, match: str, seat: int, token: str) -> None:
    """Does something whenever this seat has to."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{base}/v1/matches/", headers=headers, timeout=60) as client:
        for state in states(client, match):
            if seat not in state["to_act"]:
                continue
            legal = client.get(f"{match}/legal-acts", params={"min_version": state["version"]}).json()
            act = random.choice(legal)
            once = {"Idempotency-Key": uuid.uuid4().hex, "If-Match": f'"{state["version"]}"'}
            while (answer := client.post(f"{match}/acts", json=act, headers=once)).status_code in BUSY:
                pass  # repeated with the same key nothing happens twice
            if answer.status_code not in (201, 412):  # 412: somebody else was first, and the next state is on its way
                sys.exit(f"{act} was refused: {answer.text}")


if __name__ == "__main__":
    play(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
