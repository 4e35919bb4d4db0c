"""`peerlab step`: a step of a training, or of a profiler's trace, on each data path."""

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any

import peerlab
from peerlab.base.document import document_text
from peerlab.base.errors import PeerlabError, TooManySpansError
from peerlab.base.progress_bar import progress_bar, say_seconds
from peerlab.base.terminal_text import command, fraction, number, slow_node, switch
from peerlab.base.units import PS_PER_MS, say_time
from peerlab.features.step.step_document import step_document
from peerlab.model.paths import PATHS
from peerlab.question.fields import PartsTogether, add_fields, check_needs
from peerlab.question.presets import load_cluster
from peerlab.training.loading import load_trace
from peerlab.training.profiled import ProfiledTraining
from peerlab.training.step_composition import step_forecast_s
from peerlab.training.step_run import StepRun
from peerlab.training.training_step import DRAWS, OPENS, SHARDS, Step
from peerlab.training.workload import ITEM_BYTES
from peerlab.training.workload_file import known_workloads

_EXAMPLES = """\
examples:
  peerlab step                                          ResNet-50 on 8 nodes of DL1, on every data path
  peerlab step --workload bert-large --batch 8          a batch at which the path matters
  peerlab step --workload bert-large --bucket all       one bucket: nothing overlaps
  peerlab step --workload gpt-1.5b --shard fsdp         fully sharded
  peerlab step --compute-ms 300 --cluster my.toml       a time of your own, for a device that nobody measured
  peerlab step --path peer-direct --exchanges           each bucket: ready, begin, end, exposed
  peerlab step --trace rank0.json.gz --cluster p4d      a step of your own, as PyTorch's profiler saw it
  peerlab step --slow-compute 4:0.8 --cluster p4d       one node computes slowly: who waits for it, and how long
  peerlab step --compute-jitter 0.05 --jitter 0.1       nodes that differ: each begins an exchange when it is ready
  peerlab step --slow-compute 4:0.8 --library none --steps 20   what a step takes in a row, without a barrier behind each
  peerlab step --price 13.1 --busy-watt 3000 --wait-watt 1800   with cost and energy per epoch

exit status: 0 answered, 1 the question is impossible (one line says why), 2 wrong usage
"""
# Sizes and collective follow from the gradients; memory, buffers and prefetch a step does not take, or takes
# in another way.
_DERIVED = ("--message", "--collective", "--buffers", "--memory", "--prefetch")
"""Options of a scenario that a step has no use for, or has another of."""


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "step",
        "what a step of a data-parallel training takes, and how much of its exchange is exposed, on every data path",
        _step,
        epilog=_EXAMPLES,
        argument_default=argparse.SUPPRESS,  # what is not given is the step's to decide
    )
    _add_step_fields(sub.add_argument)

    def of_scenario(name: str, **more: Any) -> None:
        if name not in _DERIVED:
            sub.add_argument(name, **more)

    add_fields(of_scenario, path="all that the cluster has", registration="cached")
    sub.add_argument(
        "--trace",
        metavar="FILE",
        help="a trace of PyTorch's profiler: its computing, with simulated exchanges",
    )
    sub.add_argument(
        "--trace-step",
        metavar="N",
        type=number,
        help="which of its steps (default: that with the median time)",
    )
    sub.add_argument("--exchanges", action="store_true", help="also print every exchange of each path")
    sub.add_argument(
        "--anyway", action="store_true", help="begin what would take more than an hour to simulate, too"
    )
    sub.add_argument("--json", action="store_true", help="print the figures as JSON")


def _add_step_fields(add: Callable[..., Any]) -> None:
    add("--workload", help=f"{', '.join(known_workloads())}, or a .toml file of your own (default: resnet50)")
    add(
        "--batch",
        type=number,
        help="samples of a device in one pass (default: the smallest that was measured)",
    )
    add(
        "--accumulate",
        type=number,
        help="passes whose gradients are added up before the exchange (default: 1)",
    )
    add(
        "--steps",
        metavar="N",
        type=number,
        help="steps in a row: each node begins the next when its own is over; how long a step then takes (default: 1)",
    )
    add("--shard", help=f"{', '.join(SHARDS)} (default: ddp)")
    add(
        "--first-bucket",
        dest="first_bucket_bytes",
        metavar="SIZE",
        help="limit of the first bucket (default: 1 MiB)",
    )
    add(
        "--bucket",
        dest="bucket_bytes",
        metavar="SIZE",
        help="limit of the others, or 'all' (default: 25 MiB)",
    )
    add("--overlap", type=switch, metavar="yes|no", help="exchange while backward goes on (default: yes)")
    add("--prefetch", type=switch, metavar="yes|no", help="with fsdp: gather one block ahead (default: yes)")
    add("--gradient", dest="gradient_dtype", help=f"{', '.join(ITEM_BYTES)} (default: the workload's)")
    add(
        "--slowdown",
        type=fraction,
        metavar="SHARE",
        help="share of computing that an exchange takes (default: the device's)",
    )
    add(
        "--slow-compute",
        metavar="NODE:SHARE",
        type=slow_node,
        action=PartsTogether,
        help="a node that computes at this share of the rate, such as 4:0.8 (--slow-node: one that sends so)",
    )
    add(
        "--compute-jitter",
        type=fraction,
        metavar="SIGMA",
        help="random computing times: sigma of a factor of mean 1 for each operation of each node (default: 0)",
    )
    add(
        "--compute-jitter-of",
        metavar="WHO",
        help=f"who draws it: {', '.join(DRAWS)} (default: node)",
    )
    add(
        "--open",
        help=f"where nodes differ, from when on one takes slices of others: {', '.join(OPENS)} (default: as the path has it)",
    )
    add(
        "--compute-ms",
        type=fraction,
        metavar="MS",
        help="forward and backward of one batch (default: the workload's)",
    )
    add(
        "--optimizer-ms",
        type=fraction,
        metavar="MS",
        help="the optimizer, after the exchange (default: 0, inside the former)",
    )
    add(
        "--price",
        dest="price_per_node_hour",
        type=fraction,
        metavar="PRICE",
        help="of a node for an hour: adds cost",
    )
    add("--currency", help="what it is paid in (default: USD)")
    add(
        "--busy-watt",
        dest="busy_W",
        type=fraction,
        metavar="W",
        help="what a node draws while it computes: adds energy",
    )
    add("--wait-watt", dest="wait_W", type=fraction, metavar="W", help="what it draws while it waits")
    add(
        "--peak",
        dest="peak_TFLOPs",
        type=fraction,
        metavar="TFLOP/s",
        help="of a device: adds the share of it that is used",
    )


