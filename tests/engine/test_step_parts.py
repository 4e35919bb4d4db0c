"""The parts that answer a training step: one exchange after the other, or all of them in one world."""

import peerlab
from peerlab.training.answer_step import step
from peerlab.training.program import program
from peerlab.training.step_composition import carries, compose, scenario_of
from peerlab.training.training_step import Step
from peerlab.training.whole_step import World

ASKED = Step.of(workload="resnet50", nodes=2, path="peer-direct", library="none")


def test_a_composition_places_each_exchange_when_it_is_ready_and_the_one_before_is_over():
    placed = compose(ASKED, program(ASKED)).placed
    assert len(placed) == 5
    free = 0
    for one in placed:
        assert one.begin_ps == max(one.ready_ps, free)
        assert one.run.time_ps == peerlab.simulate(scenario_of(ASKED, one.op)).time_ps
        free = one.end_ps


def test_one_world_says_the_same():
    written = program(ASKED)
    whole = World(ASKED, written).run()
    assert [(one.begin_ps, one.end_ps) for one in whole.placed] == [
        (one.begin_ps, one.end_ps) for one in step(ASKED).trace.placed
    ]
    assert not carries(ASKED.scenario)
    assert carries(ASKED.scenario.with_(cache_regions=4))
