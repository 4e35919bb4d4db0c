"""Writes docs/verdicts.md: what `peerlab expect --log` says of every log of NCCL that comes with peerlab, and which faults a log can show.

`make docs` runs it.
"""

from collections import Counter
from collections.abc import Iterator

from documents import table

from peerlab.base.units import MIB, say_bytes, say_count, say_share
from peerlab.features.expect.expectation import expectation, usual_path
from peerlab.features.expect.verdicts.causes import JudgedSize
from peerlab.features.expect.verdicts.faults import faults
from peerlab.features.expect.verdicts.judging import judge
from peerlab.features.expect.verdicts.log_verdict import LogVerdict
from peerlab.features.expect.verdicts.verdict_rules import BELOW, HEALTHY, HELD_UP, UNKNOWN, ruled
from peerlab.question.scenario import Scenario
from peerlab.records.library import measured_library
from peerlab.records.schema import Records

HEAD = """\
# Is a run well?

Written by `make docs` from `data/measured/` and the simulation. `peerlab expect --log LOG --cluster NAME` says the same of one log, size by size.

Every log of NCCL or RCCL that comes with peerlab was held against the floor of its own machine. *Inside* counts sizes within the band, which nine of
ten should be. *Explains* is the share of what is missing, as a logarithm over the sizes that fall short, that the fault which fits best explains; it is a
cause from 80 % on, and at three sizes or more. Lines of a log that name a cause, such as `Using network Socket`, are not in these tables of figures.

{score}

"""
FAULTS = """\
## Which faults can one log show?

A run is ill if it is below its floor, and healthy machines differ. So a fault that costs less than they do cannot be seen in one log: there a second run with
the fault taken away decides. For each machine on 2 nodes, from 1 MiB to 8 GiB: what the fault leaves of what is expected where it costs most, and from which size on the run
would be below its floor; *not seen* where it would not. The fault is simulated, without noise. Empty: this machine cannot have it, or another row is the same.

"""
MACHINES = ("p5", "p4d", "h100-ndr", "azure-nd-a100-v4", "h200-roce", "b200-ndr", "mi300x-roce", "alps-gh200")
SIZES = tuple(MIB << power for power in range(14))
_TOOLS = ("nccl", "rccl")


def document() -> str:
    """Return the whole text."""
    judged = [
        (name, verdict)
        for name, records in _logs()
        for verdict in judge(records, str(records.manifest["cluster"]))
    ]
    counts = Counter(verdict.verdict for _, verdict in judged)
    each = ", ".join(f"{counts[kind]} {kind}" for kind in (HEALTHY, HELD_UP, BELOW, UNKNOWN))
    score = f"Of {say_count(len(judged), 'run')}: {each}."
    head = ("log", "ranks", "verdict", "why", "inside", "fits best", "explains", "named as the cause")
    return HEAD.format(score=score) + table(head, [_row(*pair) for pair in judged]) + "\n" + FAULTS + _shown()


def _logs() -> Iterator[tuple[str, Records]]:
    for name, records in measured_library().items():
        if "cluster" in records.manifest and name.partition("/")[2].startswith(_TOOLS):
            yield name, records


def _row(name: str, verdict: LogVerdict) -> tuple[str, ...]:
    held = [row.as_dict()["inside"] for row in verdict.rows if row.expected]
    inside = f"{sum(held)} of {len(held)}" if held else ""
    first = verdict.causes[0] if verdict.causes else None
    causes = "; ".join(cause.name for cause in verdict.likely)
    run = verdict.log.partition(", ")[2].partition(", buffers")[0]
    return (
        f"`{name}`",
        run,
        verdict.verdict,
        verdict.why,
        inside,
        first.name if first else "",
        say_share(first.explains) if first else "",
        causes or ("none" if first else ""),
    )


def _shown() -> str:
    """Return which faults are below the floor of which machines."""
    each = {name: _of_machine(name) for name in MACHINES}
    names = list(dict.fromkeys(fault for found in each.values() for fault in found))
    rows = [
        (fault[:1].upper() + fault[1:], *(each[name].get(fault, "") for name in MACHINES)) for fault in names
    ]
    return table(("fault", *(f"`{name}`" for name in MACHINES)), rows)


def _of_machine(name: str) -> dict[str, str]:
    healthy = Scenario(cluster=name, nodes=2, registration="pool")
    healthy = healthy.with_(path=usual_path(healthy.hardware))
    should = expectation(healthy, SIZES)
    cells = {}
    for fault in faults(healthy):
        with_it = [fault.GBps(healthy.with_(message_bytes=row.size)) for row in should.rows]
        rows = [
            JudgedSize(size=row.size, measured=GBps, expected=row, disturbed=False)
            for row, GBps in zip(should.rows, with_it, strict=True)
            if GBps
        ]
        if len(rows) == len(SIZES):
            cells[fault.name.partition(",")[0]] = _cell(rows)
    return cells


def _cell(rows: list[JudgedSize]) -> str:
    least = min(row.measured / row.expected.expected for row in rows if row.expected)
    verdict = ruled(rows, sure=True)
    if verdict.verdict != BELOW:
        return f"{say_share(least)}, not seen"
    return f"{say_share(least)}, from {say_bytes(verdict.short[0].size)}"
