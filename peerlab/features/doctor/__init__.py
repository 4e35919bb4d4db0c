"""Can this host do peer direct? Every check says what it read, why it matters and how to mend it."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Can this host do peer direct, and if not, why?",
    answers="`Report`: a verdict, and what each check read",
    commands={"doctor": "peerlab.features.doctor.doctor_command"},
    shows={"Report": "peerlab.features.doctor.doctor_report:report_html"},
    document="docs/doctor.md",
)
