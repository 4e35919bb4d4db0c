"""Fits constants of a cluster on a log, and says which of them the log cannot tell."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Which figures of my cluster file does a log tell better?",
    answers="`Calibration`: constants with intervals, and the fit",
    commands={"calibrate": "peerlab.features.calibrate.calibrate_command"},
    functions={"calibrate": "peerlab.features.calibrate.calibration"},
    shows={"Calibration": "peerlab.features.calibrate.calibration_report:calibration_html"},
    document="docs/using.md",
)
