"""Refs of names, numbers and texts in rows."""

import re

import msgspec

from referee.visibility import Recorded

_REF = re.compile(rb"hmac:[0-9a-f]{64}")


def refs_in(recorded: Recorded) -> list[str]:
    """Return the refs in an event and in its request. An Idempotency-Key may look like a ref, and is none."""
    asked = b"" if recorded.request is None else bytes(recorded.request)
    return [ref.decode() for ref in _REF.findall(asked + msgspec.json.encode(recorded.event))]
