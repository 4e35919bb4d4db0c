"""Sweep: many scenarios into one table, here or on a cluster."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="How does the answer change over many scenarios?",
    answers="a table, one row a scenario",
    commands={"sweep": "peerlab.features.sweep.sweep_command"},
    functions={"sweep": "peerlab.features.sweep.sweeping"},
    document="docs/using.md",
)
