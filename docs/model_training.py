"""The part of docs/model.md about training steps: its rules, its formulas beside what is simulated, and a table for DL1."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from documents import table
from model_laws import Law

from peerlab.base.units import PS_PER_MS, say_share, say_time
from peerlab.engine.begins import Begins
from peerlab.engine.exchange_apart import by_loop
from peerlab.engine.system import least
from peerlab.question.scenario import Scenario
from peerlab.training import closed_forms as forms
from peerlab.training.answer_step import step
from peerlab.training.nodes_differ import BEGIN, POSTED
from peerlab.training.rank_by_rank import queue_of
from peerlab.training.step_run import StepRun
from peerlab.training.workload import Workload
from peerlab.training.workload_file import device_figures, known_workloads, load_workload

HEAD = """\
## A training step

`peerlab.step` puts an AllReduce where it belongs: beside the computing that hides it. Every device does the same. Layers are computed in order,
forward and then backward; a bucket is exchanged as soon as its last gradient is there and the bucket before it is through, because
the kernels of one NCCL communicator run on one stream. So a step is composed of collectives that were simulated alone, each
moved to where it begins, in whole picoseconds; the referee runs the whole step in one world and gives the same.

* **Buckets** are PyTorch's: gradients in reverse order of definition, a bucket is closed by the tensor that fills it (1 MiB the first, 25 MiB the others).
* **Compute times are given**, never predicted: measured at a batch, in proportion at others (assumed), or operations at a rate (assumed).
* **`zero1`** scatters gradients by bucket, and gathers parameters behind the optimizer, where nothing hides them.
* **`fsdp`** gathers each block before forward and again before backward, one block ahead, and scatters its gradients; gathers and scatters share the
  stream. A block's buffers keep their addresses (assumed: PyTorch's allocator hands the same memory out again; without that, choose `per-transfer`).
* **Slow-down**: computing runs slower by a share while an exchange is under way: {slowdowns}.
* **Registration**: each bucket has buffers of its own, visited in a cycle. A cache with one region too few for each device of a NIC has always just
  given up what is asked for.
* **Where nodes differ** each begins an exchange at its own time, as the section below says.

Not modelled: two streams at once, input, the host's launches (a trace brings them), compression, failures, checkpoints, memory limits.
Tensor and pipeline parallelism are formulas only. Of the halo exchange of a particle code the messages are simulated, point to point on every path
(`peerlab.features.exercises.labs.halo.halo_steps`); the step around them is a formula.

{workloads}
r is when an exchange is ready (from the beginning of backward) and t what it takes, F, B and O are forward, backward and the optimizer, f, b, g, s a block's
forward, backward, gather and scatter, n the exchanges, a the passes. `peerlab.training.closed_forms` has them as functions.

"""
FORMULAS = """
Those that no step is simulated for; tests simulate the pipeline and check the others against what is published:

| what | formula |
| --- | --- |
| pipeline of p stages, m micro-batches, v parts a stage | `T = m (f + b) (1 + (p-1) / (v m))` |
| operations of a step of a GPT | `96 B s l h^2 (1 + s/6h + V/16lh)` with full recomputation, 72 without |
| share of the peak | `MFU = 72... / (T n peak)`, `HFU = 96... / (T n peak)` |
| tensor parallelism, elements a device sends per layer and micro-batch | `8 b s h (t-1)/t` |
| halo exchange of particles | `T = c + N / (P R) + phases x t(face)`, and twice `copy_start` per message where copies are staged |

"""
APART = """\
### Where nodes of a step differ

Jitter, spread, detours and ticks, slow nodes, NICs and links, computing that differs (`slow_compute`, `compute_jitter`), trees, and fabrics that are not the
same for all let nodes end an exchange one after the other. Then each begins the next one at its own time; nothing waits for all but the exchange itself.

* A node is **ready** for bucket k when it has computed what the bucket needs. Its computing slows only while its *own* exchange is under way.
* It **begins** at `b_r(k) = max(ready_r(k), done_r(k-1))`.
* It is **done** when the last slice that it receives is through its last stage, and the last that it sends has left its own resources. That slice may still be
  under way, and holds its place until it arrives; such places go on into the next exchange. In blocking code, and where memory is given back
  after a transfer, what a node sends has to have arrived.
* A slice goes when its sender has begun and its receiver takes slices: from its own begin on (`open="begin"`: into memory of the user, or by rendezvous), or from
  when it was done before (`open="posted"`: into buffers posted ahead; what the receiver does with them waits for its begin). Left out, `open` is `posted`
  where a path has bounce buffers at the receiver. In blocking code a transfer starts at the later of both begins.
* Devices of a node, and nodes of one NVLink domain, begin together, at the latest of them: what they exchange first, inside the node, is a barrier for them, and none
  has its part of the sum before all have come. So a slow device is a slow node to every exchange. Noise of computing is drawn for a node, or for each of its devices (below).
