"""Output of the OSU micro-benchmarks."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

from peerlab.base.errors import RecordsError, nearest
from peerlab.model.collective import MEASURED, collective_of
from peerlab.records.figures import cut_off, printed
from peerlab.records.launch import Launch, Launches
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.schema import Records
from peerlab.records.table import Shape
from peerlab.records.text import Line, Log, quote, whole
from peerlab.records.transport import environment_lines, transport_lines

TOOL = "osu"

_TITLE = re.compile(r"# OSU (\w{2,10}(?:-\w{2,12})?) (.{3,80}?)(?: Test)? v(\d[\w.]{0,20})")
_HEAD = re.compile(r"# ?Size\s+\S")
_COLUMN = re.compile(
    r"Size|Iterations|Validation|[A-Z][\w.]{0,20}(?: [A-Za-z][\w.]{0,20}){0,4} ?\([^()]{1,10}\)|\S+"
)
_POINT_TO_POINT = {
    "Latency": ("point-to-point", "latency"),
    "Bandwidth": ("point-to-point", "bandwidth"),
    "Bi-Directional Bandwidth": ("point-to-point", "bidirectional bandwidth"),
}
_KINDS = (("", "", "latency"), ("i", "Non-blocking ", "non-blocking latency"))
"""Of a collective's tests: how the program begins, how its title does, and the variant in our words."""
_TIMES = ("Latency", "Avg Latency", "Pure Comm.")
# Two decimals, or a word: anything else may have lost its last digits.
_WHOLE_END = re.compile(r"\.\d\d\Z|[a-z]\Z")
_DECIMALS = 2
"""Of every figure but size and iterations (FLOAT_PRECISION in OSU's osu_util.h)."""
_BUFFERS = re.compile(r"Send Buffer on \w+ \((\w)\) and Receive Buffer on \w+ \((\w)\)")
_FAILED = re.compile(r"\*\*\* Process received signal \*\*\*|srun: error: .*|Segmentation fault|Aborted")
_SAID_IN_A_LINE = ("Segmentation fault", "Aborted")
"""What a shell says of a process; the rest of the line says of which."""


_UNREAD = "?"
_PAIR = Shape((True, True))
"""Of rows whose head is lost: size and figure."""


def _titled_collectives() -> dict[str, tuple[str, ...]]:
    """Return by collective the end of its program's name, and what stands in the program's title."""
    return {name: record.programs[TOOL] for name, record in MEASURED.items() if TOOL in record.programs}


def _titles() -> dict[str, tuple[str, str]]:
    """Return by title of a test which collective it measures, and how."""
    return _POINT_TO_POINT | {
        f"{kind}{title} Latency": (name, variant)
        for _, kind, variant in _KINDS
        for name, (_, title) in _titled_collectives().items()
    }


def _programs() -> dict[str, str]:
    """Return what stands in the title of ``osu_...``."""
    return {"latency": "Latency", "bw": "Bandwidth", "bibw": "Bi-Directional Bandwidth"} | {
        f"{prefix}{program}": f"{kind}{title} Latency"
        for program, title in _titled_collectives().values()
        for prefix, kind, _ in _KINDS
    }


