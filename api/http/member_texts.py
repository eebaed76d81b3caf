"""Puts names and texts of members in answers. Events and projections contain only refs, the ids of these texts."""

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol


class Resolver(Protocol):
    def may_contain_refs(self, body: bytes, /) -> bool:
        """Return whether a body may contain a ref."""

    async def resolve(self, body: bytes, media_type: str, /) -> bytes:
        """Return the body with texts instead of refs."""


class MemberTexts(NamedTuple):
    """The names and texts of members that a caller may read."""

    resolver: Resolver | None = None
    """``None``: refs are not replaced."""
    tag_mark: str = ""
    """Part of an ETag that changes with the names of players; empty: the answer shows no names."""

    async def resolve(self, body: bytes, media_type: str) -> bytes:
        if self.resolver is None or not self.resolver.may_contain_refs(body):
            return body
        return await self.resolver.resolve(body, media_type)

    async def resolve_all(self, pieces: AsyncIterator[bytes], media_type: str) -> AsyncIterator[bytes]:
        """Yield the pieces with texts instead of refs. No ref is split between pieces."""
        async for piece in pieces:
            yield await self.resolve(piece, media_type)

    def mark_tag(self, tag: str) -> str:
        """Return the ETag with :attr:`tag_mark`, unless it has the mark already."""
        if not self.tag_mark or self.tag_mark in tag:
            return tag
        end = '-gzip"' if tag.endswith('-gzip"') else '"'
        return f"{tag.removesuffix(end)}{self.tag_mark}{end}"


NO_TEXTS = MemberTexts()
"""The caller may read no texts, or they are in the body already."""
