"""What is computed after a picture is shown, one thing at a time: the next one gives it up."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from peerlab.app.runs import running_loop

Computation = Callable[[], Coroutine[Any, Any, object]]


class AfterPicture:
    """Computes beside the page that shows a picture; where there is no page, somebody waits for it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[object] | None = None

    def begin(self, computation: Computation, at_once: Computation) -> None:
        """Begin a computation, and give up the one before; without an event loop no page waits, and `at_once` is run in its place."""
        self.cancel()
        if loop := running_loop():
            self._task = loop.create_task(computation())
        else:
            asyncio.run(at_once())

    def cancel(self) -> None:
        """Give up what is being computed."""
        if self._task:
            self._task.cancel()
