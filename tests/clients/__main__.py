"""Generate clients from ``openapi/openapi.json`` and play with each: ``make clients``.

Each generator has its default options. Fails if a generator warns, omits an operation, or generates code that does not
compile, and if a player gets an answer that does not fit its types. What was made is used again while the description
and the files that it is made with are the same. The repository contains no generated code.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import bots
from tests.api.serving import ROOT, running

HERE = Path(__file__).parent
BUILD = HERE / "build"
VENV = BUILD / "venv" / "bin"
NODE = HERE / "node_modules" / ".bin"
LOCKS = (HERE / "package-lock.json", ROOT / "requirements-clients.lock", HERE / "__main__.py")
DESCRIPTION = ROOT / "openapi" / "openapi.json"
GUIDES = ROOT / "openapi" / "guides"
BOT = GUIDES / "bot.ts"
GO = {
    "GOCACHE": str(BUILD / "go-cache"),
    "GOFLAGS": "-mod=vendor",
    "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
}
"""Environment of the Go command, which downloads nothing."""
MODULES = "# gopkg.in/validator.v2 v2.0.1\n## explicit; go 1.23\ngopkg.in/validator.v2\n"

KNOWN = (
    "OpenAPI 3.1 support is still in beta",
    "Failed to get the schema name: null",  # a schema without a name is no error
    "reserved word",  # renamed: `case` is a word of Go and of Java
    "Ignoring complex example on request body",
)
"""Warnings of openapi-generator that say nothing about the description."""


class Failed(Exception):
    """A client could not be generated or did not play; the message says why."""


def run(*command: object, env: Mapping[str, str] | None = None, cwd: Path = HERE) -> str:
    """Run a command; return its output. Raise :class:`Failed` with the output if it fails."""
    words = list(map(str, command))
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise Failed(f"{' '.join(words)[:2000]}\n{done.stdout}")
    return done.stdout


def operations() -> set[str]:
    """Return the ids of all operations of the description."""
    paths = json.loads(DESCRIPTION.read_text(encoding="utf-8"))["paths"]
    return {operation["operationId"] for calls in paths.values() for operation in calls.values()}


def expect_all(generator: str, found: Iterable[str]) -> None:
    """Raise :class:`Failed` if the generator omitted an operation. It may write the ids in its own case."""
    plain = {re.sub("[^a-z]", "", name.lower()) for name in found}
    if lost := sorted(name for name in operations() if name.replace("_", "") not in plain):
        raise Failed(f"{generator} omitted {', '.join(lost)}")


def expect_quiet(said: str) -> None:
    """Raise :class:`Failed` if openapi-generator gave a warning that is not known."""
    lines = [line for line in said.splitlines() if re.search("WARN|ERROR", line)]
    if worse := [line for line in lines if not any(one in line for one in KNOWN)]:
        raise Failed("\n".join(worse))


def found_in(folder: Path, files: str, pattern: str) -> list[str]:
    """Return what the group of the pattern matches in these files of a folder."""
    return re.findall(pattern, "".join(file.read_text("utf-8") for file in sorted(folder.glob(files))))


def openapi_generator(out: Path, *options: object) -> None:
    """Generate with openapi-generator, which must not warn."""
    expect_quiet(run(VENV / "openapi-generator-cli", "generate", "-i", DESCRIPTION, "-o", out, *options))


def make_python(out: Path) -> None:
    """Generate with openapi-python-client, and check the player with mypy."""
    path = {"PATH": f"{VENV}{os.pathsep}{os.environ['PATH']}"}  # the generator formats with the ruff on its PATH
    package = out / "knacka_client"
    config = ("--config", HERE / "openapi-python-client.yaml")
    options = ("--output-path", package, "--meta", "none", "--fail-on-warning", *config)
    run(VENV / "openapi-python-client", "generate", "--path", DESCRIPTION, *options, env=path)
    expect_all("openapi-python-client", {file.stem for file in package.glob("api/*/*.py")})
    checked = ("--strict", "--follow-imports=silent", "--cache-dir", BUILD / "mypy", "python/play.py")
    run(VENV / "mypy", *checked, env={"MYPYPATH": str(out)})


def make_types(out: Path) -> None:
    """Generate with openapi-typescript. The bot of the guides is compiled next to the types that it imports."""
    types = out / "knacka.d.ts"
    if "warn" in (said := run(NODE / "openapi-typescript", DESCRIPTION, "--output", types)).lower():
        raise Failed(said)
    expect_all("openapi-typescript", found_in(out, "*.d.ts", r'operations\["(\w+)"\]'))
    shutil.copy(BOT, out)
    compile_typescript("typescript")


def make_orval(out: Path) -> None:
    """Generate with orval, whose client sends with axios."""
    said = run(NODE / "orval", "--input", DESCRIPTION, "--output", out / "knacka.ts")
    if "warn" in said.lower():
        raise Failed(said)
    expect_all("orval", found_in(out, "*.ts", r"export const (\w+) = \("))
    compile_typescript("orval")


def compile_typescript(name: str) -> None:
    """Compile the player of this name, and what it imports."""
    run(NODE / "tsc", "--project", HERE / name)


def make_go(out: Path) -> None:
    """Generate with openapi-generator for Go; vet and compile the client and the player."""
    openapi_generator(out, "-g", "go")
    expect_all("openapi-generator for Go", found_in(out, "api_*.go", r"\) (\w+)Execute\("))
    library = out / "vendor" / "gopkg.in" / "validator.v2"
    shutil.copytree(HERE / "go" / "validator.v2", library)
    (out / "vendor" / "modules.txt").write_text(MODULES, "utf-8")
    shutil.copytree(HERE / "go" / "play", out / "play")
    run(VENV / "go", "vet", ".", "./play", env=GO, cwd=out)
    run(VENV / "go", "build", "-o", out / "player", "./play", env=GO, cwd=out)


def jar() -> Path:
    """Return the jar of openapi-generator. It contains the Jackson and JSR 305 that its Java clients need."""
    (found,) = VENV.parent.glob("lib/python*/site-packages/openapi_generator_cli/openapi-generator.jar")
    return found


def make_java(out: Path) -> None:
    """Generate with openapi-generator for Java's own HTTP client. The player compiles without a warning."""
    openapi_generator(out, "-g", "java", "--library", "native")
    sources = out / "src" / "main" / "java"
    expect_all("openapi-generator for Java", found_in(sources, "**/api/*.java", r"public \S+ (\w+)\("))
    listed = out / "sources"
    stand_ins = [file for file in (HERE / "java").rglob("*.java") if file.parent.name != "java"]
    listed.write_text("\n".join(map(str, [*sources.rglob("*.java"), *stand_ins])), "utf-8")
    run("javac", "-nowarn", "-proc:none", "-d", out / "classes", "-cp", jar(), f"@{listed}")
    path = f"{out / 'classes'}{os.pathsep}{jar()}"
    strict = ("-Xlint:all", "-Werror", "-proc:none")
    run("javac", *strict, "-d", out / "classes", "-cp", path, HERE / "java" / "Play.java")


