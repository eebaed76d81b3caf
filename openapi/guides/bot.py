"""Play one seat at random: python bot.py http://127.0.0.1:8000 MATCH SEAT TOKEN (needs httpx)."""

import json
import random
import sys
import time
import uuid
from collections.abc import Iterator

import httpx


def wait_if_busy(answer: httpx.Response) -> bool:
    """Return whether to repeat the request, after a sleep of the length that the service asks for."""
    if again := answer.status_code in (429, 503):
        time.sleep(float(answer.headers.get("Retry-After", 1)))
    return again


def states(client: httpx.Client) -> Iterator[dict]:
    """Yield each state of the match until it is over. Connect again if the stream breaks."""
    last = "0"
    while True:
        try:
            with client.stream("GET", "/events/stream", headers={"Last-Event-ID": last}) as stream:
                if stream.status_code == 204:
                    return
                if not wait_if_busy(stream):
                    stream.raise_for_status()
                event: dict[str, str] = {}
                for line in stream.iter_lines():
                    if line:
                        field, _, event[field] = line.partition(": ")
                        continue
                    last = event.get("id", last)
                    if (data := json.loads(event.get("data", "{}"))).get("topic") == "state":
                        yield data
                    event = {}
        except httpx.TransportError:
            time.sleep(1)


def play(base: str, match: str, seat: int, token: str) -> None:
    """Make a random legal act whenever it is this seat's turn."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{base}/v1/matches/{match}", headers=headers, timeout=60) as client:
        for state in states(client):
            version = state["version"]
            legal = seat in state["to_act"] and client.get(f"/legal-acts?min_version={version}").json()
            if not legal:
                continue  # it is not, or no longer, this seat's turn
            act, once = random.choice(legal), {"Idempotency-Key": uuid.uuid4().hex, "If-Match": f'"{version}"'}
            while wait_if_busy(answer := client.post("/acts", json=act, headers=once)):
                pass  # because of its key the act is done only once
            if answer.status_code not in (201, 412):  # 412: the state has changed; the stream sends the next one
                sys.exit(f"{act} was refused: {answer.text}")


if __name__ == "__main__":
    play(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
