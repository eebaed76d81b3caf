"""The examples of the description are real requests and answers."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conformance import examples as command
from tests.conformance import problem_examples
from tests.conformance.examples import TARGET, examples
from tests.conformance.problem_examples import WrongAnswers, provoked


def test_they_are_up_to_date() -> None:
    """Examples that are made again are the same. A change of an example is a change of the API: ``make describe``."""
    assert examples() == TARGET.read_text("utf-8")


def test_a_problem_with_a_wrong_status_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    called = {"operationId": "get_ruleset", "responses": {"404": {}, "406": {}}, "tags": ["Rulesets"]}
    monkeypatch.setattr(problem_examples, "OPERATIONS", {("GET", "/v1/rulesets/{ruleset}"): called})
    monkeypatch.setattr(
        problem_examples, "_provoke", lambda *_: b'{"status": 404, "type": "/problems/no-such-ruleset"}'
    )
    match: Any = SimpleNamespace(path="/v1/matches/one")
    nothing: Any = SimpleNamespace(id="")
    made = provoked(nothing, match, match, match, "", nothing)
    assert next(made)[1]["status"] == 404
    with pytest.raises(WrongAnswers) as wrong:
        next(made)
    assert str(wrong.value).startswith("GET /v1/rulesets/{ruleset} should answer 406, and answers: {'status': 404")


def test_the_command_ends_with_an_error_and_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong() -> str:
        raise WrongAnswers("GET / should answer 406")

    before = TARGET.read_bytes()
    monkeypatch.setattr(command, "examples", wrong)
    assert command.main() == 1
    assert capsys.readouterr().err == "examples.json is not changed:\nGET / should answer 406\n"
    assert TARGET.read_bytes() == before
