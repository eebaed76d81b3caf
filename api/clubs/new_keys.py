"""Makes keys of clubs from random or derived bytes."""

import secrets
from typing import NamedTuple
from uuid import UUID

import msgspec

from api.access.idempotent_secrets import Derived
from api.access.keys import make_key_text
from api.access.tokens import hash_of
from api.clubs.schemas import KeyGiven
from api.http.threads import in_thread
from api.runtime.service import Service
from referee.clubs.facts import KeyId
from referee.clubs.state import Key
from referee.store.club import Club

FIRST_KEY: KeyId = "k1"
"""Id of the founder's key."""
SECRET_BYTES = 32


class NewKey(NamedTuple):
    """The text of a new key, and its SHA-256."""

    secret: str
    hash: str

    def view(self, key_id: KeyId, key: Key) -> KeyGiven:
        return KeyGiven(id=key_id, secret=self.secret, scopes=key.scopes, expires_at=key.expires_at)


def key_in_club(club: Club, key_id: KeyId) -> Key:
    key = club.state.key(key_id)
    assert key is not None, "the key was just made"
    return key


def make_key(club: UUID, key_id: KeyId, random: bytes | None) -> NewKey:
    """Return a key. ``random``: bytes of its secret; ``None``: new ones."""
    text = make_key_text(club, key_id, random)
    return NewKey(text, hash_of(text))


async def derived_secrets(service: Service, key: str, body: msgspec.Struct, *purpose: str) -> Derived:
    """Return ids and secrets, equal in every process. Only the secrets depend on the body."""
    secret = await in_thread(lambda: service.referee.secret)
    return Derived(secret, key, msgspec.json.encode(body, order="deterministic"), " ".join(purpose))


def random_bytes() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)
