"""Finished deals of long matches of all games: each is read from its own rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from api.access.caller import SPECTATOR
from api.books.deals import record_of
from projections import protocols
from projections.protocols import LINES_PER_READ, VOIDED
from referee import notation
from referee.store.store import construct
from tests.api.cases.test_cases import ANNA, BERIT, REVOKE, RULING, ask, attended, finish
from tests.projections.every_game import KINDS, history_of
from tests.support.random_matches import cases_in, deal_of, first_of_act, of_the_deal
from tests.support.salted_rows import row_of
from tests.support.service_in_memory import Client, client_of

FINED = {"ruleset": "rodskagg-catsatcards", "fem_opp": True, "false_knock_penalty": 5, "points": (9, 9, 9)}
"""Options with which a voided deal has a line after a false knock in it (C-O23)."""
MATCHES = {UUID(int=number): kind for number, kind in enumerate((*KINDS, FINED, FINED), 1)}
ACTS = 400
"""Number of acts tried in each match."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Yield a client of a service with random matches of every game, with knocks and voided deals."""
    path: Path = tmp_path_factory.mktemp("deals")
    url = f"sqlite:///{path}/knacka.db"
    with construct(url) as referee:
        for match_id, kind in MATCHES.items():
            history = history_of(kind, seed=match_id.int, acts=ACTS, match_id=match_id)
            referee.recorder.insert_events([row_of(recorded) for recorded in history])
    with client_of(url) as client:
        yield client


def deals_of(service: Client, match_id: UUID) -> tuple[dict[str, Any], list[int]]:
    """Return the protocol, and the numbers of the finished deals."""
    protocol = service.get(f"/v1/matches/{match_id}/protocol").json()
    return protocol, [line["deal"] for line in protocol["lines"] if line["kind"] != VOIDED]


def test_the_page_of_each_deal_equals_a_record_made_from_the_whole_match(service: Client) -> None:
    found, voided = 0, 0
    referee = service.app.state.service.referee
    for match_id in MATCHES:
        history, match = referee.history(match_id), referee.load(match_id).aggregate
        protocol, deals = deals_of(service, match_id)
        voided += len(protocol["lines"]) - len(deals)
        assert deals == list(range(1, len(deals) + 1))
        for deal in deals:
            page = f"/v1/matches/{match_id}/deals/{deal}"
            events = of_the_deal(history, deal)
            record = record_of(match, events, first_of_act(history, events[0]), cases_in(events), SPECTATOR, "en")
            assert service.get(page).content == msgspec.json.encode(record)
            text = notation.write(deal_of(match.opened, history, deal))
            assert service.get(page, headers={"Accept": "text/plain"}).text == text
            found += 1
        state = match.rules.view(match.play, "spectator")
        if state.deal > len(deals):
            assert service.get(f"/v1/matches/{match_id}/deals/{state.deal}").status_code == 409
        assert service.get(f"/v1/matches/{match_id}/deals/{state.deal + 1}").status_code == 404
    assert found > 30, "the matches are long enough"
    assert voided, "no deal was voided that cost something"


@pytest.mark.parametrize("look", [1, 2, LINES_PER_READ])
def test_a_record_is_read_from_the_rows_of_its_deal(
    service: Client, monkeypatch: pytest.MonkeyPatch, look: int
) -> None:
    """The result does not depend on the number of protocol lines that one query reads."""
    monkeypatch.setattr(protocols, "LINES_PER_READ", look)
    recorder, read = service.app.state.service.referee.recorder, list[int]()

    def counted(*args: Any, **kwargs: Any) -> Any:
        rows = select(*args, **kwargs)
        read.append(len(rows))
        return rows

    select = recorder.select_events
    for match_id in MATCHES:
        protocol, deals = deals_of(service, match_id)
        ends = [0, *(line["event"] for line in protocol["lines"] if line["kind"] != VOIDED)]
        for deal in deals:
            read.clear()
            with monkeypatch.context() as patch:
                patch.setattr(recorder, "select_events", counted)
                assert service.get(f"/v1/matches/{match_id}/deals/{deal}").status_code == 200
            assert sum(read) == ends[deal] - ends[deal - 1]


class TestRulings:
    """An official's rulings during the deal."""

    @pytest.mark.rule("J5", "J6")
    def test_it_has_the_penalties_of_rulings(self, client: Client) -> None:
        heard = attended(client)
        ask(heard, "", ANNA, REVOKE)
        ask(heard, "/1/ruling", "official", RULING)
        finish(heard)
        record = heard.get("/deals/1", "official").json()
        assert record["score"]["penalties"] == [0, 5, 0]
        found = [(one["seat"], one["points"], one["rule"], one["case"]) for one in record["penalties"]]
        assert found == [(BERIT, 5, "B42", 1)]

    @pytest.mark.rule("J6")
    def test_it_has_the_attempt_that_a_ruling_voided(self, client: Client) -> None:
        heard = attended(client)
        heard.bid("pass", first=ANNA + 1)
        ask(heard, "", ANNA, REVOKE)
        ask(heard, "/1/ruling", "official", RULING | {"remedy": {"void": True}})
        heard.done("deal", heard.get().json()["to_act"][0], counts=[6, 6, 6])
        finish(heard)
        record = heard.get("/deals/1", "official").json()
        voided = [one for one in heard.get("/events").json()["events"] if one["event"]["topic"] == "deal/voided"]
        assert record["voided"] == [one["number"] for one in voided] != []
        assert all(bid["event"] > record["voided"][0] for bid in record["bids"]), "the bids are of the next attempt"
