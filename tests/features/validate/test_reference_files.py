"""Other simulators' results, from files: every case, placements, and whatever can be wrong in a file."""

import pytest

from peerlab.base.errors import ExpectationError, PeerlabError
from peerlab.features.validate.other_simulators import run_reference, scenario_of
from peerlab.features.validate.reference_file import read_reference, read_row

HEAD = "simulator,version,algorithm,n,bytes,link_Bps,latency_s,sim_time_s,case,parameters"
SIMGRID = (
    "simgrid-smpi,4.1,ring,8,16777216,12500000000,5e-06,0.00241882816,crossbar,smpi_algo=lr;envelope_B=16"
)
STAGED = "host_staged,envelope_B=0;P={};pcie_Bps=16000000000;pcie={};pcie_latency_s=1e-06;bounce_buffers={}"


def answers(tmp_path, *lines, head=HEAD):
    file = tmp_path / "results.csv"
    file.write_text("\n".join([head, *lines]) + "\n")
    return list(run_reference(read_reference(file)))


def refused(tmp_path, content):
    file = tmp_path / "results.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ExpectationError) as caught:
        read_reference(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_row_of_the_reference_file_agrees(reference_dir):
    """MODEL, section 6: SimGrid to 1e-6, LogGOPSim to 2e-5, host-staged rows to 1e-9."""
    found = list(run_reference(read_reference(reference_dir / "reference" / "collectives.csv")))
    assert len(found) == 50
    assert [(one.line, one.problem, one.error) for one in found if not one.passed] == []
    informational = [one for one in found if one.tolerance is None]
    assert [(one.row.simulator, one.line) for one in informational] == [("csg-htsim-ndp", 50)]


@pytest.mark.parametrize(
    ("line", "tolerance"),
    # SimGrid 4.1 SMPI (CM02), LogGOPSim 76451de, SimGrid 3.32 S4U
    [
        (SIMGRID, 1e-6),
        ("simgrid-smpi,4.1,halving_doubling,64,16777216,12500000000,5e-06,0.00270242688,crossbar,envelope_B=16", 1e-6),
        ("simgrid-smpi,4.1,recursive_doubling,8,16777216,12500000000,5e-06,0.00404153568,crossbar,envelope_B=16", 1e-6),
        ("loggopsim,76451de,halving_doubling,8,16777216,12500000000,5e-06,0.00237880976,crossbar,o=0;g=0", 2e-5),
        ("simgrid-smpi,4.1,ring,4,16777216,12500000000,5e-06,0.0080830944,shared_backbone,envelope_B=16", 1e-6),
        ("simgrid-smpi,4.1,ring,8,16777216,12500000000,5e-06,0.00476765632,straggler_nic_x0.5,envelope_B=16;slow_rank=4", 1e-6),
        ("simgrid-smpi,4.1,ring,16,16777216,12500000000,5e-06,0.0051832416,leafspine_2to1_strided,envelope_B=16;hosts_per_leaf=8", 1e-6),
        ("s4u,3.32,ring_host_staged,2,16777216,12500000000,5e-06,0.00191046528," + STAGED.format(4, "duplex", 2), 1e-9),
        ("s4u,3.32,ring_host_staged,8,16777216,12500000000,5e-06,0.00670482624," + STAGED.format(8, "shared", 1), 1e-9),
    ],
)  # fmt: skip
def test_each_case_agrees_to_its_tolerance(tmp_path, line, tolerance):
    (answer,) = answers(tmp_path, line)
    assert answer.tolerance == tolerance
    assert answer.passed, (answer.error, answer.problem)


def test_a_strided_order_and_the_same_as_a_placement_are_one(tmp_path):
    line = "simgrid-smpi,4.1,ring,16,16777216,12500000000,5e-06,0.0051832416,leafspine_2to1_{},envelope_B=16;hosts_per_leaf=8"
    placement = '"[0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]"'
    placed, named, contiguous = answers(
        tmp_path,
        f"{line.format('shuffled')},{placement}",
        f"{line.format('strided')},",
        f"{line.format('contiguous')},",
        head=HEAD + ",placement",
    )
    assert placed.passed
    assert placed.simulated_s == named.simulated_s
    assert contiguous.simulated_s < named.simulated_s  # one flow per leaf crosses the spine, not eight


def test_rates_and_latencies_of_a_row_are_taken_exactly():
    row = read_row(HEAD.split(","), SIMGRID.replace("12500000000,5e-06", "3333333333,1.25e-07"))
    assert scenario_of(row).hardware.nic_Bps == 3_333_333_333
    assert scenario_of(row).hardware.latency_ps == 125_000


def test_a_packet_level_simulator_is_for_information(tmp_path):
    (answer,) = answers(
        tmp_path,
        "csg-htsim-ndp,841d9e7,ring,16,16777216,12500000000,5e-06,0.00554906,leafspine_2to1_strided,packet_level=1",
    )
    assert answer.passed
    assert answer.error == pytest.approx(-0.066, abs=0.001)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (SIMGRID.replace("crossbar", "torus"), "unknown case 'torus'; "),
        (SIMGRID.replace(",ring,", ",rings,"), "unknown algorithm 'rings'; did you mean 'ring'?"),
        (SIMGRID.replace(",8,", ",eight,"), "n = 'eight' is not a number"),
        (SIMGRID.replace(",8,", ",2.5,"), "n = 2.5 is not a whole number"),
        (SIMGRID.replace(",8,", ",0,"), "nodes: 0 is out of range"),
        (SIMGRID.replace(",8,", ",,"), "n = '' is not a number"),
        (SIMGRID.replace("12500000000", "-1"), "link_Bps = -1 is out of range"),
        (SIMGRID.replace("5e-06", "nan"), "latency_s = nan is out of range"),
        (SIMGRID.replace("5e-06", "1e25"), "possible are 0 to 10 s"),
        (SIMGRID.replace("5e-06", "1e999999999"), "is out of range"),
        (SIMGRID.replace("0.00241882816", "1e-999"), "is out of range"),
        (SIMGRID.replace("crossbar", "straggler_nic_x0.5.5"), "unknown case"),
        (SIMGRID.replace("crossbar,", "leafspine_2to1_strided,hosts_per_leaf=0;"), "must be greater than zero"),
        (SIMGRID.replace("0.00241882816", "0"), "sim_time_s = 0 is out of range; give more than 0"),
        (SIMGRID.replace("envelope_B=16", "envelope_B=x"), "envelope_B = 'x' is not a number"),
        (SIMGRID + ",1,2,3", "entries; the file has 10 columns"),
        ('"' + SIMGRID, "not a line of a CSV file"),
        ("simgrid-smpi,4.1,ring", "entries; the file has 10 columns"),
        (SIMGRID.replace("crossbar", "straggler_nic_x0.5"), "slow_rank is missing among the parameters"),
        (SIMGRID.replace("crossbar", "leafspine_2to1_shuffled"), "needs the JSON column 'placement'"),
        (SIMGRID.replace("crossbar", "leafspine_2to1_strided").replace(",8,", ",9,"), "n = 9 does not fill leaves of 8 hosts"),
        (SIMGRID.replace("crossbar,", STAGED.format(0, "duplex", 1) + ";"), "P = 0 is out of range"),
        (SIMGRID.replace("crossbar,", STAGED.format(4, "triplex", 1) + ";"), "pcie = 'triplex' is unknown; known: duplex, shared"),
    ],
)  # fmt: skip
def test_a_bad_line_says_what_is_wrong_and_the_good_ones_are_answered(tmp_path, line, says):
    good, bad, other = answers(tmp_path, SIMGRID, line, SIMGRID)
    assert (bad.line, bad.passed) == (3, False)
    assert says in bad.problem
    assert "\n" not in bad.problem
    assert good.passed
    assert other.passed
    assert bad.as_dict()["relative_error"] is None


@pytest.mark.parametrize("placement", ["[0, 2", "{}", "[true, false]", "[0.5]", "[" * 5000])
def test_a_placement_that_is_no_list_of_hosts_is_refused(tmp_path, placement):
    (answer,) = answers(tmp_path, f'{SIMGRID},"{placement}"', head=HEAD + ",placement")
    assert "is not a JSON list of hosts" in answer.problem


def test_what_is_no_file_of_results_is_refused_in_one_line(tmp_path):
    assert "is not a CSV file of reference results" in refused(tmp_path, "hello\nworld\n")
    assert "is not a CSV file of reference results" in refused(tmp_path, "")
    assert "is not a CSV file of reference results" in refused(tmp_path, '"simulator,n\n')
    assert "is not a text file in UTF-8" in refused(tmp_path, b"\xff\xfe\x00")
    assert "column sim_time_s, case is missing" in refused(
        tmp_path, "simulator,algorithm,n,bytes,link_Bps,latency_s\n"
    )
    assert "has no rows" in refused(tmp_path, HEAD + "\n")
    for name in ("nothing.csv", ".", "\x00"):
        with pytest.raises(PeerlabError, match="cannot read"):
            read_reference(tmp_path / name)
