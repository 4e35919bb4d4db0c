"""Every result shows itself through one door: HTML in a notebook, one line of text elsewhere."""

import ast
import re
import tomllib

import nbclient
import nbformat
import pandas as pd
import pytest
from fake_host import FakeHost
from IPython.core.formatters import DisplayFormatter
from profiler_traces import one_step, save
from tool_logs import NCCL

import peerlab
from peerlab.base import display
from peerlab.base.errors import MOST
from peerlab.features.exercises.labs.stale import ByPointer, train
from peerlab.features.exercises.logs import lab_log
from peerlab.features.exercises.tables import folded
from peerlab.records.library import measured_library
from peerlab.study.fabric_comparison import compare_fabrics

SHOWS = ("_repr_html_", "_repr_mimebundle_", "_repr_svg_", "_repr_png_", "_ipython_display_")
WIDGETS = {"peerlab/page/widgets.py"}
"""A widget's own bundle: what it shows is alive, and no picture."""


def modules(root):
    for file in sorted((root / "peerlab").rglob("*.py")):
        yield file.relative_to(root).as_posix(), ast.parse(file.read_text())


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Every result that a notebook shows, by the function of the door that shows it."""
    own = measured_library()["own/xeon-2-processors"]
    pingpong = measured_library()["juliet/osu-latency-staged"]
    return {
        display.show_run: peerlab.simulate(peerlab.Scenario(nodes=4)),
        display.show_gain: peerlab.simulate(peerlab.Scenario(nodes=4, path="peer-direct")).gain_band(
            peerlab.simulate(peerlab.Scenario(nodes=4))
        ),
        display.show_race: peerlab.race(peerlab.Scenario(nodes=4), path="peer-direct"),
        display.show_records: own,
        display.show_ratios: peerlab.ratios(own),
        display.show_fabrics: compare_fabrics(peerlab.Scenario(cluster="ideal-100g")),
        display.show_steps: peerlab.steps("ring", 3),
        display.show_diagnosis: peerlab.diagnose(peerlab.load(NCCL)),
        display.show_calibration: peerlab.calibrate(pingpong, "juliet", constants="fabric.latency"),
        display.show_doctor: peerlab.doctor(host=FakeHost(tmp_path_factory.mktemp("host")).host()),
        display.show_pin_cost: peerlab.pin_cost(["64 KiB"]),
        display.show_refusal: peerlab.show_limit("16 KiB", region="4 KiB"),
        display.show_lab_log: lab_log("B"),
        display.show_folded: folded(pd.DataFrame({"GB/s": [1.5]})),
        display.show_sums: train(ByPointer),
        display.show_step: peerlab.step(workload="resnet50"),
        display.show_choices: peerlab.choices("p5", nodes=[2], sizes="8 MiB"),
        display.show_expectation: peerlab.expect("p5", sizes="8 MiB"),
        display.show_verdict: peerlab.expect("p5", log=peerlab.load(NCCL))[0],
        display.show_profiled: peerlab.load(save(tmp_path_factory.mktemp("trace"), one_step())),
    }


def test_every_class_that_shows_itself_goes_through_the_door(root):
    """Adding a result means one function in `display`; nothing shows itself past it, and no picture is imported by text."""
    through, past, by_text = [], [], []
    for file, module in modules(root):
        for one in ast.walk(module):
            if isinstance(one, ast.FunctionDef) and one.name in SHOWS and file not in WIDGETS:
                past.append(file)
            if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) in SHOWS:
                through.append(ast.unparse(one.value))
            if (
                isinstance(one, ast.Call)
                and "import" in ast.unparse(one.func)
                and "'peerlab.picture" in ast.unparse(one)
            ):
                by_text.append(file)
    assert past == []
    assert by_text == []
    assert sorted(through) == sorted(name for name in vars(display) if name.startswith("show_"))


def test_the_contract_names_the_door_and_nothing_else(root):
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (down,) = (one for one in contracts if one["name"] == "Imports point down")
    doors = ("peerlab.picture.*", "peerlab.features.**")
    assert down["ignore_imports"][:2] == [f"peerlab.base.display -> {door}" for door in doors]


def test_every_result_is_html_in_a_notebook_and_one_line_elsewhere(results):
    assert len(results) == sum(name.startswith("show_") for name in vars(display))
    for show, result in results.items():
        assert type(result)._repr_html_ is show
        shown, _ = DisplayFormatter().format(result)
        assert shown["text/html"] == show(result) or "pl-steps" in shown["text/html"]  # whose ids are random
        assert re.search(r"<(table|pre|p)[ >]", shown["text/html"])
        assert "<script" not in shown["text/html"]
        assert shown["text/plain"] == repr(result)
        assert repr(result).isprintable()
        assert 10 < len(repr(result)) <= MOST, repr(result)


def test_a_saved_notebook_still_shows_a_result(tmp_path):
    cell = "import peerlab\npeerlab.simulate(peerlab.Scenario(nodes=2))"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    nbformat.write(notebook, tmp_path / "saved.ipynb")
    [output] = nbformat.read(tmp_path / "saved.ipynb", as_version=4).cells[0].outputs
    assert output.data["text/plain"].startswith("Run(dl1, 2 nodes, ")
    assert "<img src='data:image/svg+xml;base64," in output.data["text/html"]
