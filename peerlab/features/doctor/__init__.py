"""Can this host do peer direct? Every check says what it read, why it matters and how to mend it."""

from peerlab.features.doctor.check import FAIL, PASS, UNKNOWN, WARN, Check, Finding
from peerlab.features.doctor.host import Host
from peerlab.features.doctor.report import CANNOT_TELL, CHECKS, NO, YES, Report, examine

__all__ = [
    "CANNOT_TELL",
    "CHECKS",
    "FAIL",
    "NO",
    "PASS",
    "UNKNOWN",
    "WARN",
    "YES",
    "Check",
    "Finding",
    "Host",
    "Report",
    "examine",
]
