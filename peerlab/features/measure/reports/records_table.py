"""Records as a table in a notebook."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from peerlab.base.units import PS_PER_S, say_bytes, say_count, say_time
from peerlab.page.frame import framed
from peerlab.records.schema import Records

_MOST = 200
"""Rows shown at most; a page stays light."""
_ALWAYS = ("size", "time", "algbw", "busbw")
"""Columns that stand in the table even if all rows are alike in them."""
_TOLD = ("command", "hosts", "devices", "transport", "environment", "validation")
"""Entries of the manifest that stand below the table."""
_BROAD = ("variant", "quartiles", "algbw")
"""Columns that a narrow page leaves out."""
_KINDS = {"measured": "measured here", "imported": "imported from a log", "simulated": "simulated"}


def html_table(medians: pd.DataFrame, manifest: Mapping[str, Any], warnings: Sequence[str]) -> str:
    """Return medians as HTML; everything that came from outside is escaped. What all rows share stands above, once."""
    rows = [_row(row) for row in medians.head(_MOST).to_dict("records")]
    values = {name: list(dict.fromkeys(row[name] for row in rows)) for name in rows[0]} if rows else {}
    shared = [name for name, different in values.items() if len(different) == 1 and name not in _ALWAYS]
    above = ", ".join(f"{name}: {values[name][0]}" for name in shared if values[name][0] not in ("", "-"))
    columns = [name for name in values if name not in shared]
    marks = [" class='pl-broad'" if name in _BROAD else "" for name in columns]
    head = "".join(f"<th{mark}>{name}</th>" for name, mark in zip(columns, marks, strict=True))
    body = "".join(_cells([row[name] for name in columns], marks) for row in rows)
    more = len(medians) - _MOST
    cut = [f"{say_count(more, 'more row')} not shown"] if more > 0 else []
    quiet = "".join(f"<p class='pl-quiet'>{escape(note)}</p>" for note in (*cut, *warnings))
    told = "".join(
        f"<li>{name}: {escape(_plain(manifest[name]))}</li>" for name in _TOLD if manifest.get(name)
    )
    folded = f"<details><summary>How it was measured</summary><ul>{told}</ul></details>" if told else ""
    # A table that is wider than its page is moved by itself.
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    moved = f"<div style='overflow-x:auto' tabindex='0' role='group' aria-label='Medians'>{table}</div>"
    return framed(
        "records", "What was measured", f"<p class='pl-quiet'>{escape(above)}</p>{moved}{quiet}{folded}"
    )


def _row(row: dict[Any, Any]) -> dict[str, str]:
    """Return a row in words; the spread of a single repetition is none."""
    alone = row["repetitions"] == 1
    return {
        "kind": _KINDS.get(row["kind"], row["kind"]),
        "source": row["source"],
        "collective": row["collective"],
        "ranks": _cell_text(row["ranks"], str),
        "path": row["path"],
        "registration": row["registration"],
        "variant": row["variant"],
        "size": _cell_text(row["size_bytes"], say_bytes),
        "time": _cell_text(row["time_s"], _time),
        "quartiles": ""
        if alone
        else f"{_cell_text(row['low_s'], _time)} to {_cell_text(row['high_s'], _time)}",
        **{name: _cell_text(row[f"{name}_GBps"], _rate) for name in ("algbw", "busbw")},
        "repetitions": str(row["repetitions"]),
        "correct": _cell_text(row["correct"], lambda right: "yes" if right else "no"),
    }


def _cells(cells: Sequence[str], marks: Sequence[str]) -> str:
    each = zip(cells, marks, strict=True)
    return "<tr>" + "".join(f"<td{mark}>{escape(cell)}</td>" for cell, mark in each) + "</tr>"


def _rate(rate_GBps: float) -> str:  # noqa: N803  (the unit)
    return f"{rate_GBps:.3g} GB/s" if rate_GBps >= 0.01 else f"{rate_GBps * 1e3:.3g} MB/s"


def _time(seconds: float) -> str:
    return say_time(seconds * PS_PER_S)


def _plain(entry: Any) -> str:
    """Return an entry of a manifest as one line."""
    if isinstance(entry, Mapping):
        return ", ".join(f"{name}={value}" for name, value in entry.items())
    return ", ".join(map(str, entry)) if isinstance(entry, (list, tuple)) else str(entry)


def _cell_text(value: Any, say: Callable[[Any], str]) -> str:
    """Return a value in words, or a dash for one that is missing."""
    return "-" if pd.isna(value) else say(value)


def records_html(records: Records) -> str:
    """Return the medians of records as a table, with where they come from."""
    return html_table(records.medians(), records.manifest, records.warnings)
