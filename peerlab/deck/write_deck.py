"""Writes a deck into a folder."""

from pathlib import Path

from peerlab.deck.compared_runs import ComparedRuns
from peerlab.deck.deck_page import page
from peerlab.deck.outline import Outline, read_outline
from peerlab.deck.slides import slides
from peerlab.engine.simulate import simulate
from peerlab.errors import ExportError
from peerlab.export.browser import browser
from peerlab.export.target import place_of
from peerlab.outfile import new_folder, written

SIZE = (1280, 720)
"""Width and height of a slide, CSS pixels."""


def write_deck(outline: Outline | str | Path, folder: str | Path, *, pdf: bool = False) -> Path:
    """Write an architecture review as a reveal.js deck that opens by double click; return its page.

    Parameters
    ----------
    outline:
        What it is about, or a file in Markdown that says so; ``peerlab deck --help`` has an example.
    folder:
        Gets ``index.html``, which needs nothing beside it, and with `pdf` ``deck.pdf``. It is made if need be.
    pdf:
        Whether to print the slides, one a page; this needs a Chromium.

    Raises
    ------
    ExportError
        If the outline is wrong, or something cannot be written.
    ScenarioError, HardwareError
        If the scenario that it asks about is impossible.
    """
    if not str(folder):
        raise ExportError("cannot write a deck: its folder has no name")
    asked = outline if isinstance(outline, Outline) else read_outline(outline)
    asked.check_shown()
    lead = asked.lead  # before anything is simulated
    compared, place = ComparedRuns(asked.scenario, simulate), place_of(folder)
    with new_folder(place, ExportError):
        with written(place / "index.html", ExportError) as file:
            file.write_text(
                page(asked.title, slides(asked, compared), theme=asked.theme, lead=lead), encoding="utf-8"
            )
        if pdf:
            with written(place / "deck.pdf", ExportError) as file:
                file.write_bytes(printed(place / "index.html"))
    return place / "index.html"


def printed(deck: Path) -> bytes:
    """Return the slides of a deck as PDF, one a page.

    Raises
    ------
    ExportError
        If there is no browser.
    """
    with browser(*SIZE) as window:
        window.go(deck, "?print-pdf")
        window.wait_for("document.querySelectorAll('.pdf-page').length > 0")
        window.wait_for("!document.querySelector('iframe[data-still]:not([data-stands])')")
        return window.pdf(*SIZE)
