"""A million random deals of each ruleset with all their invariants: ``make soak``.

Also 40,000 pairs of worlds that differ only in what a seat has not seen (:mod:`tests.support.world_pairs`). 10,000
forged bundles of matches and of a club's closings, which ``openapi/verify.py`` must detect
(:mod:`tests.log.bundle_checks`). 2,000 edits of a club's rows, which an audit must detect
(:mod:`tests.support.audited_club`). 1,000 forged shuffles, which ``openapi/shuffle.py`` must detect
(:mod:`tests.support.forged_shuffles`). 40,000 pairs of matches over HTTP, in services whose answers may not differ in
a byte (:mod:`tests.support.twin_services`). And 60 seconds of all attackers beside honest clients
(:mod:`tests.benchmarks.attackers`).

``python -m tests.benchmarks.soak [--deals N] [--pairs N] [--bundles N] [--clubs N] [--shuffles N] [--twins N]
[--attack SECONDS] [--seed N] [RULESET ...]``; the seed of a failed part is printed.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import cycle
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from litestar.testing import TestClient

from api.app import create_app
from api.settings import Settings
from referee.events import Enforcement
from referee.games import RULESETS
from tests.benchmarks import attackers
from tests.log.bundle_checks import KEY, bundles_of, not_found
from tests.support import audited_club
from tests.support.forged_shuffles import tried
from tests.support.random_deals import play_out
from tests.support.twin_services import KINDS, Kind, base, twins
from tests.support.world_pairs import COMBINATIONS, NOTHING_HIDDEN, DealingMode, Pair
from tests.support.world_pairs_with_officials import AttendedPair

DEALS = 1_000_000
PAIRS = 40_000
BUNDLES = 10_000
CLUBS = 2_000
SHUFFLES = 1_000
TWINS = 40_000
TWINS_PART = 100
"""Pairs of matches in one pair of stores."""
PART = 10_000
"""Deals in one part: those that a process plays before it reports."""


def parts(deals: int, seed: int) -> Iterator[tuple[int, int]]:
    """Yield deals and seed of each part."""
    for number, begun in enumerate(range(0, deals, PART)):
        yield min(PART, deals - begun), seed + number


def soak(ruleset: str, deals: int, seed: int, processes: int) -> bool:
    """Play the deals of a ruleset and report the progress. Return whether all invariants held."""
    met, failed, begun, reported = Counter[str](), 0, time.monotonic(), 0.0
    with ProcessPoolExecutor(processes) as pool:
        work = {pool.submit(play_out, ruleset, many, part): part for many, part in parts(deals, seed)}
        for future in as_completed(work):
            if error := future.exception():
                failed += 1
                print(f"  {ruleset}: seed {work[future]}: {error!r} {' '.join(error.__notes__)}", flush=True)
                continue
            met += future.result()
            spent = time.monotonic() - begun
            if spent - reported > 10:
                reported = spent
                print(f"  {ruleset}: {met['deals']:,} of {deals:,} deals, {met['deals'] / spent:,.0f}/s", flush=True)
    spent = time.monotonic() - begun
    print(f"{ruleset}: {met['deals']:,} deals, {met['acts']:,} acts in {spent:,.0f} s, {failed} parts failed")
    for name in sorted(name for name in met if name.startswith(("kind:", "won:"))):
        print(f"    {met[name]:>12,}  {name}")
    return not failed


def pairs_of(key: str, mode: DealingMode, enforcement: Enforcement, seeds: range) -> int:
    """Play these pairs, half of them with officials. Return how many had two different worlds."""
    return sum(
        (AttendedPair if seed % 2 else Pair)(key, mode, enforcement, seed).play().differed > 0 for seed in seeds
    )


def interference(keys: Collection[str], pairs: int, seed: int, processes: int) -> bool:
    """Play ``pairs`` pairs, equally of every combination. Return whether no two worlds could be distinguished."""
    kinds = [one for one in COMBINATIONS if one[0] in keys and one not in NOTHING_HIDDEN]
    seeds = range(seed, seed + -(-pairs // len(kinds)))
    differed, failed, begun = 0, 0, time.monotonic()
    with ProcessPoolExecutor(processes) as pool:
        work = {pool.submit(pairs_of, *kind, seeds): kind for kind in kinds}
        for future in as_completed(work):
            if error := future.exception():
                failed += 1
                print(f"  {' '.join(work[future])}: {error} {' '.join(error.__notes__)}", flush=True)
                continue
            differed += future.result()
    spent = time.monotonic() - begun
    played = len(kinds) * len(seeds)
    print(f"interference: {played:,} pairs, {differed:,} of two worlds, in {spent:,.0f} s, {failed} kinds failed")
    return not failed


def twins_of(kind: Kind, numbers: range) -> int:
    """Compare the answers of two services with these pairs of matches. Return how many calls were compared."""
    with TemporaryDirectory() as name:
        place = Path(name)
        with twins(base(place / "base"), place, kind, numbers) as both:
            return both.compare(Random(f"{kind} {numbers.start}"))


def twin_services(tries: int, seed: int, processes: int) -> bool:
    """Compare the answers about this many pairs of matches. Return whether no answer differed."""
    begun, asked, failed = time.monotonic(), 0, 0
    parts = [range(seed + first, seed + min(first + TWINS_PART, tries)) for first in range(0, tries, TWINS_PART)]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:  # a fork lacks the threads of its parent
        work = {pool.submit(twins_of, kind, part): (kind, part) for kind, part in zip(cycle(KINDS), parts)}
        for future in as_completed(work):
            if error := future.exception():
                failed += 1
                kind, part = work[future]
                print(f"  {kind} {part}: {error}", flush=True)
                continue
            asked += future.result()
    spent = time.monotonic() - begun
    print(f"twins: {tries:,} pairs, {asked:,} calls compared in {spent:,.0f} s, {failed} parts failed")
    return not failed


def bundles(tries: int, seed: int) -> bool:
    """Damage ``tries`` bundles of a signed log in one place each. Return whether each was detected."""
    begun = time.monotonic()
    with TemporaryDirectory() as name:
        settings = Settings(database_url=f"sqlite:///{name}/knacka.db", log_key=KEY.private_text, log_seconds=86_400)
        with TestClient(create_app(settings)) as client:
            bundled = bundles_of(client)
        missed = not_found(bundled, tries, seed, Path(name))
    for one in missed:
        print(f"  taken for proved: {one}", flush=True)
    print(f"bundles: {tries:,} forged in {time.monotonic() - begun:,.0f} s, {len(missed)} not found")
    return not missed


def audits(tries: int, seed: int) -> bool:
    """Edit the rows of a club ``tries`` times, each in one place. Return whether each edit was detected."""
    begun = time.monotonic()
    with TemporaryDirectory() as name:
        place = Path(name) / "original"
        place.mkdir()
        settings = Settings(database_url=f"sqlite:///{place}/knacka.db", log_key=KEY.private_text, log_seconds=86_400)
        with TestClient(create_app(settings)) as client:
            kept = audited_club.filled(client)
        missed = audited_club.not_found(place, kept, tries, seed, Path(name))
    for one in missed:
        print(f"  audited and not found: {one}", flush=True)
    print(f"clubs: {tries:,} edits of rows in {time.monotonic() - begun:,.0f} s, {len(missed)} not found")
    return not missed


def forged_shuffles(tries: int, seed: int) -> bool:
    """Forge ``tries`` shuffles. Return whether each was detected, and each honest match is fair."""
    begun, met = time.monotonic(), Counter(tried(tries, seed))
    wrong = {kind: many for (kind, is_fair), many in met.items() if is_fair != (kind == "honest")}
    for kind, many in wrong.items():
        print(f"  {kind}: {many} taken for {'not fair' if kind == 'honest' else 'fair'}", flush=True)
    honest = met["honest", True]
    print(f"shuffles: {tries:,} forged and {honest:,} honest matches in {time.monotonic() - begun:,.0f} s")
    return not wrong


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.soak", description=__doc__.splitlines()[0])
    parser.add_argument("rulesets", nargs="*", metavar="RULESET", help="all if none is named")
    parser.add_argument("--deals", type=int, default=DEALS, help="of each ruleset")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="of indistinguishable worlds, in all")
    parser.add_argument("--bundles", type=int, default=BUNDLES, help="with one thing wrong")
    parser.add_argument("--clubs", type=int, default=CLUBS, help="edited in one place")
    parser.add_argument("--shuffles", type=int, default=SHUFFLES, help="forged")
    parser.add_argument("--twins", type=int, default=TWINS, help="pairs of matches in two services")
    parser.add_argument(
        "--attack", type=float, default=attackers.SECONDS, help="seconds of all attackers at once; 0: none"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first part")
    parser.add_argument("--processes", type=int, default=cpu_count() or 1)
    asked = parser.parse_args()
    if unknown := set(asked.rulesets) - set(RULESETS):
        parser.error(f"no such ruleset: {', '.join(sorted(unknown))}")
    held = [interference(asked.rulesets or list(RULESETS), asked.pairs, asked.seed, asked.processes)]
    held += [bundles(asked.bundles, asked.seed)]
    held += [audits(asked.clubs, asked.seed)]
    held += [forged_shuffles(asked.shuffles, asked.seed)]
    held += [twin_services(asked.twins, asked.seed, asked.processes)]
    if asked.attack:
        held += [attackers.main(asked.attack)]
    held += [soak(key, asked.deals, asked.seed, asked.processes) for key in asked.rulesets or RULESETS]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
