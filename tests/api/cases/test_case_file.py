"""The file of a case over HTTP: its contents by caller, and as a page."""

import re
from html import unescape
from typing import Any

import httpx
import pytest

from api.cases.documents import WORDS
from api.docs.pages import policy_of_kind
from api.http.replies import HTML
from referee.actors import seat_of
from referee.sentences import fact_names
from tests.api.cases.test_cases import ANNA, BERIT, CESAR, EXPOSED, REVOKE, RULING, TWO, ask, attended, finish
from tests.api.cases.test_docket import MINE, NILS
from tests.api.docs.test_problem_pages import closed
from tests.api.http.test_problems import problem
from tests.api.http.test_security_headers import secure
from tests.support.match_client import Table
from tests.support.match_driver import seats_and
from tests.support.service_in_memory import Client

SHEET = {"bids": seats_and("bid", [1, "1"], [2, "pass"], [0, "pass"]), "tricks": [1, 0, 2, 1, 0, 2]}
DENIED = {"seat": BERIT, "agrees": False, "events": [2], "text": "I had none"}


def file(table: Table, number: int = 1, who: int | str = "official", **headers: str) -> dict[str, Any]:
    answer = table.get(f"/knocks/{number}/file", who, **headers)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def page(table: Table, number: int = 1, who: int | str = "official", language: str = "en") -> httpx.Response:
    answer = table.get(f"/knocks/{number}/file", who, **{"Accept": HTML, "Accept-Language": language})
    assert answer.status_code == 200, answer.text
    return answer


@pytest.fixture
def heard(client: Client) -> Table:
    """Return a match in which Anna has knocked for a revoke by Berit."""
    table = attended(client, NILS)
    table.tokens["Nils"] = MINE
    ask(table, "", ANNA, REVOKE)
    return table


