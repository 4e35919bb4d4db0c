"""Files that a user asks for: each is there whole or not at all, and what was there before stays until then.

What is no file (a pipe, a device, ``/dev/stdout``) is written to as it is: nothing can take its place.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from peerlab.errors import PeerlabError
from peerlab.textfile import in_words

_MOST_LINKS = 40
"""Links to links that a system follows."""


@contextmanager
def written(path: str | Path, error: type[PeerlabError]) -> Iterator[Path]:
    """Give a file beside `path` to write, which takes its place when it is whole and on the disk.

    Parameters
    ----------
    path:
        The file; ``~`` is the user's home. A link stays one: what it leads to is replaced.
    error:
        What is raised.

    Raises
    ------
    PeerlabError
        As `error`: if it cannot be written; at once where that is known beforehand.
    """
    file, place = _prepared(path, error)
    try:
        yield file
        if file != place:
            _replace(place, file)
    except (
        OSError,
        UnicodeError,
    ) as problem:  # no more: what is wrong with what is to be written says so itself
        raise error(f"cannot write {path}: {getattr(problem, 'strerror', '') or problem}") from None
    finally:
        if file != place:
            file.unlink(missing_ok=True)


def check_place(path: str | Path, error: type[PeerlabError]) -> None:
    """Refuse what :func:`written` would refuse at once: work should not be done in vain.

    Raises
    ------
    PeerlabError
        As `error`: if it cannot be written.
    """
    file, place = _prepared(path, error)
    if file != place:
        file.unlink(missing_ok=True)


def _prepared(path: str | Path, error: type[PeerlabError]) -> tuple[Path, Path]:
    """Return a new file to write, and the one whose place it is to take; the same one twice if that is no file."""
    with in_words(f"cannot write {path}", error):
        target = Path(path).expanduser()
        place = target.resolve()
        if place.is_dir():
            raise error(f"cannot write {path}: it is a folder")
        if _is_open_already(target) or (place.exists() and not place.is_file()):
            return target, target
        if not place.parent.is_dir():
            raise error(f"cannot write {path}: there is no folder {target.parent}")
        if place.exists():
            place.open("ab").close()  # what must not be written must not be replaced either
        unfinished = place.with_name(f".peerlab-{token_hex(6)}{target.suffix}")
        unfinished.touch(exist_ok=False)
        return unfinished, place


def _is_open_already(target: Path) -> bool:
    """Return whether a name stands for what a process has open, as ``/dev/stdout`` does.

    That may be a file, to which a shell redirects. If another one took its place, the shell would not know.

    Raises
    ------
    OSError
        If links lead round in a circle.
    """
    for _ in range(_MOST_LINKS):
        folder = target.parent.resolve()
        if folder.match("/proc/*/fd") or folder == Path("/dev/fd"):
            return True
        if not target.is_symlink():
            return False
        target = folder / target.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _replace(place: Path, file: Path) -> None:
    if place.exists():
        file.chmod(place.stat().st_mode & 0o777)
    with file.open("r+b") as held:
        os.fsync(held.fileno())  # a disk may say only now that it is full
    file.replace(place)
