"""Draws time and memory over nodes and over slices, four plots in one picture."""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bokeh.embed import file_html
from bokeh.layouts import gridplot
from bokeh.models import Legend, LegendItem, NumeralTickFormatter
from bokeh.plotting import figure
from bokeh.resources import INLINE

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))
from driver import chromium

from peerlab.picture.theme import FONT, LIGHT, STAGE_COLOURS

LOOKS = {
    "ideal-100g": (LIGHT["ink"], "solid"),
    "ideal-100g, transfers whole": (LIGHT["ink"], "solid"),
    "dl1 host-rdma": (STAGE_COLOURS["copy"], "solid"),
    "dl1 host-rdma, one node less": (STAGE_COLOURS["copy"], "dashed"),
    "dl1 peer-direct, cached": (STAGE_COLOURS["direct"], "solid"),
    "dl1 peer-direct, no cache": (STAGE_COLOURS["register"], "dashed"),
    "dl1 host-tcp": (STAGE_COLOURS["cpu"], "solid"),
}
WIDTH, HEIGHT, LEGEND = 460, 340, 210


@dataclass(frozen=True)
class Curve:
    """What grows."""

    name: str
    """Of what."""
    points: list[tuple[int, dict[str, float]]]
    """Nodes or slices, and what `one.measure` found."""


def draw(path: Path, by_nodes: list[Curve], by_slices: list[Curve], nodes: int) -> None:
    """Write the picture."""
    slices = f"slices of a transfer, {nodes} nodes"
    plots = [
        [
            plot(curves, "ms", "Time of one simulation", axis),
            plot(curves, "MiB", "Peak memory", axis, legend=True),
        ]
        for curves, axis in ((by_nodes, "nodes"), (by_slices, slices))
    ]
    page = file_html(gridplot(plots, toolbar_location=None), INLINE, "growth")
    with (
        tempfile.NamedTemporaryFile("w", suffix=".html") as html,
        chromium(2 * WIDTH + LEGEND, 2 * HEIGHT, scale=1.5) as browser,
    ):
        html.write(page)
        html.flush()
        tab = browser.new_page()
        tab.goto(f"file://{html.name}")
        tab.wait_for_function("() => Bokeh.documents.length && Bokeh.documents.every(one => one.is_idle)")
        tab.locator(".bk-GridPlot").screenshot(path=path)


def plot(curves: list[Curve], unit: str, title: str, axis: str, *, legend: bool = False) -> figure:
    """Return one of the four plots; the legend stands beside the right ones, for both."""
    one = figure(
        width=WIDTH + LEGEND * legend,
        height=HEIGHT,
        title=f"{title}, {unit}",
        x_axis_type="log",
        y_axis_type="log",
        x_axis_label=axis,
    )
    one.xaxis.ticker = [x for x, _ in curves[0].points]
    one.yaxis.formatter = NumeralTickFormatter(format="0,0.[000]")
    one.title.text_font = FONT
    one.axis.axis_label_text_font = one.axis.major_label_text_font = FONT
    items = [LegendItem(label=curve.name, renderers=list(marks(one, curve, unit))) for curve in curves]
    if legend:
        one.add_layout(Legend(items=items, label_text_font=FONT, border_line_color=None), "right")
    return one


def marks(one: figure, curve: Curve, unit: str) -> Iterator[object]:
    colour, dash = LOOKS[curve.name]
    xs = [x for x, _ in curve.points]
    ys = [took["seconds"] * 1e3 if unit == "ms" else took["peak_bytes"] / 2**20 for _, took in curve.points]
    yield one.line(xs, ys, color=colour, line_dash=dash, line_width=2)
    yield one.scatter(xs, ys, color=colour, size=6)
