"""A minimal HTTP client, so that the clients load the service and not the machine."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Self

import httptools
import msgspec

LOST = (OSError, EOFError, TimeoutError, httptools.HttpParserError)
"""Errors of a client that is not answered. All but the timeout mean the end of the connection."""
READ_BYTES = 65536


class Answer(msgspec.Struct):
    """A complete answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        """The body, decoded from JSON."""
        return msgspec.json.decode(self.body)


class _Reply:
    """Collects the parser's parts of an answer."""

    def __init__(self) -> None:
        self.parser = httptools.HttpResponseParser(self)
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.begun = self.whole = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode().lower()] = value.decode()

    def on_headers_complete(self) -> None:
        self.begun = True

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.whole = True

    @property
    def answer(self) -> Answer:
        return Answer(self.parser.get_status_code(), self.headers, bytes(self.body))


class Client:
    """A connection, opened when needed. Any failure closes it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"", *, seconds: float = 30
    ) -> Answer:
        """Return the answer. Raises one of :data:`LOST`; then the effect of the request is unknown."""
        try:
            async with asyncio.timeout(seconds):
                reader = await self._send(method, path, headers, body)
                reply = _Reply()
                while not reply.whole:
                    reply.parser.feed_data(await _some(reader))
        except BaseException:
            self.close()
            raise
        if reply.headers.get("connection") == "close":
            self.close()
        return reply.answer

    async def stream(self, path: str, headers: Mapping[str, str]) -> AsyncIterator[Answer]:
        """Yield a success as it arrives, with the new part of its body each time; any other answer when it is
        complete.

        Raises one of :data:`LOST`.
        """
        try:
            reader, reply = await self._send("GET", path, headers, b""), _Reply()
            while not reply.whole:
                reply.parser.feed_data(await _some(reader))
                if reply.whole or (reply.begun and reply.parser.get_status_code() == 200):
                    yield reply.answer
                    reply.body.clear()
        finally:
            self.close()

    async def _send(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> asyncio.StreamReader:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        return reader

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection without waiting."""
        if self._streams is not None:
            with suppress(RuntimeError):  # the loop has ended before us
                self._streams[1].transport.abort()
            self._streams = None


async def _some(reader: asyncio.StreamReader) -> bytes:
    data = await reader.read(READ_BYTES)
    if not data:
        raise EOFError("the connection ended")
    return data
