"""The kernel goes: the page says so, what needs it rests, and what the browser does by itself goes on."""

import os
import signal

import pytest
from driver import Explorer
from playwright.sync_api import expect

from peerlab.page import script_of
from peerlab.picture.views import VIEWS

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


@pytest.mark.long("notebooks")
def test_a_page_whose_kernel_has_gone_says_so_and_the_cell_that_runs_again_brings_everything_back(
    open_notebook,
):
    """However it goes; what rests then is looked at in test_page.py, without a kernel."""
    notebook = open_notebook("gone.ipynb", "import peerlab\npeerlab.explore()", "import os\nprint(os.getpid())")  # fmt: skip
    page = notebook.page
    for go in WAYS.values():
        notebook.run_all()
        expect(page.get_by_text(WORDS)).to_have_count(0)
        explorer = Explorer(notebook, curves=False)
        go(notebook)
        expect(page.get_by_role("status").filter(has_text=WORDS)).to_be_visible()
        assert page.locator(".pl-explorer .pl-controls").evaluate_all("rows => rows.length > 4 && rows.every(row => row.inert)")  # fmt: skip
        explorer.page.locator(".pl-root").press("h")
        assert explorer.ask("page => page.applied") == 1
    notebook.run_all()
    expect(page.get_by_text(WORDS)).to_have_count(0)
    explorer = Explorer(notebook, curves=False)
    explorer.change(lambda: explorer.switch("host"))
    assert notebook.complaints == []


def test_a_page_without_a_kernel_has_none_to_lose():
    assert "kernel has gone" not in script_of("alone", tuple(VIEWS))
