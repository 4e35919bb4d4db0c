"""Files that a user asks for: each is there whole or not at all, and what was there before stays until then.

What is no file (a pipe, a device, ``/dev/stdout``) is written to as it is: nothing can take its place.
"""

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import mkstemp

from peerlab.errors import PeerlabError
from peerlab.textfile import in_words

_MOST_LINKS = 40
"""Links to links that a system follows."""


@contextmanager
def written(path: str | Path, error: type[PeerlabError]) -> Iterator[Path]:
    """Give a file to write, which takes the place of `path` when it is whole and on the disk.

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
    file, put = _prepared(path, error)
    try:
        yield file
        if put:
            put(file)
    except (
        OSError,
        UnicodeError,
    ) as problem:  # no more: what is wrong with what is to be written says so itself
        raise error(f"cannot write {path}: {getattr(problem, 'strerror', '') or problem}") from None
    finally:
        if put:
            file.unlink(missing_ok=True)


def check_place(path: str | Path, error: type[PeerlabError]) -> None:
    """Refuse what :func:`written` would refuse at once: work should not be done in vain.

    Raises
    ------
    PeerlabError
        As `error`: if it cannot be written.
    """
    file, put = _prepared(path, error)
    if put:
        file.unlink(missing_ok=True)


def _prepared(path: str | Path, error: type[PeerlabError]) -> tuple[Path, Callable[[Path], None] | None]:
    """Return a new file, and what puts it where it belongs; of what is no file itself, and nothing."""
    with in_words(f"cannot write {path}", error):
        if not str(path):
            raise error("cannot write a file without a name")
        if str(path).endswith(("/", os.sep)):
            raise error(f"cannot write {path}: that is the name of a folder")
        target = Path(path).expanduser()
        place = target.resolve()
        if place.is_dir():
            raise error(f"cannot write {path}: it is a folder")
        handle = _handle(target)
        if handle is not None:
            number, name = mkstemp(target.suffix)
            os.close(number)
            return Path(name), partial(_pass_on, handle)
        if place.exists() and not place.is_file():
            return target, None
        if not place.parent.is_dir():
            missing = (place if target.is_symlink() else target).parent
            raise error(f"cannot write {path}: there is no folder {missing}")
        if place.exists():
            place.open("ab").close()  # what must not be written must not be replaced either
        unfinished = place.with_name(f".peerlab-{token_hex(6)}{target.suffix}")
        unfinished.touch(exist_ok=False)
        return unfinished, partial(_replace, place)


def _handle(target: Path) -> int | None:
    """Return what this process has open that a name stands for, as ``/dev/stdout`` does.

    It may be a file, to which a shell redirects. If another one took its place, or was begun anew, the shell would not know.

    Raises
    ------
    OSError
        If links lead round in a circle.
    """
    here = Path(f"/proc/{os.getpid()}")
    for _ in range(_MOST_LINKS):
        folder = target.parent.resolve()
        ours = folder in (Path("/dev/fd"), here / "fd") or folder.match(f"{here}/task/*/fd")
        if ours and target.name.isdecimal():
            return int(target.name)
        if not target.is_symlink():
            return None
        target = folder / target.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _pass_on(handle: int, file: Path) -> None:
    """Write a file where a handle of this process is, after what was printed before."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with file.open("rb") as held, os.fdopen(os.dup(handle), "wb") as out:
        shutil.copyfileobj(held, out)


def _replace(place: Path, file: Path) -> None:
    if place.exists():
        file.chmod(place.stat().st_mode & 0o777)
    with file.open("r+b") as held:
        os.fsync(held.fileno())  # a disk may say only now that it is full
    file.replace(place)
