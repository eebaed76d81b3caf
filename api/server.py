"""Starts the HTTP server, and stops it after a signal.

Streams end after a complete message. Earlier requests have :data:`GRACE_SECONDS` to be answered.
The process ends within :data:`END_SECONDS`.
"""

import asyncio
import gc
import logging
import os
import socket
import sys
import threading
import time
from queue import SimpleQueue
from types import FrameType

import uvicorn
from litestar import Litestar

from api.http.protocol import IDLE_SECONDS, Protocol, ServingState
from api.runtime.service import Service

GRACE_SECONDS = 6
"""Seconds to answer the requests received before the signal. Streams end at once."""
LONG_GRACE_SECONDS = 4
"""Seconds from the signal until long work is cancelled, early enough to answer 503."""
END_SECONDS = 9.0
"""Seconds from the signal until the process is killed."""
GC_THRESHOLDS = 50_000, 20, 50
"""Thresholds of the garbage collector: high, because few objects of a request form cycles."""
UNANSWERED = 4
"""Exit code if requests were left unanswered."""

log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.server_state = self._state = ServingState()
        self.unanswered = 0
        self._signalled: SimpleQueue[int] = SimpleQueue()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop at the first signal. Ignore later signals."""
        if not self.should_exit:
            self._signalled.put(sig)
            self._state.stopping = True
            super().handle_exit(sig, frame)
            asyncio.get_running_loop().call_soon_threadsafe(self._begin_to_stop)

    def _begin_to_stop(self) -> None:
        for connection in self.server_state.connections:
            assert isinstance(connection, Protocol)
            connection.begin_to_stop()

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop. If the clock is unusable, answers get no ``Date``."""
        try:
            return await super().on_tick(counter)
        except (OverflowError, ValueError, OSError):
            self.server_state.default_headers = self.config.encoded_headers
            return self.should_exit

    def _watch(self) -> None:
        """Kill the process :data:`END_SECONDS` after the signal. Exit with :data:`UNANSWERED`."""
        self._signalled.get()
        time.sleep(END_SECONDS)
        try:
            unanswered = max(self.unanswered, len(self.server_state.tasks))
            log.critical("killed %g s after the signal, with %d requests unanswered", END_SECONDS, unanswered)
        finally:
            os._exit(UNANSWERED)

    def _count_unanswered(self) -> None:
        self.unanswered = len(self.server_state.tasks)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start serving. The garbage collector ignores existing objects, because they are never freed."""
        # Begin early, because memory may be short later. Signals only reach the main thread.
        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=self._watch, name="end", daemon=True).start()
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Read the requests received before the signal, end the streams, and stop.

        Exits the process with :data:`UNANSWERED` if requests are left unanswered.
        """
        self._state.stopping = True
        self._state.busy.end()
        self._state.refused.end()
        for _ in range(self.config.backlog):  # so that each waiting connection is accepted
            await asyncio.sleep(0)
        assert isinstance(self.config.app, Litestar)
        service: Service | None = self.config.app.state.get("service")
        if service is not None:
            service.hub.close()
            asyncio.get_running_loop().call_later(LONG_GRACE_SECONDS, service.desk.stop_worker)
        # Begun here, so that it runs just before uvicorn cancels the requests.
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._count_unanswered)
        await super().shutdown(sockets)
        if self.unanswered:
            log.critical("ended with %d requests unanswered", self.unanswered)
            sys.exit(UNANSWERED)


def config_of(app: Litestar, host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http=Protocol,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,  # because api.access.addresses reads them
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
