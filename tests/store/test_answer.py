"""The future outcome of a request to the desk."""

import threading
from typing import Any, cast

import pytest

from referee.store.answer import Answer
from referee.store.command import Busy, Outcome

OUTCOME = cast(Outcome, object())


def test_a_blocked_caller_gets_the_outcome_of_another_thread() -> None:
    answer = Answer()
    assert answer.begin()
    threading.Timer(0.01, answer.set, [OUTCOME]).start()
    assert answer.result(10) is OUTCOME
    assert answer.done


def test_an_error_is_raised() -> None:
    answer = Answer()
    answer.set(Busy())
    with pytest.raises(Busy):
        answer.result(10)


def test_a_caller_waits_no_longer_than_it_says() -> None:
    with pytest.raises(TimeoutError):
        Answer().result(0.01)


def test_only_a_request_that_has_not_begun_can_be_cancelled() -> None:
    cancelled, begun = Answer(), Answer()
    assert cancelled.cancel()
    assert not cancelled.begin()
    assert begun.begin()
    assert not begun.cancel()


@pytest.mark.parametrize("known", [True, False])
def test_the_callback_is_called_once(known: bool) -> None:
    answer, calls = Answer(), list[Any]()
    if known:
        answer.set(OUTCOME)
    answer.when_done(lambda: calls.append(answer.outcome()))
    if not known:
        assert not calls
        answer.set(OUTCOME)
    assert calls == [OUTCOME]
