"""A verifiable shuffle over HTTP: real matches of all games, the moment each value is shown, and refusals."""

import asyncio
import json
import re
import secrets
from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from litestar import Litestar
from msgspec.structs import replace

from api.app import create_app
from api.settings import Settings
from referee import notation
from referee.acts import Deal, Entropy
from referee.events import Dealt
from referee.games import RULESETS
from referee.officials.events.shuffle import ShuffleCommitted
from referee.store.store import construct
from referee.visibility import Recorded
from tests.api.access.test_interference import ask
from tests.support.edited_stores import Editor, differences, said
from tests.support.match_client import Table
from tests.support.service_in_memory import Client, client_of
from tests.support.stored_world_pairs import stored, token, with_tokens
from tests.support.verifiable_shuffles import FAIR, NOT_SHOWN, STANDS, Played, checked, checked_by_anybody

NDJSON = "application/x-ndjson"
DEALS = 3
KALABRIAS, KORTOXEN, ALGA, RAMS = "kalabrias", "rodskagg-kortoxen", "rodskagg-alga", "rams-english"
SEATS = {KALABRIAS: 3, KORTOXEN: 4, ALGA: 8, RAMS: 6, "rodskagg-catsatcards": 5}
Line = dict[str, Any]


class Shuffled(Table):
    """A match with committed shuffles, in which seats sometimes add digits."""

    def __init__(self, client: Any, ruleset: str = KALABRIAS, players: int = 2, **opening: Any) -> None:
        names = [{"name": f"Player {seat}"} for seat in range(players)]
        usual = {"dealing": "house", "enforcement": "refuse", "shuffle": "committed", "entropy_seconds": 0}
        super().__init__(client, **{"ruleset": ruleset, "players": names, "options": {}, **usual, **opening})
        self.chance = Random(ruleset)

    def entropy(self, seat: int, hex: Any = None, who: int | str | None = None) -> Any:
        body = {"act": "entropy", "seat": seat, "hex": secrets.token_hex(16) if hex is None else hex}
        return self.post("/acts", body, seat if who is None else who)

    def play(self, deals: int = DEALS) -> None:
        """Play this number of deals, or to the end of the match. Low bids make the match last."""
        while True:
            now = self.get().json()
            if now["phase"] == "over" or now["deal"] > deals:
                return
            awaited = now["shuffling"]["awaited"]
            alone = now["shuffling"]["entropy"].count(None) == len(now["players"])
            if awaited and (alone or self.chance.random() < 0.5):
                assert self.entropy(self.chance.choice(awaited)).status_code == 201
                continue
            seats = now["to_act"] or now["active"]
            acts = [act for seat in seats for act in self.get("/legal-acts", seat).json()]
            acts = [act for act in acts if act["act"] == "request_cards"] or acts
            act = self.chance.choice([act for act in acts if act.get("bid") not in ("rodskagg", "redeal")])
            answer = self.post("/acts", act, act["seat"])
            assert answer.status_code == 201, answer.text

    def lines(self, who: int | str | None = None) -> list[str]:
        answer: str = self.get("/events", who, Accept=NDJSON).text
        return answer.splitlines()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('shuffled')}/knacka.db"


@pytest.fixture(scope="module")
def matches(url: str) -> dict[str, tuple[UUID, list[str]]]:
    """Return by game the id and the public events of a match of several deals."""
    found = {}
    with client_of(url) as client:
        for ruleset, players in SEATS.items():
            table = Shuffled(client, ruleset, players)
            table.play()
            if table.get().json()["phase"] != "over":
                table.done("abandon", None)
            found[ruleset] = UUID(table.id), table.lines()
    return found


def test_all_games_are_played() -> None:
    assert SEATS.keys() == RULESETS.keys()


