"""A run as a picture for a document: SVG, or PNG and PDF, which Chromium makes of it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peerlab.errors import ExportError, nearest
from peerlab.export.browser import browser
from peerlab.run import Run
from peerlab.textfile import in_words
from peerlab.view.still import SIZE, still_svg

STILLS = (".svg", ".png", ".pdf")
"""What a still may be written as."""
THEMES = ("light", "dark")
SCALES = (1, 2, 3, 4)
"""Pixels of a PNG per unit of the picture: 2 for print and for screens of high density."""


def export_still(
    run: Run, path: str | Path, *, theme: str = "light", scale: int = 1, moment: float | None = None
) -> Path:
    """Write the data path of a run at a moment, with its figures, as ``.svg``, ``.png`` or ``.pdf``; return the file.

    The same run and options give the same bytes of an SVG anywhere, and of a PNG on one machine.

    Parameters
    ----------
    run:
        A simulated scenario.
    path:
        The file; its suffix says what is written. PNG and PDF need a Chromium.
    theme:
        ``light`` or ``dark``.
    scale:
        Pixels of a PNG per unit of the picture (1060 x 366 units), 1 to 4.
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
    if moment is not None and not 0 <= moment <= 1:
        raise ExportError(f"moment: {moment!r} is no share of the run from 0 to 1")
    svg = still_svg(run, moment_ps=None if moment is None else int(moment * run.time_ps), theme=theme)
    with written(target) as file:
        file.write_bytes(svg.encode() if target.suffix == ".svg" else _taken(svg, target.suffix, scale))
    return target


def checked(path: str | Path, suffixes: tuple[str, ...], theme: str) -> Path:
    """Return the file to write, or refuse a suffix or a theme that there is not."""
    if theme not in THEMES:
        raise ExportError(f"theme: {theme!r} is unknown; {nearest(theme, THEMES)}")
    target = Path(path)
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


def page_of(svg: str, *, fit: bool = False) -> str:
    """Return a page that shows nothing but a picture; with `fit` it fills the width of the window."""
    size = "svg{width:100vw;height:auto}" if fit else ""
    return (
        "<!doctype html><meta charset='utf-8'><style>"
        f"html,body{{margin:0;overflow:hidden}}svg{{display:block}}{size}</style><body>{svg}"
    )


def _taken(svg: str, suffix: str, scale: int) -> bytes:
    """Return what Chromium makes of a picture."""
    with browser(*SIZE, scale) as window, tempfile.TemporaryDirectory(prefix="peerlab-") as folder:
        page = Path(folder) / "still.html"
        page.write_text(page_of(svg), encoding="utf-8")
        window.go(page)
        return window.pdf(*SIZE) if suffix == ".pdf" else window.png()
