"""Paths for the log, without the codes of invitations, which are secrets."""

import re

_CODE = re.compile(r"^(/v1/invitations/)[^/]+")


def logged(path: str) -> str:
    return _CODE.sub(r"\1…", path)
