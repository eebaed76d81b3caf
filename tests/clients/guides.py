"""The guides of the generated clients, run as they are written."""

import re
import shlex
from pathlib import Path

ADDRESS = "http://127.0.0.1:8000"
"""The address of the service in the guides. The running service has a different port."""
LINES_MAX = 40
INSTALL = ("pip install ", "npm install ")
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PROGRAM = re.compile(r"^`([\w/]+\.\w+)`.*?```(?:go|java|python|typescript)\n(.*?)```", re.DOTALL | re.MULTILINE)


def commands(guide: str, address: str) -> list[list[str]]:
    """Return the commands of a guide that generate, each as its words."""
    lines = "".join(SHELL.findall(guide)).replace(ADDRESS, address).splitlines()
    return [shlex.split(line) for line in lines if not line.startswith(INSTALL)]


def packages(guide: str) -> set[str]:
    """Return the names of the packages that a guide installs. The lock files have them."""
    lines = [line for line in "".join(SHELL.findall(guide)).splitlines() if line.startswith(INSTALL)]
    return {name for line in lines for name in line.split()[2:]}


def write_program(guide: str, address: str, folder: Path) -> Path:
    """Write the program of a guide into the folder, under its name in the guide. Return its path."""
    ((name, text),) = PROGRAM.findall(guide)
    place = folder / str(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.replace(ADDRESS, address), "utf-8")
    return place
