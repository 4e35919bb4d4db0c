"""A link that lab 08 has not shown: how much of its rate is payload."""

from peerlab.features.exercises.exercise import Bound, Mistake, Number
from peerlab.features.exercises.labs.quoted_tables import LINE
from peerlab.features.exercises.transfer import TransferTask
from peerlab.question.scenario import Scenario

_SIZES = (256, 512, 1024, 2048, 4096)
_RATES = (25, 50, 100, 200, 400, 800)
"""Gbit/s."""


def _line(transport: str, mtu: int) -> Scenario:
    return LINE.with_(transport=transport, mtu=mtu)


def _payload_task(transport: str, mtu: int, rate: int) -> Number:
    line = _line(transport, mtu)
    # The headers of one packet, as the lab's text says them.
    title, headers = {"roce": ("RoCE v2", 82), "infiniband": ("InfiniBand", 26)}[transport]
    return Number(
        name="",
        question=f"{title} in packets of {mtu} bytes of payload, on a link of {rate} Gb/s: how much payload does it carry?",
        unit="Gb/s",
        tolerance=0.005,
        truth=lambda: rate * line.goodput,
        mistakes=(
            Mistake(lambda: float(rate), "That is the rate of the line. What of a packet is no payload?"),
            Mistake(
                lambda: rate * _line("infiniband" if transport == "roce" else "roce", mtu).goodput,
                "That is with the headers of the other fabric.",
            ),
            Mistake(lambda: rate * (1 - headers / mtu), "That takes the headers as a part of the payload. The packet is both together."),
            Mistake(lambda: rate * headers / (mtu + headers), "Those are the headers. What is left beside them?"),
        ),
        bounds=(Bound(lambda: float(rate), "A line carries no more than its rate.", above=True),),
        hints=(
            "What share of a packet on the wire is payload?",
            f"A packet of {title} has {headers} bytes of headers; payload over both together is the share.",
        ),
        why=f"{mtu} of {mtu + headers} bytes are payload. The check asked the scenario's own `goodput`.",
        solution=f"{rate} * {mtu} / ({mtu} + {headers})",
    )  # fmt: skip


TRANSFER = TransferTask(lab="08", cases=(("roce", "infiniband"), _SIZES, _RATES), make=_payload_task)
