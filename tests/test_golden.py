"""The golden deals: read, written back, and played through, by decide and evolve and over HTTP.

A golden deal is in ``golden/<ruleset>/<name>.txt`` in the notation of ``openapi/notation.md``, alone or after the
deals before it. If it is a worked example of the rules, its source says which, and its numbers are those of the
rules.
"""

import json
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from api.access.caller import Caller
from api.books.deals import record_of
from referee import notation
from referee.actors import seat_of
from referee.acts import AnyAct, Bid, Deal, Draw, Knock, Result, Void
from referee.events import DealScored
from referee.games import RULESETS
from referee.notation.words import ACTS_BY_LINE_WORD, WORDS
from referee.refusals import AgainstTheRules
from referee.requests import act_name
from referee.visibility import Event
from tests.conformance.replay import Direct, Player, Refusal
from tests.conformance.test_over_http import Client, OverHttp
from tests.games.rodskagg import table
from tests.support.match_driver import P1, P2, P3, P4
from tests.support.random_matches import cases_in, deal_of, first_of_act, of_the_deal
from tests.support.random_openings import some_match
from tests.support.running_service import served

HERE = Path(__file__).parent / "golden"
FILES = sorted(HERE.glob("*/*.txt"))
OVER_HTTP = FILES[:: int(os.environ.get("READ_EVERY", "2"))]
"""Each second is played over HTTP too; all with ``READ_EVERY=1``."""
DEALS_MIN = 15
"""Golden deals of each ruleset."""
PLAYOUTS = int(os.environ.get("PLAYOUTS", "6"))
"""Random matches of each ruleset; more with ``make soak``."""


def given(header: notation.Header) -> dict[str, Any]:
    """Return the match that a first deal belongs to, in the form of the conformance matches."""
    follows = header.out or header.among or header.carried
    assert not follows, "only the first deal of a text opens a match"
    return {
        "ruleset": header.ruleset,
        "players": len(header.players),
        "options": header.options,
        "opening": {"points": list(header.points), **({} if header.pot is None else {"pot": header.pot})},
        "first_dealer": header.dealer,
        "dealing": header.dealing,
        "enforcement": header.enforcement,
        "stakes": None if header.stakes is None else msgspec.to_builtins(header.stakes),
    }


def play(player: Player, deal: notation.Deal) -> None:
    """Make all acts of a deal, and check each ruling and the line in the protocol against the text."""
    for done in deal.acts:
        body, seat = msgspec.to_builtins(done.act), seat_of(done.actor)
        who = done.actor if seat is None else seat
        if isinstance(done.act, Knock):
            assert done.ruling is not None, "a knock has its ruling"
            assert ruled(player.knock(who, body), done.ruling) == done.ruling
        else:
            player.act(who, body)
    result, line = deal.result, player.line()
    assert line is not None, "the deal is scored"
    names = ("kind", "declarer", "contract", "points", "tricks", "pot")
    assert plain({name: line.get(name) for name in names}) == plain({name: getattr(result, name) for name in names})
    assert (line["dealer"], tuple(line["before"])) == (deal.header.dealer, deal.header.points)
    assert sorted(line.get("eliminated", ())) == sorted(result.out)
    end = player.end()
    assert (end is not None) == bool(result.by)
    if end is not None:
        assert end["by"] == result.by
        assert end["winner"] in result.won or not result.won
        assert plain(end["settlement"]) == plain(result.settlement)


def bids_in(done: notation.Done) -> int:
    """Return the number of bids in this act."""
    return len(done.act.bids or ()) if isinstance(done.act, Result) else isinstance(done.act, Bid)


def plain(value: Any) -> Any:
    """Return the value as plain JSON data."""
    return json.loads(msgspec.json.encode(value))


def ruled(case: dict[str, Any], expected: notation.Ruling) -> notation.Ruling:
    """Return the ruling on a knock. The rule of a dismissal may be left out."""
    upheld = case["verdict"] == "upheld"
    points = case["penalty"] if upheld else case.get("fine", case.get("penalty", 0))
    return notation.Ruling(
        verdict=case["verdict"],
        rule=case["rule"] if upheld else expected.rule,
        payer=case["payer"] if upheld else expected.payer if points else None,
        points=points,
    )


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_ruleset_has_golden_deals(ruleset: str) -> None:
    deals = [path for path in FILES if path.parent.name == ruleset]
    assert len(deals) >= DEALS_MIN, f"{ruleset} has {len(deals)} golden deals, and needs {DEALS_MIN}"


