"""All figures of the explorer as one Bokeh document, built once."""

from pathlib import Path

import bokeh
from bokeh.document import Document

from peerlab.view import curves, datapath, timeline


def document() -> dict[str, object]:
    """Return the document as JSON values: ``doc``, and ``roots`` with the id of each figure."""
    figures = {"scene": datapath.build(), "timeline": timeline.build(), "curves": curves.build()}
    doc = Document()
    for plot in figures.values():
        doc.add_root(plot)
    return {"doc": doc.to_json(deferred=False), "roots": {name: plot.id for name, plot in figures.items()}}


def bokeh_script() -> Path:
    """Return the file with BokehJS, without its widgets, of the installed Bokeh."""
    return Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.min.js"
