"""Transports: what their files say, what of a packet is payload, which way a message takes, and what is refused in words."""

import pytest

import peerlab
from peerlab.answer.metrics import messages_per_s
from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.base.places import folder
from peerlab.model.transport_files import known_transports, load_transport, read_transport
from peerlab.question.presets import read_cluster
from peerlab.question.used_figures import figures_used
from peerlab.question.write_cluster import cluster_text

IDEAL = (folder("data") / "hardware" / "ideal-100g.toml").read_text()
LATENCY = next(line for line in IDEAL.splitlines() if line.startswith("latency = "))
OPEN = read_cluster(
    IDEAL.replace(f"[fabric]\n{LATENCY}", '[leaves_out]\n"fabric.latency" = "it is the transport\'s"'), "open"
)
"""A bare fabric whose latency is the transport's."""
BARE = peerlab.Scenario(cluster="ideal-100g", nodes=2)


@pytest.mark.parametrize(
    ("name", "mtu", "share"),
    [
        ("infiniband", 256, 256 / 282), ("infiniband", 1024, 1024 / 1050), ("infiniband", 4096, 4096 / 4122),
        ("roce", 256, 256 / 338), ("roce", 1024, 1024 / 1106), ("roce", 2048, 2048 / 2130), ("roce", 4096, 4096 / 4178),
        ("iwarp", 1500, 1428 / 1538), ("iwarp", 9000, 8928 / 9038), ("tcp", 1500, 1448 / 1538), ("tcp", 9000, 8948 / 9038),
        ("ideal", None, 1),
    ],
)  # fmt: skip
def test_of_a_packet_so_much_is_payload(name, mtu, share):
    assert BARE.with_(transport=name, mtu=mtu).goodput == pytest.approx(share, rel=1e-12)


def test_every_transport_is_complete_and_takes_every_packet_that_it_allows():
    assert set(known_transports()) == {"infiniband", "roce", "efa", "iwarp", "tcp", "ideal"}
    for name in known_transports():
        one = load_transport(name)
        for mtu in (*one.mtus, *(one.mtu_range or ())):
            assert 0.5 < BARE.with_(transport=name, mtu=mtu).goodput < 1


def test_a_latency_that_the_cluster_says_is_the_total_and_only_more_of_the_way_adds_to_it():
    def latency(**more):
        return BARE.with_(transport="roce", **more).cluster_for_message.latency_ps

    assert latency() == latency(hops=1, metres=5) == latency(hops=0, metres=0) == 5_000_000
    assert latency(hops=3) == 5_000_000 + 2 * 500_000
    assert latency(metres=105) == 5_000_000 + 100 * 5050


def test_a_latency_that_the_cluster_leaves_out_is_base_switches_and_cable():
    def latency(**more):
        return peerlab.Scenario(cluster=OPEN, nodes=2, **more).cluster_for_message.latency_ps

    assert latency(transport="infiniband") == 600_000 + 230_000 + 5 * 5050
    assert latency(transport="tcp", hops=3, metres=40) == 5_200_000 + 3 * 500_000 + 40 * 5050
    with pytest.raises(ScenarioError, match="leaves its latency to the transport, so it needs a transport"):
        peerlab.Scenario(cluster=OPEN)


def test_a_librarys_hop_is_the_total_too():
    hop = peerlab.Scenario(cluster="p4d", path="peer-direct", nodes=2)
    on = hop.with_(transport="efa")
    assert on.cluster_for_message.latency_ps == hop.cluster_for_message.latency_ps
    assert on.with_(hops=4).cluster_for_message.latency_ps == hop.cluster_for_message.latency_ps + 500_000
    assert on.cluster_for_message.header_bytes == 82


def test_kernel_tcp_goes_over_tcp_whatever_the_nics_speak():
    scenario = peerlab.Scenario(cluster="roce-100g-a100", transport="roce", mtu=1024)
    assert scenario.goodput == 1024 / 1106
    assert scenario.with_(path="host-tcp").goodput == 8948 / 9038


