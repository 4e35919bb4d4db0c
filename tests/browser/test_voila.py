"""Any lab is an app: Voila serves it, and its switches are alive."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from types import SimpleNamespace

import pytest
from driver import Explorer

pytest.importorskip("voila")


@pytest.fixture
def served(root, tmp_path):
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
            [sys.executable, "-m", "voila", root / "labs", *flags],
            stdout=log,
            stderr=log,
            env={**os.environ, "JUPYTER_PATH": str(root / "peerlab" / "jupyter")},
        )
        try:
            yield await_up(f"http://127.0.0.1:{port}", server)
        finally:
            server.terminate()
            server.wait(20)


def await_up(address, server):
    for _ in range(300):
        assert server.poll() is None
        try:
            urllib.request.urlopen(address, timeout=5)  # noqa: S310  (our own server)
        except OSError:
            time.sleep(0.1)
        else:
            return address
    raise AssertionError("Voila did not start")


def test_the_tour_is_an_app(served, browser):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served}/voila/render/00_tour.ipynb")
    Explorer(SimpleNamespace(page=page))  # waits until it is painted
    assert "import peerlab" not in page.locator("body").inner_text()  # no code
    first = page.locator(".pl-card[data-name=busbw]").first
    assert "30.2 GB/s" in first.inner_text()
    page.locator(".pl-host input").first.click()
    page.wait_for_function(
        "document.querySelector('.pl-card[data-name=busbw]').innerText.includes('53.9 GB/s')"
    )
    page.goto(served)  # the list of labs
    page.wait_for_function("document.body.innerText.includes('00_tour.ipynb')")
    own = (served, served.replace("http", "ws"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []
    page.close()
