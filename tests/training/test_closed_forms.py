"""Every formula beside what is simulated."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_workloads import workload

import peerlab
from peerlab.base.units import PS_PER_MS
from peerlab.training import closed_forms as forms

DIRECT = {"path": "peer-direct", "library": "none"}
SIZES = st.lists(st.integers(1, 500_000), min_size=1, max_size=6)
COMPUTE = st.sampled_from([0.05, 0.5, 1.0, 5.0])


def parts(run):
    """Return forward and backward, and when exchanges were ready (from the beginning of backward) and how long each took; picoseconds."""
    forward = sum(one.op.duration_ps for one in run.trace.computed if one.op.phase == "forward")
    backward = sum(one.op.duration_ps for one in run.trace.computed if one.op.phase == "backward")
    return (
        forward,
        backward,
        [one.ready_ps - forward for one in run.trace.placed],
        [one.run.time_ps for one in run.trace.placed],
    )


@given(SIZES, COMPUTE, st.sampled_from([1, 100_000]))
def test_exposed_time_of_data_parallel_training(sizes, compute_ms, cap):
    asked = {
        "workload": workload(*sizes),
        "compute_ms": compute_ms,
        "first_bucket_bytes": cap,
        "bucket_bytes": cap,
    }
    run, plain = (peerlab.step(overlap=overlap, **asked, **DIRECT) for overlap in (True, False))
    forward, backward, ready, times = parts(run)
    assert run.trace.exposed_ps == forms.exposed(ready, times, backward)
    assert run.time_ps == forward + backward + run.trace.exposed_ps
    assert run.time_ps >= forms.floor_of_step(forward, backward, ready[0], times)
    assert plain.time_ps == forward + backward + sum(times)


@pytest.mark.parametrize("compute_ms", [0.3, 1, 30])
def test_equal_buckets(compute_ms):
    run = peerlab.step(
        workload=workload(*[100_000] * 6),
        compute_ms=compute_ms,
        first_bucket_bytes=1,
        bucket_bytes=1,
        **DIRECT,
    )
    _, backward, _, times = parts(run)
    assert run.trace.exposed_ps == pytest.approx(forms.exposed_of_equal(6, times[0], backward), abs=6)


@given(SIZES, COMPUTE, st.integers(1, 3))
def test_fully_sharded_training(sizes, compute_ms, passes):
    run = peerlab.step(
        workload=workload(*sizes), compute_ms=compute_ms, shard="fsdp", accumulate=passes, **DIRECT
    )
    exchanges, count = run.trace.placed, len(sizes)
    gathers = [one.run.time_ps for one in exchanges[:count]]
    scatters = [one.run.time_ps for one in exchanges if one.op.collective == "reduce-scatter"][:count][::-1]
    forward, backward = (
        [one.op.duration_ps for one in run.trace.computed if one.op.phase == phase][:count]
        for phase in ("forward", "backward")
    )
    assert run.time_ps == passes * forms.sharded_step(gathers, scatters, forward, backward[::-1])


def test_gain_of_a_path_and_accumulation():
    direct, host = (
        peerlab.step(workload="bert-large", batch=8, path=path, library="none")
        for path in ("peer-direct", "host-rdma")
    )
    compute = direct.step.compute.ps
    assert direct.gain(host) == forms.gain_of_step(compute, host.trace.exposed_ps, direct.trace.exposed_ps)
    ratio = host.exchange_s / direct.exchange_s
    assert 1 < direct.gain(host) < ratio
    four = direct.answer(direct.step.with_(accumulate=4))
    forward, backward, *_ = parts(direct)
    assert four.time_ps == forms.accumulated_step(4, forward, backward, direct.trace.exposed_ps)


def pipelined(stages, micro, forward, backward, chunks):
    """Return when a pipeline is through: each stage takes all micro-batches of its first chunk, then of the next; backward likewise."""
    free, done = [0.0] * stages, {}
    last = stages * chunks - 1
    for way, time, places in (
        ("forward", forward / chunks, range(last + 1)),
        ("backward", backward / chunks, range(last, -1, -1)),
    ):
        for place, one in product(places, range(micro)):
            before = place - 1 if way == "forward" else place + 1
            needs = done.get((way, before, one), done.get(("forward", place, one), 0.0))
            free[place % stages] = max(free[place % stages], needs) + time
            done[way, place, one] = free[place % stages]
    return max(free)


@pytest.mark.parametrize(
    ("stages", "micro", "chunks"), [(1, 4, 1), (4, 4, 1), (4, 16, 1), (4, 8, 2), (3, 9, 3)]
)
def test_bubble_of_a_pipeline(stages, micro, chunks):
    simulated = pipelined(stages, micro, 1.0, 2.0, chunks)
    assert simulated == pytest.approx(forms.pipeline_step(micro, stages, 1.0, 2.0, chunks))


def test_an_iteration_of_megatrons_175b():
    """NVIDIA/Megatron-LM README: 1,024 A100, batch 1,536: about 32 s, 138 TFLOP/s each, 44 % of the peak."""
    flop = forms.gpt_flop(1536, 2048, 96, 12288, 51200, recomputes=True)
    time = flop / 138e12 / 1024
    assert time == pytest.approx(31.9, rel=0.01)
    assert time == pytest.approx(32, rel=0.01)
    assert forms.utilisation(flop, time, 1024, 312e12) == pytest.approx(0.44, abs=0.005)
    assert flop / 1536 == pytest.approx(2.937e15, rel=0.001)
    assert forms.gpt_flop(1, 2048, 96, 12288, 51200, recomputes=False) == flop / 1536 * 72 / 96


def test_its_network_is_a_small_part_of_the_step():
    """With t = 8, p = 16, d = 8: 9.6 GB of fp32 gradients and 2.4 GB between stages per GPU, all exposed on 25 GB/s."""
    parameters = peerlab.load_workload("gpt3-175b").parameters / (8 * 16)
    gradients = 2 * 7 / 8 * parameters * 4
    micro_batches = 1536 / 8
    between_stages = 2 * micro_batches * 2048 * 12288 * 2 / 8
    assert gradients == pytest.approx(9.6e9, rel=0.01)
    assert between_stages == pytest.approx(2.4e9, rel=0.01)
    assert (gradients + between_stages) / 25e9 == pytest.approx(0.48, rel=0.01)
    assert (gradients + between_stages) / 25e9 / 32 == pytest.approx(0.015, abs=0.0005)


def test_the_table_of_1024_a100_is_above_the_peak():
    """380 samples of 2,048 tokens a second: what no A100 does; on 1,024 nodes of 8 it would be Megatron's efficiency."""
    per_gpu = forms.parameter_flop(175e9, 2048 * 380) / 1024
    assert per_gpu == pytest.approx(798e12, rel=0.002)
    assert per_gpu > 312e12
    assert forms.parameter_flop(175e9, 2048 * 380, per_parameter=8) / 8192 == pytest.approx(133e12, rel=0.005)


