"""Writes a deck into a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from peerlab.answer.run import Run
from peerlab.base.errors import ExportError
from peerlab.base.outfile import check_place, new_folder, written
from peerlab.base.progress_bar import progress_bar
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.simulate import simulate
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.deck_page import page
from peerlab.features.deck.reading.outline import Outline, read_outline
from peerlab.features.deck.slides import check, slides
from peerlab.features.deck.training import Training
from peerlab.page.browser import browser, find_chromium
from peerlab.page.target import place_of

SIZE = (1280, 720)
"""Width and height of a slide, CSS pixels."""


def write_deck(
    outline: Outline | str | Path, folder: str | Path, *, pdf: bool = False, progress: Progress | None = None
) -> Path:
    """Write an architecture review as a reveal.js deck that opens by double click; return its page.

    It takes some ten seconds, as many other machines are simulated to say how sure the answer is.

    Parameters
    ----------
    outline:
        What it is about, or a file in Markdown that says so; ``peerlab deck --help`` has an example.
    folder:
        Gets ``index.html``, which needs nothing beside it, and with `pdf` ``deck.pdf``. It is made if need be.
    pdf:
        Whether to print the slides, one a page; this needs a Chromium.
    progress:
        Called with parts done and parts in all: a slide is one, and so is the print; may raise `peerlab.base.errors.Cancelled`. None:
        a bar on a terminal and in a notebook.

    Raises
    ------
    ExportError
        If the outline is wrong, or something cannot be written; as far as can be before anything is simulated.
    ScenarioError, HardwareError
        If the scenario that it asks about is impossible.
    """
    if not str(folder):
        raise ExportError("cannot write a deck: its folder has no name")
    if not isinstance(outline, Outline | str | Path):
        raise ExportError(f"outline: give an Outline or a file in Markdown, not {outline!r:.60}")
    asked = outline if isinstance(outline, Outline) else read_outline(outline)
    asked.check_shown()
    lead = asked.lead  # before anything is simulated
    compared, place = ComparedRuns(asked.scenario, simulate), place_of(folder)
    # Without a browser there is no print: that is said before anything is simulated.
    if pdf:
        find_chromium()
    deck, print_ = place / "index.html", place / "deck.pdf"
    with new_folder(place, ExportError):
        for file in (deck, print_) if pdf else (deck,):
            check_place(file, ExportError)
        check(asked, compared)
        with _heard(asked, progress, pdf=pdf) as tell:
            # The print counts as one part more.
            made = slides(asked, compared, lambda done, of: tell(done, of + pdf))
            with written(deck, ExportError) as file:
                file.write_text(page(asked.title, made, theme=asked.theme, lead=lead), encoding="utf-8")
            if pdf:
                with written(print_, ExportError) as file:
                    file.write_bytes(printed(deck))
                tell(len(made) + 1, len(made) + 1)
    return deck


def write_deck_of(run: Run, folder: str | Path) -> Path:
    """Write the deck of a run's question, on all paths of its cluster, as the notebook's *Export* does; return its page."""
    # The deck compares paths itself, so the one that is shown is no part of its question.
    scenario, compared = run.scenario, ("path", "registration")
    kept = {
        field.name: getattr(scenario, field.name) for field in fields(scenario) if field.name not in compared
    }
    return write_deck(Outline(scenario=kept), folder)


def forecast_s(outline: Outline, *, pdf: bool = False) -> float:
    """Return about how many seconds a deck takes on one core, to within a factor of two or so."""
    there = {"log": bool(outline.log), "clusters": bool(outline.beside)}
    kinds = [plan.show for plan in outline.slides if there.get(plan.show, True)]
    takes = _BEGINNING_S + sum(_TAKES_S.get(kind, 0.0) for kind in kinds) + _PRINT_S * pdf
    if "training" in kinds and isinstance(outline.training, Training):
        # A gradient that is given replaces the step that would be simulated.
        takes += _GRADIENT_S_PER_GB * (outline.training.gradient_bytes or 0) / 1e9 - _TAKES_S["training"]
    return takes


_BEGINNING_S = 1.0
_PRINT_S = 6.0
_GRADIENT_S_PER_GB = 2.6
"""A gradient that is given is simulated as one message, and again for each assumed figure."""
_TAKES_S = {"scale": 7.0, "nodes": 7.0, "training": 4.0, "live": 2.0, "log": 2.0, "clusters": 2.0}
"""What the slides that take longest take, measured on DL1 and p5; all others together are in the beginning."""


@contextmanager
def _heard(asked: Outline, progress: Progress | None, *, pdf: bool) -> Iterator[Progress]:
    """Give what hears how far a deck is: somebody's own `progress`, or a bar."""
    if progress is not None:
        yield progress
        return
    with progress_bar("deck", "parts", len(asked.slides) + pdf, forecast_s=forecast_s(asked, pdf=pdf)) as bar:
        yield bar


def printed(deck: Path) -> bytes:
    """Return the slides of a deck as PDF, one a page.

    Raises
    ------
    ExportError
        If there is no browser.
    """
    with browser(*SIZE) as window:
        window.go(deck, "?print-pdf")
        # reveal.js has laid out the print: frames are moved by now, and load anew.
        window.wait_for("document.querySelectorAll('.pdf-page').length > 0")
        # Each frame says when its player stands at the moment that is printed (`deck_page`).
        window.wait_for("!document.querySelector('iframe[data-still]:not([data-stands])')")
        return window.pdf(*SIZE)