@dataclass
class _Test:
    title: str = ""
    """As OSU prints it; `_UNREAD`: nobody says, or it is one that peerlab does not know."""
    build: str = ""
    version: str = ""
    columns: tuple[str, ...] = ()
    shape: Shape = field(default_factory=lambda: _PAIR)
    launch: Launch = field(default_factory=Launch)
    rows: list[dict[str, Any]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """The line of each row."""


def looks_like(log: Log) -> bool:
    """Say whether a log holds a title of the OSU micro-benchmarks, or the head of one of their tables."""
    return any(_TITLE.match(line.text) or _is_head(line.text) for line in log.lines)


def read(log: Log) -> Records:
    """Return the rows of all tables in a log.

    A bandwidth test has many messages under way, so its rows have no time.

    Raises
    ------
    RecordsError
        If there is no row, or the test is none that peerlab knows.
    """
    damage = Damage(log)
    launches = Launches(log.lines, damage)
    notes: list[str] = []
    tests = [test for test in _tests(log, launches, damage, notes) if test.rows]
    if not tests:
        raise log.fail(f"output of the OSU micro-benchmarks without a row of figures{damage.first()}")
    rows = [row for test in tests for row in _finished(test, f"{TOOL}: {log.name}", notes)]
    manifest = _manifest(log.lines, tests, launches.last, rows)
    return Records.of(rows, manifest, [*damage.sentences(), *dict.fromkeys(notes)])


def _tests(log: Log, launches: Launches, damage: Damage, notes: list[str]) -> Iterator[_Test]:
    """Yield every test; a line that looks like a row of its table is one, or damaged."""
    usual = next((_shape(_columns(line.text)) for line in log.lines if _is_head(line.text)), _PAIR)
    test, since = _Test(), 0
    for line in log.lines:
        text, words = line.text, line.text.split()
        if match := _TITLE.match(text):
            yield test
            test = _titled(match, line, launches, damage)
        elif _is_head(text):
            if test.rows:
                yield test
                test = _Test()
            test.columns, test.shape = _columns(text), _shape(_columns(text))
            if not test.title:
                launch = launches.between(since, line.number)
                _entitle(test, line, launch, damage, notes)
                # A command above the last row was another table's.
                test.launch = launch or (Launch() if since else launches.last)
        elif test.columns and test.shape.resembles(words):
            since = line.number
            _add(test, line.number, damage, partial(_row, test, words, end=_may_go_on(log, line)))
        elif not test.columns and test.title != _UNREAD and usual.fits(words):
            damage.row(line.number, "no head of a table stands above it")
        elif match := _FAILED.search(text):
            damage.said(line, text if match[0] in _SAID_IN_A_LINE else match[0])
    yield test


def _may_go_on(log: Log, line: Line) -> bool:
    """Say whether this is the end of a log that was cut off."""
    return line is log.lines[-1] and not log.ends_whole


def _titled(match: re.Match[str], line: Line, launches: Launches, damage: Damage) -> _Test:
    title = match[2]
    if title not in _titles():
        name = nearest(title, (*_POINT_TO_POINT, *(title for _, title in _titled_collectives().values())))
        damage.row(line.number, f"OSU's test {title!r} is not read; {name}")
        title = _UNREAD
    return _Test(title, match[1], match[3], launch=launches.at(line.number))


def _is_head(text: str) -> bool:
    return bool(_HEAD.match(text)) and any(f"({unit})" in text for unit in ("us", "MB/s"))


def _columns(text: str) -> tuple[str, ...]:
    return tuple(_COLUMN.findall(" ".join(text.lstrip("# ").split())))


def _shape(columns: Sequence[str]) -> Shape:
    return Shape.of(columns, ("Validation",))


def _entitle(test: _Test, line: Line, launch: Launch | None, damage: Damage, notes: list[str]) -> None:
    """Find the title that is missing above a table: the program that was started, or the only one with such columns."""
    figure = _name(test.columns[1]) if len(test.columns) > 1 else ""
    known = launch is not None and launch.binary.startswith("osu_")
    title = _programs().get(launch.binary.removeprefix("osu_"), _UNREAD) if launch and known else figure
    if title in _titles() and (title in _POINT_TO_POINT) == (figure in _POINT_TO_POINT):
        test.title = title
        whence = "its command says" if known else "the columns are those of"
        notes.append(f"the line with the test's name is missing; {whence} OSU's test {title!r}")
    else:
        test.title = _UNREAD
        damage.row(line.number, "no line above this head, and no command, says which of OSU's tests it is of")


def _add(test: _Test, place: int, damage: Damage, read: Callable[[], dict[str, Any]]) -> None:
    row = None if test.title == _UNREAD else damage.take(place, read)
    if row is None:
        return
    damage.doubt(place, row.pop("doubt"))
    size, before = row["size_bytes"], test.rows[-1]["size_bytes"] if test.rows else 0
    # A power of two times the one before: else a digit is lost.
    if before and (size <= before or size % before or (size // before) & (size // before - 1)):
        damage.doubt(
            place, f"its size {size} follows {before} in line {test.places[-1]}, and OSU's sizes double"
        )
    test.rows.append(row)
    test.places.append(place)


def _name(column: str) -> str:
    return column.partition("(")[0].strip()


def _row(test: _Test, words: Sequence[str], *, end: bool) -> dict[str, Any]:
    """Return a line of the table; `end`: it is the last of the log, and may go on."""
    test.shape.check(words)
    cells = {_name(name): word for name, word in zip(test.columns, words, strict=False)}
    units = {_name(name): name.partition("(")[2].rstrip(") ") for name in test.columns}
    size = whole(cells.get("Size", ""))
    if size is None:
        raise RecordsError(f"{quote(cells.get('Size', ''))} is not a size")
    name = next((name for name in (*_TIMES, "Bandwidth") if name in cells), "")
    figure = printed(cells.get(name, ""), power=-3 if name == "Bandwidth" else -6)
    if figure is None or units[name] not in ("us", "MB/s"):
        raise RecordsError(f"{name or 'latency'} {quote(cells.get(name, ''))} is not a number")
    verdict = cells.get("Validation")
    if verdict not in (None, "Pass", "Fail"):
        raise RecordsError(f"validation {quote(verdict)} is neither Pass nor Fail")
    if end and not _WHOLE_END.search(words[-1]):
        raise RecordsError(f"{quote(words[-1])} is the end of the log, and may go on")
    measured = {"algbw_GBps" if name == "Bandwidth" else "time_s": figure.value}
    correct = None if verdict is None else verdict == "Pass"
    doubt = cut_off(name, cells[name], _DECIMALS) or _bounds(cells, name)
    return {"size_bytes": size, **measured, "correct": correct, "doubt": doubt}


def _bounds(cells: Mapping[str, str], name: str) -> str:
    """Return how the least, the average and the most of the ranks' latencies contradict one another, or nothing."""
    names = ("Min Latency", name, "Max Latency")
    figures = [figure for column in names if (figure := printed(cells.get(column, "")))]
    if name != "Avg Latency" or all(a.low <= b.high for a, b in pairwise(figures)):
        return ""
    return f"{', '.join(f'{column} {cells[column]}' for column in names if column in cells)} are not in order"


def _finished(test: _Test, source: str, notes: list[str]) -> list[dict[str, Any]]:
    collective, variant = _titles()[test.title]
    record = collective_of(collective)
    ranks = 2 if record.is_message else test.launch.ranks
    same = {
        "kind": "imported",
        "source": source,
        "collective": collective,
        "variant": variant,
        "ranks": ranks,
        "nodes": test.launch.nodes,
    }
    if (
        not record.shares or record.adds
    ):  # else OSU counts what one rank sends to one other, the records what a rank has of all
        return [same | row for row in test.rows]
    if ranks is None:
        notes.append(f"sizes are per pair of ranks: the log does not say how many ranks the {collective} has")
        return [same | row for row in test.rows]
    notes.append(f"sizes are {ranks} times those in the log, which counts what one rank sends to one other")
    return [same | row | {"size_bytes": row["size_bytes"] * ranks} for row in test.rows]


def _manifest(
    lines: Sequence[Line], tests: Sequence[_Test], launch: Launch, rows: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    first = tests[0]
    checked = [row["correct"] for row in rows if row["correct"] is not None]
    return {
        "tool": TOOL,
        "version": first.version,
        "command": launch.command,
        "test": launch.binary or first.title,
        **describe_ranks(rows[0]["ranks"], launch.hosts, launch.nodes),
        "devices": [],
        "transport": [*filter(None, [first.build]), *_buffers(lines, launch), *transport_lines(lines)],
        "environment": {**launch.environment, **environment_lines(lines)},
        "validation": f"{sum(checked)} of {len(checked)} rows pass" if checked else "",
    }


def _buffers(lines: Sequence[Line], launch: Launch) -> list[str]:
    """Return where the buffers lie, as the command says it (``-d cuda``, ``D D``) or the head of the output."""
    words = launch.words
    device = [f"{a} {b}" for a, b in pairwise(words) if a == "-d"]
    sides = [f"{a} {b}" for a, b in pairwise(words) if {a, b} <= {"D", "H", "M"}]
    buffers = [f"{match[1]} {match[2]}" for line in lines if (match := _BUFFERS.search(line.text))]
    return list(dict.fromkeys([*device, *sides, *buffers]))
