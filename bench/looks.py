"""Whether a change of looks costs time: pages of an older commit and of this one in one Chromium, pressed and played in turn."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from export import INTERVALS, TOGGLE, rates, spread
from side_by_side import table

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))
from driver import chromium

BEFORE = "2ca707f6"
"""The first commit with the headline as a range and one row of controls."""
ROOT = Path(__file__).parent.parent
ROUNDS, PRESSES, SECONDS = 6, 10, 3
"""How often each page has its turn, presses in one, and how long it plays in one."""
WINDOWS = {"1280 x 720": (1280, 720), "390 x 844": (390, 844)}
WRITE = "import sys, peerlab; peerlab.export_html(peerlab.Scenario(path='host-rdma'), sys.argv[1], controls='host,cache,nodes=2:8', bands=False)"
Row = tuple[str, ...]


def section() -> str:
    """Measure both commits."""
    load = os.getloadavg()[0]
    head = (
        "what",
        "then: median",
        "p95, or p5 of frames",
        "now: median",
        "p95, or p5 of frames",
        "now / then",
    )
    return f"""## The look, then and now

The same exported page as commit {BEFORE} writes it and as this one does, in one Chromium, each having its turn {ROUNDS} times with {PRESSES} presses and
{SECONDS} s of play, on {os.cpu_count()} cores with a load of {load:.1f} before it began.

{table(head, rows())}
"""


def rows() -> list[Row]:
    """Write both pages, open them, and give each its turns."""
    with tempfile.TemporaryDirectory() as private, chromium(1280, 720) as browser:
        pages = {name: browser.new_page() for name in ("then", "now")}
        for name, page in pages.items():
            page.goto(written(name, Path(private)).as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
        return [row for window in WINDOWS for row in compared(window, pages)]


def written(name: str, folder: Path) -> Path:
    """Return the page as a commit writes it; an older one in a checkout of its own."""
    source = ROOT
    if name == "then":
        source = folder / "checkout"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", source, BEFORE], check=True, capture_output=True)  # fmt: skip
    try:
        target = folder / f"{name}.html"
        env = {**os.environ, "PYTHONPATH": str(source)}
        subprocess.run([sys.executable, "-P", "-c", WRITE, target], check=True, env=env, cwd=folder)
    finally:
        if name == "then":
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", source], check=True)
    return target


def compared(window: str, pages: Mapping[str, Any]) -> list[Row]:
    """Return a row for switches and one for frames in a window."""
    taken: dict[str, list[float]] = {name: [] for name in pages}
    played: dict[str, list[float]] = {name: [] for name in pages}
    width, height = WINDOWS[window]
    for turn in range(ROUNDS):
        for name, page in list(pages.items())[:: 1 if turn % 2 else -1]:
            page.bring_to_front()
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(300)
            taken[name] += [float(page.evaluate(TOGGLE)) for _ in range(PRESSES)]
            page.evaluate("[...window.peerlabPages][0].player.wanted = true")
            played[name] += page.evaluate(INTERVALS, SECONDS)
    switch, frames = ([statistics.median(of[name]) for name in ("then", "now")] for of in (taken, played))
    return [
        (f"switch to repaint, {window}", *spread(taken["then"]), *spread(taken["now"]), f"{switch[1] / switch[0]:.2f}"),
        (f"frames a second, {window}", *rates(played["then"]), *rates(played["now"]), f"{frames[0] / frames[1]:.2f}"),
    ]  # fmt: skip


if __name__ == "__main__":
    print(section())
