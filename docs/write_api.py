"""Writes docs/api.md: the public names with their docstrings, and the commands with their options."""

import argparse
import inspect
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from api_text import called, described, fields_table, functions, inline, resolved
from documents import link, table

import peerlab
from peerlab.cli.commands import command_line

HEAD = """\
# Python and the command line

Written by `make docs` from the docstrings and the commands themselves. Units are in the names: `_s`, `_us`, `_bytes`, `_GBps` (10^9
bytes a second, per direction). What is wrong raises a `PeerlabError`, or prints one line: the field, its value, what is allowed, the
nearest known name.

"""
GROUPS = {
    "Ask": ("Scenario", "simulate", "Run", "sweep", "tails", "neighbours", "shared_fabric", "blame", "explain", "way", "why", "load_cluster", "known_clusters", "Cluster", "RegistrationCache"),
    "Train": ("step", "Step", "StepRun", "Workload", "load_workload", "known_workloads", "ProfiledTraining"),
    "Measure, read and judge": ("measure", "ratios", "pin_cost", "copy_cost", "show_limit", "load", "Records", "expect", "suspects", "choices", "diagnose", "calibrate", "doctor"),
    "In a notebook": ("explore", "explore_step", "race", "steps", "predict", "exercise", "progress"),
    "Take away": ("export_html", "export_still", "export_video", "wall_chart", "write_deck", "write_site"),
    "What goes wrong": ("PeerlabError",),
}  # fmt: skip
"""Every public name, in the order in which one meets it."""
RETURNED = {
    "IterationResult": "peerlab.answer.run",
    "ExplainedRun": "peerlab.features.simulate.explain",
    "Bottleneck": "peerlab.answer.metrics",
    "Counters": "peerlab.model.registration",
    "Lease": "peerlab.model.registration",
    "Region": "peerlab.model.registration",
    "Figure": "peerlab.model.hardware",
    "Band": "peerlab.answer.sensitivity",
    "GainBand": "peerlab.answer.gain",
    "Assumption": "peerlab.answer.gain",
    "GainCase": "peerlab.answer.gain",
    "Alternative": "peerlab.question.alternatives",
    "Suspects": "peerlab.features.suspects.suspecting",
    "HostSuspect": "peerlab.features.suspects.suspecting",
    "Blame": "peerlab.features.blame.blaming",
    "PortComparison": "peerlab.features.neighbours.port_comparison",
    "SharedFabric": "peerlab.study.jobs_answer",
    "JobsTrace": "peerlab.study.shared_jobs",
    "SharedJob": "peerlab.study.shared_jobs",
    "PortAnswer": "peerlab.study.port_answer",
    "PortQuestion": "peerlab.study.port_question",
    "Tails": "peerlab.features.tails.tails",
    "PathTimes": "peerlab.features.tails.times",
    "Percentile": "peerlab.features.tails.percentiles",
    "StepTrace": "peerlab.training.step_trace",
    "StepsInARow": "peerlab.training.step_trace",
    "Computed": "peerlab.training.step_trace",
    "Placed": "peerlab.training.step_trace",
    "ComputeTime": "peerlab.training.workload",
    "ProfiledStep": "peerlab.training.profiled",
    "Diagnosis": "peerlab.diagnosis.diagnosis",
    "Expectation": "peerlab.features.expect.expectation",
    "LogVerdict": "peerlab.features.expect.verdicts.log_verdict",
    "Calibration": "peerlab.features.calibrate.calibration",
    "Report": "peerlab.features.doctor.report",
    "Ratios": "peerlab.features.measure.reports.ratios",
    "PinCost": "peerlab.features.measure.pin_cost",
    "CopyCost": "peerlab.records.copy_times",
    "CopyTime": "peerlab.records.copy_times",
    "RegisterTime": "peerlab.records.copy_times",
    "MeasuredFigure": "peerlab.records.copy_times",
    "Refusal": "peerlab.features.measure.ranks.memory.locked_memory",
    "Race": "peerlab.answer.race",
    "Delivery": "peerlab.answer.race",
    "Outline": "peerlab.features.deck.reading.outline",
}
"""What public names return or take beside each other."""
SCENARIO = "Options of a scenario"
Option = tuple[str, str]
Commands = Mapping[str, argparse.ArgumentParser]


