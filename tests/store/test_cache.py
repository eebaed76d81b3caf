"""The cache is bounded by bytes, and remembers which aggregates are outdated."""

import gc
import tracemalloc
from collections.abc import Iterator
from uuid import uuid4

import pytest
from msgspec.structs import replace

from referee.games import RULESETS
from referee.store import cache as cache_module
from referee.store.cache import Cache, size_of
from referee.store.desk import Desk
from referee.store.store import Referee, construct
from tests.support.random_matches import opened, play_out


@pytest.fixture
def referee(sqlite_url: str) -> Iterator[Referee]:
    with construct(sqlite_url) as referee:
        yield referee


def test_a_desk_keeps_as_many_matches_as_fit_and_loads_the_others(referee: Referee) -> None:
    desk = Desk(referee, cache_bytes=50_000)
    ids = [opened(desk) for _ in range(40)]
    fit = desk.cached_count
    assert 4 < fit < 20
    assert desk._cache.size <= 50_000
    assert desk._cache.size == sum(place.size for place in desk._cache._places.values())
    assert [desk.cached(match_id) is None for match_id in ids] == [True] * (40 - fit) + [False] * fit
    assert [desk.get(match_id).version for match_id in ids] == [1] * 40
    assert desk.cached_count == fit
    desk.close()


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
def test_a_size_is_about_what_a_match_takes(referee: Referee, ruleset: str) -> None:
    desk = Desk(referee)
    match_id = opened(desk, ruleset=ruleset)
    list(play_out(desk, match_id, 40))
    desk.close()
    cache, many = Cache(10**9), 50
    referee.load(match_id)
    gc.collect()
    tracemalloc.start()
    for _ in range(many):
        loaded = referee.load(match_id)
        cache.keep([replace(loaded, aggregate=replace(loaded.aggregate, id=uuid4()))])
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.8 * taken < cache.size < 2.5 * taken


def test_one_that_grows_is_measured_again(referee: Referee) -> None:
    desk = Desk(referee)
    match_id = opened(desk, deal_ritual=False)
    for outcome in play_out(desk, match_id, 60):
        place = desk._cache._places[match_id]
        assert outcome.aggregate.version - place.measured < cache_module.MEASURED_EVERY
    assert desk._cache.size == place.size
    assert size_of(outcome.aggregate) == pytest.approx(place.size, rel=0.5)
    desk.close()


class TestOvertaken:
    def test_an_aggregate_read_before_a_later_write_counts_as_outdated(self, referee: Referee) -> None:
        desk, cache = Desk(referee), Cache(10**9)
        match_id = opened(desk)
        desk.close()
        cache.mark_stored(match_id, 2)
        assert not cache.is_behind(match_id)
        old = referee.load(match_id)
        cache.keep([old])
        assert cache.is_behind(match_id)
        new = replace(old, aggregate=replace(old.aggregate, version=3))
        cache.keep([new])
        cache.keep([old])
        assert not cache.is_behind(match_id)
        assert cache.get(match_id) == new

    def test_a_late_notice_of_an_earlier_event_changes_nothing(self, referee: Referee) -> None:
        desk, cache = Desk(referee), Cache(10**9)
        match_id = opened(desk)
        desk.close()
        for version in (7, 5):
            cache.mark_stored(match_id, version)
        old = referee.load(match_id)
        cache.keep([replace(old, aggregate=replace(old.aggregate, version=6))])
        assert cache.is_behind(match_id)

    def test_an_aggregate_whose_version_is_forgotten_leaves_the_cache(
        self, referee: Referee, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An outdated aggregate would otherwise count as current."""
        monkeypatch.setattr(cache_module, "OVERTAKEN_MAX", 2)
        desk, cache = Desk(referee), Cache(10**9)
        ids = [opened(desk) for _ in range(5)]
        desk.close()
        cache.keep([referee.load(match_id) for match_id in ids])
        for match_id in ids[:4]:
            cache.mark_stored(match_id, 2)
        assert len(cache._overtaken) == 2
        assert [cache.get(match_id) is None for match_id in ids] == [True, True, False, False, False]
        assert [cache.is_behind(match_id) for match_id in ids] == [False, False, True, True, False]
