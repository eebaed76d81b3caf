"""The external programs that judge our output, if this machine has them: `make test` unpacks some if it can."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

PACKAGES = {"hledger": "hledger", "ledger": "ledger", "zbarimg": "zbar-tools", "soffice": "libreoffice-calc-nogui"}
"""Package of Debian that has each program. LibreOffice must be installed, because it does not run unpacked."""
UNPACKED = Path(__file__).parents[2] / "build" / "programs"
"""Folder into which `make test` unpacks them (unpack_programs.sh)."""


@cache
def missing() -> tuple[str, ...]:
    """Return the programs that this machine lacks."""
    return tuple(program for program in PACKAGES if _path(program) is None)


def told_missing() -> str:
    """Return a line that names the missing programs and how to get them."""
    return f"{', '.join(missing())}: apt-get install {' '.join(PACKAGES[program] for program in missing())}"


def run(program: str, *options: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run a program with ``given`` as its input."""
    path = _path(program)
    if path is None:
        raise FileNotFoundError(told_missing())
    return subprocess.run([path, *options], input=given, capture_output=True, env=_environment(), check=False)


@cache
def _path(program: str) -> str | None:
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), f"{UNPACKED}/usr/bin"]))


@cache
def _environment() -> dict[str, str]:
    """Return our environment, in UTF-8, with the folders of unpacked libraries."""
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
