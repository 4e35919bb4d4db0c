"""Files that are there whole or not at all: what was there before stays until then."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from peerlab.errors import ExportError
from peerlab.textfile import in_words


def place_of(path: str | Path) -> Path:
    """Return where a user's path leads, ``~`` being the home.

    Raises
    ------
    ExportError
        If there is no such home.
    """
    with in_words(f"cannot write {path}", ExportError):
        return Path(path).expanduser()


@contextmanager
def written(target: Path) -> Iterator[Path]:
    """Give a file beside `target` to write, which takes its place when it is whole.

    Raises
    ------
    ExportError
        If it cannot be written; at once where that is known beforehand.
    """
    with in_words(f"cannot write {target}", ExportError):
        place = target.resolve()  # a link stays one: what it leads to is replaced
        if not place.parent.is_dir():
            raise ExportError(f"cannot write {target}: there is no folder {target.parent}")
        if place.is_dir():
            raise ExportError(f"cannot write {target}: it is a folder")
        if place.exists() and not place.is_file():
            raise ExportError(f"cannot write {target}: it is a device or a pipe")
        unfinished = place.with_name(f".peerlab-{token_hex(6)}{target.suffix}")
        unfinished.touch(exist_ok=False)
    try:
        yield unfinished
        unfinished.replace(place)
    except OSError as problem:  # nothing else: what goes wrong with what is to be written says so itself
        raise ExportError(f"cannot write {target}: {problem.strerror or problem}") from None
    finally:
        unfinished.unlink(missing_ok=True)
