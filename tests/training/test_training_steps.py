"""A step, asked and answered: its fields, its figures, and what is refused."""

import json

import pytest
from small_workloads import workload

import peerlab
from peerlab.base.errors import PeerlabError, WorkloadError
from peerlab.cli.commands import run as run_command

DIRECT = {"path": "peer-direct", "library": "none"}


def test_hidden_exchange_leaves_the_last_bucket_exposed():
    run = peerlab.step(workload="resnet50", **DIRECT)
    last = run.trace.placed[-1]
    assert run.trace.exposed_ps == last.run.time_ps
    assert run.time_ps == run.step.compute.ps + run.trace.exposed_ps
    assert run.trace.exposed_of(last) == run.trace.exposed_ps
    assert "83.8 ms" in repr(run)


def test_without_overlap_every_exchange_is_exposed():
    run = peerlab.step(workload="resnet50", overlap=False, **DIRECT)
    assert run.trace.exposed_ps == sum(one.run.time_ps for one in run.trace.placed)


def test_accumulated_passes_exchange_once():
    once, four = (peerlab.step(workload="resnet50", accumulate=n, **DIRECT) for n in (1, 4))
    assert len(once.trace.placed) == len(four.trace.placed) == 5
    assert four.time_ps == 4 * once.step.compute.ps + once.trace.exposed_ps
    assert four.step.samples == 4 * once.step.samples


def test_a_slower_lane_takes_longer_while_an_exchange_is_under_way():
    plain, slow = (peerlab.step(workload="resnet50", slowdown=share, **DIRECT) for share in (0, 0.1))
    hidden = plain.exchange_s - plain.exposed_s
    assert slow.time_s - plain.time_s == pytest.approx(hidden * 0.1, rel=0.02)
    assert slow.exposed_s == plain.exposed_s


def test_sharded_training_moves_half_as_much_again():
    small = workload(1000, 2000, 3000)
    moved = {
        shard: sum(
            one.op.nbytes
            for one in peerlab.step(workload=small, compute_ms=1, shard=shard, **DIRECT).trace.placed
        )
        for shard in ("ddp", "zero1", "fsdp")
    }
    assert moved == {
        "ddp": 24_000,
        "zero1": 48_000,
        "fsdp": 72_000,
    }  # an AllReduce is a ReduceScatter and an AllGather


def test_half_the_type_is_half_the_bytes():
    assert peerlab.Step(workload="resnet50", gradient_dtype="bf16").gradient_bytes == 2 * 25_557_032


def test_cost_and_energy_come_from_what_the_user_gave_or_are_absent():
    bare = peerlab.step(workload="resnet50", batch=256, **DIRECT).as_dict()
    assert [bare[name] for name in ("cost_per_epoch", "energy_per_epoch_J", "currency")] == [None] * 3
    run = peerlab.step(
        workload="resnet50", batch=256, price_per_node_hour=13.10904, busy_W=3000, wait_W=1800, **DIRECT
    )
    figures = run.as_dict()
    assert figures["cost_per_epoch"] == pytest.approx(0.350, abs=0.001)  # 12 s on 8 nodes
    assert figures["cost_per_step"] == pytest.approx(run.time_s * 8 * 13.10904 / 3600)
    assert figures["energy_per_step_J"] == pytest.approx(8 * (3000 * run.compute_s + 1800 * run.exposed_s))
    assert run.spent == pytest.approx(
        {"USD an epoch": figures["cost_per_epoch"], "Wh an epoch": figures["energy_per_epoch_J"] / 3600}
    )


def test_a_share_of_the_peak_needs_operations_and_a_peak():
    assert peerlab.step(workload="resnet50", **DIRECT).peak_share is None
    run = peerlab.step(workload="gpt-1.5b", cluster="infiniband-hdr-a100", nodes=2)
    assert run.peak_share == pytest.approx(138 / 312 * run.utilisation, rel=0.05)


