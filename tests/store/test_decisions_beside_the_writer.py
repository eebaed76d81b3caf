"""J9: Decisions on a whole history are made beside the writer, and stored only if the match has not changed."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from referee.admission import IssueToken
from referee.refusals import Refused
from referee.requests import Correct
from referee.store import command
from referee.store.command import Busy, Command
from referee.store.desk import Desk
from referee.store.store import Referee, settings_for
from tests.store.test_corrections import FIVE, KORTOXEN, scored
from tests.support.edited_stores import differences
from tests.support.random_matches import opened


class Watched(Referee):
    """A real store that calls a function after each read of a history."""

    name = Referee.name
    read: Callable[[], Any] = staticmethod(lambda: None)

    def history(self, *args: Any, **kwargs: Any) -> Any:
        found = super().history(*args, **kwargs)
        self.read()
        return found


@pytest.fixture
def referee(store_url: str) -> Iterator[Watched]:
    with Watched(env=settings_for(store_url)) as referee:
        yield referee


@pytest.fixture
def desk(referee: Watched) -> Iterator[Desk]:
    desk = Desk(referee)
    yield desk
    desk.close()


def asked(desk: Desk, match_id: Any, request: Any = FIVE, **more: Any) -> Any:
    return desk.submit(Command(id=match_id, actor="official", request=request, **more))


def is_stored(answer: Any) -> bool:
    try:
        answer.result(30)
    except (Busy, command.Overtaken, Refused):
        return False
    return True


def another_token(number: int) -> IssueToken:
    return IssueToken(role="seat", seat=1, hash=f"{number:064x}")


class Acting:
    """Makes other acts in the match while it is decided, a given number of times."""

    def __init__(self, desk: Desk, match_id: Any, times: int) -> None:
        self.times, self.read, self.events = times, 0, 0
        self._desk, self._match_id = desk, match_id

    def __call__(self) -> None:
        self.read += 1
        if self.read <= self.times:
            outcome = asked(self._desk, self._match_id, another_token(self.read)).result(30)
            self.events += len(outcome.events)


def test_others_go_on_while_it_is_decided(desk: Desk, referee: Watched) -> None:
    match_id, other = scored(desk, 1), opened(desk, **KORTOXEN)
    reading, go_on = threading.Event(), threading.Event()
    referee.read = lambda: (reading.set(), go_on.wait(30))
    try:
        correction = asked(desk, match_id)
        assert reading.wait(30)
        assert asked(desk, other, another_token(1)).result(10).aggregate.version
        assert asked(desk, match_id, another_token(1)).result(10).aggregate.version
        assert not correction.done
    finally:
        go_on.set()
    assert correction.result(30).events


@pytest.mark.parametrize("times", [1, 2])
def test_it_is_decided_again_when_someone_has_acted(store_url: str, desk: Desk, referee: Watched, times: int) -> None:
    match_id = scored(desk, 1)
    referee.read = acting = Acting(desk, match_id, times)
    before = desk.get(match_id)
    outcome = asked(desk, match_id).result(30)
    assert acting.read == times + 1
    assert outcome.aggregate.version == before.version + acting.events + 1
    assert outcome.aggregate.seating.seats[1] == another_token(times).hash, "an act stored meanwhile counts"
    assert differences(store_url, match_id) == ()


def test_three_times_and_no_more(store_url: str, desk: Desk, referee: Watched) -> None:
    match_id = scored(desk, 1)
    referee.read = acting = Acting(desk, match_id, 100)
    points, version = desk.get(match_id).play.table.points, desk.get(match_id).version
    with pytest.raises(command.Overtaken):
        asked(desk, match_id).result(30)
    assert acting.read == 3
    match = desk.get(match_id)
    assert (match.version, match.play.table.points) == (version + acting.events, points)


def test_a_refusal_rests_on_the_match_as_it_stands(desk: Desk, referee: Watched) -> None:
    match_id = scored(desk, 1)
    referee.read = acting = Acting(desk, match_id, 1)
    strange = Correct(why=FIVE.why, strike=(99,))
    with pytest.raises(Refused) as refused:
        asked(desk, match_id, strange).result(30)
    assert (refused.value.code, acting.read) == ("no_such_line", 2)


def test_if_match_is_stale_then(desk: Desk, referee: Watched) -> None:
    match_id = scored(desk, 1)
    referee.read = acting = Acting(desk, match_id, 1)
    version = desk.get(match_id).version
    with pytest.raises(command.Stale) as stale:
        asked(desk, match_id, expected=version).result(30)
    assert (stale.value.version, acting.read) == (version + acting.events, 1)


def test_the_store_is_not_closed_while_a_decision_reads_it(store_url: str) -> None:
    """A connection that a different thread closes ends the whole process."""
    reading, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    others = {*threading.enumerate()}
    with Watched(env=settings_for(store_url)) as referee:
        desk = Desk(referee)
        match_id = scored(desk, 1)
        referee.read = lambda: (reading.set(), go_on.wait(30), ended.set())
        answer = asked(desk, match_id)
        assert reading.wait(30)
        closing = threading.Thread(target=desk.close)
        closing.start()
        with pytest.raises(Busy):
            answer.result(30)
        assert closing.is_alive()
        go_on.set()
        closing.join(30)
        assert ended.is_set()
        assert not [thread for thread in threading.enumerate() if thread.name == "aside" and thread not in others]


def test_a_match_does_not_take_all_places(desk: Desk, referee: Watched) -> None:
    match_id = scored(desk, 1)
    reading, go_on = threading.Event(), threading.Event()
    referee.read = lambda: (reading.set(), go_on.wait(30))
    try:
        answers = [asked(desk, match_id) for _ in range(10)]
        assert reading.wait(30)
        asked(desk, match_id, another_token(1)).result(30)
        given_up = [answer for answer in answers if answer.done]
        assert given_up
        for answer in given_up:
            answers.remove(answer)
            with pytest.raises(Busy):
                answer.outcome()
    finally:
        referee.read = lambda: None
        go_on.set()
    assert any(map(is_stored, answers))