def test_tensor_parallel_traffic_of_a_layer():
    """What it counts: four AllReduces of b s h elements, each 2 (t-1)/t of its buffer."""
    assert forms.tensor_parallel_elements(1, 2048, 12288, 8) == 4 * 2 * (7 / 8) * 2048 * 12288


def test_cost_and_energy_of_a_simulated_step():
    run = peerlab.step(
        workload="resnet50", batch=256, price_per_node_hour=13.10904, busy_W=6741, wait_W=4010, **DIRECT
    )
    by_hand = forms.cost(run.time_s, run.steps_per_epoch, 8, 13.10904)
    assert run.as_dict()["cost_per_epoch"] == pytest.approx(by_hand)
    assert run.energy_per_step_J == pytest.approx(forms.energy(run.time_s, run.exposed_s, 8, 6741, 4010))


def test_halo_exchange_is_latency():
    """64,000 particles on 64 GPUs: a face of 3.9 KB; a copy that waits 10 us each way makes Peer Direct 1.8 times as fast."""
    asked = peerlab.Scenario(
        cluster="juliet", collective="point-to-point", nodes=2, message_bytes="4 KiB", library="none"
    )
    staged, direct = (
        peerlab.simulate(asked.with_(path=path)).time_s for path in ("host-rdma", "peer-direct")
    )

    def step(message, copy_start=0.0):
        return forms.halo_step(64_000, 64, 81.5e6, message, fixed=50e-6, copy_start=copy_start)

    assert 1.0 < step(staged) / step(direct) < 1.1
    assert step(staged, 10e-6) / step(direct) == pytest.approx(1.81, rel=0.05)


def test_units_are_seconds_or_picoseconds_alike():
    assert forms.exposed([1 * PS_PER_MS], [2 * PS_PER_MS], 2 * PS_PER_MS) == 1 * PS_PER_MS
