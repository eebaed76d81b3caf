"""Generate clients from ``openapi/openapi.json`` and play with each: ``make clients``.

Each generator has its default options. Fails if a generator warns, omits an operation, or generates code that does
not compile, and if a player gets an answer that does not fit its types. A client is made again only after a change of
the description or of its other sources. The repository contains no generated code.
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

from tests.clients import guides
from tests.support import guide_bots
from tests.support.paths import ROOT
from tests.support.running_service import running

HERE = Path(__file__).parent
BUILD = HERE / "build"
VENV = BUILD / "venv" / "bin"
NODE = HERE / "node_modules" / ".bin"
MAKERS = (HERE / "package-lock.json", ROOT / "requirements-clients.lock", HERE / "__main__.py", HERE / "guides.py")
"""Files that all clients are made with."""
DESCRIPTION = ROOT / "openapi" / "openapi.json"
GUIDES = ROOT / "openapi" / "guides"
BOT = GUIDES / "bot.ts"
GO = {
    "GOCACHE": str(BUILD / "go-cache"),
    "GOFLAGS": "-mod=vendor -trimpath",
    "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
}
"""Environment of the Go command, which downloads nothing."""
JAVA = ("-Werror", "-proc:none")
"""Options of the Java compiler. The generator's jar contains annotation processors, which nothing here needs."""
MODULES = "# gopkg.in/validator.v2 v2.0.1\n## explicit; go 1.23\ngopkg.in/validator.v2\n"

