"""A run that sits for its picture: shown in a browser at any moment, without anything to press."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peerlab.errors import ExportError, nearest
from peerlab.export.browser import Browser, browser
from peerlab.export.page import page_html
from peerlab.run import Run
from peerlab.view import still
from peerlab.view.words import title

VIEWS = {"page": (1280, 720), "datapath": still.SIZE}
"""What may be shown, and its size in CSS pixels: all that the page shows, or the data path with its figures alone."""

_STILL = """
.pl-player, .pl-caption button, .pl-lower header button, .pl-lower header [role=group], .pl-card button { display: none !important; }
h1.pl-hidden { position: static; width: auto; height: auto; clip-path: none; margin: 0; font: 650 20px/1.2 system-ui, sans-serif; }
"""
"""What there is to press is left out of a picture; the title is in it."""
_SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true)))))"


class Sitting:
    """A browser that shows a run."""

    def __init__(self, window: Browser, run: Run, view: str, theme: str) -> None:
        self.window, self.run, self.view, self.theme = window, run, view, theme

    def show(self, moment_ps: int) -> None:
        """Show a moment, picoseconds from the start of the run; return when it is painted."""
        if self.view == "datapath":
            svg = still.still_svg(self.run, moment_ps=moment_ps, theme=self.theme)
            self.window.evaluate(f"void (document.body.innerHTML = {json.dumps(svg)})")
        else:
            share = moment_ps / self.run.time_ps if self.run.time_ps else 0.0
            self.window.evaluate(f"(p => p.seek({share!r} * p.length))([...window.peerlabPages][0].player)")
        self.window.evaluate(_SETTLED)

    def png(self, moment_ps: int) -> bytes:
        """Return a moment as PNG."""
        self.show(moment_ps)
        return self.window.png()

    def pdf(self, moment_ps: int) -> bytes:
        """Return a moment as a PDF of one page."""
        self.show(moment_ps)
        return self.window.pdf(*VIEWS[self.view])


@contextmanager
def sitting(run: Run, *, view: str, theme: str, scale: float = 1) -> Iterator[Sitting]:
    """Open a browser on a run, `scale` pixels to a CSS pixel.

    Raises
    ------
    ExportError
        If there is no such view or theme, or no browser.
    """
    if view not in VIEWS:
        raise ExportError(f"view: {view!r} is unknown; {nearest(view, VIEWS)}")
    with browser(*VIEWS[view], scale) as window, tempfile.TemporaryDirectory(prefix="peerlab-") as folder:
        file = Path(folder) / "page.html"
        file.write_text(_text(run, view, theme), encoding="utf-8")
        window.go(file)
        if view == "page":
            window.wait_for("document.documentElement.dataset.ready === 'yes'")
            named = json.dumps(title(run.scenario))
            window.evaluate(f"void (document.querySelector('h1').textContent = {named})")
            style = f"Object.assign(document.createElement('style'), {{ textContent: {json.dumps(_STILL)} }})"
            window.evaluate(f"document.head.append({style})")
            window.evaluate(_SETTLED)
        yield Sitting(window, run, view, theme)


def _text(run: Run, view: str, theme: str) -> str:
    if view == "page":
        return page_html(run, controls={}, theme=theme)
    return "<!doctype html><meta charset='utf-8'><style>html,body{margin:0;overflow:hidden}svg{display:block}</style><body>"
