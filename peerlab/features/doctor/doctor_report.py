"""The doctor's report in a notebook: a verdict and a table, light and dark, that needs no script."""

from collections.abc import Sequence
from html import escape

from peerlab.base.document import Conclusion
from peerlab.base.units import say_count
from peerlab.features.doctor.check import FAIL, PASS, UNKNOWN, WARN, Finding
from peerlab.features.doctor.report import NO, YES, Report
from peerlab.page.document_html import conclusion_html, sign
from peerlab.page.frame import framed

_OF_VERDICT = {YES: PASS, NO: FAIL}


def report_html(report: Report) -> str:
    """Return a report as HTML that brings its own style; all text is escaped."""
    status = _OF_VERDICT.get(report.verdict, UNKNOWN)
    verdict = conclusion_html(Conclusion(status, report.says, ""))
    tables = "".join(_table(group, findings) for group, findings in report.groups)
    return framed("doctor", "Can this host do peer direct?", verdict + tables)


def _table(group: str, findings: Sequence[Finding]) -> str:
    """Return what is not as it should be, and below it, folded, the checks that passed."""
    passed = [finding for finding in findings if finding.status == PASS]
    others = [finding for finding in findings if finding.status != PASS]
    name = f"{group}: {say_count(len(passed), 'check')} passed"
    folded = f"<details><summary>{escape(name)}</summary>{_rows('', passed)}</details>" if passed else ""
    return (_rows(group, others) if others else "") + folded


def _rows(group: str, findings: Sequence[Finding]) -> str:
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("status", "check", "what was read"))
    rows = "".join(_row(finding) for finding in findings)
    caption = f"<caption>{escape(group)}</caption>" if group else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(finding: Finding) -> str:
    check = finding.check
    return (
        f"<tr class='pl-{finding.status}'><td>{sign(finding.status)} {finding.status}</td>"
        f"<th scope='row'>{escape(check.title)}<br><code>{escape(check.id)}</code></th>"
        f"<td>{escape(finding.found)}{_advice(finding)}{_details(finding)}</td></tr>"
    )


def _advice(finding: Finding) -> str:
    """Return what follows from what is not as it should be, and how to mend it."""
    parts = []
    # A pass needs no advice, and of what could not be read none is known.
    if finding.status in (WARN, FAIL):
        parts += [("why", finding.check.why), ("mend", finding.mend)]
    if finding.blocks:
        parts.append(("blocks" if finding.status == FAIL else "may block", ", ".join(finding.blocks)))
    return "".join(f"<p><b>{name}</b> {escape(text)}</p>" for name, text in parts)


def _details(finding: Finding) -> str:
    check = finding.check
    parts = {"read in": check.where, "rule": check.rule, "source": finding.source}
    if finding.status in (PASS, UNKNOWN):
        parts["why"] = check.why
    items = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in parts.items())
    return f"<details><summary>rule and source</summary><dl>{items}</dl></details>"
