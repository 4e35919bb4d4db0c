"""A run in a notebook: each figure is said once."""

import re

import peerlab


def rows(**scenario):
    """Return the rows of a run's figures by their names."""
    page = peerlab.simulate(peerlab.Scenario(**scenario))._repr_html_()
    cells = re.findall(r"<tr><th scope='row'>(.*?)</th><td>(.*?)</td><td>(.*?)</td></tr>", page)
    return {name: (value, note) for name, value, note in cells}


def test_how_busy_the_wire_is_stands_once_where_it_is_the_bottleneck():
    direct = rows(path="peer-direct")
    assert direct["Bottleneck"][0] == "NIC send"
    assert "% busy" in direct["Bottleneck"][1]
    assert direct["AllReduce busbw"][1] == ""
    staged = rows(path="host-rdma")
    assert staged["Bottleneck"][0] != "NIC send"
    assert staged["AllReduce busbw"][1].endswith("% busy")


def test_what_limits_a_run_stands_right_below_what_it_reaches():
    for path in ("peer-direct", "host-rdma"):
        assert list(rows(path=path))[:3] == ["AllReduce busbw", "Bottleneck", "Time for 64 MiB"]


def test_what_a_host_does_not_do_is_one_row():
    assert rows(path="peer-direct")["Copies, DRAM, CPU cores"] == ("0", "")
    assert {"Copies per byte", "DRAM per byte", "CPU cores busy"} <= set(rows(path="host-rdma"))


def test_what_a_gain_says_to_check_first_is_short_and_how_it_is_told_is_folded():
    """A parenthesis of a hundred letters in two fonts stood behind the command."""
    host, peer = (
        peerlab.simulate(peerlab.Scenario(nodes=8, path=path)) for path in ("host-rdma", "peer-direct")
    )
    shown, folded = peer.gain_band(host)._repr_html_().split("<details>")
    assert "</code> on one node tells</p>" in shown
    assert "on EFA it reads" not in shown
    assert "</code> on one node tells (on EFA it reads" in folded
