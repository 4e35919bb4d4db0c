"""Where the data and the labs lie: at the top of a checkout, inside the package in a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).parent.parent


def folder(name: str) -> Path:
    """Return the folder `name` (``"data"`` or ``"labs"``) of this installation."""
    # a wheel is asked first: beside an installed package may lie anybody's folder "data"
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
