"""Where an export goes."""

from pathlib import Path

from peerlab.base.errors import ExportError
from peerlab.base.textfile import in_words


def place_of(path: str | Path) -> Path:
    """Return where a user's path leads, ``~`` being the home.

    Raises
    ------
    ExportError
        If there is no such home, or it is a device or a pipe, which would let a notebook wait for its reader.
    """
    with in_words(f"cannot write {path}", ExportError):
        place = Path(path).expanduser()
        if place.exists() and not (place.is_file() or place.is_dir()):
            raise ExportError(f"cannot write {path}: it is a device or a pipe")
        return place
