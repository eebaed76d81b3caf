"""A network that fails: a proxy on loopback before a server, which can stop passing on what it gets.

``with Proxy(target_of(url)) as proxy``: a store's URL through it is ``proxy.url(url)``. ``target`` is a Unix socket's
path or an address; so it can stand before the service as well.
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

Target = str | tuple[str, int]
CHUNK = 65536


def target_of(url: str) -> Target:
    """Return the address at which the PostgreSQL of a URL listens."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    host = query["host"][0] if "host" in query else parts.hostname or "127.0.0.1"
    port = parts.port or int(query.get("port", ["5432"])[0])
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)


class _Pair:
    """An accepted connection and its continuation, unless it fell into a black hole at once."""

    def __init__(self, client: socket.socket, server: socket.socket | None) -> None:
        self.client, self.server = client, server
        self.lost = server is None
        """True if bytes are missing, so nothing more may pass."""
        self.doomed = False
        """True if the next answer is thrown away."""

    def end(self) -> None:
        """End both sides, also for threads that wait on them."""
        for side in (self.client, self.server):
            if side is not None:
                with suppress(OSError):  # gone already
                    side.shutdown(socket.SHUT_RDWR)
                side.close()


class Proxy:
    """A proxy that passes on all bytes, until its mode changes."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._changed = threading.Condition()
        self._mode = "forward"
        self._doom: bytes | None = None
        self._pairs: set[_Pair] = set()
        self._threads: list[threading.Thread] = []
        self._listener: socket.socket | None = None
        self.address: tuple[str, int] = ("127.0.0.1", 0)
        self.accepted = 0
        """Number of accepted connections."""
        self.dropped = 0
        """Number of pieces thrown away."""
        self.held = 0
        """Number of pieces that wait."""
        self.answers_lost = 0

    def __enter__(self) -> Self:
        self._listen()
        return self

    def __exit__(self, *_: Any) -> None:
        self._set("closed")
        self._deafen()
        self.cut()
        for thread in self._threads:
            thread.join()

    def url(self, url: str) -> str:
        """Return the URL of a PostgreSQL through this proxy."""
        parts = urlsplit(url)
        user = f"{parts.username}:{parts.password}@" if parts.username else ""
        return f"postgresql://{user}{self.address[0]}:{self.address[1]}{unquote(parts.path)}"

    # Modes

    def forward(self) -> None:
        """Pass on all bytes, and those held back. Connections that lost bytes stay silent permanently."""
        self._set("forward")
        if self._listener is None:
            self._listen()

    def hold(self) -> None:
        """Accept connections and bytes, and keep them: a network that stands still."""
        self._set("hold")

    def drop(self) -> None:
        """Accept connections and bytes, and throw them away: a black hole. Neither side learns that the other has
        gone."""
        self._set("drop")

    def cut(self) -> None:
        """End all connections; new ones work as before."""
        with self._changed:
            pairs, self._pairs = self._pairs, set()
            self._changed.notify_all()
        for pair in pairs:
            pair.end()

    def refuse(self) -> None:
        """End all connections and accept none, until :meth:`forward`."""
        self._deafen()
        self.cut()

    def lose_answer(self, to: bytes = b'"prev":') -> None:
        """Let these bytes reach the server at their next occurrence, throw away its answer, and cut the connection.

        The default is a text in all rows of events.
        """
        with self._changed:
            self._doom = to

    # Threads and sockets

    def _set(self, mode: str) -> None:
        with self._changed:
            self._mode = mode
            self._changed.notify_all()

    def _listen(self) -> None:
        self._listener = socket.create_server(self.address)
        self.address = self._listener.getsockname()
        self._begin(self._accept, self._listener)

    def _deafen(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _begin(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.accepted += 1
            with self._changed:
                dropping = self._mode == "drop"
            try:
                pair = _Pair(client, None if dropping else self._connected())
            except OSError:
                client.close()
                continue
            with self._changed:
                self._pairs.add(pair)
            self._begin(self._pump, pair, pair.client, pair.server)
            if pair.server is not None:
                self._begin(self._pump, pair, pair.server, pair.client)

    def _connected(self) -> socket.socket:
        if not isinstance(self._target, str):
            return socket.create_connection(self._target)
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self._target)
        except OSError:
            server.close()
            raise
        return server

    def _pump(self, pair: _Pair, source: socket.socket, sink: socket.socket | None) -> None:
        try:
            while piece := source.recv(CHUNK):
                if self._passes(pair, source, piece) and sink is not None:
                    sink.sendall(piece)
        except OSError:
            pass  # the other thread ended it
        with self._changed:
            # That one side has gone is news as well, and may be held or lost.
            self._changed.wait_for(lambda: self._mode != "hold" or pair not in self._pairs)
            pair.lost |= self._mode == "drop"
            self._changed.wait_for(lambda: not pair.lost or pair not in self._pairs)
            self._pairs.discard(pair)
        pair.end()

    def _passes(self, pair: _Pair, source: socket.socket, piece: bytes) -> bool:
        with self._changed:
            if self._mode == "hold":
                self.held += 1
                self._changed.wait_for(lambda: self._mode != "hold" or pair not in self._pairs)
                self.held -= 1
            pair.lost |= self._mode == "drop"
            if pair.lost:
                self.dropped += 1
                return False
            if source is pair.client and self._doom is not None and self._doom in piece:
                self._doom, pair.doomed = None, True
            if source is pair.server and pair.doomed:
                self.answers_lost += 1
                raise ConnectionAbortedError
        return True
