"""Where an export goes: the user's path, refused if it is no file that can be written, or of another kind."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peerlab.base.errors import ExportError, PeerlabError, nearest, one_line
from peerlab.base.feature import registered
from peerlab.base.outfile import check_place, written
from peerlab.base.textfile import in_words

THEMES = ("light", "dark")
VIDEOS = (".mp4", ".webm", ".gif")
"""What a video may be written as."""
_VIDEO_S = 12.0
"""Length of a video that a command writes."""


def place_of(path: str | Path) -> Path:
    """Return where a user's path leads, ``~`` being the home.

    Raises
    ------
    ExportError
        If there is no such home, or it is a device or a pipe, which would let a notebook wait for its reader.
    """
    with in_words(f"cannot write {path}", ExportError):
        place = Path(path).expanduser()
        if place.exists() and not (place.is_file() or place.is_dir()):
            raise ExportError(f"cannot write {path}: it is a device or a pipe")
        return place


def checked(path: str | Path, suffixes: tuple[str, ...], theme: str) -> Path:
    """Return the file to write, or refuse a suffix or a theme that there is not."""
    if theme not in THEMES:
        raise ExportError(f"theme: {theme!r} is unknown; {nearest(theme, THEMES)}")
    target = place_of(path)
    if target.suffix not in suffixes:
        raise ExportError(f"cannot write {path}: its name must end in {', '.join(suffixes)}")
    return target


@dataclass(frozen=True)
class PlayedOutput:
    """The option ``--output`` of a command whose answer plays: a page, a still or a video, by the name of the file."""

    page: Callable[[Any], str]
    """Returns the page of an answer, as text."""
    still: Callable[[Any], str]
    """Returns it as SVG."""
    error: type[PeerlabError] = PeerlabError
    """What is raised where the file cannot be written."""

    def add(self, parser: Any) -> None:
        """Add the option to the parser of a command."""
        parser.add_argument(
            "--output",
            metavar="FILE",
            type=Path,
            default=argparse.SUPPRESS,
            help="write a page that plays it (.html), a still (.svg) or a video (.mp4, .webm, .gif)",
        )

    def check(self, options: argparse.Namespace) -> None:
        """Refuse a file that is of no such kind, or cannot be written: before anything is simulated for it.

        Raises
        ------
        PeerlabError
            As `error`.
        """
        if "output" in options:
            *suffixes, last = (".html", ".svg", *VIDEOS)
            if options.output.suffix not in (*suffixes, last):
                ends = f"{', '.join(suffixes)} or {last}"
                raise self.error(f"--output {one_line(options.output)}: give a name that ends with {ends}")
            check_place(options.output, self.error)

    def write(self, answer: object, options: argparse.Namespace) -> str:
        """Write an answer where the option says; return what the command says of it, nothing where the option is not given.

        Raises
        ------
        PeerlabError
            As `error`: if it cannot be written.
        """
        if "output" not in options:
            return ""
        path: Path = options.output
        if path.suffix in VIDEOS:
            registered("offers", "video")(answer, path, seconds=_VIDEO_S)
        else:
            text = (self.page if path.suffix == ".html" else self.still)(answer)
            with written(path, self.error) as file:
                file.write_text(text, encoding="utf-8")
        return f"{one_line(path)}: written"
