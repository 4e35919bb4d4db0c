"""Pictures of what leaves the lab: pages that play without a kernel, stills, a deck."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driver import chromium

from peerlab.engine.simulate import simulate
from peerlab.features.deck.reading.outline import Outline, SlidePlan
from peerlab.features.deck.write_deck import write_deck
from peerlab.features.export.page import export_html
from peerlab.features.export.pictures import export_still
from peerlab.question.scenario import Scenario

STAGED = Scenario(cluster="dl1", nodes=8, path="host-rdma")
DIRECT = STAGED.with_(path="peer-direct")
PAGES: Mapping[str, tuple[Any, dict[str, Any], tuple[int, int]]] = {
    "page-explorer": (STAGED, {"controls": "host,cache,nodes=2:8:64", "theme": "light"}, (1280, 720)),
    "page-narrow": (STAGED, {"controls": "host,cache,nodes=2:8:64", "theme": "dark"}, (480, 1180)),
    "page-pair": ([STAGED, DIRECT], {"controls": "", "theme": "light"}, (1280, 720)),
    "page-figure": (DIRECT, {"controls": "host", "theme": "dark", "mode": "figure"}, (1280, 720)),
}
"""Name, what is shown, how, and in a window of which size."""
SLIDES = ("title", "compare", "race", "sure", "training", "alternatives", "recommendation")
"""Slides of a deck, by their kind."""


def take(target: Path) -> None:
    """Take all of them."""
    for theme in ("light", "dark"):
        export_still(simulate(STAGED), target / f"still-{theme}.png", view="sketch", theme=theme)
    with tempfile.TemporaryDirectory() as folder, chromium(1280, 720) as browser:
        page = browser.new_page()
        for name, (subject, how, (width, height)) in PAGES.items():
            file = export_html(subject, Path(folder) / f"{name}.html", **how)
            page.set_viewport_size({"width": width, "height": height})
            page.goto(file.as_uri())
            page.wait_for_selector(
                "html[data-ready]", state="attached"
            )  # the page allows no functions in text
            page.evaluate(
                "() => window.peerlabPages.forEach(p => { p.player.wanted = false; p.player.seek(0.43 * p.player.length) })"
            )
            page.wait_for_timeout(500)
            page.screenshot(path=target / f"{name}.png")
        deck(page, Path(folder), target)


def deck(page: Any, folder: Path, target: Path) -> None:
    """Take some slides of a review."""
    made = write_deck(Outline(slides=tuple(map(SlidePlan, SLIDES))), folder / "deck")
    page.set_viewport_size({"width": 1280, "height": 720})
    for number, name in enumerate(SLIDES):
        page.goto(f"{made.as_uri()}#/{number}")
        page.reload()
        page.wait_for_function("Reveal.isReady()")
        page.wait_for_timeout(1500 if name == "race" else 300)
        page.screenshot(path=target / f"deck-{name}.png")
