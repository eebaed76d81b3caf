"""The programs that judge what we write, as they are on this machine: `make test` unpacks some where it can."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

PACKAGES = {"hledger": "hledger", "ledger": "ledger", "zbarimg": "zbar-tools", "soffice": "libreoffice-calc-nogui"}
"""The package of Debian that has each. LibreOffice has to be installed, for it does not run where it is unpacked."""
UNPACKED = Path(__file__).parents[1] / "build" / "programs"
"""Where `make test` unpacks them (programs.sh)."""


@cache
def missing() -> tuple[str, ...]:
    """Which of them are not here."""
    return tuple(program for program in PACKAGES if _path(program) is None)


def told_missing() -> str:
    """Which are missing, in a line that says what to do about it."""
    return f"{', '.join(missing())}: apt-get install {' '.join(PACKAGES[program] for program in missing())}"


def run(program: str, *options: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    """Runs one of them, with ``given`` as its input."""
    path = _path(program)
    if path is None:
        raise FileNotFoundError(told_missing())
    return subprocess.run([path, *options], input=given, capture_output=True, env=_environment(), check=False)


@cache
def _path(program: str) -> str | None:
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), f"{UNPACKED}/usr/bin"]))


@cache
def _environment() -> dict[str, str]:
    """Ours, in UTF-8, and where the libraries of unpacked programs lie."""
    found = {**os.environ, "LC_ALL": "C.UTF-8"}
    if libraries := [
        str(path) for path in (*UNPACKED.glob("usr/lib/*-linux-gnu*"), UNPACKED / "usr/lib/ledger") if path.is_dir()
    ]:
        found["LD_LIBRARY_PATH"] = os.pathsep.join(libraries)
    for name, place in (
        ("MAGICK_CONFIGURE_PATH", "etc/ImageMagick-*"),
        ("MAGICK_CODER_MODULE_PATH", "usr/lib/*/ImageMagick-*/modules-*/coders"),
    ):
        if paths := sorted(UNPACKED.glob(place)):
            found[name] = str(paths[-1])
    return found
