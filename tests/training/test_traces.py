"""PyTorch's profiler traces: a real one, made ones with known times, and every way in which one can be wrong."""

import gzip
import io
import json
import sys

import pytest
from profiler_traces import allreduce, computing, event, one_step, save

import peerlab
from peerlab.app.panels.log_findings import look_at_trace
from peerlab.base.errors import RecordsError
from peerlab.base.progress_bar import ProgressBar
from peerlab.cli.commands import run as run_command
from peerlab.records import kineto, trace_file
from peerlab.training.loading import trace_in


@pytest.mark.parametrize("name", ["mine.json", "mine.json.gz"])
def test_a_step_is_what_was_computed_and_what_was_exchanged(tmp_path, name):
    (step,) = peerlab.load(save(tmp_path, one_step(), name)).steps
    assert (step.number, step.time_ms, step.backward_ms, step.computed_ms) == (3, 100, 30, 80)
    assert [(one.ready_ms, one.begin_ms, one.end_ms) for one in step.exchanges] == [
        (50, 50, 70),
        (60, 70, 75),
        (80, 80, 90),
    ]
    assert step.exposed_ms == step.replayed_exposed_ms == 10
    assert (step.rest_ms, step.late_ms, step.replayed_ms, step.verdict) == (10, 0, 100, "good")


def test_an_array_of_events_is_a_trace_too(tmp_path):
    path = tmp_path / "array.json"
    path.write_text(json.dumps(one_step()))
    assert peerlab.load(path).usual.time_ms == 100


def test_a_replay_that_the_rule_does_not_explain_is_called_bad(tmp_path):
    """The second exchange begins 8 ms after it could: on another stream, or behind something that is not in the trace."""
    events = one_step()
    for one in events:
        if one["name"].startswith("nccl") and one["ts"] == 1_070_000:
            one["ts"], one["dur"] = 1_078_000, 1_000
    found = peerlab.load(save(tmp_path, events))
    assert found.steps[0].late_ms == 8
    assert found.verdict == "bad"
    assert "replay bad" in repr(found)
    assert "Bad replay" in found._repr_html_()


def test_the_real_trace_is_reproduced(reference_dir):
    found = peerlab.load(reference_dir / "traces" / "resnet50_ddp_2xA100_rank0.kineto.json.gz")
    table = found.table()
    assert table.time_ms.round(1).tolist() == [222.4, 219.7, 224.9]
    assert table.exposed_ms.round(1).tolist() == [1.7, 2.0, 2.1]
    for step in found.steps:
        sizes = [one.kernel.elements for one in step.exchanges]
        assert sizes == [2_049_000, 7_875_584, 6_563_840, 6_637_568, 2_431_040]
        assert step.late_ms < 0.7  # each begins when it is ready and the one before it is through
        assert step.replayed_exposed_ms == pytest.approx(step.exposed_ms, abs=0.3)
        assert step.replayed_ms == pytest.approx(step.time_ms, rel=0.02)
    assert (found.verdict, found.ranks, found.others, found.warnings) == ("good", 2, ("broadcast",), ())


def test_nothing_of_hosts_and_users_is_kept(reference_dir):
    found = peerlab.load(reference_dir / "traces" / "resnet50_ddp_2xA100_rank0.kineto.json.gz")
    kept = (
        repr(found.steps)
        + repr(found.others)
        + repr(found.warnings)
        + found._repr_html_().partition("</style>")[2]
    )
    for secret in ("A100-PG509", "2910249", "tmpu3g3sevh", "cutlass", "pg_config", "CuptiActivityProfiler"):
        assert secret not in kept


