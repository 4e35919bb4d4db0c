"""From which sizes are below their floor to a verdict: what passes is a disturbance, what stays is a fault."""

# A disturbance, such as other work on the network, lasts for some sizes and is over. So a run is below its floor where its
# largest sizes stay there, where most of its sizes from one on do, where neighbours over a factor of 8 do (a setting such as
# NCCL_PROTO costs small messages alone), or where it falls below and does not come back into its band.

import math
from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.base.units import say_bytes, say_percent
from peerlab.features.expect.verdicts.causes import JudgedSize

HEALTHY, HELD_UP, BELOW, UNKNOWN = "healthy", "held-up", "below", "unknown"
DISTURBED = 1.5
"""A larger message that takes so many times less time says that the smaller one was held up; so do two columns that differ so."""
ENOUGH = 3
"""Fewer sizes tell no fault from another."""
_END, _ANYWHERE = 4, 8
"""So many times as large as the smallest is the largest of those that are below and no disturbance: the largest of a run, or neighbours anywhere."""
_MOST = 0.8
"""A run is below its floor from a size on if this share of its sizes from there on is."""

COUNTERS = (
    "Run it again, and read the counters of every host before and after: rx_prio3_pause (ethtool -S) and PortXmitWait (perfquery) grow where ports wait for "
    "others, out_of_sequence and local_ack_timeout_err where packets are lost. `peerlab doctor --only pauses --only credits --only lost-packets` reads them, and "
    "`peerlab neighbours` shows what each of them costs."
)
"""What decides why a run between nodes was held up."""


@dataclass(frozen=True, kw_only=True)
class RuledVerdict:
    """A verdict with its reason."""

    verdict: str
    why: str
    short: tuple[JudgedSize, ...]
    """The sizes that a fault would have to explain; empty where there is none to look for."""


def ruled(rows: Sequence[JudgedSize], *, sure: bool) -> RuledVerdict:
    """Return the verdict on a run by its sizes, ascending; `sure`: whether they have floors."""
    if not sure:
        return _ruled(UNKNOWN, "no log says how far a healthy run of this library may be off")
    # Before disturbances: a fault that stays also makes some sizes look held up.
    if fault := _stays(rows):
        return fault
    apart = [row.apart for row in rows if row.apart > DISTURBED]
    # Most sizes: a column that is worse now and then was held up.
    if 2 * len(apart) > len(rows):
        return _ruled(UNKNOWN, _contradict(apart, len(rows)))
    held = [row for row in rows if row.below or row.disturbed]
    if held:
        others = _the_others(len(rows) - len(held))
        where = ", in one of its two columns alone" if all(row.apart > DISTURBED for row in held) else ""
        why = f"held up at {_listed(held, rows)}{where}{others}"
        longest = max(_stretches(rows, [row.below for row in rows]), key=len)
        return _ruled(HELD_UP, why, longest if len(longest) >= ENOUGH else ())
    return _healthy(rows)


def _healthy(rows: Sequence[JudgedSize]) -> RuledVerdict:
    """Return that a run is well, and from where on it is low: nearer its floor than its band to the end, as few well runs are."""
    why = f"healthy: {_none_of(len(rows))} below its floor"
    low = _at_the_end(rows, [_is_low(row) for row in rows])
    if not _spans(low, _END):
        return _ruled(HEALTHY, why)
    stays = f"{why}; from {say_bytes(low[0].size)} on the run stays near its floor and below its band, at {_share(low)} of what is expected"
    return _ruled(HEALTHY, stays, low if len(low) >= ENOUGH else ())


def _stays(rows: Sequence[JudgedSize]) -> RuledVerdict | None:
    """Return that a run is below its floor; None where nothing of it stays there."""
    below = [row for row in rows if row.below]
    stays = _at_the_end(rows, [row.below for row in rows])
    if (
        _spans(stays, _END)
        or len(stays) == len(rows)
        or (below and 2 * len(below) > len(rows) and _mostly(rows[rows.index(below[0]) :]))
    ):
        # The first size from which on most are below: one that recovers before it is a disturbance.
        first = next(row for place, row in enumerate(rows) if row.below and _mostly(rows[place:]))
        return _below(f"from {say_bytes(first.size)} on", below)
    longest = max(_stretches(rows, [row.below for row in rows]), key=len)
    if _spans(longest, _ANYWHERE) and not _disordered(longest):
        return _below(f"from {_span(longest)}", longest)
    # Last: what never comes back into its band, though only its first sizes are below the floor.
    low = _at_the_end(rows, _under_the_band(rows))
    while low and not low[0].below:
        low = low[1:]
    if _spans(low, _END):
        return _below(
            f"at {_listed([row for row in low if row.below], rows)}, and below the band to the end", low
        )
    return None


