"""The list of features: each folder has its record, and what a record names is there."""

import ast
import subprocess
import sys
from collections import Counter
from importlib import import_module

import pytest

import peerlab
from peerlab.base.feature import load, registered
from peerlab.cli.commands import command_line
from peerlab.features import NAMES, features


def test_the_list_has_every_folder(root):
    folders = {file.parent.name for file in (root / "peerlab" / "features").glob("*/__init__.py")}
    assert set(NAMES) == folders


@pytest.mark.parametrize("name", NAMES)
def test_what_a_record_names_is_there(name, root):
    feature = features()[name]
    assert feature.asks.endswith("?")
    assert feature.answers
    assert (root / feature.document).is_file()
    for places in (feature.shows, feature.traces, feature.offers):
        assert all(callable(load(place)) for place in places.values())
    assert all(hasattr(import_module(module), "add") for module in feature.commands.values())
    assert all(callable(getattr(peerlab, public)) for public in feature.functions)


def test_the_command_line_and_the_public_names_are_those_of_the_records():
    _, commands = command_line()
    assert list(commands) == [command for one in features().values() for command in one.commands]
    public = {name for one in features().values() for name in one.functions}
    assert public <= set(peerlab.__all__)
    assert public <= set(dir(peerlab))


def test_no_two_features_have_one_name_for_two_things():
    for table in ("commands", "functions", "shows", "traces", "offers"):
        names = [name for one in features().values() for name in getattr(one, table)]
        assert len(names) == len(set(names)), table


def test_a_type_of_result_that_is_in_no_record_is_named():
    with pytest.raises(LookupError, match="no feature has 'Nothing' in 'shows'"):
        registered("shows", "Nothing")


def test_the_list_loads_no_feature():
    script = "import sys, peerlab.features as f; f.features(); print(len([n for n in sys.modules if n.startswith('peerlab.')]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= len(NAMES) + 6


_NOT_AT_FIRST = "the lab's first picture does not wait for what a panel needs that few open"
LATE = {
    ("peerlab/app/explore.py", "peerlab.app.panels.log_findings"): _NOT_AT_FIRST,
    (
        "peerlab/picture/bokeh_document.py",
        "peerlab.picture.plots.built_document",
    ): "figures that were built before are read, and Bokeh is not loaded",
    ("peerlab/app/panels/own_log.py", "peerlab.app.panels.log_findings"): _NOT_AT_FIRST,
    ("peerlab/app/panels/machine_panel.py", "peerlab.features.clusters.drafted_file"): _NOT_AT_FIRST,
    ("peerlab/app/panels/background_measurement.py", "peerlab.features.measure.stream"): _NOT_AT_FIRST,
    (
        "peerlab/features/site/tab.py",
        "peerlab.features.site.tab_log",
    ): "a tab's first answer does not wait for what reads logs",
    (
        "peerlab/cli/__init__.py",
        "peerlab.cli.commands",
    ): "Ctrl+C ends a command in a line while it is being loaded, too",
    ("peerlab/engine/compiled/refusals.py", "peerlab.engine.compiled"): "numba is an extra: it is tried",
    (
        "peerlab/training/answer_step.py",
        "peerlab.training.uneven_world",
    ): "SimPy is loaded by whoever asks for the referee",
    (
        "peerlab/engine/recording.py",
        "peerlab.engine.compiled.compiled_line",
    ): "numba is an extra, and takes a second",
    (
        "peerlab/engine/exchange_apart.py",
        "peerlab.engine.compiled.compiled_line",
    ): "numba is an extra, and takes a second",
    (
        "peerlab/engine/exchange_apart.py",
        "peerlab.engine.compiled.compiled_ring",
    ): "numba is an extra, and takes a second",
    (
        "peerlab/engine/ports/simulate_ports.py",
        "peerlab.engine.referee.port_processes",
    ): "SimPy is loaded for who asks for the referee",
    (
        "peerlab/engine/recording.py",
        "peerlab.engine.referee.processes",
    ): "SimPy is loaded for who asks for the referee",
    (
        "peerlab/features/clusters/cluster_draft.py",
        "peerlab.engine.simulate",
    ): "a draft is written without a simulation, mostly",
    ("peerlab/features/clusters/cluster_draft.py", "peerlab.picture.still"): "likewise without a picture",
    (
        "peerlab/features/doctor/host.py",
        "peerlab.machine.attempts",
    ): "needs Linux, which reading a report does not",
    (
        "peerlab/features/measure/ranks/worker.py",
        "peerlab.features.measure.cuda.cuda_memory",
    ): "who has no accelerator has no binding to its driver",
    (
        "peerlab/features/validate/validate_command.py",
        "peerlab.features.validate.expected_page",
    ): "Bokeh is an extra",
    (
        "peerlab/training/answer_step.py",
        "peerlab.training.whole_step",
    ): "SimPy is loaded for who asks for the referee",
}
"""Imports of peerlab's own inside a function, with the reason of each."""


def test_an_import_inside_a_function_has_a_reason(root):
    late = set()
    for file in (root / "peerlab").rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                late |= {
                    (file.relative_to(root).as_posix(), one.module)
                    for one in ast.walk(function)
                    if isinstance(one, ast.ImportFrom) and (one.module or "").startswith("peerlab")
                }
    assert late == set(LATE)


MOST_MODULES = 12
MANY_ALIKE = {
    "exercises/labs": "the exercises of a lab in each",
    "exercises/labs/unseen": "a transfer task in each",
    "deck/kinds": "a kind of slide in each",
}
"""Folders that have more modules, with the reason."""


def test_a_folder_of_a_feature_has_at_most_a_dozen_modules(root):
    places = root / "peerlab" / "features"
    counts = Counter(
        file.parent.relative_to(places).as_posix()
        for file in places.rglob("*.py")
        if file.name != "__init__.py"
    )
    assert {name for name, count in counts.items() if count > MOST_MODULES} == set(MANY_ALIKE)
