"""Exported pages in a real browser: how large they are, how soon they play, how a switch is answered, and the frame rate."""

import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab import RESOLVE_PAINTED
from side_by_side import quantile, table

import peerlab
from peerlab.features.neighbours.jobs_page import jobs_page_html
from peerlab.features.neighbours.port_page import comparison_html
from peerlab.picture.bokeh_document import bokeh_script

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))
from driver import chromium

SWITCHES = 30
OPENINGS = 5
Row = tuple[str, str, str, str]

PAGES = {
    "24 states": {"controls": "host,cache,nodes=2:64"},
    "480 states": {
        "controls": "host,cache,nodes=2:1024,message=64KiB:256KiB:1MiB:4MiB:16MiB:32MiB:64MiB:100MB:128MiB:256MiB:512MiB:1GiB"
    },
    "single figure": {"controls": "host", "mode": "figure"},
}
MOST_MB = {"24 states": 1.8, "480 states": 5.0, "single figure": 1.5}

DECK = """<!doctype html><style>body, iframe { margin: 0; border: 0; width: 100vw; height: 100vh }</style>
<iframe src="24-states.html" title="a slide"></iframe>"""

BARE = """<!doctype html><meta charset="utf-8"><script>{bokeh}</script><body><script type="module">
    await new Promise(requestAnimationFrame);
    performance.mark("ready");
    document.documentElement.dataset.ready = "yes";
</script>"""
"""A page that has BokehJS and nothing to show with it."""

TEXT = """() => new Promise(resolve => {
    const start = performance.now(), { port1, port2 } = new MessageChannel();
    document.body.textContent = start;
    port1.onmessage = () => resolve(performance.now() - start);
    requestAnimationFrame(() => port2.postMessage(0));
})"""
"""Changes one word of an empty page."""

TOGGLE = """() => new Promise(resolve => {
    const [page] = window.peerlabPages, before = page.applied, start = performance.now();
    document.querySelector('.pl-choices input').click();
RESOLVE_PAINTED})""".replace("RESOLVE_PAINTED", RESOLVE_PAINTED)

INTERVALS = """seconds => new Promise(resolve => {
    const [page] = window.peerlabPages ?? [], intervals = [];
    let last = null, begun = null, drawn = page?.player.frames;
    const tick = now => {
        begun ??= now;
        if (last !== null && (!page || page.player.frames > drawn)) intervals.push(now - last);
        drawn = page?.player.frames;
        last = now;
        if (now - begun < seconds * 1000) requestAnimationFrame(tick);
        else resolve(intervals);
    };
    requestAnimationFrame(tick);
})"""


def section() -> str:
    """Measure exported pages."""
    load = os.getloadavg()[0]
    head = ("what", "median", "p95 (of frame rates: p5)", "wanted, or beside")
    with tempfile.TemporaryDirectory() as private:
        rows = export_rows(Path(private))
    return f"""## Exported pages in a browser

Pages opened from files, in Chromium without a GPU, 1280 x 720, on {os.cpu_count()} cores with a load of {load:.1f} before it began. What an empty
page takes beside them says what this machine can do at most.

{table(head, rows)}
"""


