"""Neighbours: what others on the same network do to an AllReduce, fabric by fabric."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Who else sends over these links, or what is lost on them, and what does it cost my AllReduce?",
    answers="`PortComparison`: time, bus bandwidth, share, bytes sent twice and time paused on each fabric; `SharedFabric`: jobs alone and together",
    commands={
        "neighbours": "peerlab.features.neighbours.neighbours_command",
        "jobs": "peerlab.features.neighbours.jobs_command",
    },
    functions={
        "neighbours": "peerlab.features.neighbours.port_comparison",
        "shared_fabric": "peerlab.study.jobs_answer",
    },
    shows={
        "PortComparison": "peerlab.features.neighbours.port_page:neighbours_frame",
        "SharedFabric": "peerlab.features.neighbours.jobs_page:jobs_frame",
    },
    offers={
        "neighbours on fabrics": "peerlab.features.neighbours.port_comparison:neighbours",
        "page of a PortComparison": "peerlab.features.neighbours.port_page:comparison_html",
        "page of a SharedFabric": "peerlab.features.neighbours.jobs_page:jobs_page_html",
    },
    document="docs/using.md",
)
