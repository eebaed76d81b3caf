"""Health, metrics, the reference page, and settings."""

import json
import re
import time
from pathlib import Path

import httpx
import msgspec
import psycopg
import pytest
from sqlalchemy import text

from api.cli import main
from api.docs.reference import SCRIPTS
from api.http.protocol import HEAD_SECONDS, IDLE_SECONDS, VALUE_MAX
from api.runtime.service import Service
from api.settings import Settings, SettingsError, from_environment
from projections.follow.engine import engine_for_writes
from tests.conformance.description_check import resolved
from tests.demo.ports import free_port
from tests.support.match_client import HANDS, KORTOXEN, Table
from tests.support.paths import ROOT
from tests.support.service_in_memory import Client, client_of
from tests.support.store_faults import held, taking_nothing, without


def of_operators(port: int, path: str = "/metrics") -> httpx.Response:
    return httpx.get(f"http://127.0.0.1:{port}{path}")


def service_of(client: Client) -> Service:
    service: Service = client.app.state.service
    return service


def eventually(client: Client, status: int) -> httpx.Response:
    """Read readiness until it has this status; return the answer."""
    until = time.monotonic() + 30
    while (answer := client.get("/health/ready")).status_code != status:
        assert time.monotonic() < until
        time.sleep(0.01)
    return answer


def unready(client: Client, en: str, sv: str, *codes: str) -> None:
    """Assert that readiness is refused with these codes, and with a detail that matches the pattern of each
    language."""
    for language, said in (("en", en), ("sv", sv)):
        answer = client.get("/health/ready", headers={"Accept-Language": language})
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-ready")
        assert re.fullmatch(said, answer.json()["detail"]), answer.json()["detail"]
        assert [reason["code"] for reason in answer.json()["facts"]["reasons"]] == list(codes)


