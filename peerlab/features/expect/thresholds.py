"""Floors as files: for a health check (JSON, or a shell script), and for a dashboard of NCCL Inspector's metrics (Prometheus rules)."""

import json
from collections.abc import Callable
from pathlib import Path

from peerlab.base.errors import ExportError, ScenarioError, nearest
from peerlab.base.outfile import written
from peerlab.base.units import say_bytes
from peerlab.features.expect.expectation import Expectation, ExpectedSize, figure

_UNITS = ("B", "KB", "MB", "GB", "TB")
# awk, as a health check runs where no Python is. The log's own header says which columns are busbw, as older versions have fewer
# (without one they are those of today); launchers put a rank before each line.
_CHECK = """\
#!/bin/sh
# Floors of {says}.
# Written by `peerlab expect`. Usage: sh thresholds.sh LOG, with the output of nccl-tests; without LOG it reads standard input.
# Prints one line for each row below its floor, or with wrong results. Exit status: 0 none is, 1 some are, 2 the log has no row that has a floor.
exec awk '
BEGIN {{
{floors}
    columns = split("8 12", busbw); checked = split("9 13", wrong)
}}
{{ sub(/^(\\[[^]]*\\](<stdout>)?:?|[0-9]+:) */, "") }}
$1 == "#" && $2 == "size" {{
    columns = checked = 0
    for (i = 3; i <= NF; i++) {{
        if ($i == "busbw") busbw[++columns] = i - 1
        if ($i == "#wrong") wrong[++checked] = i - 1
    }}
}}
$1 ~ /^[0-9]+$/ && ($1 in floor) && NF >= busbw[1] {{
    seen = 1
    best = 0
    for (i = 1; i <= columns; i++) if (busbw[i] <= NF && $busbw[i] + 0 > best) best = $busbw[i] + 0
    if (best < floor[$1]) {{
        printf "%s B: busbw %s GB/s is below its floor of %s GB/s (%s)\\n", $1, best, floor[$1], limits[$1]
        bad = 1
    }}
    for (i = 1; i <= checked; i++) if (wrong[i] <= NF && $wrong[i] ~ /^[1-9][0-9]*\\r?$/) {{
        printf "%s B: %s results are wrong\\n", $1, $wrong[i]
        bad = 1
    }}
}}
END {{ exit seen ? bad + 0 : 2 }}
' "${{1:--}}"
"""


def write_thresholds(found: Expectation, path: str | Path) -> Path:
    """Write the floors of an expectation, as the name of the file says: ``.json``, ``.sh`` or ``.yaml``.

    Raises
    ------
    ScenarioError
        If the ending is another, or there is no floor.
    """
    target = Path(path)
    if target.suffix not in _FORMS:
        raise ScenarioError(
            "write", f"{target.name!r}: {nearest(target.suffix, list(_FORMS))}; such as rules.yaml"
        )
    if found.what_if:
        raise ScenarioError(
            "write", "a what-if is no floor for another machine: describe yours, or name the known one"
        )
    if found.factor is None:
        raise ScenarioError(
            "write", "there is no floor: no log says how far a healthy run of this library may be off"
        )
    with written(target, ExportError) as file:
        file.write_text(_FORMS[target.suffix](found), encoding="utf-8")
    return target


def _rows(expectation: Expectation) -> list[tuple[ExpectedSize, float]]:
    # nccl-tests print bandwidths with two digits behind the point: a smaller floor would fail on rounding
    return [(row, row.floor) for row in expectation.rows if row.floor is not None and row.floor >= 0.05]


def _as_json(expectation: Expectation) -> str:
    entries = expectation.as_dict()
    return json.dumps({name: entries[name] for name in entries if name != "notes"}, indent=2) + "\n"


def _as_shell(expectation: Expectation) -> str:
    lines = [
        f'    floor["{row.size}"] = {figure(floor)}; limits["{row.size}"] = "{row.limits}"'
        for row, floor in _rows(expectation)
    ]
    return _CHECK.format(says=expectation.says, floors="\n".join(lines))


def _as_rules(expectation: Expectation) -> str:
    """Return recording rules: what a communicator reaches over its floor; below 1 something is wrong."""
    scenario, lines = expectation.scenario, ["groups:", "  - name: peerlab_expect", "    rules:"]
    for size, floor in _rows(expectation):
        match = (
            f'collective="{scenario.collective_record.title}",n_nodes="{scenario.nodes}",nranks="{scenario.ranks}",'
            f'message_size="{inspector_range(size.size)}"'
        )
        lines += [
            f"      # {say_bytes(size.size)}: floor {figure(floor)}, expected {figure(size.expected)} GB/s",
            "      - record: peerlab:nccl_bus_bandwidth_over_floor:ratio",
            f"        expr: 'nccl_bus_bandwidth_gbs{{{match}}} / {floor:.4g}'",
            "        labels:",
            f"          cluster_file: {scenario.hardware.name}",
        ]
    return "\n".join(lines) + "\n"


def inspector_range(size: int) -> str:
    """Return the label of a size as NCCL Inspector's exporter writes it (plugins/profiler/inspector/inspector_prom.cc).

    >>> inspector_range(8), inspector_range(128 << 20), inspector_range(1 << 30)
    ('8-9B', '128-129MB', '1-2GB')
    """
    # Ten bits for each unit; from 1024 TB on it stays the largest.
    power = min((size.bit_length() - 1) // 10, len(_UNITS) - 1)
    low = size >> (10 * power)
    return f"{low}-{low + 1}{_UNITS[power]}"


_FORMS: dict[str, Callable[[Expectation], str]] = {".json": _as_json, ".sh": _as_shell, ".yaml": _as_rules}