@pytest.mark.parametrize(("cluster", "fewer"), [("infiniband-hdr-a100", 1), ("dl1", 2)])
def test_a_cache_shorter_than_the_cycle_of_buckets_registers_everything_anew(cluster, fewer):
    """One region per device that shares a NIC is missing, and no bucket finds what it registered a step before."""
    small = {"workload": workload(50_000, 50_000, 50_000), "first_bucket_bytes": 1, "bucket_bytes": 1}

    def misses(**more):
        run = peerlab.step(**small, cluster=cluster, compute_ms=1, nodes=2, **more, **DIRECT)
        return sum(one.run.registration.misses for one in run.trace.placed)

    first_step = misses(iterations=1)
    enough = next(regions for regions in range(1, 100) if not misses(cache_regions=regions))
    assert misses(cache_regions=enough - fewer) == first_step > 0


REFUSED = {
    "derived": ({"message_bytes": "1 MiB"}, "message_bytes: follows from the workload"),
    "collective": ({"collective": "allgather"}, "collective: follows"),
    "unknown field": ({"bucket_byte": 3}, "bucket_byte: unknown field; did you mean 'bucket_bytes'"),
    "shard": ({"shard": "zero3"}, "shard: unknown 'zero3'"),
    "batch": ({"batch": 0}, "batch: 0 is not a whole number from 1"),
    "fraction of a batch": ({"batch": 1.5}, "batch: 1.5 is not"),
    "accumulate": ({"accumulate": 10**6}, "accumulate: 1000000"),
    "steps": ({"steps": 1001}, "steps: 1001 is not a whole number from 1 to 1000"),
    "bucket": ({"bucket_bytes": "25 MB/s"}, "bucket_bytes: '25 MB/s' is a rate.*or 'all'"),
    "no bucket": ({"first_bucket_bytes": 0}, "first_bucket_bytes: give 1 byte or more"),
    "type": ({"gradient_dtype": "float32"}, "gradient_dtype: unknown"),
    "slowdown": ({"slowdown": 1}, "slowdown: 1 is not a share"),
    "no time": ({"compute_ms": 0}, "compute_ms: 0 is not milliseconds"),
    "not a number": ({"compute_ms": float("nan")}, "compute_ms: nan is not"),
    "a number of 400 digits": ({"compute_ms": 10**400}, "compute_ms: 10+ is not milliseconds"),
    "price": ({"price_per_node_hour": -1}, "price_per_node_hour: -1 is not"),
    "watts": ({"wait_W": 100}, "give busy_W too"),
    "no such node": ({"slow_compute": {8: 0.5}}, "slow_compute: there is no node 8"),
    "a device": (
        {"slow_compute": {"4.1": 0.5}},
        "slow_compute: devices of a node begin an exchange together",
    ),
    "computing jitter": ({"compute_jitter": 3}, "compute_jitter: 3 is not a sigma from 0 to 2"),
    "opens": ({"open": "now"}, "open: unknown 'now'"),
    "limits": (
        {"jitter": 0.1, "cache_regions": 4, "path": "peer-direct", "nodes": 2},
        "cache_regions: where nodes differ",
    ),
    "sums in switches": (
        {
            "cluster": "p5",
            "algorithm": "sharp",
            "library": "none",
            "compute_ms": 1,
            "nodes": 2,
            "slow_compute": {1: 0.5},
        },
        "algorithm: where nodes differ, they come to a sum",
    ),
    "engine": ({"engine": "loop"}, "engine: unknown 'loop'"),
    "pool": ({"registration": "pool", "memlock_bytes": "1 GiB", "path": "peer-direct"}, "a pool with limits"),
    "memory": ({"memory": "host", "collective": "alltoall"}, "collective: follows"),
}


