"""Records as a table in a notebook."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from peerlab.units import PS_PER_S, say_bytes, say_count, say_time

_MOST = 200
"""Rows shown at most; a page stays light."""
_HEAD = (
    *("kind", "source", "collective", "variant", "size", "ranks", "path"),
    *("time, median", "from", "to", "algbw", "busbw", "repetitions", "correct"),
)
_TOLD = ("command", "hosts", "devices", "transport", "environment", "validation")
"""Entries of the manifest that stand below the table."""
_KINDS = {"measured": "measured here", "imported": "imported from a log", "simulated": "simulated"}


def html_table(medians: pd.DataFrame, manifest: Mapping[str, Any], warnings: Sequence[str]) -> str:
    """Return medians as HTML; everything that came from outside is escaped."""
    rows = "".join(_row(row) for row in medians.head(_MOST).to_dict("records"))
    head = "".join(f"<th>{name}</th>" for name in _HEAD)
    more = len(medians) - _MOST
    notes = [f"{name}: {_plain(manifest[name])}" for name in _TOLD if manifest.get(name)] + list(warnings)
    if more > 0:
        notes.append(f"{say_count(more, 'more row')} not shown")
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><ul>{listed}</ul>"


def _row(row: dict[Any, Any]) -> str:
    correct = row["correct"]
    cells = (
        _KINDS.get(row["kind"], row["kind"]),
        row["source"],
        row["collective"],
        row["variant"],
        _said(row["size_bytes"], say_bytes),
        _said(row["ranks"], str),
        row["path"],
        *(_said(row[name], lambda s: say_time(s * PS_PER_S)) for name in ("time_s", "low_s", "high_s")),
        *(_said(row[name], lambda rate: f"{rate:.4g} GB/s") for name in ("algbw_GBps", "busbw_GBps")),
        str(row["repetitions"]),
        _said(correct, lambda right: "yes" if right else "no"),
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _plain(entry: Any) -> str:
    """Return an entry of a manifest as one line."""
    if isinstance(entry, Mapping):
        return ", ".join(f"{name}={value}" for name, value in entry.items())
    return ", ".join(map(str, entry)) if isinstance(entry, (list, tuple)) else str(entry)


def _said(value: Any, say: Callable[[Any], str]) -> str:
    """Return a value in words, or a dash for one that is missing."""
    return "-" if pd.isna(value) else say(value)
