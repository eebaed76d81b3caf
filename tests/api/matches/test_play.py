"""Play over HTTP: openings, acts, reads and results."""

from typing import Any, ClassVar
from urllib.parse import urlencode

import pytest

from projections.cursors import cursor_of
from referee.store.match import Match
from tests.support.match_client import HANDS, KORTOXEN, Table
from tests.support.service_in_memory import Client


class TestOpening:
    def test_the_answer_names_the_seats_with_a_token_each_and_says_where_the_match_is(self, client: Client) -> None:
        players = [{"name": name} for name in ("Anna", "Berit", "Cesar", "David")]
        answer = client.post("/v1/matches", json={"ruleset": KORTOXEN, "players": players})
        assert answer.status_code == 201
        opened = answer.json()
        assert answer.headers["location"] == f"/v1/matches/{opened['id']}"
        assert answer.headers["etag"] == f'"{opened["version"]}"'
        assert [(seat["seat"], seat["name"]) for seat in opened["seats"]] == [
            (0, "Anna"),
            (1, "Berit"),
            (2, "Cesar"),
            (3, "David"),
        ]
        tokens = {seat["token"] for seat in opened["seats"]} | {opened["official_token"]}
        assert len(tokens) == 5
        assert min(map(len, tokens)) >= 40

    def test_every_option_is_resolved(self, client: Client) -> None:
        table = Table(client, options={"knock_window": "next_trick"})
        assert table.opened["options"]["knock_window"] == "next_trick"
        assert table.opened["options"]["overshoot"] == "bounce"
        assert table.get().json()["options"] == table.opened["options"]

    def test_the_deal_is_drawn_for_when_no_first_dealer_is_given(self, client: Client) -> None:
        table = Table(client, first_dealer=None, dealing="house")
        topics = [event["event"]["topic"] for event in table.get("/events").json()["events"]]
        assert topics[0] == "match/opened"
        assert topics[-1] == "dealer/drawn"
        assert table.get().json()["dealer"] in (0, 1, 2)

    def test_a_match_begun_on_paper_is_taken_over(self, client: Client) -> None:
        table = Table(client, opening={"points": [3, 12, 7]}, stakes={"currency": "SEK", "unit": 100})
        state = table.get().json()
        assert state["points"] == [3, 12, 7]
        assert state["stakes"] == {"currency": "SEK", "unit": 100}
        assert table.get("/events").json()["events"][0]["event"]["taken_over"] is True

    def test_the_hashes_of_the_tokens_are_shown_to_no_one(self, client: Client) -> None:
        table = Table(client)
        for who in (None, 0, "official"):
            event = table.get("/events", who).json()["events"][0]["event"]
            assert (event["tokens"], event["official"]) == ([], "")