def test_the_same_computing_is_played_on_another_cluster(tmp_path):
    found = peerlab.load(save(tmp_path, one_step()))
    run = peerlab.step(found.step(cluster="dl1", nodes=2, path="peer-direct", library="none"))
    assert [one.op.nbytes for one in run.trace.placed] == [4_000_000] * 3
    alone = peerlab.simulate(run.step.scenario.with_(message_bytes=4_000_000)).time_ps
    assert [one.run.time_ps for one in run.trace.placed] == [alone] * 3
    assert [one.ready_ps / 1e9 for one in run.trace.placed] == pytest.approx([50, 60, 80])
    assert run.time_ps == pytest.approx(
        90e9 + alone
    )  # 80 ms of computing, the last exchange, 10 ms of optimizer
    with pytest.raises(RecordsError, match="compute_ms: follows from the trace"):
        found.step(compute_ms=3)
    with pytest.raises(RecordsError, match="no step 7; it has 3"):
        found.step(number=7)
    assert found.step(ticks=1000).scenario.ticks == 1000


def test_the_median_step_is_the_usual_one(tmp_path):
    events = one_step() + one_step(2_000_000.0, 4) + one_step(3_000_000.0, 5)
    events[0]["dur"] = 150_000
    found = peerlab.load(save(tmp_path, events))
    assert [one.number for one in found.steps] == [3, 4, 5]
    assert found.usual.time_ms == 100
    assert found.exchanges().shape[0] == 9
    assert set(found.exchanges().least_ms) == {20, 5, 10}


def test_sizes_are_found_where_only_the_host_wrote_them(tmp_path):
    events = one_step()
    for one in events:
        if one["name"].startswith("nccl"):
            one["args"] = {"External id": one["args"]["External id"], "stream": 20}
    assert peerlab.load(save(tmp_path, events)).steps[0].exchanges[0].kernel.nbytes == 4_000_000


def shaped_step(
    kind="all_reduce",
    dims=([1_000_000],),
    types=("float",),
    kernel="ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
):
    """Return a step as PyTorch before 2.2 records it with record_shapes: sizes stand around the launch of a kernel, whose name says nothing."""
    events = []
    for one in one_step():
        if one["name"] == "record_param_comms":
            args = {"Input Dims": list(dims), "Input type": list(types)}
            around = event(f"nccl:{kind}", "user_annotation", one["ts"] - 10, 70, **args)
            launch = event(
                "cudaLaunchKernel", "cuda_runtime", one["ts"], 5, correlation=one["args"]["External id"]
            )
            events += [around, launch]
        elif one["name"].startswith("nccl"):
            number = one["args"]["External id"]
            events.append(
                one | {"name": kernel, "args": {"External id": number, "correlation": number, "stream": 20}}
            )
        else:
            events.append(one)
    return events


def test_sizes_are_found_in_shapes_where_nobody_wrote_a_field(tmp_path):
    (step,) = peerlab.load(save(tmp_path, shaped_step())).steps
    assert [(one.kernel.collective, one.kernel.nbytes) for one in step.exchanges] == [
        ("allreduce", 4_000_000)
    ] * 3
    assert [one.ready_ms for one in step.exchanges] == [50, 60, 80]
    several = shaped_step(dims=([1000, 10], [5], []), types=("c10::BFloat16", "c10::BFloat16", ""))
    assert peerlab.load(save(tmp_path, several)).steps[0].exchanges[0].kernel.nbytes == 20_010


@pytest.mark.parametrize(
    "shapes",
    [
        {"dims": ([3], [4]), "types": ("float", "int")},  # elements of two types are no message
        {"dims": ([2**31, 2**31],)},
        {"dims": ([-1],)},
        {"dims": (3,)},
        {"types": (None,)},
        {"types": ()},
    ],
)
def test_shapes_that_say_no_size_are_left_aside(tmp_path, shapes):
    (step,) = peerlab.load(save(tmp_path, shaped_step(**shapes))).steps
    assert {one.kernel.nbytes for one in step.exchanges} == {0}


def test_a_kernels_name_says_what_it_does_where_nothing_else_does(tmp_path):
    events = [one for one in one_step() if one["name"] != "record_param_comms"]
    for one in events:
        if one["name"].startswith("nccl"):
            one.update(
                name="ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", args={"stream": 20}
            )
    with pytest.raises(RecordsError, match="no AllReduce of gradients in its steps, only allgather"):
        peerlab.load(save(tmp_path, events))