def _ruled(verdict: str, why: str, short: Sequence[JudgedSize] = ()) -> RuledVerdict:
    return RuledVerdict(verdict=verdict, why=why, short=tuple(short))


def _below(where: str, short: Sequence[JudgedSize]) -> RuledVerdict:
    return _ruled(BELOW, f"below the floor {where}: {_share(short)} of what it should reach", short)


def _share(rows: Sequence[JudgedSize]) -> str:
    """Return what some sizes reach of what is expected, the geometric mean."""
    logs = [math.log(row.measured / row.expected.expected) for row in rows if row.expected]
    return say_percent(math.exp(sum(logs) / len(logs)))


def _is_low(row: JudgedSize) -> bool:
    size = row.expected
    return size is not None and size.floor is not None and 2 * row.measured <= size.floor + size.low


def _under_the_band(rows: Sequence[JudgedSize]) -> list[bool]:
    return [row.expected is not None and row.measured < row.expected.low for row in rows]


def _disordered(rows: Sequence[JudgedSize]) -> bool:
    """Return whether more than a quarter of some sizes show by themselves that they were held up: a setting slows all of them alike."""
    shown = sum(row.disturbed or row.apart > DISTURBED for row in rows)
    return shown > max(1, len(rows) // 4)


def _contradict(apart: Sequence[float], sizes: int) -> str:
    low, high = f"{min(apart):.1f}", f"{max(apart):.1f}"
    times = low if low == high else f"{low} to {high}"
    return (
        f"its columns contradict one another: at {len(apart)} of {sizes} sizes one takes {times} times as long as the other, "
        "which is not below its floor; out of place and in place differ little on a machine that is well"
    )


def _at_the_end(rows: Sequence[JudgedSize], holds: Sequence[bool]) -> list[JudgedSize]:
    """Return the largest sizes of which all something holds."""
    count = 0
    while count < len(rows) and holds[-1 - count]:
        count += 1
    return list(rows[len(rows) - count :])


def _spans(rows: Sequence[JudgedSize], times: int) -> bool:
    """Return whether the largest of some sizes, ascending, is so many times as large as the smallest."""
    return bool(rows) and rows[-1].size >= times * rows[0].size


def _stretches(rows: Sequence[JudgedSize], holds: Sequence[bool]) -> list[list[JudgedSize]]:
    """Return neighbouring sizes of which something holds, one list for each stretch of them; the last may be empty."""
    stretches: list[list[JudgedSize]] = [[]]
    for row, held in zip(rows, holds, strict=True):
        if held:
            stretches[-1].append(row)
        elif stretches[-1]:
            stretches.append([])
    return stretches


def _span(stretch: Sequence[JudgedSize]) -> str:
    return f"{say_bytes(stretch[0].size)} to {say_bytes(stretch[-1].size)}"


def _listed(some: Sequence[JudgedSize], rows: Sequence[JudgedSize]) -> str:
    """Return some of the sizes of a run in words: many neighbours as a span."""
    return ", ".join(
        _span(stretch) if len(stretch) > ENOUGH else ", ".join(say_bytes(row.size) for row in stretch)
        for stretch in _stretches(rows, [row in some for row in rows])
        if stretch
    )


def _the_others(sizes: int) -> str:
    if sizes < 2:
        return "; the other size is not below its floor" if sizes else ""
    return f"; the other {sizes} sizes are not below their floor"


def _none_of(sizes: int) -> str:
    return "its one size is not" if sizes == 1 else f"none of {sizes} sizes is"


def _mostly(rows: Sequence[JudgedSize]) -> bool:
    return sum(row.below for row in rows) >= _MOST * len(rows)
