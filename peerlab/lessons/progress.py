"""What a learner has done, in a file beside the labs; it is sent nowhere."""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from peerlab.errors import PeerlabError
from peerlab.textfile import read_text
from peerlab.units import MIB

FILE = "progress.json"
_LARGEST = MIB


@dataclass
class Done:
    """How an exercise went."""

    tries: int = 0
    """Answers that were checked."""
    hints: int = 0
    """Hints that were asked for."""
    right: bool = False
    """Whether one of the answers was right."""


def read(folder: Path | None = None) -> dict[str, Done]:
    """Return how each exercise went, by its name; nothing if there is no file yet.

    Raises
    ------
    PeerlabError
        If the file is not one that was written here.
    """
    path = (folder or _here()) / FILE
    try:
        if not path.exists():
            return {}
        told = json.loads(read_text(path, what="file of progress", most_bytes=_LARGEST, error=PeerlabError))
        return {str(name): _done(**how) for name, how in told["exercises"].items()}
    except PeerlabError as problem:
        reason = str(problem)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        reason = f"{path} cannot be read or is damaged"
    raise PeerlabError(f"your progress is not kept: {reason}; delete it to start anew")


def _here() -> Path:
    """Return the folder of the notebook, which may have been deleted under it."""
    try:
        return Path.cwd()
    except OSError:
        raise PeerlabError("your progress is not kept: the folder of this notebook is gone") from None


def _done(tries: int = 0, hints: int = 0, right: bool = False) -> Done:
    """Return what the file says of an exercise.

    Raises
    ------
    TypeError
        If it says something else.
    """
    if [type(one) for one in (tries, hints, right)] != [int, int, bool]:
        raise TypeError
    return Done(tries, hints, right)


def note(name: str, *, right: bool = False, tries: int = 0, hints: int = 0) -> None:
    """Add to what is known of an exercise; the file is replaced at once, so that a killed kernel leaves a whole one.

    Raises
    ------
    PeerlabError
        If the file cannot be read or written.
    """
    known = read()
    done = known.setdefault(name, Done())
    done.tries, done.hints, done.right = done.tries + tries, max(done.hints, hints), done.right or right
    path = _here() / FILE
    new = path.with_name(f".{FILE}.{os.getpid()}")
    told = {"exercises": {name: asdict(how) for name, how in sorted(known.items())}}
    try:
        new.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        new.replace(path)
    except OSError as problem:
        with suppress(OSError):  # a file system that cannot be written refuses even this
            new.unlink()
        raise PeerlabError(f"your progress is not kept: {path}: {problem.strerror}") from None
