"""A `peerlab lab` that runs, and what of it is still there."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import psutil
from jupyter_client import BlockingKernelClient

from peerlab.base.free_port import free_port

PATIENCE_S = 60
"""So long something may take on a machine that is busy with other tests."""


def wait_until(done, seconds=PATIENCE_S):
    """Wait until `done()`; return whether it came true in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _answers(client: BlockingKernelClient) -> bool:
    """Return whether a kernel answers; one that is starved of its processor misses heartbeats, and is asked again."""
    try:
        client.wait_for_ready(timeout=10)
    except RuntimeError:
        return False
    return True


_HEARS = ("env", "--default-signal=INT,QUIT,HUP,TERM")
"""Lets a process hear the signals that end it: of nohup, or in the background of a shell, the tests ignore some, and so would it."""


class Running:
    """A lab with a home and a temporary folder of its own, in a session of its own, as in a terminal."""

    def __init__(self, folder: Path, *command: str, port: int | None = None, **environment: str):
        for name in ("home", "tmp", "work"):
            (folder / name).mkdir(exist_ok=True)
        self.home, self.tmp = folder / "home", folder / "tmp"
        self.port = port or free_port(20000 + os.getpid() % 20000)
        start = command or (sys.executable, "-m", "peerlab.cli", "lab")
        options = ["--no-browser", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*_HEARS, *start, *(options if not command else [f"ARGS={' '.join(options)}"])],
            cwd=folder / "work",
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "TMPDIR": str(self.tmp),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.said: list[str] = []
        self._seen: dict[int, psutil.Process] = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        for line in self.process.stdout:
            self.said.append(line)

    @property
    def address(self) -> str:
        """Where it can be opened, as soon as it says so."""
        found = []
        assert wait_until(
            lambda: found.extend(re.findall(r"peerlab: open (\S+)", "".join(self.said))) or found
        ), self.said
        return found[0]

    def ask(self, what: str, method: str = "GET"):
        """Ask the server, with the token of the address."""
        base, token = re.fullmatch(r"(http://[^/]+)/.*\?token=(\w+)", self.address).groups()
        request = urllib.request.Request(  # noqa: S310  (our own server)
            f"{base}/api/{what}", method=method, headers={"Authorization": f"token {token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:  # noqa: S310
            return json.loads(answer.read())

    def kernel(self, *, busy: bool = False) -> None:
        """Start a kernel, and wait until it answers; then have it count for ever if it shall be busy."""
        name = self.ask("kernels", "POST")["id"]
        client = BlockingKernelClient(
            connection_file=str(self.home / f".local/share/jupyter/runtime/kernel-{name}.json")
        )
        client.load_connection_file()
        client.start_channels()
        assert wait_until(lambda: _answers(client))
        client.execute("while True: pass" if busy else "pass")
        client.get_iopub_msg(timeout=PATIENCE_S)
        client.stop_channels()

    def look(self) -> dict[int, str]:
        """Return process id to command of all that has been seen of it and lives."""
        try:
            top = psutil.Process(self.process.pid)
            self._seen |= {one.pid: one for one in [top, *top.children(recursive=True)]}
        except psutil.NoSuchProcess:
            pass
        return {pid: line for pid, one in self._seen.items() if (line := _command(one))}

    def left(self) -> list[str]:
        """Return what is still there of it: processes, its port, its temporary folder."""
        with socket.socket() as probe:
            listening = probe.connect_ex(("127.0.0.1", self.port)) == 0
        return [
            *self.look().values(),
            *([f"port {self.port}"] if listening else []),
            *(str(one) for one in self.tmp.iterdir()),
        ]

    def close(self):
        """End it, whatever is the matter."""
        self.look()
        for one in self._seen.values():
            if one.is_running():
                one.send_signal(signal.SIGKILL)
        self.process.wait()
        self._listener.join(PATIENCE_S)
        self.process.stdout.close()


def _command(process: psutil.Process) -> str:
    try:
        alive = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        return " ".join(process.cmdline()) if alive else ""
    except psutil.NoSuchProcess:
        return ""
