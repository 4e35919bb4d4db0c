"""`peerlab export` of stills and videos: those suffixes, and their options."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import peerlab
from peerlab.base.errors import ExportError, one_line
from peerlab.base.terminal_text import fraction, number
from peerlab.features.export.pictures import STILLS
from peerlab.page.target import VIDEOS
from peerlab.picture.words import alt_text
from peerlab.question.scenario import Scenario

OPTIONS = ("view", "scale", "moment", "seconds")
"""Options of pictures alone."""
_MEANT = {
    "view": (*STILLS, *VIDEOS),
    "theme": (*STILLS, *VIDEOS),
    "scale": (".png",),
    "moment": STILLS,
    "seconds": VIDEOS,
}
"""Which suffixes an option is for."""


def add_options(add: Callable[..., Any]) -> None:
    """Add the options of pictures."""
    add(
        "--view",
        help="of a picture: page, datapath, timeline, curves or sketch, of two race or race-slide (default: page; sketch for .svg)",
    )
    add("--scale", type=number, metavar="1|2|3|4", help="of a .png: pixels per unit (default: 1)")
    add(
        "--moment",
        type=fraction,
        metavar="SHARE",
        help="of a still: the moment shown, from 0 to 1 of the run",
    )
    add("--seconds", type=fraction, help="of a video: how long the loop lasts (default: 8)")


def is_picture(output: str) -> bool:
    """Return whether a file's name asks for a still or a video."""
    return Path(output).suffix in (*STILLS, *VIDEOS)


def export_picture(scenarios: Sequence[Scenario], output: str, given: Mapping[str, Any]) -> None:
    """Write a still or a video of one scenario or two with the options given, and print its words.

    They are an alternative text for those who do not see it.
    """
    suffix = Path(output).suffix
    for name in given:
        if suffix not in _MEANT.get(name, ()):
            raise ExportError(f"--{name}: not of a {suffix}")
    runs = [peerlab.simulate(scenario) for scenario in scenarios]
    write = peerlab.export_still if suffix in STILLS else peerlab.export_video
    path = write(runs, output, **given)
    print(f"{one_line(path)}: {path.stat().st_size / 1e6:.2f} MB")
    for run in runs:
        print(f"in words: {alt_text(run)}")