class TestFacts:
    @staticmethod
    def seats(actors: list[str]) -> list[int | None]:
        return [seat_of(actor) for actor in actors]

    def facts(self, table: Table) -> dict[str, list[tuple[str, list[Any], list[int]]]]:
        return {
            name: [(fact["text"], self.seats(fact["said_by"]), self.seats(fact["denied_by"])) for fact in found]
            for name, found in file(table)["facts"].items()
        }

    @pytest.mark.rule("J1", "J2")
    def test_from_what_the_seats_said_last(self, heard: Table) -> None:
        claim = "Berit revoked."
        assert self.facts(heard) == {"agreed": [], "disputed": [], "unanswered": [(claim, [ANNA], [])]}
        ask(heard, "/1/statements", BERIT, DENIED)
        ask(heard, "/1/statements", CESAR, {"seat": CESAR, "agrees": True, "events": [1, 2]})
        assert self.facts(heard) == {
            "agreed": [("Event 2 is evidence.", [BERIT, CESAR], [])],
            "disputed": [(claim, [ANNA, CESAR], [BERIT])],
            "unanswered": [("Event 1 is evidence.", [CESAR], [])],
        }
        ask(heard, "/1/statements", ANNA, {"seat": ANNA, "agrees": False})
        assert self.facts(heard)["disputed"] == [(claim, [CESAR], [ANNA, BERIT])]
        ask(heard, "/1/statements", CESAR, {"seat": CESAR, "agrees": False})
        ask(heard, "/1/statements", ANNA, {"seat": ANNA, "agrees": True})
        ask(heard, "/1/statements", CESAR, {"seat": CESAR, "agrees": True})
        ask(heard, "/1/statements", BERIT, {"seat": BERIT, "agrees": True})
        agreed = self.facts(heard)["agreed"]
        text, said, denied = agreed[0]
        assert (text, sorted(said), denied) == (claim, [ANNA, BERIT, CESAR], [])
        assert self.facts(heard)["disputed"] == self.facts(heard)["unanswered"] == []

    @pytest.mark.rule("J2")
    def test_on_a_line_all_others_must_agree(self, heard: Table) -> None:
        finish(heard)
        wrong = {"seat": ANNA, "offence": "entry", "deal": 1, "result": SHEET}
        number = ask(heard, "", ANNA, wrong)["case"]
        for seat, where in ((BERIT, "unanswered"), (None, "unanswered")):
            facts = file(heard, number)["facts"]
            assert [fact["text"] for fact in facts[where]] == ["The line of deal 1 is wrong."]
            if seat is not None:
                ask(heard, f"/{number}/statements", seat, {"seat": seat, "agrees": True})
        ask(heard, f"/{number}/statements", CESAR, {"seat": CESAR, "agrees": False})
        assert [fact["denied_by"] for fact in file(heard, number)["facts"]["disputed"]] == [[f"seat:{CESAR}"]]

    @pytest.mark.rule("J2", "J11")
    def test_on_a_misclick_all_others_must_agree(self, client: Client) -> None:
        table = Table(client, dealing="house", enforcement="refuse", adjudication={**TWO, "take_back": True})
        table.done("deal", ANNA)
        table.bid("2")
        ask(table, "", BERIT, {"seat": BERIT, "offence": "misclick"})
        ask(table, "/1/statements", CESAR, {"seat": CESAR, "agrees": True})
        facts = self.facts(table)
        assert [said for _, said, _ in facts["unanswered"]] == [[BERIT, CESAR]]
        ask(table, "/1/statements", ANNA, {"seat": ANNA, "agrees": True})
        facts = self.facts(table)
        assert [sorted(said) for _, said, _ in facts["agreed"]] == [[ANNA, BERIT, CESAR]]
        assert facts["disputed"] == facts["unanswered"] == []

    @pytest.mark.rule("J2", "J7")
    def test_an_appeal_denies_what_was_upheld(self, heard: Table) -> None:
        claim = "Berit revoked."
        ask(heard, "/1/ruling", "official", RULING)
        ask(heard, "/1/appeal", BERIT, {"seat": BERIT, "text": "I had none"})
        assert self.facts(heard) == {"agreed": [], "disputed": [(claim, [ANNA], [BERIT])], "unanswered": []}
        problem(heard.post("/knocks/1/appeal", {"seat": ANNA}, ANNA), 409, "appealed-already")

    @pytest.mark.rule("J2", "J7")
    def test_an_opener_who_appeals_because_more_was_done_does_not_deny_the_claim(self, heard: Table) -> None:
        ask(heard, "/1/ruling", "official", RULING | {"remedy": {"void": True}})
        ask(heard, "/1/appeal", ANNA, {"seat": ANNA, "text": "A new deal is too much"})
        assert self.facts(heard) == {"agreed": [], "disputed": [], "unanswered": [("Berit revoked.", [ANNA], [])]}

    @pytest.mark.rule("J2", "J7")
    def test_an_appeal_repeats_the_claim_that_was_dismissed(self, heard: Table) -> None:
        claim = "Berit revoked."
        ask(heard, "/1/statements", ANNA, {"seat": ANNA, "agrees": False})
        ask(heard, "/1/ruling", "official", RULING | {"verdict": "dismissed"})
        problem(heard.post("/knocks/1/appeal", {"seat": BERIT}, BERIT), 403, "not-against-you")
        ask(heard, "/1/appeal", ANNA, {"seat": ANNA})
        assert self.facts(heard) == {"agreed": [], "disputed": [], "unanswered": [(claim, [ANNA], [])]}

    @pytest.mark.rule("J2", "J7")
    def test_a_statement_after_the_appeal_counts(self, heard: Table) -> None:
        ask(heard, "/1/ruling", "official", RULING)
        ask(heard, "/1/appeal", BERIT, {"seat": BERIT})
        ask(heard, "/1/statements", CESAR, {"seat": CESAR, "agrees": False})
        assert self.facts(heard)["disputed"] == [("Berit revoked.", [ANNA], [BERIT, CESAR])]


