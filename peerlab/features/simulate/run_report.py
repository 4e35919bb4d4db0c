"""A run as a notebook shows it: its figures, and the data path at one moment."""

from base64 import b64encode
from hashlib import sha256
from html import escape

from peerlab.answer.run import Run
from peerlab.model.paths import sending_kinds
from peerlab.page.frame import framed, table
from peerlab.picture.moment import fullest
from peerlab.picture.picture import Picture
from peerlab.picture.still import figures
from peerlab.picture.still_of_node import keyed_node_svg
from peerlab.picture.words import alt_text, caption, title

_OF_HOST = ("Copies per byte", "DRAM per byte", "CPU cores busy")
"""What a path past the host has none of."""
_NOTHING = "Copies, DRAM, CPU cores"


def run_html(run: Run) -> str:
    """Return picture and figures as HTML that survives where style, script and drawings are taken out of a page.

    The picture is an image of its own, so that its words vanish with it and do not remain as loose text. It is that of one node, which
    a narrow page has room for: a run's nodes are alike, or the caption says which one is shown.
    """
    picture, at = Picture(run), fullest(run)
    light, dark = (
        b64encode(keyed_node_svg(picture, at, theme=theme).encode()).decode() for theme in ("light", "dark")
    )
    # Two pictures in one page need rules of their own: so they are called by what they hold.
    name = f"pl-still-{sha256(light.encode()).hexdigest()[:12]}"
    image = f"<img src='data:image/svg+xml;base64,{light}' class='{name}' alt='{escape(alt_text(run), quote=True)}'>"
    rows = [tuple(map(escape, row)) for row in _said_once(run)]
    simulated = (
        f"<details><summary>What was simulated</summary><p>{escape(caption(run, picture))}</p></details>"
    )
    # Its title stands in the left column, so that the picture begins at the same height.
    column = f"<h3>{escape(title(run.scenario))}</h3>{table('', (), rows)}{simulated}"
    body = f"{_in_the_dark(name, dark)}<div class='pl-beside'><div>{column}</div><p>{image}</p></div>"
    return framed("run", title(run.scenario), body, headed=False)


def _said_once(run: Run) -> list[tuple[str, str, str]]:
    """Return the figures, of which none says what another has said: how busy the wire is that is the bottleneck, and what a host does not do."""
    rows = figures(run)
    if run.bottleneck and run.bottleneck.kind in sending_kinds(run.scenario.hardware, str(run.scenario.path)):
        bandwidth, value, _ = rows[0]
        rows[0] = bandwidth, value, ""
    # What limits it comes right after what it reaches.
    rows[1:] = sorted(rows[1:], key=lambda row: row[0] != "Bottleneck")
    idle = [row for row in rows if row[0] in _OF_HOST and row[1] == "0"]
    if len(idle) < len(_OF_HOST):
        return rows
    place = rows.index(idle[0])
    return [*rows[:place], (_NOTHING, "0", ""), *(row for row in rows[place:] if row not in idle)]


def _in_the_dark(name: str, picture: str) -> str:
    """Return the rules that put the dark picture in the light one's place; where they are taken out, the light one remains."""
    rule = f"img.{name}{{content:url(data:image/svg+xml;base64,{picture})}}"
    by_itself = f"@media (prefers-color-scheme:dark){{body:not([data-jp-theme-light]) {rule}}}"
    return f"<style>body[data-jp-theme-light='false'] {rule}{by_itself}</style>"
