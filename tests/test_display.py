"""Every result shows itself through one door: HTML in a notebook, one line of text elsewhere."""

import ast
import re

import pytest
from IPython.core.formatters import DisplayFormatter
from results_shown import shown_results

from peerlab.base import display
from peerlab.base.errors import MOST
from peerlab.features import features

SHOWS = ("_repr_html_", "_repr_mimebundle_", "_repr_svg_", "_repr_png_", "_ipython_display_")
WIDGETS = {"peerlab/page/widgets.py"}
"""A widget's own bundle: what it shows is alive, and no picture."""


def modules(root):
    for file in sorted((root / "peerlab").rglob("*.py")):
        yield file.relative_to(root).as_posix(), ast.parse(file.read_text())


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return shown_results(tmp_path_factory.mktemp("results"))


def test_every_class_that_shows_itself_goes_through_the_door(root):
    """Adding a result means one line in the record of a feature; nothing shows itself past it, and no picture is imported by text."""
    through, past, by_text = set(), [], []
    for file, module in modules(root):
        for one in ast.walk(module):
            if isinstance(one, ast.FunctionDef) and one.name in SHOWS and file not in WIDGETS:
                past.append(file)
            if isinstance(one, ast.ClassDef):
                shows = [
                    part
                    for part in one.body
                    if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) in SHOWS
                ]
                assert [ast.unparse(part.value) for part in shows] in ([], ["shown"]), one.name
                through |= {one.name} if shows else set()
            if (
                isinstance(one, ast.Call)
                and "import" in ast.unparse(one.func)
                and "'peerlab.picture" in ast.unparse(one)
            ):
                by_text.append(file)
    assert past == []
    assert by_text == []
    assert sorted(through) == sorted(name for feature in features().values() for name in feature.shows)


def test_every_result_is_html_in_a_notebook_and_one_line_elsewhere(results):
    assert {type(result).__name__ for result in results} == {
        name for feature in features().values() for name in feature.shows
    }
    for result in results:
        shown, _ = DisplayFormatter().format(result)
        assert (
            shown["text/html"] == display.shown(result) or "pl-steps" in shown["text/html"]
        )  # whose ids are random
        assert re.search(r"<(table|pre|p|iframe)[ >]", shown["text/html"])
        assert "<script" not in shown["text/html"]
        assert shown["text/plain"] == repr(result)
        assert repr(result).isprintable()
        assert 10 < len(repr(result)) <= MOST, repr(result)


def test_a_saved_notebook_still_shows_a_result(tmp_path):
    import nbclient  # takes a second, which only the process that needs it spends
    import nbformat

    cell = "import peerlab\npeerlab.simulate(peerlab.Scenario(nodes=2))"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    nbformat.write(notebook, tmp_path / "saved.ipynb")
    [output] = nbformat.read(tmp_path / "saved.ipynb", as_version=4).cells[0].outputs
    assert output.data["text/plain"].startswith("Run(dl1, 2 nodes, ")
    assert "<img src='data:image/svg+xml;base64," in output.data["text/html"]
