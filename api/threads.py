"""Threads for what may touch the database, so that the event loop never waits for it."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a call gives that may touch the database."""
    return await asyncio.to_thread(call, *args, **kwargs)