class TestFair:
    @pytest.mark.parametrize("ruleset", SEATS)
    def test_every_deal_of_a_real_match(self, matches: Any, ruleset: str) -> None:
        match_id, lines = matches[ruleset]
        body = checked_by_anybody(match_id, lines)
        assert set(body.values()) == {FAIR}
        assert checked(match_id, lines) == body
        assert len(body) == len({json.loads(line)["event"]["deal"] for line in lines if '"deal/dealt"' in line}) > 1

    def test_one_deal(self, matches: Any) -> None:
        match_id, lines = matches[KALABRIAS]
        assert checked(match_id, lines, 2) == {2: FAIR}
        assert checked(match_id, lines, 99) == {99: NOT_SHOWN}

    def test_pages_do_as_well(self, client: Client) -> None:
        table = Shuffled(client)
        table.play(2)
        pages = [table.get(f"/events?after={after}&limit=20").text for after in range(0, table.version(), 20)]
        assert len(pages) > 2
        assert checked(table.id, pages, 1, 2) == {1: FAIR, 2: FAIR}

    def test_a_voided_deal_and_the_one_in_its_place(self, client: Client) -> None:
        table = Shuffled(client)
        for _ in range(2):
            table.entropy(1)
            table.done("deal", 0)
            table.done("void", None)
        assert checked(table.id, table.lines()) == {1: FAIR}

    def test_a_deal_under_way_is_not_shown_yet(self, client: Client) -> None:
        table = Shuffled(client, KORTOXEN, 3)
        table.done("cut", 0)
        table.done("deal", 0)
        for who in (None, 0, "official"):
            assert checked(table.id, table.lines(who)) in ({1: NOT_SHOWN}, {})

    def test_a_match_without_it_shows_nothing(self, client: Client) -> None:
        table = Shuffled(client, shuffle=None, entropy_seconds=None)
        table.done("deal", 0)
        table.done("void", None)
        assert checked(table.id, table.lines()) == {1: NOT_SHOWN}


def first(lines: list[Line], topic: str) -> int:
    """Return the index of the first event of this topic from the second deal on."""
    start = [place for place, line in enumerate(lines) if line["event"]["topic"] == "shuffle/committed"][1]
    return next(place for place in range(start, len(lines)) if lines[place]["event"]["topic"] == topic)


def swap(cards: list[str], others: list[str]) -> None:
    cards[0], others[0] = others[0], cards[0]


def other_hands(lines: list[Line]) -> None:
    hands = [hand for hand in lines[first(lines, "deal/dealt")]["event"]["hands"] if hand]
    swap(hands[0], hands[1])


def other_turn_up(lines: list[Line]) -> None:
    event = lines[first(lines, "deal/dealt")]["event"]
    event["turn_up"], event["stock"][0] = event["stock"][0], event["turn_up"]


def other_later_cards(lines: list[Line]) -> None:
    swap(*lines[first(lines, "deal/later-cards-dealt")]["event"]["hands"][:2])


def other_widow(lines: list[Line]) -> None:
    event = lines[first(lines, "deal/dealt")]["event"]
    swap(event["widow"], event["hands"][(event["dealer"] + 1) % 6])


def other_seed(lines: list[Line]) -> None:
    event = lines[first(lines, "shuffle/committed")]["event"]
    event["seed"] = event["seed"][::-1]


def other_commitment(lines: list[Line]) -> None:
    event = lines[first(lines, "shuffle/committed")]["event"]
    event["commitment"] = event["commitment"][::-1]


def other_entropy(lines: list[Line]) -> None:
    event = lines[first(lines, "shuffle/entropy-given")]["event"]
    event["hex"] = event["hex"][::-1]


def less_entropy(lines: list[Line]) -> None:
    lines.pop(first(lines, "shuffle/entropy-given"))


def entropy_of_another(lines: list[Line]) -> None:
    given = [line["event"] for line in lines[first(lines, "shuffle/committed") : first(lines, "deal/dealt")]]
    seats = {event["seat"] for event in given if "hex" in event}
    next(event for event in given if "hex" in event)["seat"] = min({*range(8)} - seats)


def an_act_between(lines: list[Line]) -> None:
    """Insert an act directly before the deal, which changes the number of the last event."""
    place = first(lines, "deal/dealt")
    lines.insert(place, {**lines[place - 1], "at": "2026-11-22T12:00:00Z", "number": lines[place]["number"]})


