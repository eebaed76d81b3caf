"""Signed notes and checkpoints of C2SP (signed-note, tlog-checkpoint), and Ed25519 keys to sign them."""

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from hashlib import sha256

from referee.log.tree import HASH_BYTES, Hash
from referee.value import Value

ED25519 = b"\x01"
"""Code of the kind of key in a signed note."""
SEED_BYTES = 32
ORIGIN = r"^[!-*,-~]{1,128}$"
"""Pattern for the name of a log: 1 to 128 characters of ASCII without blanks and plus signs."""
PRIVATE = "PRIVATE+KEY+"
PEM = "-----BEGIN "
SIZE_DIGITS_MAX = 18


def base64(data: bytes) -> str:
    return b64encode(data).decode()


def bytes_of(text: str) -> bytes:
    """Return the bytes of a text that :func:`base64` wrote. Raises ``ValueError`` for any other text."""
    try:
        data = b64decode(text, validate=True)
    except NotBase64 as error:
        raise ValueError(f"the text is no base64: {error}") from None
    if base64(data) != text:
        raise ValueError("the base64 is not in its canonical form")
    return data


class Checkpoint(Value):
    """A checkpoint without signatures."""

    origin: str
    size: int
    root: Hash

    @property
    def text(self) -> str:
        """The three lines that are signed."""
        return f"{self.origin}\n{self.size}\n{base64(self.root)}\n"


class LastRow(Value):
    """The last row of a match or club when the log had ``size`` rows.

    A later row of the match or club with a leaf index below ``size`` contradicts this.
    """

    origin: str
    aggregate: str
    number: int
    leaf: Hash
    size: int

    @property
    def text(self) -> str:
        """The six lines that are signed. The second line distinguishes them from a checkpoint."""
        return f"{self.origin}\nlast row\n{self.aggregate}\n{self.number}\n{base64(self.leaf)}\n{self.size}\n"


def checkpoint_in(note: str) -> Checkpoint:
    """Return the checkpoint in a note. Raises ``ValueError`` if it has none. Signatures are not verified."""
    lines = note.partition("\n\n")[0].split("\n")
    if len(lines) < 3 or not re.fullmatch(ORIGIN, lines[0]):
        raise ValueError("a checkpoint begins with origin, size and root, a line each")
    if not re.fullmatch(rf"0|[1-9][0-9]{{0,{SIZE_DIGITS_MAX - 1}}}", lines[1]):
        raise ValueError("the second line of a checkpoint is a size")
    root = bytes_of(lines[2])
    if len(root) != HASH_BYTES:
        raise ValueError(f"the root of a checkpoint has {HASH_BYTES} bytes")
    return Checkpoint(origin=lines[0], size=int(lines[1]), root=root)


class SigningKey:
    """A private key that signs for a log. Only :attr:`private_text` shows it."""

    def __init__(self, name: str, seed: bytes) -> None:
        """Raise ``ValueError`` for an unusable name, or a seed of the wrong length."""
        # Imported here, because the library takes 7 MB and most services sign nothing.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if not re.fullmatch(ORIGIN, name):
            raise ValueError("the name of a log has no blanks and no plus, and at most 128 characters of ASCII")
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a key has {SEED_BYTES} bytes")
        self.name = name
        self._seed, self._private = seed, Ed25519PrivateKey.from_private_bytes(seed)
        self._public = ED25519 + self._private.public_key().public_bytes_raw()
        self._id = sha256(f"{name}\n".encode() + self._public).digest()[:4]

    @property
    def vkey(self) -> str:
        """The public key as text."""
        return f"{self.name}+{self._id.hex()}+{base64(self._public)}"

    @property
    def private_text(self) -> str:
        return f"{PRIVATE}{self.name}+{self._id.hex()}+{base64(ED25519 + self._seed)}"

    def signature_line(self, text: str) -> str:
        return f"— {self.name} {base64(self._id + self._private.sign(text.encode()))}\n"


def signed_note(statement: Checkpoint | LastRow, keys: Sequence[SigningKey]) -> str:
    return statement.text + "\n" + "".join([key.signature_line(statement.text) for key in keys])


def key_of(text: str, origin: str) -> SigningKey:
    """Return the private key in a text. ``origin``: the name of the log; empty: the name in the key.

    The text is a key of signed notes (``PRIVATE+KEY+…``) or PEM (PKCS #8), which has no name. Raises ``ValueError``,
    which never reveals the key, if the text is neither, or the name is wrong or missing.
    """
    text = text.strip()
    if text.startswith(PEM):
        return _key_of_pem(text, origin)
    if not text.startswith(PRIVATE):
        raise ValueError("a key begins with PRIVATE+KEY+ or is PEM; `knacka log key` makes one")
    name, *rest = text.removeprefix(PRIVATE).split("+", 2)
    if len(rest) != 2:
        raise ValueError("a key has a name, eight digits and base64 after PRIVATE+KEY+, separated by plus signs")
    if origin and name != origin:
        raise ValueError(f"the key is that of {name}, and the log is {origin}")
    data = bytes_of(rest[1])
    if data[:1] != ED25519:
        raise ValueError("the key is not one for Ed25519")
    key = SigningKey(name, data[1:])
    if key.vkey.split("+")[1] != rest[0]:
        raise ValueError("the digits of the key do not match its name and its bytes")
    return key


def _key_of_pem(text: str, origin: str) -> SigningKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if not origin:
        raise ValueError("a key in PEM has no name: set the origin of the log")
    try:
        private = load_pem_private_key(text.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError("the PEM holds no private key that can be read without a password") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise ValueError("the key is not one for Ed25519")
    return SigningKey(origin, private.private_bytes_raw())
