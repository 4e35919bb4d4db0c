"""The closest known machine to one that no file describes: its answer is a what-if, and says so first."""

from pathlib import Path

from peerlab.base.errors import HardwareError
from peerlab.model.hardware import Cluster
from peerlab.question.presets import known_clusters, load_cluster

DRAFT = "`peerlab clusters draft my.toml --from topo.xml` describes yours"


def machine_or_closest(name: str | Path | Cluster) -> tuple[Cluster, str]:
    """Return a machine, and a sentence that says so where it is the closest known one instead: with the same accelerator.

    Raises
    ------
    HardwareError
        If there is no such cluster, and its name has no accelerator that is known.

    >>> machine_or_closest("dgx-h100")[0].name
    'h100-ndr'
    """
    if isinstance(name, Cluster):
        return name, ""
    try:
        return load_cluster(name), ""
    except HardwareError:
        # A path that leads nowhere is a slip: no known machine answers for it.
        machine = None if not isinstance(name, str) or _is_file(name) else closest(name)
        if machine is None:
            raise
        return (
            machine,
            f"What if: no file describes {name!s:.60}, and {machine.title} ({machine.name}) is the closest known machine; {DRAFT}.",
        )


def _is_file(name: str) -> bool:
    return "/" in name or name.endswith(".toml")


def closest(name: str) -> Cluster | None:
    """Return the known cluster whose accelerator a name has, and of several the one with most of its other words."""
    low = name.lower().replace("_", "-")
    able = [
        cluster
        for cluster in map(load_cluster, known_clusters())
        if cluster.device_name.lower().replace(" ", "-") in low
    ]
    # `gb200` holds `b200`, too: the longest name is the one that was meant.
    longest = max((len(cluster.device_name) for cluster in able), default=0)
    words = set(low.split("-"))

    def alike(machine: Cluster) -> tuple[int, bool]:
        own = set(f"{machine.name} {machine.title}".lower().replace(" ", "-").split("-"))
        return len(words & own), machine.name.startswith(
            machine.device_name.lower()
        )  # else its name is a cloud's

    return max((cluster for cluster in able if len(cluster.device_name) == longest), key=alike, default=None)
