"""Wall chart: one picture of all data paths or of many clusters."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="How do all paths, or all clusters, compare at a glance?",
    answers="one picture of all, the fastest first",
    functions={"wall_chart": "peerlab.features.wall.wall_chart"},
    document="docs/gallery.md",
)
