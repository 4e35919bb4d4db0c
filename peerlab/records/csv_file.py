"""Writes the file of records: one CSV, whose first lines say as comments what it is and where it comes from."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.base.outfile import written
from peerlab.records.columns import Columns

FORMAT = "# peerlab records 1"
"""First line of the file. Comments with one JSON object follow, then the table."""
ALWAYS = ("kind", "source", "collective", "variant", "size_bytes")
"""Columns that are written even if they hold nothing."""


def write_csv(
    path: str | Path, columns: Columns, manifest: Mapping[str, Any], warnings: Sequence[str]
) -> None:
    """Write records to a file.

    Raises
    ------
    RecordsError
        If the file cannot be written, or the manifest holds what JSON cannot.
    """
    text = csv_text(columns, manifest, warnings)
    with written(path, RecordsError) as file:
        file.write_text(text, encoding="utf-8", newline="")


def csv_text(columns: Columns, manifest: Mapping[str, Any], warnings: Sequence[str]) -> str:
    """Return what the file holds; columns in which no row has anything are left out."""
    about = {"manifest": dict(manifest), "warnings": list(warnings)}
    try:
        # NaN is no JSON: another reader would refuse the file.
        head = json.dumps(about, indent=1, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise RecordsError(f"the manifest holds what a file cannot: {problem}") from None
    texts = {name: [_cell(value) for value in values] for name, values in columns.items()}
    kept = {name: cells for name, cells in texts.items() if name in ALWAYS or any(cells)}
    out = io.StringIO()
    out.writelines(f"{line}\n" for line in (FORMAT, *(f"# {line}" for line in head.splitlines())))
    returns = any(
        "\r" in cell for cells in kept.values() for cell in cells
    )  # csv takes one for the end of a line
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL)
    writer.writerow(kept)
    writer.writerows(zip(*kept.values(), strict=True))
    return out.getvalue()


def _cell(value: Any) -> str:
    """Return a value as its cell, from which reading makes exactly this value again."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    # From what repr writes, exactly the same number is read.
    return str(value).lower() if isinstance(value, bool) else repr(value)
