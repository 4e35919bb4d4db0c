"""Diagnose: which data path a log took, as text and in a notebook."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Which path did this log take, and what would Peer Direct give?",
    answers="`Diagnosis`: a verdict with its evidence",
    commands={"diagnose": "peerlab.features.diagnose.diagnose_command"},
    functions={"diagnose": "peerlab.diagnosis.diagnosis"},
    shows={"Diagnosis": "peerlab.features.diagnose.diagnosis_report:diagnosis_html"},
    offers={"HTML of a diagnosis": "peerlab.features.diagnose.diagnosis_report:diagnosis_below"},
    document="docs/diagnosis.md",
)
