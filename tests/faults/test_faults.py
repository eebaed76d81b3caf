"""A tenth of ``make faults``."""

import asyncio
from contextlib import suppress

import pytest

from tests.faults.fault_kinds import Report, black_hole, cut_streams, faults, kills, lost_answers, step_by_step
from tests.faults.play import Enough
from tests.faults.service_under_load import Field, playing
from tests.faults.stores import STORES, PostgreSQL

KILLS, FAULTS, STREAMS, LOST_ANSWERS, HOLE_SECONDS = 2, 2, 50, 2, 7.0
ONE_STEP_IN = 25
THINKS_SECONDS = 0.1
"""Seconds between acts: low load, since other tests run at the same time."""


async def _tenth(field: Field, report: Report) -> None:
    await cut_streams(field, STREAMS, report)
    await faults(field, FAULTS, report)
    if field.proxy is not None:
        await lost_answers(field, LOST_ANSWERS, report)
        await black_hole(field, report, HOLE_SECONDS)
    await kills(field, KILLS, report)


@pytest.mark.parametrize("name", STORES)
def test_nothing_is_lost_done_twice_or_left_out(name: str) -> None:
    report = Report()

    async def played() -> None:
        with STORES[name]() as store:
            async with playing(
                store, "a tenth", proxied=isinstance(store, PostgreSQL), thinks=THINKS_SECONDS
            ) as field:
                await _tenth(field, report)

    with suppress(Enough):
        asyncio.run(played())
    assert report.wrong == []
    done = {line.what: line.times for line in report.lines}
    assert (done["streams cut"], done["kill -9"]) == (STREAMS, KILLS)
    assert all(line.counts["money"] for line in report.lines), "and the treasurer was busy"
    assert all(line.counts["acts"] for line in report.lines), "it was played all the while"


@pytest.mark.parametrize("name", STORES)
def test_nothing_is_lost_or_done_twice_between_any_two_steps(name: str) -> None:
    """Entry, closing, checkpoint."""
    report = Report()
    with STORES[name]() as store:
        step_by_step(store, report, ONE_STEP_IN)
    assert report.wrong == []
    (line,) = report.lines
    assert line.times >= 3
