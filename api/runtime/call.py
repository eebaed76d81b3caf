"""The request that handlers get."""

import re
from typing import Any

from litestar import Request

from api.access.credentials import Credential, credential_of
from api.http.headers import header, language_of, version_of
from api.http.problems import CHALLENGE, Problem
from api.http.writes import must_not_be_guessable
from api.runtime.service import Service
from referee.sentences import Language

_KEY_PATTERN = re.compile(r"[!-}][!-~]{0,127}")
"""1 to 128 visible ASCII characters. The first is no tilde, because the referee's own keys begin with one."""


class ApiCall(Request[Any, Any, Any]):
    """A request whose properties are decoded headers; None if missing, but ``en`` for ``language``."""

    @property
    def service(self) -> Service:
        service: Service = self.scope["litestar_app"].state["service"]
        return service

    def require_credential(self) -> Credential:
        """Raises Problem (401 token_missing or key_malformed, 400 two_authorizations)."""
        found = credential_of(self)
        if found is None:
            raise Problem("token_missing", headers=CHALLENGE)
        return found

    @property
    def language(self) -> Language:
        return language_of(header(self, b"accept-language"))

    @property
    def accepted(self) -> str | None:
        return header(self, b"accept")

    @property
    def idempotency_key(self) -> str | None:
        """Raises Problem (400 bad_idempotency_key) if it is malformed."""
        key = header(self, b"idempotency-key")
        if key is not None and _KEY_PATTERN.fullmatch(key) is None:
            raise Problem("bad_idempotency_key")
        return key

    @property
    def secret_idempotency_key(self) -> str | None:
        """Key that must not be guessable, because the answer has secrets.

        Raises Problem (400 bad_idempotency_key or short_opening_key).
        """
        key = self.idempotency_key
        must_not_be_guessable(key)
        return key

    @property
    def expected_version(self) -> int | None:
        """The version in If-Match. Raises Problem (400 bad_if_match) if it is no ETag of a match or club."""
        tag = header(self, b"if-match")
        if tag is None:
            return None
        version = version_of(tag)
        if version is None:
            raise Problem("bad_if_match")
        return version
