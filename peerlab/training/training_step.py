"""The question: what is trained, how, and on which machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any, Self

from peerlab.base.checks import check_switch
from peerlab.base.errors import ScenarioError, WorkloadError, nearest
from peerlab.base.units import MIB, PS_PER_MS, parse_bytes
from peerlab.model.disturbance import Slow, checked_slow_nodes
from peerlab.model.hardware import Figure
from peerlab.question.scenario import Scenario
from peerlab.training.bucket_rule import Bucket, buckets
from peerlab.training.workload import ITEM_BYTES, ComputeTime, Workload, given_time
from peerlab.training.workload_file import device_figures, load_workload

SHARDS = {
    "ddp": "every device has the whole model, gradients are added up by AllReduce",
    "zero1": "every device updates its part: gradients by ReduceScatter, then parameters by AllGather",
    "fsdp": "every device keeps its part: a block's parameters are gathered before forward and before backward",
}
"""How a model is spread over the devices, in words."""
OPENS = {
    "begin": "a node takes slices of others from its own begin on: they go into memory of the user, or by rendezvous",
    "posted": "a node takes slices of others as soon as it is done with the exchange before: into buffers that are posted ahead",
}
"""From when on a node takes slices of others, in words."""
DRAWS = {
    "node": "all devices of a node compute as one",
    "device": "each device draws its own; a node is ready for an exchange once the latest of its devices is",
}
"""Who draws a random computing time, in words."""
PER_MILLE = 1000
"""A slow-down of computing is given in these parts, whole, so that engines agree."""
ALL = "all"
"""A bucket that holds everything that is left."""
_DERIVED = ("message_bytes", "collective", "buffers")
_MOST_ACCUMULATED, _MOST_BATCH, _MOST_STEPS = 1024, 2**20, 1000
_MOST_JITTER = 2.0
_AMOUNTS = {
    "compute_ms": "milliseconds of forward and backward of one batch",
    "optimizer_ms": "milliseconds of the optimizer",
    "price_per_node_hour": "the price of a node for an hour",
    "busy_W": "watts of a node that computes",
    "wait_W": "watts of a node that waits",
    "peak_TFLOPs": "TFLOP/s of a device at most",
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a data-parallel training. Fields are checked at construction; :meth:`with_` changes some.

    `message_bytes`, `collective` and `buffers` of its scenario follow from the model's layers, and are refused if given.

    Raises
    ------
    WorkloadError, ScenarioError, HardwareError
        One line that names the field, its value and what is allowed.

    >>> Step(workload="resnet50").batch
    128
    """

    scenario: Scenario = field(default_factory=Scenario)
    """Cluster, nodes, data path, registration: all that an AllReduce is asked with."""
    workload: str | Path | Workload = "resnet50"
    """A known name, the path of a workload file, or a `Workload`."""
    batch: int | None = None
    """Samples of one device in one pass; None: the smallest batch that was measured on the device."""
    accumulate: int = 1
    """Passes whose gradients are added up before they are exchanged (with `fsdp` each pass exchanges its own)."""
    shard: str = "ddp"
    """``ddp``, ``zero1`` or ``fsdp``."""
    first_bucket_bytes: int | str = MIB
    """PyTorch's limit of the first bucket."""
    bucket_bytes: int | str = 25 * MIB
    """PyTorch's limit of every other bucket (`bucket_cap_mb`); ``all``: they are one."""
    overlap: bool = True
    """Whether gradients are exchanged while backward goes on; otherwise after it."""
    prefetch: bool = True
    """With `fsdp`: whether the next block's parameters are gathered while one is computed."""
    gradient_dtype: str | None = None
    """``fp32``, ``bf16``, ``fp16``, ``fp8`` or ``fp64``; None: the workload's. With `zero1` and `fsdp` parameters are gathered in it, too."""
    slowdown: float | None = None
    """Share of computing that a collective under way takes, 0 to 0.9; None: the device's (`data/devices.toml`), else 0."""
    slow_compute: Mapping[int, float] | None = None
    """Nodes whose devices compute at a share of the rate, such as ``{4: 0.8}``; `slow_nodes` of the scenario slows what they send."""
    compute_jitter: float = 0.0
    """Sigma of a random factor of mean 1 for every operation of every node, such as 0.05; drawn with the scenario's seed."""
    compute_jitter_of: str = "node"
    """Whether a ``node`` draws that factor or each ``device`` of it; the devices of a node begin an exchange together, at the latest of them."""
    open: str | None = None
    """Where nodes differ: whether a node takes slices of others from its own ``begin`` on, or where it was done before (``posted``);
    None: posted where the path has bounce buffers at the receiver."""
    steps: int = 1
    """Steps in a row: without a barrier between them each node begins the next when its own is over. The answer shows the last of them."""
    compute_ms: float | None = None
    """Forward and backward of one batch together; None: the workload's."""
    optimizer_ms: float = 0.0
    """The optimizer, after the last gradient; 0: it is inside the measured time."""
    price_per_node_hour: float | None = None
    """What a node costs in an hour; None: no cost is shown."""
    currency: str = "USD"
    """What it is paid in."""
    busy_W: float | None = None  # noqa: N815
    """What a node draws while it computes; None: no energy is shown."""
    wait_W: float | None = None  # noqa: N815
    """What a node draws while it waits for an exchange."""
    peak_TFLOPs: float | None = None  # noqa: N815
    """What a device computes at most; None: the device's, where it is known."""

    def __new__(cls, *values: Any, **given: Any) -> Self:
        """Refuse fields that do not exist in our words; Python's own would be a TypeError."""
        if values:
            raise WorkloadError(f"give fields by name, as in batch=32, not {values[0]!r:.40} alone")
        _check_step_names(given)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        # First of all: the cluster's device, asked for below, is that of a checked scenario.
        self._check_scenario()
        _checked_one_of("shard", self.shard, SHARDS)
        workload = load_workload(self.workload)
        self._set(
            "gradient_dtype", workload.gradient_dtype if self.gradient_dtype is None else self.gradient_dtype
        )
        _checked_one_of("gradient_dtype", self.gradient_dtype, ITEM_BYTES)
        for name in ("overlap", "prefetch"):
            check_switch(name, getattr(self, name))
        self._set("first_bucket_bytes", _size("first_bucket_bytes", self.first_bucket_bytes))
        if self.bucket_bytes != ALL:
            self._set("bucket_bytes", _size("bucket_bytes", self.bucket_bytes))
        # The device and the workload together say which batch was measured.
        if self.batch is None:
            self._set("batch", workload.used_batch(self.device))
        _check_whole("batch", self.batch, _MOST_BATCH)
        _check_whole("accumulate", self.accumulate, _MOST_ACCUMULATED)
        _check_whole("steps", self.steps, _MOST_STEPS)
        self._set("slow_compute", checked_slow_compute(self.slow_compute, self.scenario.nodes))
        if not (_is_amount(self.compute_jitter) and self.compute_jitter <= _MOST_JITTER):
            raise WorkloadError(
                f"compute_jitter: {self.compute_jitter!r:.40} is not a sigma from 0 to {_MOST_JITTER:g}, such as 0.05"
            )
        _checked_one_of("compute_jitter_of", self.compute_jitter_of, DRAWS)
        if self.open is not None:
            _checked_one_of("open", self.open, OPENS)
        # A lane that stood still beside an exchange would never come to what follows it.
        if self.slowdown is not None and not (_is_amount(self.slowdown) and self.slowdown <= 0.9):
            raise WorkloadError(f"slowdown: {self.slowdown!r:.40} is not a share from 0 to 0.9")
        for name, what in _AMOUNTS.items():
            self._check_amount(name, what)
        if not _is_currency(self.currency):
            raise WorkloadError(f"currency: {self.currency!r:.40} is not a short text such as 'USD'")
        _ = self.compute  # a device of which nothing is known is refused here

    @classmethod
    def of(cls, scenario: Scenario | None = None, **given: Any) -> "Step":
        """Return a step; `given` may hold fields of a step and of a scenario, side by side.

        ``prefetch`` is the step's; a registration that is prefetched is given with the scenario.
        """
        mine = {name: value for name, value in given.items() if name in STEP_FIELDS}
        options = {name: value for name, value in given.items() if name not in STEP_FIELDS}
        names = [*STEP_FIELDS, *(scenario_field.name for scenario_field in fields(Scenario))]
        for name in options:
            if name not in names:
                raise WorkloadError(f"{name}: unknown field; {nearest(name, names)}")
            _refuse_derived(name)
        base = Scenario(**options) if scenario is None else scenario.with_(**options) if options else scenario
        return cls(scenario=base, **mine)

    @cached_property
    def model(self) -> Workload:
        """The workload, loaded."""
        return load_workload(self.workload)

    @property
    def device(self) -> str:
        """Name of the cluster's devices."""
        return self.scenario.hardware.device_name

    @property
    def devices(self) -> int:
        """Devices that train."""
        return self.scenario.ranks

    @property
    def samples(self) -> int:
        """Samples of one step, on all devices."""
        return int(self.batch or 0) * self.accumulate * self.devices

    @property
    def item_bytes(self) -> int:
        """Bytes of one gradient."""
        return ITEM_BYTES[str(self.gradient_dtype)]

    @property
    def gradient_bytes(self) -> int:
        """Bytes of all gradients."""
        return self.model.parameters * self.item_bytes

    @cached_property
    def compute(self) -> ComputeTime:
        """How long forward and backward of one batch take."""
        if self.compute_ms is not None:
            return given_time(round(self.compute_ms * PS_PER_MS), "as given")
        return self.model.compute_time(self.device, int(self.batch or 1))

    @property
    def optimizer_ps(self) -> int:
        """The optimizer, picoseconds."""
        return round(self.optimizer_ms * PS_PER_MS)

    @property
    def slowdown_figure(self) -> Figure | None:
        """What is known of the device's slow-down; None where it was given, or nobody knows."""
        return None if self.slowdown is not None else device_figures().get(self.device, {}).get("slowdown")

    @property
    def slowdown_per_mille(self) -> int:
        """How much slower computing is while a collective is under way."""
        figure = self.slowdown_figure
        # A device of which nobody knows it is not slowed down.
        share = figure.value if figure else self.slowdown or 0.0
        return round(PER_MILLE * share)

    @property
    def peak(self) -> float | None:
        """What a device computes at most, TFLOP/s; None where nobody has told."""
        figure = device_figures().get(self.device, {}).get("peak")
        return self.peak_TFLOPs or (figure.value if figure else None)

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        """What is exchanged as one, in the order in which gradients arrive: that of backward."""
        # Backward goes from the last layer to the first, and in a layer from its last tensor.
        sizes = [
            n * self.item_bytes for layer in reversed(self.model.layers) for n in reversed(layer.tensors)
        ]
        cap = None if self.bucket_bytes == ALL else int(self.bucket_bytes)
        return buckets(sizes, int(self.first_bucket_bytes), cap)

    def with_(self, **changes: Any) -> "Step":
        """Return this step with some fields changed, its own or its scenario's.

        >>> Step().with_(nodes=16, batch=32).scenario.nodes
        16
        """
        mine = {name: value for name, value in changes.items() if name in STEP_FIELDS}
        options = {name: value for name, value in changes.items() if name not in STEP_FIELDS}
        for name in options:
            _refuse_derived(name)
        scenario = mine.pop("scenario", self.scenario)
        return replace(self, scenario=scenario.with_(**options) if options else scenario, **mine)

    def _set(self, name: str, value: Any) -> None:
        # The dataclass is frozen; only what was left open is filled in, at construction.
        object.__setattr__(self, name, value)

    def _check_amount(self, name: str, what: str) -> None:
        value = getattr(self, name)
        # Its default is a figure, 0, so None was given.
        if value is None and name != "optimizer_ms":
            return
        if not _is_amount(value) or (not value and name in ("compute_ms", "peak_TFLOPs")) or value > 1e9:
            raise WorkloadError(f"{name}: {value!r:.40} is not {what}")
        # Energy is that of computing and waiting together.
        if name == "wait_W" and self.busy_W is None:
            raise WorkloadError("wait_W: give busy_W too; energy needs both")

    def _check_scenario(self) -> None:
        s = self.scenario
        if not isinstance(s, Scenario):
            raise WorkloadError(
                f"scenario: give a Scenario, such as peerlab.Scenario(nodes=8), not {s!r:.60}"
            )
        # What has its default counts as not given: nobody can tell the two apart.
        usual = Scenario()
        for name in _DERIVED:
            if getattr(s, name) != getattr(usual, name):
                _refuse_derived(name)
        if s.memory == "host":
            raise WorkloadError("memory: gradients lie in device memory; leave it at 'device'")

    @property
    def computes_apart(self) -> bool:
        """Whether nodes differ in what they compute."""
        return bool(self.slow_compute or self.compute_jitter)


