"""`peerlab simulate`: the figures of one question, on one data path or all of them."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import peerlab
from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError, ScenarioError
from peerlab.base.progress_bar import progress_bar, say_seconds
from peerlab.base.terminal_text import command, table
from peerlab.base.units import say_bytes, say_time
from peerlab.collectives.choose import slices
from peerlab.engine.expected_duration import forecast_s, makes_too_many, offer
from peerlab.features.simulate.explain import explain
from peerlab.features.simulate.sensitivity_text import print_sensitivity, sensitivity_document
from peerlab.model.paths import PATHS
from peerlab.picture.wire import wire_share
from peerlab.question.fields import add_fields, fields_given
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario

_SIMULATE_EXAMPLES = """\
examples:
  peerlab simulate                                      every path of a DL1 cluster, 8 nodes, 64 MiB
  peerlab simulate --nodes 64 --message "1 GiB"         the same question, larger
  peerlab simulate --path peer-direct --cache-regions 4 a registration cache that is too small
  peerlab simulate --cluster my.toml --json             your own machine, for a script
  peerlab simulate --path host-rdma --trace run.json    every span, to be opened in ui.perfetto.dev
  peerlab simulate --path host-rdma --nodes 2 --message "512 KiB" --explain   what happens at each instant, in words
  peerlab simulate --sensitivity                        what each answer owes to the assumed figures

exit status: 0 answered, 1 the question is impossible (one line says why), 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "simulate",
        "time, bandwidth and bottleneck of a collective on every data path of a cluster",
        _simulate,
        epilog=_SIMULATE_EXAMPLES,
        argument_default=argparse.SUPPRESS,  # what is not given is the scenario's to decide
    )
    add = sub.add_argument
    add_fields(add, path="all that the cluster has", registration="cached, and per-transfer beside it")
    add("--trace", metavar="FILE", help="write every span of the run for ui.perfetto.dev; needs one --path")
    add(
        "--sensitivity",
        action="store_true",
        help="also say how the answer changes when each assumed figure lies at the ends of its range",
    )
    add(
        "--explain",
        action="store_true",
        help="say in words what happens at each instant; needs one --path, few nodes and a small message",
    )
    add("--json", action="store_true", help="print the figures as JSON")
    add(
        "--iteration-times",
        action="store_true",
        help="with --json: add iteration_times_s, every iteration with the cold ones, which takes longer",
    )


_OFFER_S = 10.0
"""A faster way is offered for what takes longer."""
_UNASKED_S = 10.0
"""What nobody asked for is left out where it takes longer."""


def _simulate(options: argparse.Namespace) -> int:
    entries = fields_given(options)
    cluster = load_cluster(entries.get("cluster", "dl1"))
    wanted, refused = _scenarios(entries, cluster.paths)
    _check_alone(options, len(wanted))
    if "iteration_times" in options and "json" not in options:
        raise PeerlabError("--iteration-times: the table has no place for them; add --json")
    wanted, left_out = _without_long(wanted, entries)
    runs = [_with_progress(scenario) for scenario in wanted]
    if "trace" in options:
        runs[0].to_perfetto(options.trace)
    if "explain" in options:
        print(explain(runs[0]))
        return 0
    # One path that was asked for is an error where it cannot be, not a line below the table.
    lacking = {} if "path" in entries else {**refused, **cluster.lacks}
    if "json" in options:
        document = {"runs": [_document(run, options) for run in runs], "paths_not_available": lacking}
        print(json.dumps(document | ({"left_out": left_out} if left_out else {}), indent=2))
    else:
        _print_table(runs, lacking)
        for line in left_out:
            print(line)
    if "sensitivity" in options and "json" not in options:
        print_sensitivity([(_name(run), run) for run in runs])
    return 0


def _check_alone(options: argparse.Namespace, runs: int) -> None:
    """Refuse, before anything is simulated, what is of one run where there are several, or stands alone."""
    for name in ("trace", "explain"):
        # two runs have no one trace
        if name in options and runs != 1:
            raise PeerlabError(
                f"--{name}: one run at a time; give --path, and --registration for peer-direct"
            )
    for name in ("json", "sensitivity"):
        if "explain" in options and name in options:
            raise PeerlabError(f"--explain: nothing but what happens is printed; leave --{name} out")


def _document(run: Run, options: argparse.Namespace) -> dict[str, Any]:
    more = {"sensitivity": sensitivity_document(run)} if "sensitivity" in options else {}
    return {**run.as_dict(iteration_times="iteration_times" in options), **more}


def _scenarios(given: dict[str, Any], all_paths: Sequence[str]) -> tuple[list[Scenario], dict[str, str]]:
    """Return a scenario for each path asked for, direct paths with and without a cache if neither was asked for, and why others cannot be.

    Raises
    ------
    ScenarioError
        If none of them can be.
    """
    scenarios, refused = [], {}
    for path in [given["path"]] if "path" in given else all_paths:
        both = (
            path in PATHS
            and PATHS[path].uses_device_memory
            # Nobody said how memory is registered: both answers stand side by side, as they differ most.
            and not {"registration", "cache_regions", "cache_bytes"} & given.keys()
        )
        choices = ("cached", "per-transfer") if both else (given.get("registration", "cached"),)
        try:
            scenarios += [Scenario(**{**given, "path": path, "registration": choice}) for choice in choices]
        # A path that cannot be is told below the others; alone it is the error.
        except ScenarioError as problem:
            refused[path] = problem
    if not scenarios:
        raise next(iter(refused.values()))
    return scenarios, {path: str(problem) for path, problem in refused.items()}