KNOWN = (
    "OpenAPI 3.1 support is still in beta",
    "Failed to get the schema name: null",  # a schema without a name is no error
    "Ignoring complex example on request body",
    "(reserved word) cannot be used as model name",  # Java renames the models Case and Void
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


def guide_of(name: str) -> Path:
    """Return the guide of a language."""
    return GUIDES / f"client-{name}.md"


def follow_guide(name: str, out: Path, address: str) -> str:
    """Run the commands of a guide that generate a client, as written. Return what they print."""
    path = {"PATH": os.pathsep.join((str(VENV), str(NODE), os.environ["PATH"]))}
    text = guide_of(name).read_text("utf-8")
    return "".join(run(*command, env=path, cwd=out) for command in guides.commands(text, address))


def make_python(out: Path, address: str) -> None:
    """Generate with openapi-python-client, and check the player with mypy."""
    said = follow_guide("python", out, address)
    if lines := [line for line in said.splitlines() if re.search("WARN|Cannot|Unable", line)]:
        raise Failed("\n".join(lines))
    expect_all("openapi-python-client", {file.stem for file in out.glob("knacka_client/api/*/*.py")})
    checked = ("--strict", "--follow-imports=silent", "--cache-dir", BUILD / "mypy", "python/play.py")
    run(VENV / "mypy", *checked, env={"MYPYPATH": str(out)})


def make_typescript(out: Path, address: str) -> None:
    """Generate with openapi-typescript. The bot of the guides is compiled next to the types that it imports."""
    if "warn" in (said := follow_guide("typescript", out, address)).lower():
        raise Failed(said)
    expect_all("openapi-typescript", found_in(out, "*.d.ts", r'operations\["(\w+)"\]'))
    shutil.copy(BOT, out)
    run(NODE / "tsc", "--project", HERE / "typescript")


def make_orval(out: Path, address: str) -> None:
    """Generate with orval, whose client sends with axios."""
    said = run(NODE / "orval", "--input", f"{address}/openapi.json", "--output", out / "knacka.ts")
    if "warn" in said.lower():
        raise Failed(said)
    expect_all("orval", found_in(out, "*.ts", r"export const (\w+) = \("))
    run(NODE / "tsc", "--project", HERE / "orval")


def make_go(out: Path, address: str) -> None:
    """Generate with openapi-generator for Go; vet and compile the client and the player."""
    expect_quiet(follow_guide("go", out, address))
    module = out / "knacka"
    expect_all("openapi-generator for Go", found_in(module, "api_*.go", r"\) (\w+)Execute\("))
    shutil.copytree(HERE / "go" / "validator.v2", module / "vendor" / "gopkg.in" / "validator.v2")
    (module / "vendor" / "modules.txt").write_text(MODULES, "utf-8")
    shutil.copytree(HERE / "go" / "player", module / "player")
    run(VENV / "go", "vet", ".", "./player", env=GO, cwd=module)
    run(VENV / "go", "build", "-o", out / "player", "./player", env=GO, cwd=module)


def java_path(*folders: Path) -> str:
    """Return the class path of these folders, and of the generator's jar, which contains Jackson."""
    (jar,) = VENV.parent.glob("lib/*/site-packages/openapi_generator_cli/*.jar")
    return os.pathsep.join(map(str, (*folders, jar)))


def compile_java(files: Iterable[Path], classes: Path, *libraries: Path, lint: str = "all") -> None:
    """Compile these files into a folder of classes. Raise :class:`Failed` at a warning."""
    run("javac", f"-Xlint:{lint}", *JAVA, "-cp", java_path(*libraries), "-d", classes, *files)


def make_java(out: Path, address: str) -> None:
    """Generate with openapi-generator for Java; compile the client and the player.

    ``java/library`` has the classes that the generator's jar lacks. The client has warnings of two kinds.
    """
    expect_quiet(follow_guide("java", out, address))
    sources, classes = out / "knacka" / "src" / "main" / "java", out / "classes"
    calls = sources / "org" / "openapitools" / "client" / "api"
    expect_all("openapi-generator for Java", found_in(calls, "*.java", r"(\w+)WithHttpInfo\("))
    compile_java((HERE / "java" / "library").rglob("*.java"), classes)
    compile_java(sources.rglob("*.java"), classes, classes, lint="all,-serial,-deprecation")
    compile_java((HERE / "java" / "player").rglob("*.java"), classes, classes)


def run_python_guide(program: Path) -> str:
    """Return what the program of the guide prints."""
    return run(VENV / "python", program, cwd=program.parent)


def run_typescript_guide(program: Path) -> str:
    """Compile the program of the guide with the strictest settings; return what it prints."""
    run(NODE / "tsc", "--project", HERE / "typescript" / "guide.json")
    return run("node", BUILD / "js" / "build" / "typescript" / "play.js")


def run_go_guide(program: Path) -> str:
    """Return what the program of the guide prints."""
    return run(VENV / "go", "run", "./play", env=GO, cwd=program.parent.parent)


def run_java_guide(program: Path) -> str:
    """Compile the program of the guide with the strictest settings; return what it prints."""
    out = BUILD / "java"
    compile_java([program], out / "guide", out / "classes")
    return run("java", "-cp", java_path(out / "guide", out / "classes"), program.stem)


@dataclass(frozen=True)
class Client:
    """A generator, a player that uses its client, and the guide of the language."""

    name: str
    make: Callable[[Path, str], None]
    sources: Sequence[str]
    """Files beside this one that the client is made from, as globs."""
    command: Sequence[object]
    env: Mapping[str, str] = field(default_factory=dict)
    guide: Callable[[Path], str] | None = None


def clients() -> dict[str, Client]:
    """Return the clients, by the folder in ``build`` in which each is made."""
    return {
        "python": Client(
            "openapi-python-client",
            make_python,
            ("python/*",),
            (VENV / "python", "python/play.py"),
            {"PYTHONPATH": str(BUILD / "python")},
            run_python_guide,
        ),
        "typescript": Client(
            "openapi-typescript and openapi-fetch",
            make_typescript,
            ("*.ts", "tsconfig.json", "typescript/*", "../../openapi/guides/bot.ts"),
            ("node", BUILD / "js" / "typescript" / "play.js"),
            guide=run_typescript_guide,
        ),
        "orval": Client(
            "orval",
            make_orval,
            ("*.ts", "tsconfig.json", "orval/*"),
            ("node", BUILD / "js" / "orval" / "play.js"),
        ),
        "go": Client(
            "openapi-generator for Go", make_go, ("go/**/*",), (BUILD / "go" / "player",), guide=run_go_guide
        ),
        "java": Client(
            "openapi-generator for Java",
            make_java,
            ("java/**/*",),
            ("java", "-cp", java_path(BUILD / "java" / "classes"), "Deal"),
            guide=run_java_guide,
        ),
    }


def digest_of(name: str, client: Client) -> str:
    """Return the digest of everything that a client is made from."""
    files = {file.resolve() for pattern in client.sources for file in HERE.glob(pattern) if file.is_file()}
    commands = guides.commands(guide_of(name).read_text("utf-8"), "") if client.guide else []
    digest = hashlib.sha256(repr(commands).encode())
    for file in (DESCRIPTION, *MAKERS, *sorted(files)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def made(name: str, client: Client, address: str) -> bool:
    """Generate and compile a client, unless this was done from the same files. Return whether it was done now."""
    out, digest = BUILD / name, digest_of(name, client)
    done = out / ".made"
    if done.exists() and done.read_text("utf-8") == digest:
        return False
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    client.make(out, address)
    done.write_text(digest, "utf-8")
    return True


def play_guide(name: str, client: Client, address: str) -> None:
    """Run the program of a guide, which ends with a problem. Raise :class:`Failed` if it does not."""
    if client.guide is None:
        return
    guide = guide_of(name)
    said = client.guide(guides.write_program(guide.read_text("utf-8"), address, BUILD / name))
    if not re.fullmatch(r"4\d\d /problems/[a-z-]+\n", said):
        raise Failed(f"{guide.name} printed {said}")
    print(f"  {guide.name}: a deal, and {said}", end="", flush=True)


def play_bots(address: str) -> None:
    """Let the bot of the guides in TypeScript play. Raise :class:`Failed` if it does not."""
    bot = ("node", BUILD / "js/build/typescript/bot.js")
    if not guide_bots.goes_on(address, bot):
        raise Failed(f"{BOT.name} of the guides does not continue when its connection breaks")
    if (result := guide_bots.play(address, bot)) != guide_bots.ENDED:
        raise Failed(f"{BOT.name} of the guides: exit codes {result[0]}, and the match is in {result[1]}")
    print(f"{BOT.name} of the guides:\n  {guide_bots.OPENING['ruleset']}: two bots played to the end")


def main(*chosen: str) -> int:
    """Make these clients, or all, and let each play. Return the exit code."""
    try:
        with TemporaryDirectory(prefix="knacka-") as folder, running(f"sqlite:///{folder}/knacka.db") as service:
            for name, client in clients().items():
                if chosen and name not in chosen:
                    continue
                began = time.monotonic()
                how = "made" if made(name, client, service.address) else "made before"
                print(f"{client.name} ({how}, {time.monotonic() - began:.0f} s):", flush=True)
                print(run(*client.command, service.address, env=client.env), end="", flush=True)
                play_guide(name, client, service.address)
            if not chosen or "typescript" in chosen:
                play_bots(service.address)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
