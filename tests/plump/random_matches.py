"""Play random matches of the installed game: ``python -m tests.plump.random_matches URL`` prints what happened."""

import sys
from random import Random
from typing import Any

import msgspec

from projections.follow.follow import engine_for, rebuild
from projections.matches import Matches
from projections.protocols import Protocols
from referee import notation
from referee.events import Dealing, DealScored, MatchWon
from referee.store.aggregate import fold
from referee.store.desk import Desk
from referee.store.store import Referee, construct
from tests.projections.filled_log import reader
from tests.support.random_matches import deal_of, opened, play_out

MATCHES = 12
DEALINGS: tuple[Dealing, ...] = ("house", "tally")


def play(referee: Referee, desk: Desk, seed: int) -> dict[str, Any]:
    """Play one match to its end. Assert that it is the same after loading, and that the notation can be read."""
    chance = Random(f"plump {seed}")
    match_id = opened(
        desk,
        ruleset="plump",
        players=chance.randint(2, 5),
        dealing=DEALINGS[seed % 2],
        enforcement="refuse",
        cards=10 if seed < 4 else chance.randint(1, 10),
        bidding=("in_turn", "fingers")[seed // 2 % 2],
    )
    acts = sum(1 for _ in play_out(desk, match_id, 5000, seed))
    played, history = desk.get(match_id), referee.history(match_id)
    assert fold(None, history) == referee.load(match_id).aggregate == played
    lines = [one.event for one in history if isinstance(one.event, DealScored)]
    for deal in range(1, len(lines) + 1):
        text = notation.write(deal_of(played.opened, history, deal))
        assert notation.write(notation.parse(text)) == text
    won = history[-1].event
    assert isinstance(won, MatchWon)
    return {
        "id": match_id,
        "acts": acts,
        "options": played.opened.options,
        "seats": len(played.opened.players),
        "lines": lines,
        "won": won,
        "topics": sorted({one.event.TOPIC for one in history}),
    }


def main(url: str) -> None:
    with construct(url) as referee:
        desk = Desk(referee)
        matches = [play(referee, desk, seed) for seed in range(MATCHES)]
        desk.close()
        engine, projection = engine_for(url), Protocols()
        rebuild(reader(referee), engine, projection, Matches())
        with engine.connect() as connection:
            for match in matches:
                match["protocol"] = projection.answer(connection, match["id"])
        engine.dispose()
    print(msgspec.json.encode(matches).decode())


if __name__ == "__main__":
    main(sys.argv[1])