class TestTimeline:
    def test_the_deal_and_the_case_with_their_links(self, heard: Table) -> None:
        ask(heard, "/1/statements", BERIT, DENIED)
        body = file(heard)["timeline"]
        events = heard.get("/events?after=1", "official").json()["events"]
        proofs = ("digest", "prev", "hash", "request")
        shown = [{name: value for name, value in one.items() if name not in proofs} for one in events]
        assert [one["event"] for one in body] == shown
        assert [one["of_case"] for one in body] == [False, True, True]
        assert [one["named_by"] for one in body] == [[f"seat:{BERIT}"], [], []]
        for one, event in zip(body, events, strict=True):
            linked = heard.client.get(one["href"], headers=heard.bearer("official")).json()["events"]
            assert [found["number"] for found in linked] == [event["number"]]
            then = heard.client.get(one["replay"], headers=heard.bearer("official")).json()
            assert then["version"] == event["number"]

    def test_the_timeline_shows_only_the_case_of_another_deal(self, heard: Table) -> None:
        finish(heard)
        end = heard.version()
        heard.done("deal", heard.get().json()["dealer"], counts=[6, 6, 6])
        ask(heard, "", ANNA, REVOKE)
        late = ask(heard, "", ANNA, {"seat": ANNA, "offence": "entry", "deal": 1, "result": SHEET})
        scored = [one["event"]["number"] for one in file(heard, late["case"])["timeline"]]
        assert scored == [*range(2, len(scored) + 1), late["event"]]
        assert scored[-2] <= end
        topics = [one["event"]["event"]["topic"] for one in file(heard, late["case"])["timeline"]]
        assert topics[-2:] == ["deal/scored", "case/opened"]
        second = file(heard, 2)["timeline"]
        assert second[0]["event"]["number"] == scored[-2] + 1
        assert "deal/scored" not in {one["event"]["event"]["topic"] for one in second}


class TestRules:
    def test_each_rule_that_is_cited_in_the_reader_s_language(self, heard: Table) -> None:
        ask(heard, "/1/ruling", "official", RULING | {"rule": "B11"})
        ask(heard, "/1/appeal", BERIT, {"seat": BERIT})
        for language in ("en", "sv"):
            body = file(heard, **{"Accept-Language": language})
            by_id = {rule["id"]: rule for rule in body["rules"]}
            assert {"B11", "B42", "J3", "J4", "J7"} <= by_id.keys()
            assert {price["rule"] for price in body["form"]["prices"]} <= by_id.keys()
            for rule in body["rules"]:
                read = heard.client.get(rule["href"], headers={"Accept-Language": language}).json()
                assert read == {name: value for name, value in rule.items() if name != "href"}

    def test_earlier_rulings_on_the_same_rule_are_of_the_official_s_matches(self, lone_client: Client) -> None:
        """Runs on either store."""
        tables = [attended(lone_client, NILS) for _ in range(3)]
        for place, table in enumerate(tables):
            table.tokens["Nils"] = MINE
            ask(table, "", ANNA, REVOKE)
            if place < 2:
                reason = {"reason": f"Seen in match {place}"}
                ask(table, "/1/ruling", "official", RULING | reason)
        stranger = attended(lone_client, TWO)
        ask(stranger, "", ANNA, REVOKE)
        ask(stranger, "/1/ruling", "official", RULING)
        ask(tables[0], "", ANNA, EXPOSED)
        ask(tables[0], "/2/ruling", "Nils", RULING | {"rule": "B11"})

        def earlier(table: Table, who: int | str, number: int = 1) -> list[tuple[str, int, str]]:
            body = file(table, number, who)["precedents"]
            assert all(one["rule"] in ("B42", "B11") and one["penalty"] == 5 for one in body)
            return [(one["match"], one["case"], one["reason"]) for one in body]

        both = [(table.id, 1, f"Seen in match {place}") for place, table in enumerate(tables[:2])][::-1]
        assert earlier(tables[2], "Nils") == both
        assert earlier(tables[2], "official") == [], "whose token is of this match alone"
        assert earlier(tables[1], "Nils") == [both[1]], "without itself"
        assert earlier(tables[2], ANNA) == []
        for one in file(tables[2], 1, "Nils")["precedents"]:
            assert lone_client.get(one["href"], headers=tables[0].bearer("Nils")).status_code == 200

    def test_a_party_has_those_of_its_match_as_it_may_see_them(self, heard: Table) -> None:
        ask(heard, "/1/ruling", "official", RULING)
        ask(heard, "", ANNA, EXPOSED)
        ask(heard, "/2/ruling", "official", RULING | {"reason": "Once more"})
        (body,) = file(heard, 2, BERIT)["precedents"]
        assert (body["case"], body["reason"]) == (1, "")
        finish(heard)
        (body,) = file(heard, 2, BERIT)["precedents"]
        assert (body["case"], body["reason"]) == (1, "Seen by Cesar")

    def test_a_party_learns_nothing_of_its_official_s_other_matches(self, client: Client) -> None:
        """The first official has the same token in all of them."""
        first = {"officials": NILS["officials"][::-1]}
        other, table = attended(client, first), attended(client, first)
        for one in (other, table):
            one.tokens["official"] = MINE
            ask(one, "", ANNA, REVOKE)
            ask(one, "/1/ruling", "official", RULING)
        assert other.id in {one["match"] for one in file(table)["precedents"]}
        assert file(table, 1, BERIT)["precedents"] == []
        assert other.id not in page(table, 1, BERIT).text


