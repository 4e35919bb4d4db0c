"""Traces of PyTorch's profiler with known times, made for tests."""

import gzip
import json


def event(name, cat, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 7, "ts": ts, "dur": dur, "args": args}


def allreduce(number, asked, begin, dur, elements=1_000_000, **more):
    """Return what the host asks, and the kernel that follows, of one AllReduce."""
    said = {
        "Collective name": "allreduce",
        "In msg nelems": elements,
        "Out msg nelems": elements,
        "dtype": "Float",
        "Group size": 16,
    } | more
    said = {name: value for name, value in said.items() if value is not None}
    return [
        event("record_param_comms", "cpu_op", asked, 50, **{"External id": number}, **said),
        event(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            "kernel",
            begin,
            dur,
            **{"External id": number, "stream": 20},
            **said,
        ),
    ]


def computing(number, launched, begin, dur, cat="kernel"):
    """Return a launch and the kernel that follows."""
    return [
        event("cudaLaunchKernel", "cuda_runtime", launched, 5, correlation=number),
        event("void at::native::gemm", cat, begin, dur, correlation=number, stream=7),
    ]


def one_step(base=1_000_000.0, number=3):
    """Return a step of 100 ms: forward to 30, backward to 80; buckets ready at 50, 60 and 80, which take 20, 5 and 10 ms; optimizer to 100."""
    at = base
    first = 100 * number
    return [
        event(f"ProfilerStep#{number}", "user_annotation", at, 100_000),
        *computing(first + 1, at + 1_000, at + 1_000, 29_000),
        {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "ts": at + 30_000},
        *computing(first + 2, at + 30_000, at + 30_000, 20_000),
        *allreduce(
            first + 3, at + 31_000, at + 50_000, 20_000
        ),  # asked while its gradient was still to be computed
        *computing(first + 4, at + 32_000, at + 50_000, 10_000),
        *allreduce(first + 5, at + 33_000, at + 70_000, 5_000),
        *computing(first + 6, at + 34_000, at + 60_000, 20_000),
        *allreduce(first + 7, at + 35_000, at + 80_000, 10_000),
        *computing(first + 8, at + 36_000, at + 90_000, 10_000),
    ]


def save(tmp_path, events, name="mine.pt.trace.json", **header):
    path = tmp_path / name
    text = json.dumps({"schemaVersion": 1, **header, "traceEvents": events}).encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    return path
