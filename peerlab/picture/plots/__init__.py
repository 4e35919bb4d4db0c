"""The Bokeh figures of views, empty until a page fills them: nothing else of the pictures needs Bokeh."""

from collections.abc import Callable

from bokeh.plotting import figure

from peerlab.picture.plots import curves_plot, scene_plot, timeline_plot

FIGURES: dict[str, Callable[[], figure]] = {
    "scene": scene_plot.build,
    "timeline": timeline_plot.build,
    "curves": curves_plot.build,
}
"""Name of a view (`picture.views.VIEWS`) to what builds its figure; a view that is not here has none."""