class TestForm:
    @pytest.mark.rule("J3", "J6")
    def test_the_ruling_costs_the_announced_price(self, heard: Table) -> None:
        before = heard.version()
        form = file(heard)["form"]
        assert (form["yours"], form["action"]) == (True, f"{heard.path}/knocks/1/ruling")
        upheld, dismissed = form["outcomes"]
        assert (upheld["verdict"], upheld["payer"], upheld["penalty"]) == ("upheld", BERIT, 5)
        assert (upheld["change"], dismissed["change"]) == ([0, 5, 0], [0, 0, 0])
        assert heard.version() == before, "nothing is stored"
        for price in form["prices"]:
            asked = RULING | {"offence": price["offence"], "rule": price["rule"]}
            would = heard.post("/knocks/1/ruling?preview=true", asked, "official").json()["case"]
            assert (would["payer"], would["penalty"]) == (price["payer"], price["penalty"])
        body = heard.client.post(form["action"], json=RULING, headers=heard.bearer("official")).json()
        assert (body["payer"], body["penalty"]) == (upheld["payer"], upheld["penalty"])
        assert heard.get().json()["penalties"] == upheld["change"]

    @pytest.mark.rule("J3", "B17", "B24", "B25")
    def test_an_offence_that_the_options_turn_off_has_no_price(self, heard: Table) -> None:
        """The options of this match turn off the ritual of the deal."""
        assert [price["offence"] for price in file(heard)["form"]["prices"]] == [
            "fold_question",
            "exit_knock",
            "revoke",
            "exposed_card",
            "led_out_of_turn",
        ]
        ruling = RULING | {"offence": "wrong_cut", "rule": "B17"}
        problem(heard.post("/knocks/1/ruling", ruling, "official"), 409, "nothing-to-punish")

    @pytest.mark.rule("J7", "J10")
    def test_it_is_there_while_a_ruling_is_awaited(self, heard: Table) -> None:
        ask(heard, "/1/ruling", "official", RULING)
        assert file(heard)["form"] is None
        ask(heard, "/1/appeal", BERIT, {"seat": BERIT})
        mine, theirs = file(heard)["form"], file(heard, 1, "Nils")["form"]
        assert (mine["yours"], theirs["yours"]) == (False, True)
        assert mine["outcomes"] == theirs["outcomes"], "the price does not depend on the official"
        assert [one["change"] for one in theirs["outcomes"]] == [[0, 0, 0], [0, -5, 0]]
        ask(heard, "/1/ruling", "Nils", RULING | {"verdict": "dismissed"})
        assert file(heard, 1, "Nils")["form"] is None

    @pytest.mark.rule("J3", "D70")
    def test_a_fault_that_falls_due_with_the_score_has_its_price(self, client: Client) -> None:
        rams = Table(client, ruleset="rams-english", options={}, adjudication=TWO)
        rams.done("deal", 0, counts=[5, 5, 5], turn_up="H7")
        while rams.get().json()["phase"] == "declaring" or not rams.get().json()["bids"]:
            seat = rams.get().json()["to_act"][0]
            rams.done("bid", seat, bid="join")
            if rams.get().json()["phase"] == "playing":
                break
        ask(rams, "", ANNA, {"seat": ANNA, "accused": BERIT, "offence": "revoke"})
        form = file(rams)["form"]
        upheld, _ = form["outcomes"]
        assert (upheld["payer"], upheld["change"]) == (BERIT, [0, 0, 0])
        assert upheld["penalty"] == next(one["penalty"] for one in form["prices"] if one["offence"] == "revoke") > 0
        text = unescape(page(rams).text)
        assert "Berit -5" in text, "it is paid into the pot (D70)"
        assert "+5" not in text
        ruled = ask(rams, "/1/ruling", "official", RULING | {"rule": "D50", "events": []})
        assert ruled["why"] == "Upheld by Maja: Berit revoked (D50) and puts five into the pot. Anna knocked."
        swedish = rams.get("/knocks/1", ANNA, **{"Accept-Language": "sv"}).json()["why"]
        assert "Berit lät bli att bekänna färg (D50) och lägger fem i potten." in swedish
        assert "Berit -5." in unescape(page(rams).text)

    def test_an_outcome_that_is_impossible_shows_its_refusal(self, heard: Table) -> None:
        finish(heard)
        wrong = {"seat": ANNA, "offence": "entry", "deal": 1, "result": SHEET}
        number = ask(heard, "", ANNA, wrong)["case"]
        heard.done("deal", heard.get().json()["dealer"], counts=[6, 6, 6])
        upheld, dismissed = file(heard, number)["form"]["outcomes"]
        assert upheld["refused"]["type"] == "/problems/deal-under-way"
        asked = RULING | {"rule": "J9"}
        body = ask(heard, f"/{number}/ruling", "official", asked, upheld["refused"]["status"])
        assert (upheld["refused"]["type"], upheld["refused"]["detail"]) == (body["type"], body["detail"])
        assert dismissed["refused"] is None
        assert file(heard, number)["form"]["prices"] == []


