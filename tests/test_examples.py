"""Every public name has an example in its docstring that holds, or a reason why it has none."""

import doctest
import inspect
import sys

import pytest

import peerlab

NO_EXAMPLE = {
    "ProfiledTraining": "it is read from a trace of PyTorch's profiler, which is no line long",
    "calibrate": "it needs a log of several sizes",
    "doctor": "its answer is that of the machine where it runs",
    "exercise": "its card writes the learner's progress; the labs show it",
    "export_video": "it needs ffmpeg",
    "measure": "it measures the machine where it runs",
    "copy_cost": "it needs an NVIDIA GPU",
    "pin_cost": "it measures the machine where it runs",
    "ratios": "it compares what was measured on the machine where it runs",
    "show_limit": "its answer is that of the kernel where it runs",
    "write_deck": "it simulates many machines, which takes some ten seconds",
    "write_site": "it needs the package of Pyodide",
}
PUBLIC = [
    name for name in peerlab.__all__ if inspect.isfunction(getattr(peerlab, name)) or inspect.isclass(getattr(peerlab, name))
]  # fmt: skip


def examples(name):
    public = getattr(peerlab, name)
    around = dict(vars(sys.modules[public.__module__]))
    return [
        test
        for test in doctest.DocTestFinder(recurse=False).find(public, name, globs=around)
        if test.examples
    ]


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_public_name_holds(name):
    found = examples(name)
    assert bool(found) != (name in NO_EXAMPLE), "an example, or a reason why there is none"
    for test in found:
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        complaints = []
        runner.run(test, out=complaints.append)
        assert not runner.failures, "".join(complaints)


def test_reasons_are_given_for_public_names_alone():
    assert set(NO_EXAMPLE) <= set(PUBLIC)
