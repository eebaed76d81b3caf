"""Generate clients from ``openapi/openapi.json``, and play a match of each ruleset with each: ``make clients``.

Fails if a generator warns, omits an operation, or generates code that does not compile. Fails also if a player gets
an answer that does not fit its types. The guides' bot in TypeScript is compiled and plays, too. The repository
contains no generated code.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support import guide_bots
from tests.support.paths import ROOT
from tests.support.running_service import running

HERE = Path(__file__).parent
BUILD = HERE / "build"
VENV = BUILD / "venv" / "bin"
NODE = HERE / "node_modules" / ".bin"
DESCRIPTION = ROOT / "openapi" / "openapi.json"
BOT = ROOT / "openapi" / "guides" / "bot.ts"
PACKAGE = "knacka_client"

KNOWN = (
    "OpenAPI 3.1 support is still in beta",
    "Failed to get the schema name: null",  # a schema without a name is no error
)
"""Warnings of openapi-generator that it gives for any description of version 3.1."""


class Failed(Exception):
    """A client could not be generated or did not play; the message says why."""


def run(*command: object, env: Mapping[str, str] | None = None) -> str:
    """Run a command; return its output. Raise :class:`Failed` with the output if it fails."""
    words = list(map(str, command))
    done = subprocess.run(
        words,
        cwd=HERE,
        env={**os.environ, **(env or {})},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise Failed(f"{' '.join(words)}\n{done.stdout}")
    return done.stdout


def operations() -> set[str]:
    """Return the ids of all operations of the description."""
    paths = json.loads(DESCRIPTION.read_text(encoding="utf-8"))["paths"]
    return {operation["operationId"] for calls in paths.values() for operation in calls.values()}


def expect_all(generator: str, found: set[str]) -> None:
    """Raise :class:`Failed` if the generator omitted an operation."""
    if lost := sorted(operations() - found):
        raise Failed(f"{generator} omitted {', '.join(lost)}")


def make_python() -> None:
    """Generate with openapi-python-client, and check the player with mypy."""
    path = {"PATH": f"{VENV}{os.pathsep}{os.environ['PATH']}"}  # the generator formats with the ruff on its PATH
    out = BUILD / "python" / PACKAGE
    options = (
        "--output-path",
        out,
        "--meta",
        "none",
        "--fail-on-warning",
        "--config",
        HERE / "openapi-python-client.yaml",
    )
    run(VENV / "openapi-python-client", "generate", "--path", DESCRIPTION, *options, env=path)
    expect_all("openapi-python-client", {file.stem for file in out.glob("api/*/*.py")})
    checked = ("--strict", "--follow-imports=silent", "--cache-dir", BUILD / "mypy", "python/play.py")
    run(VENV / "mypy", *checked, env={"MYPYPATH": str(out.parent)})


def make_types() -> None:
    """Generate with openapi-typescript, and copy the bot of the guides next to the types that it imports."""
    out = BUILD / "typescript" / "knacka.d.ts"
    if "warn" in (said := run(NODE / "openapi-typescript", DESCRIPTION, "--output", out)).lower():
        raise Failed(said)
    expect_all("openapi-typescript", set(re.findall(r'operations\["(\w+)"\]', out.read_text(encoding="utf-8"))))
    shutil.copy(BOT, out.parent)


def make_fetch() -> None:
    """Generate typescript-fetch with openapi-generator."""
    out = BUILD / "fetch"
    options = ("-g", "typescript-fetch", "-o", out, "--additional-properties", "importFileExtension=.js")
    said = run(VENV / "openapi-generator-cli", "generate", "-i", DESCRIPTION, *options).splitlines()
    if worse := [line for line in said if re.search("WARN|ERROR", line) and not any(one in line for one in KNOWN)]:
        raise Failed("\n".join(worse))
    made = set(re.findall(r"async (\w+)Raw\(", "".join(api.read_text() for api in out.glob("apis/*.ts"))))
    expect_all("typescript-fetch", {re.sub("([A-Z])", r"_\1", name).lower() for name in made})


def main() -> int:
    """Return the exit code."""
    for made in ("python", "typescript", "fetch", "js"):
        shutil.rmtree(BUILD / made, ignore_errors=True)
    try:
        for make in (make_python, make_types, make_fetch):
            make()
        run(NODE / "tsc", "--project", HERE)
        players: dict[str, tuple[tuple[object, ...], Mapping[str, str]]] = {
            "openapi-python-client": ((VENV / "python", "python/play.py"), {"PYTHONPATH": str(BUILD / "python")}),
            "openapi-typescript and openapi-fetch": (("node", BUILD / "js/typescript/play.js"), {}),
            "typescript-fetch of openapi-generator": (("node", BUILD / "js/fetch/play.js"), {}),
        }
        with TemporaryDirectory(prefix="knacka-") as folder, running(f"sqlite:///{folder}/knacka.db") as service:
            for name, (command, env) in players.items():
                print(f"{name}:\n{run(*command, service.address, env=env)}", end="", flush=True)
            bot = ("node", BUILD / "js/build/typescript/bot.js")
            if not guide_bots.goes_on(service.address, bot):
                raise Failed(f"{BOT.name} of the guides does not continue when its connection breaks")
            if (result := guide_bots.play(service.address, bot)) != guide_bots.ENDED:
                raise Failed(f"{BOT.name} of the guides: exit codes {result[0]}, and the match is in {result[1]}")
            print(f"{BOT.name} of the guides:\n  {guide_bots.OPENING['ruleset']}: two bots played to the end")
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
