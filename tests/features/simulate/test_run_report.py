"""A run in a notebook: each figure is said once."""

import re

import peerlab


def report(**scenario):
    """Return the sentence that a run's report begins with, and the rows of its figures by their names."""
    page = peerlab.simulate(peerlab.Scenario(**scenario))._repr_html_()
    answer = re.search(r"<p class='pl-answer'>(.*?)</p>", page)[1]
    cells = re.findall(r"<tr><th scope='row'>(.*?)</th><td>(.*?)</td><td>(.*?)</td></tr>", page)
    return answer, {name: (value, note) for name, value, note in cells}


def test_a_run_begins_with_what_it_reaches_and_what_limits_that():
    """Its title was the smallest and palest of its words, and its answer a row of a table."""
    said, rows = report(path="peer-direct")
    assert said == "<b>52 GB/s</b> bus bandwidth; waits for NIC send, 92 % busy: the wire is the limit"
    assert "Bottleneck" not in rows
    assert next(iter(rows)) == "Time for 64 MiB"
    said, rows = report(cluster="ideal-100g", nodes=1)
    assert said == "<b>No time passes</b>: one rank exchanges nothing"
    assert rows["Time for 64 MiB"] == ("0 s", "1 rank")


def test_how_busy_the_wire_is_stands_once_where_it_is_the_bottleneck():
    assert "Wire" not in report(path="peer-direct")[1]
    said, rows = report(path="host-rdma")
    assert said == "<b>30.2 GB/s</b> bus bandwidth; waits for PCIe to host, 95 % busy"
    assert rows["Wire"] == ("54 % busy", "")
    assert report(cluster="gb200-nvl72", nodes=4)[1]["Wire"] == ("none", "one NVLink domain: no NIC")


def test_what_a_host_does_not_do_is_one_row():
    assert report(path="peer-direct")[1]["Copies, DRAM, cores"] == ("0", "")
    assert {"Copies per byte", "DRAM per byte", "CPU cores busy"} <= set(report(path="host-rdma")[1])


def test_what_a_gain_says_to_check_first_is_short_and_how_it_is_told_is_folded():
    """A parenthesis of a hundred letters in two fonts stood behind the command."""
    host, peer = (
        peerlab.simulate(peerlab.Scenario(nodes=8, path=path)) for path in ("host-rdma", "peer-direct")
    )
    shown, folded = peer.gain_band(host)._repr_html_().split("<details>")
    assert "</code> on one node tells</p>" in shown
    assert "on EFA it reads" not in shown
    assert "</code> on one node tells (on EFA it reads" in folded
