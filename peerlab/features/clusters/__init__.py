"""Clusters: a cluster file of one's own, drafted, completed and checked."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Which clusters are known, and how do I describe mine?",
    answers="a cluster file with every figure and its source",
    commands={"clusters": "peerlab.features.clusters.clusters_command"},
    functions={"known_clusters": "peerlab.question.presets", "load_cluster": "peerlab.question.presets"},
    document="docs/using.md",
)
