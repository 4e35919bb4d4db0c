"""Whether it pays to compute ahead what a switch of the lab may ask next: the same presses with and without it, in turn."""

import os
import statistics
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from lab import PAINT_ONLY, spread
from side_by_side import table, times

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))
from driver import Explorer, Notebook, chromium
from server import laboratory

from peerlab.base.units import MIB

PRESSES = 12
"""How often each switch is pressed on each page, in each situation."""
NODES = (8, 1024)
SWITCHES = {"host bottleneck": ".pl-host input", "registration cache": ".pl-cache input"}
NEVER = "from peerlab.app import explorer\nexplorer._PAUSE_S = 1e6\n"
"""Makes the lab wait for ever before it computes ahead."""
Row = tuple[str, ...]


def section() -> str:
    """Press the switches of two labs in turn: one computes ahead, one does not."""
    load = os.getloadavg()[0]
    head = ("to repaint", "ahead: median", "p95", "not ahead: median", "p95", "shorter by")
    return f"""## Switches computed ahead

Two labs in one Chromium, each with a kernel of its own, pressed in turn {PRESSES} times, on {os.cpu_count()} cores with a load of
{load:.1f} before it began. *After a change*: the message has a size that neither lab has seen, is looked at for 1.5 s, then the switch is pressed.
*Back*: the same switch again after 1.5 s, so that both kernels know the answer. A switch that is pressed within 0.3 s of a change is never
computed ahead; it takes what the columns *not ahead* say.

{table(head, [row for nodes in NODES for row in rows(nodes)])}
"""


def rows(nodes: int) -> Iterator[Row]:
    """Yield a row for each switch and situation."""
    explore = f"import peerlab\npeerlab.explore(nodes={nodes})"
    with pages({"ahead": explore, "plain": NEVER + explore}) as both:
        for number, (name, selector) in enumerate(SWITCHES.items()):
            if "cache" in name:
                for one in both:
                    one.page.bring_to_front()
                    one.change(partial(one.switch, "host"))
            taken: dict[tuple[int, str], list[float]] = {}
            for press in range(PRESSES):
                for which in (0, 1) if press % 2 else (1, 0):
                    first, again = pressed(both[which], selector, (65 + number * PRESSES + press) * MIB)
                    taken.setdefault((which, "after a change"), []).append(first)
                    taken.setdefault((which, "back"), []).append(again)
            for when in ("after a change", "back"):
                ahead, plain = taken[0, when], taken[1, when]
                gain = times(statistics.median(plain) / statistics.median(ahead))
                yield f"switch *{name}*, {nodes} nodes, {when}", *spread(ahead), *spread(plain), gain


@contextmanager
def pages(codes: Mapping[str, str]) -> Iterator[list[Explorer]]:
    """Open labs in one browser, each a notebook of this name with this code."""
    with laboratory() as lab, chromium(1280, 900) as browser:
        both = []
        for name, code in codes.items():
            written = lab.write(f"{name}.ipynb", code)
            notebook = Notebook(browser.new_page(), lab, written)
            notebook.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
            notebook.run_all()
            both.append(Explorer(notebook))
        yield both


def pressed(one: Explorer, selector: str, size: int) -> tuple[float, float]:
    """Change the message, press a switch and press it again; return how long each took to be seen, milliseconds."""
    one.page.bring_to_front()
    one.change(lambda: one.fill("size-text", str(size)))
    return press(one, selector), press(one, selector)


def press(one: Explorer, selector: str) -> float:
    """Look at what is shown, then press a switch; return how long that took to be seen, milliseconds."""
    one.page.wait_for_timeout(1500)
    one.page.wait_for_selector(f"{selector}:enabled")
    taken: float = one.page.evaluate(PAINT_ONLY, selector)
    one.settle()
    return taken
