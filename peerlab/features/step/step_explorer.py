"""`peerlab.explore_step()`: a training step with switches, in a notebook; the picture below plays what they ask for."""

import asyncio
import json
import threading
from contextlib import suppress
from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets as w

from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.base.units import MIB, say_bytes
from peerlab.features.step.step_page import runs_frame
from peerlab.features.step.step_parcel import headline_of
from peerlab.model.paths import PATHS, PEER_DIRECT, path_title
from peerlab.page import style
from peerlab.page.widgets import Spoken, classed, pair, row, select, slider, switch
from peerlab.question.scenario import Scenario
from peerlab.training.answer_step import step
from peerlab.training.step_band import StepGain, step_gain
from peerlab.training.step_run import StepRun
from peerlab.training.training_step import SHARDS, Step
from peerlab.training.workload_file import known_workloads, load_workload

_POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_NODES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_BUCKETS: tuple[int | str, ...] = (MIB, 5 * MIB, 25 * MIB, 100 * MIB, 400 * MIB, "all")
_PASSES = (1, 2, 4, 8, 16, 24)
_ALONE = "alone"
_REST_S = 0.8
"""How sure a gain is is computed so long after a change, so that the change has the processor."""


def explore_step(question: Step | Scenario | None = None, **given: Any) -> "StepExplorer":
    """Return a training step with switches, to be shown in a notebook.

    Parameters
    ----------
    question:
        A `Step`, or the `Scenario` that it is trained on; default: ``Scenario()``.
    given:
        Fields of a step and of its scenario, side by side, as :func:`peerlab.step` takes them.

    Raises
    ------
    PeerlabError
        If the question is impossible.
    """
    asked = question.with_(**given) if isinstance(question, Step) else Step.of(question, **given)
    return StepExplorer(asked)


