"""Any lab is an app: Voila serves it, and its switches are alive."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from shutil import copy
from types import SimpleNamespace

import pytest
from driver import Explorer
from fewer_points import shorten_in_kernels
from playwright.sync_api import expect
from server import await_up, notebook, stop
from tornado.websocket import websocket_connect

if find_spec("voila") is None:  # importing it takes a while, and every process that collects tests would
    pytest.skip("the lab without code needs voila", allow_module_level=True)


@pytest.fixture(scope="module")
def served(root, tmp_path_factory):
    """Voila with the tour, and with a notebook that is an explorer alone."""
    tmp_path = tmp_path_factory.mktemp("voila")
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    copy(root / "labs" / "00_tour.ipynb", notebooks)
    alone = notebook("import peerlab\npeerlab.explore()")
    (notebooks / "explorer.ipynb").write_text(json.dumps(alone))
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
    shorten_in_kernels(tmp_path / "ipython")
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "voila", notebooks, *flags],
            stdout=log,
            stderr=log,
            env={
                **os.environ,
                "JUPYTER_PATH": str(root / "peerlab" / "jupyter"),
                "IPYTHONDIR": str(tmp_path / "ipython"),
            },
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


@pytest.mark.long("notebooks")
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


@pytest.mark.long("notebooks")
def test_an_app_whose_kernel_has_gone_says_so(served, browser):
    page = browser.new_page()
    page.goto(f"{served.address}/voila/render/explorer.ipynb")
    Explorer(SimpleNamespace(page=page), curves=False)
    for pid in kernels(served.pid):
        os.kill(pid, signal.SIGKILL)
    said = page.get_by_role("status").filter(has_text="The kernel has gone; reload the page.")
    expect(said.first).to_be_visible()
    page.close()


def message(kind, content):
    """Return a request as a page would send it to its kernel."""
    head = {
        "msg_id": kind,
        "msg_type": kind,
        "session": "visitor",
        "username": "",
        "version": "5.3",
        "date": "",
    }
    return json.dumps(
        {
            "header": head,
            "parent_header": {},
            "metadata": {},
            "content": content,
            "channel": "shell",
            "buffers": [],
        }
    )


def test_a_visitor_can_have_the_kernel_run_inspect_and_complete_nothing(served, tmp_path):
    """Voila passes on what widgets need; the answer to a request that is passed on shows that the others were not."""
    with urllib.request.urlopen(f"{served.address}/voila/render/explorer.ipynb") as page:  # noqa: S310  (our own server)
        html = page.read().decode()
    kernel = re.search(r'"kernelId": "([0-9a-f-]{36})"', html)[1]
    code = f"open({str(tmp_path / 'visited')!r}, 'w')"

    async def answers():
        socket = await websocket_connect(
            f"{served.address.replace('http', 'ws')}/api/kernels/{kernel}/channels"
        )
        socket.write_message(message("execute_request", {"code": code, "silent": False}))
        socket.write_message(
            message("inspect_request", {"code": "peerlab", "cursor_pos": 3, "detail_level": 0})
        )
        socket.write_message(message("complete_request", {"code": "peer", "cursor_pos": 4}))
        socket.write_message(message("kernel_info_request", {}))
        kinds = []
        while "kernel_info_reply" not in kinds:
            said = json.loads(await socket.read_message())
            if said["parent_header"].get("session") == "visitor":
                kinds.append(said["msg_type"])
        socket.close()
        return kinds

    with ThreadPoolExecutor(1) as thread:  # an event loop of the browser's driver may run in this one
        kinds = thread.submit(
            asyncio.run, asyncio.wait_for(answers(), 300)
        ).result()  # the kernel computes curves, beside whatever else runs
    assert {"execute_reply", "inspect_reply", "complete_reply", "execute_input"}.isdisjoint(kinds)
    assert not (tmp_path / "visited").exists()
