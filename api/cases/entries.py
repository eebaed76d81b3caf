"""The events of a case, as a caller may see them."""

from uuid import UUID

from sqlalchemy import Connection

from api.access.caller import Caller
from api.http.problems import Problem
from api.runtime.service import Service
from projections.cases import CaseEvent
from referee.store.match import Match


async def read_entries(
    service: Service, match: Match, case: int, version: int, caller: Caller
) -> tuple[CaseEvent, ...]:
    """Return the events of a case at ``version`` of the match or later. Raises Problem (404) for a missing case."""
    cases = service.projections.cases

    def read(connection: Connection, match_id: UUID) -> tuple[CaseEvent, ...]:
        last = cases.last(connection, match_id)
        if not 1 <= case <= last:
            raise Problem("no_such_case", last=last)
        (found,) = cases.answer(connection, match_id, caller.viewer, case - 1, 1)
        return found.entries

    return await service.projections.ask_of(cases, match.id, version, read)


async def entries_up_to(
    service: Service, match: Match, case: int, version: int, caller: Caller
) -> tuple[CaseEvent, ...]:
    """Return the events of a case up to ``version`` of the match. Raises Problem (404) for a missing case."""
    found = await read_entries(service, match, case, version, caller)
    return tuple(entry for entry in found if entry.event <= version)
