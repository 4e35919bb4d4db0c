"""A run in words: every span once, in the order of time, with its queue."""

import doctest
import re

import numpy as np
import pytest
from command_line import peerlab_command

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.features.simulate import explain as module

SMALL = peerlab.Scenario(nodes=2, message_bytes="512 KiB")


def test_every_span_is_told_once_in_the_order_of_time():
    run = peerlab.simulate(SMALL, engine="referee")
    lines = peerlab.explain(run).text.splitlines()[2:-1]
    spans = run.trace.last.unrolled
    times = [float(line.split(" ")[0]) for line in lines]
    assert times == sorted(times)
    assert times == pytest.approx(np.sort(spans["start"] / 1e6), abs=0.051)
    waits = sum(bool(re.search(r"it waited", line)) for line in lines)
    assert waits == int((spans["start"] > spans["queued"]).sum()) > 0


def test_who_waits_is_counted_while_the_slice_before_is_served():
    lines = peerlab.explain(peerlab.simulate(SMALL)).text.splitlines()
    assert "; 1 more waits" in lines[2]
    assert lines[2].startswith("0.0 µs: scale-up links 0 of node 0 begins slice 0 of step 0 of device 0: ")
    assert lines[-1].endswith(": all is done")


def test_what_nobody_could_read_is_refused():
    with pytest.raises(PeerlabError, match="fewer nodes or a smaller message"):
        peerlab.explain(peerlab.simulate(peerlab.Scenario(nodes=32, message_bytes="256 MiB")))


def test_the_example_runs():
    assert doctest.testmod(module) == (0, 3)


def test_the_command_says_the_same():
    status, out, _ = peerlab_command(
        "simulate", "--nodes", "2", "--message", "512 KiB", "--path", "host-rdma", "--explain"
    )
    assert (status, out) == (0, peerlab.explain(peerlab.simulate(SMALL)).text + "\n")
    for more in ([], ["--path", "host-rdma", "--json"], ["--path", "host-rdma", "--sensitivity"]):
        assert peerlab_command("simulate", "--nodes", "2", "--explain", *more)[0] == 1


def test_what_is_no_run_is_refused():
    with pytest.raises(PeerlabError, match="give a run, as simulate returns it, not 3"):
        peerlab.explain(3)


def test_the_referee_says_while_it_runs_what_is_explained_afterwards(caplog):
    caplog.set_level("DEBUG", "peerlab.referee")
    run = peerlab.simulate(SMALL.with_(message_bytes="64 KiB", iterations=1), engine="referee")
    lines = [record.getMessage() for record in caplog.records]
    explained = peerlab.explain(run).text.splitlines()[2:-1]
    begun = {line for line in lines if " begins " in line}
    assert len(begun) > 20
    assert begun <= {line.partition(": ")[0] + ": " + line.split(": ")[1] for line in explained}
    assert lines[-1].startswith(explained[-1].split(" ")[0])
