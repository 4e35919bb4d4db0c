"""The lab in a browser tab beside the lab with a kernel: bytes, the first picture, live, a switch, memory; in turn, five times each."""

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from gzip import compress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from jupyter_client.manager import start_new_kernel
from lab import RESOLVE_PAINTED
from seats import memory
from side_by_side import table

import peerlab
from peerlab.base.units import MIB
from peerlab.features.site.live_page import live_page
from peerlab.features.site.pyodide_package import pyodide_files
from peerlab.features.site.python_archive import python_archives

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))
from driver import chromium

ROUNDS = 5
NODES = (8, 64, 1024)
CHANGE = """changes => new Promise(resolve => {
    const page = [...window.peerlabPages].at(-1), before = page.model.get('data').meta.number, start = performance.now();
    page.model.change(changes);
RESOLVE_PAINTED})""".replace("RESOLVE_PAINTED", RESOLVE_PAINTED)
SIZES = [(64 + place) * MIB for place in range(3)]
LIVE = """
import json, time
begun = time.perf_counter()
import peerlab
lab = peerlab.explore(peerlab.Scenario(nodes=8))
lab._repr_mimebundle_()
print(json.dumps({"live": 1000 * (time.perf_counter() - begun)}))
"""
SWITCHED = f"""
from peerlab.engine.simulate import simulate
from peerlab.picture.curve_scenarios import lines
from peerlab.picture.payload import payload
from peerlab.study.bands import bands_of
ms = {{}}
for nodes in {NODES}:
    for size in {SIZES}:
        for path in ("peer-direct", "host-rdma"):
            begun = time.perf_counter()
            shown = simulate(peerlab.Scenario(nodes=nodes, path=path, message_bytes=size))
            parcel = payload(shown, None, 1)
    ms[f"switch, {{nodes}} nodes"] = 1000 * (time.perf_counter() - begun)
runs = [[point and simulate(point) for point in line.scenarios] for line in lines(shown.scenario, "nodes")]
bands = [bands_of(line) for line in runs]
print(json.dumps(ms))
"""
"""A kernel's part of the same: of each number of nodes the last switch, of a size that was not asked before; then curves and bands."""
Times = dict[str, list[float]]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def section() -> str:
    """Measure both."""
    load, tab, kernel = os.getloadavg()[0], defaultdict(list), defaultdict(list)
    with tempfile.TemporaryDirectory() as private, served(Path(private)) as (address, weighs):
        for _ in range(ROUNDS):
            _in_tab(address, tab)
            _in_kernel(kernel)
    names = {
        "first": "first picture",
        "live": "live, nothing in the browser's cache; kernel: from its start to the widget",
        "warm": "live, opened again",
        **{f"switch, {nodes} nodes": f"a switch and a new size, {nodes} nodes" for nodes in NODES},
    }
    rows = [(words, _ms(tab[name]), _ms(kernel[name])) for name, words in names.items()]
    rows += [
        (words, _mb(tab[name]), _mb(kernel[name]))
        for name, words in {
            "memory": "memory, live",
            "memory later": "memory after those switches and all curves with their bands",
            "memory, empty": "memory of an empty page",
        }.items()
    ]
    one, files = weighs
    return f"""## The lab in a browser tab

`peerlab site` in Chromium without a GPU, from a server on the same machine, beside a kernel that answers the same questions, in turn. Each figure is the median of {ROUNDS}, the worst in brackets. The machine
has {os.cpu_count()} cores; its load was {load:.1f} before the measurement. A kernel's time is without painting, which *The lab in a browser* has. Memory is the PSS of the process that draws
the page, worker and Python in it, and of the kernel, which needs JupyterLab's page and server besides. A visitor loads {files / 1e6:.1f} MB, as a server compresses it; the one file that
opens without a server has {one / 1e6:.1f} MB.

{table(("what", "tab", "kernel"), rows)}
"""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Serve a live explorer; yield its address, and the bytes of one file and of what a visitor loads."""
    files = pyodide_files(None)
    files |= python_archives(files)
    scenario = peerlab.Scenario(nodes=8)
    pages = {"explorer.html": live_page(scenario, files, carried=False).encode()}
    pages["live_worker.js"] = peerlab.page.script_of("live_worker").encode()
    loaded = {name: data for name, data in files.items() if name != "labs.zip"} | pages
    for name, data in loaded.items():
        (folder / name).write_bytes(data)
    one = len(live_page(scenario, files, carried=True).encode())
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield (
            f"http://127.0.0.1:{server.server_port}",
            (one, sum(len(compress(data)) for data in loaded.values())),
        )
        server.shutdown()


def _in_tab(address: str, times: Times) -> None:
    with chromium(1280, 800) as browser:
        page = browser.new_page()
        times["memory, empty"].append(_drawn_in())
        times["live"].append(_live(page, address))
        first = page.evaluate("performance.getEntriesByName('first picture')[0].startTime")
        times["first"].append(float(first))
        times["memory"].append(_drawn_in())
        page.close()
        page = browser.new_page()
        times["warm"].append(_live(page, address))
        for nodes in NODES:
            taken = 0.0
            for size in SIZES:
                for path in ("peer-direct", "host-rdma"):
                    changes = {"nodes": nodes, "path": path, "message_bytes": size}
                    taken = float(page.evaluate(CHANGE, changes))
                    page.wait_for_timeout(200)
            times[f"switch, {nodes} nodes"].append(taken)
        page.wait_for_selector("html[data-done]", state="attached", timeout=240_000)
        times["memory later"].append(_drawn_in())


def _live(page: Any, address: str) -> float:
    begun = time.perf_counter()
    page.goto(f"{address}/explorer.html")
    page.wait_for_selector("html[data-live]", state="attached")
    return 1000 * (time.perf_counter() - begun)


def _drawn_in() -> float:
    """Return the bytes of the largest process that draws pages, of those that this process started."""
    own, drawing = {os.getpid()}, []
    for status in sorted(Path("/proc").glob("[0-9]*/status"), key=lambda file: int(file.parent.name)):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            words = (status.parent / "cmdline").read_text()
        except OSError:  # it ended meanwhile
            continue
        if int(fields["PPid"]) in own:
            own.add(int(status.parent.name))
            if "--type=renderer" in words:
                drawing.append(memory(int(status.parent.name))["Pss"])
    return float(max(drawing))


def _in_kernel(times: Times) -> None:
    begun = time.perf_counter()
    manager, client = start_new_kernel()
    started = 1000 * (time.perf_counter() - begun)
    try:
        for code, name in ((LIVE, "memory"), (SWITCHED, "memory later")):
            for what, value in _told(client, code).items():
                times[what].append(value + (started if what == "live" else 0))
            times[name].append(float(memory(manager.provisioner.process.pid)["Pss"]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _told(client: Any, code: str) -> dict[str, float]:
    """Run code in a kernel; return the JSON of its last line."""
    printed: list[str] = []
    reply = client.execute_interactive(
        code, output_hook=lambda message: printed.append(message["content"].get("text", "")), timeout=300
    )
    if reply["content"]["status"] != "ok":
        raise RuntimeError(reply["content"]["evalue"])
    return json.loads("".join(printed).strip().splitlines()[-1])


def _ms(times: list[float]) -> str:
    if not times:
        return ""
    middle, worst = statistics.median(times), max(times)
    return (
        f"{middle / 1000:.1f} s ({worst / 1000:.1f})" if middle >= 1000 else f"{middle:.0f} ms ({worst:.0f})"
    )


def _mb(sizes: list[float]) -> str:
    return f"{statistics.median(sizes) / 1e6:.0f} MB ({max(sizes) / 1e6:.0f})" if sizes else ""
