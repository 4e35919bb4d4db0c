"""Constants that are known are found again; what a log cannot tell is said."""

import json
import subprocess
import sys
from datetime import date

import numpy as np
import pytest
from command_line import peerlab_command
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st
from logs import DIRECT_US, KIB, MIB, STAGED_US, osu

import peerlab
from peerlab import Records
from peerlab.answer.sensitivity import changed
from peerlab.base.errors import Cancelled
from peerlab.question.completeness import check

ALL_SIZES = [1, 64, KIB, 16 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB]
LARGE = [16 * MIB, 24 * MIB, 32 * MIB, 48 * MIB, 64 * MIB]
SMALL = [1, 8, 64, 128, 256]


def simulated(constants, sizes=ALL_SIZES, noise=0.0, **fields):
    """Return what a benchmark would measure on a cluster with these constants."""
    given = {
        "cluster": "juliet",
        "nodes": 2,
        "path": "peer-direct",
        "collective": "point-to-point",
        "registration": "pool",
    }
    base = peerlab.Scenario(**given | fields)
    random = np.random.default_rng(1)
    rows = [
        {"kind": "imported", "source": "osu: made", "collective": base.collective, "variant": "latency",
         "size_bytes": size, "ranks": base.ranks, "nodes": 2, "registration": base.registration,
         "time_s": peerlab.simulate(changed(base.with_(message_bytes=size), constants.items())).time_s
         * random.lognormal(0, noise)}
        for size in sizes
    ]  # fmt: skip
    return Records.of(rows, {"tool": "osu", "transport": ["D D"]})


def of(found, key):
    (constant,) = (one for one in found.constants if one.key == key)
    return constant


@pytest.mark.long("noise")
@examples(part=3)  # each fits anew
@given(st.floats(4.1, 5.9), st.floats(12.6, 24.5))
def test_known_constants_are_found_again(latency, rate):
    true = {"fabric.latency": latency, "nic.rate": rate}
    found = peerlab.calibrate(simulated(true), "juliet", path="peer-direct")
    for key, value in true.items():
        constant = of(found, key)
        assert constant.identified
        assert constant.low * 0.999 <= value <= constant.high * 1.001
        assert constant.value == pytest.approx(value, rel=0.003)
    assert found.error_after < 0.001


def test_with_noise_the_interval_is_wide_enough_and_outliers_do_not_pull():
    true = {"fabric.latency": 5.5, "nic.rate": 20.0}
    records = simulated(true, sizes=[*ALL_SIZES, 2 * MIB, 8 * MIB, 32 * MIB], noise=0.03)
    # one size at which the library chose badly
    records = with_column(records, lambda table: table["time_s"].where(table.index != 4, 5 * table["time_s"]))
    found = peerlab.calibrate(records, "juliet", path="peer-direct")
    for key, value in true.items():
        constant = of(found, key)
        assert constant.low <= value <= constant.high
        assert 0.001 < constant.high / constant.low - 1 < 0.3
    assert 0.005 < found.error_left_out < 0.1


def test_staging_of_large_messages_tells_the_copy_engine_and_not_the_wire_that_never_limits():
    found = peerlab.calibrate(
        simulated({"device.copy_engine": 9.0}, LARGE, path="host-rdma"), "juliet", path="host-rdma"
    )
    assert of(found, "device.copy_engine").value == pytest.approx(9.0, rel=0.01)
    assert not of(found, "nic.rate").identified


def test_what_was_left_out_later_was_fitted_instead_of_nothing():
    found = peerlab.calibrate(
        osu(STAGED_US, command="osu_latency D D"), "juliet", path="host-rdma", smallest_bytes="1 MiB"
    )
    untold = {one.key for one in found.constants if not one.identified}
    assert untold == {"fabric.latency", "nic.rate"}
    assert of(found, "nic.rate").remark == "only together with fabric.latency, which it cannot tell either"


