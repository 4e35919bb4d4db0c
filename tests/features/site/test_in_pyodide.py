"""Pyodide in node answers as the Python here does, byte by byte: scenarios, logs, exercises, tasks, a cluster file."""

import json
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
import tool_logs
from drawing import SOAK

from peerlab.base.errors import ExportError
from peerlab.base.places import folder
from peerlab.features.exercises.catalogue import fixed
from peerlab.features.exercises.lessons.lab_article import NOTEBOOK_ONLY
from peerlab.features.site.pyodide_package import pyodide_files
from peerlab.features.site.python_archive import _named, _zipped
from peerlab.features.site.tab import Tab
from peerlab.question.presets import known_clusters, load_cluster

SCRIPT = Path(__file__).with_name("pyodide_answers.mjs")
CODE = "def hits(capacity, buffers, rounds):\n    return 0\n\npeerlab.exercise('03-hits', answer=hits)"


MANY, FEW = 1000, 12
"""Scenarios, and how many of them a run draws."""


def noise(drawn):
    kinds = {"jitter": 0.1, "spread": 0.2, "detours": drawn.choice((1e-4, 0.2)), "ticks": 1000}
    return {name: kinds[name] for name in drawn.sample(list(kinds), drawn.randint(1, 4))}


def scenarios():
    drawn = Random(35)  # noqa: S311  (nothing secret)
    for number in range(MANY):
        cluster = drawn.choice(list(known_clusters()))
        changes = {
            "cluster": cluster,
            "path": drawn.choice(load_cluster(cluster).paths),
            "nodes": drawn.choice((2, 3, 8, 64)),
            "message_bytes": 2
            ** drawn.randrange(
                3, 25
            ),  # larger messages of many nodes are refused, with the seconds of each engine
            "registration": drawn.choice(("cached", "per-transfer")),
            "collective": drawn.choice(("allreduce", "alltoall", "allgather", "point-to-point")),
        }
        if not number % 5:
            few = {"nodes": drawn.choice((2, 3, 4)), "message_bytes": 2 ** drawn.randrange(3, 25)}
            changes |= {**few, "seed": drawn.randrange(2**40), **noise(drawn)}
        yield {"kind": "show", "number": number, "control": "other", "changes": changes}


def parts(scenario):
    """Return what is to come as often as any other: clusters, and noise or none."""
    changes = scenario["changes"]
    return changes["cluster"], "seed" in changes


def questions(shown):
    yield from shown
    yield {"kind": "critical"}
    yield {"kind": "undo", "number": 99}
    for name in ("NCCL", "OSU_BANDWIDTH", "HCCL_README", "PERFTEST"):
        yield {"kind": "log", "name": name, "text": getattr(tool_logs, name)}
    for name, answer in (("01-gain", "1.78"), ("05-wire", "x"), ("07-gain", "1.1"), ("08-goodput", "97")):
        yield {"kind": "judge", "name": name, "answer": answer}
    if SOAK:
        for exercise in (one for one in fixed() if one.name[:2] not in NOTEBOOK_ONLY):
            for answer in ("1", "0.5", "?"):
                yield {"kind": "judge", "name": exercise.name, "answer": answer}
    yield {"kind": "judge", "name": "03-hits", "code": CODE}
    for lab in ("01", "05", "07", "09", "10"):
        yield {"kind": "task", "name": f"{lab}-transfer", "seed": 7}
    text = (folder("data") / "hardware" / "p4d.toml").read_text()
    yield {"kind": "cluster", "name": "mine.toml", "text": text}


@pytest.mark.long("Python without numpy")
def test_pyodide_answers_byte_by_byte_as_the_python_here(own_folder, drawn):
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("no npm client and node are here: Pyodide is not asked")
    try:
        files = pyodide_files(None)
    except ExportError as problem:
        pytest.skip(f"Pyodide cannot be had, and is not asked: {problem}")
    for name, data in files.items():
        (own_folder / name).write_bytes(data)
    (own_folder / "package.json").write_text('{"type": "module"}')
    (own_folder / "app.zip").write_bytes(_zipped(_named()))
    asked = list(questions(drawn(scenarios(), count=FEW, parts=parts)))
    (own_folder / "questions.json").write_text(json.dumps(asked))
    command = ["node", SCRIPT, own_folder, "app.zip", "questions.json", "answers.json"]
    subprocess.run(command, cwd=own_folder, check=True)
    tab = Tab(nodes=2)
    for question, (told, columns) in zip(
        asked, json.loads((own_folder / "answers.json").read_text()), strict=True
    ):
        text, here = tab.answer(json.dumps(question))
        assert told == text, question
        assert columns == sha256(b"".join(here)).hexdigest(), question
    assert sum("data" in told for told, _ in json.loads((own_folder / "answers.json").read_text())) > FEW // 2
