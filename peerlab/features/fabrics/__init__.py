"""Fabrics: one question on all transports of a cluster."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="What does the same question take on every transport of this cluster?",
    answers="`FabricComparison`",
    commands={"fabrics": "peerlab.features.fabrics.fabrics_command"},
    shows={"FabricComparison": "peerlab.features.fabrics.fabrics_page:fabrics_frame"},
    offers={"page of a FabricComparison": "peerlab.features.fabrics.fabrics_page:fabrics_page_html"},
    document="docs/using.md",
)