_MOST_S = 3600
"""Seconds that a command may take, as far as they are forecast, unless its user insists."""
_NOT_FIELDS = ("run", "json", "exchanges", "trace", "trace_step", "anyway")


def _step(options: argparse.Namespace) -> int:
    entries = {name: value for name, value in vars(options).items() if name not in _NOT_FIELDS}
    cluster = load_cluster(entries.get("cluster", "dl1"))
    paths = (
        [entries["path"]]
        if "path" in entries
        # A bare reference fabric has no devices that could compute.
        else [path for path in cluster.paths if not PATHS[path].is_bare]
    )
    if not paths:
        raise PeerlabError(f"cluster: {cluster.name} is a bare fabric without devices; a step needs some")
    # Computing that is drawn at random has the same seed.
    check_needs([*entries, *(("jitter",) if "compute_jitter" in entries else ())])
    # A step may have it without noise, as in a sweep that begins at 0; whoever gives it alone expects noise.
    if "compute_jitter_of" in options and "compute_jitter" not in options:
        raise PeerlabError("--compute-jitter-of: says who draws --compute-jitter; give that, too")
    if "wait_W" in options and "busy_W" not in options:
        raise PeerlabError("--wait-watt: energy needs both; give --busy-watt, too")
    profiled_training = _trace(options)
    number = getattr(options, "trace_step", None)
    rows = [{**entries, "path": path} for path in paths]
    steps = [
        profiled_training.step(None, number, **row) if profiled_training else Step.of(**row) for row in rows
    ]
    if "anyway" not in options:
        _refuse_hours(steps)
    runs, left_out = _step_runs(steps)
    if "json" in options:
        print(json.dumps({"steps": [_document(run, options) for run in runs]}, indent=2))
        return 0
    if profiled_training:
        _print_recorded(profiled_training, number)
    document = step_document(runs, None if "exchanges" in options else 0)
    print("\n".join([document_text(document), *left_out]))
    return 0


def _refuse_hours(steps: Sequence[Step]) -> None:
    """Refuse what takes longer than anybody waits for a command, before it begins."""
    takes_s = sum(map(step_forecast_s, steps))
    if takes_s <= _MOST_S:
        return
    step = steps[0]
    fewer = int(step.steps * _MOST_S / takes_s)
    asks = [f"--steps {fewer} (an hour)"] if fewer else []
    asks += ["fewer --nodes"] + (["one --path"] if len(steps) > 1 else [])
    what = f"{step.steps} steps" if step.steps > 1 else "a step"
    raise PeerlabError(
        f"{what} of {step.scenario.nodes} nodes that differ would take about {say_seconds(takes_s)} to simulate; give "
        f"{' or '.join(asks)}; --anyway begins it all the same"
    )


def _step_runs(steps: Sequence[Step]) -> tuple[list[StepRun], list[str]]:
    """Return the steps, and a line for each data path on which nodes that differ make more spans than can be kept."""
    runs, left_out, problems = list[StepRun](), list[str](), list[TooManySpansError]()
    for step in steps:
        try:
            runs.append(_with_progress(step))
        except TooManySpansError as problem:
            problems.append(problem)
            left_out.append(f"{step.scenario.path}: left out; {problem}")
    # One path that cannot be kept is left out beside others; where none can be, its reason is the error.
    if not runs:
        raise problems[0]
    return runs, left_out


def _with_progress(step: Step) -> StepRun:
    with progress_bar(str(step.scenario.path), "exchanges", forecast_s=step_forecast_s(step)) as bar:
        return peerlab.step(step, progress=bar)


def _trace(options: argparse.Namespace) -> ProfiledTraining | None:
    if "trace" not in options:
        if "trace_step" in options:
            raise PeerlabError("--trace-step: says which step of a trace; give --trace too")
        return None
    return load_trace(options.trace)


def _print_recorded(profiled: ProfiledTraining, number: int | None) -> None:
    step = profiled.of(number)
    # Milliseconds of the trace as whole picoseconds, like all times that are said.
    recorded, exposed, replayed, again = (
        say_time(round(ms * PS_PER_MS))
        for ms in (step.time_ms, step.exposed_ms, step.replayed_ms, step.replayed_exposed_ms)
    )
    print(
        f"recorded: {recorded} a step, {exposed} exposed; replayed {replayed}, {again} exposed: {step.verdict}"
    )
    for warning in profiled.warnings:
        print(f"  {warning}")


def _document(run: StepRun, options: argparse.Namespace) -> dict[str, Any]:
    more = {"exchanges_each": run.exchanges().to_dict("records")} if "exchanges" in options else {}
    return {**run.as_dict(), **more}