class TestActing:
    def test_an_act_gives_its_events_and_the_new_version(self, table: Table) -> None:
        answer = table.send("deal", 0, hands=HANDS)
        assert answer.status_code == 201
        done = answer.json()
        assert done["version"] == 2
        assert answer.headers["etag"] == '"2"'
        (event,) = done["events"]
        assert (event["number"], event["actor"], event["event"]["topic"]) == (2, "seat:0", "deal/dealt")
        assert event["event"]["hands"] == [HANDS[0], [], []]

    def test_the_legal_acts_are_ready_bodies(self, dealt: Table) -> None:
        legal = dealt.get("/legal-acts", 1).json()
        assert legal[0] == {"act": "bid", "seat": 1, "bid": "pass"}
        assert legal[-1] == {"act": "bid", "seat": 1, "bid": "rodskagg"}
        assert dealt.post("/acts", legal[1], 1).status_code == 201
        assert dealt.get("/legal-acts", 1).json() == []

    def test_the_official_may_ask_for_any_seat_and_for_their_own_acts(self, dealt: Table) -> None:
        assert dealt.get("/legal-acts?seat=1", "official").json() == dealt.get("/legal-acts?seat=1", 1).json()
        assert dealt.get("/legal-acts", "official").json() == [{"act": "void"}, {"act": "abandon"}]

    def test_no_other_caller_may_ask_for_the_acts_of_a_seat(self, dealt: Table) -> None:
        assert dealt.get("/legal-acts?seat=1", 0).status_code == 403
        assert dealt.get("/legal-acts?seat=1").status_code == 401
        assert dealt.get("/legal-acts?seat=7", "official").status_code == 422

    def test_the_official_voids_the_deal_and_the_cards_lie_open(self, dealt: Table) -> None:
        dealt.done("void", None, reason="a card lay on the floor")
        assert dealt.get().json()["phase"] == "undealt"
        assert dealt.get("/events").json()["events"][1]["event"]["hands"] == HANDS

    def test_a_match_can_be_played_to_its_end(self, lone_client: Client) -> None:
        table = Table(
            lone_client, dealing="house", stakes={"currency": "SEK", "unit": 50}, opening={"points": [3, 4, 5]}
        )
        table.finish(seed=1)
        state = table.get().json()
        assert state["winner"] is not None
        protocol = table.get(f"/protocol?min_version={state['version']}").json()
        assert protocol["winner"] == state["winner"]
        assert protocol["points"] == state["points"]
        assert sum(protocol["settlement"]) == 0
        for line in protocol["lines"]:
            record = table.get(f"/deals/{line['deal']}").json()
            assert record["score"]["points"] == line["points"]
        entry = lone_client.get("/v1/matches?status=over&player=Berit&fresh=true").json()["items"]
        assert [(one["id"], one["winner"]) for one in entry] == [(table.id, state["winner"])]


class TestLooking:
    def test_each_viewer_sees_their_own_view(self, dealt: Table) -> None:
        seat, official, nobody = (dealt.get(who=who).json() for who in (0, "official", None))
        assert (seat["viewer"], official["viewer"], nobody["viewer"]) == ("seat:0", "official", "spectator")
        assert sorted(seat["hand"]) == sorted(HANDS[0])
        assert seat["hands"] is None
        assert [sorted(hand) for hand in official["hands"]] == [sorted(hand) for hand in HANDS]
        assert (nobody["hand"], nobody["hands"], nobody["breaches"]) == (None, None, None)

    def test_not_modified_until_something_happens(self, dealt: Table) -> None:
        first = dealt.get(who=1)
        again = dealt.get(who=1, **{"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
        assert dealt.get(who=1, **{"If-None-Match": '"1", W/"2"'}).status_code == 304
        assert dealt.get(who=1, **{"If-None-Match": "garbage"}).status_code == 200
        dealt.bid("2")
        assert dealt.get(who=1, **{"If-None-Match": first.headers["etag"]}).status_code == 200

    @pytest.mark.parametrize("page", ["", "/legal-acts", "/events", "/replay?at=1", "/protocol", "/knocks"])
    def test_a_read_waits_for_the_version_it_asks_for_and_says_so_if_it_does_not_come(
        self, dealt: Table, page: str
    ) -> None:
        with_version = page + ("&" if "?" in page else "?") + "min_version="
        assert dealt.get(with_version + "2", 0).status_code == 200
        late = dealt.get(with_version + "3", 0)
        assert late.status_code == 409
        assert late.json()["facts"] == {"version": 2, "min_version": 3}


class TestOnce:
    """An Idempotency-Key makes a repeat safe."""

    KEY: ClassVar = {"Idempotency-Key": "bid-1"}

    def test_a_repeat_gets_the_same_answer_and_nothing_happens(self, dealt: Table) -> None:
        body = {"act": "bid", "seat": 1, "bid": "2"}
        first = dealt.post("/acts", body, 1, **self.KEY)
        dealt.bid("pass", first=2)
        again = dealt.post("/acts", body, 1, **self.KEY)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.content == again.content
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        assert dealt.version() == 4

    def test_the_answer_is_as_it_was_then_even_when_the_cards_lie_open_by_now(self, table: Table) -> None:
        body = {"act": "deal", "seat": 0, "hands": HANDS}
        first = table.post("/acts", body, 0, **self.KEY)
        table.finish_deal()
        assert table.post("/acts", body, 0, **self.KEY).content == first.content

    def test_the_key_of_one_seat_is_another_for_the_next(self, dealt: Table) -> None:
        assert dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1, **self.KEY).status_code == 201
        assert dealt.post("/acts", {"act": "bid", "seat": 2, "bid": "3"}, 2, **self.KEY).status_code == 201

    def test_a_key_is_shown_to_its_sender_and_to_officials(self, dealt: Table) -> None:
        dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1, **self.KEY)
        shown = {
            who: dealt.get("/events?after=2", who).json()["events"][0]["act"] for who in (None, 0, 1, "official")
        }
        assert shown == {None: None, 0: None, 1: "bid-1", "official": "bid-1"}

    def test_a_repeated_knock_is_the_same_case(self, dealt: Table) -> None:
        body = {"seat": 1, "accused": 0}
        first, again = (dealt.post("/knocks", body, 1, **self.KEY) for _ in range(2))
        assert first.content == again.content
        assert again.headers["idempotency-replayed"] == "true"


