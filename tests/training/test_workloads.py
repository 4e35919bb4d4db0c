"""What is trained: files of workloads, PyTorch's buckets, and where compute times come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import WorkloadError
from peerlab.base.units import MIB, PS_PER_MS
from peerlab.training.bucket_rule import buckets
from peerlab.training.workload_file import device_figures, read_workload

# the element counts of the collectives in facebookresearch/HolisticTraceAnalysis, tests/data/nccl_parser_config/nccl_data.json.gz
RESNET_BUCKETS = [2_049_000, 7_875_584, 6_563_840, 6_637_568, 2_431_040]


def test_the_five_buckets_of_resnet50_are_those_of_pytorch():
    step = peerlab.Step(workload="resnet50")
    assert [one.nbytes // 4 for one in step.buckets] == RESNET_BUCKETS
    assert sum(RESNET_BUCKETS) == step.model.parameters == 25_557_032


def test_they_are_ready_at_5_30_45_70_and_100_percent_of_backward():
    run = peerlab.step(workload="resnet50", path="peer-direct")
    backward = [one for one in run.trace.computed if one.op.phase == "backward"]
    begin, end = backward[0].begin_ps, backward[-1].end_ps
    ready = [(one.ready_ps - begin) / (end - begin) for one in run.trace.placed]
    assert ready == pytest.approx([0.05, 0.3, 0.45, 0.7, 1], abs=0.001)


def test_parameters_are_those_that_are_published():
    parameters = {name: peerlab.load_workload(name).parameters for name in peerlab.known_workloads()}
    assert parameters["bert-large"] == pytest.approx(335e6, rel=0.01)
    assert parameters["gpt-1.5b"] == pytest.approx(1.56e9, rel=0.01)
    assert parameters["llama-7b"] == pytest.approx(6.74e9, rel=0.01)
    assert parameters["gpt3-175b"] == pytest.approx(174.6e9, rel=0.001)


@given(st.lists(st.integers(1, 100), min_size=1, max_size=40), st.integers(1, 150), st.integers(1, 150))
def test_a_bucket_is_closed_by_the_tensor_that_fills_it(sizes, first, cap):
    found = buckets(sizes, first, cap)
    assert [place for one in found for place in one.tensors] == list(range(len(sizes)))
    for number, one in enumerate(found):
        limit = cap if number else first
        assert one.nbytes == sum(sizes[place] for place in one.tensors)
        assert one.nbytes - sizes[one.tensors[-1]] < limit  # before its last tensor it was not full
        assert one.nbytes >= limit or one is found[-1]


def test_without_a_limit_the_first_bucket_is_followed_by_one():
    step = peerlab.Step(workload="bert-large", bucket_bytes="all")
    assert next(one.nbytes for one in step.buckets) >= MIB
    assert len(step.buckets) == 2


def test_a_measured_batch_is_taken_as_it_is_and_others_in_proportion():
    resnet = peerlab.load_workload("resnet50")
    measured, half = resnet.compute_time("Gaudi", 256), resnet.compute_time("Gaudi", 64)
    assert (measured.ps, measured.low_ps, measured.high_ps, measured.assumed) == (153_200_000_000,) * 3 + (
        False,
    )
    assert half.ps == 83.4 * PS_PER_MS / 2
    assert half.assumed
    assert half.low_ps == 153.2 * PS_PER_MS / 4  # as one node alone takes it
    assert half.high_ps == pytest.approx(
        1.1 * half.ps
    )  # a sample takes up to 1.1 times as long at half the batch


@pytest.mark.parametrize(
    ("workload", "batch", "ms"),
    [
        ("bert-large", 24, (352.7, 360.3, 391)),
        ("bert-large", 8, (117.6, 120.1, 139.7)),
        ("resnet50", 128, (76.6, 83.4, 83.4)),
    ],
)
def test_the_exchange_of_a_run_on_several_nodes_is_not_counted_as_computing(workload, batch, ms):
    """One node of Gaudi takes 823 ms for 2 x 28 samples of BERT-large: 391 ms for 24 on 16 nodes have an exchange in them."""
    found = peerlab.load_workload(workload).compute_time("Gaudi", batch)
    assert [one / PS_PER_MS for one in (found.low_ps, found.ps, found.high_ps)] == pytest.approx(ms, abs=0.06)
    assert found.assumed
    assert "less its exchange" in found.says


def test_operations_and_a_rate_stand_in_and_are_assumed():
    found = peerlab.load_workload("gpt-1.5b").compute_time("Gaudi", 1)
    assert found.assumed
    assert found.ps == pytest.approx(239 * PS_PER_MS, rel=0.005)
    assert found.low_ps < found.ps < found.high_ps


def test_a_device_that_nobody_measured_is_refused_with_what_to_do():
    with pytest.raises(
        WorkloadError,
        match=r"^compute_ms: .* how long a H100 computes on ResNet-50; known: Gaudi, A100; give ",
    ):
        peerlab.Step.of(workload="resnet50", cluster="p5")
    assert peerlab.Step.of(workload="resnet50", cluster="p5", compute_ms=50).compute.ps == 50 * PS_PER_MS


@pytest.mark.parametrize("name", peerlab.known_workloads())
def test_every_figure_of_ours_has_a_source_or_an_assumption_with_a_range(name):
    one = peerlab.load_workload(name)
    figures = [one.forward_share, *(m.time for m in one.measured), *one.rates.values()]
    figures += [f for f in (one.flop_per_sample, one.samples_per_epoch) if f]
    assert all(f.source or (f.assumption and f.range) for f in figures)
    assert one.layer_shares


def test_devices_have_a_slowdown_with_a_range():
    assert {name: one["slowdown"].value for name, one in device_figures().items()} == {
        "Gaudi": 0,
        "A100": 0.02,
    }
    assert all(one["slowdown"].range for one in device_figures().values())


def document(**change):
    """Return a workload file's document, right but for what is changed; None leaves an entry out."""
    figure = {"value": 0.3, "unit": "1", "basis": "", "source": "a test"}
    layers = [{"name": "one", "share": 1, "tensors": [[10, 10], [10]]}]
    right = {
        "name": "mine", "title": "Mine", "sample": "line", "gradient_dtype": "fp32", "layer_shares": "even",
        "forward_share": figure, "blocks": [{"name": "all", "layers": layers}],
    }  # fmt: skip
    return {name: value for name, value in (right | change).items() if value is not None}


