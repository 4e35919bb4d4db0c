"""`peerlab sweep`: every combination of some values, simulated into one table."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from peerlab.base.errors import PeerlabError, one_line
from peerlab.base.exit_status import INTERRUPTED, OK
from peerlab.base.terminal_text import command, fraction, number, table, warnings_in_lines
from peerlab.base.units import PS_PER_S, say_percent, say_time, write_bytes
from peerlab.features.sweep.executors import Who
from peerlab.features.sweep.on_dask import WAIT_S
from peerlab.features.sweep.question import ERROR, Question
from peerlab.features.sweep.shards import Shard
from peerlab.features.sweep.sweeping import Outcome, put_together, survey
from peerlab.question.fields import add_fields, check_needs

_EXAMPLES = """\
examples:
  peerlab sweep --nodes 2,4,8,16 --path host-rdma,peer-direct     a table of 8 scenarios
  peerlab sweep --message 1MiB,64MiB --message 1GiB --json        an option may be given several times
  peerlab sweep --cache-regions 0,2,4,8 --path peer-direct --output cache.csv
                                        rows go to a file as they come; the same command goes on where it stopped
  peerlab sweep --nodes 2,4,8,16,32,64 --window 1,2,4,8 --workers 4      on four processes
  peerlab sweep --nodes 2,4,8 --dask tcp://10.0.0.1:8786          on a Dask cluster (pip install 'peerlab[dask]')
  peerlab sweep --nodes 2,4,8 --shard 2/3 --output part-2.csv     one of three jobs that share the rows (Slurm: docs/using.md)
  peerlab sweep --nodes 2,4,8 --merge part-*.csv --output all.csv       the same question puts their files together

