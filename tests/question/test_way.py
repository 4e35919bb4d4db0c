"""The way of a byte, as a table."""

import peerlab


def test_the_detour_crosses_the_uplink_twice_in_each_direction_and_peer_direct_never():
    staged = peerlab.way(peerlab.Scenario(path="host-rdma"))
    crossed = staged.groupby("crosses")["times"].sum()
    assert crossed["PCIe to host"] == crossed["PCIe from host"] == 2
    assert list(staged["stage"].unique()) == [
        "copy to host memory (D2H)", "NIC to NIC, through host memory", "copy to device memory (H2D)"
    ]  # fmt: skip
    direct = peerlab.way(peerlab.Scenario(path="peer-direct"))
    assert not direct["crosses"].str.contains("uplink|DRAM").any()


def test_the_way_counts_what_the_simulation_counts():
    for path in ("host-rdma", "host-tcp", "peer-direct"):
        scenario = peerlab.Scenario(path=path)
        times = peerlab.way(scenario).groupby("crosses")["times"].sum()
        run = peerlab.simulate(scenario)
        assert times.get("DRAM", 0) == run.dram_bytes_per_byte
        copies = sum(times.get(by, 0) for by in ("copy engine out", "copy engine in", "CPU core"))
        assert copies == run.copies_per_byte


def test_the_way_is_told_in_the_order_of_travel():
    staged = list(peerlab.way(peerlab.Scenario(path="host-rdma"))["crosses"])
    assert staged[2:9] == [
        "PCIe to host", "DRAM", "DRAM", "PCIe from host", "NIC send", "NIC receive", "PCIe to host"
    ]  # fmt: skip
    direct = list(peerlab.way(peerlab.Scenario(path="peer-direct"))["crosses"])
    assert direct == ["device PCIe out", "NIC send", "NIC receive", "device PCIe in"]


def test_every_path_of_every_cluster_has_a_way():
    for name in peerlab.known_clusters():
        for path in peerlab.load_cluster(name).paths:
            assert len(peerlab.way(peerlab.Scenario(cluster=name, path=path))) >= 2