def test_a_band_moves_what_a_transport_assumes():
    used = figures_used(peerlab.Scenario(cluster=OPEN, nodes=2, transport="roce"))
    assert {"transport.mtu", "transport.switch", "transport.metres", "nic.per_message"} <= used
    given = BARE.with_(transport="roce", mtu=4096)
    assert "transport.switch" not in figures_used(given)  # the cluster's own latency holds
    assert given.hardware.figures["transport.mtu"].range is None


def test_a_cluster_file_may_name_what_its_nics_speak_and_its_own_figures():
    own = 'switch = { value = 400, unit = "ns", basis = "per switch", source = "measured" }'
    text = IDEAL + f'\n[transport]\nname = "roce"\nhas = ["roce", "tcp"]\n{own}\n'
    cluster = read_cluster(text, "mine")
    again = read_cluster(cluster_text(cluster, "written again"), "again")
    assert (again.transport, again.transports) == ("roce", ("roce", "tcp"))
    scenario = peerlab.Scenario(cluster=again, hops=2)
    assert scenario.cluster_for_message.latency_ps == 5_000_000 + 400_000
    assert scenario.goodput == 4096 / 4178


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"transport": "roce", "mtu": 1500}, "mtu: RoCE v2 allows 256, 512, 1024, 2048 or 4096 bytes, not 1500"),
        ({"transport": "tcp", "mtu": 100}, "mtu: kernel TCP allows 576 to 9216 bytes, not 100"),
        ({"transport": "ideal", "mtu": 256}, "mtu: ideal has no packets; leave it out"),
        ({"transport": "roce", "mtu": "4 furlongs"}, "mtu: unit 'furlongs'"),
        ({"transport": "roce", "metres": -3}, "metres: a cable of -3 m is not possible; give 0 to 100000 m"),
        ({"transport": "roce", "metres": float("nan")}, "metres: a cable of nan m is not possible"),
        ({"transport": "roce", "metres": "5"}, "metres: a cable of '5' m is not possible"),
        ({"transport": "roce", "hops": -1}, "hops: -1 is out of range"),
        ({"mtu": 4096}, "mtu: 4096 needs a transport; name one of efa"),
        ({"transport": "rocce"}, "transport: unknown 'rocce'; did you mean 'roce'"),
        ({"transport": 3}, "transport: unknown 3"),
        ({"cluster": "dl1", "transport": "tcp", "path": "host-rdma"}, "transport: kernel TCP has no RDMA, and path 'host-rdma' needs it"),
        ({"cluster": "gaudi2", "transport": "roce", "path": "native"}, "transport: nothing leaves by a NIC on path 'native'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_words(fields, says):
    with pytest.raises(ScenarioError) as error:
        peerlab.Scenario(**{"cluster": "ideal-100g", **fields})
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("transport", "expected"), [("infiniband", 250.0e6), ("roce", 117.92e6)])
def test_a_nic_that_counts_no_messages_sends_as_many_as_the_wire_carries(transport, expected):
    cluster = peerlab.load_cluster("ideal-100g").with_figure("nic.per_message", 0)
    writes = peerlab.Scenario(
        cluster=cluster,
        transport=transport,
        collective="point-to-point",
        nodes=2,
        message_bytes=80_000,
        slice_bytes=8,
        window=16384,
        dependency="slice",
    )
    run = peerlab.simulate(writes)
    assert messages_per_s(run.trace, run.recording) == pytest.approx(expected, rel=1e-4)


