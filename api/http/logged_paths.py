"""Paths as they are written into the log: without the codes of invitations, which are secrets."""

import re

_CODE = re.compile(r"^(/v1/invitations/)[^/]+")


def logged(path: str) -> str:
    """Return a path without the code of an invitation."""
    return _CODE.sub(r"\1…", path)