def test_a_file_of_ones_own_is_read():
    one = read_workload(document())
    assert (one.parameters, one.blocks, one.layers[0].tensors) == (110, ("all",), (100, 10))


WRONG = {
    "tittle": ({"tittle": "Mine"}, r"'tittle' is unknown; did you mean 'title'"),
    "no title": ({"title": None}, "title must be a text"),
    "type": ({"gradient_dtype": "float32"}, "gradient_dtype: "),
    "no share": ({"forward_share": None}, "forward_share is missing"),
    "share of 2": ({"forward_share": {"value": 2, "source": "x"}}, "between 0 and 1"),
    "no source": ({"forward_share": {"value": 0.3}}, "neither a source nor an assumption"),
    "no range": ({"forward_share": {"value": 0.3, "assumption": "x"}}, "is assumed and has no range"),
    "upside down": ({"forward_share": {"value": 0.3, "source": "x", "range": [2, 1]}}, "the lower one first"),
    "no blocks": ({"blocks": None}, "blocks must have layers"),
    "a shape of text": ({"blocks": [{"name": "a", "layers": [{"name": "b", "share": 1, "tensors": ["x"]}]}]}, "list of shapes"),
    "a negative side": ({"blocks": [{"name": "a", "layers": [{"name": "b", "share": 1, "tensors": [[-1]]}]}]}, "whole numbers"),
    "not a number": ({"blocks": [{"name": "a", "layers": [{"name": "b", "share": float("nan"), "tensors": [[1]]}]}]}, "share must"),
    "a million blocks": ({"blocks": [{"name": "a", "repeat": 10**6, "layers": []}]}, "repeat must"),
    "batch": ({"compute": [{"device": "X", "batch": 0, "time": {"value": 1, "unit": "ms", "source": "x"}}]}, "batch must"),
    "seconds": ({"compute": [{"device": "X", "batch": 1, "time": {"value": 1, "unit": "s", "source": "x"}}]}, "unit must be 'ms', not 's'"),
    "no time": ({"compute": [{"device": "X", "batch": 1, "time": {"value": 1e-300, "unit": "ms", "source": "x"}}]}, "1e-06 or more"),
    "a time of years": ({"compute": [{"device": "X", "batch": 1, "time": {"value": 1e17, "unit": "ms", "source": "x"}}]}, "more than 1e.09 ms"),
    "a batch of 400 digits": ({"compute": [{"device": "X", "batch": 10**400, "time": {"value": 1, "unit": "ms", "source": "x"}}]}, "batch must"),
    "a batch of all": ({"compute": [{"device": "X", "batch": 10**17, "time": {"value": 1, "unit": "ms", "source": "x"}}]}, "up to 1048576"),
    "a rate of nothing": ({"rate": [{"device": "X", "rate": {"value": 0, "unit": "TFLOP/s", "source": "x"}}]}, "rate: .* 1e-06 or more"),
    "a rate that may be nothing": (
        {"rate": [{"device": "X", "rate": {"value": 9, "unit": "TFLOP/s", "assumption": "x", "range": [0, 9]}}]}, "rate: .* 1e-06 or more",
    ),
    "a rate in GFLOP/s": ({"rate": [{"device": "X", "rate": {"value": 9, "unit": "GFLOP/s", "source": "x"}}]}, "unit must be 'TFLOP/s'"),
    "operations in FLOP": ({"flop_per_sample": {"value": 9e12, "unit": "FLOP", "source": "x"}}, "unit must be 'TFLOP', not 'FLOP'"),
    "an empty epoch": ({"samples_per_epoch": {"value": 0, "source": "x"}}, "samples_per_epoch: .* or more"),
    "a forward that may be all": ({"forward_share": {"value": 0.3, "assumption": "x", "range": [0, 5]}}, "and its range, must lie between"),
    "too many layers": (
        {"blocks": [{"name": "a", "repeat": 200, "layers": [{"name": "b", "share": 1, "tensors": [[1]]}] * 200}]}, "more than 10,000 layers",
    ),
    "an empty block": ({"blocks": [{"name": "a", "repeat": 10_000, "layers": []}] * 3}, "block a: has no layers"),
    "too many tensors": (
        {"blocks": [{"name": "a", "repeat": 200, "layers": [{"name": "b", "share": 1, "tensors": [[1]] * 1000}]}]}, "as many tensors",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused_in_words(change, words):
    with pytest.raises(WorkloadError, match=words):
        read_workload(document(**change))


def test_a_file_is_named_in_its_error(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"')
    with pytest.raises(WorkloadError, match=r"mine\.toml: title must be"):
        peerlab.load_workload(path)
    with pytest.raises(WorkloadError, match=r"unknown workload 'resnet5'; did you mean 'resnet50'"):
        peerlab.load_workload("resnet5")
