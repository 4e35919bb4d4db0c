"""A run as a picture for a document: SVG, or PNG and PDF, which Chromium makes of it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peerlab.errors import ExportError, nearest
from peerlab.export.sitting import sitting
from peerlab.run import Run
from peerlab.textfile import in_words
from peerlab.view.moment import fullest
from peerlab.view.still import still_svg

STILLS = (".svg", ".png", ".pdf")
"""What a still may be written as."""
THEMES = ("light", "dark")
SCALES = (1, 2, 3, 4)


def export_still(
    run: Run,
    path: str | Path,
    *,
    view: str | None = None,
    theme: str = "light",
    scale: int = 1,
    moment: float | None = None,
) -> Path:
    """Write a moment of a run as ``.svg``, ``.png`` or ``.pdf``; return the file.

    The same run and options give the same bytes of an SVG anywhere, and of a PNG on one machine.

    Parameters
    ----------
    run:
        A simulated scenario.
    path:
        The file; its suffix says what is written. PNG and PDF need a Chromium.
    view:
        ``page``: figures, data path, timeline and curves, 1280 x 720 (the default, but not for SVG); ``datapath``: that
        with the main figures alone, 1060 x 366.
    theme:
        ``light`` or ``dark``.
    scale:
        Pixels of a PNG per unit of the picture, 1 to 4: 2 for print and for screens of high density.
    moment:
        The moment shown, as a share of the run from 0 to 1; default: one in its middle at which many slices are in sight.

    Raises
    ------
    ExportError
        If the suffix or an option is unknown, there is no browser, or the file cannot be written.
    """
    target = checked(path, STILLS, theme)
    if scale not in SCALES:
        raise ExportError(f"scale: {scale!r} is none of {', '.join(map(str, SCALES))}")
    if moment is not None and not (isinstance(moment, int | float) and 0 <= moment <= 1):
        raise ExportError(f"moment: {moment!r} is no share of the run from 0 to 1")
    if target.suffix == ".svg" and view not in (None, "datapath"):
        raise ExportError(f"view: {view!r} cannot be drawn as .svg; the view 'datapath' can")
    at = fullest(run) if moment is None else int(moment * run.time_ps)
    with written(target) as file:
        if target.suffix == ".svg":
            file.write_text(still_svg(run, moment_ps=at, theme=theme), encoding="utf-8")
            return target
        with sitting(run, view=view or "page", theme=theme, scale=scale) as one:
            file.write_bytes(one.pdf(at) if target.suffix == ".pdf" else one.png(at))
    return target


def checked(path: str | Path, suffixes: tuple[str, ...], theme: str) -> Path:
    """Return the file to write, or refuse a suffix or a theme that there is not."""
    if theme not in THEMES:
        raise ExportError(f"theme: {theme!r} is unknown; {nearest(theme, THEMES)}")
    target = Path(path).expanduser()
    if target.suffix not in suffixes:
        raise ExportError(f"cannot write {path}: its name must end in {', '.join(suffixes)}")
    return target


@contextmanager
def written(target: Path) -> Iterator[Path]:
    """Give a file beside `target` to write, which takes its place when it is whole."""
    with in_words(f"cannot write {target}", ExportError):
        if target.is_dir():
            raise ExportError(f"cannot write {target}: it is a folder")
        handle, name = tempfile.mkstemp(prefix=".peerlab-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        unfinished = Path(name)
        try:
            yield unfinished
            unfinished.chmod(0o666 & ~_umask())
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)


def _umask() -> int:
    """Return what a new file of this process may not be."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
