"""Output of perftest (linux-rdma/perftest): ``ib_write_bw``, ``ib_read_bw``, ``ib_send_bw`` and their ``_lat``.

Its titles, columns and units are those of src/perftest_parameters.h and src/perftest_resources.c: a rate in ``Gb/sec`` is of 10^9 bits, one
in ``MB/sec`` or ``MiB/sec`` of 2^20 bytes; a latency is half of a round trip for writes and sends, and a whole one for reads.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.records.figures import printed
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.schema import Records
from peerlab.records.table import Shape
from peerlab.records.text import Line, Log, quote, whole
from peerlab.records.transport import environment_lines

TOOL = "perftest"
_TITLE = re.compile(r"(RDMA_Write|RDMA_Read|Send)( Bidirectional)? (BW|Latency) Test")
_COLUMN = re.compile(r"#?[\w.%]{1,20}(?: (?:peak|average|percentile))?(?:\[[^\]]{1,12}\])?")
_HEAD = re.compile(r"\s*#bytes\s+#iterations\s")
_RATES = {"Gb/sec": 1 / 8, "MB/sec": 2**20 / 1e9, "MiB/sec": 2**20 / 1e9}
"""GB/s by the unit of a column."""
_AVERAGE, _TYPICAL = "BW average", "t_typical"
_DEVICE = re.compile(r"--use_(?:cuda|rocm|hl)\b|cuMemAlloc\(\)|of a \d+ bytes GPU buffer")
_SETTINGS = re.compile(r"\s*(?:Device|Link type|Transport type|Number of qps|Mtu)\s+:|Device\s+: \S+")


@dataclass
class PerftestRun:
    """One test: its title, the columns of its table, and its rows."""

    title: str = ""
    both_ways: bool = False
    columns: tuple[str, ...] = ()
    rows: list[Mapping[str, Any]] = field(default_factory=list)


def looks_like(log: Log) -> bool:
    """Say whether a log holds a title or the head of a table of perftest."""
    return any(_TITLE.search(line.text) or _HEAD.match(line.text) for line in log.lines)


def read(log: Log) -> Records:
    """Return the rows of all tables in a log: a NIC's rate or latency between two hosts, without a library.

    Raises
    ------
    RecordsError
        If there is no row.
    """
    damage = Damage(log)
    runs = [run for run in _runs(log.lines, damage) if run.rows]
    if not runs:
        raise log.fail(f"output of perftest without a row of figures{damage.first()}")
    text = "\n".join(line.text for line in log.lines)
    manifest = {
        "tool": TOOL,
        "version": "",
        "command": next(
            (line.text.strip()[:200] for line in log.lines if re.match(r"\$? ?ib_\w+", line.text)), ""
        ),
        "test": " ".join(dict.fromkeys(run.title for run in runs)),
        # Two hosts, whatever else the command says.
        **describe_ranks(2, (), 2),
        "devices": [],
        "transport": [line.text.strip()[:200] for line in log.lines if _SETTINGS.match(line.text)][:20],
        "environment": environment_lines(log.lines),
        # In host memory, unless an option or a line of the output says otherwise.
        "memory": "device" if _DEVICE.search(text) else "host",
        "validation": "",
    }
    rows = (row for run in runs for row in _finished(run, f"{TOOL}: {log.name}"))
    return Records.of(rows, manifest, damage.sentences())


def _runs(lines: Sequence[Line], damage: Damage) -> Iterator[PerftestRun]:
    run = PerftestRun()
    for line in lines:
        words = line.text.split()
        if title := _TITLE.search(line.text):
            yield run
            run = PerftestRun(title[1], both_ways=bool(title[2]))
        elif _HEAD.match(line.text):
            if run.rows:
                yield run
                run = PerftestRun(run.title, both_ways=run.both_ways)
            run.columns = tuple(_COLUMN.findall(line.text))
        elif run.columns and Shape.of(run.columns, ()).resembles(words):
            row = damage.take(line.number, partial(_row, run.columns, words))
            run.rows += [row] if row else []
    yield run


def _row(columns: Sequence[str], words: Sequence[str]) -> Mapping[str, Any]:
    Shape.of(columns, ()).check(words)
    cells = {
        name.partition("[")[0]: (word, name.partition("[")[2].rstrip("]"))
        for name, word in zip(columns, words, strict=False)
    }
    size = whole(cells["#bytes"][0])
    if size is None:
        raise RecordsError(f"{quote(cells['#bytes'][0])} is not a size")
    name = next((name for name in (_AVERAGE, _TYPICAL, "t_avg") if name in cells), "")
    word, unit = cells.get(name, ("", ""))
    figure = printed(word)
    if figure is None:
        raise RecordsError(f"{name or 'rate'} {quote(word)} is not a number")
    if name == _AVERAGE:
        if unit not in _RATES:
            raise RecordsError(f"a rate in {quote(unit)} is not known; {', '.join(_RATES)} are")
        return {"size_bytes": size, "algbw_GBps": figure.value * _RATES[unit]}
    return {"size_bytes": size, "time_s": figure.value / 1e6}


def _finished(run: PerftestRun, source: str) -> Iterator[Mapping[str, Any]]:
    for row in run.rows:
        kind = "bandwidth" if "algbw_GBps" in row else "latency"
        yield {
            "kind": "imported",
            "source": source,
            "collective": "point-to-point",
            "variant": f"bidirectional {kind}" if run.both_ways else kind,
            "ranks": 2,
            "nodes": 2,
            **row,
        }
