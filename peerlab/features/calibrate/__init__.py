"""Fits constants of a cluster on a log, and says which of them the log cannot tell."""

from peerlab.features.calibrate.calibration import Calibration, calibrate
from peerlab.features.calibrate.constants import FITTABLE, Constant

__all__ = ["FITTABLE", "Calibration", "Constant", "calibrate"]
