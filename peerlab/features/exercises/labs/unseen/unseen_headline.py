"""A headline that the tour has not shown: what it says in one sentence, and how sure."""

from functools import cache

from peerlab.answer.gain import GainBand
from peerlab.base.units import TIMES_SIGN, say_gain
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.transfer import TransferTask
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario

_MACHINES = ("p4d", "gaudi3", "p5", "infiniband-hdr-a100", "dl1")
_SIZES = ("16 MiB", "64 MiB", "256 MiB")


@cache
def band(cluster: str, nodes: int, size: str) -> GainBand:
    """Return the gain of Peer Direct over RDMA through host memory, with its band."""
    direct = Scenario(cluster=cluster, nodes=nodes, path="peer-direct", message_bytes=size)
    return simulate(direct).gain_band(simulate(direct.with_(path="host-rdma")))


def _sentence_task(nodes: int, cluster: str, size: str) -> Choice:
    gain = band(cluster, nodes, size)
    reach = say_gain(gain.low, gain.high, sign="")
    over = "RDMA through host memory"
    sure = (
        f"An AllReduce of {size} is {reach} times as fast as by {over}, if the NICs hang where the file says."
    )
    entries = {
        sure: "",
        f"An AllReduce of {size} is {gain.value:.2f} times as fast as by {over}.": "That is the mark alone. How sure is it?",
        f"An AllReduce of {size} is {reach} times as fast as by kernel TCP.": "Which detour does the headline compare with?",
        f"A training is {reach} times as fast.": "The headline is about one exchange. A step gains what is exposed of it.",
    }
    # Shuffled by what they say: the right one has no fixed place, and a seed always shows the same order.
    order = sorted(entries, key=lambda sentence: hash_of(f"{sentence}{nodes}"))
    return Choice(
        name="",
        question=f"Peer Direct on {nodes} nodes of {load_cluster(cluster).title}: the explorer's headline reads \"{reach}{TIMES_SIGN} as fast\". Its mark "
        f"stands at {gain.value:.2f}, the message has {size}, and it compares with {over}. Which sentence may you quote?",
        options={part: entries[part] for part in order},
        truth=lambda: sure,
        hints=(
            "A sentence that is true names what it compares, with what, and how sure it is.",
            "Take the one with a range, the detour of the headline, and its condition.",
        ),
        why="It has the range, the detour and the condition. Where the NICs hang is the condition, until somebody looks.",
        solution=f'"{sure}"',
    )  # fmt: skip


def hash_of(text: str) -> int:
    """Return a number that a text always has, so that the right option stands in no fixed place."""
    return sum(at * ord(letter) for at, letter in enumerate(text, 1)) % 997


TRANSFER = TransferTask(lab="00", cases=((2, 4, 8, 16), _MACHINES, _SIZES), make=_sentence_task)
