"""The empty figure of the timeline: lanes, spans, the critical path."""

from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HBar,
    HoverTool,
    LinearAxis,
    PanTool,
    Range1d,
    ResetTool,
    WheelZoomTool,
)
from bokeh.plotting import figure

_HOVER = """
<div style="font-size:13px;line-height:1.45"><b>@stage</b><br>@what<br>@when<br>@wait</div>
"""


def build() -> figure:
    """Return the empty figure; the page fills its sources and draws only what can be seen apart."""
    plot = _axes()
    grounds = ColumnDataSource({"y": [], "right": [], "fill": []}, name="timeline_grounds")
    plot.hbar(y="y", left=0, right="right", height=0.86, color="fill", source=grounds)
    names = ("y", "left", "right", "height", "fill", "alpha", "stage", "what", "when", "wait")
    spans = ColumnDataSource({name: [] for name in names}, name="timeline_spans")
    bars = HBar(
        y="y",
        left="left",
        right="right",
        height="height",
        fill_color="fill",
        fill_alpha="alpha",
        line_color=None,
    )
    marks = plot.add_glyph(spans, bars)
    plot.add_tools(HoverTool(renderers=[marks], tooltips=_HOVER, attachment="above", name="timeline_hover"))
    path = ColumnDataSource({"y": [], "left": [], "right": []}, name="timeline_critical")
    plot.hbar(
        y="y",
        left="left",
        right="right",
        height=0.86,
        fill_color=None,
        line_color="#D55E00",
        line_width=2,
        source=path,
    )
    return plot


def _axes() -> figure:
    pan, zoom = PanTool(dimensions="width"), WheelZoomTool(dimensions="width", modifiers="shift")
    plot = figure(
        name="timeline",
        x_range=Range1d(0, 1, bounds=(0, None), name="timeline_x"),
        y_range=Range1d(9.5, -0.5, name="timeline_y"),
        height=162,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools=[pan, zoom, ResetTool()],
        active_drag=pan,
        active_scroll=zoom,
        min_border_left=122,
        min_border_right=6,
        min_border_top=13,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
        x_axis_type=None,
        # Else Bokeh leaves marks out while one pans, and there are never many.
        lod_threshold=None,
    )
    plot.add_layout(LinearAxis(name="timeline_time"), "below")
    plot.grid.visible = False
    plot.yaxis.name = "timeline_lanes"
    plot.yaxis.ticker = FixedTicker(ticks=[], name="timeline_ticks")
    return plot
