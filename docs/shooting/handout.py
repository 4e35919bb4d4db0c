"""Prints docs/handout.pdf, a page to take away: every figure on it is simulated, or stands in data/ with its source.

`make shots ARGS=handout` prints it. A test holds the printed page to what `html()` gives, by the mark in its title.
"""

import re
import tempfile
from hashlib import sha256
from html import escape
from pathlib import Path

from handout_chart import growth

from peerlab.answer.gain import GainBand
from peerlab.answer.run import Run
from peerlab.base.units import GIB, say_bytes, say_percent
from peerlab.base.version import __version__
from peerlab.diagnosis.knowledge import knowledge
from peerlab.engine.simulate import simulate
from peerlab.model.paths import path_title
from peerlab.page.browser import browser
from peerlab.picture.drawing import HEIGHT, WIDTH
from peerlab.picture.still import SIZE, still_svg
from peerlab.picture.theme import palettes
from peerlab.picture.words import colours
from peerlab.question.scenario import Scenario

HERE = Path(__file__).parent
TARGET = HERE.parent / "handout.pdf"
A4 = (210 / 25.4 * 96, 297 / 25.4 * 96)
"""In CSS pixels."""
BASE = Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
_SOURCED = (
    "switch.uplink",
    "nic.rate",
    "host.core_copy",
    "registration.base",
    "registration.deregister_per_page",
)
"""Figures that the page rests on most."""
_ASSUMED = ("fabric.latency", "host.packet_cost")


def html() -> str:
    """Return the page."""
    host, tcp, peer = (simulate(BASE.with_(path=path)) for path in ("host-rdma", "host-tcp", "peer-direct"))
    gain = peer.gain_band(host)
    palette = "".join(f"--{role}:{colour};" for role, colour in palettes()["light"].items())
    style = f"<style>:root{{{palette}}}{(HERE / 'handout.css').read_text(encoding='utf-8')}</style>"
    machine = BASE.hardware
    what = f"{machine.title}, {BASE.nodes} nodes, {BASE.ranks} ranks, a message of {say_bytes(BASE.nbytes)}, simulated"
    body = f"""
<header><div><h1>Where do the bytes<br>of an AllReduce go?</h1><p>{what}</p></div>
<p class=gain><b>{gain.value:.2f} times</b>as fast with Peer Direct<small>{_how_sure(gain)}</small></p></header>
{_path(host, "copy")}{_path(peer, "direct")}{_key(host, peer)}
<div class=grid>
<section><h3>What a byte costs on each path</h3>{_costs(tcp, host, peer)}</section>
<section><h3>Bus bandwidth against nodes, GB/s</h3>{growth(BASE)}</section>
<section><h3>Registration decides whether it pays</h3>{_registration(host, peer)}{_why(host, peer)}</section>
<section><h3>Say it right, look it up</h3>{_words()}</section>
</div>
<footer>{_sources()}</footer>"""
    page = f"<html lang=en><meta charset=utf-8>{style}<body>{body}</body></html>"
    return page.replace("<meta", f"<title>{mark(page)}</title><meta", 1)


def mark(page: str) -> str:
    """Return the title of a page: it tells this page from any other."""
    return f"peerlab: where do the bytes of an AllReduce go? ({sha256(page.encode()).hexdigest()[:12]})"


_WAYS = {
    "host-rdma": "copied up into host memory, sent from there, written there, copied down again",
    "peer-direct": "the NIC reads and writes device memory, below the PCIe switch",
}


def _how_sure(gain: GainBand) -> str:
    """Return how far the gain may lie from what is simulated, and which assumption decides most of that."""
    decisive = gain.decisive
    most = f"; most depends on {decisive.figure.label}" if decisive else ""
    if gain.wired:
        bands = (f"{case.low:.2f} to {case.high:.2f} times if {case.says}" for case in gain.wired)
        return f"{';<br>'.join(bands)} †"
    return f"{gain.least:.2f} to {gain.most:.2f} times{most} †"


def _path(run: Run, role: str) -> str:
    """Return a path's picture without the title and the foot that a still has."""
    above = SIZE[1] - HEIGHT - 60  # the still's title; its foot, 60 high or more, is below
    view = f"viewBox='0 {above:g} {WIDTH:g} {HEIGHT:g}'"
    picture = re.sub(r"viewBox='[^']*' width='[^']*' height='[^']*'", view, still_svg(run), count=1)
    path = str(run.scenario.path)
    return (
        f"<section class=path style='--mark:var(--{role})'><h2>{path_title(path)} <span>{_WAYS[path]}</span></h2>"
        f"<figure>{picture}</figure></section>"
    )


def _key(*runs: Run) -> str:
    """Return what the colours of slices mean."""
    meanings = {role: text for run in runs for role, text in colours(run)}
    order = ("copy", "network", "direct", "inside", "gather")
    marks = "".join(
        f"<span><i style='background:var(--{role})'></i>{meanings[role]}</span>" for role in order
    )
    return f"<p class=key>{marks}<span><i class=hollow></i>thin or hollow: other nodes</span><span>† assumed</span></p>"


