"""`peerlab export`: pages, stills and videos of a question as files for others."""

import argparse
import sys
from pathlib import Path
from typing import Any

import peerlab
from peerlab.base.errors import ExportError, one_line
from peerlab.base.feature import registered
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import command
from peerlab.base.textfile import read_value
from peerlab.features.export.export_picture import OPTIONS, add_options, export_picture, is_picture
from peerlab.features.export.pictures import STILLS
from peerlab.page.target import VIDEOS
from peerlab.question.fields import add_fields, fields_given
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS

_EXAMPLES = """\
examples:
  peerlab export --output slide.html                       the host switch, the cache switch and nodes stay open
  peerlab export --nodes 64 --controls host,message=1MiB:64MiB:1GiB --output slide.html
  peerlab export --path host-rdma --beside path=peer-direct --output pair.html      two scenarios, one clock
  peerlab export --path host-rdma --output still.png --scale 2               a still; .pdf and .svg too
  peerlab export --path host-rdma --view datapath --output slide.png         one figure, with words for the last row
  peerlab export --path peer-direct --output loop.mp4 --theme dark           one loop as a video; .webm and .gif too
  peerlab export --path host-rdma --beside path=peer-direct --output pair.mp4       two of them, one clock
  peerlab export --path host-rdma --beside path=peer-direct --mode race --output race.html    bytes delivered, the lead
  peerlab export --path host-rdma --beside path=peer-direct --view race-slide --output race.mp4
  peerlab export --over paths --output wall.svg                              all data paths of the cluster in one picture
  peerlab export --path host-rdma --over clusters --output wall.png          one path on every cluster that has it
  peerlab export --nodes 16 --live --output live.html                        Python runs in the page: every setting, 13 MB
  peerlab export --mode figure --figure curves --theme dark --ratio 4:3 --output curves.html

The file plays in any browser, in an iframe of a deck too, without a network. slide.html#nodes=64&path=peer-direct
opens it in that state. PNG, PDF and videos are taken by a Chromium of this machine, videos put together by ffmpeg
(pip install 'peerlab[video]').

exit status: 0 written, 1 impossible (one line says why), 2 wrong usage
"""

PAGES = (".html", ".htm")
"""What a page may be called."""
_OURS = ("run", "output", "controls", "beside", "start", "over", "live", "pyodide")
_OPTIONS = ("mode", "figure", "theme", "ratio")
_OWN = {*_OURS, *_OPTIONS, *OPTIONS}
"""Options that are no fields of the scenario."""


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "export",
        "write a page that plays without a kernel, a still or a video, for decks and wikis",
        _export,
        epilog=_EXAMPLES,
        argument_default=argparse.SUPPRESS,  # what is not given is for others to decide
    )
    add = sub.add_argument
    add_fields(add, path="the cluster's usual one", registration="cached")
    add(
        "--output",
        metavar="FILE",
        required=True,
        help="the file, replaced if it is there: .html is a page, .png, .svg, .pdf a still, .mp4, .webm, .gif a video",
    )
    add(
        "--controls",
        help="what its reader may change: host,cache,nodes=2:64,message=1MiB:64MiB, or any field with its values; '' for nothing",
    )
    add("--start", metavar="FIELD=VALUE,...", help="what it begins with (default: the scenario)")
    add("--beside", metavar="FIELD=VALUE,...", help="a second scenario beside it that differs in this")
    add("--over", help="paths or clusters: one picture of all of them, .svg, .png, .pdf or .html")
    add("--mode", help="explorer, side-by-side, figure, or of two race or race-slide (default: explorer)")
    add("--figure", help="datapath, timeline or curves (default: datapath)")
    add(
        "--live",
        action="store_true",
        help="a page that simulates by itself, 13 MB: every setting, as of peerlab site",
    )
    add(
        "--pyodide",
        metavar="FILE",
        help="of --live: Pyodide's npm package, downloaded (default: the npm client gets it)",
    )
    add("--theme", help="auto, light or dark (default: auto, what the reader's system has)")
    add("--ratio", help="16:9 or 4:3 (default: 16:9)")
    add_options(add)


def _export(options: argparse.Namespace) -> int:
    entries = vars(options)
    # Where a reader or a second run may have what the first has not, an option may be about that.
    varied = FIELDS if {"live", "controls", "beside"} & entries.keys() else ()
    scenario = Scenario(**fields_given(options, varied))
    if "over" in entries:
        return _wall_chart(scenario, entries)
    if "live" in entries:
        return _live(scenario, entries)
    if "pyodide" in entries:
        raise ExportError("--pyodide: of --live alone")
    subject = [scenario]
    if "beside" in entries:
        subject.append(scenario.with_(**_changes("--beside", options.beside)))
    if is_picture(options.output):
        chosen = {name: entries[name] for name in _OWN & entries.keys() - {"run", "output", "beside"}}
        export_picture(subject, options.output, chosen)
        return 0
    if Path(options.output).suffix not in PAGES:
        known = ", ".join((*PAGES, *STILLS, *VIDEOS))
        raise ExportError(f"--output: {options.output} must end in one of {known}")
    for name in OPTIONS:
        if name in entries:
            raise ExportError(f"--{name}: of a picture or a video, and {options.output} is a page")
    chosen = {name: entries[name] for name in _OPTIONS if name in entries}
    if "start" in entries:
        chosen["start"] = _changes("--start", options.start)
    with progress_bar("export", "states") as bar:
        path = peerlab.export_html(
            subject, options.output, controls=entries.get("controls"), progress=bar, **chosen
        )
    print(f"{one_line(path)}: {path.stat().st_size / 1e6:.2f} MB")
    return 0


def _live(scenario: Scenario, entries: dict[str, Any]) -> int:
    """Write a page that simulates by itself, as `peerlab site` writes one, and print where it is."""
    # Sorted, so that of several the same one is named every time.
    for name in sorted(_OWN & entries.keys() - {"run", "output", "live", "pyodide"}):
        raise ExportError(f"--{name}: not of a live page, whose reader changes everything")
    write = registered("offers", "live page")
    path = write(
        entries["output"],
        scenario,
        pyodide=entries.get("pyodide"),
        told=lambda part: print(f"peerlab: {part} ...", file=sys.stderr),
    )
    print(f"{one_line(path)}: {path.stat().st_size / 1e6:.2f} MB")
    return 0


def _wall_chart(scenario: Scenario, entries: dict[str, Any]) -> int:
    """Write a wall chart, and print where it is."""
    for name in sorted(_OWN & entries.keys() - {"run", "output", "over", "theme", "scale"}):
        raise ExportError(f"--{name}: not of a wall chart, which --over makes")
    chosen = {name: entries[name] for name in ("over", "theme", "scale") if name in entries}
    path = peerlab.wall_chart(scenario, entries["output"], **chosen)
    print(f"{one_line(path)}: {path.stat().st_size / 1e6:.2f} MB")
    return 0


def _changes(option: str, text: str) -> dict[str, Any]:
    """Return ``path=peer-direct,nodes=4`` as fields and values."""
    changes: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        if not equals or not name or not value:
            raise ExportError(f"{option}: {part!r} is not FIELD=VALUE")
        # The command line's own name of the field.
        changes[{"message": "message_bytes"}.get(name, name)] = read_value(value)
    return changes
