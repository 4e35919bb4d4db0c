"""A simulation that takes too long to wait for goes to a thread, where there are threads."""

import threading

import peerlab
from peerlab.app.runs import Background


def test_without_threads_a_heavy_setting_is_waited_for(monkeypatch):
    """Python in a browser (Pyodide) has none."""

    def none(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    ended = []
    scenario = peerlab.Scenario(nodes=4)
    Background(scenario, lambda _part: None, ended.append)
    assert [run.time_s for run in ended] == [peerlab.simulate(scenario).time_s]
