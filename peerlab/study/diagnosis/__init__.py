"""Tells which data path a log is from, and what Peer Direct would bring."""

from peerlab.study.diagnosis.diagnosis import CANNOT_TELL, Diagnosis, Explanation, diagnose
from peerlab.study.diagnosis.evidence import Evidence
from peerlab.study.diagnosis.forecast import Forecast
from peerlab.study.diagnosis.knowledge import NextMeasurement, explanations
from peerlab.study.diagnosis.misfit import misfit, taken_elsewhere

__all__ = [
    "CANNOT_TELL",
    "Diagnosis",
    "Evidence",
    "Explanation",
    "Forecast",
    "NextMeasurement",
    "diagnose",
    "explanations",
    "misfit",
    "taken_elsewhere",
]
