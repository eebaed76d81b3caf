"""Reading the entries of a case as a caller may see them."""

from api.access.caller import Caller
from api.runtime.service import Service
from projections.cases import Entry
from referee.store.match import Match


async def entries_to(service: Service, match: Match, case: int, version: int, caller: Caller) -> tuple[Entry, ...]:
    """Return the entries of a case up to a version of the match, as the caller may see them."""
    projection = service.projections.cases
    found = await service.projections.ask_of(
        projection,
        match.id,
        version,
        lambda connection, match_id: projection.answer(connection, match_id, caller.viewer, case - 1, 1),
    )
    return tuple(entry for one in found for entry in one.entries if entry.event <= version)
