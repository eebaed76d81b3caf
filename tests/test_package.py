"""Installed from nothing but what is packed, the service runs from any folder and is all there."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import httpx
import pytest

from api import VERSION
from tests.api.serving import ROOT, Process

PACKAGES = ("api", "projections", "referee")
PAGES = (
    "/docs",
    "/docs/page.js",
    "/docs/guides/client.md",
    "/docs/guides/bot.ts",
    "/docs/verify.py",
    "/docs/notation.md",
    "/problems",
    "/problems/stale",
    "/v1/rulesets/kalabrias/rules",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Yield an environment with the package installed from a copy of the source.

    Its dependencies are added as a path, so that this environment's own path to the source is not followed.
    """
    source, environment = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed") / "env"
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in (*PACKAGES, "openapi"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages_of(environment).joinpath("dependencies.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile"]
    subprocess.run([*pip, "install", *options, source], env=outside(), check=True)
    return environment


def packages_of(environment: Path) -> Path:
    """Return the folder of an environment's packages."""
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def outside() -> dict[str, str]:
    """Return environment variables without the place of the source."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_nothing_that_is_read_is_left_behind(installed: Path) -> None:
    there = packages_of(installed)
    for name in PACKAGES:
        files = [path for path in (ROOT / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert files
        for file in files:
            assert (there / file.relative_to(ROOT)).read_bytes() == file.read_bytes()


def test_the_command_tells_the_version_of_the_package(installed: Path, tmp_path: Path) -> None:
    command = [installed / "bin" / "knacka", "--version"]
    told = subprocess.run(
        command, cwd=tmp_path, env=outside(), capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout == f"knacka {VERSION}\n"
    assert [path.name for path in packages_of(installed).glob("knacka-*")] == [f"knacka-{VERSION}.dist-info"]


def test_it_serves_from_any_folder(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    process = Process("sqlite:///./own.db", knacka=[str(installed / "bin" / "knacka")], folder=tmp_path)
    try:
        with httpx.Client(base_url=process.address, timeout=60) as client:
            for page in PAGES:
                assert client.get(page).status_code == 200
            described = client.get("/openapi.json")
            assert described.json()["info"]["version"] == VERSION
            assert described.text == (ROOT / "openapi" / "openapi.json").read_text("utf-8")
            players = [{"name": "Anna"}, {"name": "Berit"}]
            assert client.post("/v1/matches", json={"ruleset": "kalabrias", "players": players}).status_code == 201
        assert process.end(signal.SIGTERM, 30) in (0, -signal.SIGTERM)
    finally:
        process.process.kill()
        process.process.wait()
    assert (tmp_path / "own.db").exists()
