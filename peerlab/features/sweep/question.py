"""A question of many scenarios: a base, the fields that vary, and a fingerprint for each answer."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from peerlab.base.checks import check_switch
from peerlab.base.errors import ScenarioError, nearest
from peerlab.base.units import parse_bytes
from peerlab.base.version import __version__
from peerlab.engine.simulate import simulate
from peerlab.engine.system import foldable
from peerlab.features.sweep.batch_worker import SweepBatch
from peerlab.features.sweep.shards import Shard
from peerlab.library.library_record import Library
from peerlab.library.library_words import LIBRARY_FIGURES
from peerlab.model.collective import COLLECTIVES
from peerlab.model.hardware import FIGURE_FIELDS, WHAT_IF, Cluster
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario, checked_scenario
from peerlab.question.scenario_fields import FIELDS

ERROR = "error"
"""The column with the reason why a combination is impossible."""

_FIELDS = tuple(field.name for field in fields(Scenario))


@dataclass(frozen=True)
class SweepCase:
    """One combination of a question."""

    change: dict[str, Any]
    """What differs from the base; clusters are loaded, so that a worker needs no file."""
    shown: dict[str, Any]
    """The varied fields as a table shows them."""
    reason: str | None
    """Why there is no such scenario; None if there is one."""
    fingerprint: str
    """A hash of all that the answer depends on: every field, every figure of the cluster, peerlab's version."""


@dataclass(frozen=True)
class Question:
    """The cartesian product of what varies, on a base."""

    base: Scenario
    """Gives every field that does not vary."""
    varied: dict[str, tuple[Any, ...]]
    """Field to values, in the order given."""
    shard: Shard | None = None
    """Which share of the combinations is asked for; None: all."""
    iteration_times: bool = False
    """Whether a row also says how long each iteration took."""

    @classmethod
    def ask(
        cls,
        base: Scenario | None,
        given: Mapping[str, Any],
        also_known: Sequence[str] = (),
        shard: Shard | None = None,
        *,
        iteration_times: bool = False,
    ) -> "Question":
        """Return the question; `also_known` are names to offer to someone who misspells one.

        Without a base a cluster is asked for on its usual path; a base has a path, which goes for every cluster.

        Raises
        ------
        ScenarioError, HardwareError
            If a field does not exist, or a value is impossible whatever the others are.
        """
        for name in given:
            if name not in _FIELDS:
                raise ScenarioError(name, f"unknown field; {nearest(name, [*_FIELDS, *also_known])}")
        check_switch("iteration_times", iteration_times)
        if base is not None:
            checked_scenario(base)
        else:
            base, given = Scenario(), {**given, **({"path": given.get("path")} if "cluster" in given else {})}
        varied = {name: values_of(name, value) for name, value in given.items()}
        for name, values in varied.items():
            if not values:
                raise ScenarioError(name, "no value is given; give one or more, as in [2, 4, 8]")
        question = cls(base.with_(cluster=base.hardware), varied, shard, iteration_times)
        question._refuse_what_is_always_wrong()
        return question

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Which of all combinations are asked for."""
        return tuple(place for place in range(len(self.every)) if self.shard is None or self.shard.has(place))

    @cached_property
    def cases(self) -> tuple[SweepCase, ...]:
        """The combinations that are asked for."""
        return tuple(self.every[place] for place in self.places)

    @cached_property
    def every(self) -> tuple[SweepCase, ...]:
        """Every combination, the last field varying fastest, whatever the shard."""
        loaded = {
            **self.varied,
            **({"cluster": map(_load, self.varied["cluster"])} if "cluster" in self.varied else {}),
        }
        ours = product(*self.varied.values())
        return tuple(
            self._case(scenario, change)
            for scenario, change in zip(ours, product(*loaded.values()), strict=True)
        )

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The machines that are asked about."""
        return tuple(dict.fromkeys(case.change.get("cluster", self.base.hardware) for case in self.cases))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the table's columns: what varies, the figures of a run, and the reason why there are none."""
        figures = figure_names(iteration_times=self.iteration_times)
        return (*self.varied, *(name for name in figures if name not in self.varied), ERROR)

    def batch(self, cases: Sequence[SweepCase]) -> SweepBatch:
        """Return some of the cases as a worker takes them."""
        return SweepBatch(self.base, tuple(case.change for case in cases), __version__, self.iteration_times)

    def row(self, case: SweepCase, answer: Mapping[str, Any] | str | None) -> dict[str, Any]:
        """Return a row of the table: figures, or what was asked and why there are none; None where there is no value."""
        if isinstance(answer, Mapping):
            return {**dict.fromkeys(self.columns), **answer, **case.shown}
        options = {name: getattr(self.base, name) for name in _FIELDS} | case.change
        for name in (
            "registration",
            *LIBRARY_FIGURES,
        ):  # a run shows them where they matter, as they were used
            options.pop(name, None)
        entries = {name: shown_value(name, value) for name, value in options.items() if name in self.columns}
        return {**dict.fromkeys(self.columns), **entries, **case.shown, ERROR: answer}

    def whole(self, case: SweepCase, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row of a file with what was asked; what a file of before has no columns for is filled in."""
        if all(name in row for name in self.columns):
            return {**row, **case.shown}
        used = {} if case.reason is not None else self.base.with_(**case.change).library_figures
        entries = {name: used.get(name) for name in self.columns if name not in row}
        return {**row, **entries, **case.shown}

    def _case(self, given: tuple[Any, ...], loaded: tuple[Any, ...]) -> SweepCase:
        change = dict(zip(self.varied, loaded, strict=True))
        shown = dict(zip(self.varied, given, strict=True))
        options = {name: getattr(self.base, name) for name in _FIELDS} | change
        reason, scenario = None, None
        try:
            scenario = self.base.with_(**change)
        except ScenarioError as problem:
            reason = str(problem)
        else:
            options = {name: getattr(scenario, name) for name in _FIELDS}
            shown = {name: options[name] for name in shown} | (
                {"cluster": shown["cluster"]} if "cluster" in shown else {}
            )
        shown = {name: shown_value(name, value) for name, value in shown.items()}
        return SweepCase(change, shown, reason, _fingerprint(options, scenario))

    def _refuse_what_is_always_wrong(self) -> None:
        places = product(*(range(len(values)) for values in self.varied.values()))
        good = zip(self.every, places, strict=True)
        # A value that is possible in one combination is no slip: the others have their reasons in the table.
        possible = {at for case, place in good if case.reason is None for at in enumerate(place)}
        for index, (name, values) in enumerate(self.varied.items()):
            for place, value in enumerate(values):
                if (index, place) not in possible:
                    _check_possible(name, value)


@cache
def figure_names(*, iteration_times: bool) -> tuple[str, ...]:
    """Return the names of a run's figures, read off the smallest run there is."""
    smallest = simulate(Scenario(cluster="ideal-100g", nodes=2, message_bytes=1))
    return tuple(smallest.as_dict(iteration_times=iteration_times))


def values_of(name: str, given: Any) -> tuple[Any, ...]:
    """Return the values of a field: a list of them, or one."""
    if isinstance(given, (set, frozenset)):
        raise ScenarioError(name, "a set has no order; give a list")
    if isinstance(given, np.ndarray):
        given = given.tolist()
    single = not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping))
    numbers = isinstance(given, tuple) and all(hasattr(number, "__index__") for number in given)
    if numbers and name in FIELDS and FIELDS[name].for_each_node:
        single = True
    return tuple(v.item() if isinstance(v, np.generic) else v for v in ((given,) if single else given))


