"""Long work is never silent: what it will take, as far as anybody knows, and a bar while it lasts."""

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

_AFTER_S = 1.0
"""Work that is over sooner shows nothing."""
_A_LINE_S = 10.0
"""Work that is expected to take longer is announced in a line where no bar can be."""
_REDRAW_S = 0.2
_PACE_S = 2.0
"""After so long the pace of what is done tells how long the rest will take."""

_T = TypeVar("_T")


class ProgressBar:
    """Hears how far some work is, as every `progress` of peerlab does, and draws it on stderr, or in a notebook."""

    def __init__(self, bar: Any, line: str = "") -> None:
        self._bar, self._over, self._line = bar, threading.Event(), line
        self.done, self.total = bar.n, bar.total
        self._before = self.done
        self._begun: tuple[float, int] | None = None
        """When the first piece was done, and how much was done then: what comes first often takes longest."""
        self._drawn_elsewhere = False

    def __call__(self, done: int, total: int | None = None) -> None:
        """Take how much is done, and of how much if that is known."""
        self.done, self.total = done, total if total is not None else self.total
        if self._line:
            self._announce()
        if not self._drawn_elsewhere:
            self._draw()

    def advance(self) -> None:
        """Take that one more is done."""
        self(self.done + 1)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bar away while something is printed."""
        with self._bar.external_write_mode():
            yield

    def draw_by_itself(self) -> None:
        """Draw in a thread: a bar then moves while a single piece of the work takes minutes, and Ctrl+C never meets half a line."""
        # a daemon, so that it keeps nobody's program from ending
        thread = threading.Thread(target=self._draw_until_over, name="peerlab-progress", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # a browser's Python has no threads
            return
        self._drawn_elsewhere = True
        self._thread = thread

    def close(self) -> None:
        """Take the bar away for good."""
        self._over.set()
        if self._drawn_elsewhere:
            self._thread.join()
        self._bar.close()

    def _draw_until_over(self) -> None:
        while not self._over.wait(_REDRAW_S):
            self._draw()

    def _announce(self) -> None:
        """Say once, in a line, how much longer it takes at the pace until now; a bar says so itself."""
        if self.done <= self._before:  # within the first piece
            return
        now = time.monotonic()
        begun_s, first = self._begun = self._begun or (now, self.done)
        spent_s, done = now - begun_s, self.done - first
        if spent_s < _PACE_S or done <= 0 or self.total is None:
            return
        # at the pace since the first piece, which itself often takes longest
        left_s = spent_s * (self.total - self.done) / done
        if left_s >= _A_LINE_S:
            sys.stderr.write(f"peerlab: {self._line}, about {say_seconds(left_s)} more\n")
            self._line = ""

    def _draw(self) -> None:
        self._bar.total = self.total
        self._bar.update(self.done - self._bar.n)


@contextmanager
def progress_bar(
    what: str,
    unit: str,
    total: int | None = None,
    *,
    done: int = 0,
    forecast_s: float | None = None,
    shown: bool = True,
) -> Iterator[ProgressBar]:
    """Show how far some work is: on a terminal or in a notebook a bar once it lasts longer than a second, which is gone when it ends.

    A pipe gets no bar; work that takes longer than ten seconds is announced there in one line: before it begins where `forecast_s` says so,
    else two seconds after the first piece, at the pace since then.

    Parameters
    ----------
    what:
        The work, in a word or two.
    unit:
        What is counted, such as ``row``.
    total:
        How many of them there are, if that is known.
    done:
        How many of them are done already.
    forecast_s:
        How long it will take, in seconds, if that is known: the bar then shows it, and comes at once.
    shown:
        False: nothing is shown.
    """
    in_notebook = _in_notebook()
    on_terminal = sys.stderr is not None and sys.stderr.isatty() and not in_notebook
    expected_s = forecast_s or 0.0
    long = expected_s >= _AFTER_S
    words = f"{what}, about {say_seconds(expected_s)}" if long else what
    in_pipe = shown and sys.stderr is not None and not in_notebook and not on_terminal
    if in_pipe and expected_s >= _A_LINE_S:
        sys.stderr.write(f"peerlab: {words}\n")
    bar = ProgressBar(
        line=what if in_pipe and expected_s < _A_LINE_S else "",
        bar=_tqdm(in_notebook=in_notebook)(
            desc=words,
            unit=unit if in_notebook else f" {unit}",
            total=total,
            initial=done,
            delay=0 if long else _AFTER_S,
            miniters=0,
            mininterval=_REDRAW_S / 2,
            leave=False,
            disable=not (shown and (in_notebook or on_terminal)),
        ),
    )
    if shown and on_terminal:
        bar.draw_by_itself()
    try:
        yield bar
    finally:
        bar.close()


def with_progress(
    pieces: Iterable[_T], what: str, unit: str, total: int | None = None, *, shown: bool = True
) -> Iterator[_T]:
    """Pass on the pieces of some work as they come, and show how many there were."""
    with progress_bar(what, unit, total, shown=shown) as bar:
        for piece in pieces:
            yield piece
            bar.advance()


class _NoBar:
    """Stands for tqdm's bar in a browser tab, which has no tqdm and no terminal: it counts and draws nothing."""

    def __init__(self, *, total: int | None, initial: int, **_: object) -> None:
        self.total, self.n = total, initial

    def update(self, more: int) -> None:
        """Take that so many more are done."""
        self.n += more

    def close(self) -> None:
        """Nothing is drawn that would have to go."""

    def external_write_mode(self) -> AbstractContextManager[None]:
        """Nothing is drawn that would be in the way."""
        return nullcontext()


def say_seconds(seconds: float) -> str:
    """Return a forecast for people; it is no more exact than that.

    >>> say_seconds(0.4), say_seconds(14.2), say_seconds(200), say_seconds(10_000)
    ('1 s', '14 s', '3 min', '3 h')
    """
    if seconds < 99.5:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 99.5 * 60 else f"{round(seconds / 3600)} h"


def _in_notebook() -> bool:
    """Return whether a kernel runs this; a program may have imported one and not be one."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python else None
    return getattr(shell, "kernel", None) is not None


def _tqdm(*, in_notebook: bool) -> Any:
    """Return tqdm's bar for where this runs; that of a notebook brings widgets with it."""
    try:
        if in_notebook:
            from tqdm.auto import tqdm  # noqa: PLC0415
        else:
            from tqdm import tqdm  # type: ignore[assignment]  # noqa: PLC0415
    except ImportError:
        return _NoBar
    return type("Bar", (tqdm,), {"monitor_interval": 0})  # no thread to watch it: a browser's Python has none
