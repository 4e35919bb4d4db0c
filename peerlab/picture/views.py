"""The views of a run: the list that a page is made of.

A view is a module here and a script of the same name in ``peerlab/page`` that exports a class, such as `Timeline` in
``timeline.js``; its base class, in ``page/view.js``, says what a view can do.
"""

# A page is a list of views. `picture/views.py` names them once; the list in the script is written from it.
# A view has a place and HTML of its own, and is told of everything by the page: a parcel to apply, a moment
# to draw, another size or theme to paint, the end. What several views need, such as the unit of bandwidths
# and the clock, belongs to the page. The lab and exported pages replace single views by subclasses: the
# curves of the lab have the tab *this machine*.

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from peerlab.picture import datapath, footer, headline, timeline
from peerlab.picture.picture import Picture


@dataclass(frozen=True)
class View:
    """What Python knows of a view."""

    send: Callable[[Picture], Mapping[str, object]] | None = None
    """Returns what the view gets for a run; its return type is a typed record. None: it gets nothing of its own."""


VIEWS: dict[str, View] = {
    "headline": View(headline.headline),
    "scene": View(datapath.scene),
    "timeline": View(timeline.timeline),
    "curves": View(),  # what it draws comes later than the parcel of a run
    "footer": View(footer.footer),
}
"""Name of the script to its view, in the order in which the page applies them."""
