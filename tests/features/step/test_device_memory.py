"""What a step keeps in a device's memory is said, and when a device has less."""

import pytest
from command_line import peerlab_command

from peerlab.features.step.device_memory import device_memory
from peerlab.training.training_step import Step
from peerlab.training.workload_file import device_figures


def test_seven_billion_parameters_in_plain_ddp_do_not_fit_into_32_gb():
    status, out, _ = peerlab_command(
        "step", "--workload", "llama-7b", "--nodes", "2", "--compute-ms", "500", "--path", "peer-direct"
    )
    assert status == 0
    asked = Step.of(workload="llama-7b", nodes=2, compute_ms=500)
    billions = asked.model.parameters / 1e9
    line = " ".join(out.split()).partition("Memory: ")[2]
    assert (
        f"{16 * billions:.3g} GB a device, without activations; a Gaudi has 32 GB: the step does not fit"
        in line
    )
    assert (
        f"weights {2 * billions:.3g}, gradients {2 * billions:.3g}, Adam's states {12 * billions:.3g}" in line
    )


@pytest.mark.parametrize(("shard", "each"), [("ddp", 16), ("zero1", 4 + 12 / 64), ("fsdp", 16 / 64)])
def test_sharding_divides_what_it_spreads(shard, each):
    asked = Step.of(workload="llama-7b", nodes=8, shard=shard, compute_ms=500)
    held = device_memory(asked)
    assert held.needed == pytest.approx(each * asked.model.parameters, abs=3)
    assert held.fits is (shard == "fsdp" or held.needed <= 32e9)


def test_where_nobody_said_what_a_device_has_that_is_said():
    held = device_memory(Step.of(workload="resnet50", cluster="p4d", nodes=2))
    assert held.fits is None
    assert held.says.endswith("what a device of this cluster has is not known here")
    assert "memory" not in device_figures()["A100"]  # of 40 or of 80 GB


def test_a_small_model_fits_and_nothing_is_warned_of():
    held = device_memory(Step.of(workload="resnet50", nodes=2))
    assert held.fits
    assert held.says.endswith("a Gaudi has 32 GB")
