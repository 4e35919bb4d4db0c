"""The lab's Export button: a page beside the notebook, or a line that says why there is none."""

import asyncio

import peerlab
from peerlab.app.exporting import Exporting


def press(exporting):
    async def wait():
        exporting.start()
        assert exporting.button.disabled
        await exporting._task

    asyncio.run(wait())
    assert not exporting.button.disabled


def test_the_page_of_what_is_shown_lies_beside_the_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exporting = Exporting(lambda: peerlab.Scenario(cluster="ideal-100g", nodes=4))
    press(exporting)
    (page,) = tmp_path.glob("peerlab-*.html")
    assert page.name in exporting.said.value
    assert "Ideal 100G crossbar" in page.read_text()


def test_why_there_is_no_page_is_said_in_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    exporting = Exporting(lambda: peerlab.Scenario(cluster="ideal-100g", nodes=4))
    press(exporting)
    assert "role='alert'" in exporting.said.value
    assert "cannot write peerlab-" in exporting.said.value