def committed_again(lines: list[Line]) -> None:
    """Commit a second time with the same seed, after the seats have added digits."""
    place = first(lines, "shuffle/committed")
    lines.insert(place, lines[place])


def no_seed(lines: list[Line]) -> None:
    del lines[first(lines, "deal/dealt")]["event"]["seed"]


EVERYWHERE = [
    other_hands,
    other_seed,
    other_commitment,
    other_entropy,
    less_entropy,
    entropy_of_another,
    an_act_between,
    committed_again,
    no_seed,
]


class TestTampered:
    """A changed deal is not proved fair, but the deals before it are."""

    @pytest.mark.parametrize("ruleset", SEATS)
    @pytest.mark.parametrize("change", EVERYWHERE)
    def test_in_any_game(self, matches: Any, ruleset: str, change: Callable[[list[Line]], None]) -> None:
        self.tamper(matches[ruleset], change)

    @pytest.mark.parametrize("change", [other_turn_up, other_later_cards])
    def test_in_kalabrias(self, matches: Any, change: Callable[[list[Line]], None]) -> None:
        self.tamper(matches[KALABRIAS], change)

    def test_in_rams(self, matches: Any) -> None:
        self.tamper(matches[RAMS], other_widow)

    def tamper(self, match: tuple[UUID, list[str]], change: Callable[[list[Line]], None]) -> None:
        match_id, lines = match[0], [json.loads(line) for line in match[1]]
        before = checked(match_id, map(json.dumps, lines))
        second = lines[first(lines, "deal/dealt")]["event"]["deal"]
        change(lines)
        after = checked(match_id, map(json.dumps, lines))
        assert after[second] == NOT_SHOWN
        assert after.keys() >= before.keys()
        assert all(after[deal] in (FAIR, STANDS) for deal in before if deal < second)

    def test_lines_of_another_match_show_no_deal(self, matches: Any) -> None:
        _, lines = matches[KALABRIAS]
        assert set(checked(UUID(int=7), lines).values()) == {NOT_SHOWN}


class TestTheRecord:
    def test_the_text_of_a_deal_does_not_mention_added_entropy(self, client: Client) -> None:
        table = Shuffled(client, first_dealer=None)
        assert table.entropy(0).status_code == 201
        table.play(1)
        text = table.get("/deals/1", None, Accept="text/plain").text
        assert notation.write(notation.parse(text)) == text
        assert "entropy" not in text
        assert table.get("/deals/1").json()["seed"].startswith("2:")


class TestOpening:
    def test_the_opened_match_shows_the_requested_shuffle(self, client: Client) -> None:
        table = Shuffled(client, entropy_seconds=60)
        assert (table.opened["shuffle"], table.opened["entropy_seconds"]) == ("committed", 60)
        event = table.get("/events").json()["events"][0]["event"]
        assert (event["shuffle"], event["entropy_seconds"]) == ("committed", 60)

    def test_a_deal_waits_thirty_seconds_if_nothing_was_said(self, client: Client) -> None:
        table = Shuffled(client, entropy_seconds=None)
        assert table.opened["entropy_seconds"] == 30

    def test_nothing_is_asked_for_by_default(self, client: Client) -> None:
        table = Table(client, dealing="house", enforcement="refuse")
        assert (table.opened["shuffle"], table.opened["entropy_seconds"]) == (None, 0)
        assert table.get().json()["shuffling"] is None
        assert [event["event"]["topic"] for event in table.get("/events").json()["events"]] == ["match/opened"]

    @pytest.mark.parametrize(
        ("fields", "status", "problem"),
        [
            ({"shuffle": "committed", "dealing": "table"}, 422, "shuffle-needs-house"),
            ({"entropy_seconds": 10}, 422, "entropy-needs-shuffle"),
            ({"shuffle": None, "entropy_seconds": 0}, 422, "entropy-needs-shuffle"),
            ({"shuffle": "committed", "entropy_seconds": 61}, 400, "unreadable"),
            ({"shuffle": "committed", "entropy_seconds": -1}, 400, "unreadable"),
            ({"shuffle": "fair"}, 400, "unreadable"),
        ],
    )
    def test_an_impossible_shuffle_is_refused(
        self, client: Client, fields: dict[str, Any], status: int, problem: str
    ) -> None:
        body = {"ruleset": KALABRIAS, "players": [{"name": "Anna"}, {"name": "Bo"}]} | fields
        for language in ("en", "sv"):
            answer = client.post("/v1/matches", json=body, headers={"Accept-Language": language})
            assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{problem}")


