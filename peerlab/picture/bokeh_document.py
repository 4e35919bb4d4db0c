"""All figures of the explorer as one Bokeh document, built once."""

# BokehJS travels through the widget's own channel as one buffer, asked for by the first view of a page. No
# CDN, no extension to install, and it works behind any proxy that lets the notebook through.

from pathlib import Path

import bokeh
from bokeh.document import Document
from bokeh.models import GlyphRenderer

from peerlab.picture.plots import FIGURES
from peerlab.picture.views import VIEWS


def document(*, stretched: bool = False) -> dict[str, object]:
    """Return the document as JSON values: ``doc``, and ``roots`` with the id of each figure.

    With `stretched` figures fill the height of the element that holds them; otherwise each has a fixed height.
    """
    figures = {name: FIGURES[name]() for name in VIEWS if name in FIGURES}
    for plot in figures.values():
        plot.hold_render = True  # empty figures need not be painted; the page lets go when it has filled them
        for renderer in plot.select(
            GlyphRenderer
        ):  # nothing is ever selected or muted, and looks no other way if it were
            one = renderer.glyph
            renderer.update(selection_glyph=one, nonselection_glyph=one, muted_glyph=one)
    for plot in figures.values() if stretched else ():
        plot.update(sizing_mode="stretch_both", height=None, aspect_ratio=None)
    doc = Document()
    for plot in figures.values():
        doc.add_root(plot)
    # Nothing is sent apart: arrays stand in the JSON itself.
    return {"doc": doc.to_json(deferred=False), "roots": {name: plot.id for name, plot in figures.items()}}


def bokeh_script() -> Path:
    """Return the file with BokehJS, without its widgets, of the installed Bokeh."""
    return Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.min.js"
