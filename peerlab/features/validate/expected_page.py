"""Expected against simulated, as a page of its own that needs no network."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from bokeh.embed import json_item
from bokeh.layouts import column
from bokeh.models import ColumnDataSource, HoverTool, NumeralTickFormatter
from bokeh.plotting import figure

from peerlab.base.errors import ExpectationError
from peerlab.base.outfile import written
from peerlab.picture.bokeh_document import bokeh_script
from peerlab.picture.policy import inline, policy
from peerlab.picture.theme import FONT, LIGHT, STAGE_COLOURS

_DRAW = "Bokeh.embed.embed_item(JSON.parse(document.getElementById('figures').textContent));"
_TO_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_COLOURS = (*STAGE_COLOURS.values(), LIGHT["inside"], LIGHT["ink"], LIGHT["muted"])


def write_page(dots: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw dots and write the page.

    A dot has ``group``, ``name``, ``expected`` and ``simulated`` (numbers in ``unit``), ``says`` (what is expected, in
    words: a range is drawn at its middle), ``error`` and ``note``, what must be said about it if anything.

    Raises
    ------
    ExpectationError
        If the file cannot be written or there is nothing to draw.
    """
    # Axes are logarithmic: 0 has no place on them.
    drawn = [_scaled(dot) for dot in dots if dot["expected"] > 0 and dot["simulated"] > 0]
    if not drawn:
        raise ExpectationError("there is nothing to draw: no figure greater than zero")
    with written(path, ExpectationError) as file:
        file.write_text(_page(drawn), encoding="utf-8")


def _page(drawn: Sequence[Mapping[str, Any]]) -> str:
    item = json_item(column(*_figures(drawn), sizing_mode="stretch_width"), "pictures")
    figures = json.dumps(item).replace(
        "<", r"\u003c"
    )  # the same text, and no end of the element that holds it
    bokeh = inline(bokeh_script().read_text(encoding="utf-8"))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy(bokeh, _DRAW)}
<title>peerlab: expected against simulated</title>
<script>{bokeh}</script>
</head>
<body>
<div id="pictures"></div>
{_notes(drawn)}
<script type="application/json" id="figures">{figures}</script>
<script>{_DRAW}</script>
</body>
</html>
"""


def _notes(drawn: Sequence[Mapping[str, Any]]) -> str:
    """Return what is said about dots, each note once, below the pictures."""
    groups: dict[str, list[str]] = {}
    for dot in drawn:
        if dot["note"]:
            groups.setdefault(dot["note"], []).append(dot["name"])
    lines = [f"{'; '.join(names)}: {note}" for note, names in groups.items()]
    return "".join(f"<p style='font-family: sans-serif'>{escape(line)}</p>" for line in lines)


def _scaled(dot: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dot with times in microseconds, so that all stand on one pair of axes."""
    factor = _TO_MICROSECONDS.get(dot["unit"], 1.0)
    expected, simulated = dot["expected"] * factor, dot["simulated"] * factor
    unit = "µs" if dot["unit"] in _TO_MICROSECONDS else dot["unit"].replace("1", "(ratio)")
    return {
        **dot,
        "expected": expected,
        "simulated": simulated,
        "unit": unit,
        "error": simulated / expected - 1,
    }


def _figures(drawn: Sequence[Mapping[str, Any]]) -> list[Any]:
    low, high = (side(dot["expected"] for dot in drawn) for side in (min, max))
    both = _figure("simulated", "log", 420)
    both.line([low, high], [low, high], line_color=LIGHT["edge"], line_dash="dashed")
    error = _figure("relative error", "linear", 260)
    error.line([low, high], [0, 0], line_color=LIGHT["edge"], line_dash="dashed")
    # Shared, so that a point and its error stand below each other however far the reader zooms.
    error.x_range = both.x_range
    error.yaxis[0].formatter = NumeralTickFormatter(format="0 %")
    # In the order in which groups come: each keeps its colour in both pictures.
    for index, group in enumerate(dict.fromkeys(dot["group"] for dot in drawn)):
        mine = [dot for dot in drawn if dot["group"] == group]
        source = ColumnDataSource({name: [dot[name] for dot in mine] for name in mine[0]})
        look = {"source": source, "size": 8, "color": _COLOURS[index % len(_COLOURS)], "fill_alpha": 0.6}
        both.scatter("expected", "simulated", legend_label=group, **look)
        error.scatter("expected", "error", **look)
    both.legend.location = "top_left"
    return [both, error]


def _figure(title: str, y_axis: str, height: int) -> Any:
    plot = figure(
        height=height,
        x_axis_type="log",
        y_axis_type=y_axis,
        sizing_mode="stretch_width",
        toolbar_location=None,
    )
    plot.xaxis.axis_label = "expected: µs, GB/s or a ratio"
    plot.yaxis.axis_label = title
    for axis in (*plot.xaxis, *plot.yaxis):
        axis.update(
            axis_label_text_font=FONT, axis_label_text_font_style="normal", major_label_text_font=FONT
        )
    tips = [
        ("", "@name"),
        ("expected", "@says"),
        ("simulated", "@simulated @unit"),
        ("error", "@error{0.00 %}"),
        ("note", "@note"),
    ]
    plot.add_tools(HoverTool(tooltips=tips))
    return plot
