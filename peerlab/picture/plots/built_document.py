"""The document that is kept in ``figures.json``: ``python -m peerlab.picture.plots.built_document`` writes it anew.

A figure that changes, or another version of Bokeh, asks for that; a test says so.
"""

import json
from importlib.metadata import version

from bokeh.document import Document
from bokeh.models import GlyphRenderer

from peerlab.picture.kept_figures import KEPT
from peerlab.picture.plots import FIGURES
from peerlab.picture.views import VIEWS


def built_document(*, stretched: bool) -> dict[str, object]:
    """Return what `bokeh_document.document` does, built by Bokeh."""
    figures = {name: FIGURES[name]() for name in VIEWS if name in FIGURES}
    for plot in figures.values():
        plot.hold_render = True  # empty figures need not be painted; the page lets go when it has filled them
        for renderer in plot.select(
            GlyphRenderer
        ):  # nothing is ever selected or muted, and looks no other way if it were
            glyph = renderer.glyph
            renderer.update(selection_glyph=glyph, nonselection_glyph=glyph, muted_glyph=glyph)
    for plot in figures.values() if stretched else ():
        plot.update(sizing_mode="stretch_both", height=None, aspect_ratio=None)
    doc = Document()
    for plot in figures.values():
        doc.add_root(plot)
    # Nothing is sent apart: arrays stand in the JSON itself.
    return {"doc": doc.to_json(deferred=False), "roots": {name: plot.id for name, plot in figures.items()}}


def kept_documents() -> dict[str, object]:
    """Return what ``figures.json`` holds."""
    documents = {name: built_document(stretched=name == "stretched") for name in ("plain", "stretched")}
    return {"bokeh": version("bokeh"), "views": list(VIEWS), **documents}


if __name__ == "__main__":
    KEPT.write_text(json.dumps(kept_documents(), separators=(",", ":")) + "\n", encoding="utf-8")