STEP_FIELDS = tuple(step_field.name for step_field in fields(Step))
"""Names of a step's own fields; ``prefetch`` is one of them."""


def _check_step_names(given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in STEP_FIELDS:
            raise WorkloadError(f"{name}: unknown field of a step; {nearest(name, STEP_FIELDS)}")


def checked_slow_compute(given: Any, nodes: int) -> Slow | None:
    """Return nodes that compute slowly as a step keeps them; None if there are none.

    Raises
    ------
    WorkloadError
        If there is no such node, or its share is impossible.
    """
    if isinstance(given, Mapping) and any(isinstance(key, tuple) or "." in str(key) for key in given):
        raise WorkloadError(
            "slow_compute: devices of a node begin an exchange together, at the latest of them, as what they exchange first is a barrier for them; "
            "give the node, such as {4: 0.8}, not one of its devices"
        )
    try:
        return checked_slow_nodes(given, nodes)
    except ScenarioError as problem:
        # Both fields have one rule; only the name in its message differs.
        raise WorkloadError(str(problem).replace("slow_nodes", "slow_compute")) from None


def _refuse_derived(name: str) -> None:
    if name in _DERIVED:
        raise WorkloadError(f"{name}: follows from the workload's layers and buckets; leave it out")


def _checked_one_of(name: str, value: Any, words: Mapping[str, Any]) -> None:
    if not isinstance(value, str) or value not in words:
        raise WorkloadError(f"{name}: unknown {value!r:.60}; {nearest(str(value), words)}")


def _is_amount(value: object) -> bool:
    # Compared, since `isfinite` fails at a whole number of 309 digits.
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value < inf


def _check_whole(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise WorkloadError(f"{name}: {value!r:.40} is not a whole number from 1 to {most}")


def _size(name: str, value: Any) -> int:
    try:
        number = parse_bytes(value)
    except ValueError as problem:
        more = f", or {ALL!r}" if name == "bucket_bytes" else ""
        raise WorkloadError(f"{name}: {problem}{more}") from None
    if not 1 <= number <= 2**50:
        raise WorkloadError(f"{name}: give 1 byte or more, at most 1024 TiB")
    return number


def _is_currency(text: object) -> bool:
    """Return whether a text may stand behind an amount; one that reads as a number (1e3, nan) would be taken for one."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable() or len(text) > 12:
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