def test_large_messages_alone_cannot_tell_the_latency():
    found = peerlab.calibrate(
        simulated({"fabric.latency": 5.5, "nic.rate": 20.0}, LARGE), "juliet", path="peer-direct"
    )
    latency = of(found, "fabric.latency")
    assert (latency.identified, latency.value) == (False, latency.before)
    assert latency.remark == "no size of this log feels it"
    assert of(found, "nic.rate").value == pytest.approx(20, rel=0.01)


def test_small_messages_alone_cannot_tell_the_rate():
    found = peerlab.calibrate(
        simulated({"fabric.latency": 5.5, "nic.rate": 20.0}, SMALL), "juliet", path="peer-direct"
    )
    assert not of(found, "nic.rate").identified
    assert of(found, "fabric.latency").value == pytest.approx(5.5, rel=0.01)


def test_what_the_library_adds_per_hop_and_message_is_found_again():
    sizes = [2**n for n in range(3, 30, 2)]
    true = {"library.hop": 9, "library.message": 13.5}
    records = simulated(true, sizes, cluster="azure-nd-a100-v4", collective="allreduce")
    records.manifest["tool"] = "nccl-tests"
    base = peerlab.load_cluster("azure-nd-a100-v4")
    wide = peerlab.Scenario(cluster=base, nodes=2).hardware.with_figure("library.hop", 4, range=(2, 12))
    found = peerlab.calibrate(records, wide, path="peer-direct", constants=list(true), smallest_bytes=8)
    assert of(found, "library.hop").value == pytest.approx(9, rel=0.05)
    assert of(found, "library.message").value == pytest.approx(13.5, rel=0.1)
    assert found.error_after < found.error_before


def test_registration_per_transfer_tells_what_registering_costs():
    records = simulated({"registration.base": 200, "registration.per_page": 0.1}, registration="per-transfer")
    found = peerlab.calibrate(
        records, "juliet", path="peer-direct", constants=["registration.base", "registration.per_page"]
    )
    assert of(found, "registration.base").value == pytest.approx(200, rel=0.02)
    assert of(found, "registration.per_page").value == pytest.approx(0.1, rel=0.05)


def test_a_fit_says_itself_whether_it_can_be_used():
    good = peerlab.calibrate(
        simulated({"fabric.latency": 5.5, "nic.rate": 20.0}), "juliet", path="peer-direct"
    )
    assert (good.verdict, good.why) == ("good", ())
    assert not any(good.worse)


def test_a_log_of_another_path_makes_a_bad_fit_whose_intervals_are_not_believed(tmp_path):
    """Staged messages, fitted as if they had been direct: the rate goes to the end of its range and stays too fast."""
    staged = osu(STAGED_US, command="osu_latency D D")
    bad = peerlab.calibrate(staged, "juliet", path="peer-direct", smallest_bytes="1 MiB")
    rate = of(bad, "nic.rate")
    assert bad.verdict == "bad"
    assert "a fit that can be used has a median error of 15 % at most" in bad.why[0]
    assert rate.at_end
    assert rate.high / rate.low < 1.01 < rate.bounds[1] / rate.bounds[0]
    assert any("intervals are cut off there" in one for one in bad.why)
    bad.save(tmp_path / "bad.toml")
    figure = peerlab.load_cluster(tmp_path / "bad.toml").figures["nic.rate"]
    assert figure.range == rate.bounds  # and not the interval, which pretends to know
    assert "may be beyond" in figure.assumption


def with_column(records, values, column="time_s"):
    """Return records with one column computed anew from their table."""
    table = records.table
    return Records(table.assign(**{column: values(table)}), records.manifest)


def test_a_size_that_a_fit_loses_is_named_and_spoils_nothing_alone():
    records = simulated({"fabric.latency": 5.9}, SMALL)
    records = with_column(records, lambda table: table["time_s"].where(table["size_bytes"] != 64, 4e-6))
    found = peerlab.calibrate(records, "juliet", path="peer-direct", constants="fabric.latency")
    assert list(found.sizes[found.worse]) == [64]
    assert (found.verdict, found.why) == ("good", ("1 of 5 sizes came out worse than before (64 B)",))