@dataclass(frozen=True)
class Client:
    """A generator, and a player that uses its client."""

    name: str
    make: Callable[[Path], None]
    sources: Sequence[str]
    """Files beside this one that the client is compiled with, as a glob."""
    command: Sequence[object]
    env: Mapping[str, str] = field(default_factory=dict)


def clients() -> dict[str, Client]:
    """Return the clients, by the folder in ``build`` in which each is made."""
    java = f"{BUILD / 'java' / 'classes'}{os.pathsep}{jar()}"
    return {
        "python": Client(
            "openapi-python-client",
            make_python,
            ("python/*",),
            (VENV / "python", "python/play.py"),
            {"PYTHONPATH": str(BUILD / "python")},
        ),
        "typescript": Client(
            "openapi-typescript and openapi-fetch",
            make_types,
            ("*.ts", "tsconfig.json", "typescript/*", "../../openapi/guides/bot.ts"),
            ("node", BUILD / "js/typescript/play.js"),
        ),
        "orval": Client(
            "orval", make_orval, ("*.ts", "tsconfig.json", "orval/*"), ("node", BUILD / "js/orval/play.js")
        ),
        "go": Client("openapi-generator for Go", make_go, ("go/**/*",), (BUILD / "go" / "player",)),
        "java": Client("openapi-generator for Java", make_java, ("java/**/*",), ("java", "-cp", java, "Play")),
    }


def digest_of(client: Client) -> str:
    """Return the digest of everything that a client is made from."""
    files = {file.resolve() for pattern in client.sources for file in HERE.glob(pattern) if file.is_file()}
    digest = hashlib.sha256()
    for file in (DESCRIPTION, *LOCKS, *sorted(files)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def made(name: str, client: Client) -> bool:
    """Generate and compile a client, unless this was done from the same files. Return whether it was done now."""
    out, digest = BUILD / name, digest_of(client)
    done = out / ".made"
    if done.exists() and done.read_text("utf-8") == digest:
        return False
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    client.make(out)
    done.write_text(digest, "utf-8")
    return True


def play_bots(address: str) -> None:
    """Let the bot of the guides in TypeScript play. Raise :class:`Failed` if it does not."""
    bot = ("node", BUILD / "js/build/typescript/bot.js")
    if not bots.goes_on(address, bot):
        raise Failed(f"{BOT.name} of the guides does not continue when its connection breaks")
    if (result := bots.play(address, bot)) != bots.ENDED:
        raise Failed(f"{BOT.name} of the guides: exit codes {result[0]}, and the match is in {result[1]}")
    print(f"{BOT.name} of the guides:\n  {bots.OPENING['ruleset']}: two bots played to the end")


def main(*chosen: str) -> int:
    """Make these clients, or all, and let each play. Return the exit code."""
    try:
        with TemporaryDirectory(prefix="knacka-") as folder, running(f"sqlite:///{folder}/knacka.db") as service:
            for name, client in clients().items():
                if chosen and name not in chosen:
                    continue
                began = time.monotonic()
                how = "made" if made(name, client) else "made before"
                print(f"{client.name} ({how}, {time.monotonic() - began:.0f} s):", flush=True)
                print(run(*client.command, service.address, env=client.env), end="", flush=True)
            if not chosen or "typescript" in chosen:
                play_bots(service.address)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
