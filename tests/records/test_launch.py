"""What a command line says: ranks, nodes, hosts and the environment that matters."""

import pytest

from peerlab.records.launch import read_launch


@pytest.mark.parametrize(
    ("text", "ranks", "nodes", "hosts"),
    [
        ("$ srun -N2 ./osu_bw D D", 2, 2, ()),
        ("$ srun -N 2 --ntasks-per-node=4 osu_alltoall", 8, 2, ()),
        ("+ srun --nodes=4 --ntasks 8 osu_allreduce", 8, 4, ()),
        ("ada@login:~/x$ mpirun -np 16 -N 8 /opt/bin/all_reduce_perf -b 8 -n 20", 16, 2, ()),
        ("mpirun -np 16 --map-by ppr:8:node all_reduce_perf", 16, 2, ()),
        ("mpirun -H one:8,two:8 -np 16 all_reduce_perf", 16, 2, ("one", "two")),
        ("mpiexec -n 4 -ppn 2 ./osu_latency", 4, 2, ()),
        ("FI_PROVIDER=efa ./all_reduce_perf -g 8", None, None, ()),
        ("srun -w nid[001-004] -N4 osu_bw", 4, 4, ()),
        ("mpirun -np 2 'unclosed osu_bw", 2, None, ()),
    ],
)
def test_ranks_nodes_and_hosts(text, ranks, nodes, hosts):
    launch = read_launch(text)
    assert (launch.ranks, launch.nodes, launch.hosts) == (ranks, nodes, hosts)
    assert launch.binary in text


@pytest.mark.parametrize(
    "text",
    [
        "# Collective test starting: all_reduce_perf",
        "[nid1:31808] [ 8] /env/osu_iallreduce[0x40424c]",
        "the results of osu_bw are below",
        "srun: error: nid1",
    ],
)
def test_other_lines_are_no_commands(text):
    assert read_launch(text) is None


def test_of_the_environment_only_what_tells_about_the_transport_is_kept():
    text = "mpirun -x FI_PROVIDER=efa -x TOKEN=secret -genv UCX_TLS rc,cuda -x PATH -np 2 osu_bw -d cuda D D"
    launch = read_launch(text)
    assert launch.environment == {"FI_PROVIDER": "efa", "UCX_TLS": "rc,cuda"}
    assert launch.words == ("-d", "cuda", "D", "D")
