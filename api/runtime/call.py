"""The request object that the handlers of the API get."""

from typing import Any

from litestar import Request

from api.access.credentials import Credential, credential_of
from api.http.headers import header, language_of
from api.http.problems import CHALLENGE, Problem
from api.http.writes import expected_by, key_of, opening_key_of
from api.runtime.service import Service
from referee.sentences import Language


class ApiCall(Request[Any, Any, Any]):
    """A request with its headers in the terms of the API. Litestar makes one for each request (``request_class``).

    It does not hold the caller: :class:`~api.access.access.Access` identifies the caller for each match.
    """

    @property
    def service(self) -> Service:
        """The running parts of the app that got this request."""
        service: Service = self.scope["litestar_app"].state["service"]
        return service

    def must_show(self) -> Credential:
        """Return the token or key that came with the request. Raises Problem (401) without one."""
        found = credential_of(self)
        if found is None:
            raise Problem("token_missing", headers=CHALLENGE)
        return found

    @property
    def language(self) -> Language:
        """The language of the sentences in the answer, by Accept-Language."""
        return language_of(header(self, b"accept-language"))

    @property
    def accepted(self) -> str | None:
        """The Accept header; None without it: any media type."""
        return header(self, b"accept")

    @property
    def idempotency_key(self) -> str | None:
        """The Idempotency-Key; None without one. Raises Problem (400) if it is not well-formed."""
        return key_of(self)

    @property
    def secret_idempotency_key(self) -> str | None:
        """The Idempotency-Key of a call that returns secrets; None without one. Raises Problem (400) if it could be
        guessed."""
        return opening_key_of(self)

    @property
    def expected_version(self) -> int | None:
        """The version in If-Match; None without it. Raises Problem (400) if it names no version."""
        return expected_by(self)