def document() -> str:
    """Return the whole text."""
    named = {name for names in GROUPS.values() for name in names}
    missing = named ^ (set(peerlab.__all__) - {"__version__"})
    if missing:
        raise AssertionError(f"write_api.py and peerlab.__all__ differ: {', '.join(sorted(missing))}")
    parser, commands = command_line()
    parts = [HEAD, _contents(commands), "\n# Python\n"]
    for heading, names in GROUPS.items():
        parts.append(f"## {heading}\n")
        for name in names:
            parts += _thing(name, getattr(peerlab, name))
    parts.append("## What they return and take\n")
    for name, module in RETURNED.items():
        parts += _thing(name, getattr(import_module(module), name))
    parts.append("# Commands\n")
    asked = _asked(commands)
    parts.append(
        f"## {SCENARIO}\n\n`simulate`, `sweep` and `export` ask with these, `sweep` with lists of values.\n"
    )
    parts.append(table(("option", "what"), asked))
    for name, one in commands.items():
        parts += _command(f"{parser.prog} {name}", one, asked)
    return "\n".join(parts)


def _contents(commands: Commands) -> str:
    lines = [f"* {heading}: {', '.join(map(link, names))}\n" for heading, names in GROUPS.items()]
    lines.append(f"* What they return and take: {', '.join(map(link, RETURNED))}\n")
    lines.append(f"* Commands: {link(SCENARIO)}, {', '.join(link(f'peerlab {name}') for name in commands)}\n")
    return "".join(lines)


def _thing(name: str, thing: object) -> Iterator[str]:
    yield f"### {name}\n"
    if not inspect.isclass(thing):
        found = resolved(thing)
        yield f"```python\n{called(f'peerlab.{name}', found)}\n```\n"
        yield described(inspect.getdoc(found))
        return
    yield described(thing.__doc__)
    yield fields_table(thing)
    for method, call, text in functions(thing):
        yield f"#### {method}\n\n```python\n{call}\n```\n"
        yield text


def _asked(commands: Commands) -> list[Option]:
    """Return the options that all commands share which ask for a scenario."""
    first, *others = (_options(commands[name]) for name in ("sweep", "simulate", "export"))
    known = [{call for call, _ in one} for one in others]
    return [(call, says) for call, says in first if all(call in calls for calls in known)]


def _options(parser: argparse.ArgumentParser) -> list[Option]:
    return [(_call(one), _help(one)) for one in _shown(parser)]


def _shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options that the help shows."""
    actions = parser._actions  # noqa: SLF001  (argparse tells it nowhere else)
    return [one for one in actions if one.dest != "help" and one.help != argparse.SUPPRESS]


def _command(name: str, parser: argparse.ArgumentParser, asked: Sequence[Option]) -> Iterator[str]:
    yield f"### {name}\n\n{inline(parser.description or '')}\n"
    options = _options(parser)
    rows = [one for one in options if one not in asked]
    if len(rows) + 1 < len(options):
        yield f"The options of {link(SCENARIO).replace(SCENARIO, 'a scenario')}, and these:\n"
    else:
        rows = options
    if rows:
        yield table(("option", "what"), rows)
    if parser.epilog:
        yield f"```\n{parser.epilog.strip()}\n```\n"


def _call(one: argparse.Action) -> str:
    value = one.metavar or (one.dest.upper() if one.option_strings else one.dest)
    if not one.option_strings:
        return f"`{value}`"
    takes = "" if one.nargs == 0 else f" {value}"
    return ", ".join(f"`{option}{takes}`" for option in one.option_strings)


def _help(one: argparse.Action) -> str:
    return (one.help or "").replace("%(default)s", str(one.default)).replace("%%", "%")