class TestIfMatch:
    def test_the_current_version_is_accepted_and_an_old_one_is_not(self, dealt: Table) -> None:
        body = {"act": "bid", "seat": 1, "bid": "2"}
        stale = dealt.post("/acts", body, 1, **{"If-Match": '"1"'})
        assert (stale.status_code, stale.json()["facts"]) == (412, {"version": 2})
        assert dealt.post("/acts", body, 1, **{"If-Match": '"2"'}).status_code == 201


class TestFull:
    def test_a_match_that_is_full_says_so_and_an_official_may_still_end_the_deal(
        self, dealt: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Match, "EVENTS_MAX", 3)
        dealt.bid("2")
        full = dealt.send("bid", 2, bid="pass")
        assert (full.status_code, full.json()["type"]) == (409, "/problems/match-full")
        assert full.json()["facts"] == {"most": 3}
        assert dealt.version() == 3
        dealt.done("void", None, reason="it took all night")


class TestKnocks:
    @pytest.fixture
    def revoked(self, dealt: Table) -> Table:
        """Return a match in which seat 2 has thrown a king of clubs on a spade lead, with spades in hand."""
        dealt.bid("1", "pass", "pass")
        dealt.play("S2", "CK", first=1)
        return dealt

    def test_a_revoke_is_knocked_for(self, revoked: Table) -> None:
        knock = {"seat": 0, "accused": 2, "offence": "revoke", "note": "had a spade"}
        answer = revoked.post("/knocks", knock, 0)
        assert answer.status_code == 201
        case = answer.json()
        assert answer.headers["location"] == f"{revoked.path}/knocks/1"
        assert {name: case[name] for name in ("verdict", "offence", "rule", "penalty", "payer", "named", "note")} == {
            "verdict": "upheld",
            "offence": "revoke",
            "rule": "B42",
            "penalty": 5,
            "payer": 2,
            "named": "revoke",
            "note": "had a spade",
        }
        assert "Cesar" in case["why"]
        assert revoked.get("/knocks/1").json() == case
        assert revoked.get("/knocks", 1).json()["items"] == [case]
        assert revoked.get().json()["penalties"] == [0, 0, 5]

    def test_why_is_said_in_swedish(self, revoked: Table) -> None:
        answer = revoked.post("/knocks", {"seat": 0, "accused": 2}, 0, **{"Accept-Language": "sv-SE, en;q=0.5"})
        assert answer.headers["content-language"] == "sv"
        assert "bekände inte färg" in answer.json()["why"] or "färg" in answer.json()["why"]
        assert revoked.get("/knocks/1", **{"Accept-Language": "sv"}).json()["why"] == answer.json()["why"]

    def test_only_the_official_sees_what_stands_open(self, revoked: Table) -> None:
        (breach,) = revoked.get(who="official").json()["breaches"]
        assert (breach["offence"], breach["seat"]) == ("revoke", 2)
        for who in (None, 0, 2):
            assert revoked.get(who=who).json()["breaches"] is None
            assert "breaches" not in revoked.get("/events", who).text

    def test_a_knock_for_nothing_is_dismissed_with_its_reason(self, dealt: Table) -> None:
        case = dealt.post("/knocks", {"seat": 0, "accused": 2, "offence": "revoke"}, 0).json()
        assert (case["verdict"], case["reason"], case["fine"]) == ("dismissed", "nothing", 0)

    def test_a_fine_for_a_knock_for_nothing_is_part_of_the_case(self, client: Client) -> None:
        table = Table(client, options={"deal_ritual": False, "false_knock_penalty": 5})
        table.deal()
        case = table.post("/knocks", {"seat": 0, "accused": 2}, 0).json()
        assert (case["verdict"], case["fine"], case["version"] - case["event"]) == ("dismissed", 5, 1)
        assert table.get("/knocks/1").json() == case

    def test_there_is_no_case_that_was_not_knocked_for(self, dealt: Table) -> None:
        assert dealt.get("/knocks").json()["items"] == []
        assert dealt.get("/knocks/1").status_code == 404
        dealt.post("/knocks", {"seat": 0, "accused": 2}, 0)
        for number in (0, 2, 10**30):
            answer = dealt.get(f"/knocks/{number}")
            assert (answer.status_code, answer.json()["facts"]) == (404, {"last": 1})

    def test_the_cases_come_by_pages_that_name_the_next(self, dealt: Table) -> None:
        for _ in range(5):
            assert dealt.post("/knocks", {"seat": 0, "accused": 2}, 0).status_code == 201
        assert [case["case"] for case in dealt.get("/knocks").json()["items"]] == [1, 2, 3, 4, 5]
        first = dealt.get("/knocks?limit=4")
        assert [case["case"] for case in first.json()["items"]] == [1, 2, 3, 4]
        assert first.json()["next"] == cursor_of(4)
        assert first.links["next"]["url"] == f"{dealt.path}/knocks?{urlencode({'limit': 4, 'cursor': cursor_of(4)})}"
        rest = dealt.client.get(first.links["next"]["url"], headers={"Accept-Language": "sv"})
        assert [case["case"] for case in rest.json()["items"]] == [5]
        assert rest.json()["items"][0]["why"] == dealt.get("/knocks/5", **{"Accept-Language": "sv"}).json()["why"]
        assert "next" not in rest.links
        assert "next" not in dealt.get(f"/knocks?cursor={cursor_of(3)}&limit=2").links
        assert dealt.get(f"/knocks?cursor={cursor_of(5)}").json() == {"items": [], "next": None}
        for cursor in ("x", "3"):
            assert dealt.get(f"/knocks?cursor={cursor}").status_code == 400
        assert dealt.get("/knocks?limit=1001").status_code == 400

    def test_one_knocks_only_for_oneself(self, dealt: Table) -> None:
        assert dealt.post("/knocks", {"seat": 0, "accused": 2}, 1).status_code == 403
        assert dealt.post("/knocks", {"seat": 0, "accused": 2}, "official").status_code == 403
        assert dealt.post("/knocks", {"seat": 0, "accused": 2}, None).status_code == 401


