"""The slide on two jobs that share an uplink: begun together they stand in each other's way, begun apart they do not."""

from fractions import Fraction

from peerlab.base.units import PS_PER_S, TIMES_SIGN, say_time
from peerlab.features.deck.blocks import card, grid, paper_without_ground
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette
from peerlab.study.jobs_answer import SharedFabric, shared_fabric

_HOSTS = ([0, 1, 4, 5], [2, 3, 6, 7])
"""Of each job, half below each of two switches with four hosts: one host of it sends to the other switch."""
_FABRIC, _MESSAGE, _REPEATS = "roce-pfc", "4 MiB", 3
_ROLES = ("muted", "gather")
"""Greys: on other slides blue and pink are stages of a path."""
_SHOWN = ("leaf up", 0)
"""The uplink that is drawn; the other way looks the same."""
_WIDE, _LEFT, _RIGHT, _LANE, _STRIP, _HIGH = 1144.0, 190.0, 1144.0, 72.0, 34.0, 180.0
_SEAM = 0.4
"""By so much a window reaches into the next one, so that no ground shines through between two."""


def jobs(_outline: Outline, _compared: ComparedRuns) -> Slide:
    """Show two jobs that compute as long as they exchange, on one uplink, begun together and begun apart."""
    alone = shared_fabric([{"hosts": _HOSTS[0]}], fabric=_FABRIC, message_bytes=_MESSAGE).alone[0]
    together, apart = (_run(alone, offset) for offset in (Fraction(0), alone))
    end = max(together.trace.end, apart.trace.end)
    slow, free = (max(float(shared.slowdowns(job)[-1]) for job in (0, 1)) for shared in (together, apart))
    behind = max(abs(1e6 * float(offset)) for offset in together.trace.offsets(1))
    sentences = (
        f"Alone an exchange takes {_say(alone)}, and each job computes as long between two. Begun together, both begin each of {_REPEATS} exchanges within {behind:.0f} µs "
        "of each other: a port that serves cells in their order keeps two equal jobs in each other's way. "
        "Who begins one of them later, or gives it an uplink of its own, has the time back."
    )
    cards = (
        card(_chart(together, end), 12, title="Begun together"),
        card(_chart(apart, end), 12, title="The second begins while the first computes"),
    )
    return Slide(
        f"Two jobs begun together take {slow:.2f}{TIMES_SIGN} as long, apart {free:.2f}{TIMES_SIGN}",
        f"{_MESSAGE} on four hosts each, one uplink for both; RoCE with pauses",
        grid(*cards),
        notes=(sentences, together.finding, apart.finding),
        source="Simulated by peerlab (peerlab jobs --fabric roce-pfc); laws and thresholds with their sources: docs/model.md, several jobs",
    )


def _run(alone: Fraction, offset: Fraction) -> SharedFabric:
    asked = {"repeats": _REPEATS, "compute_ms": _ms(alone)}
    both = [{"hosts": _HOSTS[0], **asked}, {"hosts": _HOSTS[1], **asked, "offset_ms": _ms(offset)}]
    return shared_fabric(both, fabric=_FABRIC, message_bytes=_MESSAGE)


def _ms(seconds: Fraction) -> str:
    return f"{float(seconds * 1000):.6f}"


def _say(seconds: Fraction) -> str:
    return say_time(float(seconds * PS_PER_S))


def _chart(shared: SharedFabric, end: Fraction) -> str:
    """Draw what each job has of the uplink in time, and below it when each exchanges."""
    paper, trace = Paper(palette(PAGE)), shared.trace
    scale = (_RIGHT - _LEFT) / float(end)
    paper.text((0, _LANE / 2), "the uplink", size=18, bold=True, align="left")
    paper.line([(_LEFT, _LANE), (_RIGHT, _LANE)], "edge", 1)
    for use in trace.uses:
        base = _LANE
        for job, rate in use.rates if use.link == _SHOWN else ():
            high = _LANE * float(rate / shared.fabric.uplink)
            paper.box(
                (_LEFT + scale * float(use.start), base - high, _LEFT + scale * float(use.end) + _SEAM, base),
                _ROLES[job],
            )
            base -= high
    for job in range(len(_ROLES)):
        y = _LANE + 8 + _STRIP * (job + 0.5)
        paper.text((0, y), f"job {job} exchanges", size=18, align="left")
        for begin, stop in zip(trace.begins[job], trace.ends[job], strict=True):
            paper.box(
                (_LEFT + scale * float(begin), y - 9, _LEFT + scale * float(stop), y + 9),
                _ROLES[job],
                radius=2,
            )
    paper.text((_LEFT, _HIGH - 10), "0", size=18, ink="muted", align="left")
    last = max(trace.ends[job][-1] for job in range(len(_ROLES)))
    paper.text((_LEFT + scale * float(last), _HIGH - 10), _say(last), size=18, ink="muted", align="right")
    times = "; ".join(
        f"job {job} exchanges for {', '.join(map(_say, trace.lasts(job)))}" for job in range(len(_ROLES))
    )
    return paper_without_ground(paper, _WIDE, _HIGH, f"The uplink divided between two jobs in time: {times}.")
