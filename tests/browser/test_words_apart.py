"""No word lies on another one or on a line, is cut off, or is too small: in every view, at three widths, for every cluster."""

import os
import random

import pytest
from overlaps import SIZES, faults, settle, watch

import peerlab
from peerlab.export.race_page import race_html
from peerlab.model.presets import known_clusters, load_cluster

_SAMPLE = random.Random(27).sample(known_clusters(), 4)  # noqa: S311  (a sample, no secret)
CLUSTERS = known_clusters() if os.environ.get("PEERLAB_SOAK") else _SAMPLE
MOMENTS = (0.0, 0.1, 0.35, 0.8, 1.0)
RACE_MARKS = ".rc-road path:not([visibility=hidden]), .rc-cells i, .rc-lead svg path[stroke-width]"


@pytest.fixture(scope="module")
def watched(browser):
    """A page whose words are noted."""
    page = browser.new_page()
    watch(page)
    yield page
    page.close()


def open_text(page, text, folder):
    """Open a page that was written as text."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")


def through(page, *, marks="", moving=False):
    """Return what is wrong at any width and moment; `moving` pictures are painted a frame later."""
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        for part in MOMENTS:
            page.evaluate(
                "part => { const [{ player }] = peerlabPages; player.wanted = false; player.seek(part * player.length) }",
                part,
            )
            if moving:
                settle(page)
            found += [f"{width} wide at {part:.0%}: {one}" for one in faults(page, marks=marks)]
    return found


def rivals(cluster):
    """Return the paths of a cluster, each against its first one."""
    first, *others = load_cluster(cluster).paths
    return [(first, other) for other in others]


RIVALS = [(cluster, *paths) for cluster in CLUSTERS for paths in rivals(cluster)]


@pytest.mark.parametrize(("cluster", "path", "other"), RIVALS)
def test_words_of_a_race(watched, tmp_path, cluster, path, other):
    race = peerlab.race(peerlab.Scenario(cluster=cluster, path=path), path=other)
    page = race_html(race)
    slide = page.replace('data-mode="page"', 'data-mode="slide"').replace('"mode": "page"', '"mode": "slide"')
    for text in (page, slide):
        open_text(watched, text, tmp_path)
        assert through(watched, marks=RACE_MARKS) == []
