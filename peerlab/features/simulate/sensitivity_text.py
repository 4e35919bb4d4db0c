"""How `peerlab simulate --sensitivity` says what an answer owes to assumptions."""

from collections.abc import Sequence
from typing import Any

from peerlab.answer.run import Run
from peerlab.answer.sensitivity import Band
from peerlab.base.terminal_text import table
from peerlab.library.library_words import chosen_otherwise
from peerlab.model.guide import where_to_find
from peerlab.model.hardware import Figure
from peerlab.question.alternatives import Alternative

_HEAD = ("assumed figure", "value", "from", "to", "busbw from", "busbw to", "change")


def sensitivity_document(run: Run) -> dict[str, Any]:
    """Return the sensitivity of a run as plain values, units in the names."""
    band = run.sensitivity_band()
    without_range = run.alternatives()
    return {
        "band_GBps": [band.low_GBps, band.high_GBps],
        "figures": run.sensitivity().to_dict("records"),
        "not_varied": {figure.key: figure.assumption for figure in without_range},
        "alternatives": [
            {
                "figure": figure.key,
                "if": alternative.says,
                "because": alternative.because or None,
                "busbw_GBps": busbw,
                "then": _then(run, alternative) or None,
            }
            for figure, others in without_range.items()
            for alternative, busbw in others
        ],
        "other_algorithm": dict(
            zip(("algorithm", "busbw_GBps"), run.other_algorithm() or (None, None), strict=True)
        ),
    }


def print_sensitivity(runs: Sequence[tuple[str, Run]]) -> None:
    """Print, for each named run, what its bus bandwidth owes to each assumed figure; then what the gain owes to them."""
    for name, run in runs:
        print(f"\n{name}: {_say_band(run.sensitivity_band())}")
        figures = run.scenario.hardware.figures
        rows = [_row(figures[row["figure"]], row) for row in run.sensitivity().to_dict("records")]
        if rows:
            print(table(_HEAD, rows, right=range(1, len(_HEAD) - 1)))
        for figure, others in run.alternatives().items():
            print(f"  outside that band: {figure.named}, {figure.assumption}")
            for alternative, busbw in others:
                then = _then(run, alternative)
                print(f"    {busbw:.3g} GB/s if {alternative.says}{then and f'; {then}'}")
            if not others:
                print("    not simulated otherwise")
        if other := run.other_algorithm():
            print(f"  outside that band: {_either(run, other[0])}")
            print(f"    {other[1]:.3g} GB/s if it runs a {other[0]}")
    # The detour against Peer Direct: the one gain that this report is about.
    staged = next((run for _, run in runs if run.scenario.staged), None)
    direct = next((run for _, run in runs if run.scenario.data_path.uses_device_memory), None)
    if staged and direct and staged.time_ps:
        print(
            f"\nPeer Direct over {staged.scenario.data_path.title}: {(gain := direct.gain_band(staged)).in_words}"
        )
        if decisive := gain.decisive:
            print(
                f"It depends most on {decisive.figure.named}. Find that out first: {where_to_find(decisive.figure)}."
            )


def _either(run: Run, other: str) -> str:
    """Say that an old version of a library may run another algorithm."""
    choice = run.scenario.choice
    own = choice.course.algorithm if choice else ""
    return f"{other} or {own}: which of them {run.scenario.library_words.who} runs between so many nodes nobody has read"


def _then(run: Run, what_if: Alternative) -> str:
    """Say what the library would choose if an assumption did not hold, where that is something else."""
    return chosen_otherwise(run.scenario, run.scenario.with_(cluster=what_if.cluster))


def _say_band(band: Band) -> str:
    ends = f"{band.low_GBps:.3g} to {band.high_GBps:.3g} GB/s"
    if band.low_GBps == band.high_GBps:
        return f"{band.value_GBps:.3g} GB/s; no assumed figure with a range matters"
    sentence = f"{band.value_GBps:.3g} GB/s; {ends} if all assumed figures lie at the ends of their ranges"
    return f"{sentence}; {band.reach.in_words}" if band.reach.error else sentence


def _row(figure: Figure, record: dict[Any, Any]) -> tuple[str, ...]:
    changes = [record["change_at_low_percent"], record["change_at_high_percent"]]
    return (
        figure.named,
        str(figure),
        f"{record['low']:g}",
        f"{record['high']:g}",
        f"{record['busbw_at_low_GBps']:.3g}",
        f"{record['busbw_at_high_GBps']:.3g} GB/s",
        " / ".join(_say_change(change) for change in changes),
    )


def _say_change(percent: float) -> str:
    return f"{percent:+.1f} %" if abs(percent) >= 0.05 else "0 %"
