"""The request that handlers get."""

from typing import Any

from litestar import Request

from api.access.credentials import Credential, credential_of
from api.http.headers import header, language_of
from api.http.problems import CHALLENGE, Problem
from api.http.writes import expected_by, key_of, opening_key_of
from api.runtime.service import Service
from referee.sentences import Language


class ApiCall(Request[Any, Any, Any]):
    """A request with its headers as values of the API; None for a missing header.

    :class:`~api.access.access.Access` identifies the caller.
    """

    @property
    def service(self) -> Service:
        service: Service = self.scope["litestar_app"].state["service"]
        return service

    def must_show(self) -> Credential:
        """Return the token or key of the request. Raises Problem (401) without one."""
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
        """The Idempotency-Key. Raises Problem (400) if it is not well-formed."""
        return key_of(self)

    @property
    def secret_idempotency_key(self) -> str | None:
        """The Idempotency-Key of a call that returns secrets. Raises Problem (400) if it could be guessed."""
        return opening_key_of(self)

    @property
    def expected_version(self) -> int | None:
        """The version in If-Match. Raises Problem (400) if it does not name a version."""
        return expected_by(self)
