"""The loop at the head of README, and the picture that a link to the repository shows."""

import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from driver import chromium
from PIL import Image

from peerlab.answer.run import Run
from peerlab.base.units import say_time
from peerlab.engine.simulate import simulate
from peerlab.features.export.page import export_html
from peerlab.picture.still_of_node import node_svg
from peerlab.picture.theme import palettes
from peerlab.question.scenario import Scenario

STAGED = Scenario(cluster="dl1", nodes=8, path="host-rdma")
WINDOW = (1280, 720)
SHOWN = (960, 540)
"""Size of the loop, pixels."""
FRAMES_PER_S = 12
SECONDS = 3.5
"""How long each data path is shown."""
PACE_US = 260.0
"""Microseconds of the simulation in a second of watching."""
SOCIAL = (1200, 630)
THEMES = ("light", "dark")


def take(target: Path) -> None:
    """Film an exported page in both themes: the detour, then the host bottleneck is switched off. Take the social preview."""
    with tempfile.TemporaryDirectory() as folder, chromium(*WINDOW) as browser:
        page = browser.new_page()
        for theme in THEMES:
            file = export_html(
                STAGED, Path(folder) / f"{theme}.html", controls="host", mode="figure", theme=theme
            )
            page.set_viewport_size({"width": WINDOW[0], "height": WINDOW[1]})
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            shown = _film(page, 0.36)
            page.get_by_label("Host bottleneck").click()
            page.wait_for_timeout(1200)
            shown += _film(page, 0.3)
            _keep(shown, target / f"loop-{theme}.webp")
        _social(page, target)


def _film(page: Any, begin: float) -> list[Image.Image]:
    """Return frames of what the page shows, from a share of the run on."""
    seek = """([begin, after]) => { for (const one of window.peerlabPages) {
      one.player.wanted = false; one.player.seek(begin * one.player.length + after) } }"""
    frames = []
    for number in range(round(SECONDS * FRAMES_PER_S)):
        page.evaluate(seek, [begin, PACE_US * number / FRAMES_PER_S])
        page.wait_for_timeout(60)
        with Image.open(BytesIO(page.screenshot())) as one:
            frames.append(one.convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS))
    return frames


def _keep(frames: list[Image.Image], file: Path) -> None:
    first, *others = frames
    first.save(
        file,
        save_all=True,
        append_images=others,
        duration=round(1000 / FRAMES_PER_S),
        loop=0,
        quality=70,
        method=4,
    )


def _social(page: Any, target: Path) -> None:
    """Take both ways of the bytes beside each other, with the sentence that says what it is about."""
    host, peer = (simulate(one) for one in (STAGED, STAGED.with_(path="peer-direct")))
    colours = "".join(f"--{role}:{colour};" for role, colour in palettes()["light"].items())
    sides = _side("Through the host", host, "copy") + _side("Peer Direct", peer, "direct")
    page.set_viewport_size({"width": SOCIAL[0], "height": SOCIAL[1]})
    page.set_content(
        f"<!doctype html><style>:root{{{colours}}}{_STYLE}</style><h1>peerlab</h1><p>Where the bytes of an AllReduce go, and what each"
        f" detour costs</p><main>{sides}</main><footer>Simulated: 64 MiB on 8 nodes of AWS DL1; the gain is"
        f" {peer.gain_band(host).low:.2f} to {peer.gain_band(host).high:.2f} times, if the NICs hang as assumed.</footer>"
    )
    page.screenshot(path=target / "social-preview.png")


def _side(title: str, run: Run, role: str) -> str:
    return (
        f"<section style='border-color:var(--{role})'><h2>{title}<b>{say_time(run.time_ps)}</b></h2>"
        f"{node_svg(run)}</section>"
    )


_STYLE = """
body { margin: 0; padding: 30px 44px; box-sizing: border-box; height: 630px; background: var(--paper); color: var(--ink);
  font: 26px/1.3 system-ui, sans-serif; display: flex; flex-direction: column; }
h1 { margin: 0; font-size: 60px; line-height: 1.1; } p { margin: 4px 0 18px; color: var(--muted); }
main { display: flex; gap: 24px; flex: 1; min-height: 0; }
section { flex: 1; border-top: 6px solid; border-radius: 10px; background: var(--paper); padding: 12px 0; }
h2 { display: flex; justify-content: space-between; margin: 0 0 8px; font-size: 27px; }
svg { width: 100%; height: auto; display: block; }
footer { margin-top: 14px; font-size: 18px; color: var(--muted); }
"""
