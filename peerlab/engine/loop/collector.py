"""Keeps Python's garbage collector from walking through all that a long run holds, again and again.

The loop makes millions of spans and no cycles. Each full collection visits every one of them: a quarter of a run's time, and up to seconds in
which no other thread of the process gets a turn, such as a kernel's that answers keys.
"""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_running = 0
_YOUNG = 50_000
"""Objects that are made before the young ones are looked at, while a run goes on: every 700, as Python has it, takes a tenth of its time."""
_usual = gc.get_threshold()


@contextmanager
def not_collecting() -> Iterator[Callable[[], None]]:
    """Yield a function that takes what is there by now out of the collector's sight, until the last run of this process is over.

    What somebody else has put out of its sight (`gc.freeze`) stays there: then nothing is done.
    """
    global _running, _usual  # noqa: PLW0603  (the collector is one for a process)
    with _lock:
        ours = _running > 0 or not gc.get_freeze_count()
        if ours and not _running:
            _usual = gc.get_threshold()
            gc.set_threshold(max(_usual[0], _YOUNG) if _usual[0] else 0, *_usual[1:])
        _running += ours
    try:
        yield gc.freeze if ours else _nothing
    finally:
        with _lock:
            _running -= ours
            if ours and not _running:
                gc.unfreeze()
                gc.set_threshold(*_usual)


def _nothing() -> None:
    """Leave the collector as somebody else has set it."""
