"""Find the references to names, numbers and texts in events."""

import re

import msgspec

from referee.visibility import Recorded

_REF = re.compile(rb"hmac:[0-9a-f]{64}")


def refs_in(recorded: Recorded) -> list[str]:
    """Return the refs in an event and its request, but not in the Idempotency-Key."""
    request = b"" if recorded.request is None else bytes(recorded.request)
    return [ref.decode() for ref in _REF.findall(request + msgspec.json.encode(recorded.event))]
