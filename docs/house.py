"""The house as it is: layers and features with their sizes, and which of them import which, read from the code."""

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "peerlab"
_BAR = 1500
"""Lines that a block of the picture stands for."""


def layers() -> list[list[str]]:
    """Return the layers from top to bottom, as the contract in pyproject.toml has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (rows,) = (one["layers"] for one in contracts if one["type"] == "layers")
    return [re.findall(r"peerlab\.(\w+)", row) for row in rows]


def lines(folder: Path) -> int:
    """Return the lines of Python below a folder."""
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in folder.rglob("*.py"))


def imported() -> dict[str, set[str]]:
    """Return which layers each layer imports; imports for annotations alone do not count."""
    arrows: dict[str, set[str]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        layer = file.relative_to(PACKAGE).parts[0]
        for node in _running(ast.parse(file.read_text(encoding="utf-8"))):
            for target in re.findall(r"peerlab\.(\w+)", ast.unparse(node)):
                arrows[layer].add(target)
    return arrows


def _running(tree: ast.AST) -> list[ast.stmt]:
    """Return the imports that are carried out."""
    found: list[ast.stmt] = []
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            found.append(child)
        found += _running(child)
    return found


def thousands(count: int) -> str:
    """Return a number of lines in whole thousands, so that the picture stays while somebody writes a line."""
    return f"{max(1, round(count / 1000))}k"


def picture() -> str:
    """Return the house as text: each layer with a bar of its lines, and the layers that it imports."""
    rows, arrows = layers(), imported()
    order = [name for row in rows for name in row]
    out = [f"{'layer':12} {'lines':>5}  {'':14} imports"]
    for row in rows:
        for name in row:
            size = lines(PACKAGE / name)
            below = [other for other in order if other in arrows[name] and other != name]
            bar = "█" * max(1, round(size / _BAR))
            beside = (
                "  (beside " + ", ".join(other for other in row if other != name) + ")"
                if len(row) > 1
                else ""
            )
            out.append(f"{name:12} {thousands(size):>5}  {bar:14} {', '.join(below) or '-'}{beside}")
            if name == "features":
                out += _columns()
    return "\n".join(out)


def _columns() -> list[str]:
    """Return the features with their sizes, some to a line: none imports another."""
    folders = sorted(file.parent for file in (PACKAGE / "features").glob("*/__init__.py"))
    cells = [f"{folder.name} {thousands(lines(folder))}" for folder in folders]
    return [
        "  | " + " | ".join(f"{cell:13}" for cell in cells[at : at + 6]).rstrip()
        for at in range(0, len(cells), 6)
    ]


BEGIN, END = "<!-- the house: written by make docs -->\n", "<!-- the end of the house -->\n"


def part() -> str:
    """Return the part of CONTRIBUTING.md that shows the house."""
    return f"{BEGIN}```text\n{picture()}\n```\n{END}"


def contributing(text: str) -> str:
    """Return the text of CONTRIBUTING.md with the house as it is."""
    before, _, rest = text.partition(BEGIN)
    return before + part() + rest.partition(END)[2]
