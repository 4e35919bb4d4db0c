"""The settings of a scenario in words, which name what a figure is compared with."""

from peerlab import Scenario
from peerlab.picture.baseline import settings


def differ(one, other):
    """Return what the first says of each setting in which it differs from the second, where both have it."""
    first, second = settings(one), settings(other)
    return [words for name, words in first.items() if name in second and words != second[name]]


DIRECT = Scenario(path="peer-direct")


def test_one_changed_setting_is_named():
    assert differ(DIRECT, DIRECT.with_(registration="per-transfer")) == ["with the cache"]
    assert differ(DIRECT, DIRECT.with_(slow_nodes={0: 0.5})) == ["without slow node"]
    assert differ(DIRECT.with_(slow_nodes={0: 0.5}), DIRECT) == ["with node 0 at 50 %"]
    assert differ(DIRECT.with_(slow_nics={"3.2": 0}), DIRECT) == ["with NIC 3.2 lost"]
    assert differ(DIRECT, DIRECT.with_(nodes=4)) == ["on 8 nodes"]
    assert differ(DIRECT, DIRECT.with_(message_bytes="1 MiB")) == ["for 64 MiB"]


def test_the_way_through_the_host_has_no_cache_to_differ_in():
    assert differ(Scenario(path="host-rdma"), DIRECT) == ["through host"]
    assert differ(DIRECT, Scenario(path="host-rdma")) == ["by Peer Direct"]
    assert differ(Scenario(path="host-tcp"), DIRECT) == ["by kernel TCP"]


def test_rarer_fields_are_one_entry():
    assert len(differ(DIRECT, DIRECT.with_(slice_bytes="256 KiB", buffers=2))) == 1
    assert differ(DIRECT, DIRECT) == []
