"""No call forgets the names and texts of members: every reply takes them, and no answer leaves a ref to a party."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_type_hints

import pytest
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import ASGIApp

from api.http.member_texts import MemberTexts
from api.http.replies import Reply
from api.personal_data.names import REF_PREFIX
from referee.store import desk
from tests.api.cases.test_cases import ANNA, BERIT, RULING, ask, finish
from tests.support.club_with_names import Club, ClubTable
from tests.support.paths import ROOT
from tests.support.service_in_memory import Client

WITHOUT_TEXTS = {
    "api.http.replies.bodiless_reply": "has no body",
    "api.http.replies.not_modified": "has no body",
    "api.http.replies.Fixed": "is made when the process starts",
}
"""The functions that make an answer without texts, and the reason."""
ENDLESS = {"/events/stream"}
"""The read whose answer does not end. ``test_texts.py`` looks for texts in it."""


def makers() -> Iterator[tuple[str, Any]]:
    """Yield each function and class of ``api/http`` that makes an answer, by its dotted name."""
    for path in sorted(ROOT.glob("api/http/*.py")):
        name = f"api.http.{path.stem}" if path.stem != "__init__" else "api.http"
        module = import_module(name)
        for made in vars(module).values():
            if getattr(made, "__module__", None) != name:
                continue
            if inspect.isfunction(made) and get_type_hints(made).get("return") in (Reply, ASGIStreamingResponse):
                yield f"{name}.{made.__name__}", made
            elif inspect.isclass(made) and (made is Reply or hasattr(made, "reply")):
                yield f"{name}.{made.__name__}", made.__init__


def handlers(app: Litestar) -> Iterator[HTTPRouteHandler]:
    """Yield each handler of the app."""
    for route in app.routes:
        yield from getattr(route, "route_handlers", ())


def test_every_function_that_makes_an_answer_needs_the_texts_of_the_caller() -> None:
    found = dict(makers())
    assert {"api.http.replies.Reply", "api.http.replies.streamed_reply", "api.http.long_answers.long_reply"} <= set(
        found
    )
    for name, made in found.items():
        texts = inspect.signature(made).parameters.get("texts")
        if name in WITHOUT_TEXTS:
            assert texts is None, name
            continue
        assert texts is not None, name
        assert texts.default is inspect.Parameter.empty, f"{name} can be called without texts"
        assert get_type_hints(made)["texts"] is MemberTexts, name


def test_every_handler_answers_by_such_a_function(client: Client) -> None:
    """A handler that returned a value would have it encoded by the library, with refs."""
    found = [one for one in handlers(client.app) if one.fn.__module__.startswith("api.")]
    assert len(found) > 50
    for one in found:
        assert get_type_hints(one.fn)["return"] in (Reply, ASGIApp), one


@pytest.fixture(scope="module")
def noted(client: Client) -> ClubTable:
    """A match of a club in which a player, an official and an appeal wrote texts, and a deal was scored."""
    table = ClubTable(Club(client))
    table.done("deal", 0, counts=[6, 6, 6])
    ask(table, "", ANNA, {"seat": ANNA, "accused": BERIT, "offence": "revoke", "note": "I saw it"})
    ask(table, "/1/ruling", "official", RULING | {"reason": "The tricks show it"})
    ask(table, "/1/appeal", BERIT, {"seat": BERIT, "text": "They do not"})
    finish(table)
    return table


def paths(app: Litestar) -> list[str]:
    """Return the paths of all reads of a match, below that of the match."""
    found = {
        route.path.removeprefix("/v1/matches/{match:uuid}")
        for route in app.routes
        if route.path.startswith("/v1/matches/{match:uuid}") and "GET" in getattr(route, "methods", ())
    }
    return sorted(found - ENDLESS)


def test_no_read_of_a_match_leaves_a_ref_in_an_answer_to_a_party(noted: ClubTable) -> None:
    read, spectated = dict[str, int](), 0
    version = noted.version()
    for path in paths(noted.client.app):
        place = path.replace("{knock:int}", "1").replace("{deal:int}", "1").replace("{event:int}", "1")
        query = f"?min_version={version}&at={version}" if path == "/replay" else f"?min_version={version}"
        query = "" if path in ("/attempts", "/events/{event:int}/proof") else query
        for who in ("official", ANNA):
            answer = noted.get(place + query, who)
            read[path] = min(read.get(path, 999), answer.status_code)
            assert REF_PREFIX not in answer.text, (path, who)
        spectated += REF_PREFIX in noted.get(place + query).text
    assert spectated >= 4, "there are refs: a spectator reads them"
    not_read = {path for path, status in read.items() if status != 200}
    assert not_read <= {"/pot", "/settlement", "/bundle", "/events/{event:int}/proof"}, read


@pytest.mark.parametrize("path", ["/replay?at=3", "/knocks/1/file"])
def test_an_answer_that_another_process_works_on_has_the_texts(
    noted: ClubTable, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store of names stays in the process that answers: the work is given the caller without texts."""
    here = noted.get(path, "official")
    monkeypatch.setattr(desk, "LONG_FROM", 1)
    assert noted.get(path, "official").status_code == here.status_code == 200
    assert REF_PREFIX not in noted.get(path, "official").text
