"""A message of too many slices takes what its shorter ones show, and is simulated whole where they would mislead."""

import pytest

import peerlab
from peerlab.engine.long_messages import simulated_in_place, time_ps
from peerlab.features.expect.expecting import usual_path

GIB = 2**30


@pytest.mark.parametrize(
    ("cluster", "nodes", "size"),
    [("g4dn-metal", 2, GIB), ("p5", 64, 8 * GIB), ("alps-gh200", 16, GIB)],
)
def test_a_long_message_takes_what_all_of_its_slices_take(cluster, nodes, size):
    machine = peerlab.load_cluster(cluster)
    asked = peerlab.Scenario(cluster=machine, nodes=nodes, path=usual_path(machine), message_bytes=size)
    assert simulated_in_place(asked).nbytes < size
    assert time_ps(asked) == pytest.approx(peerlab.simulate(asked).time_ps, rel=1e-6)


def test_a_long_message_is_simulated_whole_where_the_library_treats_shorter_ones_otherwise():
    asked = peerlab.Scenario(cluster="p5", nodes=2, path="peer-direct", message_bytes="64 MiB")
    assert simulated_in_place(asked) is asked
