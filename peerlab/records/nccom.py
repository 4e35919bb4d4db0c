"""Output of nccom-test of AWS Neuron, which measures collectives between Trainium or Inferentia devices.

Its table, options and failures are those of the NCCOM-TEST User Guide (awsdocs-neuron.readthedocs-hosted.com,
tools/neuron-sys-tools/nccom-test: v1.12, v2.26 and v2.29 compared) and of runs on two trn1.32xlarge (aws/aws-k8s-tester pull
requests 559 and 577; awsome-distributed-training, micro-benchmarks/nccom-tests). A row is size, count, type, time, algbw and
busbw; of an allgather, a reduce-scatter and an alltoall the size is that of all ranks, as in nccl-tests. The guide says that
its GB/s are of 2**30 bytes. They are in its older examples and in the runs of awsome-distributed-training; in its newer ones
they are of 10**9. So bandwidths are taken from size, time and ranks; those printed are held against them in the unit that fits.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from peerlab.base.errors import RecordsError, nearest
from peerlab.base.units import say_count
from peerlab.model.collective import programs_of
from peerlab.records.figures import Printed, contradiction, count_contradiction, cut_off, printed
from peerlab.records.launch import Launch, Launches
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.ranks import agreed, factors_of, rank_range, say_ranks
from peerlab.records.schema import Records
from peerlab.records.table import Shape, is_figure
from peerlab.records.text import Line, Log, quote, whole
from peerlab.records.transport import environment_lines, transport_lines

TOOL = "nccom-test"

_OPERATIONS = programs_of(TOOL)
_RANKS, _NODES = ("-r", "--nworkers"), ("-N", "--nnodes")
_COLUMN = re.compile(r"(size|count|time|algbw|busbw)(?::\w{1,12})?\((B|elems|us|GB/s|GiB/s)\)")
_DECIMALS = 2
"""Of both bandwidths; a time has as many as it needs."""
_UNITS = (1e9, float(2**30))
_FAILED = re.compile(r"Failure running .*|\d{1,9} errors found.*")


@dataclass(frozen=True, slots=True)
class NccomRow:
    """A line of a table, as it was printed."""

    place: int
    size: int
    count: int
    dtype: str
    time: Printed
    """Seconds."""
    algbw: Printed
    busbw: Printed


@dataclass
class NccomRun:
    """One run."""

    columns: tuple[str, ...]
    launch: Launch
    rows: list[NccomRow] = field(default_factory=list)
    collective: str = ""
    ranks: int | None = None
    unit: float = _UNITS[0]
    """Of its bandwidths, bytes per second."""

    @property
    def nodes(self) -> int | None:
        """As its command says; without -N it is one, unless Slurm is asked (-S)."""
        alone = self.launch.binary == TOOL and "-S" not in self.launch.words
        if _options_of_command(self.launch, *_NODES):
            return _option(self.launch, *_NODES)
        return 1 if alone else None


def looks_like(log: Log) -> bool:
    """Say whether a log holds the head of such a table."""
    return any(_is_head(line.text) for line in log.lines)


def read(log: Log) -> Records:
    """Return the rows of all tables in a log.

    Raises
    ------
    RecordsError
        If there is no row, or neither a command nor the figures say which operation it is.
    """
    damage = Damage(log)
    launches = Launches(log.lines, damage)
    tests = [test for test in _tests(log.lines, launches, damage) if test.rows]
    if not tests:
        raise log.fail(f"output of nccom-test without a row of figures{damage.first()}")
    notes: list[str] = []
    for test in tests:
        _settle(test, notes, damage)
    first, launch = tests[0], launches.last
    manifest = {
        "tool": TOOL,
        "version": "",
        "command": launch.command,
        "test": " ".join(dict.fromkeys(test.collective for test in tests)),
        **describe_ranks(first.ranks, _hosts(launch), first.nodes),
        "devices": [],
        "transport": transport_lines(log.lines),
        "environment": {**launch.environment, **environment_lines(log.lines)},
        "validation": "",
    }
    rows = (row for test in tests for row in _finished(test, f"{TOOL}: {log.name}"))
    return Records.of(rows, manifest, [*damage.sentences(), *dict.fromkeys(notes)])


def _tests(lines: Sequence[Line], launches: Launches, damage: Damage) -> Iterator[NccomRun]:
    """Yield every test; a line that looks like a row of its table is one, or damaged."""
    first = next(line.text for line in lines if _is_head(line.text))
    # Rows above the first head are told by its shape: their own was lost.
    usual, test = _shape(first.split()), None
    for line in lines:
        words = line.text.split()
        if _is_head(line.text):
            if test:
                yield test
            test = NccomRun(tuple(words), launches.at(line.number))
        elif match := _FAILED.search(line.text):
            damage.said(line, match[0])
        elif test is None and usual.fits(words):
            damage.row(line.number, "no head of a table stands above it")
        elif test and _shape(test.columns).resembles(words):
            row = damage.take(line.number, partial(_row, test.columns, words, line.number, damage))
            test.rows += [row] if row else []
    if test:
        yield test


def _is_head(text: str) -> bool:
    return "size(" in text and {"size", "time", "algbw", "busbw"} <= {*_named(text.split())}


def _named(columns: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Return place and unit of each column that is known."""
    generator = ((place, _COLUMN.fullmatch(name)) for place, name in enumerate(columns))
    return {match[1]: (place, match[2]) for place, match in generator if match}


def _shape(columns: Sequence[str]) -> Shape:
    return Shape.of(columns, ("type",))


