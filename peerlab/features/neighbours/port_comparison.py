"""One question about a network with neighbours, on several fabrics side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from peerlab.base.display import shown
from peerlab.base.errors import ScenarioError, nearest
from peerlab.base.units import say_share, say_time
from peerlab.study.port_answer import PortAnswer, answer_ports
from peerlab.study.port_figures import MARKING, check_fabric, port_fabrics
from peerlab.study.port_question import PortQuestion, port_question

_SAME = 0.01
"""Shares that differ by less are called the same."""


@dataclass(frozen=True, eq=False)
class PortComparison:
    """Answers of several fabrics to one question."""

    answers: tuple[PortAnswer, ...]

    @property
    def question(self) -> PortQuestion:
        """What was asked, of the first fabric."""
        return self.answers[0].question

    @property
    def finding(self) -> str:
        """What the answers have in common and what not, in a sentence or two."""
        worst = min(self.answers, key=lambda answer: answer.share)
        best = max(self.answers, key=lambda answer: answer.share)
        who, what = f"The {worst.who}", _of_what(worst)
        where = "each of them" if len(self.answers) > 1 else worst.title
        unfinished = "it had not ended when the scene was cut" if worst.alone_ps and not worst.ends else ""
        # Its share of its own speed would say nothing.
        if self.question.is_alone:
            return f"Nobody else sends: the AllReduce is alone on {where}{unfinished and '; '}{unfinished}."
        cut = f" at most: {unfinished}" if unfinished else ""
        if best.share - worst.share < _SAME:
            return f"{who} has {say_share(worst.share)} {what} on {where}{cut and ','}{cut}."
        least = f"least on {worst.title}, {say_share(worst.share)}{cut}"
        return f"{who} has most on {best.title}, {say_share(best.share)} {what}, and {least}."

    def as_dict(self) -> dict[str, object]:
        """Return all figures, with units in their names."""
        options = {name: value for name, value in vars(self.question).items() if name != "fabric"}
        return {
            "asked": options,
            "fabrics": [answer.as_dict() for answer in self.answers],
            "finding": self.finding,
        }

    _repr_html_ = shown

    def __repr__(self) -> str:
        shares = ", ".join(f"{answer.question.fabric} {answer.share:.3f}" for answer in self.answers)
        return f"PortComparison({self.question.neighbour}, {say_time(self.answers[0].time_ps)}: {self.answers[0].who}'s share {shares})"


def _has_marks(fabric: str) -> bool:
    """Return whether a fabric has DCQCN."""
    return MARKING in port_fabrics()[fabric].figures


def _of_what(answer: PortAnswer) -> str:
    if not answer.alone_ps:
        return "of a host's rate"
    return "of its speed without losses" if answer.question.is_quiet else "of its speed alone"


def neighbours(
    neighbour: str = "neighbour(4)",
    fabrics: str | Sequence[str] | None = None,
    *,
    engine: str = "loop",
    progress: Callable[[int], None] | None = None,
    **fields: Any,
) -> PortComparison:
    """Simulate queues, pauses, credits, marks and losses of an AllReduce with neighbours; return an answer for each fabric.

    Parameters
    ----------
    neighbour:
        Who else sends: ``quiet``; ``incast(n)``, n hosts into one of ours; ``neighbour(n)``, n hosts into a host of their own behind our
        trunk; ``collide(n)``, n pairs over trunks that a hash chooses; ``job(n)``, another job's AllReduce on n hosts, again and again; ``victim(n)`` and ``senders(n)``, scenes without an AllReduce.
    fabrics:
        One or several of ``infiniband``, ``roce-pfc``, ``roce-lossy``, ``roce-dcqcn``; None: all.
    engine:
        ``loop``, or ``referee``, which is slower and gives the same spans.
    **fields:
        Fields of the question, such as ``nodes=8, message_bytes="16 MiB", loss=1e-3, vls=2, figures={"xon": 40000}``.

    Raises
    ------
    ScenarioError, HardwareError
        If it cannot be simulated: more than 64 hosts, more than 10 million events, a headroom that is too small.

    >>> comparison = neighbours("neighbour(4)", "infiniband", message_bytes="1 MiB")
    >>> 0.2 < comparison.answers[0].share < 0.5
    True
    """
    # A name alone is one fabric; none is all.
    names = [fabrics] if isinstance(fabrics, str) else list(fabrics or port_fabrics())
    for name in names:
        check_fabric(name)
    figures = dict(fields.pop("figures", {}))
    # Before anything is simulated. A single fabric refuses by itself what it does not have.
    unused = figures.keys() - {key for name in names for key in port_fabrics()[name].figures}
    if unused and len(names) > 1:
        everywhere = {key for fabric in port_fabrics().values() for key in fabric.figures}
        raise ScenarioError(
            "figure", f"no fabric has {min(unused)!r}; {nearest(min(unused), sorted(everywhere))}"
        )
    if fields.get("start", PortQuestion.start) != PortQuestion.start and not any(map(_has_marks, names)):
        raise ScenarioError(
            "start", f"says how DCQCN begins, which {', '.join(names)} has not; leave this out"
        )
    answers = []
    for name in names:
        entries = port_fabrics()[name].figures
        # Beside others a fabric is asked only for figures that it has: `xon` says nothing of credits.
        own = {key: value for key, value in figures.items() if key in entries or len(names) == 1}
        answers.append(
            answer_ports(port_question(fabric=name, neighbour=neighbour, figures=own, **fields), engine)
        )
        if progress is not None:
            progress(1)
    return PortComparison(tuple(answers))