def test_a_step_whose_computing_waits_for_an_all_to_all_is_refused_for_that_reason(tmp_path, reference_dir):
    """Even where an AllReduce has no size, that is what keeps it from being simulated."""
    unsized = allreduce(900, 1_036_000, 1_091_000, 100, **{"In msg nelems": None, "Out msg nelems": None})
    exchanged = allreduce(901, 1_036_500, 1_092_000, 100, **{"Collective name": "all_to_all"})
    real = reference_dir / "traces" / "sampled_rank-0.json.gz"
    for path in (save(tmp_path, [*one_step(), *unsized, *exchanged]), real):
        found = peerlab.load(path)
        assert "alltoall" in found.others
        with pytest.raises(
            RecordsError, match="its steps have an all-to-all as well, for which the computing waits"
        ):
            found.step()
    sizes = {one.kernel.nbytes for step in found.steps for one in step.exchanges}
    assert {19_618_307 * 4, 26_955_536 * 4, 26_258_430 * 4, 5_716_654 * 4} <= sizes


def test_where_the_host_wrote_no_field_an_exchange_was_asked_for_when_its_kernel_was_launched(tmp_path):
    events = one_step()
    for one in events:
        if one["name"].startswith("nccl"):
            one["args"]["correlation"] = one["args"].pop("External id")
        if one["name"] == "record_param_comms":
            launch = {"correlation": one["args"]["External id"]}
            one.update(name="cudaLaunchKernel", cat="cuda_runtime", args=launch)
    (step,) = peerlab.load(save(tmp_path, events)).steps
    assert [one.ready_ms for one in step.exchanges] == [50, 60, 80]
    assert step.verdict == "good"


def test_without_sizes_it_is_shown_and_not_simulated(tmp_path):
    """PyTorch before 2.2, and CUDA graphs, write no fields."""
    events = [one for one in one_step() if one["name"] != "record_param_comms"]
    for one in events:
        if one["name"].startswith("nccl"):
            one["args"] = {"stream": 20}
    found = peerlab.load(save(tmp_path, events))
    assert found.usual.time_ms == 100
    with pytest.raises(RecordsError, match=r"3 of 3 exchanges of step 3 have no size.*PyTorch 2\.2 or later"):
        found.step()


def test_an_unknown_type_has_no_size_and_is_named(tmp_path):
    events = one_step()
    for one in events:
        if one["args"].get("dtype") if "args" in one else False:
            one["args"]["dtype"] = "Float3"
    found = peerlab.load(save(tmp_path, events))
    assert found.warnings == ("3 collectives of unknown type 'float3' have no size",)
    with pytest.raises(RecordsError, match="have no size"):
        found.step()


def test_text_that_is_no_name_of_a_kind_is_not_kept(tmp_path):
    """Hosts and users may stand anywhere."""
    for field in ("dtype", "Collective name"):
        events = [*one_step(), *allreduce(900, 1_031_000, 1_085_000, 100, **{field: "alice@host7 \x1b[31m"})]
        found = peerlab.load(save(tmp_path, events))
        kept = repr(found.steps) + repr(found.others) + repr(found.warnings) + found._repr_html_()
        assert "alice" not in kept
        assert "\x1b" not in kept


def test_of_many_unknown_kinds_only_some_are_named(tmp_path):
    events = one_step()
    for n in range(100):
        events += allreduce(900 + n, 1, 2, 1, dtype=f"odd{n}", **{"Collective name": f"kind{n}"})
    found = peerlab.load(save(tmp_path, events))
    assert len(found.warnings) < 10
    assert "92 collectives of other unknown types have no size" in found.warnings
    assert len(found.others) < 15
    assert "88 more" in found.others or "89 more" in found.others


def test_reading_stops_at_too_many_collectives(tmp_path, monkeypatch):
    monkeypatch.setattr(kineto, "MOST_COLLECTIVES", 2)
    with pytest.raises(RecordsError, match=r"more than 2 collectives; record fewer steps"):
        peerlab.load(save(tmp_path, one_step()))