def test_what_was_measured_inside_one_machine_fits_no_cluster():
    own = Records.of([{"kind": "measured", "collective": "allreduce", "size_bytes": MIB * n, "ranks": 2, "nodes": 1,
                       "time_s": 1e-3 * n, "path": "staged"} for n in (1, 2, 4)])  # fmt: skip
    with pytest.raises(peerlab.PeerlabError, match="'staged' is no data path of a cluster"):
        peerlab.calibrate(own, "juliet")


def test_a_saved_cluster_is_complete_and_every_fitted_number_says_where_it_comes_from(tmp_path):
    found = peerlab.calibrate(
        osu(DIRECT_US, command="osu_latency D D"), "juliet", path="peer-direct", today=date(2026, 2, 3)
    )
    file = tmp_path / "mine.toml"
    found.save(file)
    report = check(file)
    assert report.complete, (report.missing, report.wrong)
    cluster = peerlab.load_cluster(file)
    assert (cluster.name, cluster.paths) == ("mine", peerlab.load_cluster("juliet").paths)
    rate = cluster.figures["nic.rate"]
    assert rate.source == "point-to-point of 1 B to 4 MiB, osu: typed, calibrated on 2026-02-03"
    assert rate.range[0] <= rate.value <= rate.range[1]
    assert "95 % interval" in rate.assumption
    assert cluster.fitted_on.startswith("point-to-point of 1 B to 4 MiB")
    assert (
        cluster.figures["device.copy_engine"] == peerlab.load_cluster("juliet").figures["device.copy_engine"]
    )
    run = peerlab.simulate(
        peerlab.Scenario(
            cluster=file,
            path="peer-direct",
            nodes=2,
            collective="point-to-point",
            registration="pool",
            message_bytes="4 MiB",
        )
    )
    assert run.time_s == pytest.approx(found.after_s[-1], rel=1e-3)
    with pytest.raises(peerlab.PeerlabError, match="is there already"):
        found.save(file)


