"""Somebody's own step, as a profiler saw it, on each data path of a cluster."""

from peerlab.model.paths import PATHS
from peerlab.question.scenario import Scenario
from peerlab.training.answer_step import step
from peerlab.training.profiled import ProfiledTraining
from peerlab.training.step_run import StepRun


def on_each_path(found: ProfiledTraining, shown: Scenario) -> list[StepRun]:
    """Return what the usual step of a trace would take on the cluster and the nodes of a scenario, path by path.

    Raises
    ------
    PeerlabError
        If the trace does not say how much was exchanged.
    """
    cluster = shown.given_cluster
    return [
        step(found.step(Scenario(cluster=cluster, nodes=shown.nodes, path=path, library=shown.library)))
        for path in cluster.paths
        # A bare path is a reference fabric: no rate of a machine, so nobody's step.
        if not PATHS[path].is_bare
    ]
