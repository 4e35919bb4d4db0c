"""`peerlab plan`: an A/B trial on one's own machines, and what came back."""

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from peerlab.base.errors import one_line, shell_word
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import command, number, table, wrapped
from peerlab.base.units import say_bytes, say_count
from peerlab.features.trial.returned import Returned, read_folder, say_runs
from peerlab.features.trial.trial_folder import check_free, write_trial
from peerlab.model.paths import path_title
from peerlab.study.planned import ExpectedBand, Trial, plan_trial

_EXAMPLES = """\
examples:
  peerlab plan --cluster p4d --nodes 2                     which commands would decide, and what is expected
  peerlab plan --cluster my.toml --output trial            the same as a script, trial/run.sh
  peerlab plan --cluster dl1 --launcher mpirun --repeats 10
  peerlab plan --read trial                                what came back, beside what was expected

exit status: 0 answered, 1 it cannot be planned or read, 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "plan an A/B trial on your machines: commands, expected gain, threshold; read what came back"
    sub = command(commands, "plan", sentence, lambda options: _plan(sub, options), epilog=_EXAMPLES)
    sub.add_argument("--cluster", default="dl1", help="a known cluster or a .toml file (default: dl1)")
    sub.add_argument("--nodes", type=number, default=2, help="servers that take part (default: 2)")
    sub.add_argument("--tool", help="nccl-tests, hccl_demo or osu (default: by the cluster's library)")
    sub.add_argument("--launcher", default="srun", help="srun or mpirun (default: srun)")
    sub.add_argument("--switch", help="what is switched, such as nccl-read (default: by the library)")
    sub.add_argument("--repeats", type=number, default=5, help="runs of each setting (default: 5)")
    sub.add_argument("--output", type=Path, metavar="FOLDER", help="write the plan and its script here")
    sub.add_argument("--force", action="store_true", help="with --output: overwrite a plan and a script")
    sub.add_argument("--read", type=Path, metavar="FOLDER", help="read the logs of a plan instead")
    sub.add_argument("--json", action="store_true", help="print as JSON")


def _plan(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.read is not None:
        if options.output is not None:
            parser.error("--read and --output do not go together")
        back = read_folder(options.read)
        print(json.dumps(back.as_dict(), indent=2) if options.json else _printed(_came_back(back)))
        return 0
    if options.force and options.output is None:
        parser.error("--force goes with --output")
    if options.output is not None:
        check_free(options.output, force=options.force)
    with progress_bar("plan", "sizes") as bar:
        trial = plan_trial(
            options.cluster,
            options.nodes,
            tool=options.tool or "",
            launcher=options.launcher,
            switch=options.switch or "",
            repeats=options.repeats,
            progress=bar,
        )
    script = write_trial(trial, options.output, force=options.force) if options.output is not None else None
    print(json.dumps(asdict(trial), indent=2) if options.json else _printed(_lines(trial)))
    if script:
        print(f"\nwrote {one_line(script)}; run it, then: peerlab plan --read {shell_word(script.parent)}")
    return 0


def _printed(lines: Iterable[str]) -> str:
    """Return lines that tell a terminal nothing, whatever is in a plan, a log or its name."""
    return "\n".join(one_line(line) for text in lines for line in text.split("\n"))


def _lines(trial: Trial) -> Iterator[str]:
    yield from wrapped(
        f"{trial.cluster}, {say_count(trial.nodes, 'node')}: {path_title(trial.off_path)} (off) against {path_title(trial.on_path)} (on)"
    )
    yield ""
    yield from wrapped(f"{say_count(len(trial.commands), 'run')}, in this order:")
    for log, text in trial.commands[:4]:
        yield f"  {text} > {log} 2>&1"
    if len(trial.commands) > 4:
        # Off and on in turns: what drifts on the machine is in both settings.
        yield f"  ... and so on, off and on in turns ({trial.repeats} of each)"
    yield from wrapped(f"why these variables: {trial.source}", "  ", "  ")
    yield ""
    yield from _expected(trial)
    yield ""
    yield from wrapped(
        f"Look at {say_bytes(trial.size_bytes)}. The threshold is a gain of {trial.threshold:.2f}: {trial.question}. It is clear where "
        "the runs' own spread stays away from it."
    )


def _expected(trial: Trial) -> Iterator[str]:
    head = ("message", "off", "on", "gain expected", "from, to", "if")
    rows = []
    for gain in trial.expected:
        # A size has a band for each wiring that is possible: its figures stand in the first line alone.
        for place, band in enumerate(gain.bands):
            first = place == 0
            rows.append(
                (
                    say_bytes(gain.size_bytes) if first else "",
                    f"{gain.off_GBps:.3g} GB/s" if first else "",
                    f"{gain.on_GBps:.3g} GB/s" if first else "",
                    f"{band.value:.2f}",
                    f"{band.low:.2f} to {band.high:.2f}",
                    band.says,
                )
            )
    yield table(head, rows, right=range(4))
    yield "bus bandwidth and gain, simulated; from, to: the assumed figures at the ends of their ranges, and the model's error"


def _came_back(back: Returned) -> Iterator[str]:
    yield from wrapped(f"{back.verdict}.")
    yield ""
    head = ("message", "off", "on", "gain", "over all pairs", "noise", "simulated")
    rows = [
        (
            say_bytes(gain.size_bytes),
            f"{gain.off_s * 1e3:.4g} ms",
            f"{gain.on_s * 1e3:.4g} ms",
            f"{gain.gain:.2f}",
            f"{gain.low:.2f} to {gain.high:.2f}",
            f"{gain.noise:.2f}",
            " / ".join(map(_simulated, gain.expected.bands)) if gain.expected else "",
        )
        for gain in back.gains
    ]
    yield table(head, rows, right=range(6))
    # Without a plan, or with one for other sizes, there is nothing simulated beside the log.
    yield from wrapped(
        f"{say_runs(back.runs)}; noise: the slowest over the fastest run of one setting. "
        + (
            "The plan was for other sizes."
            if back.trial and not any(gain.expected for gain in back.gains)
            else ""
        )
    )
    for remark in back.remarks:
        yield from wrapped(remark, "note: ", "      ")


def _simulated(band: ExpectedBand) -> str:
    return f"{band.value:.2f} ({band.low:.2f} to {band.high:.2f})"
