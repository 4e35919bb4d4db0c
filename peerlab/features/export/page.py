"""One HTML file that plays in any browser: figures, scripts and every state inside, nothing from outside."""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from peerlab.answer.run import Run
from peerlab.base.errors import ExportError, nearest
from peerlab.base.feature import registered
from peerlab.base.outfile import written
from peerlab.base.version import __version__
from peerlab.features.export.album import Album, Progress
from peerlab.features.export.choices import Controls, PageControl, choices, start_of
from peerlab.page.alone_page import empty_figures, page_alone
from peerlab.page.embedded import RACES, page_of
from peerlab.page.target import place_of
from peerlab.picture.curve_scenarios import AXES
from peerlab.picture.theme import palettes
from peerlab.picture.views import VIEWS
from peerlab.question.naming import told_apart
from peerlab.question.scenario import Scenario
from peerlab.study.racing import race
from peerlab.training.step_band import step_gain
from peerlab.training.step_run import StepRun

MODES = ("explorer", "side-by-side", "figure", *RACES)
FIGURES = ("datapath", "timeline", "curves")
THEMES = ("auto", "light", "dark")
RATIOS = ("16:9", "4:3")

_PACK = '<script type="text/plain" id="pl-pack">{}</script>'

Subject = Scenario | Run | StepRun | Sequence[Scenario | Run] | Sequence[StepRun]
"""What a page is about: a scenario, a run of one, or two of them side by side; or a training step."""


def export_html(subject: Subject, path: str | Path, **options: Any) -> Path:
    """Write a page that plays without a kernel; return where it is.

    Parameters
    ----------
    subject:
        A scenario, a run, or a pair of them to be shown side by side; or a `StepRun`, or a pair on two data paths.
    path:
        The file; it is replaced.
    options:
        Those of :func:`page_html`; of a step those of :func:`peerlab.features.step.step_page.step_page_html`.

    Raises
    ------
    ExportError
        If the file cannot be written, or the page cannot be made as it is wanted.
    """
    target = place_of(path)
    steps = _steps(subject)
    _check_options(options, of=registered("offers", "page of a step") if steps else page_html)
    if len(steps) == 2:
        # What the caller gives wins.
        options = {"sure": step_gain(steps[1], steps[0])} | options
    with written(target, ExportError) as file:
        file.write_text(
            page_of("step", steps, **options) if steps else page_html(subject, **options), encoding="utf-8"
        )
    return target


def page_html(
    subject: Subject,
    *,
    controls: Controls | None = None,
    mode: str | None = None,
    figure: str = "datapath",
    theme: str = "auto",
    ratio: str = "16:9",
    start: Mapping[str, Any] | None = None,
    bands: bool = True,
    framed: bool = False,
    progress: Progress | None = None,
) -> str:
    """Return a page that plays without a kernel, as text.

    Parameters
    ----------
    subject:
        A scenario, a run, or a pair of them to be shown side by side.
    controls:
        What its reader may change: ``"host,cache,nodes=2:64,message=1MiB:64MiB"``, or fields of a scenario to lists of
        values. By default the switches that the cluster has, and nodes. Every combination is simulated now.
    mode:
        ``"explorer"``, ``"side-by-side"`` (of a pair), ``"figure"``, ``"race"`` (a pair on one clock, with the bytes
        that each has delivered; it has no controls) or ``"race-slide"`` (the same as a slide).
    figure:
        Which one in mode ``"figure"``: ``"datapath"``, ``"timeline"`` or ``"curves"``.
    theme:
        ``"light"``, ``"dark"``, or ``"auto"``: what the reader's system has.
    ratio:
        Of width to height, ``"16:9"`` or ``"4:3"``, of the page where the window has room for it as a slide; else it is a column that scrolls.
    start:
        Control to the value that it begins with; by default the scenario's own.
    bands:
        Whether the curves that the page begins with have bands: assumed figures at the ends of their ranges.
    framed:
        Whether it is a frame of a slide, as wide as that, whose title and foot say what it is about and what it rests on.
    progress:
        Hears how many states of how many are simulated.

    Raises
    ------
    ExportError
        If the page cannot be made as it is wanted; it says what is allowed.
    ScenarioError
        If a scenario cannot be simulated.
    """
    scenarios = _scenarios(subject)
    mode = mode or ("explorer" if len(scenarios) == 1 else "side-by-side")
    _check_words(len(scenarios), mode=mode, figure=figure, theme=theme, ratio=ratio)
    if mode in RACES:
        _check_race(controls, start)
        return page_of("race", race(*subject), layout=RACES[mode], theme=theme, bands=bands)  # type: ignore[misc]  # a pair, as checked
    shared = _shared(scenarios, controls)
    numbers = start_of(scenarios[0], shared, start)
    # Curves are most of what there is to simulate: a page that shows none has none.
    album = Album(bands=bands, curved=mode == "explorer" or (mode, figure) == ("figure", "curves"))
    pack = album.packing.text(
        {
            "mode": mode,
            "figure": figure,
            "theme": theme,
            "titles": _titles(scenarios),
            "subject": _subject(scenarios, mode),
            "choices": [control.page() for control in shared],
            "start": numbers,
            "states": [album.add(scenario, shared, numbers, progress) for scenario in scenarios],
            "curves": album.curves,
            "figures": empty_figures(tuple(VIEWS)),
            "palettes": palettes(),
            "version": __version__,
        }
    )
    shown = {"mode": mode, "figure": figure, "ratio": ratio, **({"framed": "yes"} if framed else {})}
    return page_alone("alone", _title(scenarios), shown, _PACK.format(pack))


