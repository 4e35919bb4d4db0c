"""How long a collective takes in many runs with noise: median, tail, and what two data paths have between them."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="How long does it take in the worst of many runs, and what does Peer Direct gain there?",
    answers="`Tails`: mean, median and tail of two data paths, each with its interval",
    commands={"tails": "peerlab.features.tails.tails_command"},
    functions={"tails": "peerlab.features.tails.tails"},
    shows={"Tails": "peerlab.features.tails.tails_sheets:tails_html"},
    offers={
        "tails of a scenario": "peerlab.features.tails.tails:tails",
        "page of many runs": "peerlab.features.tails.tails_page:tails_page",
    },
    document="docs/using.md",
)
