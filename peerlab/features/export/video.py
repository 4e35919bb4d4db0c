"""One loop of a run as a video: frames that the simulation says, taken by Chromium, put together by ffmpeg."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from peerlab.base.errors import ExportError, MissingPackage
from peerlab.base.feature import registered
from peerlab.base.outfile import written
from peerlab.base.progress_bar import with_progress
from peerlab.features.export.in_browser import Shown, filmed, length_ps, several, sitting
from peerlab.page.target import VIDEOS, checked

FRAMES_PER_S = 25
"""A GIF counts in hundredths of a second; this rate is exact in all formats."""
LONGEST_S = 120.0
"""The longest video, seconds."""
_ENCODERS = {
    ".mp4": ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"],
    ".webm": ["-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-crf", "32", "-b:v", "0", "-cpu-used", "5"],
    # A palette of this very loop, and no dithering: flat colours stay flat and the file small.
    ".gif": ["-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", "-loop", "0"],
}


def export_video(
    run: object,
    path: str | Path,
    *,
    view: str = "page",
    theme: str = "light",
    seconds: float = 8.0,
    progress: bool = True,
) -> Path:
    """Write one loop of a run as ``.mp4``, ``.webm`` or ``.gif``; return the file.

    Parameters
    ----------
    run:
        A simulated scenario, or two beside each other, on one clock; or a training step, or two; or an answer that plays by itself: a network
        with neighbours (`peerlab.neighbours`) or several jobs (`peerlab.shared_fabric`), as a slide.
    path:
        The file; its suffix says what is written.
    view:
        ``page``, ``datapath``, ``timeline`` or ``sketch``, as of :func:`export_still`; of two runs ``race`` or ``race-slide``, too.
    theme:
        ``light`` or ``dark``.
    seconds:
        How long the loop lasts, up to 120.
    progress:
        Whether a bar is shown on a terminal.

    Raises
    ------
    ExportError
        If the suffix or an option is unknown, there is no browser or no ffmpeg, or the file cannot be written.
    """
    target = checked(path, VIDEOS, theme)
    if not (isinstance(seconds, int | float) and 1 / FRAMES_PER_S <= seconds <= LONGEST_S):
        raise ExportError(f"seconds: {seconds!r} is not from {1 / FRAMES_PER_S:g} to {LONGEST_S:g}")
    if page := _played(run, view, theme):
        count = round(seconds * FRAMES_PER_S)
        return _write_video(target, filmed(page, count, seconds), count, progress=progress)
    shown = several(run)
    if view == "curves":
        raise ExportError("view: the curves stand still; a .png shows them")
    if not length_ps(shown):
        raise ExportError("one rank exchanges nothing: there is nothing to play")
    count = round(seconds * FRAMES_PER_S)
    return _write_video(target, frames(shown, count, view=view, theme=theme), count, progress=progress)


def _played(shown: object, view: str, theme: str) -> str:
    """Return the slide of an answer that plays by itself; nothing of a run or a step."""
    try:
        page = registered("offers", f"page of a {type(shown).__name__}")
    except LookupError:
        return ""
    if view != "page":
        raise ExportError(f"view: {view!r} does not show this answer; the view 'page' does")
    html: str = page(shown, layout="slide", theme=theme)
    return html


def _write_video(target: Path, pictures: Iterable[bytes], count: int, *, progress: bool) -> Path:
    ffmpeg = find_ffmpeg()
    with written(target, ExportError) as file:
        _encode(ffmpeg, with_progress(pictures, target.name, "frames", count, shown=progress), file)
    return target


def frames(run: Shown, count: int, *, view: str = "page", theme: str = "light") -> Iterator[bytes]:
    """Yield `count` frames of one loop as PNG, evenly spread over the run; the same on every call on one machine."""
    with sitting(run, view=view, theme=theme) as page:
        page.film(count / FRAMES_PER_S)
        for number in range(count):
            # The end is left out: it is the beginning of the loop's next round.
            yield page.png(length_ps(page.runs) * number // count)


def find_ffmpeg() -> str:
    """Return the program of ffmpeg: the extra's, or the system's.

    Raises
    ------
    MissingPackage
        If there is none; it says how to get one.
    """
    try:
        from imageio_ffmpeg import get_ffmpeg_exe  # noqa: PLC0415  (an extra)

        program: str = get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        program = shutil.which("ffmpeg") or ""
    if not program:
        raise MissingPackage(
            "videos are put together by ffmpeg, and there is none here: pip install 'peerlab[video]' (Debian: apt install ffmpeg)"
        )
    return program


def _encode(ffmpeg: str, pictures: Iterable[bytes], file: Path) -> None:
    command = [ffmpeg, "-y", "-loglevel", "error", "-f", "image2pipe", "-framerate", str(FRAMES_PER_S)]
    # -bitexact: no version and no date of the encoder in the file.
    command += ["-c:v", "png", "-i", "-", *_ENCODERS[file.suffix], "-threads", "2", "-bitexact", str(file)]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)  # noqa: S603
        try:
            _feed(process, pictures)
        except BaseException:  # Ctrl+C too: no encoder stays behind
            process.kill()
            raise
        finally:
            status = process.wait()
        if status:
            errors.seek(0)
            why = f"signal {-status} ended it" if status < 0 else "it gave no reason"
            lines = errors.read().decode(errors="replace").strip().splitlines() or [why]
            raise ExportError(f"ffmpeg cannot write {file.suffix}: {lines[-1]}")


def _feed(process: subprocess.Popen[bytes], pictures: Iterable[bytes]) -> None:
    """Hand over every picture; an encoder that ends early says why itself."""
    if process.stdin is None:
        return
    # A picture that finds no reader: the encoder's own words follow (`_encode`).
    with suppress(BrokenPipeError), process.stdin as into:
        for picture in pictures:
            into.write(picture)