class TestReaders:
    def test_officials_and_parties(self, heard: Table) -> None:
        for who in ("official", "Nils", ANNA, BERIT):
            assert file(heard, 1, who)["viewer"] == (f"seat:{who}" if isinstance(who, int) else "official")
        problem(heard.get("/knocks/1/file", CESAR), 403, "for-parties")
        problem(heard.get("/knocks/1/file"), 401, "token-missing")
        heard.tokens["nobody"] = "nobody's"
        problem(heard.get("/knocks/1/file", "nobody"), 401, "token-unknown")
        problem(heard.get("/knocks/2/file", "official"), 404, "no-such-case")
        problem(heard.get("/knocks/2/file", CESAR), 404, "no-such-case")
        problem(heard.get("/knocks/1/file?min_version=999", ANNA), 409, "version-not-reached")
        unknown = "/v1/matches/00000000-0000-4000-8000-000000000000/knocks/1/file"
        problem(heard.client.get(unknown, headers=heard.bearer(ANNA)), 404, "no-such-match")

    @pytest.mark.rule("J9")
    def test_all_players_of_a_line_are_parties_of_its_case(self, heard: Table) -> None:
        finish(heard)
        wrong = {"seat": ANNA, "offence": "entry", "deal": 1, "result": SHEET}
        number = ask(heard, "", ANNA, wrong)["case"]
        assert file(heard, number, CESAR)["form"] is None
        problem(heard.get(f"/knocks/{number}/file"), 401, "token-missing")

    def test_texts_are_the_writer_s_and_the_officials_until_the_deal_is_over(self, heard: Table) -> None:
        ask(heard, "/1/statements", BERIT, DENIED)
        ask(heard, "/1/ruling", "official", RULING)
        texts = {ANNA: REVOKE["note"], BERIT: DENIED["text"], "official": RULING["reason"]}

        def read(who: int | str) -> set[Any]:
            both = heard.get("/knocks/1/file", who).text, unescape(page(heard, 1, who).text)
            found = [{text for text in texts.values() if text in one} for one in both]
            assert found[0] == found[1]
            return found[0]

        assert read("official") == read("Nils") == set(texts.values())
        assert read(ANNA) == {texts[ANNA]}
        assert read(BERIT) == {texts[BERIT]}
        finish(heard)
        assert read(ANNA) == read(BERIT) == set(texts.values())

    def test_the_file_shows_a_party_the_same_events_as_the_match(self, heard: Table) -> None:
        ask(heard, "/1/statements", BERIT, DENIED)
        for who in (ANNA, BERIT, "official"):
            body = file(heard, 1, who)
            assert body["case"] == heard.get("/knocks/1", who).json()
            assert (body["form"] is None) == (who != "official")
            events = {one["event"]["number"]: one["event"]["event"] for one in body["timeline"]}
            for one in heard.get("/events?after=1", who).json()["events"]:
                assert events[one["number"]] == one["event"]

    def test_if_no_one_attends_the_referee_s_ruling_has_a_file(self, dealt: Table) -> None:
        ask(dealt, "", ANNA, {"seat": ANNA, "accused": BERIT, "offence": "fold_question"})
        body = file(dealt)
        assert (body["form"], body["officials"], body["precedents"]) == (None, [], [])
        assert [one["of_case"] for one in body["timeline"]][-1] is True