def test_a_step_without_computing_is_shown_and_not_simulated(tmp_path):
    events = [
        one_step()[0],
        *allreduce(9, 1_000_500, 1_000_600, 200),
        *computing(8, 1_002_000, 1_003_000, 500),
    ]
    found = peerlab.load(save(tmp_path, events))
    assert "1 step" in repr(found)
    with pytest.raises(RecordsError, match="nothing was computed in step 3 before its last exchange ended"):
        found.step()


def test_traces_of_two_ranks_in_one_file_are_refused(tmp_path):
    with pytest.raises(RecordsError, match="steps 3 and 3 overlap; give the trace of one rank"):
        peerlab.load(save(tmp_path, [*one_step(), *one_step(1_020_000.0)]))


def test_nan_is_read_as_missing(tmp_path):
    events = [
        *one_step(),
        event("gemm", "kernel", float("nan"), 3, correlation=99),
        event("x", "kernel", 1, float("inf")),
    ]
    events[1]["args"]["est. achieved occupancy %"] = float("nan")
    found = peerlab.load(save(tmp_path, events))
    assert found.usual.time_ms == 100
    assert found.warnings == (
        "2 events without a time were left out",
        "3 values that are NaN or infinite were read as missing",
    )


def test_a_nan_across_two_reads_is_found(tmp_path):
    for padding in range(40):
        events = [event("x" * (65_300 + padding), "cpu_op", 0, 0, a=float("nan")), *one_step()]
        assert peerlab.load(save(tmp_path, events)).usual.time_ms == 100


