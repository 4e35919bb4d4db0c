"""The one widget that hosts the figures: Python sends a parcel per scenario, the browser owns the clock."""

# A page that lost its kernel says so. Widgets die with their kernel, and the next kernel does not know
# them. So on *restarting* or *dead*, which JupyterLab, Notebook and Voila tell, the controls that ask the
# kernel are switched off and the page says to run the cell again. Playback goes on. No heartbeat: a kernel
# that computes answers none, and is not dead.

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from peerlab import page
from peerlab.picture.bokeh_document import bokeh_script, document
from peerlab.picture.packed_columns import numbered
from peerlab.picture.payload import Parcel
from peerlab.picture.theme import palettes
from peerlab.picture.views import VIEWS

Handler = Callable[[str, Any], None]


class FiguresWidget(anywidget.AnyWidget):
    """Figures, headline and player; a command of the user calls `on_command`."""

    _esm = page.script(tuple(VIEWS))
    _css = page.style("page")

    document = traitlets.Unicode().tag(sync=True)
    """The Bokeh document as JSON text: text, because sorting its keys would break its references."""
    palettes = traitlets.Dict().tag(sync=True)
    """Theme to role to colour."""
    data = traitlets.Dict().tag(sync=True)
    """What `peerlab.picture.payload` returns."""
    curves = traitlets.Dict().tag(sync=True)
    """What `peerlab.picture.curves` returns."""
    ratio = traitlets.Dict().tag(sync=True)
    """What `peerlab.picture.path_ratio` returns; empty where there are no two paths to compare."""
    late = traitlets.Dict().tag(sync=True)
    """What `peerlab.picture.late` returns; empty where nobody is late."""
    measured = traitlets.Dict().tag(sync=True)
    """What `peerlab.picture.measured` returns."""
    status = traitlets.Dict().tag(sync=True)
    """``busy`` and ``text`` of a computation in the background."""
    shown = traitlets.Int().tag(sync=True)
    """Number of the parcel in `data`, set once the controls show its scenario too; nothing is drawn from it."""

    def __init__(self, on_command: Handler) -> None:
        self._on_command = on_command
        self._when_seen: Callable[[], None] | None = None
        super().__init__(document=json.dumps(document()), palettes=palettes())
        self.on_msg(self._receive)

    def send_ahead(self, parcels: Mapping[str, Parcel]) -> None:
        """Send what each switch would show; a message, because a trait would be saved with the notebook."""
        buffers: list[bytes] = []
        self.send({"kind": "ahead", "parcels": numbered(parcels, buffers)}, buffers=buffers)

    def when_seen(self, act: Callable[[], None]) -> None:
        """Let something be done once, as soon as a page shows this."""
        self._when_seen = act

    def seen(self) -> None:
        """Call the functions that wait for a page to show this widget."""
        act, self._when_seen = self._when_seen, None
        if act:
            act()

    def _receive(self, _widget: Any, content: dict[str, Any], _buffers: Any) -> None:
        if content.get("kind") == "need-bokeh":
            # Asked for by a page, which loads it once for all labs that it shows.
            self.send({"kind": "bokeh"}, buffers=[Path(bokeh_script()).read_bytes()])
        elif content.get("kind") == "seen":
            self.seen()
        elif content.get("kind") == "command":
            self._on_command(str(content.get("command")), content.get("value"))
