"""What lab 06 is about: a cluster file of one's own, as a draft, and as the data sheet of the lab fills it in."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from peerlab.answer.gain import GainBand
from peerlab.base.data_frames import pd
from peerlab.base.display import shown
from peerlab.base.errors import HardwareError, nearest
from peerlab.base.units import say_gain
from peerlab.model.hardware import Cluster
from peerlab.model.nic_wiring import PLACES, Wiring
from peerlab.model.rewiring import rewired
from peerlab.question.presets import load_cluster
from peerlab.question.write_cluster import cluster_text, write_new

FILE = "my-cluster.toml"
"""The learner's cluster file, beside the lab."""
SHEET: Mapping[str, float] = {"nic.rate": 200, "switch.uplink": 28.2}
"""What the data sheet of the lab comes to, in the units of the file: Gbit/s, and GB/s less PCIe's headers."""
RAW_GEN4_GBPS = 16 * 16 * 128 / 130 / 8
"""PCIe Gen4 x16 before its headers, as a data sheet has it: 16 GT/s on 16 lanes, 128 of 130 bits are data; GB/s."""
_OLD = "copied from DL1, an older server: put in your own"
_UNKNOWN: Mapping[str, tuple[float, float]] = {"nic.rate": (100, 400), "switch.uplink": (14.1, 56.4)}
"""From where to where they lie on servers of PCIe Gen3 to Gen5, as long as nobody has looked."""
_SHEET_SAYS = "the data sheet of lab 06, which is invented"
_SEEN = "seen on a server with `lspci -tv` (invented, for lab 06)"
_REMARK = "Your cluster: eight A100 a node, as in roce-100g-a100; what is copied from DL1 is to be replaced."


def drafted() -> Cluster:
    """Return the draft: a server with A100, two of whose figures are still those of DL1."""
    old, new = load_cluster("dl1"), load_cluster("roce-100g-a100")
    # The file's unit is Gbit/s.
    copied = {"nic.rate": old.nic_Bps * 8 / 1e9, "switch.uplink": old.uplink_Bps / 1e9}
    cluster = _with(new, copied, "", _OLD, _UNKNOWN)
    words = "Eight A100 a node behind four PCIe switches, a NIC on each."
    return replace(cluster, name="my-cluster", title="My cluster", summary=words)


def filled_in() -> Cluster:
    """Return the draft with the figures of the data sheet."""
    return _with(drafted(), SHEET, _SHEET_SAYS)


def draft(file: str | Path = FILE) -> Path:
    """Write the draft, unless there is such a file already; return the file.

    Raises
    ------
    HardwareError
        If it cannot be written.
    """
    path = Path(file)
    # A file that is there is the learner's, and may be half done.
    if not path.is_file():
        write_new(path, cluster_text(drafted(), _REMARK))
    return path


def edit(file: str | Path, figures: Mapping[str, float], source: str = _SHEET_SAYS) -> Path:
    """Put figures into a cluster file, in the units that it has, with their source; return the file.

    Raises
    ------
    HardwareError
        If it cannot be read or written, has no such figure, the value is impossible, or there is no source.
    """
    if not source.strip():
        raise HardwareError("edit: source must say where the figures are from")
    path = Path(file)
    # Over the learner's own file: that is what editing is.
    write_new(path, cluster_text(_with(load_cluster(path), figures, source), _REMARK), force=True)
    return path


def mine() -> Cluster:
    """Return the learner's cluster; while there is no such file, the one that the data sheet makes."""
    return load_cluster(FILE) if Path(FILE).is_file() else filled_in()


def assumed(cluster: Cluster) -> pd.DataFrame:
    """Return what a cluster file assumes: one row per figure, with its range where it has one."""
    rows = [
        {"figure": assumption.named, "value": str(assumption), "range": "{:g} to {:g}".format(*assumption.range) if assumption.range else "",
         "assumption": assumption.assumption}
        for assumption in cluster.assumptions
    ]  # fmt: skip
    return (
        pd.DataFrame(rows, columns=["figure", "value", "range", "assumption"])
        .set_index("figure")
        .rename_axis(None)
    )


def _with(
    cluster: Cluster,
    figures: Mapping[str, float],
    source: str,
    assumption: str = "",
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> Cluster:
    for key, value in figures.items():
        # One figure after the other: each gets its source, or its assumption.
        cluster = cluster.with_figure(key, value, source=source, assumption=assumption, range=ranges.get(key))
    return cluster


def looked_at(cluster: Cluster | str | Path, nic: str = "switch") -> Cluster:
    """Return a cluster whose NICs hang where somebody saw them hang, so that no other place is left open.

    Parameters
    ----------
    cluster:
        A cluster, or its file.
    nic:
        Where: ``"switch"`` (below the devices' switch), ``"root-port"``, ``"socket-switch"`` or ``"other-socket"``.

    Raises
    ------
    HardwareError
        If there is no such place.
    """
    if nic not in PLACES:
        raise HardwareError(f"looked_at: no place {nic!r}; {nearest(nic, PLACES)}")
    machine = cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    # With a source in place of an assumption, no other place is possible, so the gain has one band.
    return replace(rewired(machine, nic), wiring=Wiring(nic=nic, source=_SEEN))


class QuotedGain(str):
    """A sentence that a notebook sets as one to be quoted."""

    __slots__ = ()
    _repr_html_ = shown


def quoted(gain: GainBand) -> QuotedGain:
    """Return a gain over RDMA through host memory as it may be quoted: how much, how sure, on what condition, and what else may be."""
    times = say_gain(gain.low, gain.high, sign=" times")
    band = f"{times} as fast as RDMA through host, {gain.value:.2f} as simulated"
    if not gain.wired:
        return QuotedGain(f"Peer Direct is {band}.")
    first, *others = gain.wired
    # All other wirings together: a sentence that is quoted has room for one range.
    low, high = min(gain_case.low for gain_case in others), max(gain_case.high for gain_case in others)
    return QuotedGain(
        f"Peer Direct is {band}, if {first.says}. If not, it is {say_gain(low, high, sign=' times')}."
    )
