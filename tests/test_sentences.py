"""Whatever the referee can say has words in both languages, and no words are left over."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
import pytest

import referee
from api.docs.problem_list import (
    API_PROBLEMS,
    EXAMPLES,
    problems_markdown,
    refusals,
)
from api.http.problems import TEXTS as PROBLEM_TEXTS
from api.http.problems import problem_type
from referee.acts import Fault, Offence
from referee.events import KnockDismissed, KnockUpheld
from referee.games import RULESETS
from referee.refusals import AgainstTheRules, NotInPlay, OutOfTurn, WrongPhase
from referee.rulebook import load
from referee.sentences import (
    TEXTS,
    CaseCode,
    Language,
    Text,
    case,
    fact_names,
    kind,
    offence,
    refusal,
    ruling,
    title,
    win_text,
)
from referee.visibility import as_seen_by
from tests.support.refusals import all_uses, as_toml, gathered, played, uses

ROOT = Path(__file__).parents[1]
LANGUAGES: tuple[Language, ...] = ("en", "sv")
PLAYERS = ("Arne", "Berit", "Cilla", "Dag")


def assert_same(needed: set[str], have: set[str], what: str) -> None:
    missing, unused = sorted(needed - have), sorted(have - needed)
    assert not missing, f"{what} without words in referee/sentences.toml: {', '.join(missing)}"
    assert not unused, f"{what} in referee/sentences.toml that nothing uses: {', '.join(unused)}"


def calls() -> Iterator[tuple[str, dict[str | None, ast.expr]]]:
    """Yield every call in the referee: the name called, and its keywords."""
    for path in Path(referee.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield ast.unparse(node.func), {keyword.arg: keyword.value for keyword in node.keywords}


def literals(node: ast.AST) -> set[str]:
    """Return the strings that an expression can be, without its conditions."""
    if isinstance(node, ast.IfExp):
        return literals(node.body) | literals(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def given(called: str, keyword: str) -> set[str]:
    """Return the literals that calls of a name pass for a keyword."""
    values = [keywords[keyword] for name, keywords in calls() if name == called and keyword in keywords]
    return {literal for value in values for literal in literals(value)}


def returned(function: str) -> set[str]:
    """Return the literals that functions of a name return."""
    found: set[str] = set()
    for path in Path(referee.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name == function:
                values = [part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value]
                found |= {literal for value in values for literal in literals(value)}
    return found


def every_text() -> Iterator[tuple[str, Text]]:
    for code, text in TEXTS.refusals.items():
        yield code, text
        yield f"title of {code}", text.title
    for code, words in TEXTS.offences.items():
        yield code, words.name
        yield code, words.did
    for table in (TEXTS.phases, TEXTS.rulings, TEXTS.kinds, TEXTS.wins):
        yield from table.items()


class TestEverythingHasWords:
    def test_every_refusal(self) -> None:
        assert len(refusals()) > 50, "the refusals are found"
        assert_same(set(refusals()), set(TEXTS.refusals), "codes")

    def test_every_offence_and_fault(self) -> None:
        assert_same({*get_args(Offence), *get_args(Fault)}, set(TEXTS.offences), "offences")

    def test_every_verdict(self) -> None:
        reasons = get_args(get_args(KnockDismissed.__annotations__["reason"])[0])
        assert_same({"upheld", *reasons, *get_args(CaseCode)}, set(TEXTS.rulings), "verdicts")

    def test_every_kind_of_deal(self) -> None:
        assert_same(given("PlayEnded", "kind") | returned("_end_kind"), set(TEXTS.kinds), "kinds of deal")

    def test_every_way_to_win(self) -> None:
        everywhere = {"zero", "rodskagg", "last_standing"}
        somewhere = {"exit_knock", "duel", "redbeard", "zero_at_once", "nobody_left"} | given("MatchWon", "by")
        assert_same(everywhere | somewhere, set(TEXTS.wins), "ways to win")

    def test_every_phase(self) -> None:
        phases = {
            str((get_origin(phase) or phase).__struct_config__.tag)
            for ruleset in RULESETS.values()
            for phase in get_args(ruleset.state)
        }
        assert_same(phases, set(TEXTS.phases), "phases")

    def test_in_both_languages(self) -> None:
        for code, text in every_text():
            assert text.en.strip() == text.en != "", code
            assert text.sv.strip() == text.sv != "", code
            assert text.en != text.sv, code
            assert fact_names(text.en) == fact_names(text.sv), code

    def test_no_title_is_used_twice(self) -> None:
        for language in LANGUAGES:
            titles = [title(code, language) for code in TEXTS.refusals]
            assert len(titles) == len(set(titles))


class TestRefusals:
    @pytest.mark.parametrize("code", sorted(TEXTS.refusals))
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_a_sentence_stands_without_its_facts(self, code: str, language: Language) -> None:
        empty: dict[str, Any] = dict.fromkeys(EXAMPLES.facts, ())
        for facts in ({}, empty):
            said = refusal(code, facts, language)
            assert_is_a_sentence(said)
            assert "…" not in said, "a fact that may be absent stands within brackets"

    @pytest.mark.parametrize("code", sorted(TEXTS.refusals))
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_a_sentence_shows_its_facts(self, code: str, language: Language) -> None:
        problem = refusals()[code]
        examples = EXAMPLES.facts | EXAMPLES.of.get(code, {})
        assert problem.facts <= examples.keys(), "give the new fact an example in api/docs/problem_examples.toml"
        assert fact_names(TEXTS.refusals[code].en) <= problem.facts, "only facts that this refusal gives"
        said = refusal(code, {name: examples[name] for name in problem.facts}, language)
        assert_is_a_sentence(said)
        for shown in fact_names(TEXTS.refusals[code].en) - {
            "phase",
            "allowed",
            "awaited",
            "cards",
            "cases",
            "currencies",
            "deals",
            "members",
            "pending",
            "scopes",
            "status",
            "verdict",
        }:
            assert str(msgspec.to_builtins(examples[shown])) in said

    @pytest.mark.parametrize(
        ("code", "facts", "en", "sv"),
        [
            (
                "deal_not_scored",
                {"deal": 2},
                "The protocol has no line of deal 2 to correct yet.",
                "Protokollet har ännu ingen rad för giv 2 som kan rättas.",
            ),
            (
                "deal_not_scored",
                {},
                "The last deal must be written into the protocol first, by the act score.",
                "Den senaste given måste först föras in i protokollet, med handlingen score.",
            ),
            (
                "line_hangs",
                {"deals": (2,)},
                "Deal 2 was played, or ended as it did, only because of the corrected number. Name it in strike, "
                "so that it does not count.",
                "Giv 2 spelades, eller slutade som den gjorde, bara på grund av siffran som rättas. Ange "
                "den i strike, så räknas den inte.",
            ),
            (
                "down_to_six",
                {"count": 1},
                "Throw away exactly one card, so that six are left.",
                "Lägg bort precis ett kort, så att sex är kvar.",
            ),
            (
                "down_to_six",
                {"count": 2},
                "Throw away exactly 2 different cards, so that six are left.",
                "Lägg bort precis 2 olika kort, så att sex är kvar.",
            ),
            (
                "after_the_last_trick",
                {"done": 6},
                "The deal has no more than 6 tricks.",
                "Given har inte fler än 6 stick.",
            ),
            (
                "after_the_last_trick",
                {"done": 1},
                "The deal has no more than 1 trick.",
                "Given har inte fler än 1 stick.",
            ),
            (
                "not_your_act",
                {"seat": 2},
                "The last act was seat 2's. That seat must first ask to take it back.",
                "Den senaste handlingen gjordes av plats 2, som först måste be att få ta tillbaka den.",
            ),
            ("out_of_turn", {"turn": 2}, "It is seat 2's turn.", "Det är plats 2 som är i tur."),
            ("out_of_turn", {"turn": 0}, "It is seat 0's turn.", "Det är plats 0 som är i tur."),
            ("out_of_turn", {}, "It is a different seat's turn.", "Någon annan är i tur."),
            ("out_of_turn", {"turn": None}, "It is a different seat's turn.", "Någon annan är i tur."),
            ("must_follow_suit", {"allowed": ["H2", "H7"]}, "Follow suit: H2 or H7.", "Bekänn färg: H2 eller H7."),
            (
                "no_such_line",
                {"deals": (7, 8)},
                "The protocol has no line of deal 7 and 8: only a scored deal can be corrected.",
                "Protokollet har ingen rad för giv 7 och 8: bara en giv som är införd kan rättas.",
            ),
            (
                "bid_too_low",
                {"allowed": ("pass", "5", "6", "rodskagg")},
                "A bid has to go above the latest one: say pass, 5, 6 or rödskägg.",
                "Ett bud måste gå över det senaste: säg pass, 5, 6 eller rödskägg.",
            ),
            (
                "not_asked",
                {"pending": (1, 2)},
                "No answer is awaited from this seat; answers are awaited from seat 1 and seat 2.",
                "Inget svar väntas från den här platsen; svar väntas från plats 1 och plats 2.",
            ),
            (
                "wrong_phase",
                {"phase": "auction"},
                "This act is not possible now: the bidding is under way. "
                "The list of legal acts shows the acts that are.",
                "Handlingen går inte att göra nu: budgivningen pågår. "
                "Listan över tillåtna handlingar visar vilka som går.",
            ),
            (
                "must_join_or_pay",
                {"allowed": ("join", "widow", "pay")},
                "All before have lain down, so this player may not. "
                "The seat may join, take the widow or pay the dealer.",
                "Alla före har lagt sig, så den här spelaren får inte göra det. "
                "Platsen får gå med, ta den extra handen "
                "eller betala givaren.",
            ),
            (
                "name_another_suit",
                {"allowed": ("H", "C")},
                "Trumps are now one of the three suits not turned up: say hearts or clubs.",
                "Trumf blir nu en av de tre färger som inte vändes upp: säg hjärter eller klöver.",
            ),
            ("not_held", {"card": "{x}[y]"}, "{x}[y] is not in the hand; play one that is.", None),
        ],
    )
    def test_a_refusal_is_worded_in_both_languages(
        self, code: str, facts: dict[str, Any], en: str, sv: str | None
    ) -> None:
        assert refusal(code, facts, "en") == en
        assert sv is None or refusal(code, facts, "sv") == sv

    def test_a_code_without_words_is_spelled_out(self) -> None:
        assert title("must_head_the_trick", "sv") == "Must head the trick"
        assert refusal("must_head_the_trick", {"allowed": ["H9"]}, "en") == "Must head the trick."


def assert_is_a_sentence(said: str) -> None:
    assert said == said.strip()
    assert said[0].isupper() or said[0].isdigit()
    assert said.endswith(".")
    assert not set("[]{}|") & set(said)
    assert "  " not in said
    assert " ." not in said
    assert " ," not in said


def upheld(**change: Any) -> KnockUpheld:
    facts = {"case": 1, "seat": 0, "accused": 1, "offence": "revoke", "rule": "B42", "payer": 1, "penalty": 5}
    return KnockUpheld(**{**facts, "rests_on": (17,), **change})


def dismissed(reason: str, **change: Any) -> KnockDismissed:
    return KnockDismissed(**{"case": 1, "seat": 0, "accused": 1, "reason": reason, "rule": "B12", **change})


class TestRulings:
    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize("code", get_args(Offence))
    @pytest.mark.parametrize("payer", [1, 2])
    def test_an_upheld_knock_names_all(self, code: str, payer: int, language: Language) -> None:
        said = ruling(upheld(offence=code, payer=payer), PLAYERS, language)
        assert_is_a_sentence(said)
        for words in ("Arne", "Berit", PLAYERS[payer], "B42", TEXTS.offences[code].did.in_(language)):
            assert words in said
        assert ("five" if language == "en" else "fem") in said

    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize("reason", ["nothing", "late", "again", "enforced"])
    @pytest.mark.parametrize("code", [None, "revoke"])
    @pytest.mark.parametrize("named", [None, "revoke"])
    def test_a_dismissed_knock_names_all(
        self, reason: str, code: str | None, named: str | None, language: Language
    ) -> None:
        said = ruling(dismissed(reason, offence=code, named=named), PLAYERS, language)
        assert_is_a_sentence(said)
        assert "Arne" in said
        assert "Berit" in said
        assert "B12" in said

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_too_late_and_for_nothing_sound_alike_until_the_deal_is_over(self, language: Language) -> None:
        late = as_seen_by(
            dismissed("late", offence="revoke", named="revoke", rests_on=(9,), within_deal=True), 0, False
        )
        assert isinstance(late, KnockDismissed)
        nothing = dismissed("nothing", named="revoke")
        assert ruling(late, PLAYERS, language) == ruling(nothing, PLAYERS, language)

    @pytest.mark.parametrize(
        ("event", "fine", "en", "sv"),
        [
            (
                upheld(),
                0,
                "Upheld: Berit revoked (B42) and goes up five. Arne knocked.",
                "Bifalls: Berit lät bli att bekänna färg (B42) och åker upp fem. Arne knackade.",
            ),
            (
                upheld(offence="wrong_cut", rule="B17", payer=3),
                0,
                "Upheld: Berit cut the pack wrongly (B17), and Dag goes up five. Arne knocked.",
                "Bifalls: Berit kuperade felaktigt (B17), och Dag åker upp fem. Arne knackade.",
            ),
            (
                upheld(penalty=0),
                0,
                "Upheld: Berit revoked (B42). Arne knocked.",
                "Bifalls: Berit lät bli att bekänna färg (B42). Arne knackade.",
            ),
            (
                upheld(penalty=15),
                0,
                "Upheld: Berit revoked (B42) and goes up 15. Arne knocked.",
                "Bifalls: Berit lät bli att bekänna färg (B42) och åker upp 15. Arne knackade.",
            ),
            (
                dismissed("nothing", named="revoke"),
                5,
                "Dismissed: Arne knocked for “revoke”, but Berit has no such error to answer for (B12). "
                "Arne goes up five.",
                "Ogillas: Arne knackade för ”underlåten färgbekännelse”, men Berit har inget sådant fel att svara "
                "för (B12). Arne åker upp fem.",
            ),
            (
                dismissed("late", offence="exit_knock"),
                0,
                "Dismissed: Arne knocked too late; Berit did not knock for the exit, but the time for that knock is "
                "over (B12).",
                "Ogillas: Arne knackade för sent; Berit knackade inte för utgång, men tiden att knacka för det är "
                "ute (B12).",
            ),
        ],
    )
    def test_a_ruling_is_worded_in_both_languages(self, event: Any, fine: int, en: str, sv: str) -> None:
        assert ruling(event, PLAYERS, "en", fine=fine) == en
        assert ruling(event, PLAYERS, "sv", fine=fine) == sv

    def test_a_name_is_not_read_as_a_template(self) -> None:
        said = ruling(upheld(), ("{rule}", "[a|{b}]"), "en")
        assert said == "Upheld: [a|{b}] revoked (B42) and goes up five. {rule} knocked."

    def test_a_seat_without_a_name_is_a_seat(self) -> None:
        assert ruling(upheld(), (), "en").startswith("Upheld: seat 1 revoked")


def test_single_words() -> None:
    assert offence("revoke", "en") == "revoke"
    assert kind("passed_out", "sv") == "alla smög"
    assert win_text("rodskagg", "en") == "by making rödskägg"


class TestOneWordForOneThing:
    """Terms in Swedish: token and key, official and referee, dismissed and refused, one way round the table."""

    @staticmethod
    def swedish() -> Iterator[tuple[str, str]]:
        for code, text in every_text():
            yield code, text.sv
        for code, problem in PROBLEM_TEXTS.items():
            yield code, problem.sv
            yield code, problem.title.sv
        for ruleset in (*RULESETS, "adjudication"):
            for rule in load(ruleset).entries:
                yield rule.id, rule.sv

    def test_the_table_is_gone_round_medsols(self) -> None:
        assert [code for code, text in self.swedish() if "medurs" in text] == []

    def test_a_match_has_tokens_and_a_club_keys(self) -> None:
        wrong = ("platsnyckel", "plats nyckel", "platsens nyckel", "partiets nycklar", "platsernas nycklar")
        assert [code for code, text in self.swedish() if any(word in text for word in wrong)] == []

    def test_a_dismissed_knock_is_ogillad(self) -> None:
        assert "ogillats" in TEXTS.refusals["too_many_knocks"].sv
        assert refusal("ruling_differs", {"verdict": "dismissed"}, "sv").endswith("den här knackningen ogillad.")

    def test_the_referee_is_the_program_and_an_official_a_person(self) -> None:
        said = case(
            "case_upheld", PLAYERS, (), "sv", by="seat:0", rule="J2", accused=1, offence="revoke", official="key:k3"
        )
        assert said.startswith("Bifalls av funktionären med nyckel k3")

    def test_the_second_best_card_is_no_deuce(self) -> None:
        assert [code for code, text in every_text() if "tvåa" in text.sv.lower()] == []


class TestTheListOfProblems:
    def test_the_refusals_are_those_that_the_source_makes(self) -> None:
        listed = (ROOT / "api/docs/refusals.toml").read_text("utf-8")
        assert listed == as_toml(gathered(all_uses()), played()), "run: make describe"

    def test_the_page_is_up_to_date(self) -> None:
        page = (ROOT / "openapi/problems.md").read_text("utf-8")
        assert page == problems_markdown(), "run: make describe"

    def test_no_type_stands_for_two_problems(self) -> None:
        types = [problem_type(code) for code in (*refusals(), *(code for code, _ in API_PROBLEMS))]
        assert len(types) == len(set(types))

    def test_codes_are_found_where_they_are_written(self) -> None:
        source = """
