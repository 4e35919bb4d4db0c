"""What is shared tells what was measured, not where and by whom."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_logs import GOOD, NCCL, NCCL_LABELLED, OSU_CRASHED, OSU_LATENCY

import peerlab
from peerlab.records import Records

NAMES = st.text("bcdfghjkmnpqrtvwxz", min_size=6, max_size=12).map(lambda text: f"q{text}7")
"""Names that no tool prints."""
ADDRESSES = st.tuples(*[st.integers(100, 199)] * 4).map(lambda parts: ".".join(map(str, parts)))

TOPOLOGY = """\
worker-0:21:21 [0] NCCL INFO NET/OFI Setting NCCL_TOPO_FILE to /opt/{user}/share/topo.xml
worker-0:21:21 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:{address}<0>
worker-1:21:21 [0] NCCL INFO NET/Socket : Using [0]eth0:fe80::1ff:fe23:4567:890a%eth0<0> on {host}.lab.example.org
worker-1:21:21 [0] NCCL INFO NET/OFI asked {user}@{host} at 0a:1b:2c:3d:4e:5f
"""


@given(hosts=st.lists(NAMES, min_size=2, max_size=2, unique=True), user=NAMES, address=ADDRESSES, name=st.sampled_from(sorted(GOOD)))  # fmt: skip
def test_no_name_of_the_log_is_left(tmp_path_factory, hosts, user, address, name):
    folder = tmp_path_factory.mktemp(user)
    text = GOOD[name].replace("anvil01", hosts[0]).replace("anvil02", hosts[1]).replace("ada", user)
    text = text.replace("worker-0", hosts[0]).replace("worker-1", hosts[1]).replace("10.11.13.106", address)
    if name != "NCCL_JSON":
        text += TOPOLOGY.format(user=user, host=hosts[0], address=address)
    log, shared = folder / f"{user}-on-{hosts[1]}.log", folder / "shared.csv"
    log.write_text(text)
    records = peerlab.load(log)
    records.anonymised().save(shared)
    kept = shared.read_text()
    telltale = [*hosts, user, address, "fe80", "0a:1b:2c", "example.org", "/opt", "/home", str(folder)]
    assert [one for one in telltale if one in kept] == []
    figures = records.table.drop(columns="source")
    assert peerlab.load(shared).table.drop(columns="source").equals(figures)


def test_the_same_name_has_the_same_stand_in_everywhere():
    found = peerlab.load(
        NCCL_LABELLED.replace("Bootstrap", "NET/Socket") + "x:1:1 [0] NCCL INFO NET/IB worker-1\n"
    )
    manifest = found.anonymised().manifest
    assert manifest["hosts"] == ["host-1", "host-2"]
    assert "NET/IB host-2" in manifest["transport"]
    assert "NET/Socket : Using eth0:address-1<0>" in manifest["transport"]


def test_what_a_diagnosis_needs_stays():
    before, after = peerlab.load(OSU_LATENCY), peerlab.load(OSU_LATENCY).anonymised()
    for name in ("tool", "version", "test", "ranks", "nodes", "transport", "environment", "devices"):
        assert after.manifest[name] == before.manifest[name]
    assert after.manifest["command"] == (
        "mpirun -H ... -x ... -x UCX_IB_GPU_DIRECT_RDMA=0 -np 2 osu_latency -d cuda D D"
    )
    assert peerlab.load(NCCL).anonymised().manifest["command"] == (
        "srun -N2 --ntasks-per-node=2 ... all_reduce_perf -b 8 -e 32M -f 64"
    )
    assert peerlab.load(NCCL).anonymised().manifest["devices"] == ["NVIDIA GH200 120GB"]


def test_several_logs_keep_apart_and_warnings_lose_their_quotes(tmp_path):
    files = [tmp_path / "ada.log", tmp_path / "bob.log"]
    for file in files:
        file.write_text(
            OSU_CRASHED.replace("[anvil01:31808] ***", "4 30.00 14.00 15.50 96.00\n[anvil01:31808] ***")
        )
    found = Records.together(map(peerlab.load, files)).anonymised()
    assert found.sources == ["osu: source-1", "osu: source-2"]
    assert "osu: source-2: line 6: the log reports: '...'" in found.warnings
    text = json.dumps(found.manifest) + "".join(found.warnings)
    assert not any(name in text for name in ("anvil01", "ada", "bob"))


@pytest.mark.parametrize(
    "word", ["anvil03", "--reservation=secret", "FOO=bar", "/home/ada/x.sh", "a@b", "-Asecret", "-w n[1-2]"]
)
def test_words_of_a_command_are_kept_only_if_they_are_known(word):
    kept = peerlab.load(NCCL.replace("--mpi=pmix", f"--mpi=pmix {word}")).anonymised().manifest["command"]
    option = "... -w ..." if word.startswith("-w") else "..."
    assert kept == f"srun -N2 --ntasks-per-node=2 {option} all_reduce_perf -b 8 -e 32M -f 64"