* **A library's tree or ring** (NCCL's laws) is walked in one pass of which no single node's end says who else has to come: it begins with the last node and
  ends for all together.
* A step is that of the node that ends it last; all begin it together. Slices of every exchange draw jitter and detours of their own; spread lasts for the step.
* **A node that stands still** (`ticks`) computes nothing either, by the clock of the step; what opens an exchange and what flies goes on.
* **Steps in a row** (`steps`, `peerlab step --steps 20`) have no barrier between them: a node's step ends when it has computed and is done with its last exchange, and
  its next begins there. What is held, posted and registered goes on from step to step. Where a step begins as an earlier one did, only later in time, all that follows is known
  and nothing more is simulated. Where steps draw noise of their own (jitter, detours, computing), the answer has the mean of the second half of the steps.

An exchange takes begins b to ends e. It is monotone, moves with its begins, and of the later of two begins gives the later of both ends; nobody ends before the
last has begun. On equal nodes of a ring, with q the time of the exchange alone:

{ends}
So ends differ because nodes differ, not because begins do, and a step whose exchanges end together takes `T = max_k (M_k + sum_{{j>=k}} X_j)`, M_k when the latest node
is ready for bucket k and X_j what exchange j takes. Overlap also averages: noise sigma of computing over B buckets costs `sigma e_n` with overlap, and `sqrt(B)`
times that if every bucket is waited for (e_n: mean of the largest of n normal numbers; 64 nodes, compute 160, exchange 80, sigma 8, 16 buckets: 183.75 against 315).

In a row the lateness of a node comes back to it round by round, less what it was ahead of the others. A step has one exchange, which takes q, and computing, which takes c; one node of N
computes D longer. Once steps repeat, a step takes `c + q + max_j (D - L max(0, N - 3 j)) / j` with j from 1 on: the largest mean of a cycle of nodes. `posted` passes lateness on two nodes
at a time: 2 j in place of 3 j for an even N; for an odd N this holds for 2 j < N, and D / N is the last of the means, as lateness then goes round twice. Behind a barrier it would take c + q + D; blocking code has a barrier in every exchange. c = 10, N = 8, d = 2, L = 1, q = 42:

{row}
Exchange by exchange this is exact, because a node that is done has all its resources for itself: loop, arrays and compiled loop are held to a referee that runs all
nodes and all exchanges in one world. Only links that nodes share could serve two exchanges at once; where they would, the referee's run is the answer.

Noise of computing is a node's, or each device's own (`compute_jitter_of="device"`): then a node is ready for an exchange once the latest of its devices is, so that 8 nodes of 8
devices wait for the latest of 64. Devices go on without each other until all of them wait for the same exchange; where one would begin a block beside a late one (`fsdp` that
gathers ahead), it is refused.

**Refused** where nodes differ: devices of one node that begin apart (where nothing is exchanged inside the node first, a NIC of two devices might serve bucket k for one and k+1 for the other), registration caches with limits (who comes first decides what is given up), sums in the switches (SHARP, NVLS), and exchanges of
more than ten million spans (of a ring, where numba is installed, a hundred million).

"""
TABLE = """\
### What a faster exchange is worth on DL1

8 nodes. "gain" is the step through the host over the step with Peer Direct. An exchange that is 1.7 times as fast makes a step 1.00 to 1.04 times as fast
at the batches that people use, and up to 1.7 times where there is next to no computing. The library decides little of that: left topology alone (a
hierarchical ring), right with DL1's library.

