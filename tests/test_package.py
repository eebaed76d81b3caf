"""The wheel alone, installed in an environment of its own: the service runs from any folder and is complete."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from api import VERSION
from tests.support.paths import ROOT
from tests.support.running_service import Process

README = (ROOT / "PACKAGE.md").read_text("utf-8")
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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel built from a copy of the source."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "PACKAGE.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in (*PACKAGES, "openapi"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, source], env=outside(), check=True)
    (found,) = folder.iterdir()
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with the wheel, as pipx and uv make one.

    Its dependencies are added as a path, so that this environment's own path to the source is not followed.
    """
    environment = tmp_path_factory.mktemp("installed") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages_of(environment).joinpath("dependencies.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile"]
    subprocess.run([*pip, "install", *options, wheel], env=outside(), check=True)
    return environment


def packages_of(environment: Path) -> Path:
    """Return the folder of an environment's packages."""
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def outside() -> dict[str, str]:
    """Return environment variables without the place of the source."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_the_wheel_has_a_readme_of_its_own(wheel: Path) -> None:
    """A reader of the wheel has neither the source nor make: links lead to other hosts or to the running service."""
    with ZipFile(wheel) as packed:
        names = packed.namelist()
        (name,) = (one for one in names if one.endswith(".dist-info/METADATA"))
        metadata = message_from_string(packed.read(name).decode())
    readme = metadata.get_payload()
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert readme.strip() == README.strip()
    assert not re.search(r"\bmake\b|\.venv|openapi/|deploy/|\bclone\b", readme)
    assert all("://" in link for link in re.findall(r"\]\(([^)]+)\)", readme))
    top = {one.partition("/")[0] for one in names}
    assert {one for one in top if not one.endswith(".dist-info")} == set(PACKAGES)
    assert all(f"`{one}`" in readme for one in PACKAGES)


def test_the_documented_way_is_an_environment_of_its_own() -> None:
    guide = (ROOT / "openapi" / "guides" / "operating.md").read_text("utf-8")
    for text in (README, guide):
        assert re.search(r"^pipx install \S+\.whl", text, re.MULTILINE)
        assert "uv tool install" in text
    for text in (README, guide, (ROOT / "README.md").read_text("utf-8")):
        assert "pip install ." not in text


def test_nothing_that_is_read_is_left_behind(installed: Path) -> None:
    there = packages_of(installed)
    for name in PACKAGES:
        files = [path for path in (ROOT / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert files
        for file in files:
            assert (there / file.relative_to(ROOT)).read_bytes() == file.read_bytes()


def test_the_command_prints_the_version_of_the_package(installed: Path, tmp_path: Path) -> None:
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
            use = re.findall(r"```sh\n(.*?)```", README.partition("## Use")[2], re.DOTALL)[0]
            script = "set -eu\n" + use.replace("localhost:8000", process.address)
            done = subprocess.run(
                ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
            )
            assert '"deal/dealt"' in done.stdout
            for path in re.findall(r"`(/[\w./]+)`", README):
                assert client.get(path).status_code == 200, path
        assert process.end(signal.SIGTERM, 30) in (0, -signal.SIGTERM)
    finally:
        process.process.kill()
        process.process.wait()
    assert (tmp_path / "own.db").exists()
