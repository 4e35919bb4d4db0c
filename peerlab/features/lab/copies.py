"""The user's own copies of the labs: what is run and saved there changes nothing of peerlab's."""

import json
import os
from pathlib import Path

from peerlab.base.errors import PeerlabError, one_line
from peerlab.base.places import folder
from peerlab.base.textfile import in_words, read_bytes
from peerlab.base.units import MIB

_LARGEST = 64 * MIB
"""No lab with all its outputs is larger; JupyterLab would read it whole."""


def copied() -> Path:
    """Return the folder of the user's labs below this one; those that are not there yet are copied.

    A lab that is there already is the user's, and stays; if the one that comes with peerlab has changed since, that is
    said.

    Raises
    ------
    PeerlabError
        If a lab cannot be written, or something else stands in its place; it says which.
    """
    with in_words("cannot write the labs here: this folder is gone", PeerlabError):
        mine = Path.cwd() / "peerlab-labs"
    with in_words(f"cannot write the labs to {mine}", PeerlabError):
        if os.path.lexists(mine) and not mine.is_dir():
            raise PeerlabError(f"cannot write the labs to {mine}: it is not a folder; move it away")
        mine.mkdir(exist_ok=True)
    for lab in sorted(folder("labs").glob("*.ipynb")):
        _copy(lab, mine / lab.name)
    return mine


def _copy(lab: Path, copy: Path) -> None:
    if not os.path.lexists(copy):
        with in_words(f"cannot write {copy}", PeerlabError):
            unfinished = copy.with_name(f".{copy.name}.{os.getpid()}")
            try:
                unfinished.write_bytes(lab.read_bytes())
                unfinished.replace(copy)  # whole or not at all: half a lab would count as the user's
            finally:
                unfinished.unlink(missing_ok=True)
    elif _sources(_read(copy)) != _sources(lab.read_bytes()):
        print(f"peerlab: {one_line(copy)} is not the one that comes with peerlab; delete it to get that one")  # noqa: T201


def _read(copy: Path) -> bytes:
    try:
        return read_bytes(copy, most_bytes=_LARGEST, too_large="that is no lab", error=PeerlabError)
    except PeerlabError as problem:
        raise PeerlabError(f"{problem}; move it away, and you get the lab that comes with peerlab") from None


def _sources(lab: bytes) -> list[object] | None:
    """Return what the cells of a notebook say, without what they have shown; None if it is no notebook."""
    try:
        cells = json.loads(lab)["cells"]
        return ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
