"""Where an export goes: the user's path, refused if it is no file that can be written, or of another kind."""

from collections.abc import Callable
from pathlib import Path

from peerlab.base.errors import ExportError, PeerlabError, nearest
from peerlab.base.feature import registered
from peerlab.base.outfile import write_page_or_still
from peerlab.base.textfile import in_words

THEMES = ("light", "dark")
VIDEOS = (".mp4", ".webm", ".gif")
"""What a video may be written as."""
_VIDEO_S = 12.0
"""Length of a video that a command writes."""


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


def checked(path: str | Path, suffixes: tuple[str, ...], theme: str) -> Path:
    """Return the file to write, or refuse a suffix or a theme that there is not."""
    if theme not in THEMES:
        raise ExportError(f"theme: {theme!r} is unknown; {nearest(theme, THEMES)}")
    target = place_of(path)
    if target.suffix not in suffixes:
        raise ExportError(f"cannot write {path}: its name must end in {', '.join(suffixes)}")
    return target


def write_played(
    answer: object, path: Path, error: type[PeerlabError], page: Callable[[], str], still: Callable[[], str]
) -> None:
    """Write what ``--output`` asks for of an answer that plays: a page, a still or a video, by its name.

    Raises
    ------
    PeerlabError
        As `error`: if it cannot be written.
    """
    if path.suffix in VIDEOS:
        registered("offers", "video")(answer, path, seconds=_VIDEO_S)
    else:
        write_page_or_still(path, error, page=page, still=still)
