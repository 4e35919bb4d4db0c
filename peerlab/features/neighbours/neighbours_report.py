"""Fabrics side by side for an AllReduce with neighbours: the cells of the table, on the screen and on a page."""

from peerlab.base.units import say_bytes, say_share, say_time
from peerlab.study.port_answer import PortAnswer
from peerlab.study.port_question import PortQuestion

HEAD = (
    "fabric",
    "time",
    "alone",
    "busbw GB/s",
    "share",
    "neighbours",
    "sent twice",
    "paused",
    "no credits",
    "packets",
)
"""Headings of the table."""
_KINDS = {"mark": "marked", "drop": "dropped", "loss": "lost", "discard": "discarded"}


def heading(question: PortQuestion) -> str:
    """Return the question in words."""
    lost = f", a loss of {question.loss:g}" if question.loss else ""
    return f"AllReduce of {_size(question)} on {question.nodes} hosts of {question.cluster}, {question.neighbour}{lost}"


def _size(question: PortQuestion) -> str:
    size = question.message_bytes
    return say_bytes(size) if isinstance(size, int) else size


def cells(answer: PortAnswer) -> tuple[str, ...]:
    """Return a row of the table."""
    runs = bool(answer.alone_ps)
    cut = "> " if runs and not answer.ends else ""
    packets = [f"{answer.packets(kind):,} {word}" for kind, word in _KINDS.items() if answer.packets(kind)]
    return (
        answer.title,
        cut + say_time(answer.time_ps),
        say_time(answer.alone_ps) if runs else "-",
        f"{answer.busbw_GBps:.3g}" if answer.ends else "-",
        ("< " if cut else "") + say_share(answer.share),
        f"{answer.neighbours:.3g} C",
        say_bytes(answer.again_bytes),
        say_time(answer.paused_ps),
        say_time(answer.starved_ps),
        ", ".join(packets) or "none lost or marked",
    )