class TestEntropy:
    def test_all_see_it_at_once(self, client: Client) -> None:
        table = Shuffled(client, entropy_seconds=60)
        digits = secrets.token_hex(32)
        assert table.entropy(1, digits).json()["events"][0]["event"] == {
            "topic": "shuffle/entropy-given",
            "seat": 1,
            "hex": digits,
        }
        for who in (None, 0, 1, "official"):
            now = table.get("", who).json()["shuffling"]
            assert (now["entropy"], now["awaited"]) == ([None, digits], [0])
            assert table.get("/events", who).json()["events"][-1]["event"]["hex"] == digits

    @pytest.mark.parametrize(
        "hex",
        ["", "0" * 31, "0" * 65, "g" * 32, "F" * 32, " " + "0" * 32, "0" * 32 + "\n", "0" * 31 + "å", 7, ["0" * 32]],
    )
    def test_digits_that_are_none(self, client: Client, hex: Any) -> None:
        table = Shuffled(client)
        answer = table.entropy(0, hex)
        assert (answer.status_code, answer.json()["type"]) == (400, "/problems/unreadable")
        assert [wrong["pointer"] for wrong in answer.json()["errors"]] == ["/hex"]
        assert table.version() == 2

    def test_the_problem_says_what_would_be_right(self, client: Client) -> None:
        answer = Shuffled(client).entropy(0, "xyz")
        assert "32 to 64 hexadecimal digits" in answer.json()["detail"]

    def test_entropy_is_refused_outside_its_phase(self, client: Client) -> None:
        table = Shuffled(client)
        assert table.entropy(0).status_code == 201

        def refused(answer: Any) -> tuple[int, str]:
            assert table.version() == version
            return answer.status_code, answer.json()["type"].rpartition("/")[2]

        version = table.version()
        assert refused(table.entropy(0)) == (409, "entropy-given")
        assert refused(table.entropy(1, who=0)) == (403, "not-your-seat")
        assert refused(table.entropy(1, who="official")) == (403, "for-seats")
        assert refused(table.entropy(7, who=0)) == (403, "not-your-seat")
        table.done("deal", 0)
        version = table.version()
        assert refused(table.entropy(1)) == (409, "entropy-too-late")
        table.done("abandon", None)
        version = table.version()
        assert refused(table.entropy(1)) == (409, "match-over")

    def test_in_a_match_without_it(self, client: Client) -> None:
        table = Shuffled(client, shuffle=None, entropy_seconds=None)
        answer = table.entropy(0)
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/no-entropy")
        assert table.version() == 1

    def test_the_deal_says_for_whom_it_waits(self, client: Client) -> None:
        table = Shuffled(client, players=3, entropy_seconds=60)
        table.entropy(1)
        answer = table.send("deal", 0)
        body = answer.json()
        assert (answer.status_code, body["type"]) == (409, "/problems/entropy-awaited")
        assert body["facts"]["awaited"] == [0, 2]
        assert body["facts"]["until"] == table.get().json()["shuffling"]["until"]
        assert f"until {body['facts']['until']} " in body["detail"]
        assert table.version() == 3
        table.entropy(0)
        table.entropy(2)
        table.done("deal", 0)

    def test_a_repeat_is_answered_alike(self, client: Client) -> None:
        table = Shuffled(client)
        body = {"act": "entropy", "seat": 0, "hex": "0" * 32}
        first, again = (table.post("/acts", body, 0, **{"Idempotency-Key": "mine"}) for _ in range(2))
        assert first.json() == again.json()
        assert again.headers["Idempotency-Replayed"] == "true"


def seeds_of(client: Any, match_id: str) -> list[str]:
    """Return the committed seeds from the store."""
    history = client.app.state.service.referee.history(UUID(match_id))
    return [one.event.seed for one in history if one.event.TOPIC == "shuffle/committed"]