class TestBooks:
    def test_the_protocol_has_points_and_a_line_for_each_deal(self, dealt: Table) -> None:
        dealt.finish_deal()
        version = dealt.version()
        answer = dealt.get(f"/protocol?min_version={version}")
        protocol: dict[str, Any] = answer.json()
        assert answer.headers["etag"] == f'"{version}"'
        assert protocol["points"] == dealt.get().json()["points"]
        assert [line["deal"] for line in protocol["lines"]] == [1]

    def test_the_protocol_as_csv(self, dealt: Table) -> None:
        dealt.finish_deal()
        answer = dealt.get("/protocol", Accept="text/csv")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        head, line = answer.text.strip().splitlines()
        assert head.startswith('"deal","dealer","kind","declarer","contract","Anna tricks"')
        assert line.startswith('1,"Anna",')

    def test_the_record_of_a_deal(self, dealt: Table) -> None:
        dealt.bid("2", "pass", "3")
        dealt.play("SA", "S2", "S4", "SK", "S3", "S5", first=0)
        dealt.finish_deal(seed=3)
        record = dealt.get("/deals/1").json()
        assert record["hands"] == HANDS
        assert [(call["seat"], call["bid"]) for call in record["bids"]] == [(1, "2"), (2, "pass"), (0, "3")]
        assert (record["declarer"], record["contract"]) == (0, "3")
        first = record["tricks"][0]
        assert (first["lead"], first["winner"]) == (0, 0)
        assert [card["card"] for card in first["cards"]] == ["SA", "S2", "S4"]
        assert [card["event"] for card in first["cards"]] == [
            first["event"] - 3,
            first["event"] - 2,
            first["event"] - 1,
        ]
        assert record["score"]["deal"] == 1

    def test_a_deal_under_way_has_no_record_yet_and_the_next_none_at_all(self, dealt: Table) -> None:
        assert dealt.get("/deals/1").status_code == 409
        assert dealt.get("/deals/2").status_code == 404
        assert dealt.get("/deals/0").status_code == 404

    def test_matches_are_listed_by_pages(self, lone_client: Client) -> None:
        made = [Table(lone_client).id for _ in range(5)]
        first = lone_client.get("/v1/matches?limit=3&fresh=true").json()
        rest = lone_client.get("/v1/matches", params={"limit": 3, "cursor": first["next"]}).json()
        assert [one["id"] for one in first["items"] + rest["items"]] == made
        assert rest["next"] is None
        assert lone_client.get("/v1/matches?player=Anna&status=open").json()["items"]
        assert lone_client.get("/v1/matches?player=Nobody").json()["items"] == []
        after = first["items"][-1]["opened_at"]
        later = lone_client.get(
            "/v1/matches", params={"opened_from": after, "opened_to": "2999-01-01T00:00:00Z"}
        ).json()
        assert [one["id"] for one in later["items"]] == made[2:]


