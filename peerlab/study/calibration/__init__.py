"""Fits constants of a cluster on a log, and says which of them the log cannot tell."""

from peerlab.study.calibration.calibration import Calibration, calibrate
from peerlab.study.calibration.constants import FITTABLE, Constant

__all__ = ["FITTABLE", "Calibration", "Constant", "calibrate"]
