"""`peerlab import`: other tools' logs as records, printed and kept."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from peerlab.base.errors import one_line
from peerlab.base.terminal_text import add_nodes, command, table
from peerlab.base.textfile import printable
from peerlab.base.units import PS_PER_S, say_bytes, say_count, say_time
from peerlab.records import Records, load
from peerlab.records.benchmarks import TOOLS

_EXAMPLES = """\
examples:
  peerlab import run.log                          what a log says
  peerlab import *.log --save all.csv             several logs as one table, which peerlab.load reads back
  peerlab import run.log --anonymise --save a.csv without host names, addresses, users and paths, for sharing

exit status: 0 everything was read (damaged rows are left out, and told), 1 a log cannot be read, 2 wrong usage
"""
_TOLD = (
    "tool",
    "version",
    "test",
    "ranks",
    "nodes",
    "hosts",
    "devices",
    "transport",
    "environment",
    "validation",
)
_MOST = 8
"""Entries of a list that are printed; --json has all."""


def add(commands: Any) -> None:
    """Add the command."""
    sentence = f"read output of {TOOLS}"
    sub = command(commands, "import", sentence, _import, epilog=_EXAMPLES)
    sub.add_argument("log", nargs="+", metavar="LOG", type=Path, help="a log, or a file saved by peerlab")
    sub.add_argument("--save", metavar="FILE.csv", help="write everything to one file")
    sub.add_argument(
        "--anonymise", action="store_true", help="without host names, addresses, users, file names and paths"
    )
    add_nodes(sub)
    sub.add_argument("--json", action="store_true", help="print everything as JSON")


def _import(options: argparse.Namespace) -> int:
    # All logs are read before anything is printed or saved: one that cannot be read ends it with its name.
    records = Records.together([load(path, options.nodes) for path in options.log])
    # Before saving and before printing: neither shall hold what is to stay here.
    if options.anonymise:
        records = records.anonymised()
    if options.save is not None:
        records.save(options.save)
    if options.json:
        print(json.dumps(_plain(records), indent=2))
    else:
        _print(records)
        if options.save is not None:
            print(f"{say_count(len(records), 'row')} written to {one_line(options.save)}")
    return 0


def _plain(records: Records) -> dict[str, Any]:
    """Return records as JSON can hold them; what is missing is null."""
    # As objects first: a column of numbers cannot hold JSON's null.
    rows = records.table.astype(object).where(records.table.notna(), None).to_dict("records")
    return {"manifest": dict(records.manifest), "warnings": list(records.warnings), "rows": rows}


def _print(records: Records) -> None:
    head = ("collective", "size", "time", "algbw", "busbw", "variant", "correct")
    for source, rows in records.table.groupby("source", sort=False):
        # A name from a log may hold codes that a terminal acts on.
        print(printable(str(source)))
        print(table(head, [_cells(row) for row in rows.to_dict("records")], right={1, 2, 3, 4}))
    for manifest in records.parts:
        print()
        for name in _TOLD:
            if entry := manifest.get(name):
                print(printable(f"{name}: {_entry_line(entry)}"))
    for warning in records.warnings:
        print(printable(f"warning: {warning}"))
    print("GB = 10^9 bytes")


def _cells(row: Mapping[Any, Any]) -> list[str]:
    time, size = row["time_s"], row["size_bytes"]
    verdict = {True: "yes", False: "no"}
    return [
        row["collective"],
        "-" if pd.isna(size) else say_bytes(size),
        "-" if pd.isna(time) else say_time(time * PS_PER_S),
        *("-" if pd.isna(row[name]) else f"{row[name]:.4g} GB/s" for name in ("algbw_GBps", "busbw_GBps")),
        printable(row["variant"]) or "-",
        # Not checked is not wrong: tools run without a check leave it open.
        "not checked" if pd.isna(row["correct"]) else verdict[bool(row["correct"])],
    ]


def _entry_line(entry: Any) -> str:
    """Return an entry of the manifest as one line, long lists shortened."""
    if isinstance(entry, Mapping):
        entry = [f"{name}={value}" for name, value in entry.items()]
    if not isinstance(entry, (list, tuple)):
        return str(entry)
    more = len(entry) - _MOST
    return ", ".join(map(str, entry[:_MOST])) + (f" and {more} more" if more > 0 else "")
