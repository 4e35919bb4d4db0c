"""What takes records, a scenario or a list says in one line what it wants, where it is given something else."""

import pytest

import peerlab

RECORDS = {
    "diagnose": peerlab.diagnose,
    "calibrate": lambda given: peerlab.calibrate(given, "dl1"),
    "ratios": peerlab.ratios,
    "expect": lambda given: peerlab.expect(log=given),
    "exercise": lambda given: peerlab.exercise("04-noise", records=given),
    "explore": lambda given: peerlab.explore(records=given),
}
OTHERS = {
    "blame": peerlab.blame,
    "choices": peerlab.choices,
    "doctor": peerlab.doctor,
    "doctor of a host": lambda given: peerlab.doctor(host=given),
    "exercise": peerlab.exercise,
    "expect": peerlab.expect,
    "explain": peerlab.explain,
    "explore": peerlab.explore,
    "explore_step": peerlab.explore_step,
    "export_html": lambda given: peerlab.export_html(given, "page.html"),
    "export_still": lambda given: peerlab.export_still(given, "still.svg"),
    "export_video": lambda given: peerlab.export_video(given, "film.mp4"),
    "load": peerlab.load,
    "load_cluster": peerlab.load_cluster,
    "load_workload": peerlab.load_workload,
    "neighbours": peerlab.neighbours,
    "predict": lambda given: peerlab.predict(given, [1, 2], lambda: 1.0),
    "predict from words": lambda _: peerlab.predict("How many?", "one", lambda: 1.0),
    "race": peerlab.race,
    "shared_fabric": peerlab.shared_fabric,
    "shared_fabric of one": lambda given: peerlab.shared_fabric([given]),
    "simulate": peerlab.simulate,
    "step": peerlab.step,
    "steps": peerlab.steps,
    "suspects": peerlab.suspects,
    "sweep": lambda given: peerlab.sweep(given, progress=False),
    "tails": lambda given: peerlab.tails(given, progress=False),
    "wall_chart": lambda given: peerlab.wall_chart(given, "chart.svg"),
    "way": peerlab.way,
    "why": peerlab.why,
    "write_deck": lambda given: peerlab.write_deck(given, "deck"),
    "write_site": peerlab.write_site,
}


@pytest.mark.parametrize(
    "given", ["run.log", 3, {"size": 8}, object()], ids=["text", "number", "dict", "object"]
)
@pytest.mark.parametrize("name", RECORDS)
def test_what_takes_records_refuses_anything_else_in_the_same_words(name, given):
    with pytest.raises(
        peerlab.PeerlabError, match=r"are no records; give what peerlab\.load or peerlab\.measure"
    ):
        RECORDS[name](given)


@pytest.mark.parametrize(
    "name", sorted(RECORDS.keys() - {"exercise"})
)  # an exercise is of its own measurement then
def test_no_records_at_all_are_refused_where_they_have_to_be_given(name):
    with pytest.raises(peerlab.PeerlabError):
        RECORDS[name](None)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.usefixtures("own_folder")
def test_what_a_function_cannot_take_is_told_in_one_line(name):
    for given in (3, object()):
        with pytest.raises(peerlab.PeerlabError) as problem:
            OTHERS[name](given)
        assert "\n" not in str(problem.value)
