"""A calibration as HTML for a notebook: its document in the frame of reports."""

from peerlab.features.calibrate.calibration import Calibration
from peerlab.features.calibrate.calibration_document import calibration_document
from peerlab.page.document_html import document_html


def calibration_html(calibration: Calibration) -> str:
    """Return a calibration as HTML that brings its own style."""
    return document_html(calibration_document(calibration), "calibration")
