"""One JupyterLab for the tests that need a kernel, and one Chromium, in each process that runs browser tests."""

from pathlib import Path

import pytest
from blank import Blank, run
from driver import Explorer, Notebook, chromium
from fewer_points import shorten_in_kernels, shorten_lab
from groups import WITH_JUPYTERLAB, group_of
from playwright.sync_api import expect
from server import Lab

WINDOW = {"width": 1280, "height": 900}


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in Path(item.fspath).parts:
            item.add_marker(pytest.mark.browser)
            if "lab" in item.fixturenames and group_of(item.nodeid) not in WITH_JUPYTERLAB:
                raise pytest.UsageError(f"{item.nodeid} needs JupyterLab: name its file in tests/groups.py")


@pytest.fixture(scope="package")
def lab(tmp_path_factory):
    home = tmp_path_factory.mktemp("lab")
    shorten_in_kernels(home / "ipython")
    server = Lab(home)
    for copy in server.root.glob("*.ipynb"):
        copy.write_text(shorten_lab(copy.read_text(encoding="utf-8")), encoding="utf-8")
    yield server
    server.close()


@pytest.fixture(scope="package")  # while Playwright is open, an event loop runs in its process
def browser():
    # what plays takes half a core from the other tests, and what runs once is not worth an optimising compiler
    with chromium(motion="reduce", flags=["--js-flags=--no-opt"]) as context:
        yield context


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a page that needs no kernel, from its text; what it complains of, and what it asks of the network, fails the test."""
    page, complaints = browser.new_page(), []
    page.set_viewport_size({"width": 1280, "height": 800})
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on(
        "request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None
    )

    def open_(html):
        file = tmp_path / "opened.html"
        file.write_text(html, encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_
    page.close()
    assert complaints == []


@pytest.fixture(scope="package")
def desk(browser):
    """A page in which a JupyterLab stays open: to load it costs as much as most tests."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture
def open_notebook(lab, desk):
    """Open notebooks of code cells one after another in the same JupyterLab, or in a `page` of their own."""
    opened = []

    def open_(name, *cells, page=desk):
        for before in opened:
            if before.page is page:
                before.close()
        page.set_viewport_size(WINDOW)
        opened.append(Notebook(page, lab, lab.write(name, *cells) if cells else name))
        return opened[-1]

    yield open_
    for notebook in opened:
        notebook.close()
        if notebook.page is not desk:
            notebook.page.close()
    for name in {notebook.name for notebook in opened}:
        lab.end(name)


@pytest.fixture(scope="package")
def explorer(lab, browser):
    """One explorer for all tests that ask for it, in a notebook of its own."""
    page = browser.new_page()
    name = "the_explorer.ipynb"
    notebook = Notebook(page, lab, lab.write(name, "import peerlab\npeerlab.explore()"))
    notebook.run_all()
    one = Explorer(notebook, curves=False)
    yield one
    assert notebook.outside_requests() == []
    assert notebook.complaints == []
    page.close()
    lab.end(name)


@pytest.fixture
def fresh(explorer):
    """The explorer, at its start, paused, before other pages: behind them it would be painted once a second."""
    explorer.page.bring_to_front()
    if explorer.ask("page => page.model.get('data').meta.code") != "peerlab.Scenario(path='host-rdma')":
        explorer.change(explorer.page.locator(".pl-reset").last.click)
    explorer.settle(curves=True)  # so that nothing changes but what a test changes
    expect(explorer.page.locator(".pl-error [role=alert]")).to_have_count(0)  # of the test before
    explorer.still()
    explorer.page.locator(".pl-root").last.scroll_into_view_if_needed()
    return explorer


@pytest.fixture(scope="module")
def blank(browser):
    """A page of ours without a kernel, for all tests of a module."""
    one = Blank(browser.new_page())
    one.open(run())
    yield one
    assert one.complaints == []
    one.page.close()


@pytest.fixture
def shown(blank):
    """The page without a kernel, showing the default scenario, paused."""
    blank.page.bring_to_front()  # behind another page it would be painted once a second
    blank.last = None  # nothing came before
    blank.change(run())
    blank.still()
    return blank
