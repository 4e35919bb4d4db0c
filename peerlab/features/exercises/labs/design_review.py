"""Exercises of lab 06: a review of one's own cluster; every truth is computed from the learner's own file."""

from collections.abc import Callable

from peerlab.answer.gain import GainBand
from peerlab.answer.run import Run
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.exercise import Bound, Choice, Code, Mistake, Number
from peerlab.features.exercises.labs import review
from peerlab.features.exercises.labs.advice import CLEAR, MEASURE, STAY, USE, advice
from peerlab.features.exercises.labs.learners_file import check_file
from peerlab.features.exercises.labs.unseen import unseen_review
from peerlab.features.exercises.wording import meant
from peerlab.model.hardware import FIGURE_LABELS, Cluster
from peerlab.model.nic_wiring import Wiring
from peerlab.question.scenario import Scenario

_ADVICE = {USE: ("use",), MEASURE: ("measure",), STAY: ("stay",)}
_KINDS = {
    "host": "the PCIe uplink", "NIC": "the NIC", "CPU": "a CPU core", "DRAM": "host memory", "latency": "latency"
}  # fmt: skip
_OTHER = "something else"


def _run(path: str, cluster: Cluster | None = None, message: str = "64 MiB") -> Run:
    # The learner's own file, unless an exercise changes something in it.
    return simulate(Scenario(cluster=cluster or review.mine(), nodes=8, path=path, message_bytes=message))


def _pace(path: str) -> str:
    """Return in words what sets the pace."""
    bottleneck = _run(path).bottleneck
    return next((words for word, words in _KINDS.items() if bottleneck and word in bottleneck.label), _OTHER)


def _second_nic(path: str) -> float:
    """Return how many times faster a path becomes by a second NIC below each switch, with a message that fills it."""
    # The file is read again each time: the learner may have edited it meanwhile.
    cluster = review.mine()
    two = cluster.with_figure("node.nics_per_switch", 2)
    return _run(path, cluster, "1 GiB").time_s / _run(path, two, "1 GiB").time_s


def _gain(end: str = "") -> float:
    """Return how many times faster Peer Direct is: as assumed, at its worst (``low``) or best (``high``), or both paths at worst (``both``)."""
    staged, direct = _run("host-rdma"), _run("peer-direct")
    if not end:
        return staged.time_s / direct.time_s
    # From here on both paths are moved apart, each to its own end: a bound, not a forecast.
    host, peer = staged.sensitivity_band(), direct.sensitivity_band()
    if end == "high":
        return peer.high_GBps / host.low_GBps
    return peer.low_GBps / (host.high_GBps if end == "low" else host.low_GBps)


def _gain_band() -> GainBand:
    return _run("peer-direct").gain_band(_run("host-rdma"))


def _most() -> str:
    """Return the assumed figure that the gain owes most to, as one of the options."""
    assumption = _gain_band().decisive
    return assumption.figure.label if assumption and assumption.figure.label in _ASSUMED else _OTHER


def _try_advice(answer: Callable[[float, float], str]) -> str | None:
    """Return what is wrong with a rule for a recommendation."""
    gain = _gain_band()
    # The learner's own gain first; then gains on both sides of every edge of the rule.
    cases = [
        (gain.least, gain.most),
        (0.9, 1.4),
        (1.2, 1.6),
        (0.8, 1.0),
        (1.04, 1.06),
        (0.7, 0.9),
        (1.1, 3.0),
    ]
    for least, most in cases:
        got, right = answer(least, most), advice(least, most)
        sentence = meant(got, _ADVICE)
        if sentence != right:
            which = f"A gain of {least:.2f} at least and {most:.2f} at most"
            if sentence is None:
                return (
                    f"{which}: your rule returns {got!r}; one of {USE!r}, {MEASURE!r}, {STAY!r} is asked for."
                )
            return f"{which}: your rule says {got!r}. {_REASONS[right]}"
    return None


_REASONS = {
    USE: "Even the least gain is clearly faster, so nothing that is assumed can change the decision.",
    MEASURE: "It may be clearly faster and may not be: the assumptions decide, and somebody has to find them out.",
    STAY: "Even the largest gain is not clearly faster; why change anything?",
}