def _costs(*runs: Run) -> str:
    rows = {
        "time, ms": [f"{1e3 * run.time_s:.3g}" for run in runs],
        "bus bandwidth, GB/s": [f"{run.busbw_GBps:.3g}" for run in runs],
        "copies of a byte on its way": [f"{run.copies_per_byte:.3g}" for run in runs],
        "DRAM bytes per byte sent": [f"{run.dram_bytes_per_byte:.3g}" for run in runs],
        "CPU cores of a node busy": [f"{run.cores_busy:.2g}" for run in runs],
        "PCIe uplink busy": [say_percent(run.busy.get("uplink_up", 0)) for run in runs],
        "wire busy": [say_percent(run.wire_busy) for run in runs],
    }
    head = "".join(f"<th>{path_title(str(run.scenario.path))}</th>" for run in runs)
    body = "".join(
        f"<tr><th>{name}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for name, cells in rows.items()
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"


def _registration(host: Run, peer: Run) -> str:
    direct = peer.scenario
    runs = [
        ("one pool, at start", simulate(direct.with_(registration="pool")), "direct"),
        ("a cache, warm", peer, "direct"),
        ("a cache of one region", simulate(direct.with_(cache_regions=1)), "register"),
        ("for each transfer", simulate(direct.with_(registration="per-transfer")), "register"),
        ("through the host", host, "copy"),
    ]
    most = max(run.busbw_GBps for _, run, _ in runs)
    return "".join(
        f"<div class=bar><span>{name}</span><i style='width:{100 * run.busbw_GBps / most:.4g}%;background:var(--{role})'></i>"
        f"<b>{run.busbw_GBps:.3g} GB/s</b></div>"
        for name, run, role in runs
    )


def _why(host: Run, peer: Run) -> str:
    machine = BASE.hardware
    uplink, wire = machine.uplink_Bps / 1e9, machine.nics_per_switch * machine.nic_Bps / 1e9
    return _list(
        f"<b>Why {2 * wire / uplink:.2f}?</b> Staging crosses the PCIe switch's uplink twice in each direction:"
        f" {uplink:g} / 2 = {uplink / 2:.4g} GB/s. The NIC carries {wire:g}; {wire:g} / {uplink / 2:.4g} = {2 * wire / uplink:.2f}."
        f" At {say_bytes(BASE.nbytes)} filling the pipeline and the library's work add {say_percent(_beyond(host, uplink / 2), 1)} to the detour's time"
        f" and {say_percent(_beyond(peer, wire), 1)} to Peer Direct's: {host.time_s / peer.time_s:.2f}.",
        "<b>Warm or cold?</b> The first call registers; benchmarks report the calls after their warm-up.",
    )


def _beyond(run: Run, rate_GBps: float) -> float:  # noqa: N803
    """Return which share a run takes beyond what its bytes take at a rate below each PCIe switch (GB/s)."""
    node = run.scenario.hardware
    sent = run.wire_busy * run.time_s * node.nics_per_switch * node.nic_Bps / 1e9
    return run.time_s / (sent / rate_GBps) - 1


def _words() -> str:
    direct = next(
        rule
        for rule in knowledge().rules
        if "GDRDMA" in rule.pattern.pattern and "peer-direct" in rule.points
    )
    bits, ranks = 100, BASE.ranks
    rate = bits / 8
    return _list(
        "<b>algbw</b> = bytes / time. <b>busbw</b> = algbw x 2(n-1)/n for n ranks (nccl-tests, doc/PERFORMANCE.md);"
        f" for {ranks}: x\u00a0{2 * (ranks - 1) / ranks:.4g}. hccl_demo's <b>NW bandwidth</b> is busbw.",
        f"<b>{bits} Gb/s</b> = {rate:g} GB/s = {rate * 1e9 / GIB:.3g} GiB/s. A busbw above the wire's rate is no error: with several"
        " ranks a node not every byte leaves the node.",
        "<b>Is it on?</b> <code>peerlab doctor</code> reads the host, <code>peerlab diagnose run.log</code> a log."
        f" <code>via NET/.../GDRDMA</code> in NCCL's log: {escape(direct.says)} ({escape(direct.source.partition(':')[0])}).",
        "<b>Try it:</b> <code>make lab</code>; <code>peerlab simulate --nodes 16</code>.",
    )


def _list(*items: str) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _sources() -> str:
    figures = BASE.hardware.figures
    sourced = "; ".join(
        f"<b>{figures[key].label} {figures[key]}</b>: {escape(figures[key].source)}" for key in _SOURCED
    )
    assumed = "; ".join(f"{escape(figures[key].assumption)} ({figures[key].label})" for key in _ASSUMED)
    return (
        f"{sourced}. It rests on {BASE.hardware.counted}; <b>assumed</b> are: {assumed}; and others. All, with ranges:"
        f" docs/model.md. Bands: all assumed figures at the worse and the better ends of their ranges. peerlab {escape(__version__)}, GB = 10⁹ bytes."
    )


def take(target: Path) -> None:
    """Print the page, and take its picture."""
    with tempfile.TemporaryDirectory() as folder, browser(round(A4[0]), round(A4[1]), 1.4) as window:
        file = Path(folder) / "handout.html"
        file.write_text(html(), encoding="utf-8")
        window.go(file)
        over = window.evaluate("document.body.scrollHeight - document.body.clientHeight")
        if over > 0:
            raise AssertionError(f"the handout is {over} pixels higher than its page")
        TARGET.write_bytes(window.pdf(*A4))
        (target / "handout.png").write_bytes(window.png())
