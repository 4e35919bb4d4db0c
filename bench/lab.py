"""The lab in a real browser: how long a switch takes to repaint, how long new curves take, and the frame rate."""

import os
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from side_by_side import quantile, table

from peerlab.base.units import say_percent

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))
from driver import Explorer, Notebook, chromium
from server import Lab, laboratory

NODES = (8, 1024)
SWITCHES = 24
"""How often each switch is pressed."""
Row = tuple[str, str, str, str]


def section() -> str:
    """Measure the lab."""
    load = os.getloadavg()[0]
    head = ("what", "median", "p95 or share", "wanted, or beside")
    return f"""## The lab in a browser

Chromium without a GPU, on {os.cpu_count()} cores with a load of {load:.1f} before it began. A bare checkbox beside it says what JupyterLab and ipywidgets take alone.

{table(head, lab_rows(SWITCHES))}
"""


def lab_rows(switches: int) -> list[Row]:
    """Measure a real explorer in a real browser."""
    rows: list[Row] = []
    with laboratory() as lab:
        for nodes in NODES:
            with explorer(lab, f"nodes={nodes}") as one:
                rows += switch_rows(one, nodes, switches)
        rows.append(floor_row(lab, switches))
        with explorer(lab, "nodes=128, slice_bytes='64 KiB'") as one:
            rows += frame_rows(one)
    return rows


@contextmanager
def explorer(lab: Lab, fields: str) -> Iterator[Explorer]:
    """Open an explorer in a browser of its own."""
    with chromium(1280, 900) as browser:
        name = lab.write("bench.ipynb", f"import peerlab\npeerlab.explore({fields})")
        notebook = Notebook(browser.new_page(), lab, name)
        notebook.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        notebook.run_all()
        yield Explorer(notebook)
        notebook.page.evaluate("() => window.jupyterapp.commands.execute('kernelmenu:shutdown')")


def switch_rows(explorer: Explorer, nodes: int, switches: int) -> list[Row]:
    """Press the host switch and then the cache switch again and again, playing all the while."""
    rows: list[Row] = []
    for name, selector in (("host bottleneck", ".pl-host input"), ("registration cache", ".pl-cache input")):
        if "cache" in name:
            explorer.change(lambda: explorer.switch("host"))
        for pace, pause_ms in (("", 800), (", in haste", 60)):
            paints = []
            for _ in range(switches):
                explorer.page.wait_for_timeout(pause_ms)
                explorer.page.wait_for_selector(f"{selector}:enabled")
                paints.append(explorer.page.evaluate(PAINT_ONLY, selector))
            what = f"switch *{name}*, {nodes} nodes{pace}: to repaint of headline, scene, timeline"
            rows.append((what, *spread(paints), "p95 <= 100 ms"))
    curves = []
    for again in range(8):
        size = 64 * 2**20 + (again + 1) * 2**20  # sizes not asked for before: nothing is in the lab's memory
        curves.append(explorer.page.evaluate(CURVES, str(size)))
    rows.append((f"a new message size, {nodes} nodes: to new curves", *spread(curves), "<= 1 s"))
    return rows


BARE = """import ipywidgets as w
box, label = w.Checkbox(description="bare"), w.Label("0")
box.observe(lambda change: setattr(label, "value", str(int(label.value) + 1)), "value")
w.VBox([box, label])"""

PRESS_BARE = """() => new Promise(resolve => {
    const start = performance.now();
    const seen = new MutationObserver(() => {
        seen.disconnect();
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start), 0));
    });
    seen.observe(document.querySelector('.widget-vbox'), { subtree: true, childList: true, characterData: true });
    document.querySelector('.widget-checkbox input').click();
})"""


def floor_row(lab: Lab, switches: int) -> Row:
    """Press a bare checkbox that changes one label: what JupyterLab and ipywidgets take on this machine alone."""
    with chromium(1280, 900) as browser:
        notebook = Notebook(browser.new_page(), lab, lab.write("bare.ipynb", BARE))
        notebook.run_all()
        notebook.page.wait_for_selector(".widget-checkbox input")
        times = []
        for _ in range(switches):
            notebook.page.wait_for_timeout(60)
            times.append(notebook.page.evaluate(PRESS_BARE))
    return (
        "a bare ipywidgets checkbox that changes one label, same page otherwise empty",
        *spread(times),
        "the floor",
    )


RESOLVE_PAINTED = """
    const seen = new MutationObserver(() => {
        if (Number(page.root.dataset.painted) <= before) return;
        seen.disconnect();
        resolve(performance.now() - start);
    });
    seen.observe(page.root, { attributes: true, attributeFilter: ['data-painted'] });
"""
"""Resolves when `page` has painted another state than `before`: milliseconds since `start`."""
PAINT_ONLY = """selector => new Promise(resolve => {
    const page = [...window.peerlabPages].at(-1), before = page.model.get('data').meta.number, start = performance.now();
    page.root.closest('.pl-explorer').querySelector(selector).click();
RESOLVE_PAINTED})""".replace("RESOLVE_PAINTED", RESOLVE_PAINTED)

CURVES = """size => new Promise(resolve => {
    const page = [...window.peerlabPages].at(-1), before = page.model.get('curves'), start = performance.now();
    const field = page.root.closest('.pl-explorer').querySelector('.pl-size-text input');
    field.value = size;
    for (const kind of ['input', 'change', 'blur']) field.dispatchEvent(new Event(kind, { bubbles: true }));
    const seen = () => page.model.get('curves') !== before ? resolve(performance.now() - start) : setTimeout(seen, 0);
    seen();
})"""

FRAMES = """seconds => new Promise(resolve => {
    const page = window.peerlabPages && [...window.peerlabPages].at(-1);
    let shown = -1, painted = 0, start = null;
    const view = page?.figures.view('scene'), repaint = view?.repaint;
    if (page) {
        page.player.wanted = true;
        view.repaint = function () { painted++; return repaint.call(view); };
    }
    const tick = now => {
        start ??= now;
        shown++;
        if (now - start < seconds * 1000) return requestAnimationFrame(tick);
        if (page) view.repaint = repaint;
        resolve([shown / (now - start) * 1000, painted / (now - start) * 1000]);
    };
    requestAnimationFrame(tick);
})"""

GLYPHS = """page => ['scene_slices', 'scene_texts', 'scene_words', 'scene_rows', 'scene_ring', 'timeline_spans', 'curves_points']
    .map(name => Object.values(page.figures.model(name).data)[0].length).reduce((a, b) => a + b, 0)"""


def frame_rows(explorer: Explorer) -> list[Row]:
    """Count the data path's paints while it plays, with as many glyphs on the page as a heavy scenario has."""
    blank = explorer.page.context.new_page()
    ceiling, _ = blank.evaluate(FRAMES, 2)
    blank.close()
    explorer.page.bring_to_front()
    glyphs = explorer.ask(GLYPHS)
    _, painted = explorer.page.evaluate(FRAMES, 4)
    what = f"playing, {glyphs} glyphs on the page: paints of the data path"
    return [
        (
            what,
            f"{painted:.0f} a second",
            say_percent(painted / ceiling),
            f"60; an empty page here: {ceiling:.0f}",
        )
    ]


def spread(times: list[float]) -> tuple[str, str]:
    return f"{statistics.median(times):.0f} ms", f"{quantile(times, 0.95):.0f} ms"