class TestHealth:
    def test_it_is_up_and_ready(self, lone_client: Client) -> None:
        assert lone_client.get("/health/live").json()["status"] == "up"
        assert lone_client.get("/health/ready").json() == {"status": "up", "follower_lag": 0}

    def test_it_is_not_ready_while_the_store_takes_nothing(
        self, own_client: Client, store_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = Table(own_client)
        with taking_nothing(store_url):
            assert table.send("deal", 0, hands=HANDS).status_code == 503
            unready(
                own_client,
                r"The store refused a write \d+ seconds ago: (no space left on device|malformed JSON)\.",
                r"Lagret tog inte emot något för \d+ sekunder sedan: (no space left on device|malformed JSON)\.",
                "store_refuses",
            )
            monkeypatch.setattr("api.runtime.health.FAILED_SECONDS", -1)
            assert own_client.get("/health/ready").status_code == 200, "the next request must try again"
            monkeypatch.undo()
        table.deal()
        assert own_client.get("/health/ready").status_code == 200

    def test_it_is_not_ready_while_a_book_stands_still(
        self, own_client: Client, store_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("projections.follow.follow.STILL_SECONDS", 0.5)
        error = "(Operational|Programming)Error"
        with without(store_url, service_of(own_client).projections.protocols.sheets.name):
            Table(own_client)
            eventually(own_client, 503)
            unready(
                own_client,
                rf"The projection protocols has failed after position 0 for \d+ seconds: {error}\.",
                rf"Projektionen protocols har misslyckats efter position 0 i \d+ sekunder: {error}\.",
                "book_failed",
            )
        eventually(own_client, 200)

    def test_it_is_not_ready_while_the_books_wait_for_their_database(
        self, own_client: Client, store_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("projections.follow.follow.STILL_SECONDS", 0.5)
        books = service_of(own_client).projections
        with engine_for_writes(books.engine).begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("LOCK TABLE book_places IN EXCLUSIVE MODE"))
            Table(own_client)
            eventually(own_client, 503)
            en, sv = (
                "; ".join(said.format(name) for name in sorted(books.stalled_projections())) + r"\."
                for said in (
                    r"The projection {} has waited after position \d+ for \d+ seconds: the database does not answer",
                    r"Projektionen {} har väntat efter position \d+ i \d+ sekunder: databasen svarar inte",
                )
            )
            unready(own_client, en, sv, *["book_unanswered"] * len(books.stalled_projections()))
        eventually(own_client, 200)

    def test_it_is_not_ready_when_nothing_keeps_the_books_or_decides(self, sqlite_url: str) -> None:
        with client_of(sqlite_url) as client:
            service = service_of(client)
            service.projections.follower.close()
            service.desk.close()
            names = sorted(service.projections.stalled_projections())
            assert "protocols" in names
            en, sv = (
                "; ".join([idle, *(said.format(name) for name in names)]) + r"\."
                for idle, said in (
                    (
                        "The desk is not running",
                        r"The projection {} has not moved from position 0 for \d+ seconds: its follower has ended",
                    ),
                    (
                        "Sekretariatet är inte igång",
                        r"Projektionen {} har stått still efter position 0 i \d+ sekunder: dess följare har slutat",
                    ),
                )
            )
            unready(client, en, sv, "desk_idle", *["book_ended"] * len(names))

    def test_it_is_not_ready_while_the_desk_waits(
        self, own_client: Client, store_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table, deal = Table(own_client), {"act": "deal", "seat": 0, "hands": HANDS}
        monkeypatch.setattr("api.runtime.health.STUCK_SECONDS", 0.1)
        monkeypatch.setattr("api.runtime.commands.ACT_SECONDS", 0.2)
        with held(store_url):
            answer = table.post("/acts", deal, 0, **{"Idempotency-Key": "k"})
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/outcome-unknown")
            eventually(own_client, 503)
            unready(
                own_client,
                r"The desk has waited \d+ seconds for the store\.",
                r"Sekretariatet har väntat \d+ sekunder på lagret\.",
                "desk_waits",
            )
            waiting = table.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1)
            assert (waiting.status_code, waiting.json()["type"]) == (503, "/problems/busy"), "it was taken back"
        eventually(own_client, 200)
        monkeypatch.undo()
        answer = table.post("/acts", deal, 0, **{"Idempotency-Key": "k"})
        assert (answer.status_code, answer.json()["version"]) == (201, 2)

    def test_the_store_has_not_for_ever_to_answer(self, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("api.health.health.STORE_SECONDS", 0.1)
        with client_of(postgres_url) as client, psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE referee_events")
            for _ in range(3):
                unready(client, r"The store does not answer\.", r"Lagret svarar inte\.", "store_silent")
            other.rollback()
            eventually(client, 200)

    def test_metrics_count_requests_problems_and_events(self, sqlite_url: str) -> None:
        port = free_port()
        with client_of(sqlite_url, metrics_port=port) as client:
            table = Table(client)
            table.deal()
            table.send("bid", 2, bid="1")
            answer = of_operators(port)
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        lines = answer.text.splitlines()
        assert 'knacka_requests_total{method="POST",route="/v1/matches/{match}/acts",status="201"} 1' in lines
        assert 'knacka_requests_total{method="POST",route="/v1/matches/{match}/acts",status="422"} 1' in lines
        assert 'knacka_problems_total{code="out_of_turn"} 1' in lines
        assert "knacka_events_stored_total 2" in lines
        assert 'knacka_transaction_events_bucket{le="+Inf"} 2' in lines
        assert "knacka_cached_matches 1" in lines
        sample = re.compile(r'[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.]+')
        assert all(line.startswith("# ") or sample.fullmatch(line) for line in lines)

    def test_metrics_are_served_only_if_an_operator_says(self, client: Client, sqlite_url: str) -> None:
        assert client.get("/metrics").status_code == 404
        assert "/metrics" not in client.get("/openapi.json").json()["paths"]
        port = free_port()
        with client_of(sqlite_url, metrics_port=port) as other:
            assert other.get("/metrics").status_code == 404
            answer = of_operators(port)
            assert answer.status_code == 200
            assert answer.headers["x-content-type-options"] == "nosniff"
            for path in ("/health/live", "/v1/matches", "/openapi.json", "/"):
                nothing = of_operators(port, path)
                assert (nothing.status_code, nothing.json()["type"]) == (404, "/problems/no-such-page")


class TestReference:
    def test_the_page_and_all_that_it_needs_come_from_here(self, client: Client) -> None:
        page = client.get("/docs")
        assert page.headers["content-type"].startswith("text/html")
        sources = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
        assert sources
        for source in sources:
            assert source.startswith("/"), "nothing from elsewhere"
            assert client.get(source).status_code == 200
        for name in SCRIPTS:
            script = client.get(f"/docs/{name}").text
            assert "//" not in re.sub(r"^\s*//.*$", "", script, flags=re.MULTILINE)
            for other in re.findall(r'^import .* from "\./([^"]+)";$', script, re.MULTILINE):
                assert other in SCRIPTS

    def test_the_description_is_served_as_it_is_kept(self, client: Client) -> None:
        kept = json.loads((ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8"))
        assert client.get("/openapi.json").json() == kept == client.get("/docs/openapi.json").json()

    def test_every_call_is_described(self, client: Client) -> None:
        description = client.get("/openapi.json").json()
        schemas = description["components"]["schemas"]
        for path, item in description["paths"].items():
            for call in item.values():
                assert call["operationId"]
                assert call["summary"]
                assert call["description"]
                assert call["tags"]
                for parameter in (resolved(description, one) for one in call.get("parameters", ())):
                    assert parameter["description"], (path, parameter["name"])
                for status, answer in call["responses"].items():
                    if int(status) >= 400:
                        assert list(resolved(description, answer)["content"]) == ["application/problem+json"]
                if "requestBody" in call:
                    assert call["requestBody"]["content"]["application/json"]["examples"]
        named = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(description)))
        assert named == schemas.keys()


class TestRulesets:
    def test_a_ruleset_has_all_that_one_needs_to_open_a_match(self, client: Client) -> None:
        (ruleset,) = (one for one in client.get("/v1/rulesets").json() if one["ruleset"] == KORTOXEN)
        assert ruleset == client.get(f"/v1/rulesets/{KORTOXEN}").json()
        assert ruleset["seats"] == {"min": 3, "max": 8}
        assert len(ruleset["pack"]) == 52
        assert {"bid", "play", "knock_out"} <= set(ruleset["acts"])
        assert "revoke" in ruleset["offences"]
        option = ruleset["options"]["properties"]["knock_window"]
        assert (option["default"], option["enum"]) == ("deal_end", ["deal_end", "next_trick"])
        assert option["x-rules"] == ["B-O2"]

    def test_every_option_names_a_rule_or_reading_that_can_be_read(self, client: Client) -> None:
        options = client.get(f"/v1/rulesets/{KORTOXEN}").json()["options"]["properties"]
        for name, option in options.items():
            assert option["x-rules"], name
            for rule in option["x-rules"]:
                assert client.get(f"/v1/rulesets/{KORTOXEN}/rules/{rule}").status_code == 200, rule


KEYS_NEEDED = ("anybody_opens", "anybody_founds")
"""Settings that `deploy/` turns off: opening matches without a club, and founding clubs, without a key."""


class TestSettings:
    def test_all_have_defaults(self) -> None:
        assert from_environment({"PATH": "/bin"}) == Settings()

    def test_each_can_be_set_and_stands_in_the_example(self) -> None:
        example = (ROOT / "deploy" / "env.example").read_text(encoding="utf-8")
        given = dict(line.split("=", 1) for line in example.splitlines() if line.startswith("KNACKA_"))
        assert given.keys() == {f"KNACKA_{name.upper()}" for name in Settings.__struct_fields__}
        assert from_environment(given) == msgspec.structs.replace(Settings(), **dict.fromkeys(KEYS_NEEDED, False))

    def test_the_help_of_serve_lists_each_with_its_default(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="0"):
            main(["serve", "--help"])
        lines = capsys.readouterr().out.splitlines()
        for variable, default in self.defaults():
            (place,) = (number for number, line in enumerate(lines) if line.startswith(f"  {variable}="))
            assert lines[place] == f"  {variable}={default}"
            assert lines[place + 1].startswith("      "), "its meaning follows"
        assert sum(line.startswith("  KNACKA_") for line in lines) == len(self.defaults())

    def test_the_guide_for_operators_lists_each_with_its_default(self) -> None:
        page = (ROOT / "openapi" / "guides" / "operating.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(KNACKA_[A-Z0-9_]+)` \| (.*?) \| (.+) \|$", page, re.MULTILINE)
        assert [(variable, default.strip("`")) for variable, default, _ in rows] == self.defaults()

    @staticmethod
    def defaults() -> list[tuple[str, str]]:
        """Return the variable and the default of each setting, as an environment has them."""
        return [
            (f"KNACKA_{name.upper()}", json.dumps(value) if isinstance(value, bool) else str(value))
            for name, value in msgspec.structs.asdict(Settings()).items()
        ]

    @pytest.mark.parametrize(
        ("file", "form"),
        [
            ("Dockerfile", "{}=false"),
            ("compose.yaml", '{}: "false"'),
            ("env.example", "{}=false"),
            ("knacka.service", "Environment={}=false"),
            ("kubernetes.yaml", '{{name: {}, value: "false"}}'),
        ],
    )
    def test_the_deployment_requires_keys(self, file: str, form: str) -> None:
        lines = (ROOT / "deploy" / file).read_text(encoding="utf-8").splitlines()
        said = [line for line in lines if not line.lstrip().startswith("#")]
        for name in KEYS_NEEDED:
            assert any(form.format(f"KNACKA_{name.upper()}") in line for line in said)

    def test_the_deployment_sets_only_known_settings(self) -> None:
        known = {f"KNACKA_{name.upper()}" for name in Settings.__struct_fields__}
        for file in (ROOT / "deploy").iterdir():
            named = set(re.findall(r"\bKNACKA_[A-Z_]+\b", file.read_text(encoding="utf-8")))
            assert named <= known, file

    def test_the_proxy_in_deploy_lets_through_what_the_service_takes(self) -> None:
        given = dict(re.findall(r"^ *(\w+) ([^;]+);", (ROOT / "deploy" / "nginx.conf").read_text(), re.MULTILINE))
        assert given["client_max_body_size"] == f"{Settings().body_limit_bytes // 1024}k"
        assert given["large_client_header_buffers"] == f"2 {VALUE_MAX // 1024}k"
        assert given["client_header_timeout"] == f"{HEAD_SECONDS:.0f}s"
        assert int(given["keepalive_timeout"].rstrip("s")) < IDLE_SECONDS
        assert given["proxy_buffering"] == "off"

    def test_a_wrong_one_is_named(self) -> None:
        with pytest.raises(SettingsError, match="KNACKA_BODY_LIMIT_BYTES: Expected `int` >= 1024"):
            from_environment({"KNACKA_BODY_LIMIT_BYTES": "1"})

    def test_an_unknown_setting_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        assert from_environment({"KNACKA_PROT": "1"}) == Settings()
        assert "KNACKA_PROT" in caplog.text


def test_static_files_are_part_of_the_package() -> None:
    files = {path.name for path in Path(ROOT / "api" / "docs" / "static").iterdir()}
    assert files == {"case.css", "docs.html", "favicon.svg", "statement.css", "text.css", *SCRIPTS}