def cut(text):
    return text[: len(text) // 2]


WRONG = {
    "cut": (cut, "is cut off after [0-9]+ events"),
    "compressed and cut": (lambda text: cut(gzip.compress(text)), "compressed file is cut off or damaged"),
    "compressed and damaged": (lambda text: gzip.compress(text)[:40] + b"\0" * 900, "cannot read it|cut off or damaged"),
    "no JSON": (lambda text: text.replace(b'"ph": "X"', b'"ph": oops', 1), "is no JSON after 0 events"),
    "no events": (lambda _: b'{"schemaVersion": 1, "traceEvents": []}', "no traceEvents"),
    "another tool's": (
        lambda _: json.dumps({"traceEvents": [event("tick", "renderer", 1, 2)]}).encode(),
        "no ProfilerStep in it; 1 events, none of a device: it looks like another tool's",
    ),
    "no steps": (
        lambda _: json.dumps({"traceEvents": one_step()[1:]}).encode(),
        r"no ProfilerStep in it; call profiler\.step\(\)",
    ),
    "no device": (
        lambda _: json.dumps({"traceEvents": one_step()[:1]}).encode(),
        r"no kernel of a device in it; record with ProfilerActivity\.CUDA",
    ),
    "one device": (
        lambda _: json.dumps({"traceEvents": [one for one in one_step() if "nccl" not in one["name"]]}).encode(),
        "no collective of nccl, rccl or hccl in it",
    ),
    "nested": (lambda _: b'{"schemaVersion": 1, "traceEvents": [' + b'{"a": [' * 5000, "nested more than 100 deep"),
    "a long number": (lambda text: text.replace(b"1050000.0", b"1" + b"0" * 5000), "a number of thousands of digits"),
    "a long exponent": (lambda text: text.replace(b"1050000.0", b"1e99999999999999999999"), "is no JSON after"),
    "not in UTF-8": (lambda text: text.replace(b"gemm", b"g\xe9mm", 1), "is not in UTF-8 after [0-9]+ events"),
    "followed by something": (lambda text: gzip.compress(text) + b"garbage", "or something else stands behind its end"),
    "a long text": (lambda _: b'{"schemaVersion": 1, "traceEvents": [{"a": "' + b"x" * 2**21, "a text of more than 1 MiB"),
    "many digits": (
        lambda _: b'{"traceEvents": [{"a": '.ljust(2**16 - 3900) + b"1" * 7900 + b"}]}", "a number of thousands of digits",
    ),
    "a step of nothing": (
        lambda _: json.dumps({"traceEvents": [event("ProfilerStep#3", "user_annotation", 1, 0), *one_step()[1:]]}).encode(),
        "ProfilerStep#3 takes 0 us; a step takes time",
    ),
    "outside of steps": (
        lambda _: json.dumps({"traceEvents": [event("ProfilerStep#1", "user_annotation", 1, 9), *one_step()[1:]]}).encode(),
        "only allreduce; they lie outside of its steps; record whole steps",
    ),
    "sharded": (
        lambda text: text.replace(b'"allreduce"', b'"_allgather_base"'),
        "no AllReduce of gradients in its steps, only allgather; sharded training's traces are not read yet",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_trace_is_refused_in_one_line(tmp_path, damage, words):
    path = save(tmp_path, one_step())
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RecordsError, match=words) as caught:
        peerlab.load(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("mine.pt.trace.json: ")


def test_what_is_held_of_a_trace_is_a_value_and_never_more():
    """It is searched again with the next piece: without a comma that was all that had come, in the square of the time."""
    for value in (b" 1", b'"x"', b"x", b"\n", b"[1]", b" NaN,"):
        text = value * (2**18 // len(value))
        watched = trace_file.WatchedTrace(io.BytesIO(text), "mine")
        out = b""
        while piece := watched.read(2**12):
            out += piece
            assert len(watched._held) <= 16
        assert out == text.replace(b"NaN", b"null")


def test_a_trace_that_is_packed_small_is_not_unpacked_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(trace_file, "MOST_UNPACKED", 2**20)
    path = tmp_path / "mine.json.gz"
    path.write_bytes(gzip.compress(b'{"schemaVersion": 1, "traceEvents": [' + b'{"ph": "M"},' * 2**18))
    with pytest.raises(RecordsError, match="more than 1 MiB when it is unpacked; record fewer steps"):
        peerlab.load(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_byte_order_mark_is_no_part_of_a_trace(tmp_path, pack):
    path = save(tmp_path, one_step())
    path.write_bytes(pack(b"\xef\xbb\xbf\n" + path.read_bytes()))
    assert peerlab.load(path).usual.time_ms == 100


def test_reading_stops_at_too_many_events(tmp_path, monkeypatch):
    monkeypatch.setattr(kineto, "MOST_EVENTS", 10)
    with pytest.raises(RecordsError, match=r"more than 10 events; record fewer steps"):
        peerlab.load(save(tmp_path, one_step()))


def test_an_event_without_end_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(trace_file, "_LONGEST_EVENT", 100_000)
    events = [*one_step(), event("x", "cpu_op", 0, 0, stack="y" * 300_000)]
    with pytest.raises(RecordsError, match="without an event; that is no trace of PyTorch's profiler"):
        peerlab.load(save(tmp_path, events))


ODD = (
    [1, "two", None, [], {}],
    [
        {"ph": "X"},
        {"ph": "X", "name": 3, "cat": "kernel"},
        {"ph": "X", "name": "k", "cat": ["kernel"], "ts": 1},
    ],
    [event("k", "kernel", "now", "long")],
    [event("k", "kernel", 1, -5, correlation="x")],
    [event("k", "kernel", 10**400, 1)],
    [
        event(
            "nccl",
            "kernel",
            1_000_500,
            1,
            **{"In msg nelems": -3, "dtype": 7, "Collective name": {}, "Group size": 2**70},
        )
    ],
    [event("cudaLaunchKernel", "cuda_runtime", 1, 1, correlation=2**80)],
    [event("record_param_comms", "cpu_op", 1, 1, **{"External id": [1]})],
    [event("ProfilerStep#99999999999999999999", "user_annotation", 1, 1)],
)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_events_change_nothing_of_the_others(tmp_path, odd):
    found = peerlab.load(save(tmp_path, [*odd, *one_step(), *odd]))
    assert found.usual.time_ms == 100
    assert [one.kernel.nbytes for one in found.usual.exchanges if one.kernel.nbytes] == [4_000_000] * 3


def test_a_log_is_still_a_log(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("not a log\n")
    with pytest.raises(RecordsError, match="not the output of nccl-tests"):
        peerlab.load(path)
    assert trace_in("# nccl-tests\n", "log") is None


def test_what_was_uploaded_is_read(tmp_path):
    path = save(tmp_path, one_step(), "mine.json.gz")
    assert trace_in(path.read_bytes(), "mine.json.gz").usual.time_ms == 100
    assert trace_in(json.dumps({"traceEvents": one_step()}), "pasted").usual.time_ms == 100


def test_a_trace_says_its_ranks_itself(tmp_path):
    with pytest.raises(RecordsError, match=r"nodes: mine\.json is a trace"):
        peerlab.load(save(tmp_path, one_step(), "mine.json"), nodes=3)


@pytest.mark.parametrize(
    "text", ["root:x:0:0\n", "# OSU MPI Allreduce Latency Test v7.0\n# Size  Avg Latency(us)\n8  1.5\n"]
)
def test_a_file_that_is_no_trace_is_told_what_is_one(tmp_path, text, capsys):
    path = tmp_path / "mine.txt"
    path.write_text(text)
    assert run_command(["step", "--trace", str(path)]) == 1
    assert "trace: mine.txt is not a trace of PyTorch's profiler" in capsys.readouterr().err


def test_the_command_plays_a_trace_on_each_path(tmp_path, capsys):
    path = save(tmp_path, one_step())
    assert run_command(["step", "--trace", str(path), "--nodes", "2", "--library", "none"]) == 0
    printed = capsys.readouterr().out
    assert "recorded: 100 ms a step, 10 ms exposed; replayed 100 ms, 10 ms exposed: good" in printed
    run = peerlab.step(peerlab.load(path).step(nodes=2, path="peer-direct", library="none"))
    assert f"{run.time_s * 1e3:.3g} ms" in printed
    assert "batches/s" in printed  # nobody has told how many samples a batch has
    assert "samples/s" not in printed
    assert run_command(["step", "--trace", str(path), "--batch", "0"]) == 1
    assert run_command(["step", "--trace", str(tmp_path / "none.json")]) == 1
    assert capsys.readouterr().err.count("\n") == 2


def test_the_panel_plays_a_trace_on_each_path_of_the_cluster_that_is_shown(tmp_path):
    held = save(tmp_path, one_step(), "mine.json.gz").read_bytes()
    short, told = look_at_trace(held, "mine.json.gz", peerlab.Scenario(nodes=2))
    assert "1 step of 100.0 ms" in short
    for words in ("Good replay", "Peer Direct", "kernel TCP", "on Gaudi DL1, 2 nodes, 16 ranks"):
        assert words in told
    assert look_at_trace("# nccl-tests\n", "log", None) is None
    unsized = [one for one in one_step() if one["name"] != "record_param_comms"]
    for one in unsized:
        if one["name"].startswith("nccl"):
            one["args"] = {}
    _, told = look_at_trace(save(tmp_path, unsized).read_bytes(), "mine.json", peerlab.Scenario(nodes=2))
    assert "cannot be simulated" in told


@pytest.mark.parametrize("name", ["mine.pt.trace.json", "mine.pt.trace.json.gz"])
def test_reading_a_large_trace_shows_how_far_it_is(tmp_path, monkeypatch, name):
    heard = []

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    call = ProgressBar.__call__
    monkeypatch.setattr(
        ProgressBar, "__call__", lambda bar, *far: heard.append((far[0], bar.total)) or call(bar, *far)
    )
    monkeypatch.setattr("peerlab.base.progress_bar._AFTER_S", 0.0)
    monkeypatch.setattr("peerlab.base.progress_bar._REDRAW_S", 0.0)
    monkeypatch.setattr(kineto, "MIB", 1024)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    path = save(tmp_path, one_step() * 2000, name)
    kineto.read_events(path, path.name)
    assert "trace" in terminal.getvalue()
    done, totals = zip(*heard, strict=True)
    assert set(totals) == {path.stat().st_size // 1024}
    assert list(done) == sorted(done)
    assert done[-1] == totals[0] > 0
