"""Whatever the cluster, the size and the path: every kind of slide, page, still, race and report can be made."""

from itertools import combinations, product

import pytest
from drawing import SOAK
from fewer_points import shorten_series

import peerlab
from peerlab.base.errors import ExportError, ScenarioError
from peerlab.diagnosis.diagnosis import diagnose
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.reading.outline import KINDS, Outline, SlidePlan
from peerlab.features.deck.slides import slides
from peerlab.features.deck.trained_step import SimulatedStep, TrainedStep
from peerlab.features.expect.expecting import expect
from peerlab.features.export.page import FIGURES, page_html
from peerlab.features.race.race_page import race_html
from peerlab.features.wall.wall_chart import wall_chart
from peerlab.model.paths import PATHS, PEER_DIRECT
from peerlab.page.embedded import RACES
from peerlab.picture.still import still_svg
from peerlab.picture.still_of_node import node_svg
from peerlab.study.fabric_comparison import compare_fabrics

SIZES = ("8 B", "64 KiB", "1 MiB", "16 MiB", "1 GiB")
EVERYWHERE = list(product(peerlab.known_clusters(), SIZES))
"""A cluster with a size."""
ONCE = ("p4d", "1 MiB")
"""It waits for latency, which is no resource: no slide could say what is busy."""

SMALL = TrainedStep({"workload": "resnet50"})
"""A step of few buckets, in place of the example's."""


@pytest.fixture
def simulate(monkeypatch):
    """Return what simulates each scenario once, for all pictures; slides over many nodes take few, and a step is shared."""
    runs, steps = {}, {}

    def once(scenario, **given):
        key = (scenario, scenario.hardware)
        return runs[key] if key in runs else runs.setdefault(key, peerlab.simulate(scenario, **given))

    def trained(_asked, base):
        key = base.hardware.name
        return steps[key] if key in steps else steps.setdefault(key, of(SMALL, base))

    of = SimulatedStep.of
    monkeypatch.setattr(SimulatedStep, "of", trained)
    monkeypatch.setattr("peerlab.features.export.album.simulate", once)
    monkeypatch.setattr(
        "peerlab.features.export.album._curves", lambda *_, **__: {}
    )  # those of a page are those of the lab
    monkeypatch.setattr("peerlab.study.racing.simulate", once)
    shorten_series(monkeypatch.setattr)
    return once


@pytest.mark.long("decks")
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("cluster", "size"),
    [pytest.param(*each, marks=pytest.mark.always if each == ONCE else ()) for each in EVERYWHERE],
)
def test_everything_can_be_made(simulate, tmp_path, cluster, size):
    machine = peerlab.load_cluster(cluster)
    again = f"{cluster}, {size}"
    runs = [
        simulate(peerlab.Scenario(cluster=cluster, nodes=2, path=path, message_bytes=size))
        for path in machine.paths
    ]
    for run in runs:
        assert still_svg(run), again
        assert still_svg(run, large=True), again
        assert node_svg(run), again
        assert run._repr_html_(), again
        if run.scenario.uses_nic and run.scenario.domains > 1:
            assert compare_fabrics(run.scenario)._repr_html_(), again
        else:
            with pytest.raises(ScenarioError, match="nothing leaves by a NIC"):
                compare_fabrics(run.scenario)
        reports(run, again)
        for figure in FIGURES:
            assert page_html(run, controls="", mode="figure", figure=figure), again
    for pair in combinations(runs, 2) if SOAK else ((runs[0], other) for other in runs[1:]):
        race = peerlab.race(*pair)
        assert all(race_html(race, layout=layout, bands=False) for layout in RACES.values()), again
        assert race._repr_html_(), again
        assert pair[0].gain_band(pair[1])._repr_html_(), again
    for over in ("paths", "clusters"):
        assert wall_chart(runs[0].scenario, tmp_path / f"{over}.svg", over=over), again
    review(simulate, machine, size, again)


def reports(run, again):
    """Make every report that is about a scenario, and about a log that took as long as it does."""
    asked, ranks = run.scenario, run.scenario.ranks
    row = {
        "kind": "imported",
        "source": "nccl-tests: simulated",
        "collective": "allreduce",
        "variant": "out-of-place",
    }
    figures = {"size_bytes": asked.nbytes, "ranks": ranks, "nodes": asked.nodes, "time_s": run.time_s}
    log = peerlab.Records.of([row | figures], {"tool": "nccl-tests"})
    assert peerlab.why(asked), again
    assert len(peerlab.way(asked)), again
    assert expect(asked.cluster, path=asked.path, sizes=[asked.nbytes]).as_dict(), again
    for verdict in expect(asked.cluster, log=log):
        assert verdict.as_dict(), again
    assert diagnose(log, asked.cluster)._repr_html_(), again


def review(simulate, machine, size, again):
    """Make every slide that needs no log, where there are two ways to compare."""
    beside = "p4d" if machine.name == "dl1" else "dl1"
    plans = tuple(SlidePlan(kind) for kind in KINDS if kind != "log")
    outline = Outline(
        scenario={"cluster": machine.name, "nodes": 2, "message_bytes": size}, beside=beside, slides=plans
    )
    staged = any(PATHS[path].is_staged for path in machine.paths)
    if not staged or PEER_DIRECT not in machine.paths:
        with pytest.raises(ExportError, match="has no path"):
            ComparedRuns(outline.scenario, simulate)
        return
    made = slides(outline, ComparedRuns(outline.scenario, simulate))
    left_out = {"wiring", "training"}  # where nobody assumes it, or the example cannot be
    assert len(made) >= len(plans) - len(left_out), again
