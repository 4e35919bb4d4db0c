"""A ring that lab 02 has not shown: its time, worked out and held against a simulation of it."""

from functools import cache

from peerlab.base.units import MIB
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.exercise import Bound, Mistake, Number
from peerlab.features.exercises.lessons.scenes import WIRE
from peerlab.features.exercises.transfer import TransferTask
from peerlab.question.scenario import Scenario


@cache
def _ring(nodes: int, size: int, latency: int, rate: float) -> Scenario:
    wire = WIRE.hardware.with_figure("fabric.latency", latency).with_figure("nic.rate", rate)
    return WIRE.with_(cluster=wire, nodes=nodes, message_bytes=size * MIB, dependency="step")


def _time_task(nodes: int, size: int, latency: int, rate: float) -> Number:
    def ms(steps: float, chunk: float, wait: float = latency) -> float:
        # Milliseconds: microseconds of latency, and MiB over 10^9 bytes a second.
        return 1e3 * steps * (wait * 1e-6 + chunk * MIB / rate / 1e9)

    each, half = size / nodes, nodes - 1
    return Number(
        name="",
        question=f"{nodes} servers with one accelerator each stand in a ring. A NIC sends {rate:g} GB/s, and {latency} µs pass until the first "
        f"byte is there. Each step waits for the one before. How long does an AllReduce of {size} MiB take?",
        unit="ms",
        truth=lambda: 1e3 * simulate(_ring(nodes, size, latency, rate)).time_s,
        mistakes=(
            Mistake(lambda: ms(half, each), "That is one of the two halves: adding up, or handing out."),
            Mistake(lambda: ms(2 * nodes, each), "In each half a chunk visits all ranks but the one where it starts."),
            Mistake(lambda: ms(2 * half, size), "A step sends a chunk, and not the whole message."),
            Mistake(lambda: ms(2 * half, each, 0), "The latency is missing. It comes in each step."),
            Mistake(lambda: ms(1, size), "That sends the message once to one neighbour. How many steps does a ring take?"),
            Mistake(lambda: ms(2 * half, 8 * each), "The rate is in GB/s: bytes, not bits."),
        ),
        bounds=(Bound(lambda: ms(half, each), "A ring has two halves, and each of them takes longer than that."),),
        hints=(
            "Count the steps, then what one step costs: a latency, and a chunk over the rate.",
            f"There are 2 x {half} steps, and a chunk is {each:.4g} MiB. 1 MiB is 2**20 bytes.",
        ),
        why=f"2 x {half} steps, each with {latency} µs and a chunk of {each:.4g} MiB. The check simulated this very ring.",
        solution=f"1e3 * 2 * {half} * ({latency}e-6 + {size} * 2**20 / {nodes} / {rate:g}e9)",
    )  # fmt: skip


TRANSFER = TransferTask(
    lab="02",
    cases=((4, 6, 8, 12, 16, 24), (6, 12, 24, 48, 96), (2, 5, 10, 20), (25.0, 50.0, 12.5)),
    make=_time_task,
)