exit status: 0 answered, impossible combinations included (the table says why); 1 the question is impossible;
2 wrong usage; 130 stopped with Ctrl+C
"""

_WHO = ("workers", "dask", "dask_wait_s")
_OURS = ("run", "json", "iteration_times", "output", "shard", "merge", *_WHO)


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "sweep",
        "every combination of several values, in one table",
        _sweep,
        description="Simulate every combination of the values given. A value is one of a list with commas.",
        epilog=_EXAMPLES,
        argument_default=argparse.SUPPRESS,  # what is not given is the scenario's to decide
    )

    def add_list(flag: str, *, type: Callable[[str], Any] = str, **words: Any) -> None:  # noqa: A002  (argparse's word)
        words["action"] = "extend"  # values of a list are tried in turn
        sub.add_argument(flag, type=lambda text: [type(v.strip()) for v in text.split(",")], **words)

    add_fields(add_list, path="the cluster's usual one", registration="cached")
    sub.add_argument(
        "--iteration-times",
        action="store_true",
        help="add the column iteration_times_s: every iteration, the cold ones too, which takes longer",
    )
    sub.add_argument("--output", metavar="FILE.csv", help="write rows as they come, or go on with this file")
    _add_workers(sub)
    sub.add_argument("--shard", metavar="I/N", help="simulate the I-th of N shares of the rows only")
    sub.add_argument(
        "--merge",
        nargs="+",
        metavar="FILE.csv",
        help="simulate nothing: put the files of all shards together",
    )
    sub.add_argument("--json", action="store_true", help="print the rows as JSON")


def _add_workers(sub: argparse.ArgumentParser) -> None:
    """Add the options that say who does the work."""
    sub.add_argument("--workers", type=number, metavar="N", help="share the work among N processes")
    sub.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="a Dask scheduler whose workers do the work: its address, or its file (.json)",
    )
    sub.add_argument(
        "--dask-wait",
        dest="dask_wait_s",
        type=fraction,
        metavar="SECONDS",
        help=f"how long to wait for a Dask worker while there is none (default: {WAIT_S:g})",
    )


def _sweep(options: argparse.Namespace) -> int:
    entries = vars(options)
    fields = {name: values for name, values in entries.items() if name not in _OURS}
    check_needs(fields)
    if "iteration_times" in entries and not {"json", "output"} & entries.keys():
        raise PeerlabError(
            "--iteration-times: the table has no place for them; add --json or --output FILE.csv"
        )
    if "dask_wait_s" in entries and "dask" not in entries:
        raise PeerlabError("--dask-wait: goes with --dask")
    share = Shard.read(entries["shard"]) if "shard" in entries else None
    question = Question.ask(None, fields, shard=share, iteration_times="iteration_times" in entries)
    with warnings_in_lines():
        who = Who(**{name: entries[name] for name in _WHO if name in entries})
        output = entries.get("output")
        if "merge" in entries:
            outcome = put_together(question, who, entries["merge"], output)
        else:
            outcome = survey(question, who, output=output)
    if "json" in options:
        rows = [row for _, row in outcome.in_order]
        print(json.dumps({"rows": rows, "complete": outcome.complete}, indent=2))
    elif outcome.in_order:
        _print_table(outcome)
    elif outcome.complete:
        print(f"shard {question.shard} has none of the {len(question.every)} scenarios")
    if outcome.interrupted:
        kept = f", which are in {one_line(output)}; the same command goes on from there" if output else ""
        hint = "" if output else "; with --output FILE.csv the same command could go on from there"
        print(f"peerlab: stopped after {outcome.so_far}{kept}{hint}", file=sys.stderr)
    return INTERRUPTED if outcome.interrupted else OK


def _print_table(outcome: Outcome) -> None:
    question, rows = outcome.question, [row for _, row in outcome.in_order]
    varied = [
        # By their words: values such as slow nodes are dictionaries, which no set can hold.
        name
        for name in question.varied
        if len({repr(case.shown[name]) for case in question.cases}) > 1
    ]
    reasons = list(dict.fromkeys(row[ERROR] for row in rows if row[ERROR] is not None))
    print(_title(question, varied))
    head = [*(_field_words(name) for name in varied), "time", "busbw", "wire busy", "bottleneck"]
    cells = [[*(_cell(name, row[name]) for name in varied), *_figures(row, reasons)] for row in rows]
    numbers = [i for i, name in enumerate(varied) if all(isinstance(row[name], (int, float)) for row in rows)]
    print(table(head, cells, right={*numbers, *range(len(varied), len(head) - 1)}))
    for place, reason in enumerate(reasons, 1):
        print(f"[{place}] {reason}")
    for machine in question.clusters:
        who = f"{machine.name}: " if len(question.clusters) > 1 else ""
        print(f"{who}simulated from {machine.counted}; GB = 10^9 bytes")


def _title(question: Question, varied: list[str]) -> str:
    """Return what all rows have in common."""
    base, shown = question.base, question.cases[0].shown
    same = {name: getattr(base, name) for name in ("collective", "message_bytes", "nodes", "path")} | shown
    same.pop("cluster", None)  # which is named before all others
    words = [f"{_field_words(name)} {_cell(name, same[name])}" for name in same if name not in varied]
    who = "several clusters" if "cluster" in varied else question.clusters[0].title
    return f"{who}: {', '.join(words)}"


def _field_words(name: str) -> str:
    return name.removesuffix("_bytes").replace("_", " ")


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    return write_bytes(value) if name.endswith("_bytes") and isinstance(value, int) else str(value)


def _figures(row: Mapping[str, Any], reasons: Sequence[str]) -> tuple[str, str, str, str]:
    if row[ERROR] is not None:
        return "-", "-", "-", f"not possible [{reasons.index(row[ERROR]) + 1}]"
    if row["bottleneck"] is None:
        return "0 s", "-", "-", "one rank exchanges nothing"
    waits = f"{row['bottleneck']}, {say_percent(row['bottleneck_share'])}"
    return (
        say_time(row["time_s"] * PS_PER_S),
        f"{row['busbw_GBps']:.3g} GB/s",
        say_percent(row["wire_busy_share"]),
        waits + (" (an extrapolation)" if row["extrapolated"] else ""),
    )
