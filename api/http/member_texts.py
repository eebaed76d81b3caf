"""The names and texts of members in answers. Events and books hold only their refs."""

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol


class Resolver(Protocol):
    """Knows the texts behind refs, for a caller who may read them."""

    def may_be_in(self, body: bytes, /) -> bool:
        """Return whether a body has bytes that look like a ref."""

    async def put_in(self, body: bytes, media_type: str, /) -> bytes:
        """Return the body with texts instead of refs."""


class MemberTexts(NamedTuple):
    """The names and texts of members that a caller may read in an answer.

    Every reply with a body takes this value, so that no call can forget it: :data:`NO_TEXTS` says that the caller
    may read none of them, or that they are in the body already.
    """

    resolver: Resolver | None = None
    """Replaces refs by texts; None: the refs stay."""
    tag_mark: str = ""
    """The part of an ETag that changes with the names of players; empty: the answer shows none."""

    async def put_in(self, body: bytes, media_type: str) -> bytes:
        """Return the body with the texts that the caller may read."""
        if self.resolver is None or not self.resolver.may_be_in(body):
            return body
        return await self.resolver.put_in(body, media_type)

    async def put_in_all(self, pieces: AsyncIterator[bytes], media_type: str) -> AsyncIterator[bytes]:
        """Yield the pieces of an answer with the texts that the caller may read. No ref is split between pieces."""
        async for piece in pieces:
            yield await self.put_in(piece, media_type)

    def tag(self, tag: str) -> str:
        """Return an ETag with the mark of the names in the answer. A marked one is returned as it is."""
        if not self.tag_mark or self.tag_mark in tag:
            return tag
        end = '-gzip"' if tag.endswith('-gzip"') else '"'
        return f"{tag.removesuffix(end)}{self.tag_mark}{end}"


NO_TEXTS = MemberTexts()
"""The value for an answer in which no ref is replaced."""
