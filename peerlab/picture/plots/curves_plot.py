"""The empty figure of the curves: bands, lines, dots, measured points, names at the lines."""

from bokeh.core.properties import value
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    MultiLine,
    Patches,
    Range1d,
    Scatter,
    Text,
)
from bokeh.plotting import figure

from peerlab.picture.curve_scenarios import NODES
from peerlab.picture.theme import FONT

_HOVER_MEASURED = '<div style="font-size:13px;line-height:1.45"><b>@label</b><br>@note{safe}</div>'
_HOVER = '<div style="font-size:13px;line-height:1.45"><b>@label</b>, simulated<br>@note{safe}</div>'


def build() -> figure:
    """Return the empty figure; the page fills its sources. What is added later lies above."""
    plot = _axes()
    plot.add_glyph(
        _source("bands", "xs", "ys", "fill", "alpha"),
        Patches(xs="xs", ys="ys", fill_color="fill", line_color=None, fill_alpha="alpha"),
    )
    plot.add_glyph(
        _source("edges", "xs", "ys", "line"),
        MultiLine(xs="xs", ys="ys", line_color="line", line_width=1, line_alpha=0.4),
    )
    plot.add_glyph(
        _source("leads", "xs", "ys", "line", "dash", "width", "alpha"),
        MultiLine(
            xs="xs", ys="ys", line_color="line", line_dash="dash", line_width="width", line_alpha="alpha"
        ),
    )
    plot.add_glyph(
        _source("lines", "xs", "ys", "line", "dash", "width", "alpha"),
        MultiLine(
            xs="xs", ys="ys", line_color="line", line_dash="dash", line_width="width", line_alpha="alpha"
        ),
    )
    dots = plot.add_glyph(
        _source("points", "x", "y", "fill", "label", "note", "size"),
        Scatter(x="x", y="y", size="size", fill_color="fill", line_color=None),
    )
    diamonds = plot.add_glyph(
        _source("measured", "x", "y", "line", "fill", "label", "note"),
        Scatter(x="x", y="y", size=10, marker="diamond", fill_color="fill", line_color="line", line_width=2),
    )
    plot.add_glyph(
        _source("marks", "x", "y", "fill", "line", "size"),
        Scatter(x="x", y="y", size="size", fill_color="fill", line_color="line", line_width=2.5),
    )
    _add_names(plot)
    plot.add_tools(HoverTool(renderers=[dots], tooltips=_HOVER, mode="mouse"))
    plot.add_tools(HoverTool(renderers=[diamonds], tooltips=_HOVER_MEASURED, mode="mouse"))
    return plot


def _source(name: str, *columns: str) -> ColumnDataSource:
    """Return an empty source of these columns, by the name under which the page finds it."""
    return ColumnDataSource({column: [] for column in columns}, name=f"curves_{name}")


def _axes() -> figure:
    plot = figure(
        name="curves",
        x_range=Range1d(1.6, 1300, name="curves_x"),
        y_range=Range1d(0, 100, name="curves_y"),
        x_axis_type="log",
        height=162,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        min_border_left=38,
        min_border_right=0,
        min_border_top=8,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
    )
    plot.xaxis.name, plot.yaxis.name = "curves_values", "curves_busbw"
    plot.xaxis.ticker = FixedTicker(ticks=list(NODES), name="curves_ticks")
    plot.yaxis.ticker = plot.ygrid.ticker = FixedTicker(ticks=[0], name="curves_steps")
    plot.xgrid.visible = False
    plot.ygrid.name = "curves_grid"
    return plot


def _add_names(plot: figure) -> None:
    """Add the names at the ends of the lines."""
    plot.add_glyph(
        _source("words", "x", "y", "text", "ink", "dy"),
        Text(
            name="curves_names",
            x="x",
            y="y",
            text="text",
            text_color="ink",
            text_align="left",
            y_offset="dy",
            text_font_size=value("12px"),
            text_font_style=value("bold"),
            text_font=value(FONT),
        ),
    )
