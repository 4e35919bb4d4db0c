"""A diagnosis in a notebook and in the lab."""

from peerlab.diagnosis import Diagnosis
from peerlab.features.diagnose.diagnosis_document import (
    conclusion,
    diagnosis_document,
    gain_words,
    without_words,
)
from peerlab.page.document_html import conclusion_html, document_html, part_html
from peerlab.page.frame import framed


def diagnosis_html(diagnosis: Diagnosis, name: str = "this log") -> str:
    """Return a diagnosis of the log called `name` as HTML that brings its own style."""
    return document_html(diagnosis_document(diagnosis, name), "diagnosis")


def diagnosis_below(diagnosis: Diagnosis, name: str = "this log") -> str:
    """Return a diagnosis as it stands below a verdict: the path and what Peer Direct would bring; the rest is folded."""
    document = diagnosis_document(diagnosis, name)
    first = conclusion_html(conclusion(diagnosis))
    forecast = diagnosis.forecast
    gains = [] if forecast.why_not else [gain_words(forecast), *without_words(forecast)]
    gain = "".join(map(part_html, gains))
    parts = (part_html(part) for part in document.parts[1:] if part not in gains)
    folded = f"<details><summary>Evidence, and what to check next</summary>{''.join(parts)}</details>"
    return framed("diagnosis", document.title, first + gain + folded)