_WIRING = Wiring.label
_STAGED, _HOP = (FIGURE_LABELS[key] for key in ("slices.staged", "library.hop"))
_ASSUMED = {
    _WIRING: "Has your file a source for it by now?",
    _STAGED: "NCCL cuts the message itself, so that this figure has no part here. Which of them is a yes or no, and decides the way of the bytes?",
    FIGURE_LABELS[
        "fabric.latency"
    ]: "What NCCL plans with for a hop stands in its place. Which of them is a yes or no, and decides the way of the bytes?",
    _HOP: "It moves the gain by about 2 %. Which of them is a yes or no, and decides the way of the bytes?",
    FIGURE_LABELS["nic.rate"]: "Your file has a source for it by now, so it is not assumed.",
    FIGURE_LABELS["registration.base"]: "In a warm cache nothing is registered any more.",
    _OTHER: "It is one of those that are named.",
}
"""Figures that may be assumed, with what is said to who takes one for the most important."""
_SHEET_CALL = 'review.edit(mine, {"nic.rate": 200, "switch.uplink": 28.2})'

EXERCISES = (
    Code(
        name="06-file",
        question="Put the two figures of the data sheet into your file, and name it here.",
        check=check_file,
        attempts={
            "review.draft()": "is still that of the draft",
            'review.edit(review.draft(), {"nic.rate": 25, "switch.uplink": 28.2})': "mind the unit",
            'review.edit(review.draft(), {"nic.rate": 200, "switch.uplink": 31.5})': "before its own headers",
            'review.edit(review.draft(), {"nic.rate": 800, "switch.uplink": 28.2})': "It can be read, but",
            "{}": "Answer with the name of your file",
        },
        hints=(
            "Each figure has its own unit in the file; the NIC's is Gbit/s, the uplink's GB/s.",
            "What PCIe carries before its headers is not what is left for data: every Gen4 x16 link in `peerlab clusters roce-100g-a100` has the same rate.",
        ),
        why="Two figures with their unit and source: now every answer below is about this machine.",
        solution=_SHEET_CALL,
    ),
    Choice(
        name="06-today",
        question="Your cluster, RDMA through host memory: what sets the pace?",
        options={
            "the PCIe uplink": "What does each byte cross twice in each direction, and how much is left of that?",
            "the NIC": "It could send 25 GB/s. What does half of the uplink carry?",
            "a CPU core": "With RDMA the CPU moves no byte. Which path would keep a core busy?",
            "host memory": "Every byte is written to it and read from it, and it carries that easily. What does each byte cross twice?",
            "latency": "The message has 64 MiB. Do slices spend their time flying, or waiting?",
            _OTHER: "It is one of the five. What does each byte cross twice?",
        },
        truth=lambda: _pace("host-rdma"),
        hints=(
            "Count what a byte crosses on this path, and hold each part's rate against the NIC's.",
            "The uplink carries 28.2 GB/s in each direction, and each byte crosses it twice. The NIC could send 25 GB/s.",
        ),
        why="Everything crosses the uplink twice in each direction; half of it is less than the NIC could send.",
        solution='"the PCIe uplink"',
    ),
    Number(
        name="06-second-nic",
        further=True,
        question="A second NIC below each switch, 1 GiB: how many times faster does RDMA through host memory become?",
        truth=lambda: _second_nic("host-rdma"),
        mistakes=(
            Mistake(
                lambda: 2.0,
                "Twice the NICs are twice the speed only if the NICs were what everything waits for.",
            ),
            Mistake(
                lambda: 1.0,
                "Nearly: the uplink stays full. But what the library adds to the bytes changes with the NICs. Divide the two runs.",
            ),
            Mistake(
                lambda: round(_second_nic("host-rdma") - 1, 1),
                "That is what exceeds 1. Asked is how many times as fast it becomes.",
            ),
            Mistake(
                lambda: _second_nic("peer-direct"),
                "That is what a second NIC brings to Peer Direct. Here the detour is asked about.",
            ),
            Mistake(
                lambda: round(_second_nic("host-rdma")) - 1.0,
                "Right, hardly anything is gained. Asked is how many times as fast it becomes, and the same speed is 1 time.",
            ),
            Mistake(
                lambda: _run("host-rdma", None, "1 GiB").time_s / _run("peer-direct", None, "1 GiB").time_s,
                "That is the gain of Peer Direct with one NIC. Here the path stays, and a NIC is added.",
            ),
        ),
        bounds=(
            Bound(lambda: 2.0, "Twice the NICs cannot make anything more than twice as fast.", above=True),
        ),
        hints=(
            "What does this path wait for? Does a second NIC change that?",
            "The cell above has `large` and `two`; divide the time of `large` by that of `large.with_(cluster=two)`.",
        ),
        why="The uplink was the limit and still is: a NIC more buys little as long as each byte takes the detour. What it buys is the library's: with twice the channels it takes Simple, which sends no flags, in place of LL128.",
        solution="peerlab.simulate(large).time_s / peerlab.simulate(large.with_(cluster=two)).time_s",
    ),
    Choice(
        name="06-matters",
        further=True,
        question="Which assumption does the gain of Peer Direct owe most to?",
        options=_ASSUMED,
        called={
            _WIRING: ("wiring.nic", "wiring", "NICs below a PCIe switch", "place of the NICs"),
            _STAGED: ("slices.staged", "slice", "slices", "slice size", "size of a slice"),
            FIGURE_LABELS["fabric.latency"]: ("fabric.latency", "latency", "latency of the network"),
            _HOP: ("library.hop", "hop", "the transport's hop"),
            FIGURE_LABELS["nic.rate"]: ("nic.rate", "NIC", "rate of the NIC", "the NIC's rate"),
            FIGURE_LABELS["registration.base"]: ("registration.base", "registration", "registering"),
        },
        truth=_most,
        hints=(
            "A range moves a figure a little. What is not known as a yes or no, and decides what crosses the uplink?",
            "In the list of section 1 two rows have no range. One of them decides which way the bytes take.",
        ),
        why="That is what to find out before anything else. Here one look at `lspci -tv` on a server decides it.",
        solution=f'"{_WIRING}"',
    ),
    Number(
        name="06-worst",
        further=True,
        question="If every assumed figure is off as far as it may be, against Peer Direct and for the detour: what gain is left?",
        truth=lambda: _gain("low"),
        tolerance=0.01,
        mistakes=(
            Mistake(_gain, "That is the gain as assumed, in the middle of both bands."),
            Mistake(
                lambda: _gain("both"),
                "That compares the worst ends of both; the worst for Peer Direct is against the best of the detour.",
            ),
            Mistake(
                lambda: _gain_band().low,
                "That is the lower end of the band: it moves each figure on both paths together. Here the two paths are moved apart.",
            ),
            Mistake(
                lambda: _gain_band().least,
                "That is the least of all wirings. Here the adapters hang where the file says.",
            ),
            Mistake(
                lambda: _gain("high"),
                "That is the best for Peer Direct against the worst of the detour. Asked is the other end.",
            ),
        ),
        hints=(
            "Each band has a low and a high end. Which two ends make the gain smallest?",
            "The low end of Peer Direct divided by the high end of RDMA through host memory.",
        ),
        why="The two bands share most of their figures, so that it cannot really come to this: a bound, not a forecast.",
        solution='bands["peer-direct"].low_GBps / bands["host-rdma"].high_GBps',
    ),
    Code(
        name="06-recommend",
        question=(
            f"Write `recommend(least, most)`: from the least and the largest gain that there may be, one of `{USE}`, `{MEASURE}`,"
            f" `{STAY}`. Faster means by more than {100 * (CLEAR - 1):.0f} per cent."
        ),
        check=_try_advice,
        function="recommend",
        attempts={
            f'return "{USE}" if most > 1.05 else "{STAY}"': "the assumptions decide",
            f'return "{USE}" if least > 1.05 else "{STAY}"': "the assumptions decide",
            f'return "{USE}"': "the assumptions decide",
            "return least > 1.05": "is asked for",
        },
        hints=(
            "There are three answers: what holds at the least gain, what holds at the largest alone, and what does not hold.",
            "Ask for `least` first, then for `most`.",
        ),
        why="A recommendation is as sure as its least gain; what lies between is a reason to measure, not to decide.",
        solution=f'if least > 1.05:\n    return "{USE}"\nreturn "{MEASURE}" if most > 1.05 else "{STAY}"',
    ),
)
TRANSFER = unseen_review.TRANSFER
