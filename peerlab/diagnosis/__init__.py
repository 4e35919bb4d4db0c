"""Tells which data path a log is from, and what Peer Direct would bring."""

from peerlab.diagnosis.diagnosis import CANNOT_TELL, Diagnosis, Explanation, diagnose
from peerlab.diagnosis.evidence import Evidence
from peerlab.diagnosis.forecast import Forecast
from peerlab.diagnosis.knowledge import NextMeasurement, explanations
from peerlab.diagnosis.misfit import misfit, taken_elsewhere

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
