"""Where a finished deal stands in its match."""

from functools import partial
from typing import NamedTuple

from api.http.problems import Problem
from api.service import Service
from referee.store.match import Match


class Place(NamedTuple):
    """Where a finished deal stands in its match, by the numbers of events."""

    before: int
    """The score of the deal before; 0: there is none."""
    score: int
    last: bool
    """No later deal has been scored."""


async def place_of(service: Service, match: Match, deal: int) -> Place:
    """Where a deal is, by the protocol. 404 if there is no such deal, 409 if it is not finished."""
    last = match.rules.view(match.state, "spectator").deal
    if not 1 <= deal <= last:
        raise Problem("no_such_deal", last=last)
    book = service.books.protocols
    question = partial(book.scores, deals=range(deal - 1, deal + 2))
    scores = await service.books.ask_of(book, match.id, match.version, question)
    score = scores.get(deal)
    if score is None or score > match.version:
        raise Problem("deal_not_finished", deal=deal)
    return Place(scores.get(deal - 1, 0), score, deal + 1 not in scores)
