"""Reads the credential of a request: the token of a match, or the key of a club."""

from uuid import UUID

from api.access.clubs import club_and_id_in
from api.access.keys import BEGINS, Named
from api.access.tokens import TOKEN_LENGTH, cached_hash_of, token_of
from api.http.headers import Req
from referee.value import Value


class Credential(Value):
    """A token or key. Only its form has been checked."""

    secret_hash: str
    named: Named | None = None
    """Club and id in a key; ``None``: a token."""

    @property
    def to_text(self) -> str:
        """The credential as text for :meth:`from_text`."""
        return (
            self.secret_hash if self.named is None else f"{self.secret_hash} {self.named.aggregate} {self.named.name}"
        )

    @staticmethod
    def from_text(text: str) -> "Credential":
        secret_hash, *names = text.split(" ")
        return Credential(secret_hash=secret_hash, named=Named(UUID(names[0]), names[1]) if names else None)


def credential_of(request: Req) -> Credential | None:
    """Return the credential of a request; ``None`` without an Authorization header.

    Raises Problem (400 two_authorizations, 401 token_missing or key_malformed).
    """
    token = token_of(request)
    if token is None:
        return None
    secret_hash = cached_hash_of(request, token)
    if not token.startswith(BEGINS) or len(token) == TOKEN_LENGTH:  # because a token may begin with BEGINS by chance
        return Credential(secret_hash=secret_hash)
    return Credential(secret_hash=secret_hash, named=club_and_id_in(token, secret_hash))
