"""Which node, or which way between two nodes, makes runs slow: suspects with their probabilities, and which runs to make next."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Which node or cable makes our runs slow, and which runs tell most next?",
    answers="`Suspects`: what may be slow with its probability, and the commands of the next runs",
    commands={"suspects": "peerlab.features.suspects.suspects_command"},
    functions={"suspects": "peerlab.features.suspects.suspecting"},
    document="docs/using.md",
)
