"""The kernel goes: the page says so, what needs it rests, and what the browser does by itself goes on."""

import os
import signal

import pytest
from driver import Explorer
from playwright.sync_api import expect

from peerlab.page import script_alone
from peerlab.view.views import VIEWS

WORDS = "The kernel has gone; run the cell again."


def kill(notebook):
    """End the kernel as the system does when memory runs out; JupyterLab starts another one and says so."""
    os.kill(int(notebook.page.locator(".jp-OutputArea-output pre").last.inner_text()), signal.SIGKILL)
    notebook.page.get_by_role("button", name="Ok").click()


WAYS = {
    "killed": kill,
    "restarted": lambda notebook: notebook.page.evaluate(
        "() => window.notebookUnderTest.sessionContext.session.kernel.restart()"
    ),
    "ended": lambda notebook: notebook.page.evaluate(
        "() => window.notebookUnderTest.sessionContext.shutdown()"
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_page_whose_kernel_has_gone_says_so_and_its_controls_rest(open_notebook, way):
    notebook = open_notebook(f"{way}.ipynb", "import peerlab\npeerlab.explore()", "import os\nprint(os.getpid())")  # fmt: skip
    notebook.run_all()
    explorer, page = Explorer(notebook), notebook.page
    expect(page.get_by_text(WORDS)).to_have_count(0)
    WAYS[way](notebook)
    expect(page.get_by_role("status").filter(has_text=WORDS)).to_be_visible()
    expect(page.locator(".pl-cancel")).to_be_hidden()
    assert page.locator(".pl-explorer .pl-controls").evaluate_all("rows => rows.length > 4 && rows.every(row => row.inert)")  # fmt: skip
    for name in ("Critical path", "size", "this machine"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    before = explorer.data()
    page.locator(".pl-root").press("h")
    explorer.still(0.3)
    assert explorer.ask("page => page.applied") == 1
    at = explorer.ask("page => page.player.time")
    page.locator(".pl-next").click()
    assert explorer.ask("page => page.player.time") > at
    assert explorer.data() != before  # slices have moved
    assert notebook.complaints == []


def test_the_cell_that_runs_again_brings_everything_back(open_notebook):
    notebook = open_notebook("back.ipynb", "import peerlab\npeerlab.explore()", "import os\nprint(os.getpid())")  # fmt: skip
    notebook.run_all()
    Explorer(notebook)
    kill(notebook)
    notebook.page.get_by_text(WORDS).wait_for()
    notebook.run_cell(0)
    expect(notebook.page.get_by_text(WORDS)).to_have_count(0)
    explorer = Explorer(notebook)
    explorer.change(lambda: explorer.switch("host"))
    assert notebook.complaints == []


def test_a_page_without_a_kernel_has_none_to_lose():
    assert "kernel has gone" not in script_alone(tuple(VIEWS))
