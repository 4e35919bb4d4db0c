"""What a command line says: ranks, nodes, hosts and the environment that matters."""

import pytest
from tool_logs import HCCL, NCCL, NCCL_JSON, OSU_ALLTOALL

import peerlab
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
        ("$ mpirun -np 16 -N 8 /usr/local/bin/all_reduce_perf_mpi -b 8", 16, 2, ()),
        ("srun -N2 --ntasks-per-node=8 numactl -N 1 --membind=1 ./all_reduce_perf-2.18+cuda12", 16, 2, ()),
        ("nice -n 10 /opt/nccl-tests/build/alltoall_perf_mpi -g 8", None, None, ()),
        ("srun -N 4 -n 32 bash -c 'NCCL_DEBUG=INFO ./all_gather_perf_mpi -b 8'", 32, 4, ()),
        ("/usr/bin/time mpiexec.hydra -n 8 -ppn 4 taskset -c 0-7 ./reduce_scatter_perf.x -b 8", 8, 2, ()),
    ],
)
def test_ranks_nodes_and_hosts(text, ranks, nodes, hosts):
    launch = read_launch(text)
    assert (launch.ranks, launch.nodes, launch.hosts) == (ranks, nodes, hosts)
    assert launch.binary in text
    assert launch.binary.endswith("_perf") or launch.binary.startswith("osu_")


@pytest.mark.parametrize(
    "text",
    [
        "# Collective test starting: all_reduce_perf",
        "[nid1:31808] [ 8] /env/osu_iallreduce[0x40424c]",
        "the results of osu_bw are below",
        "srun: error: nid1",
        "tail -f all_reduce_perf.log",
        "wrote all_reduce_perf_mpi.json",
    ],
)
def test_other_lines_are_no_commands(text):
    assert read_launch(text) is None


def test_of_the_environment_only_what_tells_about_the_transport_is_kept():
    text = "mpirun -x FI_PROVIDER=efa -x TOKEN=secret -genv UCX_TLS rc,cuda -x PATH -np 2 osu_bw -d cuda D D"
    launch = read_launch(text)
    assert launch.environment == {"FI_PROVIDER": "efa", "UCX_TLS": "rc,cuda"}
    assert launch.words == ("-d", "cuda", "D", "D")


def test_a_log_of_a_program_with_a_suffix_is_read_by_its_name():
    for text in (NCCL.replace("_perf", "_perf_mpi"), NCCL_JSON.replace("_perf", "_perf_mpi")):
        found = peerlab.load(text)
        assert set(found.table["collective"]) == {"allreduce"}
        assert found.manifest["test"] == "all_reduce_perf"
        assert "all_reduce_perf_mpi" in found.manifest["command"]
    lines = NCCL.splitlines()
    bare = "\n".join([lines[0].replace("all_reduce", "sendrecv").replace("_perf", "_perf_ada"), *lines[3:]])
    assert set(peerlab.load(bare).table["collective"]) == {"point-to-point"}
    assert "ada" not in peerlab.load(bare).anonymised().manifest["command"]


def test_each_of_several_logs_in_a_file_has_its_own_command():
    small = OSU_ALLTOALL.replace("-N2", "-N1")
    found = peerlab.load(small + OSU_ALLTOALL).table
    assert list(found["size_bytes"]) == [4, 4 * 2**20, 8, 8 * 2**20]
    assert list(found["nodes"]) == [1, 1, 2, 2]


def test_a_number_of_ranks_that_is_none_is_told():
    found = peerlab.load(OSU_ALLTOALL.replace("--ntasks-per-node=4", "--ntasks-per-node=4x"))
    assert "line 1: doubtful: the command's '--ntasks-per-node 4x' is no number" in found.warnings
    found = peerlab.load(HCCL.replace("HCCL_RANKS_PER_NODE=4", "HCCL_RANKS_PER_NODE="))
    assert "line 2: doubtful: the command's 'HCCL_RANKS_PER_NODE' is no number" in found.warnings