def _load(cluster: Any) -> Cluster:
    return cluster if isinstance(cluster, Cluster) else Scenario(cluster=cluster).hardware


def shown_value(name: str, value: Any) -> Any:
    """Return a value as a table shows it: a size in bytes, a cluster by name and by what was changed in it."""
    if isinstance(value, Cluster):
        changed = [f"{f.key} {f}" for f in value.figures.values() if f.assumption == WHAT_IF]
        return f"{value.name} with {', '.join(changed)}" if changed else value.name
    if name.endswith("_bytes") and isinstance(value, str):
        with suppress(ValueError):  # such as "auto"
            return parse_bytes(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Library):
        return value.name
    return str(value) if isinstance(value, Path) else value


@lru_cache(maxsize=64)
def _figures_of(cluster: Cluster) -> dict[str, Any]:
    return {name: getattr(cluster, name) for name in ("name", "paths", *FIGURE_FIELDS.values())}


def _fingerprint(asked: Mapping[str, Any], scenario: Scenario | None) -> str:
    document: list[Any] = [
        __version__,
        _figures_of(asked["cluster"]),
        {k: str(v) if isinstance(v, Mapping) else v for k, v in asked.items() if k != "cluster"},
    ]
    if scenario and scenario.registers and not foldable(scenario):
        # files that lack this hold registrations of all nodes in such rows: they are answers to something else
        document.append("registrations on one switch")
    return sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _check_possible(name: str, value: Any) -> None:
    """Refuse a value that no scenario on a known cluster can have.

    Raises
    ------
    ScenarioError
        With the words of the scenario that refused it first.
    """
    if value in tuple(FIELDS[name].words_of_some):  # another cluster may have it
        # Any machine, any collective: what is refused here is wrong whatever the other fields are.
        return
    problems = []
    for collective in COLLECTIVES:
        for cluster in known_clusters():
            try:
                Scenario(**{"cluster": load_cluster(cluster), "collective": collective, name: value})
            except ScenarioError as problem:
                problems.append(problem)
            else:
                return
    raise problems[0]
