"""What a step keeps in a device's memory whatever its batch: weights, gradients and the optimizer's states, in closed form."""

from dataclasses import dataclass

from peerlab.training.training_step import Step
from peerlab.training.workload_file import device_figures

_MIXED = (2, 2, 12)
"""Bytes of a parameter in mixed precision: weights, gradients, and Adam's copy of the weights and two moments in fp32.

Source: Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models (arXiv 1910.02054), section 3.1.
"""
_FULL = (4, 4, 8)
"""The same where all is fp32: Adam needs no copy of the weights."""
_SHORT = ("fp8", "bf16", "fp16")
"""Gradients of mixed precision."""


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes that a device holds for a step, without activations."""

    weights: int
    """The model."""
    gradients: int
    """A gradient for each parameter."""
    optimizer: int
    """Adam's states."""
    there_GB: float | None  # noqa: N815
    """What the device has, 10^9 bytes; None where `data/devices.toml` does not say it."""
    device: str
    """Its name."""

    @property
    def needed(self) -> int:
        """All of it, bytes."""
        return self.weights + self.gradients + self.optimizer

    @property
    def fits(self) -> bool | None:
        """Whether the device has that much; None where nobody has said what it has."""
        return None if self.there_GB is None else self.needed <= self.there_GB * 1e9

    @property
    def says(self) -> str:
        """It in words."""
        parts = f"weights {self.weights / 1e9:.3g}, gradients {self.gradients / 1e9:.3g}, Adam's states {self.optimizer / 1e9:.3g}"
        need = f"{parts}: {self.needed / 1e9:.3g} GB a device, without activations"
        if self.there_GB is None:
            return f"{need}; what a device of this cluster has is not known here"
        has = f"{need}; a {self.device} has {self.there_GB:g} GB"
        return (
            has
            if self.fits
            else f"{has}: the step does not fit, and its times are those of devices that had room"
        )


def device_memory(step: Step) -> DeviceMemory:
    """Return what a device holds: with zero1 its part of the optimizer's states, with fsdp its part of everything."""
    number, ranks = step.model.parameters, step.devices
    weights, gradients, optimizer = (
        # Mixed precision is told by its gradients: no workload says how its weights are kept.
        number * each
        for each in (_MIXED if step.model.gradient_dtype in _SHORT else _FULL)
    )
    # Shares are rounded up: the last device holds as much as the others, padded.
    if step.shard == "fsdp":
        weights, gradients = -(-weights // ranks), -(-gradients // ranks)
    if step.shard in ("zero1", "fsdp"):
        optimizer = -(-optimizer // ranks)
    # `data/devices.toml` has figures of many devices, and not of each its memory.
    there = device_figures().get(step.device, {}).get("memory")
    return DeviceMemory(weights, gradients, optimizer, there.value if there else None, step.device)
