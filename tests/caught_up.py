"""Waiting for the books as a reader does: they follow at once then, and do not rest between two turns."""

import asyncio

from api.runtime.projections import Projections

SECONDS_MAX = 30.0


def caught_up(books: Projections) -> None:
    """Wait until each projection has applied all stored rows."""

    async def wait() -> None:
        head = books.head()
        for name, projection in books.by_name.items():
            assert await books.follower.wait_to(head, SECONDS_MAX, projection), f"book {name} does not follow"

    asyncio.run(wait())
