"""A private JupyterLab and a real Chromium, for the tests, the benchmarks and the pictures."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from peerlab import lab as labs
from peerlab.export.browser import HEADLESS, find_chromium
from peerlab.places import folder

TOKEN = "for-tests"  # noqa: S105  (a private server on this machine)
PATIENCE_S = 120
"""So long a server may take to start, and to answer, while others keep the machine busy."""
expect.set_options(timeout=60_000)  # as long as a page waits for what is clicked


def await_up(address, process, log):
    """Wait until a server answers at an address; fail if its process ends, or nobody answers for too long."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5)  # noqa: S310  (our own server)
        except (OSError, HTTPException):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"the server did not start: {Path(log).read_text(errors='replace')[-2000:]}")


def stop(process):
    """End a server, whether it wants to or not."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Lab:
    """A JupyterLab of its own, on a copy of the labs."""

    def __init__(self, folder_: Path):
        self.root = folder_ / "labs"
        shutil.copytree(folder("labs"), self.root)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        private = folder_ / "private"
        private.mkdir()
        command = [
            *labs._command(self.root, port, private, browser=False),
            "--expose-app-in-browser",
            f"--IdentityProvider.token={TOKEN}",
        ]
        homes = {
            "HOME": folder_,
            "JUPYTER_CONFIG_DIR": folder_ / "config",
            "JUPYTER_RUNTIME_DIR": folder_ / "run",
        }
        env = {
            **os.environ,
            **{name: str(path) for name, path in homes.items()},
            "IPYTHONDIR": str(folder_ / "ipython"),
        }
        self.log = (folder_ / "server.log").open("wb")
        self.ending: dict[str, threading.Thread] = {}
        self.process = subprocess.Popen(command, env=env, stdout=self.log, stderr=self.log)
        try:
            await_up(f"{self.url}/api?token={TOKEN}", self.process, self.log.name)
        except BaseException:
            self.close()  # nobody else will
            raise

    def write(self, name: str, *cells: str) -> str:
        """Write a notebook of code cells; return its name."""
        notebook = {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{i}",
                    "execution_count": None,
                    "metadata": {},
                    "outputs": [],
                    "source": cell,
                }
                for i, cell in enumerate(cells)
            ],
            "metadata": {
                "kernelspec": {
                    "display_name": "Python 3 (ipykernel)",
                    "language": "python",
                    "name": "python3",
                }
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.root / name).write_text(json.dumps(notebook))
        return name

    def sessions(self) -> list[dict]:
        """Return the notebooks that have a kernel."""
        return json.loads(self._ask("GET", "sessions"))

    def end(self, name: str):
        """End the kernel of a notebook, if it has one, without waiting for it; who opens the notebook again waits."""
        self.ending[name] = threading.Thread(target=self._forget, args=(name,))
        self.ending[name].start()

    def await_end(self, name: str):
        """Wait until the kernel of a notebook has ended, if it was told to: a page would be given the dying one."""
        if name in self.ending:
            self.ending.pop(name).join()

    def _forget(self, name: str):
        with suppress(OSError, HTTPException):  # the server may end before its kernels
            for session in self.sessions():
                if session["path"] == name:
                    self._ask("DELETE", f"sessions/{session['id']}")

    def _ask(self, method: str, what: str) -> bytes:
        request = urllib.request.Request(  # noqa: S310  (our own server)
            f"{self.url}/api/{what}", method=method, headers={"Authorization": f"token {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:  # noqa: S310
            return answer.read()

    def close(self):
        stop(self.process)
        self.log.close()


@contextmanager
def laboratory():
    """Start a private JupyterLab in a folder that goes with it."""
    with tempfile.TemporaryDirectory() as private:
        lab = Lab(Path(private))
        try:
            yield lab
        finally:
            lab.close()


@contextmanager
def chromium(width=1280, height=900, scale=1):
    """Start Chromium with an empty profile; yield its context."""
    with sync_playwright() as pw, tempfile.TemporaryDirectory() as profile:
        context = pw.chromium.launch_persistent_context(
            profile,
            executable_path=find_chromium(),
            args=[*HEADLESS, "--no-sandbox"],
            headless=True,
            viewport={"width": width, "height": height},
            device_scale_factor=scale,
        )
        context.set_default_timeout(60_000)
        yield context
        context.close()


class Notebook:
    """A notebook open in the lab, and what its page asked the network and said."""

    def __init__(self, page, lab, name):
        self.page, self.lab, self.name = page, lab, name
        lab.await_end(name)
        self.requests, self.complaints = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console",
            lambda message: self.complaints.append(message.text) if message.type == "error" else None,
        )
        page.goto(f"{lab.url}/lab/workspaces/test-{Path(name).stem}/tree/{name}?token={TOKEN}&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function(
            """name => {
              const widget = [...window.jupyterapp.shell.widgets('main')].find(w => w.context?.path === name);
              window.notebookUnderTest = widget;
              const kernel = widget?.sessionContext?.session?.kernel;
              return widget?.context.isReady && kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
            }""",
            arg=name,
            timeout=60_000,
        )

    def run_all(self):
        """Run every cell; fail if one raises."""
        done = self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        assert done is True
        assert self.errors() == []

    def run_cell(self, index=0):
        self.page.evaluate(
            """async index => {
              window.notebookUnderTest.content.activeCellIndex = index;
              await window.jupyterapp.commands.execute('notebook:run-cell');
            }""",
            index,
        )

    def errors(self):
        return self.page.evaluate(
            """() => [...window.notebookUnderTest.content.model.cells].flatMap(c => c.type !== 'code' ? [] :
                 c.outputs.toJSON().filter(o => o.output_type === 'error').map(o => `${o.ename}: ${o.evalue}`))"""
        )

    def outside_requests(self):
        """Return what the page asked of anybody but the lab."""
        own = (self.lab.url, self.lab.url.replace("http", "ws"), "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]


class Explorer:
    """The explorer in a page, as its user meets it."""

    def __init__(self, notebook):
        self.notebook, self.page = notebook, notebook.page
        self.page.wait_for_selector(".pl-root[data-painted]")
        self.settle()

    def settle(self):
        """Wait until the last parcel is painted, and the controls and the curves show it too."""
        self.page.wait_for_function(
            """() => { const page = [...window.peerlabPages].at(-1);
                 const number = page?.model.get('data').meta.number;
                 return page && page.root.dataset.painted === String(number) && page.model.get('shown') === number
                   && page.curves.curves?.lines && page.curves.there(page.curves.mark) && !page.model.get('status').busy }""",
            timeout=90_000,  # curves wait for whatever else the machine does
        )

    def ask(self, script, argument=None):
        """Evaluate a function of the page object and an argument."""
        return self.page.evaluate(
            f"argument => ({script})([...window.peerlabPages].at(-1), argument)", argument
        )

    def still(self, part=0.4):
        """Pause at a part of the run."""
        self.ask(
            "(page, part) => { page.player.wanted = false; page.player.seek(part * page.player.length); }",
            part,
        )

    def data(self):
        """Return a fingerprint of everything the figures show."""
        return self.ask(
            """page => JSON.stringify(['scene_texts', 'scene_loads', 'timeline_spans', 'curves_marks', 'curves_lines', 'scene_slices',
                 'scene_rows', 'scene_words'].map(name => page.figures.model(name).data))"""
        )

    def pixels(self):
        """Return the pictures of the figures as they are on the screen."""
        self.page.wait_for_timeout(120)
        return self.page.locator(".pl-root").last.screenshot()

    def change(self, act):
        """Do something that shows another scenario; wait until it is painted."""
        before = self.ask("page => page.model.get('data').meta.number")
        act()
        self.page.wait_for_function(
            "before => [...window.peerlabPages].at(-1).model.get('data').meta.number > before", arg=before
        )
        self.settle()

    @contextmanager
    def unfolded(self, name, panel):
        """Show a panel by its button; hide it again afterwards."""
        button = self.page.locator(f".pl-{name}-button").last
        shown = self.page.locator(panel).last
        button.click()
        shown.wait_for()
        try:
            yield
        finally:
            button.click()
            shown.wait_for(state="hidden")

    def select(self, name, label):
        self.page.locator(f".pl-{name} select").last.select_option(label=label)

    def fill(self, name, text):
        field = self.page.locator(f".pl-{name} input").last
        field.fill(text)
        field.press("Enter")

    def switch(self, name):
        self.page.locator(f".pl-{name} input").last.click()

    def slide(self, name, key, times=1):
        handle = self.page.locator(f".pl-{name} .noUi-handle").last
        handle.focus()
        for _ in range(times):
            handle.press(key)

    def card(self, name):
        return self.page.locator(f".pl-card[data-name={name}]").last.inner_text()

    def figure(self, number):
        """Return a field of the busbw card."""
        return self.ask(f"page => page.model.get('data').cards[0].{number}")