def test_a_transport_that_a_cluster_lacks_is_said():
    with pytest.raises(ScenarioError, match="transport: dl1 has no 'infiniband'; it has: efa, tcp"):
        peerlab.Scenario(cluster="dl1", transport="infiniband")
    assert peerlab.Scenario(cluster="dl1", transport="ideal").goodput == 1
    cluster = read_cluster(IDEAL + '\n[transport]\nhas = ["efa", "tcp"]\n', "listed")
    with pytest.raises(ScenarioError, match="transport: ideal-100g has no 'roce'; it has: efa, tcp"):
        peerlab.Scenario(cluster=cluster, transport="roce")


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ('name = "rocce"', "unknown 'rocce'; did you mean 'roce'"),
        ('has = ["rocce"]', "unknown 'rocce'"),
        ('has = "roce"', "transport.has = 'roce' must be a list of transports"),
        ('name = "efa"\nhas = ["tcp"]', "transport.name = 'efa' is not in transport.has"),
        ('header = { value = 102, unit = "B", basis = "p", source = "x" }', "transport.header stands without transport.name"),
        ('name = "ideal"\nmtu = { value = 600, unit = "B", basis = "p", source = "x" }', "transport.mtu is no figure of transport 'ideal', which adds nothing"),
        ('name = "roce"\nmtu = { value = 1500, unit = "B", basis = "p", source = "x" }', "transport.mtu: RoCE v2 allows 256, 512, 1024, 2048 or 4096 bytes, not 1500"),
        ('name = "tcp"\nmtu = { value = 600, unit = "B", basis = "p", source = "x" }\ninside = { value = 700, unit = "B", basis = "p", source = "x" }', "transport.inside leaves no room for payload"),
        ('metres = { value = -3, unit = "m", basis = "x", source = "x" }', "transport.metres = -3 m must be zero or more"),
        ('metres = { value = 3, unit = "ft", basis = "x", source = "x" }', "a length has unit 'm'"),
    ],
)  # fmt: skip
def test_a_damaged_section_of_a_cluster_file_is_said(section, says):
    with pytest.raises(HardwareError) as error:
        read_cluster(f"{IDEAL}\n[transport]\n{section}\n", "mine")
    assert says in str(error.value)


ROCE = (folder("data") / "transports" / "roce.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("rdma = true", "rdma = 1", "rdma must be true or false"),
        ("mtus =", "mtu_sizes =", "unknown entry 'mtu_sizes'"),
        ("mtus = [256,", "mtus = [0,", "must be a list of packet sizes"),
        ("value = 4096,", "value = 4000,", "RoCE v2 allows"),
        ("header = {", "headers = {", "unknown figure transport.headers"),
        ("\nmtu = {", "\n#mtu = {", "transport.mtu is missing; MTU and header belong together"),
        ('name = "roce"', "", "name is missing"),
    ],
)
def test_a_damaged_transport_file_is_said(old, new, says):
    assert old in ROCE
    with pytest.raises(HardwareError) as error:
        read_transport(ROCE.replace(old, new, 1), "roce.toml")
    assert says in str(error.value)


def test_a_transport_may_be_a_file_of_ones_own(tmp_path):
    """RoCE in a VLAN has 4 bytes more in each packet."""
    text = (folder("data") / "transports" / "roce.toml").read_text()
    own = tmp_path / "vlan.toml"
    own.write_text(text.replace('name = "roce"', 'name = "roce-vlan"').replace("value = 82,", "value = 86,"))
    roce, vlan = (
        peerlab.simulate(BARE.with_(transport=name, mtu=1024, message_bytes="64 MiB"))
        for name in ("roce", str(own))
    )
    assert vlan.time_ps / roce.time_ps == pytest.approx((1024 + 86) / (1024 + 82), abs=0.001)
    assert "RoCE v2" in vlan.scenario.transport_says
    own.write_text(text)
    with pytest.raises(HardwareError, match="give yours a name of its own"):
        BARE.with_(transport=str(own))
    with pytest.raises(HardwareError, match=r"missing\.toml"):
        BARE.with_(transport=str(tmp_path / "missing.toml"))
    with pytest.raises(ScenarioError, match=r"or the path of a \.toml file of your own"):
        BARE.with_(transport="roec")
