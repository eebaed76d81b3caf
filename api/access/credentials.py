"""What is shown with a request: the token of a match, or the key of a club."""

from uuid import UUID

from api.access.clubs import names_in
from api.access.keys import BEGINS, Named
from api.access.tokens import TOKEN_LENGTH, held_by, token_of
from api.http.headers import Req
from referee.value import Value


class Credential(Value):
    """What somebody shows with a request to be let in; of which match or whose it is, nobody has looked yet."""

    held: str
    """What is kept of it: its SHA-256."""
    named: Named | None = None
    """The club and the key that it names; ``None``: it is a token of a match."""

    @property
    def written(self) -> str:
        """It as one text."""
        return self.held if self.named is None else f"{self.held} {self.named.aggregate} {self.named.name}"

    @staticmethod
    def read(text: str) -> "Credential":
        """What was :attr:`written` so."""
        held, *names = text.split(" ")
        return Credential(held=held, named=Named(UUID(names[0]), names[1]) if names else None)


def credential_of(request: Req) -> Credential | None:
    """What came with the request, ``None`` without an Authorization header. 400 for two of them, 401 for what is
    neither a token nor a whole key."""
    token = token_of(request)
    if token is None:
        return None
    held = held_by(request, token)
    if not token.startswith(BEGINS) or len(token) == TOKEN_LENGTH:  # a token may begin so, too
        return Credential(held=held)
    return Credential(held=held, named=names_in(token, held))
