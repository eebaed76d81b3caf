"""The text form of clubs' keys: ``knk_<club><key>_<secret><checksum>``."""

from api.access.secret_form import Named, SecretForm

KEYS = SecretForm("knk_", "k", random_bytes=32)
BEGINS, PATTERN, LENGTH_MAX = KEYS.prefix, KEYS.pattern, KEYS.length_max
make_key_text, parse_key = KEYS.make_text, KEYS.parse

__all__ = ["BEGINS", "KEYS", "LENGTH_MAX", "PATTERN", "Named", "make_key_text", "parse_key"]