def _row(columns: Sequence[str], words: Sequence[str], place: int, damage: Damage) -> NccomRow:
    _shape(columns).check(words)
    cells = {name: words[at] for name, (at, _) in _named(columns).items()}
    dtype = dict(zip(columns, words, strict=False)).get("type", "")
    size, count = whole(cells["size"]), whole(cells.get("count", cells["size"]))
    # A figure in the place of the type: a word is lost, and those behind it have moved.
    if size is None or is_figure(dtype):
        raise RecordsError(f"{quote(cells['size'])} of type {quote(dtype)} is not a size")
    if count is None:
        raise RecordsError(f"count {quote(cells['count'])} is not a whole number")
    figures = [
        (name, printed(cells[name], power=-6 * (name == "time"))) for name in ("time", "algbw", "busbw")
    ]
    for name, figure in figures:
        if figure is None:
            raise RecordsError(f"{name} {quote(cells[name])} is not a number")
        if name != "time":
            damage.doubt(place, cut_off(name, cells[name], _DECIMALS))
    if "count" in cells:
        damage.doubt(place, count_contradiction(size, count, dtype))
    time, algbw, busbw = (figure for _, figure in figures if figure)
    return NccomRow(place, size, count, dtype, time, algbw, busbw)


def _settle(test: NccomRun, notes: list[str], damage: Damage) -> None:
    """Find operation and ranks of a test, and doubt rows whose figures contradict one another."""
    test.collective = _collective(test, notes)
    test.ranks = _option(test.launch, *_RANKS)
    notes += _doubted(test)
    numbers = agreed(rank_range(test.collective, row.algbw, row.busbw) for row in test.rows)
    if test.ranks is None and numbers[0] == numbers[1]:
        test.ranks = numbers[0]
        notes.append(f"the log does not say how many ranks; busbw / algbw says {test.ranks}")
    ranks = (test.ranks, test.ranks) if test.ranks else numbers
    factors, whose = factors_of(test.collective, ranks), say_ranks(test.collective, ranks)
    entries = {
        unit: [
            contradiction(row.size, row.time, row.algbw, row.busbw, unit=unit, factors=factors, whose=whose)
            for row in test.rows
        ]
        for unit in _UNITS
    }
    # Where both units fit as well, it is the first: GB of 10^9 bytes.
    test.unit = min(_UNITS, key=lambda unit: sum(map(bool, entries[unit])))
    if test.unit != _UNITS[0]:
        notes.append(
            "its GB/s are of 2^30 bytes; here they are of 10^9, so that a figure is 1.074 times as high"
        )
    for row, doubt in zip(test.rows, entries[test.unit], strict=True):
        damage.doubt(row.place, doubt)


def _collective(test: NccomRun, notes: list[str]) -> str:
    """Return what was run: the command says it; of the operations only an allreduce has a busbw above its algbw."""
    given = [word for word in test.launch.words if word in _OPERATIONS] if test.launch.binary == TOOL else []
    if given:
        return _OPERATIONS[given[0]]
    above = [row for row in test.rows if row.busbw.low > row.algbw.high]
    # Both bandwidths of a small message are next to 0 and say nothing.
    if len(above) * 2 > len([row for row in test.rows if row.algbw.low > 0.1]):
        notes.append("the log does not name its operation; only an allreduce has such figures")
        return "allreduce"
    words = [word for word in test.launch.words if re.fullmatch(r"[a-z_]{4,20}", word)]
    name = nearest(words[0], _OPERATIONS) if words else f"known: {', '.join(_OPERATIONS)}"
    raise RecordsError(f"no command says which operation nccom-test ran: paste its command line, too; {name}")


def _finished(test: NccomRun, source: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a settled test, as records have them."""
    same = {
        "kind": "imported",
        "source": source,
        "collective": test.collective,
        "ranks": test.ranks,
        "nodes": test.nodes,
    }
    for row in test.rows:
        yield same | {
            "variant": "",
            "size_bytes": row.size,
            "dtype": row.dtype,
            "time_s": row.time.value,
            # With ranks it follows from the time, and exactly; without, it is what was printed.
            "busbw_GBps": None if test.ranks else row.busbw.value * test.unit / 1e9,
        }


def _doubted(test: NccomRun) -> Iterator[str]:
    """Yield what cannot be of the ranks and nodes that the command gives."""
    for names, what in ((_RANKS, "ranks"), (_NODES, "nodes")):
        given = _options_of_command(test.launch, *names)
        if given and _option(test.launch, *names) is None:
            yield f"the command gives {quote(given[0])} for {names[0]}, which is no number of {what}"
    if test.ranks and test.nodes and test.ranks < test.nodes:
        yield f"doubtful: the command says {say_count(test.ranks, 'rank')} on {say_count(test.nodes, 'node')}, which they cannot fill"


def _option(launch: Launch, *names: str) -> int | None:
    """Return a whole number of 1 or more that the command gives by one of these options."""
    return next((number for text in _options_of_command(launch, *names) if (number := whole(text))), None)


def _options_of_command(launch: Launch, *names: str) -> list[str]:
    """Return what the command gives by one of these options."""
    if launch.binary != TOOL:
        return []
    pairs = zip(launch.words, [*launch.words[1:], ""], strict=True)
    given = [after for word, after in pairs if word in names]
    return given + [
        word.partition("=")[2] for word in launch.words if word.partition("=")[0] in names and "=" in word
    ]


def _hosts(launch: Launch) -> tuple[str, ...]:
    """Return the hosts that the command names after ``-s`` or ``--hosts``."""
    words = list(launch.words) if launch.binary == TOOL else []
    place = next((i for i, word in enumerate(words) if word in ("-s", "--hosts")), len(words))
    after = [word for word in words[place + 1 :] if word not in _OPERATIONS]
    end = next((i for i, word in enumerate(after) if word.startswith("-")), len(after))
    return tuple(dict.fromkeys(after[:end]))
