"""What a learner has done, in a file beside the labs; it is sent nowhere."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from peerlab.base.errors import PeerlabError
from peerlab.base.locks import wait_for_lock
from peerlab.base.outfile import written
from peerlab.base.textfile import in_words, read_bytes
from peerlab.base.units import MIB

FILE = "progress.json"
_LARGEST = MIB
_LOST = "your progress is not kept"


@dataclass
class Done:
    """How an exercise went."""

    tries: int = 0
    """Answers that were checked."""
    hints: int = 0
    """Hints that were asked for."""
    right: bool = False
    """Whether one of the answers was right."""

    def and_then(self, later: "Done") -> "Done":
        """Return this together with what was done later."""
        # Tries add up; hints and right answers are never lost.
        return Done(self.tries + later.tries, max(self.hints, later.hints), self.right or later.right)


_UNWRITTEN: dict[Path, dict[str, Done]] = {}
"""What could not be written, by file and exercise: the next note takes it along."""


def read(folder: Path | None = None) -> dict[str, Done]:
    """Return how each exercise went, by its name; nothing if there is no file yet.

    Raises
    ------
    PeerlabError
        If the file is not one that was written here.
    """
    path = (folder or _here()) / FILE
    try:
        return _read(path)
    except _DamagedError:
        raise PeerlabError(
            f"your progress cannot be shown: {path} is damaged; the next answer keeps it aside and starts anew"
        ) from None


class _DamagedError(PeerlabError):
    """The file is whole, and says something else."""


def _read(path: Path) -> dict[str, Done]:
    with in_words(f"{_LOST}: {path}", PeerlabError):
        if not path.exists():
            return {}
        # A file of that size was never written here: it is kept aside, not read.
        if path.is_file() and path.stat().st_size > _LARGEST:
            raise _DamagedError(str(path))
    try:
        held = read_bytes(path, most_bytes=_LARGEST, too_large="it is damaged", error=PeerlabError)
    except PeerlabError as problem:
        raise PeerlabError(f"{_LOST}: {problem}; delete it to start anew") from None
    try:
        return {str(name): _done(**how) for name, how in json.loads(held)["exercises"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _DamagedError(str(path)) from None


def _here() -> Path:
    """Return the folder of the notebook, which may have been deleted under it."""
    with in_words(f"{_LOST}: the folder of this notebook is gone", PeerlabError):
        return Path.cwd()


def _done(tries: int = 0, hints: int = 0, right: bool = False) -> Done:
    """Return what the file says of an exercise.

    Raises
    ------
    TypeError
        If it says something else.
    """
    # Exactly these types: JSON's `true` would pass for a 1.
    if [type(entry) for entry in (tries, hints, right)] != [int, int, bool]:
        raise TypeError
    return Done(tries, hints, right)


def note(name: str, *, right: bool = False, tries: int = 0, hints: int = 0) -> str:
    """Add to what is known of an exercise, and return what must be said about it: nothing, if all is well.

    One kernel at a time reads and replaces the file, so that none loses what another has added. It is replaced at once, so
    that a killed kernel leaves a whole one. A damaged file is kept beside the new one.

    Raises
    ------
    PeerlabError
        If the file cannot be read or written; the next note writes what this one could not.
    """
    path = _here() / FILE
    unwritten = _UNWRITTEN.setdefault(path, {})
    # Kept in the process until it is on the disk: what cannot be written now goes with the next note.
    unwritten[name] = unwritten.get(name, Done()).and_then(Done(tries, hints, right))
    with in_words(f"{_LOST}: {path}", PeerlabError), _alone(path):
        entries, reason = _taken_over(path)
        for exercise, later in unwritten.items():
            entries[exercise] = entries.get(exercise, Done()).and_then(later)
        told = {"exercises": {name: asdict(how) for name, how in sorted(entries.items())}}
        try:
            with written(path, PeerlabError) as file:
                file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        except PeerlabError as problem:
            raise PeerlabError("; ".join(filter(None, [f"{_LOST}: {problem}", reason]))) from None
        del _UNWRITTEN[path]
    return reason


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other kernels from the file, but for those on a file system without locks."""
    # a file of its own: the one with the progress is replaced, and a lock would stay with the old one
    file = os.open(path.with_name(f".{FILE}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        wait_for_lock(file)
        yield
    except BlockingIOError:
        raise PeerlabError(
            f"{_LOST}: another kernel was suspended while it wrote {path}; your next answer is kept together with this one"
        ) from None
    finally:
        os.close(file)


def _taken_over(path: Path) -> tuple[dict[str, Done], str]:
    """Return what the file says, and what must be said; a damaged one is moved aside."""
    try:
        return _read(path), ""
    except _DamagedError:
        place = path.resolve()  # a link stays one
        names = (place.with_name(f"progress.damaged-{number}.json") for number in count(1))
        aside = next(name for name in names if not os.path.lexists(name))
        place.rename(aside)
        kept = aside if path.is_symlink() else aside.name
        return {}, f"{path} was damaged: it is kept as {kept}, and your progress starts anew"
