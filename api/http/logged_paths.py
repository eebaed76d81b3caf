"""Writes requests and paths for the log, without the codes of invitations, which are secrets."""

import re
from typing import Any

from api.http.notes import notes_in

_CODE = re.compile(r"^(/v1/invitations/)[^/]+")


def loggable_path(path: str) -> str:
    return _CODE.sub(r"\1…", path)


def loggable_request(scope: Any) -> str:
    return f"{scope['method']} {loggable_path(scope['path'])} {notes_in(scope).ids.in_words()}"
