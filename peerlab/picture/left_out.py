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

    Larger ones take longer, so of these the first is named; where each line ends is seen. `label` says what a line is called.
    """
    entries: dict[str, list[str]] = {}
    ends = []
    for line, runs in computed:
        points = list(zip(AXES[axis], line.scenarios, runs, strict=True))
        slow = [value for value, scenario, run in points if scenario and not run]
        never = [value for value, scenario, _ in points if not scenario]
        ends += slow[:1]
        if never:
            where = ", ".join(_say_value(axis, value) for value in never)
            entries.setdefault(f"impossible at {where}", []).append(label(line.name))
    sentences = [
        f"{why}: {'all' if 1 < len(computed) == len(names) else ', '.join(names)}"
        for why, names in entries.items()
    ]
    if ends:
        some = "all" if len(ends) == len(computed) and len(set(ends)) == 1 else "some"
        sentences.insert(
            0, f"{some} lines end before {_say_value(axis, min(ends))}: more take long to simulate"
        )
    return "; ".join(sentences)


def _say_value(axis: str, value: int) -> str:
    return say_bytes(value) if FIELDS[axis].size else say_count(value, "node")
