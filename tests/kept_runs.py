"""Runs that tests share: who simulates a scenario again in one process is given the run that is there; so are longer answers."""

from collections import OrderedDict

import peerlab.answer.run
import peerlab.engine.ports.simulate_ports
import peerlab.engine.simulate
from peerlab.base.latest import Latest
from peerlab.library.library_files import known_libraries
from peerlab.model.hardware import Cluster
from peerlab.question.presets import known_clusters
from peerlab.question.scenario import Scenario

MOST_ROWS = 6_000_000
"""Rows of spans in memory, about 500 MB a process."""
MOST_CELLS = 400_000
"""Cells of ports in memory, with all that happens to them about 500 MB a process."""


class KeptRuns:
    """Stands for the engines; keeps runs in which one node stands for all, and what they told of their progress."""

    def __init__(self):
        self._simulate = peerlab.engine.simulate._simulate
        self._kept = OrderedDict()
        self._rows = 0

    def __call__(self, scenario, engine, progress, *, every_node):
        if not _known(scenario):
            return self._simulate(scenario, engine, progress, every_node=every_node)
        key = (scenario, scenario.hardware, engine, every_node)
        if key in self._kept:
            self._kept.move_to_end(key)
            run, told = self._kept[key]
            for report in told if progress else ():
                progress(*report)
            return run
        told = []

        def telling(*report):
            told.append(report)
            if progress:
                progress(*report)

        run = self._simulate(scenario, engine, telling, every_node=every_node)
        if run.trace.folded:
            self._keep(key, run, told)
        return run

    def _keep(self, key, run, told):
        self._kept[key] = run, told
        self._rows += len(run.recording.spans["start"])
        while self._rows > MOST_ROWS:
            _, (oldest, _) = self._kept.popitem(last=False)
            self._rows -= len(oldest.recording.spans["start"])


class KeptScenes:
    """Stands for the engines of ports: a job alone is in many scenes, and a document simulates what is held to figures, too."""

    def __init__(self):
        self._simulate = peerlab.engine.ports.simulate_ports.simulate_ports
        # rows while nobody asked for their spans, then spans
        self._kept = Latest(
            most=10**6, most_weight=MOST_CELLS, weigh=lambda trace: len(trace.sent or trace.cells), always=0
        )

    def __call__(self, scene, engine="loop"):
        return self._kept.get((scene, engine), lambda: self._simulate(scene, engine))


class KeptAnswers:
    """Stands for a function of ours that takes long: to the same question it gives the answer that is there."""

    def __init__(self, answer, question=lambda *asked: repr(asked)):
        self._answer, self._question = answer, question
        self._kept = {}

    def __call__(self, *asked):
        key = self._question(*asked)
        if key not in self._kept:
            self._kept[key] = self._answer(*asked)
        return self._kept[key]


class KeptBands:
    """Stands for a function that tells how sure an answer is: of the same scenarios, which say by themselves what is simulated, it tells the same."""

    def __init__(self, band):
        self._band = band
        self._kept = {}

    def __call__(self, *asked):
        scenarios = [one for one in asked if isinstance(one, Scenario)]
        if not all(map(_known, scenarios)):
            return self._band(*asked)
        here = [one for one in asked if isinstance(one, float)]
        key = (*scenarios, *(one.hardware for one in scenarios), *here)
        if key not in self._kept:
            self._kept[key] = self._band(*asked)
        return self._kept[key]


def _known(scenario):
    """Return whether a scenario says by itself what is simulated: a file may be another one meanwhile."""
    cluster = isinstance(scenario.cluster, Cluster) or scenario.cluster in known_clusters()
    return cluster and (scenario.library is None or scenario.library in known_libraries())


def stand_ins():
    """Return what stands for functions of ours, by their places."""
    from peerlab.features.validate import validation
    from peerlab.features.validate.held_out import unseen

    scenes = KeptScenes()
    return {
        "peerlab.engine.simulate._simulate": KeptRuns(),
        "peerlab.study.jobs_as_cells.simulate_ports": scenes,
        "peerlab.study.port_answer.simulate_ports": scenes,
        "peerlab.answer.run.gain_band": KeptBands(peerlab.answer.run.gain_band),
        "peerlab.answer.run.band": KeptBands(peerlab.answer.run.band),
        "peerlab.features.validate.validation._answer": KeptAnswers(validation._answer),
        "peerlab.features.validate.held_out.unseen._unseen": KeptAnswers(
            unseen._unseen, lambda machine, _: machine
        ),
    }
