"""Every error a user can cause.

    PeerlabError
    |-- ScenarioError        a field of a question is impossible
    |-- HardwareError        a cluster file is missing, incomplete or wrong
    |-- WorkloadError        what a training step asks is unknown or impossible
    |-- RegistrationError    memory cannot be registered within the locked-memory limit
    |-- ExpectationError     expected figures or a reference file cannot be read
    |-- RecordsError         a log, or a table of measurements, cannot be read
    |-- MeasurementError     a measurement of this machine failed
    |-- ExportError          a page, picture, video or deck cannot be made
    |-- DoctorError          a check is asked for that there is not
    |-- MissingPackage       what is asked for needs an extra of peerlab that is not installed
    |-- Cancelled            the user stopped a running simulation
    `-- WorkersLost          those who answer a sweep went away

Messages are one line and name the field, the value, what is allowed and, for names, the nearest known ones.
"""

import re
import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import takewhile
from typing import Protocol

MOST = 600
"""Characters of a message: what peerlab itself says in one is shorter, so only what a user gave is cut."""
_OFFERED = 4
"""Names that are offered for one that is unknown, at most."""
_LONG_WORD = re.compile(r"\S{81,}")


def one_line(text: object) -> str:
    """Return a text that stays on its line and tells a terminal nothing, whatever names of files are in it.

    What cannot be printed is written as an escape, so that a user finds the file. In another's text it is left out: by
    `textfile.printable`, and with the whole of a terminal's sequences by `records.text.clean`.
    """
    line = str(text)
    if line.isprintable():
        return line
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)


def shell_word(text: object) -> str:
    """Return a name as one word of a command that a user copies into a shell.

    >>> shell_word("my trial; reboot")
    "'my trial; reboot'"
    """
    return shlex.quote(one_line(text))


def message(text: object) -> str:
    """Return a text on one line of at most :data:`MOST` characters: long words lose their middle, then the line does.

    >>> len(message("unknown cluster '" + 10_000 * "x" + "'; known: dl1"))
    90
    """
    line = one_line(text)
    # the middle goes first: what is wrong stands at one end, what is allowed at the other
    if len(line) > MOST:
        line = _LONG_WORD.sub(lambda word: f"{word[0][:40]}...{word[0][-20:]}", line)
    if len(line) > MOST:
        line = f"{line[: MOST // 2 - 5]} [...] {line[2 - MOST // 2 :]}"
    return line


class SweepStopped(UserWarning):
    """A sweep was stopped: its table has the rows that were there by then."""


class PeerlabError(Exception):
    """Base of every error that a user can cause; its message is one line, whatever the user gave.

    >>> from peerlab import Scenario
    >>> try:
    ...     Scenario(nodes=0)
    ... except PeerlabError as problem:
    ...     print(problem)
    nodes: 0 is out of range; give a whole number from 1 to 16384
    """

    def __init__(self, problem: object = "") -> None:
        super().__init__(message(problem))

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: where the user asked, and the message; what lies between would hide both."""
        # Only here: loading both would take a fifth of `import peerlab`.
        from pathlib import Path  # noqa: PLC0415
        from traceback import extract_tb  # noqa: PLC0415

        package = str(Path(__file__).parents[1])
        frames = takewhile(
            lambda frame: not frame.filename.startswith(package), extract_tb(self.__traceback__)
        )
        asking = [f"line {frame.lineno}: {frame.line}" for frame in frames if frame.line][-1:]
        return [*asking, f"{type(self).__name__}: {self}"]


# A ValueError as well, for code that knows nothing of peerlab.
class ScenarioError(PeerlabError, ValueError):
    """A field of a scenario is impossible; ``field`` says which.

    Attributes
    ----------
    field:
        Name of the field as in :class:`peerlab.Scenario`.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.args = (field, problem)  # SimPy and pools of processes make an error anew from these

    def __str__(self) -> str:
        """Return the message."""
        field, problem = self.args
        return message(f"{field}: {problem}")


class TooManySpansError(ScenarioError):
    """Nodes that differ make more spans than can be kept."""


class HardwareError(PeerlabError, ValueError):
    """A cluster file is missing, incomplete or wrong."""


class WorkloadError(PeerlabError, ValueError):
    """What is trained, or how, is unknown or impossible."""


class RegistrationError(PeerlabError):
    """Memory cannot be registered within the locked-memory limit."""


class ExpectationError(PeerlabError, ValueError):
    """Expected figures, or a file of reference results, cannot be read."""


class RecordsError(PeerlabError, ValueError):
    """A log, or a table of measurements, cannot be read."""


class MeasurementError(PeerlabError):
    """A measurement of this machine failed; it says which rank, and why."""


class ExportError(PeerlabError, ValueError):
    """A page, a picture, a video or a deck cannot be made or written."""


class DoctorError(PeerlabError, ValueError):
    """A check is asked for that there is not."""


class MissingPackage(PeerlabError):  # noqa: N818  (named after what happened, as its neighbours)
    """What is asked for needs a package that is not installed; the message says which extra brings it."""


class Cancelled(PeerlabError):  # noqa: N818  (it is a decision, not a failure)
    """The user stopped a running simulation."""


class Cancel(Protocol):
    """Something that can be set to stop what runs, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Return whether to stop."""
        ...


class WorkersLost(PeerlabError):  # noqa: N818  (named after what happened, as its neighbour)
    """Those who answer a sweep (processes, a cluster) went away before all was answered."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a clause that offers the known names closest to `name`, and lists all of them.

    >>> nearest("dl2", ["dl1", "ideal-100g"])
    "did you mean 'dl1'? known: dl1, ideal-100g"
    """
    known = list(known)
    longest = 4 * max(
        map(len, known), default=0
    )  # what is longer is close to none; it may be a file that was pasted
    close = _closest(str(name)[:longest].lower(), known)
    offer = " or ".join(filter(None, [", ".join(map(repr, close[:-1])), *map(repr, close[-1:])]))
    return (f"did you mean {offer}? " if close else "") + f"known: {', '.join(known)}"


def _closest(name: str, known: list[str]) -> list[str]:
    """Return the names that are meant most likely: with a word that begins so, misspelt a little, with a word in common, or like it."""
    words = set(_words(name))
    begun = [full for full in known if name and any(word.startswith(name) for word in [full, *_words(full)])]
    shared = [full for full in known if words & set(_words(full))]
    # the first kind of guess that finds anything, and not too much, is the likeliest
    guesses = (
        begun,
        get_close_matches(name, known, n=1, cutoff=0.8),
        shared,
        get_close_matches(name, known, n=1, cutoff=0.5),
    )
    return next((names for names in guesses if 1 <= len(names) <= _OFFERED), [])


def _words(name: str) -> list[str]:
    return re.findall(r"\w+", name.lower())
