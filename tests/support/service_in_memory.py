"""The service in memory, without a process or a port."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Thread
from typing import Any, Self, TypeVar

import httpx
import uvloop
from litestar import Litestar

from api.app import create_app
from api.settings import Settings

WAIT_SECONDS = 0.3
"""Seconds a read waits for the requested version: enough for real changes, and short when none comes."""
ORIGIN = "http://testserver.local"
HEADERS = [
    (b"accept", b"*/*"),
    (b"accept-encoding", b"gzip, deflate"),
    (b"connection", b"keep-alive"),
    (b"user-agent", b"testclient"),
    (b"x-request-id", b"the-same-id"),
]
"""Headers of each request, as httpx sends them. All have one request id, because many tests compare whole answers."""

T = TypeVar("T")


class Client:
    """Calls the service, and runs it in a thread from ``__enter__`` to ``__exit__``.

    Takes half the processor time of Litestar's ``TestClient`` for a request. It follows no redirect and keeps no
    cookie. ``test_client_in_memory`` compares the two.
    """

    def __init__(self, app: Litestar) -> None:
        self.app = app

    def __enter__(self) -> Self:
        started = Future[None]()
        self._thread = Thread(target=self._run, args=[started], name="service in memory", daemon=True)
        self._thread.start()
        started.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ends.set)
        self._thread.join()
        self._ended.result()

    def _run(self, started: Future[None]) -> None:
        self._ended = Future[None]()
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._live(started))
        except BaseException as failure:
            (self._ended if started.done() else started).set_exception(failure)
        else:
            self._ended.set_result(None)

    async def _live(self, started: Future[None]) -> None:
        self._loop, self._ends = asyncio.get_running_loop(), asyncio.Event()

        async def receive() -> Any:
            if started.done():
                await self._ends.wait()
                return {"type": "lifespan.shutdown"}
            return {"type": "lifespan.startup"}

        async def send(message: Any) -> None:
            if message["type"] == "lifespan.startup.complete":
                started.set_result(None)

        await self.app({"type": "lifespan"}, receive, send)  # type: ignore[arg-type]

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Any = None,
        json: Any = None,
        content: Any = None,
        headers: Any = None,
    ) -> httpx.Response:
        """Return the answer to a request. Raise what the app raises."""
        given = httpx.Headers(headers)
        usual = [(name, value) for name, value in HEADERS if name.decode() not in given]
        request = httpx.Request(
            method,
            ORIGIN + url.removeprefix(ORIGIN),
            params=params,
            json=json,
            content=content,
            headers=[*usual, *given.raw],
        )
        return self.result_of(self._answer(request))

    def result_of(self, call: Coroutine[Any, Any, T]) -> T:
        """Return the result of a call that runs in the event loop of the service."""
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        parts = [request.read()]
        head, body, complete = list[Any](), list[bytes](), asyncio.Event()

        async def receive() -> Any:
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": False}
            await complete.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                assert not head, "the answer began twice"
                head.append(message)
            else:
                assert head, "the answer has a body before its status"
                assert not complete.is_set(), "the answer goes on after its end"
                body.append(message.get("body", b""))
                if not message.get("more_body"):
                    complete.set()

        await self.app(scope_of(request), receive, send)
        assert complete.is_set(), "the answer does not end"
        content = b"" if request.method == "HEAD" else b"".join(body)
        answer = httpx.Response(
            head[0]["status"], headers=head[0].get("headers", ()), stream=httpx.ByteStream(content), request=request
        )
        answer.read()
        return answer

    def get(self, url: str, **more: Any) -> httpx.Response:
        return self.request("GET", url, **more)

    def head(self, url: str, **more: Any) -> httpx.Response:
        return self.request("HEAD", url, **more)

    def options(self, url: str, **more: Any) -> httpx.Response:
        return self.request("OPTIONS", url, **more)

    def post(self, url: str, **more: Any) -> httpx.Response:
        return self.request("POST", url, **more)

    def put(self, url: str, **more: Any) -> httpx.Response:
        return self.request("PUT", url, **more)

    def patch(self, url: str, **more: Any) -> httpx.Response:
        return self.request("PATCH", url, **more)

    def delete(self, url: str, **more: Any) -> httpx.Response:
        return self.request("DELETE", url, **more)


def scope_of(request: httpx.Request) -> Any:
    """Return the ASGI scope of a request."""
    path, _, query = request.url.raw_path.partition(b"?")
    return {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": path,
        "root_path": "",
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("testclient", 50000),
        "server": (request.url.host, request.url.port or 80),
        "extensions": {},
    }


def client_of(url: str, **settings: Any) -> Client:
    """Return a client of a service over this store."""
    return Client(create_app(Settings(database_url=url, **settings), wait_seconds=WAIT_SECONDS))
