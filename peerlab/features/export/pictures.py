"""A run as a picture for a document: SVG, or PNG and PDF, which Chromium makes of it."""

from collections.abc import Sequence
from pathlib import Path

from peerlab.answer.run import Run
from peerlab.base.errors import ExportError
from peerlab.base.outfile import written
from peerlab.features.export.in_browser import SKETCH, Shown, length_ps, several, sitting
from peerlab.page.embedded import RACES
from peerlab.page.target import checked
from peerlab.picture.moment import fullest
from peerlab.picture.still import still_svg
from peerlab.picture.theme import palettes
from peerlab.training.step_picture import step_svg
from peerlab.training.step_run import StepRun

STILLS = (".svg", ".png", ".pdf")
"""What a still may be written as."""
SCALES = (1, 2, 3, 4)


def export_still(
    run: Shown,
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
        A simulated scenario, or two beside each other (PNG and PDF); or a training step, or two on one time axis: an SVG has
        the lanes of all of it, PNG and PDF the page at a moment.
    path:
        The file; its suffix says what is written. PNG and PDF need a Chromium.
    view:
        ``page``: figures, data path, timeline and curves, 1280 x 720 (the default, but not for SVG); ``datapath``,
        ``timeline`` or ``curves``: that figure with words to be read from the last row, 1280 x 720; ``sketch``: the data
        path with its main figures, 1060 x 322, as an SVG is drawn; of two runs ``race``: both paths one above the other with
        the bytes delivered, 1120 x 640, or ``race-slide``: the same with a sentence as title, 1280 x 720.
    theme:
        ``light`` or ``dark``.
    scale:
        Pixels of a PNG per unit of the picture, 1 to 4: 2 for print and for screens of high density.
    moment:
        The moment shown, as a share from 0 to 1 of the time until all has ended; default: one in the middle of the run,
        of two of the quicker one, at which many slices are in sight; of a race the one at which the first is through.

    Raises
    ------
    ExportError
        If the suffix or an option is unknown, there is no browser, or the file cannot be written.

    >>> from peerlab import Scenario, simulate
    >>> export_still(simulate(Scenario()), "moment.svg").name
    'moment.svg'
    """
    target = checked(path, STILLS, theme)
    if scale not in SCALES:
        raise ExportError(f"scale: {scale!r} is none of {', '.join(map(str, SCALES))}")
    if moment is not None and not (isinstance(moment, int | float) and 0 <= moment <= 1):
        raise ExportError(f"moment: {moment!r} is no share of the run from 0 to 1")
    runs = several(run)
    steps = [result for result in runs if isinstance(result, StepRun)]
    if steps and target.suffix == ".svg":
        return _write_lanes(steps, target, theme, view, moment)
    if target.suffix == ".svg" and view not in (None, SKETCH):
        raise ExportError(f"view: {view!r} cannot be drawn as .svg; the view {SKETCH!r} can")
    if target.suffix == ".svg" and len(runs) > 1:
        raise ExportError(f"cannot write {path}: an .svg shows one run; two are shown by .png and .pdf")
    at = _usual_moment(runs, view) if moment is None else int(moment * length_ps(runs))
    with written(target, ExportError) as file:
        if target.suffix == ".svg":
            file.write_text(still_svg(runs[0], moment_ps=at, theme=theme), encoding="utf-8")  # type: ignore[arg-type]
            return target
        with sitting(runs, view=view or "page", theme=theme, scale=scale) as page:
            file.write_bytes(page.pdf(at) if target.suffix == ".pdf" else page.png(at))
    return target


def _write_lanes(
    steps: Sequence[StepRun], target: Path, theme: str, view: str | None, moment: float | None
) -> Path:
    """Write the lanes of training steps as SVG."""
    if view is not None or moment is not None:
        raise ExportError(
            f"cannot write {target}: an .svg of a training step has all of it, without view and moment"
        )
    with written(target, ExportError) as file:
        file.write_text(step_svg(*steps, palette=palettes()[theme]), encoding="utf-8")
    return target


def _usual_moment(runs: Sequence[Run | StepRun], view: str | None) -> int:
    """Return the moment that is shown if none is asked for, picoseconds.

    Of a race it is the one at which the first is through, of training steps the middle of the quicker one's last exchange.
    """
    # While the quicker one is under way, the slower one is, too.
    quicker = min(runs, key=lambda run: run.time_ps)
    if isinstance(quicker, StepRun):
        # A step that exchanges nothing shows its beginning.
        last = quicker.trace.placed[-1:]
        return sum((placed_span.begin_ps + placed_span.end_ps) // 2 for placed_span in last)
    return quicker.time_ps if view in RACES else fullest(quicker)
