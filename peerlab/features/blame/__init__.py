"""Who is to blame for a slow run: a node, the way between two, or nobody."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Who is to blame for a slow run?",
    answers="`Blame`: what each node and each way explains of the time that was lost",
    functions={"blame": "peerlab.features.blame.blaming"},
    shows={"Blame": "peerlab.features.blame.blame_picture:blame_html"},
    offers={"blame of a run": "peerlab.features.blame.blame_picture:blame_of_run"},
    document="docs/using.md",
)
