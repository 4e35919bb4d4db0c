"""Lines of JSON between two processes."""

import json
import socket
from typing import Any


class Lines:
    """One end of a connection on which each line is a JSON document."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._reader = end.makefile("rb")

    def fileno(self) -> int:
        """Return the file descriptor, to be waited for."""
        return self._end.fileno()

    def send(self, message: Any) -> None:
        """Send a line."""
        self._end.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> Any:
        """Return the next message.

        Raises
        ------
        EOFError
            If the other end is closed.
        """
        line = self._reader.readline()
        # A line without its end is what somebody was writing when killed.
        if not line.endswith(b"\n"):
            raise EOFError
        return json.loads(line)

    def wait_for_end(self) -> None:
        """Return once the other end is closed, whatever it still says."""
        while self._reader.readline():
            pass
