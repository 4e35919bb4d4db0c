"""peerlab itself for a tab: its modules and data as one archive, as bytecode where node is there to make it."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import peerlab
from peerlab.base.errors import ExportError
from peerlab.base.places import folder
from peerlab.features.site.pyodide_package import FILES, LOCK

_PACKAGE = Path(peerlab.__file__).parent
_LAYERS = (
    "base",
    "model",
    "library",
    "machine",
    "question",
    "collectives",
    "topology",
    "records",
    "answer",
    "diagnosis",
    "engine",
    "picture",
    "study",
    "training",
)
"""Folders of the package that an answer needs; most of the features, widgets and the command line stay behind."""
_SINGLE = (
    *("__init__.py", "features/__init__.py", "features/*/__init__.py", "features/site/tab*.py"),
    *("page/__init__.py", "page/joining.py", "page/frame.py", "page/document_html.py", "page/report.css"),
    *("features/diagnose/diagnosis_*.py", "features/expect/**/*.py", "features/exercises/**/*.py"),
)
_LEFT_OUT = (
    *("picture/plots", "picture/bokeh_document.py", "features/expect/expect_command.py"),
    *("features/exercises/exercise_widget.py", "features/exercises/predict.py"),
    "engine/referee",
    "features/exercises/lessons/lab_article.py",
)
_OF_LABS = (
    "peerlab/features/exercises/",
    "peerlab/engine/ports/",
    "peerlab/training/",
    "peerlab/data/workloads/",
)
"""What only the pages of labs need: the explorer does not wait for it."""
_RECORD = "peerlab/features/exercises/__init__."
"""The record of the feature, which the explorer gets all the same: all records are read together."""
_DATA = (
    "*.toml",
    "hardware/*.toml",
    "libraries/*.toml",
    "transports/*.toml",
    "workloads/*.toml",
    "measured/**/*.csv",
)
_PACK = Path(__file__).with_name("bytecode.mjs")
_DAY = (2020, 1, 1, 0, 0, 0)
"""The date of every file in an archive: the same sources give the same bytes."""


def python_archives(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return peerlab's modules and data as ZIP: ``app.zip``, and ``labs.zip``, which the labs' pages need besides.

    With node they are bytecode of Pyodide's Python, which starts three seconds sooner.

    Raises
    ------
    ExportError
        If node is there and cannot compile it.
    """
    sources = _zipped(_named())
    # Without node the tab compiles the sources itself, each time it opens.
    whole = _compiled(sources, files) if shutil.which("node") else sources
    with ZipFile(BytesIO(whole)) as archive:
        named = {name: archive.read(name) for name in archive.namelist()}
    # The explorer does not wait for what only the labs need.
    labs = {
        name: data
        for name, data in named.items()
        if name.startswith(_OF_LABS) and not name.startswith(_RECORD)
    }
    return {
        "app.zip": _zipped({name: data for name, data in named.items() if name not in labs}),
        "labs.zip": _zipped(labs),
    }


def _named() -> dict[str, bytes]:
    modules = [file for layer in _LAYERS for file in (_PACKAGE / layer).rglob("*.py")]
    modules += [file for pattern in _SINGLE for file in _PACKAGE.glob(pattern)]
    kept = [file for file in modules if not file.relative_to(_PACKAGE).as_posix().startswith(_LEFT_OUT)]
    named = {f"peerlab/{file.relative_to(_PACKAGE).as_posix()}": file.read_bytes() for file in kept}
    data = folder("data")
    facts = [file for pattern in _DATA for file in data.glob(pattern)]
    return named | {f"peerlab/data/{file.relative_to(data).as_posix()}": file.read_bytes() for file in facts}


def _zipped(named: dict[str, bytes]) -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        # In order and with one date: archives of the same sources are the same bytes.
        for name in sorted(named):
            archive.writestr(ZipInfo(name, _DAY), named[name], ZIP_DEFLATED)
    return packed.getvalue()


def _compiled(sources: bytes, files: Mapping[str, bytes]) -> bytes:
    with TemporaryDirectory() as name:
        place = Path(name)
        for file in (*FILES, LOCK):
            (place / file).write_bytes(files[file])
        (place / "package.json").write_text(json.dumps({"type": "module"}))
        (place / "sources.zip").write_bytes(sources)
        result = subprocess.run(  # noqa: S603  (our own script)
            ["node", _PACK, place, place / "sources.zip", place / "app.zip"],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode or not (place / "app.zip").is_file():
            sentence = (result.stderr.strip().splitlines() or ["it says nothing"])[-1][:200]
            raise ExportError(f"node could not compile peerlab for a tab: {sentence}")
        return (place / "app.zip").read_bytes()
