"""A training step that lab 07 has not shown: what a faster exchange is worth to it."""

from peerlab.features.exercises.exercise import Bound, Mistake, Number
from peerlab.features.exercises.transfer import TransferTask
from peerlab.training.closed_forms import gain_of_step


def _step_task(compute: int, exchange: int, hides: int, ratio: float) -> Number:
    # Backward hides so many milliseconds of any exchange, and never more than it takes.
    before, after = max(0.0, exchange - hides), max(0.0, exchange / ratio - hides)
    return Number(
        name="",
        question=f"A step computes for {compute} ms. Its exchange takes {exchange} ms through host memory, and backward hides {hides} ms of it. "
        f"With Peer Direct the exchange is {ratio:g} times as fast, and backward hides as many milliseconds. How many times as fast is the step?",
        truth=lambda: gain_of_step(compute, before, after),
        mistakes=(
            Mistake(lambda: ratio, "That is the gain of the exchange. A step gains what is exposed of it."),
            Mistake(
                lambda: (compute + exchange) / (compute + exchange / ratio),
                "That is a step without overlap: all of the exchange exposed.",
            ),
            Mistake(
                lambda: (compute + before) / (compute + before / ratio),
                "That makes the exposed part shorter in proportion. Backward hides as many milliseconds as before, of fewer.",
            ),
            Mistake(
                lambda: (compute + before) / compute,
                "That takes the exchange away. How much of the shorter one is still exposed?",
            ),
        ),
        bounds=(
            Bound(lambda: 0.999, "A faster exchange makes no step longer."),
            Bound(lambda: ratio, "A step gains less than its exchange does.", above=True),
        ),
        hints=(
            "How many milliseconds are exposed before, and how many after? What is hidden costs nothing.",
            "Exposed is what the exchange takes beyond what backward hides, and never less than nothing.",
        ),
        why=f"Exposed were {before:g} ms of {compute + before:g}; with Peer Direct it is {after:.3g} ms.",
        solution=f"({compute} + {before:g}) / ({compute} + max(0, {exchange} / {ratio:g} - {hides}))",
    )


TRANSFER = TransferTask(
    lab="07",
    cases=((100, 150, 240, 400), (120, 160, 200), (40, 60, 80, 100), (1.6, 1.8, 2.5)),
    make=_step_task,
)
