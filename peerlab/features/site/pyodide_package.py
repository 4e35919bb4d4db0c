"""Pyodide, the Python of a browser tab: its npm package of one version, checked against the hash that the registry gives.

Nothing is loaded from elsewhere when a page runs: the files of the package lie beside it, or in it.
"""

import json
import shutil
import subprocess
import tarfile
from base64 import b64decode
from hashlib import sha512
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from peerlab.base.errors import ExportError, one_line

VERSION = "314.0.7"
INTEGRITY = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
"""SHA-512 of the package in base64, as ``npm view pyodide@314.0.7 dist.integrity`` says it."""
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"
_MOST_BYTES = 50 * 2**20


def pyodide_files(package: Path | None) -> dict[str, bytes]:
    """Return the files of Pyodide's package by name, those of `FILES` and `LOCK`.

    Parameters
    ----------
    package:
        ``pyodide-314.0.7.tgz``, as somebody has downloaded it; None: the npm client gets it.

    Raises
    ------
    ExportError
        If there is no npm client, it gets nothing, or the file is not that package.
    """
    if package is not None:
        return _unpacked(package)
    if not shutil.which("npm"):
        raise ExportError(
            f"no npm client is here to get pyodide@{VERSION}; download its package elsewhere and name it with --pyodide FILE"
        )
    with TemporaryDirectory() as folder:
        # `npm pack` fetches the package and runs nothing of it.
        command = ["npm", "pack", "--silent", f"pyodide@{VERSION}"]
        try:
            result = subprocess.run(  # noqa: S603  (fixed words, no shell)
                command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise ExportError(f"npm did not get pyodide@{VERSION}: {problem}") from None
        # Whatever the client called it: the hash below says whether it is the one.
        packages = list(Path(folder).glob("*.tgz"))
        if result.returncode or len(packages) != 1:
            sentence = (result.stderr.strip().splitlines() or ["it says nothing"])[-1][:200]
            raise ExportError(
                f"npm did not get pyodide@{VERSION} ({sentence}); name a downloaded package with --pyodide FILE"
            )
        return _unpacked(packages[0])


def _unpacked(package: Path) -> dict[str, bytes]:
    try:
        if package.is_fifo() or package.is_char_device():  # it may never end
            raise ExportError(f"{one_line(package)}: this is no file")
        if package.stat().st_size > _MOST_BYTES:
            raise ExportError(f"{one_line(package)}: this is not pyodide@{VERSION}; it is too large")
        data = package.read_bytes()
    except OSError as problem:
        raise ExportError(f"cannot read {one_line(package)}: {problem.strerror or problem}") from None
    # Of both ways: what npm gets is checked as what somebody downloaded.
    if sha512(data).digest() != b64decode(INTEGRITY):
        raise ExportError(
            f"{one_line(package)}: this is not pyodide@{VERSION} as npm has it; its hash is another one"
        )
    with tarfile.open(package) as tar:
        # By their names: nothing is unpacked to a path that the archive chooses.
        members = {name: tar.extractfile(f"package/{name}") for name in (*FILES, LOCK)}
        return {name: member.read() for name, member in members.items() if member}


def lock_of(files: dict[str, bytes]) -> dict[str, Any]:
    """Return what Pyodide wants to know of its packages: their interface's version, and that there are none."""
    # No packages: the tab does without numpy.
    return {"info": json.loads(files[LOCK])["info"], "packages": {}}
