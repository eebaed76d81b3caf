"""Rows of every topic ever stored. They are never edited: a new field means a new row in a topic's file."""

import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar, get_args
from uuid import UUID

import msgspec
import pytest
from eventsourcing.persistence import StoredEvent

from referee.clubs.commands import ClubRequest
from referee.games import REQUESTS
from referee.log.facts import Sign
from referee.store.aggregate import KINDS, event_type, event_types
from referee.store.desk import digest_of
from referee.store.rows import JsonRows, from_row, raw_rows, row_hash, to_row
from referee.visibility import Event, Hidden, Viewer, as_seen_by, stored_with_topic, with_topic

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.jsonl"))
ASKED = {fact.TOPIC: kind.REQUEST_OF for kind in KINDS.values() for fact in kind.FACTS}
"""Function that reads the request of an event, by topic."""
MATCH = UUID("00000000-0000-4000-8000-000000000001")


def samples() -> list[tuple[str, bytes]]:
    """Topic and stored bytes."""
    return [
        (path.stem.replace(".", "/"), line.encode())
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def test_every_topic_has_a_row() -> None:
    assert {path.stem.replace(".", "/") for path in FILES} == set(event_types())


@pytest.mark.parametrize(("topic", "state"), samples(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_row_once_stored_can_always_be_read(topic: str, state: bytes) -> None:
    """Writing it again gives the same content, apart from fields that were added later."""
    recorded = from_row(StoredEvent(MATCH, 7, topic, state))
    assert topic == recorded.event.TOPIC
    again = json.loads(to_row(recorded).state)
    assert contains(again, json.loads(state))


@pytest.mark.parametrize(("topic", "state"), samples(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_request_once_stored_can_always_be_read(topic: str, state: bytes) -> None:
    """Writing it again gives the same bytes: the stored digest covers exactly these bytes."""
    recorded = from_row(StoredEvent(MATCH, 7, topic, state))
    if recorded.request is not None:
        assert msgspec.json.encode(ASKED[topic](recorded.request)) == bytes(recorded.request)
        assert digest_of(recorded.request) == recorded.digest


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("viewer", ["official", "spectator"])
def test_the_stored_json_of_an_event_is_what_a_viewer_sees_unless_fields_are_hidden(
    viewer: Viewer, public: bool
) -> None:
    shown_as_stored = 0
    for topic, state in samples():
        stored = StoredEvent(MATCH, 7, topic, state)
        event = from_row(stored).event
        (row,) = raw_rows([stored])
        as_stored = stored_with_topic(type(event), viewer == "official", public)(bytes(row.event))
        if as_stored is not None:
            shown_as_stored += 1
            assert contains(
                json.loads(bytes(with_topic(as_seen_by(event, viewer, public)))), json.loads(bytes(as_stored))
            ), topic
    assert shown_as_stored > len(samples()) / 2


def test_stored_json_with_an_escape_a_line_break_or_a_hidden_field_is_not_shown_as_stored() -> None:
    played = event_type("card/played")
    official, spectator = (stored_with_topic(played, is_official, False) for is_official in (True, False))
    for state in (
        b'{"seat":1,"card":"\xff"}',
        b"5",
        b"null",
        b'{"seat":1,\n"card":"SA"}',
        b'{"seat":1,"c\\u0061rd":"SA"}',
    ):
        assert official(state) is spectator(state) is None
    against_a_rule = b'{"seat":1,"card":"SA","breaches":[{"rule":"B28"}]}'
    assert spectator(against_a_rule) is spectator(against_a_rule.replace(b":[", b" : [")) is None
    assert official(against_a_rule) == msgspec.Raw(b'{"topic":"card/played",' + against_a_rule[1:])


class Renamed(Event, frozen=True):
    """An event of an installed game. Its field has a different name in JSON; an earlier release had one more."""

    TOPIC: ClassVar[str] = "installed/renamed"
    HIDDEN: ClassVar[Hidden] = {"number": "open"}
    seat: int
    number: int | None = msgspec.field(name="n", default=None)


def test_an_event_of_an_installed_game_is_never_shown_as_stored() -> None:
    for state in (b'{"seat":1,"n":3}', b'{"seat":1,"lost":3}', b'{"seat":1}'):
        assert stored_with_topic(Renamed, False, False)(state) is None


def test_every_kind_of_request_stands_in_a_row() -> None:
    asked = [(topic, from_row(StoredEvent(MATCH, 7, topic, state)).request) for topic, state in samples()]
    kinds = {type(ASKED[topic](one)) for topic, one in asked if one is not None}
    assert kinds == {*REQUESTS, *get_args(ClubRequest), Sign}


def contains(new: Any, old: Any) -> bool:
    """Everything that the old row said is said by the new one."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(name in new and contains(new[name], old[name]) for name in old)
    return bool(new == old)


def test_the_hash_goes_over_match_number_topic_and_bytes() -> None:
    """An auditor can compute it from an export: ``printf '\\0ID\\n7\\ncard/played\\n{"a":1}' | sha256sum``."""
    row = StoredEvent(MATCH, 7, "card/played", b'{"a":1}')
    whole = b"\0" + str(MATCH).encode() + b'\n7\ncard/played\n{"a":1}'
    assert row_hash(row) == hashlib.sha256(whole).hexdigest()
    assert row_hash(row) == "4fe07e55738c0bcac89f9a9d28af8d109249e58ca8b3708908b89d848c361775"


def test_the_library_s_mapper_is_ours() -> None:
    topic, state = samples()[0]
    mapper = JsonRows.__new__(JsonRows)
    stored = StoredEvent(MATCH, 7, topic, state)
    assert mapper.to_stored_event(mapper.to_domain_event(stored)).topic == topic
