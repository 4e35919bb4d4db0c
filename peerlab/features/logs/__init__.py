"""Logs: reads other tools' logs and keeps them as records."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="What does this log of another tool hold?",
    answers="`Records`, one row a measurement",
    commands={"import": "peerlab.features.logs.import_command"},
    functions={"load": "peerlab.training.loading"},
    document="docs/using.md",
)