def everything(table: Table, who: int | str | None) -> Iterator[str]:
    """Yield every read of a match."""
    last = table.version()
    pages = ["", "/events?limit=1000", "/protocol", "/knocks", "/deals/1", "/legal-acts", f"/replay?at={last}"]
    for page in (*pages, "/replay?at=2"):
        answer = table.get(page, who)
        yield answer.text + str(answer.headers)
    yield "\n".join(table.lines(who))


class TestTheSeed:
    def test_the_seed_is_hidden_from_all_viewers_until_the_deal_is_over(self, either_client: Client) -> None:
        table = Shuffled(either_client, entropy_seconds=60)
        (seed,) = seeds_of(either_client, table.id)
        answers = [table.entropy(1).text, table.send("deal", 0).text, table.entropy(0).text]
        answers += [page for who in (None, 0, 1, "official") for page in everything(table, who)]
        answers.append(table.send("deal", 0).text)
        answers += [page for who in (None, 0, 1, "official") for page in everything(table, who)]
        assert sum('"seed":""' in page for page in answers) == 16, "each time by pages and by lines, to each of four"
        assert not [answer for answer in answers if seed in answer]
        voided = table.done("void", None)
        seed, later = seeds_of(either_client, table.id)
        again = [page for who in (None, 0, 1, "official") for page in everything(table, who)]
        assert sum(seed in page for page in again) == 8, "by pages and by lines, to each of four"
        assert not [page for page in (*again, json.dumps(voided)) if later in page]


class TestVerified:
    """``knacka verify`` decides every stored act again."""

    def test_matches_of_all_games_hold(self, matches: Any, url: str) -> None:
        code, lines = said(url)
        assert code == 0, lines
        assert lines[-1].startswith(f"{len(matches)} matches")

    @pytest.mark.parametrize(
        ("topic", "fields", "what"),
        [
            ("shuffle/committed", {"seed": "0" * 64}, "commitment is "),
            ("shuffle/committed", {"commitment": "0" * 64}, "commitment is "),
            ("shuffle/committed", {"seed": ""}, "seed is "),
            ("deal/dealt", {"seed": "2:4:" + "0" * 64}, "seed is "),
            ("shuffle/entropy-given", {"hex": "0" * 32}, "hex is "),
        ],
    )
    def test_an_edited_row_of_the_shuffle_is_named(
        self, store_url: str, topic: str, fields: dict[str, str], what: str
    ) -> None:
        with client_of(store_url) as client:
            table = Shuffled(client)
            table.entropy(0)
            table.done("deal", 0)
            match_id = UUID(table.id)
        number = {"shuffle/committed": 2, "shuffle/entropy-given": 3, "deal/dealt": 4}[topic]

        def changed(state: bytes) -> bytes:
            row = json.loads(state)
            row["event"] |= fields
            return json.dumps(row, separators=(",", ":")).encode()

        Editor(store_url).edit(match_id, number, changed)
        named = [one for one in differences(store_url, match_id) if one.event == number]
        assert any(what in one.what for one in named), named


def permuted(history: list[Recorded], watcher: int | str) -> list[Recorded]:
    """Return a history with different seeds of the commitments and, for a seat, different cards in the other
    hands."""

    def other(event: Any) -> Any:
        if isinstance(event, ShuffleCommitted):
            return replace(event, seed=event.seed[::-1])
        if isinstance(event, Dealt) and isinstance(watcher, int):
            assert event.hands is not None
            assert event.seed is not None
            hands = list(event.hands)
            one, two = (seat for seat in range(4) if seat not in (watcher, 3))
            hands[one], hands[two] = hands[two], hands[one]
            seed = event.seed[:4] + event.seed[:3:-1]
            return replace(event, hands=tuple(hands), stock=event.stock[::-1], seed=seed)
        return event

    return [replace(one, event=other(one.event)) for one in history]