def f(a):
    raise WrongPhase("early" if a else "late" if a is None else "never", "B1" if a else None)
def g(a):
    code = "one" if a else "two"
    raise refusals.NotInPlay(code, None, seat=a)
def h(a):
    code = "three"
    return OutOfTurn(code=code, rule="B3", turn=1, **a)
AgainstTheRules("four", "B4")
Other("five")
"""
        found = {(use.code, use.kind, *use.facts) for use in uses(source, "f.py")}
        assert found == {
            ("early", WrongPhase),
            ("late", WrongPhase),
            ("never", WrongPhase),
            ("one", NotInPlay, "seat"),
            ("two", NotInPlay, "seat"),
            ("three", OutOfTurn, "turn"),
            ("four", AgainstTheRules),
        }

    @pytest.mark.parametrize("source", ["WrongPhase(code, None)", "WrongPhase(f'{a}', None)", "WrongPhase()"])
    def test_a_code_that_cannot_be_read_is_an_error(self, source: str) -> None:
        with pytest.raises(ValueError, match=r"f\.py:1"):
            list(uses(source, "f.py"))

    def test_a_code_of_two_classes_is_an_error(self) -> None:
        found = list(uses("WrongPhase('late', None)\nOutOfTurn('late', None)", "f.py"))
        with pytest.raises(ValueError, match=r"late is WrongPhase at f\.py:1 and OutOfTurn at f\.py:2"):
            gathered(found)
