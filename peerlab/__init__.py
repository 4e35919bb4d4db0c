"""See where the bytes of an AllReduce go, and what each detour costs.

>>> import peerlab
>>> s = peerlab.Scenario(cluster="dl1", nodes=8, path="peer-direct", message_bytes="64 MiB")
>>> peerlab.simulate(s)
Run(dl1, 8 nodes, peer-direct, allreduce of 64 MiB: 2.45 ms, busbw 53.9 GB/s, NIC send 96 % busy)
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from peerlab.base.errors import PeerlabError
from peerlab.base.extras import extra_needed
from peerlab.base.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from peerlab.answer.run import Run
    from peerlab.app.explorer import Explorer
    from peerlab.diagnosis.diagnosis import diagnose
    from peerlab.engine.simulate import simulate
    from peerlab.features.blame.blaming import blame
    from peerlab.features.calibrate.calibration import calibrate
    from peerlab.features.choices.mapping import choices
    from peerlab.features.deck.write_deck import write_deck
    from peerlab.features.doctor.host import Host
    from peerlab.features.doctor.report import Report
    from peerlab.features.exercises.exercise_widget import Asked
    from peerlab.features.exercises.lessons.steps import steps
    from peerlab.features.exercises.predict import Prediction
    from peerlab.features.expect.expecting import expect
    from peerlab.features.export.pictures import export_still
    from peerlab.features.export.video import export_video
    from peerlab.features.measure.cuda.copy_cost import copy_cost
    from peerlab.features.measure.measurement import measure
    from peerlab.features.measure.pin_cost import pin_cost
    from peerlab.features.measure.ranks.memory.locked_memory import show_limit
    from peerlab.features.measure.reports.ratios import ratios
    from peerlab.features.neighbours.port_comparison import neighbours
    from peerlab.features.simulate.explain import explain
    from peerlab.features.site.site_folder import write_site
    from peerlab.features.step.step_explorer import StepExplorer
    from peerlab.features.suspects.suspecting import suspects
    from peerlab.features.sweep.sweeping import sweep
    from peerlab.features.tails.tails import tails
    from peerlab.features.wall.wall_chart import wall_chart
    from peerlab.model.hardware import Cluster
    from peerlab.model.registration import RegistrationCache
    from peerlab.question.effective_figures import why
    from peerlab.question.presets import known_clusters, load_cluster
    from peerlab.question.scenario import Scenario
    from peerlab.question.way import way
    from peerlab.records import Records
    from peerlab.study.jobs_answer import shared_fabric
    from peerlab.study.racing import race
    from peerlab.training.answer_step import step
    from peerlab.training.loading import load
    from peerlab.training.profiled import ProfiledTraining
    from peerlab.training.step_run import StepRun
    from peerlab.training.training_step import Step
    from peerlab.training.workload import Workload
    from peerlab.training.workload_file import known_workloads, load_workload

_HOMES = {
    "Cluster": "peerlab.model.hardware",
    "ProfiledTraining": "peerlab.training.profiled",
    "Records": "peerlab.records",
    "RegistrationCache": "peerlab.model.registration",
    "Run": "peerlab.answer.run",
    "Scenario": "peerlab.question.scenario",
    "Step": "peerlab.training.training_step",
    "StepRun": "peerlab.training.step_run",
    "Workload": "peerlab.training.workload",
    "known_workloads": "peerlab.training.workload_file",
    "load_workload": "peerlab.training.workload_file",
    "simulate": "peerlab.engine.simulate",
    "way": "peerlab.question.way",
}
"""Where public names of the kernel live; those of features are in their records. They are loaded when first used, as a measurement
starts processes that need few of them."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name) or _homes_of_features().get(name)
    if home is None:
        raise AttributeError(f"module 'peerlab' has no attribute {name!r}")
    value = globals()[name] = _loaded(home, name)
    return value


def _homes_of_features() -> dict[str, str]:
    """Return the module of each public name that a feature brings."""
    records = import_module("peerlab.features").features().values()
    return {name: module for record in records for name, module in record.functions.items()}


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_homes_of_features()})


def explore(scenario: "Scenario | None" = None, **fields: Any) -> "Explorer":
    """Return the live lab for a scenario, to be shown in a notebook; see :func:`peerlab.app.explore.explore`.

    >>> import peerlab
    >>> peerlab.explore(nodes=4).scenario.nodes
    4
    """
    show: Callable[..., Explorer] = _loaded("peerlab.app.explore", "explore")
    return show(scenario, **fields)


