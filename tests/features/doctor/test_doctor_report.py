"""The verdict, and hosts of which little or only nonsense can be read."""

import json
import os
import subprocess
import sys

import pytest
from fake_host import FakeHost
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import DoctorError
from peerlab.features.doctor import host as host_module
from peerlab.features.doctor.check import DEVICE_MEMORY
from peerlab.features.doctor.checks.variables import RULES
from peerlab.features.doctor.host import Host
from peerlab.features.doctor.report import CHECKS, examine


@pytest.fixture
def fake(tmp_path):
    return FakeHost(tmp_path)


def empty(root, answer=None):
    return Host(root=root, environment={}, locked_memory_bytes=65536, run=lambda *_: answer)


def test_a_container_without_rdma_cannot_and_shows_the_rest(tmp_path):
    report = examine(empty(tmp_path))
    assert report.verdict == "no"
    assert report.says.startswith("No: no RDMA device;")
    found = {one.check.id: one.status for one in report.findings}
    assert len(found) == len(CHECKS)
    failing = {"rdma-device", "device-node", "accelerator", "locked-memory"}
    assert {name for name, status in found.items() if status == "fail"} == failing
    assert {status for name, status in found.items() if name not in failing} == {"unknown", "pass"}
    assert found["environment"] == "pass"


def test_what_is_unknown_and_could_block_makes_the_verdict_unknown(fake):
    fake.remove("proc/driver/nvidia/version")
    report = examine(fake.host())
    assert report.verdict == "cannot tell"
    assert report.because == ("NVIDIA's driver does not say its version, and no nvidia_peermem is loaded",)
    assert [one.blocks for one in report.findings if one.status == "unknown"] == [DEVICE_MEMORY]


def test_what_is_unknown_and_only_slows_does_not(fake):
    for index in range(4):
        (fake.device(f"0000:{index}1:00.0") / "config").write_bytes(bytes(64))
    assert examine(fake.host()).verdict == "yes"


def test_a_warning_is_told_beside_yes(fake):
    fake.environment["FI_MR_CACHE_MAX_COUNT"] = "0"
    says = examine(fake.host()).says
    assert says.startswith(
        "Yes: nothing that was read stands against it, but look at this: FI_MR_CACHE_MAX_COUNT=0."
    )


def test_what_the_answer_names_is_said_in_a_few_words_and_comes_first(fake):
    fake.write("sys/class/net/eth1/mtu", "1500")
    fake.environment["NCCL_IB_DISABLE"] = "1"
    report = examine(fake.host())
    assert report.says == "No: NCCL_IB_DISABLE=1."
    assert [one.check.id for one in report.findings if one.status != "pass"] == ["mtu", "environment"]
    _, in_order = report.groups[0]
    assert [one.check.id for one in in_order][:2] == ["environment", "mtu"]
    assert list(in_order[2:]) == [one for one in report.findings if one in in_order[2:]]
    page = report._repr_html_()
    assert page.index("<code>environment<") < page.index("<code>mtu<")


def test_part_of_the_checks_is_enough_for_no_but_not_for_yes(fake):
    part = examine(fake.host(), "kernel")
    assert [one.check.id for one in part.findings] == ["kernel"]
    assert part.verdict == "cannot tell"
    assert part.because == ("8 checks left out",)
    fake.write("proc/sys/kernel/osrelease", "4.18.0")
    assert examine(fake.host(), "kern*").verdict == "no"


def test_checks_are_chosen_by_parts_and_patterns(fake):
    names = [one.check.id for one in examine(fake.host(), ["memory", "pin-*"]).findings]
    assert names == ["peer-memory", "locked-memory", "pin-io-uring", "pin-mlock", "shared-memory"]


def test_a_check_that_there_is_not_is_refused_with_the_nearest(fake):
    with pytest.raises(DoctorError, match="only: no check matches 'numma'; did you mean 'numa'"):
        examine(fake.host(), "numma")


def test_several_variables_are_all_told_the_worst_first(fake):
    fake.environment.update(FI_MR_CACHE_MAX_COUNT="0", NCCL_NET_GDR_LEVEL="loc", NCCL_IB_DISABLE="1")
    (one,) = examine(fake.host(), "environment").findings
    settings = [clause.partition(":")[0] for clause in one.found.split("; ")]
    assert settings == ["NCCL_IB_DISABLE=1", "NCCL_NET_GDR_LEVEL=loc", "FI_MR_CACHE_MAX_COUNT=0"]
    assert one.blocks == ("peer-direct", "host-rdma", "receive-direct")
    assert "unset FI_MR_CACHE_MAX_COUNT" in one.mend


