"""Neighbours: what others on the same network do to an AllReduce, fabric by fabric."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Who else sends over these links, or what is lost on them, and what does it cost my AllReduce?",
    answers="`PortComparison`: time, bus bandwidth, share, bytes sent twice and time paused on each fabric",
    commands={"neighbours": "peerlab.features.neighbours.neighbours_command"},
    functions={"neighbours": "peerlab.features.neighbours.port_comparison"},
    shows={"PortComparison": "peerlab.features.neighbours.neighbours_report:neighbours_html"},
    document="docs/using.md",
)