def _steps(subject: object) -> list[StepRun]:
    """Return the steps that a page is about; none, if it is about something else."""
    several: list[Any] = list(subject) if isinstance(subject, list | tuple) else [subject]
    return several if several and all(isinstance(result, StepRun) for result in several) else []


def _check_options(options: Mapping[str, Any], *, of: Callable[..., str]) -> None:
    """Refuse an option that the page which `of` makes has not."""
    known = [name for name, given in signature(of).parameters.items() if given.kind is Parameter.KEYWORD_ONLY]
    for name in sorted(options.keys() - known):
        about = "a training step" if of is not page_html else "scenarios"
        raise ExportError(f"{name}: a page of {about} has no such option; {nearest(name, known)}")


_KNOWN = {"mode": MODES, "figure": FIGURES, "theme": THEMES, "ratio": RATIOS}


def _check_words(scenarios: int, **given: str) -> None:
    """Refuse a word that is unknown, and a mode that does not show as many scenarios."""
    for name, word in given.items():
        if word not in _KNOWN[name]:
            raise ExportError(f"{name}: unknown {word!r}; {nearest(str(word), _KNOWN[name])}")
    if (given["mode"] in ("side-by-side", *RACES)) != (scenarios == 2):
        raise ExportError(
            f"mode: {given['mode']!r} shows {'two scenarios; name the other, on the command line with --beside' if scenarios == 1 else 'one scenario'}"
        )


def _check_race(controls: Controls | None, start: Mapping[str, Any] | None) -> None:
    """Refuse what a race has not."""
    for name, given in (("controls", controls), ("start", start)):
        if given:
            raise ExportError(f"{name}: a race has no controls; it plays its two scenarios as they are")


def _scenarios(subject: Subject) -> list[Scenario]:
    several: list[Any] = list(subject) if isinstance(subject, list | tuple) else [subject]
    if not 1 <= len(several) <= 2:
        raise ExportError(f"a page shows one scenario or two, not {len(several)}")
    scenarios = [result.scenario if isinstance(result, Run) else result for result in several]
    for scenario in scenarios:
        if not isinstance(scenario, Scenario):
            raise ExportError(f"a page shows scenarios or runs of them, not {scenario!r}")
    return scenarios


def _shared(scenarios: Sequence[Scenario], controls: Controls | None) -> tuple[PageControl, ...]:
    """Return the controls; of two scenarios those change both, so what tells them apart is none."""
    page_controls = choices(scenarios[0], controls)
    if len(scenarios) == 1:
        return page_controls
    apart = [
        control.field for control in page_controls if len({getattr(s, control.field) for s in scenarios}) > 1
    ]
    if controls is not None:
        if apart:
            raise ExportError(f"controls: the two scenarios differ in {apart[0]}, so it cannot change both")
        return page_controls
    # A control changes both scenarios, so it can be none in which they differ.
    return tuple(control for control in page_controls if control.field in AXES and control.field not in apart)


def _titles(scenarios: Sequence[Scenario]) -> list[str]:
    """Return what stands above each of two scenarios; above one alone stands nothing."""
    return told_apart(scenarios) if len(scenarios) > 1 else [""]


def _subject(scenarios: Sequence[Scenario], mode: str) -> str:
    """Return what all that is shown is about: the machine and the operation, as far as they are the same; the explorer's card of busbw names the operation."""
    machines = {scenario.hardware.title for scenario in scenarios}
    operations = {scenario.collective_record.title for scenario in scenarios if mode != "explorer"}
    return ", ".join(names.pop() for names in (machines, operations) if len(names) == 1)


def _title(scenarios: Sequence[Scenario]) -> str:
    s = scenarios[0]
    return f"{s.hardware.title}: {s.collective_record.title}, {' against '.join(_titles(scenarios)) or 'data path, timeline and bandwidth'}"
