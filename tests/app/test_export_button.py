"""The lab's Export panel: files beside the notebook, or a line that says why there is none."""

import asyncio

import pytest

import peerlab
from peerlab.app.panels.exporting import KINDS, Exporting, Shown

SMALL = peerlab.Scenario(cluster="ideal-100g", nodes=4)


@pytest.fixture
def shown():
    return Shown(peerlab.simulate(SMALL), before=peerlab.simulate(SMALL.with_(nodes=2)))


def press(exporting, kind="page with its switches"):
    async def wait():
        exporting.kind.value = [one.says for one in KINDS].index(kind)
        exporting.start()
        assert exporting.button.disabled
        await exporting._task

    asyncio.run(wait())
    assert not exporting.button.disabled
    return exporting.panel.children[-1].value


def test_the_page_of_what_is_shown_lies_beside_the_notebook(own_folder, shown):
    said = press(Exporting(lambda: shown))
    (page,) = own_folder.glob("peerlab-*.html")
    assert page.name in said
    assert "Ideal 100G crossbar" in page.read_text()


def test_what_was_before_can_lie_beside_it_once_there_is_one(own_folder, shown):
    exporting = Exporting(lambda: shown)
    assert not [name for name, _ in exporting.kind.options if "before" in name]
    exporting.show(pair=True)
    press(exporting, "page, before beside now")
    (page,) = own_folder.glob("peerlab-*.html")
    assert "2 nodes against 4 nodes" in page.read_text()


@pytest.mark.long("decks")
def test_a_drawing_and_slides_are_written_too(own_folder, shown):
    exporting = Exporting(lambda: shown)
    press(exporting, "drawing (SVG)")
    (drawing,) = own_folder.glob("peerlab-*.svg")
    assert drawing.read_text().startswith("<svg")
    assert "no path host-rdma to compare" in press(exporting, "architecture review, as slides")
    said = press(
        Exporting(lambda: Shown(peerlab.simulate(peerlab.Scenario(nodes=2, message_bytes="64 KiB")))),
        "architecture review, as slides",
    )
    (deck,) = own_folder.glob("peerlab-*/index.html")
    assert str(deck.relative_to(own_folder)) in said


def test_why_there_is_no_page_is_said_in_place(own_folder, shown):
    own_folder.rmdir()
    said = press(Exporting(lambda: shown))
    assert "role='alert'" in said
    assert "cannot write peerlab-" in said
