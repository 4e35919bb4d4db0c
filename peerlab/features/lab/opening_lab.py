"""Opens JupyterLab on the labs, for one user on one machine, with nothing that asks the internet."""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from peerlab.base.errors import PeerlabError, one_line
from peerlab.base.extras import check_installed
from peerlab.base.free_port import free_port
from peerlab.base.textfile import in_words
from peerlab.features.lab.copies import copied

_LOOK_S = 0.5
"""How often it is looked whether our parent is still there."""


def open_lab(*, port: int | str, browser: bool, parent: int | str | None = None) -> int:
    """Open the tour in JupyterLab, print the address, and stay until it is stopped; return its exit status.

    Parameters
    ----------
    port:
        The first one to try, of fifty.
    browser:
        Whether to open a browser, where there is a screen.
    parent:
        Process id of whoever started this process; when that ends, the lab ends. None: it may end without the lab.

    Raises
    ------
    MissingPackage
        If the extra `lab` is not installed.
    PeerlabError
        If JupyterLab is killed, the labs cannot be written, or there is no free port.
    """
    for module in ("jupyterlab", "ipywidgets", "anywidget", "bokeh"):
        check_installed("peerlab lab", module)
    if parent not in (None, os.getppid()):
        raise PeerlabError(f"parent: process {parent!r} has not started this one, or has ended")
    with in_words("no home is known; set HOME", PeerlabError):
        Path.home()
    chosen = free_port(port)
    labs = copied()
    print(f"peerlab: your labs are in {one_line(labs)}", flush=True)  # noqa: T201
    while True:
        status = _serve(labs, chosen, browser=browser and _can_show(), parent=parent)
        taken, chosen = chosen, free_port(port)
        if not status or chosen <= taken:
            return status
        # it was free when we looked: another lab was quicker


def _serve(labs: Path, port: int, *, browser: bool, parent: int | str | None) -> int:
    """Serve until that is stopped; return the exit status.

    The server listens to a pipe: that its other end closes tells it that we have gone, whatever ended us.
    """
    with in_words("no temporary folder can be made; set TMPDIR", PeerlabError):
        private = tempfile.TemporaryDirectory(prefix="peerlab-", ignore_cleanup_errors=True)
    options = [str(labs), str(port), private.name, *(["--browser"] if browser else [])]
    with private, _started(options) as server:
        return _stay(server, parent)


def _started(options: Sequence[str]) -> subprocess.Popen[bytes]:
    with in_words("cannot start JupyterLab", PeerlabError):
        return subprocess.Popen(  # noqa: S603  (our own module)
            [sys.executable, "-P", "-m", "peerlab.features.lab.server", *options],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl+C is for us alone: the server would ask whether it is meant
        )


def _stay(server: subprocess.Popen[bytes], parent: int | str | None) -> int:
    """Tell the server its token, and wait for it to end; whoever ends us, or closes our terminal, ends it too."""
    try:
        with suppress(BrokenPipeError):  # it has ended already
            if server.stdin:  # other users of this machine cannot read it there
                server.stdin.write(f"{secrets.token_hex(24)}\n".encode())
                server.stdin.flush()
        while parent in (None, os.getppid()):
            try:
                status = server.wait(_LOOK_S)
            except subprocess.TimeoutExpired:
                continue
            if status < 0:
                named = (
                    signals.name for signals in signal.Signals if signals == -status
                )  # real-time signals have no name
                raise PeerlabError(f"JupyterLab was killed by {next(named, f'signal {-status}')}")
            return status
    except KeyboardInterrupt:
        pass
    return 0


def _can_show() -> bool:
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
