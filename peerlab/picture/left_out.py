"""Which points of the curves are not there, and why, in words."""

from collections.abc import Callable, Sequence

from peerlab.answer.run import Run
from peerlab.base.units import say_bytes, say_count
from peerlab.picture.curve_scenarios import AXES, PathCurve
from peerlab.question.scenario_fields import FIELDS


def say_left_out(
    axis: str, computed: Sequence[tuple[PathCurve, Sequence[Run | None]]], label: Callable[[str], str]
) -> str:
    """Return which points are left out, and why: those that cannot be (no scenario), those that take too long (no run).

    Larger ones take longer, so of these the first is named. `label` says what a line is called.
    """
    entries: dict[str, list[str]] = {}
    for line, runs in computed:
        if any(line.scenarios) and not any(runs):
            entries.setdefault("slow to simulate", []).append(label(line.name))
        never = [value for value, scenario in zip(AXES[axis], line.scenarios, strict=True) if not scenario]
        if never:
            where = ", ".join(_say_value(axis, value) for value in never)
            entries.setdefault(f"impossible at {where}", []).append(label(line.name))
    sentences = [
        f"{why}: {'all' if 1 < len(computed) == len(names) else ', '.join(names)}"
        for why, names in entries.items()
    ]
    end = values_simulated(axis, computed)
    if end < len(AXES[axis]):
        sentences.insert(
            0, f"lines end before {_say_value(axis, AXES[axis][end])}: more take long to simulate"
        )
    return "; ".join(sentences)


def values_simulated(axis: str, computed: Sequence[tuple[PathCurve, Sequence[Run | None]]]) -> int:
    """Return at how many values of the axis all lines are simulated: beyond, some take too long, and to end at one place they all end there.

    A line of which a point at most is simulated shortens no other.
    """
    ends = [
        (
            next((place for place, run in enumerate(runs) if line.scenarios[place] and not run), len(runs)),
            runs,
        )
        for line, runs in computed
        if any(runs)
    ]
    whole = [end for end, runs in ends if sum(map(bool, runs[:end])) > 1]
    return min(whole or (end for end, _ in ends), default=len(AXES[axis]))


def _say_value(axis: str, value: int) -> str:
    return say_bytes(value) if FIELDS[axis].size else say_count(value, "node")
