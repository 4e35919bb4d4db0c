"""A diagnosis in a notebook and in the lab."""

from peerlab.diagnosis import Diagnosis
from peerlab.features.diagnose.diagnosis_document import diagnosis_document
from peerlab.page.document_html import document_html


def diagnosis_html(diagnosis: Diagnosis, name: str = "this log") -> str:
    """Return a diagnosis of the log called `name` as HTML that brings its own style."""
    return document_html(diagnosis_document(diagnosis, name), "diagnosis")
