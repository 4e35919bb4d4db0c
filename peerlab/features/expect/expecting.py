"""The question what a machine should reach, as people ask it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

from peerlab.base.checks import check_switch
from peerlab.base.errors import ScenarioError
from peerlab.diagnosis.replay import with_devices
from peerlab.features.expect.closest import DRAFT, machine_or_closest
from peerlab.features.expect.expectation import Expectation, expectation, usual_path
from peerlab.features.expect.verdicts.judging import judge
from peerlab.features.expect.verdicts.log_verdict import LogVerdicts
from peerlab.model.hardware import Cluster
from peerlab.question.scenario import Scenario
from peerlab.question.size_list import parse_sizes
from peerlab.records import Records


@overload
def expect(
    cluster: str | Path | Cluster | None = None,
    *,
    log: None = None,
    nodes: int = 2,
    path: str | None = None,
    collective: str = "allreduce",
    sizes: str | Sequence[int | str] | None = None,
    library_version: str | None = None,
    ranks_per_node: int | None = None,
    anyway: bool = False,
) -> Expectation: ...


@overload
def expect(cluster: str | Path | Cluster | None = None, *, log: Records) -> LogVerdicts: ...


def expect(
    cluster: str | Path | Cluster | None = None,
    *,
    log: Records | None = None,
    nodes: int = 2,
    path: str | None = None,
    collective: str = "allreduce",
    sizes: str | Sequence[int | str] | None = None,
    library_version: str | None = None,
    ranks_per_node: int | None = None,
    anyway: bool = False,
) -> Expectation | LogVerdicts:
    """Return what a machine should reach, size by size; of a log, whether each of its runs is well: a tuple of verdicts, one a run.

    Parameters
    ----------
    cluster:
        A known name, a cluster file, or a `Cluster`; for a log None, too: recognised from what it names. A name that no file has, and
        that names a known accelerator, such as ``dgx-h100``, is answered for the closest known machine, as a what-if that says so first.
    log:
        What `peerlab.load` returns. Each run of it is held against the floor of its machine, and where it is below, against every
        fault that would look like it: ``.verdict``, ``.why`` and ``.likely`` of each; the other options are the log's to say.
    nodes:
        Servers that take part, 2 or more.
    path:
        The data path; None: Peer Direct where the cluster has it and its devices have no ports of their own, else its first.
    sizes:
        Sizes of the message, such as ``["8 MiB", "1 GiB"]``, or a text: sizes with commas between, or ``8B:16GiB``, each
        twice the one before; None: 8 B to 16 GiB, as nccl-tests are run.
    library_version:
        The library's, such as ``2.19``; None: the cluster's.
    ranks_per_node:
        Devices of a node that take part; None: all.
    anyway:
        Whether to begin what takes more than two minutes, too, where every node is simulated, as below oversubscribed leaf switches.

    Raises
    ------
    HardwareError
        If there is no such cluster.
    RecordsError
        If there is nothing in the log to go by.
    ScenarioError
        If such a run is impossible, or would take more than two minutes to simulate.

    >>> found = expect("p4d", nodes=2, sizes="1GiB")
    >>> found.rows[0].floor < found.rows[0].low < found.rows[0].expected < found.rows[0].ceiling
    True
    """
    check_switch("anyway", anyway)
    if log is not None:
        return judge(log, cluster).in_python()
    if cluster is None:
        raise ScenarioError(
            "cluster", f"name the machine; `peerlab clusters` lists those that are known, {DRAFT}"
        )
    machine, what_if = machine_or_closest(cluster)
    if ranks_per_node is not None:
        machine = _with_ranks(machine, ranks_per_node)
    if nodes == 1:
        raise ScenarioError("nodes", "1 node has no network between; give 2 or more")
    scenario = Scenario(
        cluster=machine,
        nodes=nodes,
        path=path or usual_path(machine),
        collective=collective,
        library_version=library_version,
        # Benchmarks register their buffers before the clock starts.
        registration="pool",
    )
    return replace(expectation(scenario, parse_sizes(sizes), anyway=anyway, shows=True), what_if=what_if)


def _with_ranks(cluster: Cluster, ranks: int) -> Cluster:
    machine = with_devices(cluster, ranks) if isinstance(ranks, int) and ranks > 0 else None
    if machine is None:
        raise ScenarioError(
            "ranks_per_node",
            f"{ranks!r:.40} does not fill {cluster.name} evenly; a node has {cluster.devices} devices",
        )
    return machine