@pytest.mark.parametrize(("given", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_in_words(given, words):
    with pytest.raises(PeerlabError, match=words):
        peerlab.step(**given)


def test_a_scenario_of_its_own_is_taken_and_its_message_is_not():
    scenario = peerlab.Scenario(path="peer-direct", nodes=4)
    assert peerlab.step(scenario, workload="resnet50").step.scenario.nodes == 4
    with pytest.raises(WorkloadError, match="message_bytes"):
        peerlab.step(scenario.with_(message_bytes="1 MiB"))
    with pytest.raises(WorkloadError, match="give fields by name"):
        peerlab.Step("resnet50")


def test_a_sweep_over_steps_is_one_table():
    table = peerlab.sweep(
        workload=["resnet50", "bert-large"],
        batch=[24, 128],
        path=["host-rdma", "peer-direct"],
        progress=False,
    )
    assert len(table) == 8
    assert list(table.columns[:3]) == ["workload", "batch", "path"]
    one = peerlab.step(workload="bert-large", batch=24, path="peer-direct")
    row = table[(table.workload == "bert-large") & (table.batch == 24) & (table.path == "peer-direct")].iloc[
        0
    ]
    assert (row.time_s, row.exposed_s, row.error) == (one.time_s, one.exposed_s, None)


def test_a_sweep_keeps_what_is_possible_and_refuses_what_never_is():
    table = peerlab.sweep(peerlab.Step(workload="resnet50"), cluster=["dl1", "p5"], progress=False)
    assert table.error.isna().tolist() == [True, False]
    shards = peerlab.sweep(workload="resnet50", shard=["ddp", "fsdp"], progress=False)
    assert shards["shard"].tolist() == ["ddp", "fsdp"]
    with pytest.raises(WorkloadError, match="batch: 0"):
        peerlab.sweep(workload="resnet50", batch=[0], progress=False)
    with pytest.raises(PeerlabError, match="workers: a sweep over steps"):
        peerlab.sweep(workload="resnet50", workers=2, progress=False)
    with pytest.raises(WorkloadError, match="no value is given"):
        peerlab.sweep(workload=[], progress=False)


def test_the_command_prints_what_the_step_is(capsys):
    assert run_command(["step", "--batch", "256", "--library", "none"]) == 0
    printed = capsys.readouterr().out
    assert (
        "ResNet-50 on Gaudi DL1: 8 nodes, 64 devices, batch 256 each, ddp, 97.5 MiB of gradients as fp32"
        in printed
    )
    run = peerlab.step(workload="resnet50", batch=256, path="peer-direct", library="none")
    assert (
        f"{run.gain(peerlab.step(workload='resnet50', batch=256, library='none')):.3f} times as fast"
        in printed
    )
    assert (
        run_command(
            ["step", "--path", "peer-direct", "--json", "--exchanges", "--batch", "256", "--library", "none"]
        )
        == 0
    )
    (found,) = json.loads(capsys.readouterr().out)["steps"]
    assert found["time_s"] == run.time_s
    assert next(one["bytes"] // 4 for one in found["exchanges_each"]) == 2_049_000


def test_the_command_shows_cost_and_energy_only_where_given(capsys):
    bare = ["step", "--batch", "256", "--path", "peer-direct"]
    run_command(bare)
    assert "epoch" not in capsys.readouterr().out
    run_command([*bare, "--price", "13.10904", "--busy-watt", "3000", "--wait-watt", "1800"])
    printed = capsys.readouterr().out
    given = {"price_per_node_hour": 13.10904, "busy_W": 3000, "wait_W": 1800}
    figures = peerlab.step(workload="resnet50", batch=256, path="peer-direct", **given).as_dict()
    assert "USD an epoch" in printed
    assert "Wh an epoch" in printed
    assert {f"{figures['cost_per_epoch']:.4g}", f"{figures['energy_per_epoch_J'] / 3600:.4g}"} <= set(
        printed.split()
    )


def test_the_command_says_in_one_line_what_is_wrong(capsys):
    assert run_command(["step", "--shard", "zero3"]) == 1
    assert (
        capsys.readouterr().err
        == "peerlab: --shard: unknown 'zero3'; did you mean 'zero1'? known: ddp, zero1, fsdp\n"
    )
    assert run_command(["step", "--cluster", "ideal-100g"]) == 1
    assert "bare fabric" in capsys.readouterr().err
