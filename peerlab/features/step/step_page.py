"""A training step as one HTML file: compute lane, buckets and exposed time above the data path, on one clock."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from peerlab.base.errors import ExportError
from peerlab.base.units import say_bytes
from peerlab.features.step.step_parcel import StepAlbum, StepControl, StepParcel, about, counted, source
from peerlab.features.step.step_report import step_html
from peerlab.page.played_page import played_frame, played_page
from peerlab.training.step_band import StepGain
from peerlab.training.step_run import StepRun

_LABELS = {"bucket_bytes": "bucket", "accumulate": "passes", "shard": "sharding", "path": "path"}
_TIPS = {
    "overlap": "buckets are exchanged while the devices still compute",
    "bucket_bytes": "gradients that are exchanged as one",
    "accumulate": "forward and backward passes before an exchange",
}
_MOST_STATES = 60
MOST_EXCHANGES = 2000
"""Exchanges of a step that a page shows."""


def step_page_html(
    runs: Sequence[StepRun],
    *,
    controls: Mapping[str, Sequence[Any]] | None = None,
    layout: str = "page",
    theme: str = "auto",
    sure: StepGain | None = None,
) -> str:
    """Return a page that plays a training step, as text.

    Parameters
    ----------
    runs:
        A step on one data path, or the same step on two.
    controls:
        Fields of a step, or of its scenario, to lists of values that the reader may choose from: ``{"batch": [2, 8, 24]}``. By default
        overlap on and off. Every combination is answered now.
    layout:
        ``page``, ``slide``, or ``frame`` in a notebook, which is as large as it is.
    theme:
        ``light``, ``dark``, or ``auto``: that of the notebook around it, else of the reader's system.

    sure:
        How sure the gain of the second is, as `peerlab.training.step_band.step_gain` tells; it is shown with the combination that
        the page begins with.

    Raises
    ------
    ExportError
        If there are more states, or a step has more exchanges, than a page should have.
    WorkloadError, ScenarioError
        If a combination is impossible.
    """
    parcel = step_parcel(runs, {"overlap": [True, False]} if controls is None else controls, sure)
    wanted = {"mode": layout, "theme": theme}
    return played_page(
        "training",
        "ts",
        about(runs[0]),
        {"step": parcel},
        ["training"],
        'class="ts-root ts-step"',
        wanted,
    )


def step_frame(run: StepRun) -> str:
    """Return a frame that plays a step in a notebook."""
    return runs_frame([run], {"overlap": [True, False]})


def runs_frame(runs: Sequence[StepRun], controls: Mapping[str, Sequence[Any]] | None = None) -> str:
    """Return a frame that plays a step on one data path, or on two, in a notebook; without controls of its own unless they are given."""
    page = step_page_html(runs, controls=controls or {}, layout="frame")
    # Two paths have one lane more than one.
    high = 600 if len(runs) == 1 else 690
    return played_frame(page, about(runs[0]), f"height:{high}px")


def step_parcel(
    runs: Sequence[StepRun], controls: Mapping[str, Sequence[Any]], sure: StepGain | None = None
) -> StepParcel:
    """Return what the page needs; it begins with the runs where their values are among the controls', and `sure` is their gain's."""
    if not 1 <= len(runs) <= 2:
        raise ExportError(f"a page shows a step on one data path or two, not {len(runs)}")
    # Before the first answer: every state is simulated, and a page of thousands would take hours.
    if (number := prod(len(values) for values in controls.values())) > _MOST_STATES:
        raise ExportError(
            f"controls: {number} states are too many for a page of a step; give {_MOST_STATES} at most"
        )
    if any(len(run.trace.placed) > MOST_EXCHANGES for run in runs):
        raise ExportError(
            f"a step of more than {MOST_EXCHANGES} exchanges is too long for a page; give fewer passes or larger buckets"
        )
    album = StepAlbum()
    states = []
    for values in product(*controls.values()):
        change = dict(zip(controls, values, strict=True))
        answers = [run.answer for run in runs]
        if None in answers:
            raise ExportError("a page shows steps that peerlab.step answered")
        step_runs = [run.answer(run.step.with_(**change)) for run in runs if run.answer]
        # The band is that of the runs given: no other state has it.
        same = all(step_run.step == other.step for step_run, other in zip(step_runs, runs, strict=True))
        states.append(album.state(step_runs, sure if same else None))
    return {
        "about": about(runs[0]),
        "counted": counted(runs[0]),
        "source": source(runs[0]),
        "controls": [_control(name, values) for name, values in controls.items()],
        "start": [_start(runs[0], name, values) for name, values in controls.items()],
        "states": states,
        "roads": album.roads,
    }


def _control(name: str, values: Sequence[Any]) -> StepControl:
    return {
        "label": _LABELS.get(name, name.replace("_", " ")),
        "tip": _TIPS.get(name, ""),
        "values": [_value_text(name, value) for value in values],
    }


def _value_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return say_bytes(value) if name.endswith("_bytes") and isinstance(value, int) else str(value)


def _start(run: StepRun, name: str, values: Sequence[Any]) -> int:
    # A control changes a field of the step or of its scenario.
    here = getattr(run.step, name, getattr(run.step.scenario, name, None))
    return next((place for place, value in enumerate(values) if value == here), 0)


def played_html(run: StepRun) -> str:
    """Return a training step in a frame that plays it, and below it what that leaves out."""
    return step_frame(run) + step_html(run)
