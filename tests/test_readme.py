"""The README is true: its commands are run as they stand, against a service."""

import os
import re
import subprocess
from pathlib import Path

from tests.api.serving import served

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_match_by_hand_goes_as_told(sqlite_url: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", README[README.index("## A match, by hand") :], re.DOTALL)
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
    told = [
        '"rule":"B34"',
        '"allowed":["pass",3,4,5,6,"rodskagg"]',
        '"verdict":"upheld"',
        '"rests_on":[7,8]',
        "Bifalls: Cecilia lät bli att bekänna färg (B42) och åker upp fem. Anna knackade.",
        '"pending":[{"seat":2,"points":5',
        '"id":"B42"',
    ]
    places = [said.find(text) for text in told]
    assert -1 not in places, f"not said: {told[places.index(-1)]}\n{said}"
    assert places == sorted(places)


def test_the_two_commands_come_first() -> None:
    assert README.index("make run") < README.index("make test") < README.index("## ")


def test_the_changelog_has_a_list_under_each_heading() -> None:
    """Each item in a line of its own, none apart from the others: git puts the items of two branches together."""
    text = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    _, _, *parts = re.split(r"^#+ .+\n", text, flags=re.MULTILINE)  # nothing, what the file is, and by heading
    assert any(parts)
    for part in parts:
        assert re.fullmatch(r"\n((- \S.*[.)]\n)+\n?)?", part), part
    assert not re.search(r"\S- (\*\*|`|[A-Z])", text)
