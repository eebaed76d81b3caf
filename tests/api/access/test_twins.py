"""Hidden facts change no byte of an answer: standings, plan, log, and all headers.

``make soak`` compares 40,000 pairs. See :mod:`tests.support.twin_services`.
"""

import os
from pathlib import Path
from random import Random

import pytest

from tests.support.twin_services import KINDS, Base, Kind, Running, base, pages, twins

PAIRS = int(os.environ.get("TWINS", "200"))
PARTS = 2
SHARES: dict[Kind, int] = {"hidden": PAIRS // 2, "private": PAIRS // 4, "settled": PAIRS // 4}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return base(tmp_path_factory.mktemp("twins") / "base")


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_both_services_answer_with_the_same_bytes(begun: Base, tmp_path: Path, kind: Kind, part: int) -> None:
    numbers = range(part, SHARES[kind], PARTS)
    with twins(begun, tmp_path, kind, numbers) as both:
        assert both.compare(Random(f"{kind} {part}")) > 5 * len(numbers)


def test_an_auditor_sees_the_difference_of_the_twins(begun: Base, tmp_path: Path) -> None:
    """The two stores are different, and the pages show it to a key that may see private matches."""
    with twins(begun, tmp_path, "settled", range(12)) as both:
        auditor = begun.kept.home.auditors[0]

        def differ(one: Running, other: Running, path: str) -> bool:
            left, right = one.ask("GET", path, auditor), other.ask("GET", path, auditor)
            assert left.status == right.status == 200, (path, left, right)
            return left.body != right.body

        of_club = f"/v1/clubs/{both.club}"
        for path in (f"{of_club}/standings", f"{of_club}/plan", f"/v1/matches?club={both.club}"):
            assert path in [*pages(both.club)]
            assert differ(*both.running, path), path
        first, second = both.running
        for one in both.running:
            one.sign()
        assert first.ask("GET", "/v1/log", None).body != second.ask("GET", "/v1/log", None).body
