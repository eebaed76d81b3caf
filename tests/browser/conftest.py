"""Chromium on the reference page of a running service. ``make browser`` installs both and runs these tests."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.support.running_service import Process, running

HERE = Path(__file__).parent
FROM_NPM = 'import chromium from "@sparticuz/chromium"; console.log(await chromium.executablePath())'
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
FLAGS_MORE = ("--disable-component-update", "--disable-sync")
WIDE, NARROW = 1280, 390
expect.set_options(timeout=30_000)  # for a loaded machine

OpenPage = Callable[..., Page]
"""Opens the reference page: its ``width``, its ``scheme`` (light or dark), and the fragment ``at`` of its address."""


@cache
def executable() -> str:
    """Return the path of Chromium: from ``CHROMIUM``, else the system's, else that of the npm package."""
    named = os.environ.get("CHROMIUM")
    found = shutil.which(named or "chromium")
    if found:
        return found
    command = ["node", "--input-type=module", "--eval", FROM_NPM]
    done = None if named else subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done is None or done.returncode:
        raise pytest.UsageError(
            f"Chromium is missing{f' at {named}' if named else ''}: apt-get install chromium, or name it: "
            "make browser CHROMIUM=/path/to/it"
        )
    return done.stdout.strip()


def pytest_configure() -> None:
    """Find Chromium before the first test, so that a missing one is reported only once."""
    executable()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=[*FLAGS, *FLAGS_MORE])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with running(f"sqlite:///{tmp_path_factory.mktemp('service')}/knacka.db") as process:
        yield process


@pytest.fixture(scope="session")
def http(service: Process) -> Iterator[httpx.Client]:
    """Yield an HTTP client of the service."""
    with httpx.Client(base_url=service.address) as client:
        yield client


@pytest.fixture
def open_page(browser: Browser, service: Process) -> Iterator[OpenPage]:
    """Yield a function that opens the page. At the end, fail if a page sent requests to other hosts, broke its
    content security policy, or had an error in its scripts."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def opened(width: int = WIDE, scheme: Literal["light", "dark"] = "light", at: str = "") -> Page:
        context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: wrong.extend([] if _ours(request.url, service.address) else [request.url]))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.extend([] if _fine(said.type, said.text) else [said.text]))
        page.goto(f"{service.address}/docs{at and '#'}{at}")
        page.locator("main h2").first.wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong


def _ours(url: str, address: str) -> bool:
    return urlsplit(url)[:2] == urlsplit(address)[:2]


def _fine(kind: str, text: str) -> bool:
    """Return whether a console message is expected. Chromium logs each problem answer, which the page shows."""
    return kind not in ("error", "warning") or text.startswith("Failed to load resource: the server responded")
