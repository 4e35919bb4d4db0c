"""The labs as notebooks: they run, and they are stored the way they should be."""

import nbclient
import nbformat
import pytest

from peerlab.places import folder

LABS = sorted(folder("labs").glob("*.ipynb"))


@pytest.fixture(params=LABS, ids=[lab.stem for lab in LABS])
def lab(request):
    return nbformat.read(request.param, as_version=4)


def code(lab):
    return [cell for cell in lab.cells if cell.cell_type == "code"]


def test_a_lab_is_stored_without_outputs(lab):
    nbformat.validate(lab)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code(lab))
    assert "widgets" not in lab.metadata


def test_a_lab_is_prose_with_short_cells_and_no_plotting(lab):
    assert sum(cell.cell_type == "markdown" for cell in lab.cells) >= len(code(lab)) / 2
    for cell in code(lab):
        assert len(cell.source.splitlines()) <= 15, cell.source
        for library in ("bokeh", "matplotlib", "ipywidgets", "anywidget"):
            assert library not in cell.source


def test_a_lab_runs_and_shows_something_after_all_but_its_definitions(lab, tmp_path):
    nbclient.NotebookClient(lab, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    silent = [cell.source for cell in code(lab) if not cell.outputs]
    assert all("=" in source.splitlines()[-1] for source in silent), silent
    shown = [output for cell in code(lab) for output in cell.outputs]
    assert not [output for output in shown if output.output_type in ("stream", "error")]
