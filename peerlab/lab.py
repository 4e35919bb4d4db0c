"""Opens JupyterLab on the labs, for one user on one machine, with nothing that asks the internet."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from peerlab.errors import PeerlabError
from peerlab.places import folder

TOUR = "00_tour.ipynb"
_SETTINGS = Path(__file__).parent / "jupyter"
"""JupyterLab's settings and the workspace it starts with: quiet, sidebars folded away."""


def open_lab(*, port: int | str, browser: bool) -> int:
    """Open the tour in JupyterLab, print the address, and stay until it is stopped; return its exit status.

    Raises
    ------
    PeerlabError
        If JupyterLab is not installed or there is no free port.
    """
    if find_spec("jupyterlab") is None:
        raise PeerlabError("the lab needs JupyterLab: pip install 'peerlab[lab]'")
    labs = _labs()
    chosen = _free_port(port)
    with tempfile.TemporaryDirectory(prefix="peerlab-") as private:
        command = _command(labs, chosen, Path(private), browser=browser and _can_show())
        token = secrets.token_hex(24)
        address = f"http://127.0.0.1:{chosen}/lab/workspaces/peerlab/tree/{TOUR}?token={token}"
        print(f"peerlab: your labs are in {labs}", flush=True)  # noqa: T201
        # the token goes by the environment, where other users of this machine cannot read it; Ctrl+C is for us alone:
        # the server would ask whether it is meant
        environment = {**os.environ, "JUPYTER_TOKEN": token}
        server = subprocess.Popen(command, env=environment, start_new_session=True)  # noqa: S603
        return _stay(server, lambda: _tell(server, chosen, address))


def _tell(server: subprocess.Popen[bytes], port: int, address: str) -> None:
    """Print the address as soon as somebody answers there."""
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                print(f"peerlab: open {address}\n", flush=True)  # noqa: T201
                return
        time.sleep(0.1)


def _stay(server: subprocess.Popen[bytes], begin: Callable[[], None]) -> int:
    """Begin, and wait for the server to end; whoever ends us, or closes our terminal, ends it too."""
    try:
        begin()
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        if server.poll() is None:
            server.terminate()
            server.wait()


def _labs() -> Path:
    """Return a copy of the labs in this folder, to work in: what is run and saved there changes nothing of peerlab's.

    A lab that is there already is the user's, and stays; if the one that comes with peerlab has changed since, that is
    said.
    """
    mine = Path.cwd() / "peerlab-labs"
    try:
        mine.mkdir(exist_ok=True)
        for lab in sorted(folder("labs").glob("*.ipynb")):
            copy = mine / lab.name
            if not copy.exists():
                shutil.copy(lab, copy)
            elif _sources(copy) != _sources(lab):
                print(f"peerlab: {copy} is not the one that comes with peerlab; delete it to get that one")  # noqa: T201
    except OSError as problem:
        raise PeerlabError(f"cannot write the labs to {mine}: {problem.strerror or problem}") from None
    return mine


def _sources(lab: Path) -> list[object] | None:
    """Return what the cells of a notebook say, without what they have shown; None if it is no notebook."""
    try:
        cells = json.loads(lab.read_text(encoding="utf-8"))["cells"]
        return ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError):
        return None


def _can_show() -> bool:
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _free_port(first: int | str) -> int:
    if not isinstance(first, int) or not 1 <= first <= 65535:
        raise PeerlabError(f"port: {first!r} is not a whole number from 1 to 65535")
    for port in range(first, min(first + 50, 65536)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise PeerlabError(f"port: none from {first} on is free; give another with --port")


def _workspaces(private: Path) -> Path:
    """Return a folder with the workspace that the lab opens with; it is private, so it opens the same every time."""
    from jupyterlab_server.workspaces_handler import WorkspacesManager  # noqa: PLC0415  (part of the lab extra)

    workspaces = private / "workspaces"
    workspaces.mkdir()
    WorkspacesManager(str(workspaces)).save(
        "peerlab", (_SETTINGS / "workspace.json").read_text(encoding="utf-8")
    )
    return workspaces


def _command(labs: Path, port: int, private: Path, *, browser: bool) -> list[str]:
    settings = private / "settings"
    settings.mkdir()
    shutil.copy(_SETTINGS / "overrides.json", settings)
    root = (
        [] if not hasattr(os, "geteuid") or os.geteuid() else ["--allow-root"]
    )  # JupyterLab refuses root otherwise
    return [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={labs}",
        f"--LabApp.default_url=/lab/workspaces/peerlab/tree/{TOUR}",
        f"--LabApp.app_settings_dir={settings}",
        f"--LabApp.workspaces_dir={_workspaces(private)}",
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=",
        "--Application.log_level=WARN",
        *root,
        *([] if browser else ["--no-browser"]),
    ]