@pytest.mark.parametrize("ruleset", SEATS)
def test_answers_do_not_depend_on_the_hidden_seed(sqlite_url: str, ruleset: str) -> None:
    """Until the deal is over, every call answers with the same bytes for any committed seed."""
    points = (10,) * 4 if ruleset not in (KALABRIAS, RAMS) else None
    viewers: tuple[int | str, ...] = (0, "official")
    pairs = []
    with construct(sqlite_url) as referee:
        for who, moment in product(viewers, ("committed", "added", "dealt")):
            played = Played(ruleset=ruleset, players=4, points=points)
            if moment != "committed":
                played.do(Entropy(seat=1, hex="0" * 32))
            if moment == "dealt":
                played.do(Deal(seat=0))
            ids = uuid4(), uuid4()
            worlds = played.history, permuted(played.history, who)
            assert worlds[0] != worlds[1]
            for match_id, history in zip(ids, worlds, strict=True):
                begun = replace(history[0], event=with_tokens(match_id, history[0].event))
                stored(referee, match_id, (begun, *history[1:]))
            pairs.append((ids, who, len(played.history)))
    asyncio.run(compare_all(sqlite_url, pairs))


async def compare_all(url: str, pairs: list[tuple[tuple[UUID, UUID], int | str, int]]) -> None:
    """Compare all pairs in a service that has them in its store when it starts."""
    app = create_app(Settings(database_url=url))
    async with app.lifespan(), asyncio.timeout(60):
        while app.state.service.projections.lag():
            await asyncio.sleep(0.01)
        for pair in pairs:
            await compare(app, *pair)


async def compare(app: Litestar, ids: tuple[UUID, UUID], who: int | str, last: int) -> None:
    """Send every read about both matches, as this viewer and as a spectator, and compare the answers."""
    calls = ["", "/events?limit=1000", "/events/stream", "/protocol", "/knocks", "/deals/1"]
    calls += [f"/replay?at={at}" for at in range(1, last + 1)]

    async def same(viewer: int | str | None, method: str, call: str, *more: Any) -> None:
        paths = [f"/v1/matches/{match_id}{call}" for match_id in ids]
        held = None if viewer is None else token(viewer)
        left, right = [await ask(app, method, path, held, *more) for path in paths]
        # A caller who may see the rows' hashes sees that the rows differ, but hashes reveal no contents.
        hidden = re.compile(r'("(?:hash|prev)":")[0-9a-f]{64}')
        assert hidden.sub(r"\1", left) == hidden.sub(r"\1", right), (viewer, last, call)

    for viewer in (who, None):
        for call in calls:
            await same(viewer, "GET", call)
    await same(who, "GET", "/legal-acts?seat=0")
    for body in (
        b'{"act":"entropy","seat":0,"hex":"xyz"}',
        b'{"act":"score","seat":0}',
        b'{"act":"bella","seat":0}',
    ):
        await same(who, "POST", "/acts", body)


class TestPreview:
    @pytest.mark.rule("J9")
    def test_a_preview_does_not_show_the_next_commitment(self, client: Client) -> None:
        """The seed does not exist yet, so no answer can reveal it."""
        officials = {"officials": [{"name": "Maja"}]}
        table = Shuffled(client, KORTOXEN, 3, first_dealer=0, enforcement="penalise", adjudication=officials)
        assert table.post("/acts", {"act": "cut", "seat": 2}, 2).status_code == 201
        assert table.post("/acts", {"act": "deal", "seat": 0}, 0).status_code == 201
        knock = {"accused": 1, "offence": "exposed_card"}
        assert table.post("/knocks", knock, "official").status_code == 201
        ruling = {
            "verdict": "upheld",
            "standard": "balance_of_probabilities",
            "rule": "B11",
            "remedy": {"void": True},
        }
        foreseen = table.post("/knocks/1/ruling?preview=true", ruling, "official").json()
        before = table.version()
        assert table.post("/knocks/1/ruling", ruling, "official").status_code == 201
        happened = table.get(f"/events?after={before}", "official").json()["events"]
        assert [one["event"]["topic"] for one in happened][-2:] == ["deal/voided", "shuffle/committed"]
        assert [one["event"]["topic"] for one in foreseen["events"]] == [
            one["event"]["topic"] for one in happened[:-1]
        ]
