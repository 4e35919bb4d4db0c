"""All figures of the explorer as one Bokeh document."""

# BokehJS travels through the widget's own channel as one buffer, asked for by the first view of a page. No
# CDN, no extension to install, and it works behind any proxy that lets the notebook through.

# The document is the same for everybody until a page fills it, so it is kept as a file: to import Bokeh and to build the
# figures would take half of the time in which the explorer opens.

import json
import re
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from peerlab.picture.kept_figures import KEPT
from peerlab.picture.views import VIEWS

_BOKEH = find_spec("bokeh")
if _BOKEH is None or _BOKEH.origin is None:
    raise ModuleNotFoundError("No module named 'bokeh'", name="bokeh")
_SCRIPT = Path(_BOKEH.origin).parent / "server" / "static" / "js" / "bokeh.min.js"
_NUMBERS = count(1)
_ID = re.compile(r'"p(?=[0-9]+")')


def document(*, stretched: bool = False) -> dict[str, Any]:
    """Return the document as JSON values: ``doc``, and ``roots`` with the id of each figure.

    With `stretched` figures fill the height of the element that holds them; otherwise each has a fixed height.
    """
    number, kept = next(_NUMBERS), _kept(tuple(VIEWS))
    if kept is None:
        from peerlab.picture.plots.built_document import built_document  # noqa: PLC0415  (imports Bokeh)

        return built_document(stretched=stretched)
    # two explorers in one notebook have figures of different names
    own: dict[str, Any] = json.loads(_ID.sub(f'"p{number}-', kept["stretched" if stretched else "plain"]))
    return own


@cache
def _kept(views: tuple[str, ...]) -> dict[str, str] | None:
    """Return the documents that are kept, as text; nothing if they are of another Bokeh, or of other views than these."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    if kept["bokeh"] != version("bokeh") or kept["views"] != list(views):
        return None
    return {name: json.dumps(kept[name]) for name in ("plain", "stretched")}


def bokeh_script() -> Path:
    """Return the file with BokehJS, without its widgets, of the installed Bokeh."""
    return _SCRIPT
