"""`peerlab site`: the live explorer and the labs as files for any web server."""

import argparse
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from peerlab.base.errors import ExportError
from peerlab.base.free_port import LOOPBACK, free_port
from peerlab.base.terminal_text import command, number
from peerlab.features.site.site_folder import write_live_page, write_site
from peerlab.question.fields import add_fields, fields_given
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS

_EXAMPLES = """\
examples:
  peerlab site lab                      the folder lab: any server of files serves it
  peerlab site lab --serve              the same, served on this machine alone
  peerlab site lab.html                 one file, 13 MB, that opens without a server
  peerlab site lab --cluster p5         its explorer begins with another cluster
  peerlab site lab --pyodide pyodide-314.0.7.tgz
                                        with Python's package as somebody downloaded it
"""
_PORT = 8800


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "site",
        "the lab in a browser tab: static files, no kernel",
        _site,
        epilog=_EXAMPLES,
        argument_default=argparse.SUPPRESS,
    )
    add = sub.add_argument
    add(
        "place",
        metavar="FOLDER",
        help="where to write it; a name that ends with .html is one file",
    )
    add(
        "--pyodide",
        metavar="FILE",
        type=Path,
        help="Pyodide's npm package, downloaded (default: the npm client gets it)",
    )
    add("--serve", action="store_true", help="serve the folder on this machine until Ctrl+C")
    add(
        "--port",
        metavar="N",
        type=number,
        help=f"of --serve: the first port to try (default: {_PORT}); a browser keeps the labs' progress for each",
    )
    add_fields(sub.add_argument, path="the cluster's first", registration="cached")


def _site(options: argparse.Namespace) -> int:
    entries = fields_given(options, FIELDS)  # its reader changes everything
    place = Path(options.place)
    alone = place.suffix == ".html"
    serve = getattr(options, "serve", False)
    if alone and serve:
        raise ExportError("--serve: one file opens by itself; leave --serve out, or give a folder")
    if "port" in options and not serve:
        raise ExportError("--port: give --serve, too, or leave it out")
    # Refused before anything is written. A browser keeps progress for each address, so the port is the same next time.
    port = free_port(getattr(options, "port", _PORT)) if serve else 0
    write = write_live_page if alone else write_site
    result = write(
        place,
        Scenario(**entries) if entries else None,
        pyodide=getattr(options, "pyodide", None),
        told=lambda part: print(f"peerlab: {part} ...", file=sys.stderr),
    )
    print(
        f"{result}: open it in a browser"
        if alone
        else f"{result}: {_size(result)} of files for any server of files"
    )
    return _serve(result, port) if serve else 0


def _size(folder: Path) -> str:
    return f"{sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6:.1f} MB"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Print no line for each request."""


def _serve(folder: Path, port: int) -> int:
    # This machine alone.
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), partial(_Quiet, directory=str(folder)))
    except OSError as problem:  # taken while the site was written
        raise ExportError(f"--port: {port} cannot be used: {problem.strerror or problem}") from None
    with server:
        print(f"http://{LOOPBACK}:{server.server_port}/  (Ctrl+C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0
