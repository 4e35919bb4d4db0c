"""The labs as notebooks: they run, and they are stored the way they should be."""

import asyncio
import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from fewer_points import shorten_lab

from peerlab.base.places import folder
from peerlab.features.exercises import progress
from peerlab.features.exercises.catalogue import exercises, fixed, names
from peerlab.features.exercises.exercise import Code, fill_in
from peerlab.features.exercises.lessons.solved import asked, solved

LABS = sorted(folder("labs").glob("*.ipynb"))
SOLUTIONS = folder("labs") / "solutions"
WITH_EXERCISES = [lab for lab in LABS if names(lab.stem[:2])]


@pytest.fixture(params=LABS, ids=[lab.stem for lab in LABS])
def lab(request):
    return read(request.param)


def read(path):
    """Return a notebook. nbformat takes a while to import, and every process of the tests collects this file."""
    import nbformat

    return nbformat.read(path, as_version=4)


def code(lab):
    return [cell for cell in lab.cells if cell.cell_type == "code"]


def test_a_lab_is_stored_without_outputs(lab):
    import nbformat

    nbformat.validate(lab)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code(lab))
    assert "widgets" not in lab.metadata


def test_a_lab_is_prose_with_short_cells_and_no_plotting(lab):
    assert sum(cell.cell_type == "markdown" for cell in lab.cells) >= len(code(lab)) / 2
    for cell in code(lab):
        assert len(cell.source.splitlines()) <= 15, cell.source
        for library in ("bokeh", "matplotlib", "ipywidgets", "anywidget"):
            assert library not in cell.source


def test_what_is_folded_begins_with_its_heading(lab):
    """A cell with words above its heading was folded with them: they stood open, and named what is folded."""
    folded = [cell.source for cell in lab.cells if cell.metadata.get("jp-MarkdownHeadingCollapsed")]
    assert [source for source in folded if not source.startswith("#")] == []


def test_a_learner_gets_every_lab_and_no_solution(tmp_path, monkeypatch):
    from peerlab.features.lab.copies import copied

    monkeypatch.chdir(tmp_path)
    copies = copied()
    assert [one.name for one in sorted(copies.rglob("*"))] == [one.name for one in LABS]


@pytest.mark.parametrize(("path", "following"), list(pairwise(LABS)), ids=lambda path: path.stem)
def test_a_lab_leads_to_the_one_after_it(path, following):
    """There is no index: who begins with the tour finds them all."""
    last = read(path).cells[-1].source
    assert f"Next: [{following.stem}]({following.name})" in last


SETUP = f"""
import sys
sys.path.append({str(Path(__file__).parent)!r})
import fewer_points, kept_runs, peerlab.engine.simulate
fewer_points.shorten_curves()
fewer_points.shorten_series()
peerlab.engine.simulate._simulate = kept_runs.KeptRuns()
"""


@pytest.fixture(scope="module")
def kernel():
    """One kernel for all labs: what it imports and simulates is there for the next; its curves and charts have fewer points."""
    from jupyter_client import AsyncKernelManager

    manager = AsyncKernelManager()
    execute(manager, notebook_of(SETUP))
    yield manager
    asyncio.run(manager.shutdown_kernel(now=True))


def notebook_of(cell):
    import nbformat

    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])


def execute(kernel, notebook):
    import nbclient

    client = nbclient.NotebookClient(notebook, km=kernel, timeout=120)
    client.execute()
    client.kc.stop_channels()


@pytest.mark.sample(3)
@pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)
def test_with_the_solutions_a_lab_runs_shows_what_it_should_and_every_check_passes(kernel, path, tmp_path):
    """As they are stored, without answers, the labs run in a real JupyterLab: tests/browser."""
    import nbformat

    known = {*names(path.stem[:2])}
    stored = (SOLUTIONS / path.name if known else path).read_text(encoding="utf-8")
    notebook = nbformat.reads(shorten_lab(stored), as_version=4)
    execute(kernel, notebook_of(f"%reset -f\nimport os\nos.chdir({str(tmp_path)!r})\ndel os"))
    execute(kernel, notebook)
    silent = [cell.source for cell in code(notebook) if not cell.outputs]
    assert all(
        "=" in (last := source.splitlines()[-1]) or last.startswith(("from ", "import ", "peerlab.wait_for("))
        for source in silent
    ), silent
    shown = [output for cell in code(notebook) for output in cell.outputs]
    assert not [output for output in shown if output.output_type in ("stream", "error")]
    assert {name for name, how in progress.read(tmp_path).items() if how.right} == known


@pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)
def test_solutions_are_the_labs_with_the_answers_filled_in(path):
    lab = json.loads(path.read_text(encoding="utf-8"))
    assert json.loads((SOLUTIONS / path.name).read_text(encoding="utf-8")) == solved(
        lab
    )  # else: make solutions


@pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)
def test_an_exercise_is_asked_once_in_its_order_and_has_hints(path):
    cells = [cell.source for cell in code(read(path))]
    known = exercises(path.stem[:2])
    assert [asked(cell) for cell in cells if asked(cell)] == [one.name for one in known]
    assert all(len(one.hints) >= 2 for one in known)


def attempts():
    """Return (lab, exercise, wrong source, part of what it is told) of every code that is typically wrong."""
    return [
        (path, one, source, says)
        for path in WITH_EXERCISES
        for one in fixed(path.stem[:2])
        if isinstance(one, Code)
        for source, says in one.wrong()
    ]


@cache
def opened(path):
    """Return what a lab's first cell defines, and the source of all of its code cells."""
    cells, names = [cell.source for cell in code(read(path))], {}
    exec(cells[0], names)  # noqa: S102
    return names, cells


@pytest.mark.parametrize("trial", attempts(), ids=lambda trial: trial[1].name)
def test_code_that_is_typically_wrong_is_told_why(trial, tmp_path, monkeypatch):
    """An exercise's cell needs nothing but the first one of its lab."""
    path, exercise, source, says = trial
    monkeypatch.chdir(tmp_path)
    names, cells = opened(path)
    cell = next(cell for cell in cells if asked(cell) == exercise.name)
    before, _, last = fill_in(cell, source).rpartition("\npeerlab.exercise(")
    exec(before, names)  # noqa: S102
    shown = eval(f"peerlab.exercise({last}", names)  # noqa: S307
    assert not shown.verdict.right
    assert says in shown.verdict.says