def _without_long(wanted: Sequence[Scenario], given: Mapping[str, Any]) -> tuple[list[Scenario], list[str]]:
    """Return what is simulated, and sentences of what is left out: rows that nobody asked for and that take long or are refused."""
    kept, left_out = [], []
    for scenario in wanted:
        uncached = "registration" not in given and scenario.registration != "cached"
        too_many = (uncached or "path" not in given) and makes_too_many(scenario)
        takes_s = forecast_s(scenario) if uncached else 0
        if takes_s < _UNASKED_S and not too_many:
            kept.append(scenario)
            continue
        asked = f"--path {scenario.path}" + (f" --registration {scenario.registration}" if uncached else "")
        takes = "more memory than there may be" if too_many else f"about {say_seconds(takes_s)}"
        left_out.append(f"left out, since it takes {takes}: {asked}")
    # where no row is left, the first says why
    return (kept, left_out) if kept else (list(wanted), [])


def _with_progress(scenario: Scenario) -> Run:
    """Simulate; what takes longer than a second shows its progress."""
    # Both are told before it begins, as long runs can then still be stopped.
    expected_s, faster = forecast_s(scenario), offer(scenario)
    if expected_s >= _OFFER_S and faster:
        print(f"peerlab: {faster}", file=sys.stderr)
    # Refused at once: to say before that it takes hours would be wrong.
    if makes_too_many(scenario):
        expected_s = 0.0
    with progress_bar(str(scenario.path), "steps", forecast_s=expected_s) as bar:
        return peerlab.simulate(scenario, progress=bar)


def _print_table(runs: list[Run], lacking: dict[str, str]) -> None:
    s = runs[0].scenario
    print(
        _title(s) + (" (more than the vendor's library allows: an extrapolation)" if s.extrapolates else "")
    )
    head = ("path", "time", "busbw", "wire busy", "bottleneck")
    rows = [_row(run) for run in runs]
    print(table(head, rows, right={1, 2, 3}))
    if all(run.scenario.data_path.is_bare for run in runs):
        lacking = {}  # a bare fabric has neither memory nor CPU, so no other path is missed
    for path, why in lacking.items():
        print(f"  {path.ljust(max(len(row[0]) for row in rows))}  not available: {why}")
    _print_libraries([run.scenario for run in runs])
    print(f"simulated from {s.hardware.counted}; GB = 10^9 bytes")
    if s.hardware.fitted_on:
        print(f"some figures were fitted on {s.hardware.fitted_on}: elsewhere an extrapolation")
    # The user gave an order of nodes, and must hear where it plays no part.
    if s.placement is not None and all(run.scenario.fabric.uniform for run in runs):
        print(f"placement changes nothing: on this fabric ({s.fabric.title}) all nodes are alike")


def _print_libraries(scenarios: Sequence[Scenario]) -> None:
    """Say what the library does on which paths (unless it is the same on all), and below it what of that is not solved."""
    # One line for each thing that a library does, with the paths on which it does it.
    for fromkey in dict.fromkeys(scenario.library_says for scenario in scenarios if scenario.library_says):
        mine = [scenario for scenario in scenarios if scenario.library_says == fromkey]
        on = (
            f" on {', '.join(dict.fromkeys(str(scenario.path) for scenario in mine))}"
            if len(mine) < len(scenarios)
            else ""
        )
        print(f"library{on}: {fromkey}")
        for misfit in dict.fromkeys(scenario.library_misfit for scenario in mine if scenario.library_misfit):
            print(f"  note: {misfit}")
        for unsolved in dict.fromkeys(what for scenario in mine for what in scenario.library_unsolved):
            print(f"  not known: {unsolved}")


def _title(s: Scenario) -> str:
    """Return what was simulated; how it goes only where it is not the cluster's own way."""
    # A message goes between two, however many nodes there are.
    two = s.collective_record.is_message
    parts = [_count(2 if two else s.nodes, "node"), _count(s.ranks, "rank")]
    if s.algorithm != "auto":
        parts.append(s.algorithm)
    if s.transport_says:
        parts.append(f"over {s.transport_says}")
    if s.slice_bytes != "auto":
        numbers = slices(s)
        parts.append(f"slices of {say_bytes(numbers[0])}" if len(numbers) > 1 else "transfers whole")
    if s.window is not None:
        parts.append(f"window {s.window}")
    if s.dependency != "auto":
        parts.append("blocking steps" if s.blocking else "each slice goes on at once")
    return f"{s.hardware.title}: {s.collective} of {say_bytes(s.nbytes)}, {', '.join(parts)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("s" if number != 1 else "")


def _name(run: Run) -> str:
    s = run.scenario
    if not s.data_path.uses_device_memory:
        return str(s.path)
    return (
        str(s.path) + {"cached": ", cached", "per-transfer": ", no cache", "pool": ", pool"}[s.registration]
    )


def _row(run: Run) -> tuple[str, str, str, str, str]:
    bottleneck, name = run.bottleneck, _name(run)
    if bottleneck is None:
        return name, "0 s", "-", "-", "one rank exchanges nothing"
    return (
        name,
        say_time(run.time_ps),
        f"{run.busbw_GBps:.3g} GB/s",
        wire_share(run),
        f"{bottleneck.label}, {bottleneck.says}",
    )
