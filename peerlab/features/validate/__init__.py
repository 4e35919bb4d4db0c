"""Validate: the model against expected figures."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="How far is the model from what was measured and published?",
    answers="expected figures beside simulated ones",
    commands={"validate": "peerlab.features.validate.validate_command"},
    offers={"expected figures": "peerlab.features.validate.expected_figures:load_expected"},
    document="docs/validation.md",
)
