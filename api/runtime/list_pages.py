"""Pages of the lists of matches and of cases."""

from typing import Any

from api.http.pages import must_be_cursor
from api.http.query import must_be_ruleset
from api.runtime.projections import Projections
from projections.cases import Cases
from projections.matches import Matches


async def read_list_page(
    projections: Projections,
    projection: Cases | Matches,
    *,
    status: str,
    ruleset: str | None,
    fresh: bool,
    **query: Any,
) -> tuple[Any, str | None, int]:
    """Return the items of a page, the cursor of the next page, and the number of events not in the list.

    ``query``: other arguments of the projection's ``page``. ``fresh``: first wait for the events stored by now.

    Raises Problem (400) for a cursor of a different list, Problem (422) for an unknown game.
    """
    must_be_ruleset(ruleset)
    query |= {"ruleset": ruleset, "status": None if status == "any" else status}
    with must_be_cursor():
        (found, following), behind = await projections.ask_of_all(
            projection, lambda connection: projection.page(connection, **query), fresh=fresh
        )
    return found, following, behind
