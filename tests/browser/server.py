"""A private JupyterLab, and what any server needs: to be waited for, and to be ended."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

from peerlab.base.places import folder
from peerlab.features.lab.server import settings

TOKEN = "for-tests"  # noqa: S105  (a private server on this machine)
JUPYTERLAB = "from peerlab.features.lab.server import skip_grammar; skip_grammar(); from jupyterlab.labapp import main; main()"
PATIENCE_S = 120
"""So long a server may take to start, and to answer, while others keep the machine busy."""


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


def notebook(*cells):
    """Return a notebook of code cells."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    empty = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return {
        "cells": [{**empty, "id": f"c{i}", "source": cell} for i, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


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
            sys.executable,
            "-c",
            JUPYTERLAB,
            *settings(self.root, port, private, browser=False),
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
        (self.root / name).write_text(json.dumps(notebook(*cells)))
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
