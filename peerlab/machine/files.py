"""Small files of /sys and /proc: one value each, and any of them may be missing or refuse to be read."""

from pathlib import Path


def text(path: Path) -> str | None:
    """Return what a small file says, without the blanks around it; None if it cannot be read."""
    try:
        # never an error: in containers and virtual machines any of these files may be missing or forbidden
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def number(path: Path, base: int = 10) -> int | None:
    """Return the whole number in a small file; None if there is none."""
    try:
        return int(text(path) or "", base)
    except ValueError:
        return None


def entries(folder: Path) -> list[Path]:
    """Return what a folder holds, sorted by name; nothing if it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def leading_bytes(path: Path, count: int) -> bytes:
    """Return up to `count` first bytes of a file; none if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError:
        return b""


def link_name(path: Path) -> str:
    """Return the last name of what a link leads to, as a device's ``driver``; empty if it is no link."""
    try:
        return path.readlink().name
    except OSError:
        return ""
