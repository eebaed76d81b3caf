"""The events at which a finished deal begins and ends."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection

from api.http.problems import Problem
from api.runtime.service import Service
from referee.officials.events.corrections import Corrections
from referee.store.match import Match


class DealBounds(NamedTuple):
    """The numbers of the events around a finished deal, and the match's corrections."""

    before: int
    """Event with the score of the previous deal; 0 for the first deal."""
    score: int
    """Event with the score of the deal."""
    last: bool
    """True: no later deal has been scored."""
    corrections: Corrections


async def bounds_of_deal(service: Service, match: Match, deal: int) -> DealBounds:
    """Return the bounds of a deal. Raises Problem: 404 if the deal does not exist, 409 if it is not finished."""
    last = match.rules.view(match.play, "spectator").deal
    if not 1 <= deal <= last:
        raise Problem("no_such_deal", last=last)
    protocols = service.projections.protocols

    def read(connection: Connection, match_id: UUID) -> tuple[dict[int, int], Corrections]:
        corrections = protocols.corrections_of(connection, match_id, match.version)
        return protocols.scores(connection, match_id, range(deal - 1, deal + 2)), corrections

    scores, corrections = await service.projections.ask_of(protocols, match.id, match.version, read)
    score = scores.get(deal)
    if score is None or score > match.version:
        raise Problem("deal_not_finished", deal=deal)
    return DealBounds(scores.get(deal - 1, 0), score, deal + 1 not in scores, corrections)
