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
_NOTHING = "Copies, DRAM, cores"
_BUSY = " % busy"


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
    beside = f"<div class='pl-beside'><p>{image}</p><div>{table('', (), rows)}{simulated}</div></div>"
    about = f"<p class='pl-quiet'>{escape(title(run.scenario))}</p>"
    return framed("run", "What this run reaches", _answer(run) + about + beside + _in_the_dark(name, dark))


def _answer(run: Run) -> str:
    """Return what the run reaches, and what limits it, as the report begins."""
    if run.bottleneck is None:
        return "<p class='pl-answer'><b>No time passes</b>: one rank exchanges nothing</p>"
    of_all = {name: (value, note) for name, value, note in figures(run)}
    (busbw, _), (_, note) = next(iter(of_all.values())), of_all["Bottleneck"]
    bandwidth = "bandwidth" if run.scenario.collective_record.is_message else "bus bandwidth"
    limit = escape(f"{run.bottleneck.label}, {note}")
    return f"<p class='pl-answer'><b>{busbw}</b> {bandwidth}; waits for {limit}</p>"


def _said_once(run: Run) -> list[tuple[str, str, str]]:
    """Return the figures below the answer, of which none says what another has said: how busy the wire is that is the bottleneck, and what a host does not do."""
    (_, _, sending), *rows = (row for row in figures(run) if row[0] != "Bottleneck")
    limits = run.bottleneck and run.bottleneck.kind in sending_kinds(
        run.scenario.hardware, str(run.scenario.path)
    )
    if run.time_ps and not limits:
        name, _, busy = (
            sending.removesuffix(_BUSY).rpartition(" ") if sending.endswith(_BUSY) else ("", "", "")
        )
        wire = (name[:1].upper() + name[1:], busy + _BUSY, "") if name else ("Wire", "none", sending)
        rows[1:1] = [wire]
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
