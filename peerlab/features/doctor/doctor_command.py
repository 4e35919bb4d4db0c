"""`peerlab doctor`: whether this host can do peer direct, check by check."""

import argparse
import json
from collections.abc import Iterator
from typing import Any

from peerlab.base.exit_status import WRONG_USAGE
from peerlab.base.terminal_text import command, wrapped
from peerlab.features.doctor.check import FAIL, PASS, UNKNOWN, WARN, Finding
from peerlab.features.doctor.report import NO, Report, examine

_EXAMPLES = """\
examples:
  peerlab doctor                    can this host do peer direct, and if not, why
  peerlab doctor --only memory      only checks whose name holds this; * and ? work too
  peerlab doctor --json             everything that was read, with rules, reasons and sources

Needs no root (but root may read more), changes nothing, and waits for no answer longer than 10 s.

exit status: 0 no check fails, 1 some check does, 2 wrong usage, an unknown check included
"""

_WORDS = {PASS: "pass", WARN: "warn", FAIL: "FAIL", UNKNOWN: "unknown"}


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "doctor",
        "say whether this host can do peer direct, and how to mend it",
        _doctor,
        epilog=_EXAMPLES,
    )
    sub.set_defaults(refused=WRONG_USAGE)  # 1 would say that a check fails
    sub.add_argument(
        "--only",
        metavar="PATTERN",
        action="append",
        default=[],
        help="only checks whose name holds this text or matches this pattern; may be given several times",
    )
    sub.add_argument("--json", action="store_true", help="print everything as JSON")


def _doctor(options: argparse.Namespace) -> int:
    report = examine(only=options.only)
    if options.json:
        print(json.dumps(report.as_dict(), indent=2))
    else:
        print("\n".join(_lines(report)))
    return 1 if report.verdict == NO else 0


def _lines(report: Report) -> Iterator[str]:
    yield from wrapped(f"Can this host do peer direct? {report.says}")
    names = max(len(finding.check.id) for finding in report.findings)
    for group, findings in report.groups:
        yield f"\n{group}"
        for finding in findings:
            yield from _finding_lines(finding, names)


def _finding_lines(finding: Finding, names: int) -> Iterator[str]:
    yield from wrapped(finding.found, f"  {_WORDS[finding.status]:<7}  {finding.check.id:<{names}}  ")
    if finding.status == PASS:
        return
    yield from _detail("read in", finding.check.where)
    if finding.status != UNKNOWN:
        yield from _detail("why", finding.check.why)
        yield from _detail("mend", finding.mend)
    if finding.blocks:
        yield from _detail("blocks" if finding.status == FAIL else "may block", ", ".join(finding.blocks))


def _detail(name: str, text: str) -> list[str]:
    return wrapped(text, f"           {name:<9}  ")
