"""The empty figure of the data path: what stands still, and above it what moves."""

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, MultiLine, Quad, Range1d, Scatter, Text
from bokeh.plotting import figure

from peerlab.picture.drawing import HEIGHT, WAY_ALPHA, WIDTH, Drawing
from peerlab.picture.theme import FONT

_BOX = {"left": "left", "right": "right", "top": "top", "bottom": "bottom"}


def build() -> figure:
    """Return the empty figure; the page fills its sources."""
    plot = figure(
        name="scene",
        x_range=Range1d(0, WIDTH),
        # Downwards, as in SVG and on a page.
        y_range=Range1d(HEIGHT, 0),
        aspect_ratio=WIDTH / HEIGHT,
        sizing_mode="scale_width",
        toolbar_location=None,
        tools="",
        x_axis_type=None,
        y_axis_type=None,
        min_border=0,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
    )
    radius = {"panels": 10, "pipes": 4, "loads": 2, "boxes": 7, "slots": 1}
    # From the background up: ways run below boxes.
    for name in ("panels", "pipes", "loads", "lines", "boxes", "slots"):
        source = ColumnDataSource(getattr(Drawing(), name), name=f"scene_{name}")
        if name == "lines":
            glyph = MultiLine(
                xs="xs",
                ys="ys",
                line_color="line",
                line_width="width",
                line_dash=[2, 5],
                line_alpha=WAY_ALPHA,
            )
        else:
            glyph = Quad(
                **_BOX, fill_color="fill", line_color="line", line_width="width", border_radius=radius[name]
            )
        plot.add_glyph(source, glyph)
    _add_moving(plot)
    return plot


def _add_moving(plot: figure) -> None:
    """Add what the page changes in every frame: table rows, the ring, slices, words.

    All of it is on a canvas above the static scene, so that a frame repaints no part of that.
    """
    rows = ColumnDataSource({**{name: [] for name in _BOX}, "fill": [], "line": []}, name="scene_rows")
    plot.add_glyph(rows, Quad(**_BOX, fill_color="fill", line_color="line", border_radius=4), level="overlay")
    dots = ColumnDataSource({"x": [], "y": [], "fill": [], "size": []}, name="scene_ring")
    plot.add_glyph(
        dots,
        Scatter(x="x", y="y", size="size", fill_color="fill", line_color=None, marker="circle"),
        level="overlay",
    )
    late = ColumnDataSource({"xs": [], "ys": [], "line": [], "width": [], "alpha": []}, name="scene_late")
    ring = MultiLine(xs="xs", ys="ys", line_color="line", line_width="width", line_alpha="alpha")
    plot.add_glyph(late, ring, level="overlay")
    text = {"x": "x", "y": "y", "text": "text", "text_font_size": "size", "text_font_style": "style"}
    text |= {"text_color": "ink", "text_align": "align", "text_baseline": "baseline"}
    columns: dict[str, list[object]] = {
        name: [] for name in ("x", "y", "text", "size", "style", "ink", "align", "baseline")
    }
    words = Text(**text, text_font=value(FONT))
    plot.add_glyph(ColumnDataSource(dict(columns), name="scene_texts"), words.clone(), level="glyph")
    trains = ColumnDataSource({"xs": [], "ys": [], "line": [], "width": [], "alpha": []}, name="scene_trains")
    passing = MultiLine(xs="xs", ys="ys", line_color="line", line_width="width", line_alpha="alpha")
    plot.add_glyph(trains, passing, level="overlay")
    slices = ColumnDataSource({"x": [], "y": [], "fill": [], "line": [], "size": []}, name="scene_slices")
    plot.add_glyph(
        slices,
        Scatter(
            x="x", y="y", size="size", fill_color="fill", line_color="line", line_width=1.5, marker="square"
        ),
        level="overlay",
    )
    # Words lie on slices: an arrow on a link that is full is read.
    plot.add_glyph(ColumnDataSource(dict(columns), name="scene_words"), words, level="overlay")
