"""Writes docs/doctor.md: every check of `peerlab doctor`, in its own words.

`make docs` runs it.
"""

from collections.abc import Iterator
from itertools import groupby

from peerlab.features.doctor.check import Check
from peerlab.features.doctor.checks.variables import RULES, VariableRule
from peerlab.features.doctor.report import CHECKS

HEAD = """\
# What the doctor looks at

Written by `make docs` from the checks themselves; `peerlab doctor` makes them, `peerlab.doctor()` shows them in a notebook.

*fail*: a path is blocked. *warn*: it is open, but slower or fragile. *unknown*: it could not be read, often because only root may.
The answer is **no** if a check fails, **cannot tell** if one that could fail is unknown or left out, **yes** otherwise: nothing that
was read stands against it. Whether a library then takes the way is in its log (`via NET/IB/0/GDRDMA`, `Selected Provider is efa`).

Nothing is changed and no root is needed. libfabric is asked in a process of its own, and what does not answer within 10 s counts as
unknown. The checks of *real measurement* say nothing about peer direct.
"""
VARIABLES = """\
## Environment variables

A setting that blocks a path is a *fail*, the others are a *warn*. NCCL's count where there is a GPU, HCCL's where there is a Gaudi.

| variable | setting | what it does | what to do | blocks | source |
| --- | --- | --- | --- | --- | --- |
"""


def document() -> str:
    """Return the whole text."""
    groups = groupby(CHECKS, key=lambda check: check.group)
    return "\n".join(
        [
            HEAD,
            *(part for group, checks in groups for part in _group(group, checks)),
            VARIABLES + "".join(map(_variable, RULES)),
        ]
    )


def _group(name: str, checks: Iterator[Check]) -> Iterator[str]:
    yield f"## {name[:1].upper()}{name[1:]}\n"
    for check in checks:
        blocks = f" A fail blocks {', '.join(f'`{path}`' for path in check.blocks)}." if check.blocks else ""
        yield (
            f"### {check.title} (`{check.id}`)\n\n"
            f"{check.why}{blocks}\n\n"
            f"* read: {_plain(check.where)}\n"
            f"* rule: {_plain(check.rule)}\n"
            f"* mend: {_plain(check.mend)}\n"
            f"* source: {_plain(check.source)}\n"
        )


def _variable(rule: VariableRule) -> str:
    names = ", ".join(f"`{name}`" for name in rule.variable.split(", "))
    cells = (names, rule.setting, rule.does, rule.mend, ", ".join(rule.blocks), rule.source)
    return f"| {' | '.join(map(_plain, cells))} |\n"


def _plain(text: str) -> str:
    """Return text of which Markdown takes nothing as its own."""
    return text.replace("*", "\\*").replace("|", "/")
