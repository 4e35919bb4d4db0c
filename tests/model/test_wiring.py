"""Where NICs hang: read from a cluster file as a figure is, with evidence and alternatives, and changed for a what-if."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.base.places import folder
from peerlab.model.distances import distances
from peerlab.model.nic_wiring import PLACES, Wiring
from peerlab.model.rewiring import rewired
from peerlab.question.presets import read_cluster
from peerlab.question.write_cluster import cluster_text

TEXT = (folder("data") / "hardware" / "p4d.toml").read_text()
SECTION = """
[wiring]
nic = "root-port"
assumption = "as the block diagram of a sister machine has it"

[[wiring.other]]
nic = "switch"
because = "the block diagram of another one"
"""


def wired(section):
    return read_cluster(TEXT + section, "my.toml")


def test_a_file_says_where_the_nics_hang_on_what_evidence_and_what_else_may_be():
    cluster = wired(SECTION)
    assert cluster.wiring.place.distance == "PHB"
    assert str(cluster.wiring) == "on a root port of its own"
    assert [one.holds for one in cluster.wiring.possible] == ["each NIC hangs below the devices' switch"]
    forwarded = cluster.figures["host.peer_write"]
    assert forwarded.range == (pytest.approx(0.75 * 12.5, abs=0.05), 14.1)
    assert "INTEL_P2P_OVERHEAD" in forwarded.assumption


def test_what_the_file_says_of_the_way_over_the_cpu_stays():
    said = '[host]\npeer_write = { value = 9, unit = "GB/s", basis = "per NIC", source = "measured" }\n'
    text = TEXT.replace("[host]\n", said, 1) + SECTION
    assert read_cluster(text, "my.toml").figures["host.peer_write"].value == 9


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("wiring = 3\n", "[wiring] must be a table"),
        (
            '[wiring]\nnic = "swich"\nsource = "x"\n',
            "wiring.nic = 'swich' is no place; did you mean 'switch'",
        ),
        ('[wiring]\nnic = ["switch"]\nsource = "x"\n', "is no place"),
        ('[wiring]\nnic = "switch"\n', "wiring has no source"),
        ('[wiring]\nnics = "switch"\nsource = "x"\n', "unknown entry 'nics'; did you mean 'nic'"),
        ('[wiring]\nacs_redirect = "on"\nsource = "x"\n', "must be true or false, not 'on'"),
        ("[wiring]\nsource = 4\n", "wiring.source must be one line of letters"),
        ('[wiring]\nsource = "x"\nother = 3\n', "wiring.other must be a list of tables"),
        ('[wiring]\nsource = "x"\nother = [3]\n', "[wiring.other] must be a table"),
        ('[wiring]\nsource = "x"\n[[wiring.other]]\npossible = 1\n', "wiring.other.possible must be true"),
    ],
)
def test_what_is_wrong_in_the_section_is_said_in_one_line(section, says):
    text = section + TEXT if section.startswith("wiring") else TEXT + "\n" + section
    with pytest.raises(HardwareError) as refused:
        read_cluster(text, "my.toml")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_the_section_an_assumed_count_leaves_both_wirings_open():
    roce = peerlab.load_cluster("roce-100g-a100").wiring
    assert roce.assumption == "one NIC per pair of GPUs, under their switch"
    assert [one.nic for one in roce.possible] == ["root-port", "socket-switch"]
    assert peerlab.load_cluster("p4d").wiring == Wiring()  # documented
    assert peerlab.load_cluster("juliet").wiring.possible == ()  # nothing is known of its switches


@given(st.sampled_from(peerlab.known_clusters()), st.sampled_from(tuple(PLACES)), st.booleans())
def test_a_cluster_wired_otherwise_keeps_its_devices_and_nics_and_is_written_and_read_again(name, place, acs):
    cluster = peerlab.load_cluster(name)
    if "switch.uplink" not in cluster.figures:
        if (place, acs) != ("switch", False):
            with pytest.raises(HardwareError, match="no figure of a PCIe uplink"):
                rewired(cluster, place, acs)
        return
    other = rewired(cluster, place, acs)
    assert (other.devices, other.nics) == (cluster.devices, cluster.nics)
    assert (other.wiring.nic, other.wiring.acs_redirect) == (place, acs)
    again = read_cluster(cluster_text(other, "written again"), "again.toml")
    assert dict(again.figures) == dict(other.figures)
    if (place, acs) != ("switch", False):
        assert again.wiring == other.wiring


def test_dl1s_evidence_survives_being_written():
    dl1 = peerlab.load_cluster("dl1")
    assert read_cluster(cluster_text(dl1, "written again"), "again.toml").wiring == dl1.wiring
    assert "90:1d" in dl1.wiring.evidence
    ruled_out = [one for one in dl1.wiring.others if not one.possible]
    assert all(one.because for one in dl1.wiring.others)
    assert [one.holds for one in ruled_out] == [
        "one PCIe switch joins all that a socket has",
        "each NIC hangs at the other socket",
        "ACS redirect is on",
    ]


def test_a_scenario_asks_for_another_wiring_and_one_that_cannot_be_is_refused_in_words():
    asked = peerlab.Scenario(wiring="root-port", acs_redirect="off")
    assert "wiring='root-port'" in asked.as_code()
    assert asked.hardware.wiring.nic == "root-port"
    with pytest.raises(ScenarioError, match="wiring: unknown 'rootport'; did you mean 'root-port'"):
        peerlab.Scenario(wiring="rootport")
    with pytest.raises(ScenarioError, match=r"alps-gh200 has no figure of a PCIe uplink.*leave it at 'auto'"):
        peerlab.Scenario(cluster="alps-gh200", wiring="other-socket")


def test_every_figure_of_a_distance_has_a_source_and_distances_are_those_of_nvidia_smi():
    known = distances()
    assert {place.distance for place in PLACES.values()} <= set(known.titles)
    assert list(known.titles) == ["PIX", "PXB", "PHB", "SYS"]
    assert all(one.source for one in (*known.measured, *known.socket_links))
    assert known.shares("SYS") == (pytest.approx(11 / 23), pytest.approx(0.85))
