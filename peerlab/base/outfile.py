"""Files that a user asks for: each is there whole or not at all, and what was there before stays until then.

What is no file (a pipe, a device, ``/dev/stdout``) is written to as it is: nothing can take its place.
"""

# A saved file is whole or is the old one. What a user saves is written to a temporary file beside its
# place, synced, and renamed (`outfile`): a full disk or a kill leaves the old file. Pipes and redirected
# output are written to directly.

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from tempfile import mkstemp

from peerlab.base.errors import PeerlabError
from peerlab.base.locks import has_no_holder, lock
from peerlab.base.textfile import in_words

_UNFINISHED = ".peerlab-"
"""What the name of a file begins with until it is whole."""
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
    file, put, held = _prepared(path, error)
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
            _end(file, held)


def put_on_disk(file: Path, text: str) -> None:
    """Write a text into a file that :func:`written` gave: a disk that is full says so here, before another file is replaced."""
    with file.open("w", encoding="utf-8") as held:
        held.write(text)
        held.flush()
        os.fsync(held.fileno())


def check_place(path: str | Path, error: type[PeerlabError]) -> None:
    """Refuse what :func:`written` would refuse at once: work should not be done in vain.

    Raises
    ------
    PeerlabError
        As `error`: if it cannot be written.
    """
    file, put, held = _prepared(path, error)
    if put:
        _end(file, held)


def check_folder(place: Path, error: type[PeerlabError]) -> None:
    """Refuse what :func:`new_folder` would refuse at once.

    Raises
    ------
    PeerlabError
        As `error`: if it is a file, a link that leads nowhere, or below a file.
    """
    with in_words(f"cannot write {place}", error):
        if place.exists() and not place.is_dir():
            raise error(f"cannot write {place}: it is a file; give a folder")
        if place.is_symlink() and not place.exists():
            raise error(f"cannot write {place}: it is a link that leads nowhere")
        if not next(above for above in (place, *place.absolute().parents) if above.exists()).is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


@contextmanager
def new_folder(place: Path, error: type[PeerlabError]) -> Iterator[None]:
    """Make a folder if need be; what is made here and stays empty is taken away again.

    Raises
    ------
    PeerlabError
        As `error`: if it is a file, a link that leads nowhere, or cannot be made.
    """
    check_folder(place, error)
    with in_words(f"cannot write {place}", error):
        new = not place.exists()
        place.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if new:
            with suppress(OSError):  # something is in it
                place.rmdir()


def _prepared(path: str | Path, error: type[PeerlabError]) -> tuple[Path, Callable[[Path], None] | None, int]:
    """Return a new file, what puts it where it belongs, and what holds its lock; of what is no file itself, None and -1."""
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
            return Path(name), partial(_pass_on, handle), -1
        if place.exists() and not place.is_file():
            return target, None, -1
        if not place.parent.is_dir():
            missing = (place if target.is_symlink() else target).parent
            raise error(f"cannot write {path}: there is no folder {missing}")
        if place.exists():
            place.open("ab").close()  # what must not be written must not be replaced either
        _clear(place.parent)
        unfinished, held = _begun(place, target.suffix)
        return unfinished, partial(_replace, place), held


def _begun(place: Path, suffix: str) -> tuple[Path, int]:
    """Return a new file beside a place, and what holds its lock for as long as this process lives."""
    while True:
        unfinished = place.with_name(f"{_UNFINISHED}{token_hex(6)}{suffix}")
        # the usual rights, less the user's umask; `mkstemp` would keep everybody else out of the saved file
        held = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        if sys.platform == "win32":  # what is open there can neither be moved nor removed
            os.close(held)
            return unfinished, -1
        with suppress(BlockingIOError):
            lock(held)
            if os.fstat(held).st_nlink:
                return unfinished, held
        os.close(held)  # another process took it, before it was locked, for one that was left behind


def _end(file: Path, held: int) -> None:
    """Take a file away, if it is still there, and let go of its lock."""
    # after success it has taken its place, and there is nothing left to take away
    file.unlink(missing_ok=True)
    if held >= 0:
        os.close(held)


def _clear(folder: Path) -> None:
    """Take away what processes that were killed left in a folder; a file that a living process writes is locked."""
    for path in folder.glob(f"{_UNFINISHED}*"):
        with suppress(OSError):  # gone meanwhile, or somebody else's
            if path.is_symlink() or not path.is_file():
                continue
            held = os.open(path, os.O_RDONLY)
            try:
                if has_no_holder(held):
                    path.unlink()
            finally:
                os.close(held)


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
        # whoever could read the old file can read the new one
        file.chmod(place.stat().st_mode & 0o777)
    with file.open("r+b") as held:
        os.fsync(held.fileno())  # a disk may say only now that it is full
    # last: until here the old file is whole, and from here on the new one is
    file.replace(place)
