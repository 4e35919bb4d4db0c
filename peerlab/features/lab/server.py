"""The process that serves: JupyterLab on the labs. It ends with whoever started it, and its folder goes with it.

Its input is a pipe that nobody else holds: the first line is the token; when it closes, whoever started this process has
gone, however that was ended. Then the server ends as on SIGTERM, and takes its kernels with it.
"""

# The lab's server ends with whoever started it. It listens to a pipe whose other end `peerlab lab` holds.
# The kernel closes that end however the process ends, `kill -9` included. The server then ends its kernels
# and removes its temporary folder. A kernel looks every second whether its server is still there (ipykernel
# does that). `make lab` names itself as the parent, because a killed `make` tells nobody.

import os
import shutil
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

from peerlab.base.errors import one_line
from peerlab.base.free_port import LOOPBACK
from peerlab.base.places import folder

TOUR = "00_tour.ipynb"
_SETTINGS = Path(__file__).parent.parent.parent / "jupyter"
"""JupyterLab's settings and the workspace it starts with: quiet, sidebars folded away."""
_LARGEST_MESSAGE = 256 * 2**20
"""Bytes that a page may send at once, such as a file that is chosen."""
_PATIENCE_S = 15
"""How long ending in order may take; kernels that are busy are given five seconds, and then killed."""


def settings(labs: Path, port: int, private: Path, *, browser: bool) -> list[str]:
    """Return JupyterLab's options; what it changes while it runs goes to the folder `private`, which must be there."""
    app = private / "settings"
    app.mkdir()
    shutil.copy(_SETTINGS / "overrides.json", app)
    root = (
        [] if not hasattr(os, "geteuid") or os.geteuid() else ["--allow-root"]
    )  # JupyterLab refuses root otherwise
    return [
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={labs}",
        # it serves extensions of Notebook 6, and asks for every old setting, which complain
        "--ServerApp.jpserver_extensions=notebook_shim=False",
        # else a file above 10 MiB closes the connection, and nobody says why it was not read
        f"--ServerApp.tornado_settings={{'websocket_max_message_size': {_LARGEST_MESSAGE}}}",
        f"--LabApp.default_url=/lab/workspaces/peerlab/tree/{TOUR}",
        f"--LabApp.app_settings_dir={app}",
        f"--LabApp.workspaces_dir={_workspaces(private)}",
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=",
        "--Application.log_level=WARN",
        *root,
        *([] if browser else ["--no-browser"]),
    ]


def _workspaces(private: Path) -> Path:
    """Return a folder with the workspace that the lab opens with; it is private, so it opens the same every time."""
    from jupyterlab_server.workspaces_handler import WorkspacesManager  # noqa: PLC0415  (takes a while)

    workspaces = private / "workspaces"
    workspaces.mkdir()
    WorkspacesManager(str(workspaces)).save(
        "peerlab", (_SETTINGS / "workspace.json").read_text(encoding="utf-8")
    )
    return workspaces


def _find_homes(private: Path) -> None:
    """Where the user's folders cannot be written, have Jupyter keep its own in `private`, and say so."""
    homes = {
        "JUPYTER_CONFIG_DIR": Path(jupyter_config_dir()),
        "JUPYTER_DATA_DIR": Path(jupyter_data_dir()),
        "JUPYTER_RUNTIME_DIR": Path(jupyter_runtime_dir()),
        "IPYTHONDIR": Path(os.environ.get("IPYTHONDIR") or "~/.ipython").expanduser(),
    }
    lost = {name: home for name, home in homes.items() if not _writable(home)}
    for name in lost:
        os.environ[name] = str(private / name.lower())
    if lost:
        print(  # noqa: T201
            f"peerlab: JupyterLab cannot write to {', '.join(map(one_line, lost.values()))}: what it keeps there goes "
            f"when the lab ends; to keep it, set HOME, or {', '.join(lost)}, to a folder of yours",
            flush=True,
        )


def _writable(home: Path) -> bool:
    """Whether a folder, or the one that it would be made in, takes a file."""
    try:
        while not home.exists():
            home = home.parent
        with TemporaryFile(dir=home) as trial:
            trial.write(bytes(4096))
    except OSError:
        return False
    return True


def _end_with_parent(private: Path) -> None:
    """Wait until the input closes, and end this process."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE_S)  # it is cut short when the process ends
    shutil.rmtree(private, ignore_errors=True)
    os._exit(1)


def skip_grammar() -> None:
    """Spare JupyterLab's start a grammar that takes a second: jsonschema makes it for identifiers in any script, which no schema here has."""
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # as if it were not installed, which jsonschema allows


def _serve(labs: Path, port: int, private: Path, token: str, *, browser: bool) -> None:
    _find_homes(private)
    skip_grammar()
    from jupyterlab.labapp import LabApp  # noqa: PLC0415  (takes a second, in which we may be told to end)

    options = [*settings(labs, port, private, browser=browser), f"--IdentityProvider.token={token}"]
    server = LabApp.initialize_server(options)
    _trust(labs, server.contents_manager)
    # it begins to listen in its loop, too, and before this; if it cannot, it ends
    server.io_loop.add_callback(_tell, port, token)
    server.start()


def _trust(labs: Path, contents: Any) -> None:
    """Sign the labs that are as they come with peerlab: JupyterLab calls a notebook that it has not saved itself *not trusted*."""
    from nbformat import reads  # noqa: PLC0415  (the server has loaded it)

    for lab in sorted(folder("labs").glob("*.ipynb")):
        copy = labs / lab.name
        if copy.is_file() and copy.read_bytes() == (ours := lab.read_bytes()):
            notebook = reads(ours.decode(), as_version=4)  # type: ignore[no-untyped-call]
            contents.check_and_sign(notebook, copy.name)


def _tell(port: int, token: str) -> None:
    with suppress(OSError):  # nobody listens to what we print
        address = f"http://{LOOPBACK}:{port}/lab/workspaces/peerlab/tree/{TOUR}?token={token}"
        print(f"peerlab: open {address}\n", flush=True)  # noqa: T201


def main(labs: str, port: str, private: str, *options: str) -> int:
    """Serve until the input closes; return the exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # until the server has a handler of its own
    own = Path(private)
    try:
        token = sys.stdin.readline().strip()
        threading.Thread(target=_end_with_parent, args=(own,), daemon=True).start()
        _serve(Path(labs), int(port), own, token, browser="--browser" in options)
    except KeyboardInterrupt:
        pass
    finally:
        with suppress(KeyboardInterrupt):
            shutil.rmtree(own, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