"""
ROWS = (
    ("resnet50", 256, 153.2, None), ("resnet50", 128, 83.4, None), ("resnet50", 32, 21, None),
    ("bert-large", 56, 823, None), ("bert-large", 24, 391, None), ("bert-large", 8, 130, None), ("bert-large", 2, 35, None),
    ("bert-large", 8, 130, "bf16"), ("bert-large", 2, 35, "bf16"),
    ("gpt-1.5b", 1, 239, None), ("gpt-1.5b", 2, 478, None), ("gpt-1.5b", 8, 1913, None),
)  # fmt: skip
_TOPOLOGY = {"library": "none", "algorithm": "hierarchical"}


def training() -> Iterator[str]:
    """Yield the section."""
    slow = "; ".join(
        f"{name} {say_share(one['slowdown'].value)} ({one['slowdown'].assumption})"
        for name, one in device_figures().items()
    )
    yield HEAD.format(slowdowns=slow, workloads=_workloads())
    rows = [
        (law.what, f"`{law.formula}`", law.example, law.say(law.by_hand), law.say(law.simulated))
        for law in laws()
    ]
    yield table(("what", "formula", "example", "by hand", "simulated"), rows)
    yield FORMULAS
    yield APART.format(ends=_ends(), row=_in_a_row())
    yield TABLE
    head = [
        "workload",
        "batch",
        "computing",
        "exchanged tcp / host / direct",
        "exposed",
        "gain",
        "from tcp",
        "no overlap",
        "no cache",
    ]
    yield table([*head, "with DL1's library: exposed", "gain"], map(_row, ROWS))


def _ends() -> str:
    """Return the ends of a ring of equal nodes, by formula and simulated, for the begins of an example."""
    begins, L, nodes = (0, 0, 3), 5_000_000, 3  # noqa: N806  (the field's letter)
    rows = []
    for what, formula, dependency, opens, back in (
        ("blocking", "e_r = max b + q", "step", BEGIN, ()),
        (
            "pipelined, `begin`",
            "e_r = max_s (b_s + q - L min((s-2-r) mod N, (s-3-r) mod N))",
            "slice",
            BEGIN,
            (2, 3),
        ),
        ("pipelined, `posted`", "e_r = max_s (b_s + q - L ((s-2-r) mod N))", "slice", POSTED, (2,)),
    ):
        asked = Scenario(
            cluster="ideal-100g", nodes=nodes, message_bytes=375_000, slice_bytes=None, dependency=dependency
        )
        system = least(asked).of_every_node()
        at = tuple(L * b for b in begins)
        found = by_loop(
            system, queue_of(system, None, 0), Begins(at, at if opens == BEGIN else (0,) * nodes)
        ).done
        quiet = 12 * L
        by_hand = tuple(
            max(at[s] + quiet - L * min([(s - k - r) % nodes for k in back] or [0]) for s in range(nodes))
            for r in range(nodes)
        )
        if found != by_hand:
            raise AssertionError(f"{what}: {by_hand} by hand, {found} simulated")
        ends = ", ".join(f"{e / L:g}" for e in by_hand)
        rows.append((what, f"`{formula}`", f"({ends})", "the same"))
    head = ("code", "ends", "N = 3, d = 2, L = 1, begins 0, 0, 3: by hand", "simulated")
    return table(head, rows)


def _in_a_row() -> str:
    """Return what a step of a row takes where one node computes longer, by formula and simulated."""
    unit, nodes = 5_000_000, 8
    quiet = 10 + 6 * (nodes - 1)
    rows = []
    for late in (2, 6, 9, 20):
        steps = [
            step(
                workload=_one_bucket(nodes * 125_000),
                cluster="ideal-100g",
                library="none",
                nodes=nodes,
                slice_bytes=None,
                dependency=dependency,
                compute_ms=10 * unit / PS_PER_MS,
                slow_compute={1: 10 / (10 + late)},
                open=opens,
                steps=60,
            )
            for dependency, opens in (("step", BEGIN), ("slice", BEGIN), ("slice", POSTED))
        ]
        laws = [Fraction(quiet + late)]
        laws += [quiet + max(Fraction(late - max(0, nodes - k * j), j) for j in range(1, 5)) for k in (3, 2)]
        for law, run in zip(laws, steps, strict=True):
            if run.trace.row is None or abs(run.trace.row.steady_ps / unit - law) > 1e-4:
                raise AssertionError(f"{float(law)} by hand, {run.trace.row} simulated")
        rows.append((str(late), str(quiet + late), *(f"{float(law):.6g}" for law in laws)))
    head = ("D", "behind a barrier", "blocking", "pipelined, `begin`", "pipelined, `posted`")
    return table(head, rows)


def _one_bucket(nbytes: int) -> Workload:
    """Return a workload whose gradients are one exchange of so many bytes."""
    template = load_workload("resnet50")
    layer = replace(template.layers[0], name="all", tensors=(nbytes // 4,), block=0)
    return replace(template, name="one-bucket", layers=(layer,), blocks=("all",))


def _workloads() -> str:
    rows = []
    for name in known_workloads():
        one = load_workload(name)
        times = [f"{m.device} {m.time.value:g} ms at {m.batch} ({m.time.source})" for m in one.measured]
        times += [
            f"{device} {rate.value:g} TFLOP/s, assumed: {rate.assumption}"
            for device, rate in one.rates.items()
        ]
        rows.append(
            (f"`{name}`", f"{one.parameters / 1e6:,.1f} M", one.sample, "; ".join(times), one.layer_shares)
        )
    return table(("workload", "parameters", "sample", "compute times", "shares of layers (assumed)"), rows)


def _time(ps: float) -> str:
    return say_time(round(ps))


def _phases(run: StepRun) -> tuple[int, int, list[int], list[int]]:
    """Return forward, backward, when exchanges are ready from the beginning of backward, and what each takes; picoseconds."""
    forward, backward = (
        sum(one.op.duration_ps for one in run.trace.computed if one.op.phase == phase)
        for phase in ("forward", "backward")
    )
    placed = run.trace.placed
    return forward, backward, [one.ready_ps - forward for one in placed], [one.run.time_ps for one in placed]


def laws() -> list[Law]:
    """Return the formulas, checked."""
    direct, host = (step(workload="bert-large", batch=8, path=path) for path in ("peer-direct", "host-rdma"))
    apart, passes = (step(direct.step.with_(**change)) for change in ({"overlap": False}, {"accumulate": 4}))
    sharded = step(direct.step.with_(shard="fsdp"))
    forward, backward, ready, times = _phases(direct)
    example = "BERT-large, 8 sequences a Gaudi, Peer Direct on 8 nodes of DL1"
    money = step(direct.step.with_(price_per_node_hour=10.0, busy_W=3000, wait_W=1800))
    found = (
        Law("exposed time", "e = max(0, max_k (r_k + sum_{j>=k} t_j) - B)", example,
            forms.exposed(ready, times, backward), direct.trace.exposed_ps, _time),
        Law("a step", "T = F + B + e + O", example, forward + backward + forms.exposed(ready, times, backward), direct.time_ps, _time),
        Law("without overlap", "T = F + B + sum t + O", example, forward + backward + sum(times), apart.time_ps, _time),
        Law("several passes", "T = a (F + B) + e + O", f"{example}, 4 passes",
            forms.accumulated_step(4, forward, backward, direct.trace.exposed_ps), passes.time_ps, _time),
        Law("gain of a path", "(F + B + e) / (F + B + e')", f"{example}, over the detour through the host",
            forms.gain_of_step(forward + backward, host.trace.exposed_ps, direct.trace.exposed_ps), direct.gain(host), "{:.4f}".format),
        Law("fully sharded, one block ahead",
            "g_1 + sum max(f_i, g_{i+1}) + g_n + max(b_n, g_{n-1}) + sum max(b_i, s_{i+1} + g_{i-1}) + max(b_1, s_2) + s_1",
            example, _sharded(sharded), sharded.time_ps, _time),
        Law("cost", "T x nodes x price / 3600", f"{example}, 10 USD an hour", forms.cost(money.time_s, 1, 8, 10), money.cost_per_step or 0, "{:.4g} USD".format),
        Law("energy", "nodes x (busy x (T - e) + wait x e)", f"{example}, 3,000 W and 1,800 W",
            forms.energy(money.time_s, money.exposed_s, 8, 3000, 1800), money.energy_per_step_J or 0, "{:.4g} J".format),
    )  # fmt: skip
    floor = forms.floor_of_step(forward, backward, ready[0], times)
    if direct.time_ps < floor:
        raise AssertionError(f"a step of {direct.time_ps} ps is below its floor of {floor} ps")
    bound = Law(
        "no step is below", "max(F + B + t_n, F + r_1 + sum t)", example, floor, direct.time_ps, _time
    )
    return [*(law.check() for law in found), bound]


def _sharded(run: StepRun) -> float:
    blocks = len(run.step.model.blocks)
    scatters = [one.run.time_ps for one in run.trace.placed if one.op.collective == "reduce-scatter"]
    gathers = [one.run.time_ps for one in run.trace.placed[:blocks]]
    times = [one.op.duration_ps for one in run.trace.computed]
    return forms.sharded_step(gathers, scatters[::-1], times[:blocks], times[blocks : 2 * blocks][::-1])


def _row(row: tuple[str, int, float, str | None]) -> list[str]:
    name, batch, ms, dtype = row
    asked = {"workload": name, "batch": batch, "compute_ms": ms, "gradient_dtype": dtype, "slowdown": 0}

    def three(**more: object) -> list[StepRun]:
        return [step(path=path, **asked, **more) for path in ("host-tcp", "host-rdma", "peer-direct")]

    tcp, rdma, direct = alone = three(**_TOPOLOGY)
    *_, rdma_apart, direct_apart = three(overlap=False, **_TOPOLOGY)
    bare = step(path="peer-direct", registration="per-transfer", **asked, **_TOPOLOGY)
    ours = three()
    gains = (direct.gain(rdma), direct.gain(tcp), direct_apart.gain(rdma_apart), direct.gain(bare))
    return [
        f"{direct.step.model.title}, {direct.step.gradient_dtype}", str(batch), f"{ms:g} ms",
        " / ".join(f"{1e3 * one.exchange_s:.1f}" for one in alone) + " ms", _exposed(alone),
        *(f"{one:.3f}" for one in gains), _exposed(ours), f"{ours[2].gain(ours[1]):.3f}",
    ]  # fmt: skip


def _exposed(runs: list[StepRun]) -> str:
    return " / ".join(f"{1e3 * one.exposed_s:.1f}" for one in runs) + " ms"
