"""The wall chart of a review: one picture of all data paths of a cluster, or of one path on many clusters."""

import tempfile
from html import escape
from pathlib import Path
from typing import Any

from peerlab.answer.run import Run
from peerlab.base.errors import ExportError, HardwareError, ScenarioError, nearest
from peerlab.base.outfile import written
from peerlab.engine.simulate import simulate
from peerlab.features.wall.multiples import alt_text, multiples_svg, size
from peerlab.model.paths import path_title
from peerlab.page.browser import browser
from peerlab.page.target import checked
from peerlab.picture.policy import policy
from peerlab.picture.theme import palette
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario, checked_scenario

OVERS = ("paths", "clusters")
"""What a wall chart goes over."""
CHARTS = (".svg", ".png", ".pdf", ".html")
"""What it may be written as."""


def wall_chart(
    scenario: Scenario, path: str | Path, *, over: str = "paths", theme: str = "light", scale: int = 1
) -> Path:
    """Write the same picture of many runs side by side, the fastest first; return the file.

    Parameters
    ----------
    scenario:
        What is asked of each.
    path:
        The file: ``.svg`` and ``.html`` (a page without a script), or ``.png`` and ``.pdf``, which need a Chromium.
    over:
        ``paths``: all data paths of the scenario's cluster; ``clusters``: its path on every known cluster that has it, and on the scenario's own.
    theme:
        ``light`` or ``dark``.
    scale:
        Pixels of a PNG per unit of the picture, 1 to 4.

    Raises
    ------
    ExportError
        If a word is unknown, nothing can be shown, or the file cannot be written.

    >>> from peerlab import Scenario
    >>> wall_chart(Scenario(), "chart.svg").name
    'chart.svg'
    """
    if over not in OVERS:
        raise ExportError(f"over: unknown {over!r}; {nearest(str(over), OVERS)}")
    if scale not in (1, 2, 3, 4):
        raise ExportError(f"scale: {scale!r} is none of 1, 2, 3, 4")
    target = checked(path, CHARTS, theme)
    runs, left_out = runs_over(checked_scenario(scenario), over)
    svg = multiples_svg(runs, theme, left_out)
    page = _page(svg, alt_text(runs, left_out), theme, size(runs, left_out)[1])
    with written(target, ExportError) as file:
        if target.suffix in (".svg", ".html"):
            file.write_text(svg if target.suffix == ".svg" else page, encoding="utf-8")
        else:
            file.write_bytes(_taken(page, size(runs, left_out), target.suffix, scale))
    return target


def runs_over(scenario: Scenario, over: str) -> tuple[list[Run], list[str]]:
    """Return the runs of a wall chart, and the titles of what cannot do the scenario (a cluster that lacks the path, ...)."""
    wanted: list[tuple[str, dict[str, Any]]]
    if over == "paths":
        wanted = [(path_title(path), {"path": path}) for path in scenario.hardware.paths]
    else:
        wanted = [(load_cluster(name).title, {"cluster": name}) for name in known_clusters()]
        if (
            scenario.hardware.name not in known_clusters()
        ):  # somebody's own comes first, often with a known one's title
            wanted.insert(0, (scenario.hardware.title, {}))
    runs, left_out = [], []
    for title, changes in wanted:
        try:
            runs.append(simulate(scenario.with_(**changes)))
        # What a cluster cannot do is told below the chart; it is no error of the others.
        except (ScenarioError, HardwareError):
            left_out.append(title)
    # A run of no time has no bar, and no bandwidth.
    shown = [run for run in runs if run.time_ps]
    if not shown:
        raise ExportError(
            f"a wall chart over {over} has nothing to show: {scenario.nodes} nodes exchange nothing"
        )
    return shown, left_out


def _taken(page: str, size_px: tuple[float, float], suffix: str, scale: int) -> bytes:
    """Return a page as PNG or PDF."""
    width, height = map(round, size_px)
    with browser(width, height, scale) as window, tempfile.TemporaryDirectory(prefix="peerlab-") as folder:
        file = Path(folder) / "chart.html"
        file.write_text(page, encoding="utf-8")
        window.go(file)
        return window.pdf(width, height) if suffix == ".pdf" else window.png()


def _page(svg: str, title: str, theme: str, high: float) -> str:
    # As large as the window allows, but never smaller than it was drawn; the window around it has its ground.
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>{policy()}"
        f"<meta name='viewport' content='width=device-width, initial-scale=1'><title>{escape(title)}</title>"
        f"<style>html,body{{margin:0;background:{palette(theme)['paper']}}}svg{{display:block;width:100%;height:auto;max-height:max(100vh,{high:g}px)}}"
        f"@media screen{{main{{min-height:100vh;display:grid;align-items:center}}}}@media print{{svg{{max-height:100vh}}}}"
        f"h1{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);margin:0}}</style></head><body><main><h1>{escape(title)}</h1>{svg}</main></body></html>"
    )
