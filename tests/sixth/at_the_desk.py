"""Play High Card through the desk: ``python -m tests.sixth.at_the_desk URL`` prints the protocol."""

import sys

import msgspec

from projections.follow.follow import engine_for, rebuild
from projections.protocols import Protocols
from referee.store.aggregate import fold
from referee.store.desk import Desk
from referee.store.store import construct
from tests.projections.filled_log import reader
from tests.support.random_matches import opened, play_out


def main(url: str) -> None:
    """Play a match to its end, load it again from the store, and project its protocol."""
    with construct(url) as referee:
        desk = Desk(referee)
        match_id = opened(desk, ruleset="high-card", enforcement="refuse")
        acts = sum(1 for _ in play_out(desk, match_id, 1000))
        played = desk.get(match_id)
        desk.close()
        assert referee.load(match_id).aggregate == played
        history = referee.history(match_id)
        assert fold(None, history) == played
        topics = sorted({recorded.event.TOPIC for recorded in history})
        engine, projection = engine_for(url), Protocols()
        rebuild(reader(referee), engine, projection)
        with engine.connect() as connection:
            protocol = projection.answer(connection, match_id)
        engine.dispose()
    print(msgspec.json.encode({"acts": acts, "topics": topics, "protocol": protocol}).decode())


if __name__ == "__main__":
    main(sys.argv[1])
