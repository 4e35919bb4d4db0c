"""A run, or two of them, that sit for their picture: shown in a browser at any moment, without anything to press."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from peerlab.answer.run import Run
from peerlab.base.errors import ExportError, nearest
from peerlab.base.units import PS_PER_US
from peerlab.features.export.page import FIGURES, page_html
from peerlab.page.browser import Browser, browser
from peerlab.page.embedded import RACES, page_of
from peerlab.picture import still
from peerlab.picture.words import title
from peerlab.training.step_run import StepRun

Shown = Run | StepRun | Sequence[Run] | Sequence[StepRun]
"""What a picture is of: a run or a training step, or two beside each other."""
SKETCH = "sketch"
VIEWS = {
    **dict.fromkeys(("page", *FIGURES), (1280, 720)),
    SKETCH: still.SIZE,
    "race": (1120, 640),
    "race-slide": (1280, 720),
}
"""What may be shown, and its size in CSS pixels: the page, one of its figures for the last row, the data path drawn
small, a race and the same as a slide."""
_ONE_STEP = (1280, 512)
"""Size of the page of a training step on one data path."""

_STILL = """
*, ::before, ::after { transition: none !important; } /* what fades would be caught on its way, by how busy the machine is */
.pl-player, .rc-bar, .ts-bar, .ts-controls, .pl-choices, .pl-press, .pl-caption button, .pl-lower header button, .pl-lower header [role=group], .pl-hero button, .pl-card button, .pl-more-lanes button { display: none !important; }
html:not([data-mode="side-by-side"]) .pl-alone .pl-card { min-height: 0; }
html[data-mode="page"] .rc-head { position: static; width: auto; height: auto; clip-path: none; grid-area: bar; }
html[data-mode="page"] .rc-head h1 { font-size: 18px; }
:is(.pl-caption, .ts-more) summary { list-style: none; text-decoration: none; }
.pl-simulated summary, .pl-simulated li:not(:first-child) { display: none; }
.pl-alone .pl-simulated .pl-sources { position: static; display: block; max-height: none; margin: 0; padding: 0; border: none; list-style: none; background: none; }
.ts-bucket { appearance: none; padding: 0; border: 0; background: none; }
h1.pl-hidden { position: static; width: auto; height: auto; clip-path: none; margin: 0; font: 650 20px/1.2 system-ui, sans-serif; }
"""
"""What there is to press is left out of a picture; the title is in it."""
# What is changed is laid out in one frame and painted in the next; then running scripts have their turn.
_SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true)))))"


class Sitting:
    """A browser that shows runs."""

    def __init__(self, window: Browser, runs: Sequence[Run | StepRun], view: str, theme: str) -> None:
        self.window, self.runs, self.view, self.theme = window, runs, view, theme

    def show(self, moment_ps: int) -> None:
        """Show a moment, picoseconds from the start; return when it is painted."""
        first = self.runs[0]
        if self.view == SKETCH and isinstance(first, Run):
            svg = still.still_svg(first, moment_ps=moment_ps, theme=self.theme)
            self.window.evaluate(f"void (document.body.innerHTML = {json.dumps(svg)})")
        else:
            # One rank exchanges nothing: its run has no length.
            share = moment_ps / (length_ps(self.runs) or 1)
            self.window.evaluate(f"(p => p.seek({share!r} * p.length))([...window.peerlabPages][0].player)")
        self.window.evaluate(_SETTLED)

    def film(self, seconds: float) -> None:
        """Show what moves as one sees it who watches a run for so long; else each slice is where it is at a moment."""
        if self.view in RACES:
            speed = length_ps(self.runs) / PS_PER_US / seconds
            self.window.evaluate(f"void ([...window.peerlabPages][0].film = {speed!r})")

    def png(self, moment_ps: int) -> bytes:
        """Return a moment as PNG."""
        self.show(moment_ps)
        return self.window.png()

    def pdf(self, moment_ps: int) -> bytes:
        """Return a moment as a PDF of one page."""
        self.show(moment_ps)
        return self.window.pdf(*_size(self.runs, self.view))


def filmed(page: str, count: int, seconds: float) -> Iterator[bytes]:
    """Yield `count` frames of a page that plays by itself as PNG, evenly spread over all that it plays, as one sees it who watches that for so long."""
    with browser(*VIEWS["page"]) as window, tempfile.TemporaryDirectory(prefix="peerlab-") as folder:
        file = Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        window.go(file)
        window.wait_for("document.documentElement.dataset.ready === 'yes'")
        _undress(window)
        window.evaluate(
            f"void (page => (page.film = page.player.length / {seconds!r}))([...window.peerlabPages][0])"
        )
        for number in range(count):
            window.evaluate(
                f"(player => player.seek({number / count!r} * player.length))([...window.peerlabPages][0].player)"
            )
            window.evaluate(_SETTLED)
            yield window.png()


def _undress(window: Browser) -> None:
    """Leave out of a picture what there is to press."""
    style = f"Object.assign(document.createElement('style'), {{ textContent: {json.dumps(_STILL)} }})"
    window.evaluate(f"document.head.append({style})")
    # Nobody can press a picture: what was simulated stands there.
    window.evaluate("document.querySelectorAll('.pl-simulated').forEach(one => (one.open = true))")
    window.evaluate("void dispatchEvent(new Event('resize'))")  # what fills a window has more room now
    window.evaluate(_SETTLED)


def several(shown: object) -> tuple[Run, ...] | tuple[StepRun, ...]:
    """Return the runs, or the training steps, of a picture, one or two.

    Raises
    ------
    ExportError
        If there are more, or none, or it is something else.
    """
    runs = tuple(shown) if isinstance(shown, list | tuple) else (shown,)
    steps = bool(runs) and isinstance(runs[0], StepRun)
    for run in runs:
        if not isinstance(run, StepRun if steps else Run):
            raise ExportError(f"a picture shows a run, as peerlab.simulate returns it, not {run!r}")
    if not 1 <= len(runs) <= 2:
        raise ExportError(f"a picture shows one run or two, not {len(runs)}")
    return runs


def length_ps(runs: Sequence[Run | StepRun]) -> int:
    """Return how long it takes until all have ended, picoseconds."""
    return max(run.time_ps for run in runs)


def _size(runs: Sequence[Run | StepRun], view: str) -> tuple[int, int]:
    return _ONE_STEP if len(runs) == 1 and isinstance(runs[0], StepRun) else VIEWS[view]


@contextmanager
def sitting(shown: Shown, *, view: str, theme: str, scale: float = 1) -> Iterator[Sitting]:
    """Open a browser on a run or two, `scale` pixels to a CSS pixel.

    Raises
    ------
    ExportError
        If there is no such view or theme, two runs are wanted in a view of one, or there is no browser.
    """
    runs = several(shown)
    if view not in VIEWS:
        raise ExportError(f"view: {view!r} is unknown; {nearest(view, VIEWS)}")
    if view in RACES and len(runs) == 1:
        raise ExportError(f"view: {view!r} shows two runs, and there is one")
    steps = isinstance(runs[0], StepRun)
    if steps and view != "page":
        raise ExportError(f"view: {view!r} does not show a training step; the view 'page' does")
    if len(runs) > 1 and view not in ("page", *RACES):
        raise ExportError(f"view: {view!r} shows one run; two are shown by the views 'page' and 'race'")
    with (
        browser(*_size(runs, view), scale) as window,
        tempfile.TemporaryDirectory(prefix="peerlab-") as folder,
    ):
        file = Path(folder) / "page.html"
        file.write_text(_text(runs, view, theme), encoding="utf-8")
        window.go(file)
        if view != SKETCH:
            window.wait_for("document.documentElement.dataset.ready === 'yes'")
            # The page's heading is for those who hear it, and says more than a picture has room for.
            if len(runs) == 1 and isinstance(runs[0], Run):
                named = json.dumps(title(runs[0].scenario))
                window.evaluate(f"void (document.querySelector('h1').textContent = {named})")
            _undress(window)
        yield Sitting(window, runs, view, theme)


def _text(shown: Sequence[Run | StepRun], view: str, theme: str) -> str:
    if steps := [result for result in shown if isinstance(result, StepRun)]:
        return page_of("step", steps, controls={}, theme=theme)
    runs = [result for result in shown if isinstance(result, Run)]
    if view == SKETCH:
        return "<!doctype html><meta charset='utf-8'><style>html,body{margin:0;overflow:hidden}svg{display:block}</style><body>"
    if view == "page":
        return page_html(runs, controls={}, theme=theme)
    if view in RACES:
        return page_html(runs, mode=view, theme=theme)
    return page_html(runs, controls={}, theme=theme, mode="figure", figure=view, bands=view == "curves")