class TestPage:
    NASTY = "<script>alert('1')</script></blockquote>\"&'<img src=x onerror=alert(1)>"

    @pytest.fixture
    def nasty(self, client: Client) -> Table:
        """Return a match in which every text of a player is HTML."""
        names = [{"name": f"<b>{name}</b><script>x()</script>"} for name in "ABC"]
        officials = {"officials": [{"name": "<script>y()</script>"}, {"name": "Nils & Co"}]}
        table = attended(client, officials, players=names)
        ask(table, "", ANNA, REVOKE | {"note": self.NASTY})
        ask(table, "/1/statements", BERIT, DENIED | {"text": self.NASTY})
        ask(table, "/1/ruling", "official", RULING | {"reason": self.NASTY})
        ask(table, "/1/appeal", BERIT, {"seat": BERIT, "text": self.NASTY})
        ask(table, "", ANNA, REVOKE | {"note": self.NASTY})
        return table

    @pytest.mark.parametrize("language", ["en", "sv"])
    def test_html_is_whole_and_has_nothing_but_text(self, nasty: Table, language: str) -> None:
        answer = page(nasty, 1, "official:2", language)
        assert answer.headers["content-type"].startswith(HTML)
        assert answer.headers["content-language"] == language
        assert {"Accept", "Accept-Language", "Authorization"} <= set(answer.headers["vary"].split(", "))
        secure(answer, policy_of_kind("case"))
        assert "'unsafe" not in policy_of_kind("case")
        text = answer.text
        assert f'<html lang="{language}">' in text
        assert not re.search(r"<(script|img|link|iframe|form|b)\b|\sstyle=", text)
        assert not re.search(r"<[^>]*\s(on\w+=|(href|src)=\"(?!/v1/))", text)
        assert text.count("<style>") == 1
        assert unescape(text).count(self.NASTY) >= 5
        assert text.count("<h1>") == 1
        closed(text)

    @pytest.mark.parametrize("language", ["en", "sv"])
    def test_the_page_has_the_contents_of_the_file(self, nasty: Table, language: str) -> None:
        body = file(nasty, 1, "official:2", **{"Accept-Language": language})
        text = unescape(page(nasty, 1, "official:2", language).text)
        for rule in body["rules"]:
            assert rule["text"] in text
        for name in ("agreed", "disputed", "unanswered"):
            assert WORDS.words[name].in_(language) in text
            assert all(fact["text"] in text for fact in body["facts"][name])
        for one in body["timeline"]:
            assert one["replay"] in text
            assert one["href"] in text
        for price in body["form"]["prices"]:
            assert price["name"] in text
            assert f"{price['penalty']:+d} ({price['rule']})" in text
        assert body["case"]["why"] in text
        for words in (WORDS.words, WORDS.verdicts, WORDS.standards):
            for code in set(words) & {"form", "timeline", "precedents", *WORDS.verdicts, *WORDS.standards}:
                assert words[code].in_(language) in text

    def test_a_caller_who_prefers_no_form_gets_json(self, heard: Table) -> None:
        for accept in ("*/*", "application/json", "text/*;q=0.1, application/json"):
            answer = heard.get("/knocks/1/file", "official", Accept=accept)
            assert answer.headers["content-type"] == "application/json"
        problem(heard.get("/knocks/1/file", "official", Accept="image/png"), 406, "not-acceptable")

    def test_an_unchanged_file_gets_304_in_each_form_and_language(self, heard: Table) -> None:
        tags = set()
        for accept in (HTML, "application/json"):
            for language in ("en", "sv"):
                asked = {"Accept": accept, "Accept-Language": language}
                answer = heard.get("/knocks/1/file", "official", **asked)
                tag = answer.headers["ETag"]
                tags.add(tag)
                assert heard.get("/knocks/1/file", "official", **asked, **{"If-None-Match": tag}).status_code == 304
        assert len(tags) == 4
        ask(heard, "/1/statements", BERIT, DENIED)
        assert heard.get("/knocks/1/file", "official").headers["ETag"] not in tags

    def test_every_word_is_in_both_languages(self) -> None:
        for group in (WORDS.claims, WORDS.words, WORDS.statuses, WORDS.verdicts, WORDS.standards):
            for text in group.values():
                assert text.en.strip() == text.en != ""
                assert text.sv.strip() == text.sv != ""
                assert fact_names(text.en) == fact_names(text.sv)