def test_every_rule_and_check_names_its_source():
    assert [
        one.id for one in CHECKS if not all((one.title, one.where, one.rule, one.why, one.mend, one.source))
    ] == []
    assert [one.variable for one in RULES if not all((one.setting, one.does, one.mend, one.source))] == []


def test_everything_is_json(fake):
    said = json.loads(json.dumps(examine(fake.host()).as_dict()))
    assert said["peer_direct"] == "yes"
    assert {"id", "title", "status", "found", "where", "rule", "why", "mend", "blocks", "source"} <= set(
        said["checks"][0]
    )


def test_a_command_that_hangs_fails_or_is_not_there_is_no_answer(monkeypatch):
    monkeypatch.setattr(host_module, "_PATIENCE_S", 0.3)
    assert host_module.run_command(["sleep", "60"], dict(os.environ)) is None
    assert host_module.run_command(["false"], dict(os.environ)) is None
    assert host_module.run_command(["no-such-command"], {}) is None
    assert host_module.run_command(["echo", "8"], dict(os.environ)) == "8\n"


def test_this_host_is_examined_for_real():
    host = Host()
    report = examine(host)
    assert len(report.findings) == len(CHECKS)
    assert host.libfabric is not None
    assert host.why_not("memfd") == ""  # every Linux this runs on has it


def test_what_forces_a_provider_does_not_hide_the_others():
    assert Host(environment={**os.environ, "FI_PROVIDER": "no-such"}).libfabric == Host().libfabric


# The interpreter itself may lie where only root can read; so it starts as root and then becomes nobody.
AS_NOBODY = """
import contextlib, io, os, sys
from peerlab.cli.commands import run
with contextlib.redirect_stdout(io.StringIO()):
    run(["doctor", "--json"])  # loads all that it needs
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(run(["doctor", "--json"]))
"""


def test_an_ordinary_user_is_answered():
    done = subprocess.run([sys.executable, "-c", AS_NOBODY], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    said = json.loads(done.stdout)
    assert done.returncode == (1 if said["peer_direct"] == "no" else 0)
    assert len(said["checks"]) == len(CHECKS)


# ---- nonsense ------------------------------------------------------------------------------------------------------

NASTY = [b"", b"\x00", b"-1", b"9" * 5000, b"9" * 5000 + b" Gb/sec", b"1.2.3 GT/s", b"0x" + b"f" * 400, b"\xff\xfe<b>\x1b[31m",
         b"../../etc/passwd", b"5.15\x00/../x", b"\x1f\x8b\x08garbage"]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["path", "version", "providers"]), inner)
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    fake = FakeHost(tmp_path_factory.mktemp("nonsense"))
    fake.write("proc/config.gz", "")
    fake.write("proc/kallsyms", "")
    fake.write("proc/self/status", "")
    return fake


@given(st.data())
def test_nonsense_in_any_file_is_survived_and_never_shown_raw(tree, data):
    file = data.draw(st.sampled_from(sorted(path for path in tree.root.rglob("*") if path.is_file())))
    before = file.read_bytes()
    file.write_bytes(data.draw(st.sampled_from(NASTY) | st.binary(max_size=300)))
    try:
        report = examine(tree.host())
    finally:
        file.write_bytes(before)
    assert report.verdict in {"yes", "no", "cannot tell"}
    assert all(one.found.isprintable() and len(one.found) <= 400 for one in report.findings)


@given(st.dictionaries(st.sampled_from(sorted({rule.variable for rule in RULES})), st.text(max_size=12)))
def test_nonsense_in_variables_is_survived(tree, environment):
    host = Host(root=tree.root, environment=environment, locked_memory_bytes=None, run=tree.run)
    (one,) = examine(host, "environment").findings
    assert one.found.isprintable()


@given(JSON)
def test_nonsense_from_commands_is_survived(tree, answer):
    host = Host(root=tree.root, environment={}, locked_memory_bytes=None, run=lambda *_: json.dumps(answer))
    report = examine(host)
    assert {one.status for one in report.findings} <= {"pass", "warn", "fail", "unknown"}


# ---- in Python and on the command line -------------------------------------------------------------------------------


def test_a_notebook_gets_a_table_with_all_text_escaped(fake):
    fake.write("proc/driver/nvidia/version", "<script>alert(1)</script> & co")
    fake.environment["FI_PROVIDER"] = "tcp<img src=x onerror=alert(1)>"
    page = peerlab.doctor(host=fake.host())._repr_html_()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in page
    assert page.count("<th scope='row'>") == len(CHECKS)
    assert "No: no nvidia_peermem, and not the open kernel module" in page
