"""The commands of the README and of the guide for operators work as they are written."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import httpx

from tests.support.club_client import found
from tests.support.running_service import knacka, running, served

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OPERATING = (ROOT / "openapi" / "guides" / "operating.md").read_text(encoding="utf-8")


def commands_below(page: str, heading: str) -> list[str]:
    """Return the blocks of commands below a heading of a page."""
    below = page[page.index(f"\n## {heading}\n") + 4 :].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", below, re.DOTALL)


def test_the_match_by_hand_works(sqlite_url: str, tmp_path: Path) -> None:
    blocks = commands_below(README, "A match, by hand")
    with served(sqlite_url) as address:
        script = "set -eu\n" + "\n".join(blocks).replace("localhost:8000", address)
        done = subprocess.run(
            ["bash", "-c", script],
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    said = done.stdout
    expected = [
        '"rule":"B34"',
        '"allowed":["pass","3","4","5","6","rodskagg"]',
        '"verdict":"upheld"',
        '"rests_on":[7,8]',
        "Bifalls: Cecilia lät bli att bekänna färg (B42) och åker upp fem. Anna knackade.",
        '"pending":[{"seat":2,"points":5',
        '"id":"B42"',
    ]
    places = [said.find(text) for text in expected]
    assert -1 not in places, f"not said: {expected[places.index(-1)]}\n{said}"
    assert places == sorted(places)


def test_the_first_club_is_founded_by_the_guide(sqlite_url: str) -> None:
    """The service lets no stranger found a club or open a match."""
    lines = [line for block in commands_below(OPERATING, "Found the first club") for line in block.splitlines()]
    (command,) = (line for line in lines if line.startswith("knacka club found "))
    closed = {"KNACKA_ANYBODY_FOUNDS": "false", "KNACKA_ANYBODY_OPENS": "false"}
    with running(sqlite_url, **closed) as process, httpx.Client(base_url=process.address, timeout=30) as client:
        assert found(client).json()["type"] == "/problems/founding-needs-key"
        done = knacka(*shlex.split(command)[1:], KNACKA_DATABASE_URL=sqlite_url, **closed)
        assert done.returncode == 0, done.stderr
        key = {"Authorization": f"Bearer {done.stdout.splitlines()[-1]}"}
        shown = client.get("/v1/key", headers=key)
        assert (shown.status_code, shown.json()["member"]) == (200, 1), shown.text
        asked = [json for line in lines if (json := re.search(r"-d '(.*)'$", line))]
        assert asked, "the next acts are shown"
        for body in asked:
            acts = f"/v1/clubs/{shown.json()['club']}/acts"
            answer = client.post(acts, content=body[1], headers={**key, "Content-Type": "application/json"})
            assert answer.status_code == 201, answer.text


def test_the_readme_has_at_most_900_words() -> None:
    assert len(README.split()) <= 900


def test_every_link_of_the_readme_leads_to_a_file() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", README):
        assert "://" in link or (ROOT / link).exists(), link


def test_the_two_commands_come_first() -> None:
    assert README.index("make run") < README.index("make test") < README.index("## ")


def test_make_run_shows_the_progress_of_the_installation() -> None:
    command = ["make", "--dry-run", "--what-if", "requirements.lock", "run"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=True)
    (install,) = [line for line in done.stdout.splitlines() if "-r requirements.lock" in line]
    assert "Installing" in done.stdout
    assert "--quiet" not in install


def test_the_changelog_has_a_list_under_each_heading() -> None:
    """Each item has one line, so that git can merge the items of two branches. A table may follow the list."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, _, *parts = re.split(r"^#+ .+\n", text, flags=re.MULTILINE)  # nothing, what the file is, and by heading
    assert any(parts)
    for part in parts:
        assert re.fullmatch(r"\n((- \S.*[.)]\n)+(\n(\|.*\|\n)+)?\n?)?", part), part
    assert not re.search(r"\S- (\*\*|`|[A-Z])", text)
