"""Which collective, algorithm and memory go together: refused here in words, for `Scenario`."""

from typing import TYPE_CHECKING

from peerlab.base.checks import checked_word
from peerlab.base.errors import ScenarioError
from peerlab.library.further_hops import check_in_network
from peerlab.library.library_files import serving
from peerlab.library.library_laws import law_of
from peerlab.model.collective import AUTO
from peerlab.model.hardware import Cluster
from peerlab.model.paths import PATHS

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario


def check_library(scenario: "Scenario") -> None:
    """Refuse a version or a protocol that there is not.

    Raises
    ------
    ScenarioError
        With the field, and what is allowed.
    """
    if scenario.library is not None:
        serving(
            scenario.library, str(scenario.path)
        )  # a name that there is not is wrong where no NIC sends, too
    library = scenario.used_library
    if library is None:
        for name in ("library_version", "protocol"):
            if getattr(scenario, name) not in (None, AUTO):
                none = f"no library serves {scenario.path!r}, because {scenario.why_unserved}; leave it out"
                missing = "there is no library to have it; name one, such as library='nccl-efa'"
                raise ScenarioError(name, none if scenario.why_unserved else missing)
        return
    _ = scenario.library_number  # which refuses a version that there is not
    # the law of its kind, also where it does not serve: it refuses a protocol there, too
    law_of(library).check(library, scenario)


def check_shape(scenario: "Scenario") -> None:
    """Refuse a memory, a collective or an algorithm that the path, the cluster or the library does not have.

    Raises
    ------
    ScenarioError
        With the field, and what is possible.
    """
    _check_memory(scenario)
    if scenario.collective_record.is_message:
        if scenario.nodes < 2:
            raise ScenarioError("nodes", "point-to-point needs 2 nodes or more")
        if scenario.algorithm != "auto":
            raise ScenarioError("algorithm", "point-to-point has no algorithm; leave it at 'auto'")
    algorithm, library = scenario.algorithm_record, scenario.used_library
    has = not algorithm.library or (library and library.kind == algorithm.library)
    # of another collective `Algorithm.check` below says that the algorithm does not do it
    if not has and scenario.collective in algorithm.collectives:
        none = f", which serves no {scenario.path!r}: {scenario.why_unserved}"
        hint = none if scenario.why_unserved else ": give library='nccl-efa', for instance"
        raise ScenarioError("algorithm", f"{scenario.algorithm!r} needs NCCL{hint}")
    if algorithm.in_node_switch and not scenario.hardware.sharp_Bps:
        lacks = f"and {scenario.hardware.name}'s file does not say how fast (scaleup.sharp)"
        raise ScenarioError(
            "algorithm", f"{scenario.algorithm!r} needs a switch inside the node that adds up, {lacks}"
        )
    if algorithm.in_network and scenario.domains > 1:
        check_in_network(scenario.algorithm, scenario.data_path, scenario.fabric, scenario.used_transport)
    if scenario.choice is None or not algorithm.one_device:  # NCCL's ring goes over all devices
        algorithm.check(scenario.hardware, scenario.domains, scenario.collective)


def _check_memory(scenario: "Scenario") -> None:
    if scenario.memory != "host":
        return
    if not scenario.only_sends or not scenario.staged:
        raise ScenarioError(
            "memory", "'host' is for point-to-point and alltoall on host-rdma or host-tcp; use 'device'"
        )
    if scenario.ranks > scenario.nodes and not scenario.hardware.core_copy_Bps:
        why = f"{scenario.hardware.name} does not say how fast a core copies inside a node (host.core_copy)"
        raise ScenarioError("memory", f"{why}; use 'device'")


def checked_path(path: str | None, cluster: Cluster) -> str:
    """Return a data path that a cluster has; its usual one, where nobody names any.

    Raises
    ------
    ScenarioError
        If it is no path, or the cluster has it not.
    """
    if path is None:
        return cluster.paths[0]
    if checked_word("path", path, PATHS) not in cluster.paths:
        why = cluster.lacks.get(path, "not described in the cluster's file")
        raise ScenarioError(
            "path", f"{cluster.name} has no {path!r} ({why}); it has: {', '.join(cluster.paths)}"
        )
    return path
