"""A port of this machine where nobody listens yet, for a server that this machine alone reaches."""

import socket

from peerlab.base.errors import PeerlabError

LOOPBACK = "127.0.0.1"


def free_port(first: int | str) -> int:
    """Return the first port from `first` on that this machine's loopback has free, of fifty.

    Raises
    ------
    PeerlabError
        If it is no port, or all fifty are taken.
    """
    if not isinstance(first, int) or not 1 <= first <= 65535:
        raise PeerlabError(f"port: {first!r} is not a whole number from 1 to 65535")
    last = min(first + 49, 65535)
    for port in range(first, last + 1):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise PeerlabError(f"port: none from {first} to {last} is free for you; give another with --port")
