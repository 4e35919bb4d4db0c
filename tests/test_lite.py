"""What a browser's Python (Pyodide) lacks, taken away here: threads, processes, SciPy, 64 bits by default."""

import os
import threading

import nbclient
import nbformat
import numpy as np
import pytest

import peerlab
from peerlab.app.runs import Background
from peerlab.places import folder
from peerlab.view.payload import payload

LABS = sorted(folder("labs").glob("0[012]_*.ipynb" if os.environ.get("PEERLAB_SOAK") else "02_*.ipynb"))
TAKE_AWAY = """
import asyncio, subprocess, sys, threading

start = threading.Thread.start

def none(thread, *_args, **_options):
    if not type(thread).__module__.startswith("zmq"):  # the notebook's own connection
        raise RuntimeError("can't start new thread")
    start(thread)

async def in_place(_loop, _executor, function, *args):
    return function(*args)  # as Pyodide's loop does

sys.modules["scipy"] = None  # there is one; it need not be loaded
threading.Thread.start = subprocess.Popen.__init__ = none
asyncio.BaseEventLoop.run_in_executor = in_place
"""


@pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)
def test_the_first_labs_need_no_threads_processes_or_scipy(path, tmp_path):
    lab = nbformat.read(path, as_version=4)
    lab.cells.insert(0, nbformat.v4.new_code_cell(TAKE_AWAY))
    nbclient.NotebookClient(lab, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in lab.cells if cell.cell_type == "code" for output in cell.outputs]
    assert shown
    assert not [output for output in shown if output.output_type in ("stream", "error")]


def test_without_threads_a_heavy_setting_is_waited_for(monkeypatch):
    def none(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    ended = []
    scenario = peerlab.Scenario(nodes=4)
    Background(scenario, lambda _part: None, ended.append)
    assert [run.time_s for run in ended] == [peerlab.simulate(scenario).time_s]


@pytest.mark.parametrize(
    ("fields", "engine"),
    [
        ({"path": "host-rdma", "nodes": 64, "message_bytes": "1 GiB"}, "loop"),
        (
            {"cluster": "ideal-100g", "path": "wire", "nodes": 4, "message_bytes": "256 MiB", "jitter": 0.02},
            "arrays",
        ),
    ],
)
def test_whole_numbers_of_32_bits_by_default_change_no_figure(fields, engine, monkeypatch):
    """Pyodide's numpy counts with 32 bits where nothing else is said; a run's picoseconds need more."""
    scenario = peerlab.Scenario(**fields)
    run = peerlab.simulate(scenario)
    assert run.engine == engine
    figures, times = payload(run, None, 1), run.recording.unrolled["end"].copy()
    arange, full = np.arange, np.full

    def narrow(make):
        def made(*args, **options):
            array = make(*args, **options)
            plain = array.dtype == np.int64 and "dtype" not in options and len(args) < 3
            return array.astype(np.int32) if plain else array

        return made

    monkeypatch.setattr(np, "arange", narrow(arange))
    monkeypatch.setattr(np, "full", narrow(full))
    again = peerlab.simulate(scenario)
    assert again.time_s > 2**31 * 1e-12
    assert np.array_equal(again.recording.unrolled["end"], times)
    assert payload(again, None, 1) == figures
