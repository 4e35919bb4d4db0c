"""A claim that lab 12 has not shown: a training's throughput, and whether its devices can do it."""

from peerlab.features.exercises.exercise import Bound, Mistake, Number
from peerlab.features.exercises.transfer import TransferTask
from peerlab.training.closed_forms import parameter_flop

_DEVICES = {"A100": 312, "H100": 989}
"""TFLOP/s at the peak in bfloat16 without sparsity: data sheets of A100 and of H100 SXM."""


def _claim_task(billions: int, count: int, device: str, share: float, tokens: int) -> Number:
    peak = _DEVICES[device]
    # Two digits, as a table in an article has them; the truth is worked out of the rounded figure.
    samples = float(f"{share * peak * 1e12 * count / parameter_flop(billions * 1e9, tokens):.2g}")

    def tera(scale: float = 1.0) -> float:
        return scale * parameter_flop(billions * 1e9, tokens * samples) / count / 1e12

    verdict = "refuted as labelled" if tera() > peak else "possible"
    return Number(
        name="",
        question=f"A table claims {samples:,g} samples a second for a model with {billions} billion parameters on {count:,} {device}; a sample has "
        f"{tokens:,} tokens. Training takes 6 operations for each parameter and token. How many TFLOP/s would each {device} do?",
        unit="TFLOP/s",
        truth=tera,
        mistakes=(
            Mistake(lambda: tera(1 / tokens), "That is for one token a sample."),
            Mistake(lambda: tera(1 / 6), "That takes one operation for each parameter and token. Training takes 6."),
            Mistake(lambda: tera(1 / 3), "2 operations are forward alone. Training takes 6."),
            Mistake(lambda: tera(count), "That is what all of them do together."),
            Mistake(lambda: tera(8 / 6), "8 is with activations that are computed again. The question says 6."),
            Mistake(lambda: float(peak), "That is the peak. What would the claim take?"),
        ),
        bounds=(Bound(lambda: tera(1 / count), "That is less than one operation in each parameter, token and device."),),
        hints=(
            "Operations a second: 6 for each parameter and token, times the tokens a second. Then divide among the devices.",
            f"6 x {billions}e9 x {tokens} x {samples:g} / {count}, and a TFLOP is 1e12.",
        ),
        why=f"At its peak an {device} does {peak} TFLOP/s, so the claim is {verdict}. A claim is held against its devices before its network.",
        solution=f"6 * {billions}e9 * {tokens} * {samples:g} / {count} / 1e12",
    )  # fmt: skip


TRANSFER = TransferTask(
    lab="12",
    cases=((7, 13, 70, 175), (128, 512, 1024), tuple(_DEVICES), (0.4, 2.6, 1.3), (2048, 4096)),
    make=_claim_task,
)