def explore_step(question: "Step | Scenario | None" = None, **given: Any) -> "StepExplorer":
    """Return a training step with switches, to be shown in a notebook; see :func:`peerlab.features.step.step_explorer.explore_step`.

    >>> import peerlab
    >>> [run.step.batch for run in peerlab.explore_step(workload="resnet50").runs]
    [128, 128]
    """
    show: Callable[..., StepExplorer] = _loaded("peerlab.features.step.step_explorer", "explore_step")
    return show(question, **given)


def predict(
    question: str,
    answers: Sequence[float],
    truth: Callable[[], float],
    unit: str = "x",
    how: str = "Simulated",
) -> "Prediction":
    """Return a question for a notebook whose answer is simulated; see :func:`peerlab.features.exercises.predict.predict`.

    >>> import peerlab
    >>> peerlab.predict("How long does it take?", [1, 2], lambda: 1.7, unit=" ms")
    Predict: How long does it take?
      1 ms, 2 ms
    Simulate it with .reveal().
    """
    ask: Callable[..., Prediction] = _loaded("peerlab.features.exercises.predict", "predict")
    return ask(question, answers, truth, unit, how)


def exercise(
    name: str, answer: Any = ..., records: "Records | None" = None, seed: int | None = None
) -> "Asked":
    """Return an exercise of the labs, to be shown in a notebook; see :func:`peerlab.features.exercises.exercise_widget.exercise`."""
    ask: Callable[..., Asked] = _loaded("peerlab.features.exercises.exercise_widget", "exercise")
    return ask(name, answer, records, seed)


def wait_for(name: str) -> None:
    """Let a cell of a lab wait until an exercise has been answered; see :func:`peerlab.features.exercises.exercise_widget.wait_for`."""
    wait: Callable[..., None] = _loaded("peerlab.features.exercises.exercise_widget", "wait_for")
    wait(name)


def progress() -> "pd.DataFrame":
    """Return which exercises of the labs are done in this folder; see :func:`peerlab.features.exercises.catalogue.table`.

    >>> import peerlab
    >>> peerlab.progress().columns.tolist()
    ['right', 'tries', 'hints']
    """
    table: Callable[[], pd.DataFrame] = _loaded("peerlab.features.exercises.catalogue", "table")
    return table()


def doctor(only: str | Sequence[str] = (), host: "Host | None" = None) -> "Report":
    """Return whether this host can do peer direct, and why; see :func:`peerlab.features.doctor.report.examine`.

    A notebook shows it as a table; ``.verdict``, ``.because`` and ``.findings`` are the same as values.
    """
    examine: Callable[..., Report] = _loaded("peerlab.features.doctor.report", "examine")
    return examine(host, only)


def export_html(
    subject: "Scenario | Run | Sequence[Scenario | Run]", path: "str | Path", **options: Any
) -> "Path":
    """Write a page that plays without a kernel, in any browser; see :func:`peerlab.features.export.page.export_html`.

    >>> import peerlab
    >>> peerlab.export_html(peerlab.step(workload="resnet50"), "step.html", controls={}).name
    'step.html'
    """
    write: Callable[..., Path] = _loaded("peerlab.features.export.page", "export_html")
    return write(subject, path, **options)


def _loaded(module: str, name: str) -> Any:
    """Return what a module defines; it may need an extra, such as widgets and Bokeh, and be slow to load."""
    with extra_needed(f"peerlab.{name}"):
        return getattr(import_module(module), name)


__all__ = [
    "Cluster",
    "PeerlabError",
    "ProfiledTraining",
    "Records",
    "RegistrationCache",
    "Run",
    "Scenario",
    "Step",
    "StepRun",
    "Workload",
    "__version__",
    "blame",
    "calibrate",
    "choices",
    "copy_cost",
    "diagnose",
    "doctor",
    "exercise",
    "expect",
    "explain",
    "explore",
    "explore_step",
    "export_html",
    "export_still",
    "export_video",
    "known_clusters",
    "known_workloads",
    "load",
    "load_cluster",
    "load_workload",
    "measure",
    "neighbours",
    "pin_cost",
    "predict",
    "progress",
    "race",
    "ratios",
    "shared_fabric",
    "show_limit",
    "simulate",
    "step",
    "steps",
    "suspects",
    "sweep",
    "tails",
    "wall_chart",
    "way",
    "why",
    "write_deck",
    "write_site",
]
