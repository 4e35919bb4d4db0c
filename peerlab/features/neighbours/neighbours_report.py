"""Fabrics side by side for an AllReduce with neighbours: what a comparison says, told once, and the cells of its table, which a page shows, too."""

from peerlab.base.document import Document, Table, Text
from peerlab.base.units import parse_bytes, say_bytes, say_count, say_share, say_time
from peerlab.features.neighbours.port_comparison import PortComparison
from peerlab.study.port_answer import PortAnswer

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
PLAYED_HEAD = (
    "fabric",
    "time",
    "neighbours' share of a host's rate",
)
"""Headings of the page's table, to which the page adds how many bytes waited: what fabrics are compared by."""
_WHO = {
    "quiet": ("", "nobody else sends"),
    "incast": ("other", "{} into one of its hosts"),
    "neighbour": ("other", "{} on its trunk"),
    "collide": ("other", "{} on its trunks"),
    "job": ("host", "another job of {}"),
    "victim": ("sender", "{} into one host, and a victim beside them"),
    "senders": ("sender", "{} into one host"),
}
"""What those are called who else send, and what they do."""
_KINDS = {"mark": "marked", "drop": "dropped", "loss": "lost", "discard": "discarded"}
_NOUNS = {"mark": "marks", "drop": "drops", "loss": "losses", "discard": "discards"}


def neighbours_document(comparison: PortComparison) -> Document:
    """Return what a comparison says: a row for each fabric, what follows, and what was simulated."""
    first = comparison.answers[0]
    rows = Table("", HEAD, [cells(answer) for answer in comparison.answers], right=range(1, len(HEAD) - 1))
    scene = first.trace.scene
    cell = say_bytes(scene.cell_packets * scene.fabric.mtu)
    simulated = f"{scene.hosts} hosts, {say_count(len(scene.flows), 'flow')}; {first.title}: cells of {cell}, {say_time(scene.hop_ps)} a hop"
    return Document(heading(first), (rows, Text(comparison.finding), Text(simulated, quiet=True)))


def heading(answer: PortAnswer) -> str:
    """Return the question in words."""
    question = answer.question
    lost = f", a loss of {question.loss:g}" if question.loss else ""
    # Without an AllReduce only the neighbours send.
    kind, _, senders = question.neighbour.rstrip(")").partition("(")
    called, what = _WHO[kind]
    others = what.format(say_count(int(senders or 0), called))
    if not answer.alone_ps:
        return f"Hosts of {question.cluster}, {others}{lost}"
    size = say_bytes(parse_bytes(question.message_bytes))
    return f"AllReduce of {size} on {question.nodes} hosts of {question.cluster}, {others}{lost}"


def cells(answer: PortAnswer) -> tuple[str, ...]:
    """Return a row of the table."""
    runs = bool(answer.alone_ps)
    # Cut before its end: its time is at least this, and its share at most.
    cut = "> " if runs and not answer.ends else ""
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
        ", ".join(_packets(answer)) or "none lost or marked",
    )


def played_cells(answer: PortAnswer) -> tuple[str, ...]:
    """Return a row of the page's table; without an AllReduce the victim's share is what is compared."""
    row = dict(zip(HEAD, cells(answer), strict=True))
    compared = row["time" if answer.alone_ps else "share"].replace("> ", "over ").replace("< ", "under ")
    # Of a host's rate.
    return answer.title, compared, say_share(answer.neighbours)


def happened(answer: PortAnswer) -> str:
    """Return as a sentence how long ports were stopped, and what was lost or marked; nothing of what did not happen."""
    parts = [
        *([f"paused for {say_time(answer.paused_ps)}"] if answer.paused_ps else []),
        *([f"stopped for {say_time(answer.starved_ps)}"] if answer.starved_ps else []),
        # Bytes that were sent twice say more of what was lost than how many packets it was.
        *([f"resent {say_bytes(answer.again_bytes)}"] if answer.again_bytes else _counted(answer)),
    ]
    return f"All ports together: {', '.join(parts)}." if parts else ""


def played_head(answer: PortAnswer) -> tuple[str, ...]:
    """Return the headings of the page's table."""
    title, compared, *others = PLAYED_HEAD
    return (title, compared if answer.alone_ps else "share of a host's rate", *others)


def _packets(answer: PortAnswer) -> list[str]:
    """Return how many packets were marked or lost, in words; nothing of what none was."""
    return [f"{answer.packets(kind):,} {word}" for kind, word in _KINDS.items() if answer.packets(kind)]


def _counted(answer: PortAnswer) -> list[str]:
    """Return the same with its noun first, as the page says it."""
    return [f"{noun} {answer.packets(kind):,}" for kind, noun in _NOUNS.items() if answer.packets(kind)]
