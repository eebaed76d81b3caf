"""Free ports for the services of the demo and of tests."""

import secrets
import socket

PORTS = range(10_240, 32_768)
"""Ports below those that Linux gives to outgoing connections, and to servers that name no port.

From a port above them, a client that waits for its service could connect to itself, and keep the port.
"""


def free_port() -> int:
    """Return a port that is not in use, and that the system gives to no other process before the caller uses it."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