def named(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("path", FILES, ids=named)
class TestGolden:
    def test_is_read_and_written_back(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        deals = notation.parse_all(text)
        assert notation.write_all(deals) == text
        assert {deal.header.ruleset for deal in deals} == {path.parent.name}

    def test_is_played_by_decide_and_evolve(self, path: Path) -> None:
        deals = notation.parse_all(path.read_text(encoding="utf-8"))
        player = Direct(given(deals[0].header))
        for deal in deals:
            play(player, deal)
        for number, deal in enumerate(deals, 1):
            made = deal_of(player.table.opening, player.history, number)
            assert without_source(made) == without_source(deal)


@pytest.mark.parametrize("path", OVER_HTTP, ids=named)
def test_is_played_over_http(path: Path, client: Client) -> None:
    deals = notation.parse_all(path.read_text(encoding="utf-8"))
    player = OverHttp(client, given(deals[0].header))
    for deal in deals:
        play(player, deal)
    for number, deal in enumerate(deals, 1):
        page = f"{player._path}/deals/{number}"
        answer, told = client.send("GET", page, more={"Accept": "text/plain"})
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert told.decode() == notation.write(without_source(deal))
        _, record = client.ask("GET", page)
        assert (record["deal"], tuple(record["score"]["points"])) == (number, deal.result.points)
        assert len(record["bids"]) <= sum(map(bids_in, deal.acts))


def without_source(deal: notation.Deal) -> notation.Deal:
    """Return the deal without its source, which the referee does not know."""
    return msgspec.structs.replace(deal, header=msgspec.structs.replace(deal.header, source=""))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    path: Path = tmp_path_factory.mktemp("golden")
    with served(f"sqlite:///{path}/knacka.db") as address:
        client = Client(address)
        yield client
        client.close()


# The notation itself


def playout(ruleset: str, seed: int) -> Direct:
    """Play a match by random legal acts, dealt by the house, with a knock now and then."""
    chance = random.Random(f"{ruleset} {seed}")
    rules = RULESETS[ruleset]
    match = some_match(chance, rules)
    players = len(match.players)
    direct = Direct(
        {
            "ruleset": ruleset,
            "players": players,
            "options": match.options,
            "opening": None,
            "first_dealer": chance.randrange(players),
            "dealing": "house",
            "enforcement": chance.choice(("refuse", "penalise")),
            "stakes": None,
        }
    )
    for _ in range(400):
        if chance.random() < 0.03:
            seat, accused = chance.sample(range(players), 2)
            with suppress(Refusal):
                direct.knock(seat, {"seat": seat, "accused": accused, "note": 'said: "no", P1'})
        legal = [(seat, body) for seat in range(players) for body in direct.legal(seat)]
        if not legal:
            break
        direct.act(*chance.choice(legal))
    return direct


def finished(direct: Direct) -> list[notation.Deal]:
    """Return the finished deals of a match."""
    scored = sum(isinstance(one.event, DealScored) for one in direct.history)
    return [deal_of(direct.table.opening, direct.history, deal) for deal in range(1, scored + 1)]


FINED = {"enforcement": "penalise", "fem_opp": True, "deal_ritual": False, "false_knock_penalty": 5}
"""Fem Opp, in which a knock for nothing costs five (C-O23)."""


def test_a_knock_before_the_first_deal_stands_in_its_record():
    match = table("rodskagg-catsatcards", dealer=None, **FINED)
    match.do(Draw(seat=P1, card="SA"), Knock(seat=P2, accused=P1))
    match.do(*(Draw(seat=seat, card=card) for seat, card in ((P2, "H2"), (P3, "H3"), (P4, "H4"))))
    match.play_deal("1 0 0 0", "1 1 1 1 | 1 1")
    deal = deal_of(match.opening, match.history, 1)
    assert [type(done.act) for done in deal.acts[:2]] == [Knock, Deal]
    assert deal.header.points == (12, 12, 12, 12)


def test_the_first_deal_begins_with_the_opening_though_a_voided_one_cost_points():
    match = table("rodskagg-catsatcards", **FINED).dealt()
    match.after(Knock(seat=P2, accused=P1), Void()).play_deal("1 0 0 0", "1 1 1 1 | 1 1")
    assert match.line.before == (12, 17, 12, 12)
    assert deal_of(match.opening, match.history, 1).header.points == (12, 12, 12, 12)


@pytest.mark.parametrize("seed", range(PLAYOUTS))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_nothing_is_lost_in_writing(ruleset: str, seed: int) -> None:
    deals = finished(playout(ruleset, seed))
    for deal in deals:
        text = notation.write(deal)
        assert notation.parse(text) == deal
        assert notation.write(notation.parse(text)) == text
    assert notation.parse_all(notation.write_all(tuple(deals))) == tuple(deals)


@pytest.mark.parametrize("seed", range(PLAYOUTS))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_deals_of_the_house_can_be_replayed_at_a_table(ruleset: str, seed: int) -> None:
    deals = finished(playout(ruleset, seed))
    if deals:
        player = Direct(given(deals[0].header))
        for deal in deals:
            play(player, deal)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_texts_and_records_of_old_deals_stay_equal_under_stricter_rules(
    ruleset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts and records of old deals, to the byte, under rules that would refuse every act of theirs."""
    players = [playout(ruleset, seed) for seed in range(PLAYOUTS)]
    for path in (path for path in FILES if path.parent.name == ruleset):
        deals = notation.parse_all(path.read_text(encoding="utf-8"))
        players.append(Direct(given(deals[0].header)))
        for deal in deals:
            play(players[-1], deal)
    before = [told(player) for player in players]

    def refuse(*_: Any) -> tuple[Event, ...]:
        raise AgainstTheRules("any", None)

    monkeypatch.setitem(RULESETS, ruleset, msgspec.structs.replace(RULESETS[ruleset], decide=refuse))
    with pytest.raises(Refusal):
        players[0].act(0, {"act": "score", "seat": 0})
    assert [told(player) for player in players] == before
    assert sum(map(len, before)) > DEALS_MIN


def told(direct: Direct) -> list[bytes]:
    """Return text and record of each deal of a match."""
    match, caller = direct.table.match, Caller(viewer=0)
    return [
        notation.write(deal).encode() + msgspec.json.encode(record_of(match, events, begun, cases, caller, "en"))
        for number, deal in enumerate(finished(direct), 1)
        for events in [of_the_deal(direct.history, number)]
        for begun, cases in [(first_of_act(direct.history, events[0]), cases_in(events))]
    ]


def test_every_act_has_a_word() -> None:
    names = {str(kind.__struct_config__.tag) for kind in get_args(AnyAct)}
    untold = {"entropy", "take_back", "agree_stakes"}  # the record of a deal has no place for them
    assert set(WORDS) | {act_name(Deal(seat=0))} | untold == names
    assert all(len(line) < 10 for line in ACTS_BY_LINE_WORD)


GOOD = """\
game      rodskagg-alga
errors    refuse
dealing   table
players   "Anna" "Bo"
dealer    P2
before    P1 12  P2 12

deal      P2
  counts  6 6
cards     P1 keeps  P2 keeps
bids      P1 pass  P2 pass

result    passed_out
tricks    P1 0  P2 0
after     P1 12  P2 12
"""


class TestReading:
    def test_a_deal(self) -> None:
        deal = notation.parse(GOOD)
        assert deal.header.players == ("Anna", "Bo")
        assert notation.write(deal) == GOOD

    @pytest.mark.parametrize(
        ("was", "is_", "line", "right"),
        [
            ("rodskagg-alga", "whist", 1, "rodskagg-alga"),
            ("errors    refuse", "errors    maybe", 2, "refuse, penalise"),
            ("errors    refuse", "option    stakes 5", 2, "honour_redeal"),
            ("errors    refuse", 'option    honour_redeal "x"', 2, "honour_redeal"),
            ("dealing   table", "dealing", 3, "house, table, tally"),
            ('"Anna" "Bo"', "Anna Bo", 4, "in quotes"),
            ('"Anna" "Bo"', '"Anna"', 4, "two to eight"),
            ("dealer    P2", "dealer    P3", 5, "P1 to P2"),
            ("before    P1 12  P2 12", "before    P1 12", 6, "P1 n  P2 n"),
            ("before    P1 12  P2 12", "before    P1 12  P2 x", 6, "points of P2"),
            ("before    P1 12  P2 12", "after     P1 12  P2 12", 6, "'before'"),
            ("  counts  6 6", "  P1      S1", 9, "suit then rank"),
            ("  counts  6 6", "  counts  6 x", 9, "whole number"),
            ("P1 keeps  P2", "P1 holds  P2", 10, "keep_cards"),
            ("bids      P1 pass", "bids      P1 six", 11, "bid"),
            ("bids      P1 pass", "calls     P1 pass", 11, "bids"),
            ("bids      P1 pass", "bids     P1 pass", 11, "bids"),
            ("P1 pass  P2 pass", "P1 pass", 0, ""),
            ("deal      P2\n", "knock     P1 P2\n", 8, "P1 on P2 revoke"),
            ("deal      P2\n", "knock     P1 on P2 theft\n", 8, "no offence"),
            ("result    passed_out", "result    ", 13, "played by P3 4"),
            ("P1 12  P2 12\n\ndeal", "P1 12  P2 12\ndeal", 7, "empty line"),
            ("after     P1 12  P2 12\n", "after     P1 12  P2 12", 15, "line break"),
            ("after     P1 12  P2 12\n", "after     P1 12  P2 12\n\n", 17, "expected the end"),
            ("P2 12\n\ndeal", "P2 12\ncarried   carry x\n\ndeal", 7, "'carry 14'"),
            ("after     P1 12  P2 12\n", "after     P1 012  P2 12\n", 15, "expected"),
        ],
    )
    def test_an_error_names_its_line_and_the_right_text(self, was: str, is_: str, line: int, right: str) -> None:
        text = GOOD.replace(was, is_, 1)
        assert text != GOOD
        if not line:
            notation.parse(text)
            return
        with pytest.raises(notation.Unreadable) as caught:
            notation.parse(text)
        assert caught.value.line == line, caught.value
        assert right in str(caught.value)
        with pytest.raises(notation.Unreadable) as caught:
            notation.parse_all(f"{GOOD}-----\n{text}")
        assert caught.value.line == line + 16
