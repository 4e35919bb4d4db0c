"""The front door for text from outside: bounded, cleaned, and numbered by line."""

# A log is untrusted input and may hold secrets. Readers take text that is bounded (8 MiB, 100,000 lines,
# 20,000 rows) and cleaned (escape sequences, labels of ranks). They keep good rows, and say what they left
# out with its line. A line below the head of a table that has nearly the words of a row is a row, or a
# damaged one (`records/table`); otherwise a damaged row would vanish without a word. Figures that a tool
# prints twice are compared within their rounding (`records/figures`): size over time is algbw, algbw times
# the factor of the collective is busbw, elements times their size is the size. Rows that contradict
# themselves are kept and reported, since nobody knows which of the figures is wrong. Of environments and
# shared commands only listed words are kept: every other word may be a secret. Some tools print a figure
# that they cannot know well (a bandwidth of 0.00, hccl_demo's time, OSU's sizes per pair of ranks); there,
# records hold what follows from the other figures, in nccl-tests' terms.

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from peerlab.base.errors import RecordsError
from peerlab.base.textfile import read_bytes
from peerlab.base.units import say_bytes

MOST_BYTES = 8 * 2**20
"""A larger log is refused: the lines of a table, and those about the transport, are a few kilobytes."""
MOST_LINES = 100_000
"""A longer one too."""
_LONGEST_LINE = 8192
"""Characters of a line that are looked at."""

KEEP = "keep the table and the lines about the transport"
"""What to do with a log that is too large."""
_NEW_LINE = re.compile(r"\r\n|\n|\r")
_GZIP = b"\x1f\x8b"
"""What a file that gzip made begins with."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_SPACES = {ord("\t"): "  ", ord("\u00a0"): " "}
_PREFIXES = re.compile(
    r"\A(?:"
    r"\[(?:[\w.-]{1,80}@)?\d{1,6},\d{1,6}\]<std(?:out|err)>: ?"  # mpirun --tag-output; Open MPI 5 has the name of its job in it
    r"|\d{1,6}: "  # srun --label
    r"|\[(?:rank|default)\d{1,6}\]: ?"  # torchrun
    r"|\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d) "  # kubectl logs --timestamps
    r"|> ?"  # a quotation
    r")"
)
_LABELLED = re.compile(
    r"(.{0,119}[^\w#\[])(?:#\s{0,60}(?:size\s+count\b|Size\s+\S|OSU \w|nThread \d|nccl-tests version)|\[(?:BENCHMARK|\w{1,20} SUMMARY REPORT)\])"
)
"""The first lines of a tool's table behind what somebody puts before every line: a host, a pod, a time."""
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?")
_WHOLE = re.compile(r"[0-9]{1,15}|[0-9]{1,3}(?:,[0-9]{3}){1,4}")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log, without what terminals and launchers add."""

    number: int
    """Counted from 1."""
    text: str
    """Without escape sequences, control characters, the prefix of a rank and spaces at its ends."""


@dataclass(frozen=True)
class Log:
    """A log: somebody's text, not yet understood."""

    name: str
    """Of the file, without its folder."""
    text: str
    """As it came."""

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All lines, cleaned, without those that are empty."""
        # Split once more than is allowed, and not further: what is too long costs no memory.
        raw = _NEW_LINE.split(self.text, MOST_LINES)
        if len(raw) > MOST_LINES:
            raise self.fail(f"more than {MOST_LINES} lines; {KEEP}")
        cleaned = [(number, _cleaned(line)) for number, line in enumerate(raw, start=1) if line.strip()]
        label = _label(text for _, text in cleaned)
        return tuple(
            Line(number, label.sub("", text, count=1) if label else text) for number, text in cleaned
        )

    @property
    def ends_whole(self) -> bool:
        """Whether the last line has its end."""
        return self.text.endswith(("\n", "\r"))

    def fail(self, problem: str, line: Line | None = None) -> RecordsError:
        """Return an error about this log, or a line of it."""
        where = f", line {line.number}" if line else ""
        return RecordsError(f"{self.name}{where}: {problem}")


def open_log(source: str | Path) -> Log:
    """Return a log from a file, or from the text itself: what holds the end of a line is text.

    Raises
    ------
    RecordsError
        If the file cannot be read, is larger than :data:`MOST_BYTES`, or is not text.
    """
    if isinstance(source, str) and _NEW_LINE.search(source):
        return log_of(source, "pasted text")
    if not isinstance(source, (str, Path)):
        raise RecordsError(f"{source!r:.60} is neither a file nor text")
    path = Path(source)
    return log_of(read_bytes(path, most_bytes=MOST_BYTES, too_large=KEEP, error=RecordsError), path.name)


def log_of(held: str | bytes, name: str) -> Log:
    """Return a log of what a file of this name holds, or somebody pasted.

    Raises
    ------
    RecordsError
        If it is larger than :data:`MOST_BYTES`, or is not text.
    """
    # What is too large is not decoded.
    text = "" if len(held) > MOST_BYTES else held if isinstance(held, str) else _decoded(held)
    log = Log(clean(name), text.removeprefix("\ufeff"))
    if len(held) > MOST_BYTES:
        raise log.fail(f"larger than {say_bytes(MOST_BYTES)}; {KEEP}")
    if isinstance(held, bytes) and held.startswith(_GZIP):
        raise log.fail("compressed with gzip; unpack it first (gunzip)")
    if "\0" in log.text:
        raise log.fail("a binary file; a log is text")
    if not log.text.strip():
        raise log.fail("empty")
    return log


def quote(text: str) -> str:
    """Return the beginning of a piece of a log, as it may stand in a message."""
    short = " ".join(text.split())
    return repr(short if len(short) <= 60 else short[:57] + "...")


def clean(text: str) -> str:
    """Return a text as one line that tells a terminal nothing: no escape sequence, no character that cannot be seen.

    Logs are full of colours: unlike `textfile.printable` this leaves no ``[31m`` behind, and keeps tabs and odd spaces for
    the columns.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub("", _NEW_LINE.sub(" ", _ESCAPES.sub("", text)))


def is_number(text: str) -> bool:
    """Say whether a text is a number of 0 or more that a machine can have measured: digits without end are none."""
    return bool(_NUMBER.fullmatch(text))


def whole(text: str) -> int | None:
    """Return a whole number of 0 or more that a size or count can have, or None for anything else.

    >>> whole("33554432"), whole("33,554,432"), whole("33554,432")
    (33554432, 33554432, None)
    """
    return int(text.replace(",", "")) if _WHOLE.fullmatch(text) else None


def _decoded(data: bytes) -> str:
    """Return bytes as text; a stray byte in a log is no reason to lose the rest."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # as a Windows shell redirects
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")


def _label(lines: Iterable[str]) -> re.Pattern[str] | None:
    """Return what stands before every line of a log, as it stands before the head of its table, whatever its numbers are; None where nothing does."""
    match = next(filter(None, map(_LABELLED.match, lines)), None)
    if match is None or not match[1].strip():
        return None
    words = map(re.escape, re.split(r"[0-9]+", match[1].rstrip()))
    return re.compile(r"\A" + "[0-9]{1,19}".join(words) + r"\s*")


def _cleaned(line: str) -> str:
    line = clean(line[:_LONGEST_LINE]).translate(_SPACES)
    for _ in range(2):  # a quotation of a labelled line has two
        line = _PREFIXES.sub("", line.lstrip())
    return line.strip()
