"""`peerlab lab`: opens JupyterLab on the labs, for this user alone."""

import argparse
from typing import Any

from peerlab.base.terminal_text import command, number
from peerlab.features.lab.opening_lab import open_lab


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "lab",
        "open the Jupyter lab",
        _lab,
        description="Open JupyterLab on peerlab's labs, here and for this user only. Stop it with Ctrl+C.",
        epilog="examples:\n  peerlab lab\n  peerlab lab --no-browser --port 9000\n",
    )
    sub.add_argument("--port", type=number, default=8888, help="first port to try (default: 8888)")
    sub.add_argument("--no-browser", action="store_true", help="only print the address")
    sub.add_argument(
        "--parent", type=number, metavar="PID", help="end when the process that started this one, PID, ends"
    )


def _lab(options: argparse.Namespace) -> int:
    return open_lab(port=options.port, browser=not options.no_browser, parent=options.parent)