class TestReplay:
    def test_the_match_as_it_stood_with_what_was_legal(self, dealt: Table) -> None:
        before = dealt.get(who=1).json()
        legal = dealt.get("/legal-acts", 1).json()
        dealt.bid("2", "pass", "3")
        then = dealt.get("/replay?at=2", 1).json()
        assert {name: then[name] for name in before} == before
        assert then["legal_acts"] == [None, legal, None]
        assert dealt.get("/replay?at=2", "official").json()["legal_acts"] == [[], legal, []]
        assert dealt.get("/replay?at=2").json()["legal_acts"] == [None, None, None]

    def test_the_cards_lie_open_when_the_deal_is_over(self, dealt: Table) -> None:
        assert dealt.get("/replay?at=2").json()["hands"] is None
        dealt.finish_deal()
        assert [sorted(hand) for hand in dealt.get("/replay?at=2").json()["hands"]] == [sorted(h) for h in HANDS]

    def test_breaches_that_stood_open_are_shown_to_the_official(self, dealt: Table) -> None:
        dealt.bid("1", "pass", "pass")
        dealt.play("S2", "CK", first=1)
        at = dealt.version()
        dealt.post("/knocks", {"seat": 0, "accused": 2}, 0)
        assert [b["offence"] for b in dealt.get(f"/replay?at={at}", "official").json()["breaches"]] == ["revoke"]
        assert dealt.get(f"/replay?at={at + 2}", "official").json()["breaches"] == []
        assert dealt.get(f"/replay?at={at}", 0).json()["breaches"] is None

    @pytest.mark.parametrize("at", ["0", "3", "-1", "99999999999999999999"])
    def test_out_of_range_says_what_the_range_is(self, dealt: Table, at: str) -> None:
        answer = dealt.get(f"/replay?at={at}")
        assert (answer.status_code, answer.json()["facts"]) == (404, {"first": 1, "last": 2})

    @pytest.mark.parametrize("enforcement", ["penalise", "refuse"])
    def test_every_moment_of_a_match_can_be_looked_at_by_everyone(self, client: Client, enforcement: str) -> None:
        table = Table(client, dealing="house", enforcement=enforcement, options={}, first_dealer=None)
        table.finish_deal(seed=5)
        for at in range(1, table.version() + 1):
            for who in (None, 0, "official"):
                answer = table.get(f"/replay?at={at}", who)
                assert answer.status_code == 200, answer.text
                assert answer.json()["version"] == at
