"""Any lab is an app: Voila serves it, and its switches are alive."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from shutil import copy
from types import SimpleNamespace

import nbformat
import pytest
from driver import Explorer
from playwright.sync_api import expect
from server import await_up, stop

pytest.importorskip("voila")


@pytest.fixture(scope="module")
def served(root, tmp_path_factory):
    """Voila with the tour, and with a notebook that is an explorer alone."""
    tmp_path = tmp_path_factory.mktemp("voila")
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    copy(root / "labs" / "00_tour.ipynb", notebooks)
    alone = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import peerlab\npeerlab.explore()")])
    nbformat.write(alone, notebooks / "explorer.ipynb")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    flags = [
        "--template=peerlab",
        "--no-browser",
        "--Voila.ip=127.0.0.1",
        f"--port={port}",
        "--port_retries=0",
    ]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "voila", notebooks, *flags],
            stdout=log,
            stderr=log,
            env={**os.environ, "JUPYTER_PATH": str(root / "peerlab" / "jupyter")},
        )
        try:
            address = f"http://127.0.0.1:{port}"
            await_up(address, server, log.name)
            yield SimpleNamespace(address=address, pid=server.pid)
        finally:
            stop(server)


def kernels(pid):
    """Return the processes of a server's kernels."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [child for child in children if b"ipykernel" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_the_tour_is_an_app(served, browser):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served.address}/voila/render/00_tour.ipynb")
    Explorer(SimpleNamespace(page=page))  # waits until it is painted
    assert "import peerlab" not in page.locator("body").inner_text()  # no code
    expect(page.locator(".pl-card[data-name=busbw]").first).to_contain_text("30.2 GB/s")
    page.locator(".pl-host input").first.click()
    page.wait_for_function(
        "document.querySelector('.pl-card[data-name=busbw]').innerText.includes('52 GB/s')"
    )
    page.goto(served.address)  # the list of labs
    page.wait_for_function("document.body.innerText.includes('00_tour.ipynb')")
    own = (served.address, served.address.replace("http", "ws"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []
    page.close()


def test_an_app_whose_kernel_has_gone_says_so(served, browser):
    page = browser.new_page()
    page.goto(f"{served.address}/voila/render/explorer.ipynb")
    Explorer(SimpleNamespace(page=page), curves=False)
    for pid in kernels(served.pid):
        os.kill(pid, signal.SIGKILL)
    said = page.get_by_role("status").filter(has_text="The kernel has gone; reload the page.")
    expect(said.first).to_be_visible()
    page.close()
