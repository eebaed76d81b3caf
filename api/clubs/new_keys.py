"""Keys of clubs are made here, from chance or from what an Idempotency-Key stands for."""

import secrets
from typing import NamedTuple
from uuid import UUID

import msgspec

from api.access.idempotent_secrets import Derived
from api.access.keys import written
from api.access.tokens import hash_of
from api.clubs.schemas import KeyGiven
from api.http.threads import in_thread
from api.runtime.service import Service
from referee.clubs.facts import KeyId
from referee.clubs.state import Key

FIRST_KEY: KeyId = "k1"
"""The founder's."""
SECRET_BYTES = 32


class Made(NamedTuple):
    """A key, and what is kept of it."""

    secret: str
    hash: str

    def given(self, key_id: KeyId, key: Key) -> KeyGiven:
        """As it is told to whoever had it made."""
        return KeyGiven(id=key_id, secret=self.secret, scopes=key.scopes, expires_at=key.expires_at)


def make(club: UUID, key_id: KeyId, random: bytes | None) -> Made:
    """A key; ``random``: what its secret is made of, where it is not just drawn."""
    text = written(club, key_id, random)
    return Made(text, hash_of(text))


async def derived_by(service: Service, key: str, asked: msgspec.Struct, *what_for: str) -> Derived:
    """What an Idempotency-Key stands for with this body, here and in every process over the store."""
    secret = await in_thread(lambda: service.referee.secret)
    return Derived(secret, key, msgspec.json.encode(asked, order="deterministic"), " ".join(what_for))


def drawn() -> bytes:
    """Where nothing has to be the same again."""
    return secrets.token_bytes(SECRET_BYTES)
