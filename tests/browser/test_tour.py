"""The tour as a newcomer runs it, and what JupyterLab must survive."""

import time

import pytest
from drawing import SOAK
from driver import Explorer
from playwright.sync_api import expect

RUNS = 20 if SOAK else 2
MODELS = "() => Object.keys([...window.peerlabPages][0].model.widget_manager._models).length"


@pytest.mark.long("notebooks")
def test_many_runs_of_the_cell_leave_one_document_and_one_loop(open_notebook):
    notebook = open_notebook("again.ipynb", "import peerlab\npeerlab.explore()")
    notebook.run_all()
    explorer = Explorer(notebook)
    once = notebook.page.evaluate(MODELS)
    for _ in range(RUNS):
        notebook.run_cell(0)
    notebook.page.wait_for_function(  # one explorer's widgets, not one for every run
        f"once => window.Bokeh.documents.length === 1 && window.peerlabPages.size === 1 && ({MODELS})() === once",
        arg=once,
    )
    assert once > 50
    explorer.settle()
    explorer.ask("page => { page.player.wanted = true }")
    drawn, shown = explorer.ask(
        """async page => { const before = page.player.frames; let shown = 0;
             for (; shown < 30; shown++) await new Promise(requestAnimationFrame);
             return [page.player.frames - before, shown] }"""
    )
    assert 0 < drawn <= shown + 1  # one loop: no more than the screen's frames
    expect(notebook.page.locator(".pl-root")).to_have_count(1)
    assert notebook.complaints == []


@pytest.mark.long("notebooks")
def test_a_page_that_reloads_and_runs_at_once_over_a_slow_network_loses_nothing(open_notebook, browser):
    """It still restores the widgets of the living kernel when the cell replaces them."""
    first = open_notebook("reloaded.ipynb", "import peerlab\npeerlab.explore()")
    first.run_all()
    Explorer(first)
    once = first.page.evaluate(MODELS)
    first.close()
    page = browser.new_page()
    page.route("**/jupyterlab-manager/static/*", lambda route: (time.sleep(0.2), route.continue_()))
    again = open_notebook("reloaded.ipynb", page=page)
    again.run_all()
    Explorer(again)
    page.wait_for_timeout(2500)  # so long the widget manager looks for a widget before it complains
    assert again.complaints == []
    expect(page.locator(".pl-root")).to_have_count(1)
    page.wait_for_function(f"once => ({MODELS})() === once", arg=once)  # one explorer's, not two
    assert once > 50


@pytest.mark.long("notebooks")
def test_a_saved_notebook_opened_without_its_kernel_says_what_to_do(open_notebook, lab, browser):
    notebook = open_notebook("saved.ipynb", "import peerlab\npeerlab.explore()")
    notebook.run_all()
    Explorer(notebook)
    notebook.page.evaluate("() => window.notebookUnderTest.context.save()")
    assert "widget-state" in (lab.root / "saved.ipynb").read_text()
    notebook.page.evaluate("() => window.notebookUnderTest.sessionContext.shutdown()")
    notebook.close()
    again = open_notebook("saved.ipynb", page=browser.new_page())
    scene = again.page.locator(".pl-scene")
    scene.get_by_text("Run All Cells").wait_for()
    again.run_all()
    Explorer(again)


@pytest.mark.long("notebooks")
def test_a_heavy_setting_computes_in_the_background_and_can_be_cancelled(open_notebook):
    notebook = open_notebook(
        "heavy.ipynb", "import peerlab\npeerlab.explore(nodes=1000, message_bytes='1 GiB')"
    )
    notebook.run_all()
    explorer = Explorer(notebook, curves=False)
    explorer.page.locator(".pl-more-button").click()
    data = explorer.ask("page => page.model.get('data').meta.number")
    explorer.fill("slice", "2 KiB")
    status = explorer.page.locator(".pl-status")
    expect(status).to_contain_text("Simulating")
    assert explorer.ask("page => page.root.classList.contains('pl-stale')")
    explorer.page.wait_for_function(
        "() => /[1-9]\\d? ?%/.test(document.querySelector('.pl-status').innerText)"
    )
    explorer.page.locator(".pl-cancel").click()
    status.wait_for(state="hidden")
    assert explorer.ask("page => page.model.get('data').meta.number") == data
    expect(explorer.page.locator(".pl-slice input")).to_have_value("")
    explorer.change(lambda: explorer.switch("host"))


def many_cells(*between):
    """Return cells of a notebook whose explorer is far above its end."""
    tall = "\n".join("# a line" for _ in range(60))
    return ("import peerlab\npeerlab.explore()", *between, *(f"{tall}\nprint({i})" for i in range(4)))


@pytest.mark.long("notebooks")
def test_who_scrolls_while_cells_run_stays_where_they_are_and_who_does_not_is_shown_the_explorer(
    open_notebook,
):
    notebook = open_notebook("many.ipynb", *many_cells("import time\ntime.sleep(3)"))
    page = notebook.page
    running = (
        "() => [...document.querySelectorAll('.jp-InputPrompt')].some(one => one.textContent.includes('*'))"
    )
    page.evaluate("() => { void window.jupyterapp.commands.execute('notebook:run-all-cells') }")
    page.wait_for_selector(".pl-root")
    page.locator(".jp-Notebook").hover()
    page.mouse.wheel(0, 20_000)
    assert page.evaluate(running)
    page.wait_for_function(f"() => !({running})()")
    page.wait_for_timeout(1000)  # four times as long as the page waits to look again
    expect(page.locator(".pl-explorer")).not_to_be_in_viewport()
    notebook.run_all()
    Explorer(notebook)
    expect(page.locator(".pl-explorer")).to_be_in_viewport(ratio=0.5)