class StepExplorer(Spoken):
    """The switches of a step, and the page that plays it; a step on one data path, or beside it on a second one.

    Attributes
    ----------
    runs:
        What is shown: one `StepRun`, or two.
    """

    def __init__(self, asked: Step) -> None:
        self.asked = asked
        self.runs: list[StepRun] = []
        self._task: asyncio.Task[None] | None = None
        self.status = classed(w.HTML(), "pl-step-status")
        self.page = w.HTML()
        self.sure = classed(w.HTML(), "pl-step-sure")
        self._make(asked)
        super().__init__(
            [
                w.HTML(f"<style>{style('page')}</style>", layout={"display": "none"}),
                classed(row(self._controls, "pl-primary"), "pl-step-controls"),
                self.status,
                self.page,
                self.sure,
            ]
        )
        self.add_class("pl-explorer")
        # At once and not in a task: what is shown has a picture, whether a loop runs or not.
        self._take([self._answer(question) for question in self._questions()])
        with suppress(RuntimeError):  # no event loop, so no page
            self._task = asyncio.get_running_loop().create_task(self._say_how_sure(self.runs))

    def _make(self, asked: Step) -> None:
        """Make the controls, with what the step has."""
        s, cluster = asked.scenario, asked.scenario.given_cluster
        paths = [(path_title(path), path) for path in cluster.paths if not PATHS[path].is_bare]
        names: list[tuple[str, Any]] = [
            (load_workload(workload).title, workload) for workload in known_workloads()
        ]
        # A workload of one's own stands first: it is what was asked for.
        if asked.workload not in known_workloads():
            names = [(asked.model.title, asked.workload), *names]
        self.workload = select("Workload", names, "pl-step-workload")
        self.path = select("Data path", paths, "pl-step-path")
        self.beside = select(
            "Compared with",
            [("nothing", _ALONE), *paths],
            "pl-step-beside",
            "A second data path on the same clock",
        )
        self.nodes = slider("Nodes", _numbers(_NODES, s.nodes), "pl-step-nodes")
        self.batch = slider("Batch", _numbers(_POWERS, int(asked.batch or 1)), "pl-step-batch")
        self.passes = select(
            "Passes", _numbers(_PASSES, asked.accumulate), "pl-step-passes", "Passes before an exchange"
        )
        # What was asked for is among the usual limits, or behind them.
        limits = dict.fromkeys([*_BUCKETS, asked.bucket_bytes])
        self.bucket = select(
            "Bucket",
            [(limit if isinstance(limit, str) else say_bytes(limit), limit) for limit in limits],
            "pl-step-bucket",
            "Gradients that are exchanged as one",
        )
        self.shard = select(
            "Sharding",
            [(shard, shard) for shard in SHARDS],
            "pl-step-shard",
            "What each device keeps only its part of",
        )
        self.overlap = switch("Overlap", "pl-step-overlap")
        self.cache = switch("Registration cache", "pl-step-cache")
        self._controls = self._in_a_row()
        self._begin(asked)

    def _in_a_row(self) -> list[w.Widget]:
        """Return the controls as they stand, with a button for the rare ones, which the page's style folds unless they are changed."""
        self.more = w.ToggleButton(description="More", tooltip="Rarer settings", icon="caret-right")
        classed(self.more, "pl-plain", "pl-more-button", "pl-step-more")
        sliders = [
            classed(pair(control, _value_beside(control)), "pl-step-often")
            for control in (self.nodes, self.batch)
        ]
        self._usual = {self.passes: Step.accumulate, self.bucket: Step.bucket_bytes, self.shard: Step.shard, self.overlap: Step.overlap, self.cache: True}  # fmt: skip
        often = [self.workload, self.path, self.beside, *sliders, self.more]
        return [*often, *(classed(control, "pl-step-rare") for control in self._usual)]

    def _begin(self, asked: Step) -> None:
        """Give the controls the values of a step, and listen to them."""
        s, cluster = asked.scenario, asked.scenario.given_cluster
        usual = PEER_DIRECT if s.path != PEER_DIRECT and PEER_DIRECT in cluster.paths else _ALONE
        values = (
            (self.workload, asked.workload), (self.path, s.path), (self.beside, usual), (self.nodes, s.nodes), (self.batch, asked.batch),
            (self.passes, asked.accumulate), (self.bucket, asked.bucket_bytes), (self.shard, asked.shard), (self.overlap, asked.overlap),
            (self.cache, s.registration != "per-transfer"),
        )  # fmt: skip
        for control, value in values:
            # The value before the ear: setting it is no change of the user's.
            control.value = value
            control.observe(lambda _: self._changed(), "value")
        self._mark()

    def _mark(self) -> None:
        """Mark the rare controls that are not as usual: they are not folded."""
        for control, usual in self._usual.items():
            (control.remove_class if control.value == usual else control.add_class)("pl-changed")

    def _questions(self) -> list[Step]:
        """Return what the controls ask for: a step, and beside it the same on a second path."""
        # What the switch goes back to where the step began without a cache.
        cached = (
            "cached"
            if self.asked.scenario.registration == "per-transfer"
            else self.asked.scenario.registration
        )
        changed = self.workload.value != self.asked.workload
        asked = self.asked.with_(
            workload=self.workload.value, batch=self.batch.value, accumulate=self.passes.value, bucket_bytes=self.bucket.value,
            shard=self.shard.value, overlap=self.overlap.value, nodes=self.nodes.value, path=self.path.value,
            registration=cached if self.cache.value else "per-transfer",
            # Another workload has its own times and its own precision.
            **({"gradient_dtype": None, "compute_ms": None} if changed else {}),
        )  # fmt: skip
        beside = self.beside.value
        return [asked] if beside in (_ALONE, asked.scenario.path) else [asked, asked.with_(path=beside)]

    @staticmethod
    def _answer(asked: Step) -> StepRun:
        return step(asked)

    def _changed(self) -> None:
        """Answer what is asked now; without a running loop, as in a plain shell, at once."""
        self._mark()
        # What runs in a thread goes on, but nobody waits for it any more.
        if self._task:
            self._task.cancel()
        try:
            steps = self._questions()
        except PeerlabError as problem:
            self._refuse(problem)
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._try(steps)
            return
        self.status.value = "<p role='status'>Simulating</p>"
        self._task = loop.create_task(self._later(steps))

    async def _later(self, asked: list[Step]) -> None:
        try:
            # In a thread, one after the other: the notebook's kernel goes on to hear its switches.
            runs = [await asyncio.to_thread(self._answer, asked_step) for asked_step in asked]
        except PeerlabError as problem:
            self._refuse(problem)
        else:
            self._take(runs)
            await self._say_how_sure(runs)

    async def _say_how_sure(self, runs: list[StepRun]) -> None:
        """Give the card of the page the range of the gain, once nothing has been changed for a moment."""
        if len(runs) < 2:
            return
        await asyncio.sleep(_REST_S)
        stop = threading.Event()
        try:
            sure = await asyncio.to_thread(_how_sure, runs, stop)
        except PeerlabError:  # an end of a range that is impossible: then there is no band
            return
        finally:
            stop.set()  # the thread ends soon after this is cancelled
        self.sure.value = _sure_html(runs, sure)

    def _try(self, steps: list[Step]) -> None:
        try:
            self._take([self._answer(asked_step) for asked_step in steps])
        except PeerlabError as problem:
            self._refuse(problem)

    def _take(self, runs: list[StepRun]) -> None:
        self.runs, self.status.value, self.sure.value = runs, "", ""
        self.page.value = runs_frame(runs)

    def _refuse(self, problem: PeerlabError) -> None:
        """Say what is impossible; the last picture stays."""
        self.status.value = f"<p role='alert'>{escape(str(problem))}</p>"

    def __repr__(self) -> str:
        return "; ".join(map(repr, self.runs))


def _value_beside(control: w.Widget) -> w.Widget:
    """Return the value of a slider, to stand beside it."""
    label = classed(w.Label(str(control.value)), "pl-step-value")
    control.observe(lambda event: setattr(label, "value", str(event["new"])), "value")
    return label


def _how_sure(runs: list[StepRun], stop: threading.Event) -> StepGain:
    """Return how sure the gain of the second is; `stop` ends it."""
    answer = runs[0].answer

    def unless_stopped(asked: Step) -> StepRun:
        if stop.is_set() or answer is None:
            raise Cancelled("something else is wanted")
        return answer(asked)

    # The band asks for many steps through `answer`: so it is there that a change of the switches ends it.
    first, second = (replace(run, answer=unless_stopped) for run in runs)
    return step_gain(second, first)


def _sure_html(runs: list[StepRun], sure: StepGain) -> str:
    """Return the headline with the range of the gain, for the page beside it, which goes on playing (`training.js`)."""
    headline = headline_of(runs, sure)
    return f"<p hidden data-headline='{escape(json.dumps(headline), quote=True)}'></p>"


def _numbers(usual: tuple[int, ...], here: int) -> list[tuple[str, int]]:
    """Return the values of a control, with that which it begins with."""
    return [(str(count), count) for count in sorted({*usual, here})]
