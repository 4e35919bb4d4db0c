"""A diagnosis in a notebook and in the lab."""

from peerlab.base.document import Conclusion
from peerlab.diagnosis import Diagnosis
from peerlab.features.diagnose.diagnosis_document import STATUSES, diagnosis_document, gain_words, path_name
from peerlab.page.document_html import conclusion_html, document_html, part_html
from peerlab.page.frame import framed


def diagnosis_html(diagnosis: Diagnosis, name: str = "this log") -> str:
    """Return a diagnosis of the log called `name` as HTML that brings its own style."""
    return document_html(diagnosis_document(diagnosis, name), "diagnosis")


def diagnosis_below(diagnosis: Diagnosis, name: str = "this log") -> str:
    """Return a diagnosis as it stands below a verdict: the path and what Peer Direct would bring; the rest is folded."""
    document = diagnosis_document(diagnosis, name)
    parts = map(part_html, document.parts[1:])
    path = f"{path_name(diagnosis.path)}, {diagnosis.verdict}" if diagnosis.path else "Cannot tell which path"
    first = conclusion_html(Conclusion(STATUSES[diagnosis.verdict], path, diagnosis.why))
    gain = "" if diagnosis.forecast.why_not else part_html(gain_words(diagnosis.forecast))
    folded = f"<details><summary>Evidence, and what to check next</summary>{''.join(parts)}</details>"
    return framed("diagnosis", document.title, first + gain + folded)