def test_a_hostile_name_still_makes_a_file_that_can_be_read(tmp_path):
    sizes = [100_001 * 2**n // 4 for n in range(8)]
    records = simulated({"library.hop": 5}, sizes, cluster="azure-nd-a100-v4", collective="allreduce")
    records = with_column(records, lambda _: 'x\n[node]\x1b[31m"\\', column="source")
    found = peerlab.calibrate(records, "azure-nd-a100-v4", path="peer-direct", constants=["library.hop"])
    found.save(tmp_path / "odd.toml")
    again = peerlab.load_cluster(tmp_path / "odd.toml")
    assert (again.library, again.library_version) == ("nccl-verbs", "2.18")
    assert again.hop_ps == pytest.approx(5e6, rel=0.05)
    asked = peerlab.Scenario(cluster=again, nodes=2, path="peer-direct")
    assert asked.hardware.hop_ps == again.hop_ps


def test_the_same_seed_gives_the_same_intervals():
    records = osu(DIRECT_US, command="osu_latency D D")
    one, same, other = (
        peerlab.calibrate(records, "juliet", path="peer-direct", seed=seed) for seed in (1, 1, 2)
    )
    assert one.constants == same.constants
    assert one.constants != other.constants


def test_a_fit_can_be_cancelled():
    def stop():
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        peerlab.calibrate(
            osu(DIRECT_US, command="osu_latency D D"), "juliet", path="peer-direct", progress=stop
        )


def test_the_path_is_diagnosed_if_nobody_says_it():
    found = peerlab.calibrate(osu(DIRECT_US, command="osu_latency D D"), "juliet")
    assert (found.path, found.path_from) == ("peer-direct", "as diagnosed (clear)")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"path": "host-tcp"}, "juliet has no 'host-tcp'"),
        ({"path": "peer-direkt"}, "did you mean 'peer-direct'"),
        ({"constants": ["nic.rat"]}, "did you mean 'nic.rate'"),
        ({"constants": ["device.copy_engine"]}, "does not meet it"),
        ({"smallest_bytes": "2 MiB"}, "2 sizes of 2 MiB or more: too few to fit"),
        ({"smallest_bytes": "2 Mib/s"}, "smallest message: "),
        ({"smallest_bytes": -1}, "smallest message: -1 is out of range"),
        ({"constants": "nic.rat"}, "did you mean 'nic.rate'"),
        ({"seed": -1}, "seed: -1 is no whole number of 0 or more"),
        ({"seed": "now"}, "seed: 'now' is no whole number"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_words(options, says):
    with pytest.raises(peerlab.PeerlabError, match=says):
        peerlab.calibrate(
            osu(DIRECT_US, command="osu_latency D D"), "juliet", **{"path": "peer-direct", **options}
        )


def test_a_figure_with_a_source_is_not_fitted():
    records = simulated({}, cluster="alps-gh200", path="peer-direct")
    with pytest.raises(
        peerlab.PeerlabError, match=r"fabric\.latency has a source on alps-gh200, and no range"
    ):
        peerlab.calibrate(records, "alps-gh200", path="peer-direct", constants=["fabric.latency"])


def test_without_a_path_and_without_evidence_there_is_no_fit():
    rows = [
        {
            "kind": "imported",
            "collective": "allreduce",
            "size_bytes": 2**n,
            "ranks": 2,
            "nodes": 2,
            "time_s": 1e-3,
        }
        for n in (16, 17, 18)
    ]
    with pytest.raises(peerlab.PeerlabError, match="say which path it took"):
        peerlab.calibrate(Records.of(rows), "juliet")
    with pytest.raises(peerlab.PeerlabError, match="no row has both a size and a time"):
        peerlab.calibrate(Records.of([]), "juliet")


def test_importing_peerlab_loads_no_scipy():
    code = (
        "import peerlab, sys; peerlab.diagnose, peerlab.calibrate; raise SystemExit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "osu.log"
    rows = "".join(f"{size}   {us}\n" for size, us in DIRECT_US.items())
    path.write_text(
        "# OSU MPI-CUDA Latency Test v7.2\n# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n# Size          Latency (us)\n"
        + rows
    )
    return path


def run(*arguments, cwd):
    return peerlab_command("calibrate", *arguments, cwd=cwd)


def test_the_command_shows_the_fit_and_writes_the_file(log, tmp_path):
    status, out, _ = run(log, "--cluster", "juliet", "--save", "mine.toml", cwd=tmp_path)
    flat = " ".join(out.split())
    assert status == 0
    assert flat.startswith("Juliet (InfiniBand), calibrated: constants fitted on a log Good fit: ")
    assert "95 % interval" in flat
    assert " * 1 of 8 sizes came out worse than before (8 KiB) Path: peer-direct" in flat
    assert "at a size left out of the fit" in flat
    assert "written: mine.toml" in flat
    assert peerlab.load_cluster(tmp_path / "mine.toml").name == "mine"
    status, _, err = run(log, "--cluster", "juliet", "--save", "mine.toml", cwd=tmp_path)
    assert (status, err) == (1, "peerlab: mine.toml is there already; --force overwrites it\n")


@pytest.mark.parametrize("name", ["mine.txt", "no/mine.toml", "."])
def test_where_nothing_can_be_written_nothing_is_fitted_in_vain(tmp_path, name):
    status, out, err = run(
        tmp_path / "not-even-read.log", "--cluster", "juliet", "--save", name, cwd=tmp_path
    )
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert name in err
    assert "not-even-read" not in err


def test_the_command_gives_json_and_refuses_in_one_line(log, tmp_path):
    _, out, _ = run(log, "--cluster", "juliet", "--constant", "nic.rate", "--json", cwd=tmp_path)
    found = json.loads(out)
    assert [one["key"] for one in found["constants"]] == ["nic.rate"]
    assert len(found["measured_s"]) == len(found["simulated_after_s"]) == len(found["message_bytes"])
    status, out, err = run(log, "--cluster", "juliet", "--constant", "nic.rte", cwd=tmp_path)
    assert (status, out, err.count("\n")) == (1, "", 1)
