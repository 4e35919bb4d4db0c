"""What a learner has done, in a file beside the labs; it is sent nowhere."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from peerlab.errors import PeerlabError

FILE = "progress.json"


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
    path = (folder or Path.cwd()) / FILE
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): Done(**how) for name, how in told["exercises"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is damaged"
        raise PeerlabError(f"your progress is not kept: {path}: {reason}; delete it to start anew") from None


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
    path = Path.cwd() / FILE
    new = path.with_name(f".{FILE}.{os.getpid()}")
    told = {"exercises": {name: asdict(how) for name, how in sorted(known.items())}}
    try:
        new.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        new.replace(path)
    except OSError as problem:
        new.unlink(missing_ok=True)
        raise PeerlabError(f"your progress is not kept: {path}: {problem.strerror}") from None
