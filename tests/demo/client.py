"""A small client of the REST interface."""

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 10

NONE: Mapping[str, str] = {}
ENGLISH = {"Accept-Language": "en"}
SWEDISH = {"Accept-Language": "sv"}


class Unexpected(Exception):
    """The service did not do what the sheet says."""


def expect(what: str, found: object, wanted: object) -> None:
    """Raise :class:`Unexpected`, which ends the demo, unless the service returned the expected value."""
    if found != wanted:
        raise Unexpected(f"{what}: {found!r}, but it should be {wanted!r}")


class Client:
    """Calls the service at ``url`` over a single connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        kind = {"http": HTTPConnection, "https": HTTPSConnection}.get(parts.scheme)
        if kind is None or parts.hostname is None:
            raise Unexpected(f"{url!r} is not the address of a service, such as http://127.0.0.1:8000")
        self._connection = kind(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
        self._prefix = parts.path.rstrip("/")

    def text(self, path: str, token: str | None = None, headers: Mapping[str, str] = NONE) -> str:
        """Return the text at ``path``."""
        return self._answer("GET", path, None, token, headers, 200)

    def get(self, path: str, token: str | None = None, headers: Mapping[str, str] = NONE, status: int = 200) -> Any:
        """Return the JSON at ``path``."""
        return self._call("GET", path, None, token, headers, status)

    def post(
        self, path: str, body: Any, token: str | None = None, headers: Mapping[str, str] = NONE, status: int = 201
    ) -> Any:
        """Send ``body``, and return the JSON of the answer."""
        return self._call("POST", path, json.dumps(body), token, headers, status)

    def _call(
        self, method: str, path: str, body: str | None, token: str | None, headers: Mapping[str, str], status: int
    ) -> Any:
        return json.loads(self._answer(method, path, body, token, headers, status))

    def _answer(
        self, method: str, path: str, body: str | None, token: str | None, headers: Mapping[str, str], status: int
    ) -> str:
        sent = dict(headers)
        if body is not None:
            sent["Content-Type"] = "application/json"
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        self._connection.request(method, self._prefix + path, body, sent)
        answer = self._connection.getresponse()
        text: str = answer.read().decode()
        if answer.status != status:
            raise Unexpected(f"{method} {path} {body or ''}: {answer.status}, but it should be {status}: {text}")
        return text

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