def export_rows(folder: Path) -> list[Row]:
    """Write the pages and measure them."""
    scenario = peerlab.Scenario(path="host-rdma")
    rows: list[Row] = []
    for name, options in PAGES.items():
        path = peerlab.export_html(scenario, folder / f"{name.replace(' ', '-')}.html", **options)
        rows.append((f"{name}: size", f"{path.stat().st_size / 1e6:.2f} MB", "", f"<= {MOST_MB[name]} MB"))
    (folder / "deck.html").write_text(DECK)
    (folder / "bare.html").write_text(BARE.replace("{bokeh}", bokeh_script().read_text()))
    with chromium(1280, 720) as browser:
        floor = spread(openings(browser, folder, "bare"))
        rows += [
            (
                f"{name}: ready",
                *spread(openings(browser, folder, name)),
                f"<= 800 ms; an empty page with BokehJS here: {', '.join(floor)}",
            )
            for name in PAGES
        ]
        blank = browser.new_page()
        least = spread([float(blank.evaluate(TEXT)) for _ in range(SWITCHES)])
        blank.close()
        for name in ("24 states", "480 states"):
            page = opened(browser, folder, name)
            rows.append(
                (
                    f"{name}: switch to repaint of headline, scene, timeline",
                    *spread(toggles(page)),
                    f"p95 <= 50 ms; a word of an empty page here: {', '.join(least)}",
                )
            )
            page.close()
        blank = browser.new_page()
        ceiling = rates(blank.evaluate(INTERVALS, 3))
        blank.close()
        wanted = f"p5 >= 50; an empty page here: {ceiling[0]}, {ceiling[1]}"
        page = opened(browser, folder, "24 states")
        rows.append(("playing alone: frames a second", *rates(page.evaluate(INTERVALS, 4)), wanted))
        page.goto(f"file://{folder / 'deck.html'}")
        frame = page.frames[1]
        frame.wait_for_selector("html[data-ready]")
        rows.append(
            ("playing in a frame of a deck: frames a second", *rates(frame.evaluate(INTERVALS, 4)), wanted)
        )
        rows += played_rows(browser, folder, wanted)
    return rows


def played_rows(browser: Any, folder: Path, wanted: str) -> list[Row]:
    """Return a row for frames and one for memory of the pages of neighbours and of jobs, the largest that examples ask for."""
    turns = {"compute_ms": 2, "repeats": 4}
    both = [{"hosts": [0, 1, 4, 5], "flows": 2, **turns}, {"hosts": [2, 3, 6, 7], **turns}]
    pages = {
        "four fabrics with neighbours": comparison_html(
            peerlab.neighbours("neighbour(4)", message_bytes="16 MiB")
        ),
        "two jobs, max-min": jobs_page_html(peerlab.shared_fabric(both, message_bytes="16 MiB")),
        "two jobs as cells": jobs_page_html(
            peerlab.shared_fabric(both, message_bytes="16 MiB", fabric="roce-dcqcn")
        ),
    }
    rows: list[Row] = []
    for name, text in pages.items():
        (folder / f"{name.replace(' ', '-')}.html").write_text(text)
        page = opened(browser, folder, name)
        page.evaluate("() => { const [{ player }] = window.peerlabPages; player.seek(0); player.toggle(); }")
        frames = rates(page.evaluate(INTERVALS, 4))
        size = f"{len(text) / 1e6:.1f} MB as a file"
        rows += [
            (f"{name}, playing: frames a second", *frames, wanted),
            (f"{name}: memory of its JavaScript", f"{heap_MB(page):.0f} MB", "", f"<= 100 MB; {size}"),
        ]
        page.close()
    return rows


def heap_MB(page: Any) -> float:  # noqa: N802  (the field writes MB)
    """Return what a page's JavaScript holds, once what nobody holds is gone."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    # columns of numbers lie outside of the heap, in buffers
    return float(usage["usedSize"] + usage["backingStorageSize"]) / 1e6


def opened(browser: Any, folder: Path, name: str) -> Any:
    """Open a page; return it when it has painted its first picture."""
    page = browser.new_page()
    page.goto(f"file://{folder / name.replace(' ', '-')}.html")
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def openings(browser: Any, folder: Path, name: str) -> list[float]:
    """Measure from the beginning of the navigation to the first picture, as the page itself notes it."""
    times = []
    for _ in range(OPENINGS):
        page = opened(browser, folder, name)
        times.append(float(page.evaluate("() => performance.getEntriesByName('ready')[0].startTime")))
        page.close()
    return times


def toggles(page: Any) -> list[float]:
    """Press a switch again and again, while the page plays."""
    times = []
    for _ in range(SWITCHES):
        page.wait_for_timeout(150)
        times.append(float(page.evaluate(TOGGLE)))
    return times


def rates(intervals: list[float]) -> tuple[str, str]:
    """Return the median frame rate, and the one that 95 % of the frames have or more."""
    return f"{1000 / statistics.median(intervals):.0f}", f"{1000 / quantile(intervals, 0.95):.0f}"


def spread(times: list[float]) -> tuple[str, str]:
    return f"{statistics.median(times):.0f} ms", f"{quantile(times, 0.95):.0f} ms"
