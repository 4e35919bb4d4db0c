"""An A/B trial on somebody's own machines: the commands that decide which of two data paths is faster, and what came back."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Which commands decide between two paths on my machines?",
    answers="a script of runs off and on in turns, and what they showed",
    commands={"plan": "peerlab.features.trial.plan_command"},
    document="docs/using.md",
)
